// python/bind/native.cpp: the table of pardo/c_api.h as a capsule, and Python's objects as handles of native code.
#include <pardo/binding/native.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include <pardo/event.h>
#include <pardo/queue.h>

#include "bind.h"

namespace bind {
namespace {

using pardo::Device;
using pardo::Event;
using pardo::Queue;

pardo::Error wrong(const char* expected, nb::handle o) {
    return {pardo::ErrorCode::Type, std::string(expected) + " is expected, not " + class_name(o)};
}

/// The array that an object is, or whose memory it has.
pardo::Array array_from(nb::handle o) {
    if (is_array(o.ptr())) return array_of(o.ptr());
    const bool shares = PyObject_HasAttrString(o.ptr(), "__dlpack__") || PyObject_HasAttrString(o.ptr(), "__cuda_array_interface__") ||
                        PyObject_CheckBuffer(o.ptr());
    if (!shares) throw wrong("an array", o);
    const nb::object made = nb::module_::import_("pardo").attr("asarray")(o, nb::arg("copy") = false);
    if (!is_array(made.ptr())) throw wrong("an array", o);
    return array_of(made.ptr());
}

void* handle_from(nb::handle o, std::int32_t kind) {
    switch (kind) {
        case PARDO_IS_ARRAY: return pardo::native_handle(array_from(o));
        case PARDO_IS_DEVICE: return pardo::native_handle(device_from(o, "device"));
        case PARDO_IS_QUEUE: {
            if (o.is_none()) return pardo::native_handle(Queue());
            Queue* queue = nullptr;
            if (!nb::try_cast<Queue*>(o, queue) || !queue) throw wrong("a pardo.Queue", o);
            return pardo::native_handle(*queue);
        }
        case PARDO_IS_EVENT: {
            if (o.is_none()) return nullptr;
            Event* event = nullptr;
            if (!nb::try_cast<Event*>(o, event) || !event) throw wrong("a pardo.Event", o);
            return pardo::native_handle(*event);
        }
        default: throw pardo::Error(pardo::ErrorCode::Value, "from_py: there is no kind " + std::to_string(kind));
    }
}

pardo_status from_python(void* object, std::int32_t kind, void** handle) {
    const pardo_api& api = *pardo::native_api();
    if (!object || !handle) return api.set_error(PARDO_E_VALUE, object ? "from_py: handle is NULL" : "from_py: object is NULL");
    try {
        note_line();
        *handle = handle_from(static_cast<PyObject*>(object), kind);
        return PARDO_OK;
    } catch (const nb::python_error& e) {
        const std::pair<PyObject*, pardo_status> rows[] = {{PyExc_TypeError, PARDO_E_TYPE},     {PyExc_BufferError, PARDO_E_BUFFER},
                                                           {PyExc_ValueError, PARDO_E_VALUE},   {PyExc_MemoryError, PARDO_E_MEMORY},
                                                           {PyExc_ImportError, PARDO_E_IMPORT}, {PyExc_Exception, PARDO_E_RUNTIME}};
        pardo_status status = PARDO_E_RUNTIME;
        for (const auto& [type, code] : rows) {
            if (!e.matches(type)) continue;
            status = code;
            break;
        }
        return api.set_error(status, str_of(e.value()).c_str());
    } catch (const pardo::Error& e) {
        return pardo::keep_native_error(e);
    } catch (const std::bad_alloc&) {
        return api.set_error(PARDO_E_MEMORY, "from_py: out of memory");
    }
}

void* to_python(void* handle, std::int32_t kind) {
    return guarded([&]() -> PyObject* {
        switch (kind) {
            case PARDO_IS_ARRAY: return wrap(pardo::array_of_native(handle));
            case PARDO_IS_DEVICE: return nb::cast(pardo::device_of_native(handle)).release().ptr();
            case PARDO_IS_QUEUE: return nb::cast(pardo::queue_of_native(handle)).release().ptr();
            case PARDO_IS_EVENT: return nb::cast(pardo::event_of_native(handle)).release().ptr();
            default: throw pardo::Error(pardo::ErrorCode::Value, "to_py: there is no kind " + std::to_string(kind));
        }
    });
}

constexpr std::pair<char, std::int32_t> kind_letters[] = {
    {'d', PARDO_IS_DEVICE}, {'q', PARDO_IS_QUEUE}, {'e', PARDO_IS_EVENT}, {'a', PARDO_IS_ARRAY}};

/// The kind of each of n objects. Throws Value for letters that are none, Type for another number of objects.
std::vector<std::int32_t> kinds_from(const std::string& name, std::string_view letters, std::size_t n) {
    std::vector<std::int32_t> kinds;
    const bool more = letters.size() >= 2 && letters.back() == '*';
    if (more) letters.remove_suffix(1);
    for (const char letter : letters) {
        const auto* const row = std::ranges::find(kind_letters, letter, &std::pair<char, std::int32_t>::first);
        if (row == std::end(kind_letters))
            throw pardo::Error(pardo::ErrorCode::Value,
                               name + ": kinds are letters of \"dqea\" and a * at their end, not \"" + std::string(letters) + "\"");
        kinds.push_back(row->second);
    }
    const std::size_t least = kinds.size() - (more ? 1 : 0);
    if (n < least || (n > least && !more))
        throw pardo::Error(pardo::ErrorCode::Type, name + "() takes " + std::to_string(least) +
                                                       (more ? " arguments and more" : " arguments") + ", and " + std::to_string(n) +
                                                       (n == 1 ? " was given" : " were given"));
    kinds.resize(n, more ? kinds.back() : 0);
    return kinds;
}

/// Handles that are given back at the end.
struct Handles {
    Handles() = default;
    Handles(const Handles&) = delete;
    ~Handles() {
        for (void* handle : all) pardo::native_api()->release(handle);
    }
    std::vector<void*> all;
};

void* call_from_python(const char* name, const char* kinds, void* const* objects, std::size_t n, std::int32_t result, pardo_call_fn f,
                       void* user) {
    return guarded([&]() -> PyObject* {
        const std::string called = name ? name : "call_from_py";
        if (!kinds || !f || (n > 0 && !objects))
            throw pardo::Error(pardo::ErrorCode::Value, called + ": " + (!kinds ? "kinds" : !f ? "f" : "objects") + " is NULL");
        const std::vector<std::int32_t> wanted = kinds_from(called, kinds, n);
        note_line();
        Handles handles, made;
        handles.all.reserve(n);
        for (std::size_t k = 0; k < n; ++k) {
            void* handle = nullptr;
            if (from_python(objects[k], wanted[k], &handle) != PARDO_OK) {
                const pardo::Error why = pardo::native_error();
                throw why.with_message(called + ": argument " + std::to_string(k + 1) + ": " + why.message());
            }
            handles.all.push_back(handle);
        }
        void*& out = made.all.emplace_back(nullptr);
        pardo_status status = PARDO_OK;
        {
            const Unlocked unlocked;
            status = f(handles.all.data(), n, user, &out);
        }
        if (status == PARDO_OK) return result == 0 ? Py_NewRef(Py_None) : static_cast<PyObject*>(to_python(out, result));
        const char* text = "";
        const bool said = pardo::native_api()->last_error(&text) == status;
        if (said && status == PARDO_E_TIMEOUT) {
            PyErr_SetString(PyExc_TimeoutError, text);
            return nullptr;
        }
        if (said) throw pardo::native_error();
        throw pardo::Error(pardo::ErrorCode::Internal, called + " gave " + std::to_string(status));
    });
}

void* address_from(std::int64_t address) { return reinterpret_cast<void*>(static_cast<std::intptr_t>(address)); }
std::int64_t number_of(const void* address) { return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(address)); }

}  // namespace

void bind_native(nb::module_& m) {
    pardo::set_native_objects({&from_python, &to_python, &call_from_python});
    m.def(
        "_native_handles",
        [](nb::handle device) {
            const pardo::NativeHandles handles = pardo::native_handles(device_from(device, "Device.native"));
            return nb::make_tuple(number_of(handles.device), number_of(handles.context), number_of(handles.platform));
        },
        nb::arg("device"));
    m.def(
        "_adopt_queue",
        [](nb::handle device, std::int64_t stream, nb::object owner) {
            constexpr const char* op_name = "Queue.from_native";
            return pardo::adopt_queue(op_name, device_from(device, op_name), address_from(stream), kept(std::move(owner)));
        },
        nb::arg("device"), nb::arg("stream"), nb::arg("owner").none());
    m.def(
        "_native_queue", [](const Queue& queue) { return number_of(pardo::native_queue(queue)); }, nb::arg("queue"));
    m.def(
        "_adopt_event",
        [](nb::handle device, std::int64_t event) {
            constexpr const char* op_name = "Event.from_native";
            return pardo::adopt_event(op_name, device_from(device, op_name), address_from(event));
        },
        nb::arg("device"), nb::arg("event"));
    m.def(
        "_native_event",
        [](const Event& event, nb::handle device) {
            constexpr const char* op_name = "Event.to_native";
            return number_of(pardo::native_event(op_name, event, device_from(device, op_name)));
        },
        nb::arg("event"), nb::arg("device"));
    constexpr const char* name = "pardo._C_API";  // of static life: the capsule keeps it
    m.attr("_C_API") = nb::steal(PyCapsule_New(const_cast<pardo_api*>(pardo::native_api()), name, nullptr));
}

}  // namespace bind

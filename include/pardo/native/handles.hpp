// pardo/native/handles.hpp: of pardo/native.hpp: the table, errors as exceptions, dtypes, handles that release themselves.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pardo/c_api.h>

// Hidden: extensions of one process, built with several versions of this header, do not share what is in it.
#if defined(__GNUC__)
#define PARDO_NATIVE_HIDDEN __attribute__((visibility("hidden")))
#else
#define PARDO_NATIVE_HIDDEN
#endif

namespace pardo {
/// Native code of others, on the table of pardo/c_api.h.
namespace native PARDO_NATIVE_HIDDEN {

// --- errors, the table -----------------------------------------------------------------------------------------------------------------

/// What a function of the table refuses, and what a work function may throw: a code of pardo/c_api.h and a text.
class error : public std::exception {
public:
    error(pardo_status code, std::string text) : code_(code), text_(std::move(text)) {}  ///< of a code
    pardo_status code() const noexcept { return code_; }                                 ///< PARDO_E_…
    const char* what() const noexcept override { return text_.c_str(); }                 ///< the text

private:
    pardo_status code_;
    std::string text_;
};

/// The table of this extension; null until load().
inline const pardo_api* table = nullptr;

/// Takes the table that pardo._C_API holds. Throws where it is of another major version, or has less than this header's version 1.0.
inline void load(const void* given) {
    constexpr std::size_t first_version = offsetof(pardo_api, call_from_py) + sizeof(pardo_api::call_from_py);
    const auto* const found = static_cast<const pardo_api*>(given);
    if (!found) throw error(PARDO_E_IMPORT, "load: there is no table; import pardo first");
    const auto version = [&] { return std::string(found->version) + " has version " + std::to_string(found->major) + " of the table"; };
    if (found->size >= offsetof(pardo_api, last_error) && found->major != PARDO_ABI_MAJOR)
        throw error(PARDO_E_IMPORT, "load: pardo " + version() + ", and this extension was built for version " +
                                        std::to_string(PARDO_ABI_MAJOR) + "; build it again, or install another pardo");
    if (found->size < first_version)
        throw error(PARDO_E_IMPORT, "load: the table has " + std::to_string(found->size) + " bytes, and " + std::to_string(first_version) +
                                        " are needed; install a newer pardo");
    table = found;
}

/// The table, or an error where nobody has loaded it.
inline const pardo_api& api() {
    if (!table) throw error(PARDO_E_IMPORT, "this extension has not loaded pardo's table");
    return *table;
}

/// Whether the table of this process has a member: has(&pardo_api::record). Members of version 1.0 are always there.
template <class Member> bool has(Member pardo_api::*member) {
    const auto at = reinterpret_cast<const char*>(&(api().*member)) - reinterpret_cast<const char*>(table);
    return static_cast<std::size_t>(at) + sizeof(Member) <= table->size;
}

/// A member that a later version has added, or an error that says that this pardo is too old.
template <class Member> Member member(Member pardo_api::*which, const char* name) {
    if (has(which)) return api().*which;
    throw error(PARDO_E_IMPORT, std::string(name) + ": pardo " + table->version + " does not have it; install a newer one");
}

/// What this thread's last call of the table has refused.
inline error last_error() {
    const char* text = "";
    const pardo_status code = api().last_error(&text);
    return {code, text};
}
/// Throws unless a call went well.
inline void check(pardo_status status) {
    if (status != PARDO_OK) throw last_error();
}

/// Calls f() and gives its status (of no result: 0); an exception becomes the thread's last error.
template <class F> int guarded(F&& f) noexcept {
    try {
        if constexpr (std::is_void_v<decltype(f())>) {
            f();
            return PARDO_OK;
        } else {
            return static_cast<int>(f());
        }
    } catch (const error& e) {
        return table->set_error(e.code() != PARDO_OK ? e.code() : PARDO_E_RUNTIME, e.what());
    } catch (const std::bad_alloc&) {
        return table->set_error(PARDO_E_MEMORY, "out of memory");
    } catch (const std::out_of_range& e) {
        return table->set_error(PARDO_E_INDEX, e.what());
    } catch (const std::invalid_argument& e) {
        return table->set_error(PARDO_E_VALUE, e.what());
    } catch (const std::exception& e) {
        return table->set_error(PARDO_E_RUNTIME, e.what());
    } catch (...) {
        return table->set_error(PARDO_E_RUNTIME, "an exception that says nothing of itself");
    }
}

// --- dtypes ------------------------------------------------------------------------------------------------------------------------------

/// The dtype of a C++ type; PARDO_ANY of void.
template <class T> constexpr std::int32_t dtype_of() {
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_void_v<U>) {
        return PARDO_ANY;
    } else if constexpr (std::is_same_v<U, bool>) {
        return PARDO_BOOL;
    } else if constexpr (std::is_integral_v<U>) {
        constexpr int log2 = sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 1 : sizeof(U) == 4 ? 2 : 3;
        return (std::is_signed_v<U> ? PARDO_INT8 : PARDO_UINT8) + log2;
    } else if constexpr (std::is_same_v<U, float>) {
        return PARDO_FLOAT32;
    } else if constexpr (std::is_same_v<U, double>) {
        return PARDO_FLOAT64;
    } else if constexpr (std::is_same_v<U, std::complex<float>>) {
        return PARDO_COMPLEX64;
    } else {
        static_assert(std::is_same_v<U, std::complex<double>>, "no dtype has this type; float16 and bfloat16 are seen as uint16_t of void");
        return PARDO_COMPLEX128;
    }
}

namespace detail {
inline constexpr const char* dtype_names[] = {"any dtype", "bool",      "int8",       "int16",   "int32",   "int64",
                                              "uint8",     "uint16",    "uint32",     "uint64",  "float16", "float32",
                                              "float64",   "complex64", "complex128", "bfloat16"};
}
/// "float64".
constexpr const char* dtype_name(std::int32_t dtype) noexcept {
    return detail::dtype_names[dtype > 0 && static_cast<std::size_t>(dtype) < std::size(detail::dtype_names) ? dtype : 0];
}

// --- handles -----------------------------------------------------------------------------------------------------------------------------

/// A counted reference. A moved-from or default-made one is null, which release and the table's functions stand.
template <class H> class handle {
public:
    using raw_type = H;  ///< the table's type
    handle() = default;
    handle(const handle& o) noexcept : raw_(o.raw_) {
        if (raw_) table->retain(raw_);
    }
    handle(handle&& o) noexcept : raw_(std::exchange(o.raw_, nullptr)) {}
    handle& operator=(handle o) noexcept {
        std::swap(raw_, o.raw_);
        return *this;
    }
    ~handle() {
        if (raw_) table->release(raw_);
    }
    H get() const noexcept { return raw_; }                              ///< for functions of the table
    explicit operator bool() const noexcept { return raw_ != nullptr; }  ///< false: null
    /// Gives the reference away.
    H detach() noexcept { return std::exchange(raw_, nullptr); }
    /// Where a function of the table writes a new reference.
    H* put() noexcept {
        if (raw_) table->release(std::exchange(raw_, nullptr));
        return &raw_;
    }

private:
    H raw_ = nullptr;
};

/// Takes a reference over, or (borrow) one of its own.
template <class Handle> Handle steal(typename Handle::raw_type raw) noexcept {
    Handle made;
    *made.put() = raw;
    return made;
}
/// One of its own.
template <class Handle> Handle borrow(typename Handle::raw_type raw) noexcept {
    if (raw) table->retain(raw);
    return steal<Handle>(raw);
}

/// A device.
class device : public handle<pardo_device> {
public:
    /// "gpu", "opencl:1"; null: the default device.
    static device find(const char* selector = nullptr) {
        device made;
        check(api().device_find(selector, made.put()));
        return made;
    }
    /// All visible ones.
    static std::vector<device> all() {
        std::size_t count = 0;
        check(api().device_list(nullptr, 0, &count));
        std::vector<pardo_device> raw(count);
        check(api().device_list(raw.data(), count, &count));
        std::vector<device> made;
        for (std::size_t k = 0; k < raw.size() && k < count; ++k) made.push_back(steal<device>(raw[k]));
        return made;
    }
    /// PARDO_DEVICE_NAME and the like.
    std::string text(std::int32_t which) const {
        std::size_t needed = 0;
        check(api().device_text(get(), which, nullptr, 0, &needed));
        std::string made(needed, '\0');
        check(api().device_text(get(), which, made.data(), made.size(), nullptr));
        made.resize(needed - 1);
        return made;
    }
    std::string id() const { return text(PARDO_DEVICE_ID); }  ///< "cpu:0"
    /// PARDO_DEVICE_KIND and the like.
    std::int64_t number(std::int32_t which) const {
        std::int64_t made = 0;
        check(api().device_number(get(), which, &made));
        return made;
    }
    /// PARDO_CPU, PARDO_OPENCL, PARDO_CUDA.
    std::int32_t backend() const { return static_cast<std::int32_t>(number(PARDO_DEVICE_KIND)); }
    /// Its CUcontext, cl_context and so on.
    pardo_native_device native() const {
        pardo_native_device made{};
        made.size = sizeof made;
        check(api().device_native(get(), &made));
        return made;
    }
};

/// An event; null stands for a complete one.
class event : public handle<pardo_event> {
public:
    /// One that complete() completes. Keep the handle: Python's Event does not, and when the last handle goes, an incomplete one fails.
    static event user() {
        event made;
        check(api().event_new(made.put()));
        return made;
    }
    /// Complete when a CUevent or cl_event of the device is, which stays the caller's and may go at once.
    static event of_native(const native::device& device, void* native) {
        event made;
        check(api().event_from_native(device.get(), native, made.put()));
        return made;
    }
    /// A new CUevent or cl_event that is complete when this is; the caller destroys it. Do not hold the GIL.
    void* native(const native::device& device) const {
        void* made = nullptr;
        check(api().event_to_native(get(), device.get(), &made));
        return made;
    }
    /// Completes a user event, or makes it fail.
    void complete(pardo_status code = PARDO_OK, const char* text = nullptr) const { check(api().event_complete(get(), code, text)); }
    /// Throws its failure. False where the limit is over first; negative: no limit. Do not hold the GIL.
    bool wait(std::int64_t timeout_ns = -1) const {
        const pardo_status status = get() ? api().event_wait(get(), timeout_ns) : PARDO_OK;
        if (status == PARDO_E_TIMEOUT && this->status() != PARDO_FAILED) return false;  // else it is what the event failed by
        check(status);
        return true;
    }
    std::int32_t status() const { return get() ? api().event_status(get()) : PARDO_COMPLETE; }  ///< PARDO_QUEUED to PARDO_FAILED
};

namespace detail {
inline std::vector<pardo_event> raw(const std::vector<event>& events) {
    std::vector<pardo_event> made;
    for (const event& e : events) made.push_back(e.get());
    return made;
}
}  // namespace detail

/// A queue of a device.
class queue : public handle<pardo_queue> {
public:
    /// The canonical queue of a device; of the default one.
    static queue of(const native::device& device = {}) {
        queue made;
        check(api().queue_of(device.get(), made.put()));
        return made;
    }
    /// A new one; PARDO_QUEUE_… say of what kind.
    static queue make(const native::device& device, std::uint32_t flags = 0) {
        queue made;
        check(api().queue_new(device.get(), flags, made.put()));
        return made;
    }
    /// On a CUstream or cl_command_queue; destroy(owner) is called when its last work is over, and not at all where this throws.
    static queue on_stream(const native::device& device, void* stream, void* owner = nullptr, void (*destroy)(void*) = nullptr) {
        queue made;
        check(api().queue_from_native(device.get(), stream, owner, destroy, made.put()));
        return made;
    }
    /// Its CUstream or cl_command_queue; null on the CPU, and where it has several.
    void* stream() const {
        void* found = nullptr;
        check(api().queue_native(get(), &found));
        return found;
    }
    /// Its device.
    native::device device() const {
        native::device made;
        check(api().queue_device(get(), made.put()));
        return made;
    }
    /// Throws the first failure that nobody has seen. Do not hold the GIL.
    void wait() const { check(api().queue_wait(get())); }
    /// Complete after all that was submitted before, and `after`; what is submitted later comes after it.
    event barrier(const std::vector<event>& after = {}) const {
        const std::vector<pardo_event> raw = detail::raw(after);
        event made;
        check(api().queue_barrier(get(), raw.data(), raw.size(), made.put()));
        return made;
    }
    int thread_count() const { return api().thread_count(get()); }  ///< of a CPU's queue
};

/// An array, computed or recorded.
class array : public handle<pardo_array> {
public:
    /// A new one, whose elements are undefined.
    static array empty(const queue& on, std::int32_t dtype, const std::vector<std::int64_t>& shape, std::int32_t kind = PARDO_MEM_DEVICE) {
        array made;
        check(api().array_empty(on.get(), dtype, static_cast<std::int32_t>(shape.size()), shape.data(), kind, made.put()));
        return made;
    }
    /// On memory of others; destroy(owner) is called when the last use is over, and not at all where this throws.
    static array wrap(const queue& on, void* address, std::int32_t dtype, const std::vector<std::int64_t>& shape, void* owner,
                      void (*destroy)(void*), const event& ready = {}, const std::int64_t* strides = nullptr, std::uint32_t flags = 0) {
        array made;
        check(api().array_wrap(on.get(), address, dtype, static_cast<std::int32_t>(shape.size()), shape.data(), strides, flags, ready.get(),
                               owner, destroy, made.put()));
        return made;
    }
    /// On the memory of a DLManagedTensorVersioned, which is taken over, also where this throws.
    static array from_dlpack(void* managed, const queue& on = {}, const event& ready = {}) {
        array made;
        check(api().array_from_dlpack(on.get(), managed, ready.get(), made.put()));
        return made;
    }
    /// A DLManagedTensorVersioned of its memory. Do not hold the GIL.
    void* to_dlpack(void* stream = nullptr) const {
        void* made = nullptr;
        check(api().array_to_dlpack(get(), stream, &made));
        return made;
    }
    /// Its facts, without waiting.
    pardo_array_info info() const {
        pardo_array_info made{};
        made.size = sizeof made;
        check(api().array_info(get(), &made));
        return made;
    }
    /// Throws an error that begins with `what` unless it is of that dtype, number of dimensions and layout.
    void require(const char* what, std::int32_t dtype, std::int32_t ndim = PARDO_ANY, std::uint32_t flags = 0) const {
        check(api().array_check(get(), what, dtype, ndim, flags, nullptr));
    }
    /// Itself or a copy that is row-major, of a dtype.
    array contiguous(std::int32_t dtype = PARDO_ANY) const {
        array made;
        check(api().array_contiguous(get(), dtype, made.put()));
        return made;
    }
    /// Copies the elements of another array of the same shape and dtype, of any device.
    event copy_from(const queue& on, const array& from, const std::vector<event>& after = {}) const {
        const std::vector<pardo_event> raw = detail::raw(after);
        event made;
        check(api().array_copy(on.get(), get(), from.get(), raw.data(), raw.size(), made.put()));
        return made;
    }
    /// Hands over what has been recorded for it; the event is complete when its elements are.
    event force() const {
        event made;
        check(api().array_force(get(), made.put()));
        return made;
    }
};

}  // namespace PARDO_NATIVE_HIDDEN
}  // namespace pardo

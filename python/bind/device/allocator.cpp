// python/bind/device/allocator.cpp: pardo::set_allocator with Python functions, or with the addresses of C functions.
#include <pardo/memory.h>

#include "bind.h"

namespace bind {
namespace {

using pardo::AllocatorHook;
using pardo::MemoryKind;

constexpr const char* kind_names[] = {"device", "shared", "host"};

/// An address that a Python function has returned; null for None and 0.
void* address_from(PyObject* o) {
    if (o == Py_None) return nullptr;
    if (!PyLong_Check(o) || PyBool_Check(o)) {
        throw pardo::Error(
            pardo::ErrorCode::Type,
            "set_allocator: the function must return an address, an int, or None where it has no memory; it returned " + class_name(o));
    }
    void* const address = PyLong_AsVoidPtr(o);
    if (!address && PyErr_Occurred()) throw error_from_python();
    return address;
}

/// Calls a Python function on a thread that may have given the GIL away.
struct PythonAllocate {
    std::shared_ptr<void> function;
    void* operator()(std::size_t bytes, MemoryKind kind) const {
        const WithGil gil;
        if (!gil) throw pardo::Error(pardo::ErrorCode::Device, "set_allocator: the interpreter is exiting");
        const nb::object result =
            nb::steal(call_python(object_in(function).ptr(), {nb::int_(bytes).ptr(), nb::str(kind_names[static_cast<int>(kind)]).ptr()}));
        if (!result) {
            if (PyErr_ExceptionMatches(PyExc_MemoryError)) {
                PyErr_Clear();
                return nullptr;
            }
            throw error_from_python();
        }
        return address_from(result.ptr());
    }
};

struct Freed {
    std::shared_ptr<void> function;
    void* block;
    std::size_t bytes;
};

/// Blocks are let go under locks of the library and on any thread: Python hears of it when neither matters.
struct PythonFree {
    std::shared_ptr<void> function;
    void operator()(void* block, std::size_t bytes) const {
        call_later(
            [](void* context) {
                const std::unique_ptr<Freed> freed(static_cast<Freed*>(context));
                PyObject* const f = object_in(freed->function).ptr();
                PyObject* const result =
                    call_python(f, {nb::int_(reinterpret_cast<std::uintptr_t>(freed->block)).ptr(), nb::int_(freed->bytes).ptr()});
                if (!result) PyErr_WriteUnraisable(f);
                Py_XDECREF(result);
            },
            new Freed{function, block, bytes});
    }
};

template <class F> F* function_at(nb::handle o) { return reinterpret_cast<F*>(PyLong_AsVoidPtr(o.ptr())); }

AllocatorHook hook_from(nb::object allocate, nb::object free) {
    using AllocateC = void*(std::size_t, int);
    using FreeC = void(void*, std::size_t);
    if (allocate.is_none() && free.is_none()) return {};
    const auto check = [](nb::handle o, const char* which) {
        const bool address = PyLong_Check(o.ptr()) && !PyBool_Check(o.ptr());
        if (address ? PyLong_AsVoidPtr(o.ptr()) != nullptr : PyCallable_Check(o.ptr()) != 0) return address;
        PyErr_Clear();
        throw pardo::Error(pardo::ErrorCode::Type, std::string("set_allocator: ") + which +
                                                       " must be a function or the address of a C function, not " + class_name(o));
    };
    AllocatorHook hook;
    if (check(allocate, "allocate")) {
        hook.allocate = [f = function_at<AllocateC>(allocate)](std::size_t bytes, MemoryKind kind) {
            return f(bytes, static_cast<int>(kind));
        };
    } else {
        hook.allocate = PythonAllocate{kept(std::move(allocate))};
    }
    if (check(free, "free")) {
        hook.free = [f = function_at<FreeC>(free)](void* block, std::size_t bytes) { f(block, bytes); };
    } else {
        hook.free = PythonFree{kept(std::move(free))};
    }
    return hook;
}

}  // namespace

void bind_allocator(nb::module_& m) {
    m.def(
        "_set_allocator",
        [](const pardo::Device& device, nb::object allocate, nb::object free) {
            pardo::set_allocator(device, hook_from(std::move(allocate), std::move(free)));
        },
        nb::arg("device"), nb::arg("allocate").none(), nb::arg("free").none());
}

}  // namespace bind

// python/bind/python_calls.cpp: calls of Python's, by threads that may not come back from them.
//
// When the interpreter ends, Python up to 3.13 ends each daemon thread that asks for the GIL, wherever that is: `pthread_exit` unwinds its
// stack, which C++ code does not survive ("terminate called without an active exception"), and what objects on it let go of would be let
// go without the GIL. Such a thread stays here instead, at the innermost call that leads to Python, until the process is gone; from 3.14 on
// Python does the same.
#include <cxxabi.h>
#include <unistd.h>

#include "bind.h"

namespace bind {
namespace {

[[noreturn]] void stay() noexcept {
    for (;;) ::pause();
}

}  // namespace
}  // namespace bind

extern "C" {
#define CALL(result, name, parameters, arguments)              \
    result __real_##name parameters; /* the function itself */ \
    result __wrap_##name parameters {                          \
        try {                                                  \
            return __real_##name arguments;                    \
        } catch (const abi::__forced_unwind&) {                \
            bind::stay();                                      \
        }                                                      \
    }
#include "python_calls.def"
#undef CALL
}

namespace bind {
namespace {

/// A function of nanobind's table that calls Python's, in the same way.
template <auto slot> struct Guarded;
template <class R, class... A, R (*nb::detail::nb_backend_table::*slot)(A...)> struct Guarded<slot> {
    static inline R (*real)(A...) = nullptr;
    static R call(A... arguments) {
        try {
            return real(arguments...);
        } catch (const abi::__forced_unwind&) {
            stay();
        }
    }
    static void guard() { real = std::exchange(nb::detail::nb_backend.*slot, &call); }
};

}  // namespace

PyObject* call_python(PyObject* f, std::initializer_list<PyObject*> arguments) {
    return nb::detail::nb_backend.vectorcall(f, arguments.begin(), arguments.size(), nullptr);
}

void guard_calls_of_python() {
    using Table = nb::detail::nb_backend_table;
    Guarded<&Table::contains_str>::guard();
    Guarded<&Table::delattr_str>::guard();
    Guarded<&Table::delitem_str>::guard();
    Guarded<&Table::dict_delitem_str>::guard();
    Guarded<&Table::dict_getitem_str>::guard();
    Guarded<&Table::dict_setitem_str>::guard();
    Guarded<&Table::getattr_str>::guard();
    Guarded<&Table::getitem_str>::guard();
    Guarded<&Table::obj_vectorcall>::guard();
    Guarded<&Table::obj_vectorcall_ex>::guard();
    Guarded<&Table::setattr_str>::guard();
    Guarded<&Table::setitem_str>::guard();
    Guarded<&Table::vectorcall>::guard();
    Guarded<&Table::vectorcall_method>::guard();
}

}  // namespace bind

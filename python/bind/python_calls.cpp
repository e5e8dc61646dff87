// python/bind/python_calls.cpp: calls of Python's, by threads that may not come back from them.
//
// When the interpreter ends, Python up to 3.13 ends each daemon thread that asks for the GIL, wherever that is: `pthread_exit` unwinds its
// stack, which C++ code does not survive ("terminate called without an active exception"), and what objects on it let go of would be let
// go without the GIL. Such a thread stays here instead, at the innermost call that leads to Python, until the process is gone; from 3.14 on
// Python does the same.
#include <unistd.h>

#include <exception>
#include <type_traits>

#include "bind.h"

namespace bind {
namespace {

/// Around a call; its end is only for those that come back. A destructor, because a thread may be in a handler of an exception of C++,
/// inside of which nothing else's unwinding can be caught.
class Stays {
public:
    Stays() = default;
    explicit Stays(int exceptions) : exceptions_(exceptions) {}
    Stays(const Stays&) = delete;
    Stays& operator=(const Stays&) = delete;
    ~Stays() {
        if (returns_ || (exceptions_ >= 0 && std::uncaught_exceptions() > exceptions_)) return;
        for (;;) ::pause();
    }
    void returns() { returns_ = true; }

private:
    bool returns_ = false;
    const int exceptions_ = -1;  // that were on their way before; less: none comes out of the call
};

/// Calls a function of C, and gives its result.
template <class R, class... A> R call_c(R (*f)(A...), std::type_identity_t<A>... arguments) {
    Stays stays;
    if constexpr (std::is_void_v<R>) {
        f(arguments...);
        stays.returns();
    } else {
        const R result = f(arguments...);
        stays.returns();
        return result;
    }
}

}  // namespace
}  // namespace bind

extern "C" {
#define UNPACK(...) __VA_OPT__(, ) __VA_ARGS__
#define CALL(result, name, parameters, arguments)              \
    result __real_##name parameters; /* the function itself */ \
    result __wrap_##name parameters { return bind::call_c(&__real_##name UNPACK arguments); }
#include "python_calls.def"
#undef CALL
#undef UNPACK
}

namespace bind {
namespace {

/// A function of nanobind's table that calls Python's, in the same way.
template <auto slot> struct Guarded;
template <class R, class... A, R (*nb::detail::nb_backend_table::*slot)(A...)> struct Guarded<slot> {
    static inline R (*real)(A...) = nullptr;
    static R call(A... arguments) {
        Stays stays(std::uncaught_exceptions());
        if constexpr (std::is_void_v<R>) {
            real(arguments...);
            stays.returns();
        } else {
            const R result = real(arguments...);
            stays.returns();
            return result;
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

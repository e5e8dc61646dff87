// pardo/pybind11.h: arrays, queues, devices and events of pardo as arguments and results of functions that pybind11 binds.
//
//     PYBIND11_MODULE(ext, m) {
//         pardo::native::setup(m);
//         m.def("gemv", [](const pardo::native::queue& q, const pardo::native::arr<double, 2, pardo::native::c_contig>& a) { … });
//     }
//
// An array that does not suit is a TypeError that says which of the call's arrays it is, and what came. For overloads by dtype, give these
// arguments as py::arg("a").noconvert(): then the next overload is tried, and the message is pybind11's own. Handles go without the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include <pardo/native/python.hpp>

namespace pardo {
namespace native PARDO_NATIVE_HIDDEN {

/// Once in PYBIND11_MODULE: imports pardo, takes its table, and makes exceptions of Python of pardo::native::error.
inline void setup(pybind11::module_&) {
    if (!import_table()) throw pybind11::error_already_set();
    pybind11::register_local_exception_translator([](std::exception_ptr p) {
        try {
            if (p) std::rethrow_exception(p);
        } catch (const error&) {
            set_python_error();
        }
    });
}

}  // namespace PARDO_NATIVE_HIDDEN
}  // namespace pardo

PYBIND11_NAMESPACE_BEGIN(PYBIND11_NAMESPACE)
PYBIND11_NAMESPACE_BEGIN(detail)

inline bool pardo_taken(bool taken, const std::unique_ptr<pardo::native::error>& why) {
    if (!why) return taken;
    pardo::native::set_python_error(why->code(), why->what());
    throw error_already_set();
}
template <class Handle> handle pardo_object(const Handle& x) {
    PyObject* const made = pardo::native::to_python(x);
    if (!made) throw error_already_set();
    return made;
}

#define PARDO_PYBIND11_CASTER(Type, Shown)                                                                        \
    template <> struct type_caster<pardo::native::Type> {                                                         \
        PYBIND11_TYPE_CASTER(pardo::native::Type, const_name(Shown));                                             \
        bool load(handle source, bool) {                                                                          \
            std::unique_ptr<pardo::native::error> why;                                                            \
            return pardo_taken(pardo::native::take_handle(source.ptr(), value, why), why);                        \
        }                                                                                                         \
        static handle cast(const pardo::native::Type& x, return_value_policy, handle) { return pardo_object(x); } \
    };
PARDO_PYBIND11_CASTER(queue, "pardo.Queue")
PARDO_PYBIND11_CASTER(event, "pardo.Event")
PARDO_PYBIND11_CASTER(device, "pardo.Device")
PARDO_PYBIND11_CASTER(array, "pardo.Array")
#undef PARDO_PYBIND11_CASTER

template <class T, int N, class... What> struct type_caster<pardo::native::arr<T, N, What...>> {
    using Array = pardo::native::arr<T, N, What...>;
    static constexpr auto signature = pardo::native::detail::signature<Array::what>::text;
    template <std::size_t... I> static constexpr descr<sizeof...(I)> shown(index_sequence<I...>) { return {signature[I]...}; }
    PYBIND11_TYPE_CASTER(Array, shown(make_index_sequence<signature.size() - 1>()));
    pardo::native::call call;

    bool load(handle source, bool convert) {
        std::unique_ptr<pardo::native::error> why;
        return pardo_taken(pardo::native::take_array(source.ptr(), call.next_array(), convert, value, why), why);
    }
    static handle cast(const Array& x, return_value_policy, handle) { return pardo_object<pardo::native::array>(x); }
};

PYBIND11_NAMESPACE_END(detail)
PYBIND11_NAMESPACE_END(PYBIND11_NAMESPACE)

// pardo/nanobind.h: arrays, queues, devices and events of pardo as arguments and results of functions that nanobind binds.
//
//     NB_MODULE(ext, m) {
//         pardo::native::setup(m);
//         m.def("gemv", [](const pardo::native::queue& q, const pardo::native::arr<double, 2, pardo::native::c_contig>& a) { … });
//     }
//
// An array that does not suit is a TypeError that says which of the call's arrays it is, and what came. For overloads by dtype, give these
// arguments as "a"_a.noconvert(): then the next overload is tried, and the message is nanobind's own. Handles go without the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <pardo/native/python.hpp>

namespace pardo {
namespace native PARDO_NATIVE_HIDDEN {

/// Once in NB_MODULE: imports pardo, takes its table, and makes exceptions of Python of pardo::native::error.
inline void setup(nanobind::module_&) {
    if (!import_table()) throw nanobind::python_error();
    nanobind::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const error&) {
            set_python_error();
        }
    });
}

}  // namespace PARDO_NATIVE_HIDDEN
}  // namespace pardo

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)

/// Of a class of handles, which Python shows by a name.
template <class Handle> struct pardo_caster {
    static bool from(handle source, Handle& out) {
        const pardo::native::taken got = pardo::native::take_handle(source.ptr(), out);
        if (got == pardo::native::taken::raised) throw python_error();
        return got == pardo::native::taken::yes;
    }
    static handle to(const Handle& x) noexcept { return pardo::native::import_table() ? pardo::native::to_python(x) : nullptr; }
};

#define PARDO_NANOBIND_CASTER(Type, Shown)                                                                                 \
    template <> struct type_caster<pardo::native::Type> {                                                                  \
        NB_TYPE_CASTER(pardo::native::Type, const_name(Shown))                                                             \
        bool from_python(handle source, std::uint32_t, cleanup_list*) { return pardo_caster<Value>::from(source, value); } \
        static handle from_cpp(const Value& x, rv_policy, cleanup_list*) noexcept { return pardo_caster<Value>::to(x); }   \
    };
PARDO_NANOBIND_CASTER(array, "pardo.Array")
PARDO_NANOBIND_CASTER(queue, "pardo.Queue")
PARDO_NANOBIND_CASTER(event, "pardo.Event")
PARDO_NANOBIND_CASTER(device, "pardo.Device")
#undef PARDO_NANOBIND_CASTER

template <class T, int N, class... What> struct type_caster<pardo::native::arr<T, N, What...>> {
    using Array = pardo::native::arr<T, N, What...>;
    static constexpr auto signature = pardo::native::detail::signature<Array::what>::text;
    template <std::size_t... I> static constexpr descr<sizeof...(I)> shown(std::index_sequence<I...>) { return {signature[I]...}; }
    NB_TYPE_CASTER(Array, shown(std::make_index_sequence<signature.size() - 1>()))
    pardo::native::place place;

    bool from_python(handle source, std::uint32_t flags, cleanup_list*) {
        const bool last = (flags & static_cast<std::uint32_t>(cast_flags::convert)) != 0;
        const pardo::native::taken got = pardo::native::take_array(source.ptr(), place.next(), last, value);
        if (got == pardo::native::taken::raised) throw python_error();
        return got == pardo::native::taken::yes;
    }
    static handle from_cpp(const Array& x, rv_policy, cleanup_list*) noexcept { return pardo_caster<pardo::native::array>::to(x); }
};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)

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

/// What casters share. What is refused is thrown when the function is called, not before: in containers nanobind asks can_cast, and must
/// not be thrown through.
template <class Value_> struct pardo_caster {
    using Value = Value_;
    template <class T> using Cast = movable_cast_t<T>;
    template <class> bool can_cast() const noexcept { return !refused; }
    explicit operator Value*() { return &checked(); }
    explicit operator Value&() { return checked(); }
    explicit operator Value&&() { return std::move(checked()); }

    /// What take(why) says; a reason why not makes it true until the function is called.
    template <class Take> bool taken(const Take& take) noexcept {
        refused.reset();
        try {
            if (take(refused)) return true;
            if (refused) call.refuse(*refused);
            return refused != nullptr;
        } catch (...) {
            return false;
        }
    }
    Value& checked() {
        if (!refused) return value;
        const pardo::native::error& first = call.refuse(*refused);  // compilers differ in which argument they ask first
        pardo::native::set_python_error(first.code(), first.what());
        throw python_error();
    }
    template <class T> static handle from_cpp(T&& x, rv_policy, cleanup_list*) noexcept {
        if constexpr (std::is_pointer_v<std::remove_reference_t<T>>) {
            return x ? handle(pardo::native::to_python(*x)) : none().release();
        } else {
            return pardo::native::to_python(x);
        }
    }

    Value value;
    pardo::native::call call;
    std::unique_ptr<pardo::native::error> refused;
};

#define PARDO_NANOBIND_CASTER(Type, Shown)                                                                 \
    template <> struct type_caster<pardo::native::Type> : pardo_caster<pardo::native::Type> {              \
        static constexpr auto Name = const_name(Shown);                                                    \
        bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {                           \
            return taken([&](auto& why) { return pardo::native::take_handle(source.ptr(), value, why); }); \
        }                                                                                                  \
    };
PARDO_NANOBIND_CASTER(queue, "pardo.Queue")
PARDO_NANOBIND_CASTER(event, "pardo.Event")
PARDO_NANOBIND_CASTER(device, "pardo.Device")
PARDO_NANOBIND_CASTER(array, "pardo.Array")
#undef PARDO_NANOBIND_CASTER

template <class T, int N, class... What>
struct type_caster<pardo::native::arr<T, N, What...>> : pardo_caster<pardo::native::arr<T, N, What...>> {
    static constexpr auto signature = pardo::native::detail::signature<pardo::native::arr<T, N, What...>::what>::text;
    template <std::size_t... I> static constexpr descr<sizeof...(I)> shown(std::index_sequence<I...>) { return {signature[I]...}; }
    static constexpr auto Name = shown(std::make_index_sequence<signature.size() - 1>());

    bool from_python(handle source, std::uint32_t flags, cleanup_list*) noexcept {
        const bool last = (flags & static_cast<std::uint32_t>(cast_flags::convert)) != 0;
        return this->taken(
            [&](auto& why) { return pardo::native::take_array(source.ptr(), this->call.next_array(), last, this->value, why); });
    }
};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)

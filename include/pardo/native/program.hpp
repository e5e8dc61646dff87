// pardo/native/program.hpp: of pardo/native.hpp: kernels of text.
#pragma once

#include <cstring>
#include <initializer_list>

#include <pardo/native/handles.hpp>

namespace pardo {
namespace native PARDO_NATIVE_HIDDEN {

/// Memory that a work-group shares, as an argument.
struct local_memory {
    std::size_t bytes;  ///< of a group
};

namespace detail {

template <class T> struct is_complex : std::false_type {};
template <class T> struct is_complex<std::complex<T>> : std::true_type {};

/// What a launch takes: an array, a number of the kernel's own type, a structure, local_memory, nullptr.
template <class T> pardo_argument argument(const T& x) {
    pardo_argument made{};
    if constexpr (std::is_base_of_v<array, T>) {
        made.kind = PARDO_ARG_ARRAY;
        made.array = x.get();
    } else if constexpr (std::is_same_v<T, local_memory>) {
        made.kind = PARDO_ARG_LOCAL;
        made.bytes = x.bytes;
    } else if constexpr (std::is_same_v<T, std::nullptr_t>) {
        made.kind = PARDO_ARG_NULL;
    } else {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>, "an array, a number or a plain structure is expected");
        constexpr bool is_number = std::is_arithmetic_v<T> || is_complex<T>::value;
        made.kind = is_number ? PARDO_ARG_NUMBER : PARDO_ARG_BYTES;
        if constexpr (is_number) made.dtype = dtype_of<T>();
        made.value = &x;
        made.bytes = sizeof x;
    }
    return made;
}

}  // namespace detail

/// Items, and those of a group: range({n}, {64}); without groups the device chooses them.
inline pardo_range range(std::initializer_list<std::int64_t> items, std::initializer_list<std::int64_t> group = {}) {
    constexpr std::size_t most = 3;
    if (items.size() > most || (group.size() != 0 && group.size() != items.size()))
        throw error(PARDO_E_VALUE, "range: 1 to 3 dimensions are expected, of groups as many as of items");
    pardo_range made{};
    made.size = sizeof made;
    made.ndim = static_cast<std::int32_t>(items.size());
    std::size_t d = 0;
    for (const std::int64_t n : items) made.global[d++] = n;
    d = 0;
    for (const std::int64_t n : group) made.local[d++] = n;
    return made;
}

/// Text that is compiled for a device.
class program : public handle<pardo_program> {
public:
    /// Text in the device's language, OpenCL C or CUDA C++. Throws what the compiler says.
    static program compile(const device& on, const std::string& text, const char* language = nullptr,
                           const std::vector<std::string>& options = {}) {
        std::vector<const char*> raw;
        for (const std::string& option : options) raw.push_back(option.c_str());
        program made;
        check(api().program_new(on.get(), text.data(), text.size(), language, raw.data(), raw.size(), made.put()));
        return made;
    }
    /// Launches a kernel, ordered by its arrays as all work.
    template <class... Arguments>
    event launch(const queue& on, const char* kernel, const pardo_range& over, const std::vector<event>& after,
                 const Arguments&... arguments) const {
        const pardo_argument given[sizeof...(arguments) + 1] = {detail::argument(arguments)..., {}};
        const std::vector<pardo_event> raw = detail::raw(after);
        event made;
        check(api().program_launch(on.get(), get(), kernel, given, sizeof...(arguments), &over, raw.data(), raw.size(), made.put()));
        return made;
    }
};

/// Launches a kernel of a text in the device's language, which is compiled where it comes for the first time.
template <class... Arguments>
event launch(const queue& on, const char* text, const char* kernel, const pardo_range& over, const std::vector<event>& after,
             const Arguments&... arguments) {
    const pardo_argument given[sizeof...(arguments) + 1] = {detail::argument(arguments)..., {}};
    const std::vector<pardo_event> raw = detail::raw(after);
    event made;
    check(api().launch_text(on.get(), text, kernel, given, sizeof...(arguments), &over, raw.data(), raw.size(), made.put()));
    return made;
}

}  // namespace PARDO_NATIVE_HIDDEN
}  // namespace pardo

// include/pardo/extents.h: lists as arguments: of extents, axes, arrays and events. Braces, vectors, spans and arrays of C are taken alike.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

#include <pardo/dtype.h>

namespace pardo {

/// A contiguous range of elements of a type.
template <class R, class T>
concept RangeOf = std::convertible_to<const R&, std::span<const T>>;
/// What is no extent although C++ would convert it: zeros(2.5).
template <class T>
concept NoExtent = std::is_arithmetic_v<T> && !Integer<T>;

/// A list as an argument: {a, b}, one item alone, or a contiguous range. It refers to the items and keeps none, so that it is no variable
/// to put braces into: they live as long as the call.
template <class T> class ListOf : public std::span<const T> {
public:
    constexpr ListOf() noexcept = default;
    constexpr ListOf(std::initializer_list<T> items) noexcept : std::span<const T>(std::data(items), items.size()) {}  ///< {a, b}
    constexpr ListOf(const T* first, std::size_t count) noexcept : std::span<const T>(first, count) {}                 ///< an array of C
    constexpr ListOf(const T& item) noexcept : std::span<const T>(&item, 1) {}                                         ///< one item alone
    /// a vector, a span, any contiguous range
    template <RangeOf<T> Range> constexpr ListOf(const Range& items) : std::span<const T>(items) {}
};

/// Extents of a shape, strides, axes or other integers: zeros({2, 3}), zeros(5), reshape(x, shape).
class Extents : public ListOf<std::int64_t> {
public:
    using ListOf::ListOf;
    template <NoExtent T> Extents(T) = delete;  ///< zeros(2.5) does not compile
};

/// Axes that a function works along: all of them ({}, or nothing), one, or several.
class Axes {
public:
    constexpr Axes() noexcept = default;
    constexpr Axes(std::nullopt_t) noexcept {}  ///< all of them
    /// {0, 1}
    constexpr Axes(std::initializer_list<std::int64_t> axes) noexcept : named_(true), axes_(axes) {}
    constexpr Axes(const std::int64_t& axis) noexcept : named_(true), axes_(axis) {}                         ///< one
    template <RangeOf<std::int64_t> Range> constexpr Axes(const Range& axes) : named_(true), axes_(axes) {}  ///< those of a range
    /// Those of a list; all of them without one.
    constexpr Axes(const std::optional<std::vector<std::int64_t>>& axes) : named_(axes) {
        if (axes) axes_ = *axes;
    }
    template <NoExtent T> Axes(T) = delete;  ///< sum(x, 1.5) does not compile

    /// False: all axes.
    constexpr explicit operator bool() const noexcept { return named_; }
    constexpr const Extents& operator*() const noexcept { return axes_; }    ///< the axes that are named
    constexpr const Extents* operator->() const noexcept { return &axes_; }  ///< and their list

private:
    bool named_ = false;
    Extents axes_;
};

}  // namespace pardo

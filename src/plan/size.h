// src/plan/size.h: numbers that planning computes with. They know how they come from the numbers of a subgraph, so that a plan can be
// adapted to other ones instead of being made again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/sizing.h"
#include "base/small_vector.h"

namespace pardo::plan {

/// A number of a subgraph (an extent, a stride, an offset, a step of a view), a number of the planner's own, or what is computed from them.
/// A comparison of two sizes is noted in the thread's trace and checked before the plan is used for other numbers, so that plans may
/// branch on sizes and sort them. What `value()` gives is not checked: no branch may depend on it.
class Size {
public:
    constexpr Size(std::int64_t literal = 0) : value_(literal) {}  // NOLINT(google-explicit-constructor): literals are plain numbers
    /// A number of the subgraph's key.
    static Size given(std::int64_t number);
    constexpr std::int64_t value() const { return value_; }
    constexpr bool literal() const { return expression_ < 0; }
    /// The number itself, for what is made for it alone.
    std::int64_t pinned() const;

    friend Size operator+(Size a, Size b);
    friend Size operator-(Size a, Size b);
    friend Size operator*(Size a, Size b);
    friend Size operator/(Size a, Size b);
    friend Size operator%(Size a, Size b);
    friend bool operator==(Size a, Size b);
    friend bool operator<(Size a, Size b);
    friend bool operator>(Size a, Size b) { return b < a; }
    friend bool operator<=(Size a, Size b) { return !(b < a); }
    friend bool operator>=(Size a, Size b) { return !(a < b); }
    Size& operator+=(Size b) { return *this = *this + b; }
    Size& operator*=(Size b) { return *this = *this * b; }
    Size& operator/=(Size b) { return *this = *this / b; }
    // They decide nothing, whatever they choose.
    friend Size min(Size a, Size b);
    friend Size max(Size a, Size b);
    friend Size abs(Size a);

private:
    friend class Trace;
    constexpr Size(std::int64_t value, std::int32_t expression) : value_(value), expression_(expression) {}
    std::int64_t value_;
    std::int32_t expression_ = -1;  // in the trace; a literal has none
};

using Sizes = SmallVector<Size, 6>;
Sizes given(std::span<const std::int64_t> numbers);
/// Row-major, as pardo::contiguous_strides.
Sizes contiguous_strides(const Sizes& shape);
/// The elements of a shape.
Size count(const Sizes& shape);
SmallVector<std::int64_t, 6> values_of(std::span<const Size> sizes);

/// How the numbers of one plan were computed, and what was decided by them: a straight program over the numbers of a subgraph. While one
/// lives, the thread's sizes are traced by it.
class Trace {
public:
    /// The different numbers of a subgraph beyond -1, 0 and 1, in the order of its key; other ones are literals.
    explicit Trace(std::span<const std::int64_t> numbers);
    /// Of any numbers, which may be equal to each other or to those that stand for themselves: what differs is checked as all else is. What
    /// the planner is given besides is to be known().
    struct Any {};
    Trace(std::span<const std::int64_t> numbers, Any);
    ~Trace();
    Trace(const Trace&) = delete;
    static Trace* current();

    /// From now on the plan is for these numbers alone: something was decided by what no trace sees.
    void give_up() { adaptable_ = false; }

    /// One of the numbers.
    static Size number(std::int64_t value, std::int32_t which) { return {value, which}; }
    /// A size again by what `expression` gave of it.
    static Size again(std::int64_t value, std::int32_t expression) { return {value, expression}; }
    /// A number that the planner may be given, and how it is computed. Two that are equal here have to be so elsewhere.
    void know(Size size);

    /// Null after `give_up`. `outputs` get the expressions of the sizes that it is asked for.
    bool adaptable() const { return adaptable_; }
    std::int32_t expression(Size size);
    /// What is left of a trace that is over.
    Sizing take() { return std::move(replay_); }

    // What the operators of Size are made of.
    using Op = Sizing::Op;
    static Size apply(Op op, Size a, Size b);
    static bool note(bool less, Size a, Size b, bool outcome);
    static Size given(std::int64_t number);

private:
    std::int32_t add(const Sizing::Step& step);
    std::span<const std::int64_t> numbers_;
    Sizing replay_;
    std::vector<Size> known_;
    bool any_ = false, adaptable_ = true;
    Trace* outer_;
};

}  // namespace pardo::plan

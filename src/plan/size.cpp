// src/plan/size.cpp: numbers that planning computes with, and the trace of what was decided by them.
#include "plan/size.h"

#include <algorithm>
#include <utility>

namespace pardo::plan {

namespace {

thread_local Trace* current_trace = nullptr;
constexpr bool stands_for_itself(std::int64_t number) { return number >= -1 && number <= 1; }

}  // namespace

Size Size::given(std::int64_t number) { return Trace::given(number); }

std::int64_t Size::pinned() const {
    if (!literal()) (void)(*this == Size(value_));
    return value_;
}

Size operator+(Size a, Size b) { return Trace::apply(Trace::Op::Add, a, b); }
Size operator-(Size a, Size b) { return Trace::apply(Trace::Op::Sub, a, b); }
Size operator*(Size a, Size b) { return Trace::apply(Trace::Op::Mul, a, b); }
Size operator/(Size a, Size b) { return Trace::apply(Trace::Op::Div, a, b); }
Size operator%(Size a, Size b) { return Trace::apply(Trace::Op::Mod, a, b); }
Size min(Size a, Size b) { return Trace::apply(Trace::Op::Min, a, b); }
Size max(Size a, Size b) { return Trace::apply(Trace::Op::Max, a, b); }
Size abs(Size a) { return Trace::apply(Trace::Op::Abs, a, a); }
bool operator==(Size a, Size b) { return Trace::note(false, a, b, a.value_ == b.value_); }
bool operator<(Size a, Size b) { return Trace::note(true, a, b, a.value_ < b.value_); }

Sizes given(std::span<const std::int64_t> numbers) {
    Sizes sizes;
    for (const std::int64_t number : numbers) sizes.push_back(Size::given(number));
    return sizes;
}

Sizes contiguous_strides(const Sizes& shape) {
    Sizes strides(shape.size(), 1);
    for (int d = shape.size() - 2; d >= 0; --d) strides[d] = strides[d + 1] * shape[d + 1];
    return strides;
}

Size count(const Sizes& shape) {
    Size elements = 1;
    for (const Size extent : shape) elements *= extent;
    return elements;
}

SmallVector<std::int64_t, 6> values_of(std::span<const Size> sizes) {
    SmallVector<std::int64_t, 6> values;
    for (const Size size : sizes) values.push_back(size.value());
    return values;
}

Trace::Trace(std::span<const std::int64_t> numbers) : numbers_(numbers), outer_(std::exchange(current_trace, this)) {
    replay_.sizes = static_cast<std::int32_t>(numbers.size());
}
Trace::Trace(std::span<const std::int64_t> numbers, Any) : Trace(numbers) { any_ = true; }
Trace::~Trace() { current_trace = outer_; }
Trace* Trace::current() { return current_trace; }

void Trace::know(Size size) {
    for (const Size other : known_) {
        if (other.value() != size.value()) continue;
        if (other.expression_ != size.expression_) (void)(other == size);
        return;
    }
    if (stands_for_itself(size.value())) {
        (void)size.pinned();
    } else {
        known_.push_back(size);
    }
}

Size Trace::given(std::int64_t number) {
    Trace* const trace = current_trace;
    if (!trace || stands_for_itself(number)) return number;
    if (trace->any_) {
        const auto known = std::ranges::find(trace->known_, number, &Size::value);
        if (known != trace->known_.end()) return *known;
        trace->give_up();
        return number;
    }
    const auto found = std::find(trace->numbers_.begin(), trace->numbers_.end(), number);
    if (found != trace->numbers_.end()) return {number, static_cast<std::int32_t>(found - trace->numbers_.begin())};
    trace->give_up();  // no number of the key: nothing says what it would be for other sizes
    return number;
}

std::int32_t Trace::add(const Sizing::Step& step) {
    constexpr std::ptrdiff_t recent = 16;  // the same is often computed again soon
    std::vector<Sizing::Step>& steps = replay_.steps;
    const auto from = steps.end() - std::min<std::ptrdiff_t>(recent, static_cast<std::ptrdiff_t>(steps.size()));
    auto known = std::find(from, steps.end(), step);
    if (known == steps.end()) known = steps.insert(known, step);
    return replay_.sizes + static_cast<std::int32_t>(known - steps.begin());
}

std::int32_t Trace::expression(Size size) { return size.literal() ? add({Op::Literal, 0, 0, size.value()}) : size.expression_; }

Size Trace::apply(Op op, Size a, Size b) {
    std::int64_t value = 0;
    const bool fits = Sizing::compute(op, a.value_, b.value_, value);
    Trace* const trace = current_trace;
    if (!trace || (a.literal() && b.literal())) return value;
    if (!fits) trace->give_up();
    // What needs no computing: extents of one, steps of zero, the size of a row.
    const auto is = [](Size size, std::int64_t literal) { return size.literal() && size.value_ == literal; };
    switch (op) {
        case Op::Add:
            if (is(a, 0)) return b;
            if (is(b, 0)) return a;
            break;
        case Op::Mul:
            if (is(a, 0) || is(b, 0)) return 0;
            if (is(a, 1)) return b;
            if (is(b, 1)) return a;
            break;
        case Op::Min:
        case Op::Max:
            if (a.expression_ == b.expression_) return a;
            break;
        default: break;
    }
    const std::int32_t left = trace->expression(a), right = trace->expression(b);
    return {value, trace->add({op, left, right, 0})};
}

bool Trace::note(bool less, Size a, Size b, bool outcome) {
    Trace* const trace = current_trace;
    if (!trace || (a.literal() && b.literal()) || a.expression_ == b.expression_) return outcome;
    // Different numbers of a subgraph differ from each other, and from -1, 0 and 1: the key says that.
    const auto number = [&](Size size) { return !trace->any_ && !size.literal() && size.expression_ < trace->replay_.sizes; };
    const auto apart = [&](Size x, Size y) { return number(x) && (number(y) || (y.literal() && stands_for_itself(y.value_))); };
    if (!less && (apart(a, b) || apart(b, a))) return outcome;
    const Sizing::Guard guard{trace->expression(a), trace->expression(b), less, outcome};
    std::vector<Sizing::Guard>& guards = trace->replay_.guards;
    if (std::find(guards.begin(), guards.end(), guard) == guards.end()) guards.push_back(guard);
    return outcome;
}

}  // namespace pardo::plan

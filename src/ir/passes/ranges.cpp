// src/ir/passes/ranges.cpp: evaluates a RangeProgram: arithmetic on intervals in which nothing that may wrap is believed.
#include <algorithm>

#include "ir/passes/checks.h"

namespace pardo::ir {
namespace {

using Op = RangeStep::Op;
using Wide = __int128;

constexpr Range unknown{Range::least, Range::most}, nothing{1, 0};

bool fits(Wide low, Wide high) { return low >= Range::least && high <= Range::most; }
Range made(Wide low, Wide high) {
    return fits(low, high) ? Range{static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)} : unknown;
}
std::int64_t clamped(Wide x) { return static_cast<std::int64_t>(std::clamp<Wide>(x, Range::least, Range::most)); }

Range sum(Range a, Range b) { return made(Wide(a.low) + b.low, Wide(a.high) + b.high); }
Range difference(Range a, Range b) { return made(Wide(a.low) - b.high, Wide(a.high) - b.low); }
Range product(Range a, Range b) {
    const Wide each[] = {Wide(a.low) * b.low, Wide(a.low) * b.high, Wide(a.high) * b.low, Wide(a.high) * b.high};
    return made(*std::min_element(each, each + 4), *std::max_element(each, each + 4));
}
Range hull(Range a, Range b) {
    if (a.empty()) return b;
    if (b.empty()) return a;
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
Range meet(Range a, Range b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }

std::int64_t floor_divided(std::int64_t x, std::int64_t by) {  // by > 0
    return x / by - (x % by < 0 ? 1 : 0);
}

Range quotient(Range a, Range b) {
    if (b.low < 1) return unknown;
    const std::int64_t each[] = {floor_divided(a.low, b.low), floor_divided(a.low, b.high), floor_divided(a.high, b.low),
                                 floor_divided(a.high, b.high)};
    return {*std::min_element(each, each + 4), *std::max_element(each, each + 4)};
}

/// Python's: the divisor's sign; what is divided by 0 leaves 0.
Range remainder(Range a, Range b) {
    if (b.low < 0) return unknown;
    if (a.low >= 0 && a.high < b.low) return a;
    return {0, std::max<std::int64_t>(0, a.low >= 0 ? std::min(a.high, b.high - 1) : b.high - 1)};
}

Range shifted(Range a, Range b) {
    if (b.low < 0 || b.high > 63) return a.low >= 0 ? Range{0, a.high} : unknown;
    return hull({a.low >> b.low, a.high >> b.low}, {a.low >> b.high, a.high >> b.high});
}

Range masked(Range a, Range b) {
    if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
    if (b.low >= 0) return {0, b.high};
    if (a.low >= 0) return {0, a.high};
    return unknown;
}

/// x, where `low` <= x <= `high` follows from the numbers and x was in `was`.
Range narrowed(Range was, Wide low, Wide high) { return meet(was, {clamped(low), clamped(high)}); }

Range inverse(Op op, Range was, Range other, Range is) {
    if (is.empty()) return nothing;
    // A limit of int64 is not a limit: the other side of it says nothing.
    const Wide low = is.low == Range::least ? Wide(Range::least) * 4 : is.low,
               high = is.high == Range::most ? Wide(Range::most) * 4 : is.high;
    switch (op) {
        case Op::Minuend:
            if (!fits(Wide(was.low) + other.low, Wide(was.high) + other.high)) return was;
            return narrowed(was, low - other.high, high - other.low);
        case Op::Remnant:
            if (!fits(Wide(was.low) - other.high, Wide(was.high) - other.low)) return was;
            return narrowed(was, low + other.low, high + other.high);
        case Op::Negated:
            if (!fits(Wide(other.low) - was.high, Wide(other.high) - was.low)) return was;
            return narrowed(was, other.low - high, other.high - low);
        default:  // Factor
            if (other.low < 1 || other.low != other.high || product(was, other) == unknown) return was;
            return narrowed(was, is.low == Range::least ? low : -Wide(floor_divided(-std::max(is.low, -Range::most), other.low)),
                            is.high == Range::most ? high : floor_divided(is.high, other.low));
    }
}

Range wrapped(Range i, Range n) {
    if (i.low >= 0) return i;
    if (n.low < 0) return unknown;
    const Range behind = sum({i.low, std::min<std::int64_t>(i.high, -1)}, n);
    return i.high < 0 ? behind : hull(behind, {0, i.high});
}

Range counter(Range from, Range to, Range step) {
    if (step.low >= 1) {
        if (from.low >= to.high) return nothing;
        if (!fits(0, Wide(to.high) - 1 + step.high)) return unknown;  // the last sum may wrap, and the loop goes on
        std::int64_t last = to.high - 1;
        if (from.low == from.high && step.low == step.high) last = from.low + clamped((Wide(last) - from.low) / step.low) * step.low;
        return {from.low, last};
    }
    if (step.high <= -1) {
        if (from.high <= to.low) return nothing;
        if (!fits(Wide(to.low) + 1 + step.low, 0)) return unknown;
        std::int64_t last = to.low + 1;
        if (from.low == from.high && step.low == step.high)
            last = from.low - clamped((Wide(from.low) - last) / -Wide(step.low)) * -step.low;
        return {last, from.high};
    }
    return unknown;
}

Range iterations(Range from, Range to, Range step) {
    Wide count = Range::most;
    if (step.low >= 1) count = (Wide(to.high) - from.low + step.low - 1) / step.low;
    if (step.high <= -1) count = (Wide(from.high) - to.low - step.high - 1) / -Wide(step.high);
    return {0, clamped(std::max<Wide>(0, count))};
}

/// After so many iterations, or fewer.
Range carried(Range start, Range by, Range count) {
    const Wide n = count.high;
    return made(start.low + std::min<Wide>(0, by.low) * n, start.high + std::max<Wide>(0, by.high) * n);
}

/// `within`: what a test says of it where each iteration begins; an iteration may leave it by one step.
Range climbs(Range start, Range by, Range within) {
    if (by.low >= 0 && fits(0, Wide(within.high) + by.high)) return {start.low, std::max(start.high, clamped(Wide(within.high) + by.high))};
    if (by.high <= 0 && fits(Wide(within.low) + by.low, 0)) return {std::min(start.low, clamped(Wide(within.low) + by.low)), start.high};
    return unknown;
}

/// Of numbers that are not negative, and a factor of at least 1.
Range doubles(Range start, Range by, Range within) {
    const Wide high = Wide(within.high) * by.high;
    if (start.low < 0 || by.low < 1 || within.high < 0 || high > Range::most) return unknown;
    return {start.low, std::max(start.high, static_cast<std::int64_t>(high))};
}

Range evaluated(const RangeStep& s, Range a, Range b, Range c) {
    // What never runs has no values; but loops, alternatives and verdicts have their own answer to that.
    switch (s.op) {
        case Op::Hull: return hull(a, b);
        case Op::IsInside: return {0, a.empty() || b.empty() || (a.low >= 0 && a.high < b.low) ? 1 : 0};
        case Op::IsNatural: return {0, a.empty() || a.low >= 0 ? 1 : 0};
        case Op::Carried:
            if (b.empty()) return a;
            break;
        case Op::Climbs:
        case Op::Doubles:
            if (b.empty() || c.empty()) return a;  // no iteration, or none that changes it
            break;
        default: break;
    }
    if (a.empty()) return nothing;
    switch (s.op) {
        case Op::Abs: return a.low == Range::least ? unknown : a.low >= 0 ? a : Range{a.high < 0 ? -a.high : 0, std::max(-a.low, a.high)};
        case Op::Fit: return a.low >= s.range.low && a.high <= s.range.high ? a : s.range;
        case Op::Signed: return a.high == Range::most ? unknown : a;
        case Op::Below: return a.high == Range::least ? nothing : Range{Range::least, a.high == Range::most ? Range::most : a.high - 1};
        case Op::AtMost: return {Range::least, a.high};
        case Op::Above: return a.low == Range::most ? nothing : Range{a.low == Range::least ? Range::least : a.low + 1, Range::most};
        case Op::AtLeast: return {a.low, Range::most};
        case Op::Shrinks: return a.low >= 0 ? Range{0, a.high} : unknown;
        case Op::Count: return a.high < 1 ? nothing : Range{0, a.high - 1};
        default: break;
    }
    if (b.empty()) return nothing;
    switch (s.op) {
        case Op::Add: return sum(a, b);
        case Op::Sub: return difference(a, b);
        case Op::Mul: return product(a, b);
        case Op::FloorDiv: return quotient(a, b);
        case Op::Rem: return remainder(a, b);
        case Op::Shr: return shifted(a, b);
        case Op::And: return masked(a, b);
        case Op::Min: return {std::min(a.low, b.low), std::min(a.high, b.high)};
        case Op::Max: return {std::max(a.low, b.low), std::max(a.high, b.high)};
        case Op::Meet: return meet(a, b);
        case Op::Wrap: return wrapped(a, b);
        case Op::Except:
            if (b.low != b.high) return a;
            return {a.low + (a.low == b.low && b.low != Range::most ? 1 : 0),
                    a.high - (a.high == b.low && b.low != Range::most && b.low != Range::least ? 1 : 0)};
        case Op::Minuend:
        case Op::Remnant:
        case Op::Negated:
        case Op::Factor: return inverse(s.op, a, b, c);
        default: break;
    }
    if (c.empty()) return nothing;
    switch (s.op) {
        case Op::Counter: return counter(a, b, c);
        case Op::Iterations: return iterations(a, b, c);
        case Op::Carried: return carried(a, b, c);
        case Op::Climbs: return climbs(a, b, c);
        case Op::Doubles: return doubles(a, b, c);
        default: return unknown;
    }
}

}  // namespace

std::vector<bool> RangeProgram::evaluate(std::span<const Range> values) const {
    SmallVector<Range, 64> at;
    for (const RangeStep& s : steps) {
        if (s.op == Op::Constant) {
            at.push_back(s.range);
        } else if (s.op == Op::Input) {
            at.push_back(values[s.a]);
        } else {
            const Range a = at[static_cast<int>(s.a)], b = at[static_cast<int>(s.b)], c = at[static_cast<int>(s.c)];
            at.push_back(evaluated(s, a, b, c));
        }
    }
    std::vector<bool> out;
    for (const std::uint32_t v : verdicts) out.push_back(v != no_verdict && at[static_cast<int>(v)].high == 1);
    return out;
}

}  // namespace pardo::ir

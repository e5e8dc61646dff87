// src/saved/sizing.cpp: runs the small programs of sizes.
#include "saved/sizing.h"

#include <algorithm>
#include <limits>

namespace pardo::saved {
namespace {

bool compute(const Sizing::Step& step, std::int64_t a, std::int64_t b, std::int64_t& result) {
    using Op = Sizing::Op;
    switch (step.op) {
        case Op::Literal: result = step.literal; return true;
        case Op::Add: return !__builtin_add_overflow(a, b, &result);
        case Op::Sub: return !__builtin_sub_overflow(a, b, &result);
        case Op::Mul: return !__builtin_mul_overflow(a, b, &result);
        case Op::Div:
        case Op::Mod:
            if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return false;
            result = step.op == Op::Div ? a / b : a % b;
            return true;
        case Op::Min: result = std::min(a, b); return true;
        case Op::Max: result = std::max(a, b); return true;
        case Op::Abs: return a >= 0 ? (result = a, true) : !__builtin_sub_overflow(0, a, &result);
    }
    return false;
}

}  // namespace

bool Sizing::run(std::span<const std::int64_t> given, std::vector<std::int64_t>& values) const {
    values.assign(given.begin(), given.end());
    values.reserve(static_cast<std::size_t>(this->values()));
    for (const Step& step : steps) {
        const bool leaf = step.op == Op::Literal;
        std::int64_t value = 0;
        if (!compute(step, leaf ? 0 : values[step.a], leaf ? 0 : values[step.b], value)) return false;
        values.push_back(value);
    }
    return std::ranges::all_of(
        guards, [&](const Guard& g) { return (g.less ? values[g.a] < values[g.b] : values[g.a] == values[g.b]) == g.outcome; });
}

bool Sizing::sound() const {
    std::int32_t known = sizes;
    for (const Step& step : steps) {
        if (step.op > Op::Abs) return false;
        if (step.op != Op::Literal && (step.a < 0 || step.b < 0 || step.a >= known || step.b >= known)) return false;
        ++known;
    }
    return std::ranges::all_of(guards, [&](const Guard& g) { return g.a >= 0 && g.b >= 0 && g.a < known && g.b < known; });
}

}  // namespace pardo::saved

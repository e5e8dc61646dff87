// src/base/sizing.cpp: runs such programs.
#include "base/sizing.h"

#include <algorithm>

namespace pardo {

bool Sizing::compute(Op op, std::int64_t a, std::int64_t b, std::int64_t& result) {
    switch (op) {
        case Op::Literal: return true;
        case Op::Add: return !__builtin_add_overflow(a, b, &result);
        case Op::Sub: return !__builtin_sub_overflow(a, b, &result);
        case Op::Mul: return !__builtin_mul_overflow(a, b, &result);
        case Op::Div:
        case Op::Mod:
            if (b == 0 || b == -1) return b == -1 && !__builtin_mul_overflow(a, op == Op::Div ? -1 : 0, &result);
            result = op == Op::Div ? a / b : a % b;
            return true;
        case Op::Min: result = std::min(a, b); return true;
        case Op::Max: result = std::max(a, b); return true;
        case Op::Abs: return a >= 0 ? (result = a, true) : !__builtin_sub_overflow(0, a, &result);
    }
    return false;
}

bool Sizing::run(std::span<const std::int64_t> given, std::vector<std::int64_t>& values) const {
    values.assign(given.begin(), given.end());
    for (const Step& step : steps) {
        std::int64_t value = step.literal;
        if (!compute(step.op, step.op == Op::Literal ? 0 : values[step.a], step.op == Op::Literal ? 0 : values[step.b], value))
            return false;
        values.push_back(value);
    }
    return std::all_of(guards.begin(), guards.end(),
                       [&](const Guard& g) { return (g.less ? values[g.a] < values[g.b] : values[g.a] == values[g.b]) == g.outcome; });
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

}  // namespace pardo

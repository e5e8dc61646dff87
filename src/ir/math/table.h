// src/ir/math/table.h: which recipe computes a function of a dtype, on which targets, and how well: a row for each.
#pragma once

#include "ir/math/complex/complex.h"
#include "ir/math/expr.h"

namespace pardo::ir::math {

/// Of reals or of complex numbers; neither: the target's own function.
struct Recipe {
    constexpr Recipe(std::nullptr_t) {}
    constexpr Recipe(Expr (*of_reals)(Args)) : real(of_reals) {}
    constexpr Recipe(Complex (*of_complex)(ComplexArgs)) : complex(of_complex) {}

    Expr (*real)(Args) = nullptr;  // may give `nothing`
    Complex (*complex)(ComplexArgs) = nullptr;
};

enum class Dtypes : std::uint8_t { F32, F64, Floats, Integers, Complexes };  // float16 is computed in float32

struct Row {
    Math fn;
    Dtypes dtypes;
    bool (*targets)(const MathTarget& target);
    double ulp;  // the largest error on the CPU, as docs/reference/accuracy.md and special.md say how it is measured
    Recipe recipe;
    bool odd = false;  // f(-x) = -f(x): signs move out, so that f(x) and f(-x) are computed once
};

/// The row of a function for a dtype on a target; null: the target's own function, or there is none.
const Row* find(Math fn, DType t, const MathTarget& target);

}  // namespace pardo::ir::math

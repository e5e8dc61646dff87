// src/ir/math/table.h: which recipe computes a function of a dtype, on which targets, and how well: a row for each.
#pragma once

#include "ir/math/complex/complex.h"
#include "ir/math/expr.h"

namespace pardo::ir::math {

/// How a recipe comes into code.
enum class Use : std::uint8_t {
    Expanded,  // by a pass, before kernels are emitted
    Formula,   // by LLVM's emitter, in place of the call: until then it is one call for all that plans and estimates
    Called,    // likewise, and loops are planned as for a call of the library
};

/// Of reals or of complex numbers.
struct Recipe {
    constexpr Recipe(Expr (*of_reals)(Args), Use use = Use::Expanded) : real(of_reals), use(use) {}
    constexpr Recipe(Complex (*of_complex)(ComplexArgs)) : complex(of_complex) {}

    Expr (*real)(Args) = nullptr;  // Expanded: may give `nothing`
    Complex (*complex)(ComplexArgs) = nullptr;
    Use use = Use::Expanded;
};

enum class Dtypes : std::uint8_t { F32, F64, Floats, Integers, Complexes };  // float16 is computed in float32

struct Row {
    Math fn;
    Dtypes dtypes;
    bool (*targets)(const MathTarget& target);
    double ulp;  // the largest error on the CPU, as docs/reference/accuracy.md and special.md say how it is measured
    Recipe recipe;
    Expr (*rare)(Args) = nullptr;  // in place: operands that the recipe is not for; they take the library's function
    bool odd = false;              // Expanded: f(-x) = -f(x): signs move out, so that f(x) and f(-x) are computed once
};

/// The row of a function for a dtype on a target; null: the target's own function, or there is none.
const Row* find(Math fn, DType t, const MathTarget& target);
/// The row for what is left when kernels are emitted.
const Row* find_in_place(Math fn, DType t, const MathTarget& target);

/// A recipe, or a condition, as a kernel by itself: scalar parameters are operands, and one Store gives the result. Its calls are the
/// library's functions; of a branch only the side that is taken for rare operands does anything; what is cast to integers fits.
Kernel as_kernel(Expr (*recipe)(Args), Math fn, DType t);

}  // namespace pardo::ir::math

// src/ir/math/table.cpp: which recipe computes a function of a dtype, on which targets, and how well.
#include "ir/math/table.h"

#include <algorithm>

#include "ir/math/recipes.h"
#include "ir/math/special/special.h"

namespace pardo::ir::math {
namespace {

bool everywhere(const MathTarget&) { return true; }
// LLVM's registers: from AVX2 on there is fma, and with AVX-512 lanes look up values in two registers.
bool with_fma(const MathTarget& target) { return target.vector_bytes >= 32; }
bool with_lookups(const MathTarget& target) { return target.vector_bytes == 64; }
bool where_ir_is_faster(const MathTarget& target) { return !target.native_erf; }

template <Complex (*function)(Complex)> Complex of_one(ComplexArgs z) { return function(z[0]); }
Complex pow_of_complex(ComplexArgs z) { return pow(z[0], z[1]); }

using enum Dtypes;

// The first row that fits is taken.
constexpr Row rows[] = {
    {Math::erf, F64, with_lookups, 1, nullptr},
    {Math::erf, Floats, where_ir_is_faster, 1, erf, true},
    {Math::erfc, Floats, everywhere, 2, erfc},
    {Math::hypot, Floats, everywhere, 1.2, hypot},
    {Math::log1p, F64, with_fma, 1, nullptr},
    {Math::log1p, Floats, where_ir_is_faster, 1, log1p_scaled},
    {Math::logaddexp, Floats, everywhere, 1.6, logaddexp},
    {Math::logaddexp2, Floats, everywhere, 1.5, logaddexp2},
    {Math::pow, Floats, everywhere, 0.5, pow_of_constant},
    {Math::pow, Integers, everywhere, 0, pow_of_integers},

    // Special functions.
    {Math::lgamma, Floats, everywhere, 3, lgamma},
#define MATH(name, arity, doc)
#define SPECIAL(name, arity, ulp) {Math::name, Floats, everywhere, ulp, name},
#include "ir/math.def"
#undef MATH

    // Complex numbers: ulp of the modulus.
    {Math::exp, Complexes, everywhere, 4, of_one<exp>},
    {Math::exp2, Complexes, everywhere, 4, of_one<exp2>},
    {Math::expm1, Complexes, everywhere, 4, of_one<expm1>},
    {Math::log, Complexes, everywhere, 4, of_one<log>},
    {Math::log2, Complexes, everywhere, 4, of_one<log2>},
    {Math::log10, Complexes, everywhere, 4, of_one<log10>},
    {Math::log1p, Complexes, everywhere, 4, of_one<log1p>},
    {Math::sqrt, Complexes, everywhere, 4, of_one<sqrt>},
    {Math::sin, Complexes, everywhere, 4, of_one<sin>},
    {Math::cos, Complexes, everywhere, 4, of_one<cos>},
    {Math::tan, Complexes, everywhere, 4, of_one<tan>},
    {Math::asin, Complexes, everywhere, 4, of_one<asin>},
    {Math::acos, Complexes, everywhere, 4, of_one<acos>},
    {Math::atan, Complexes, everywhere, 4, of_one<atan>},
    {Math::sinh, Complexes, everywhere, 4, of_one<sinh>},
    {Math::cosh, Complexes, everywhere, 4, of_one<cosh>},
    {Math::tanh, Complexes, everywhere, 4, of_one<tanh>},
    {Math::asinh, Complexes, everywhere, 4, of_one<asinh>},
    {Math::acosh, Complexes, everywhere, 4, of_one<acosh>},
    {Math::atanh, Complexes, everywhere, 4, of_one<atanh>},
    {Math::pow, Complexes, everywhere, 4, pow_of_complex},
#define COMPLEX(fn, name, ulp) {Math::fn, Complexes, everywhere, ulp, complex_##name},
#include "ir/math/complex/functions.def"
};

bool fits(Dtypes dtypes, DType t) {
    switch (dtypes) {
        case F32: return t == DType::Float32;
        case F64: return t == DType::Float64;
        case Floats: return t == DType::Float32 || t == DType::Float64;
        case Integers: return is_integer(t);
        case Complexes: return is_complex(t);
    }
    return false;
}

}  // namespace

const Row* find(Math fn, DType t, const MathTarget& target) {
    const auto* row =
        std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.fn == fn && fits(r.dtypes, t) && r.targets(target); });
    return row == std::end(rows) ? nullptr : row;
}

}  // namespace pardo::ir::math

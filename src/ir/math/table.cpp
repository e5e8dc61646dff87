// src/ir/math/table.cpp: which recipe computes a function of a dtype, on which targets, and how well.
#include "ir/math/table.h"

#include "ir/math/recipes.h"
#include "ir/math/special/special.h"

namespace pardo::ir::math {
namespace {

bool everywhere(const MathTarget&) { return true; }
// LLVM's registers: from AVX2 on there is fma, and with AVX-512 lanes look up values in two registers.
bool by_llvm(const MathTarget& target) { return target.vector_bytes > 0; }
bool with_fma(const MathTarget& target) { return target.vector_bytes >= 32; }
bool with_lookups(const MathTarget& target) { return target.vector_bytes == 64; }
bool where_ir_is_faster(const MathTarget& target) { return !target.native_erf; }

template <Complex (*function)(Complex)> Complex of_one(ComplexArgs z) { return function(z[0]); }
Complex pow_of_complex(ComplexArgs z) { return pow(z[0], z[1]); }

using enum Dtypes;

constexpr Recipe formula(Expr (*recipe)(Args)) { return {recipe, Use::Formula}; }
constexpr Recipe called(Expr (*recipe)(Args)) { return {recipe, Use::Called}; }

// The first row that fits is taken.
constexpr Row rows[] = {
    {Math::erf, F64, with_lookups, 1, formula(erf_by_table)},
    {Math::erf, Floats, where_ir_is_faster, 1.2, erf, nullptr, true},
    {Math::erfc, Floats, everywhere, 2, erfc},
    {Math::hypot, Floats, everywhere, 1.2, hypot},
    {Math::cbrt, Floats, with_fma, 0.51, formula(cbrt)},
    {Math::exp, F64, with_fma, 1, formula(exp_of_doubles), has_far_exponent},
    {Math::expm1, F32, with_fma, 0.51, formula(expm1_of_floats)},
    {Math::log, F64, with_fma, 1, formula(log_of_doubles), is_no_normal},
    {Math::log, F32, with_fma, 0.6, formula(log_of_floats), is_no_normal},
    {Math::log2, F32, with_fma, 0.6, formula(log2_of_floats), is_no_normal},
    {Math::log10, F32, with_fma, 0.6, formula(log10_of_floats), is_no_normal},
    {Math::log1p, F64, with_fma, 1, formula(log1p_of_doubles), is_not_above_minus_one},
    {Math::log1p, Floats, where_ir_is_faster, 1, log1p_scaled},
    {Math::logaddexp, Floats, everywhere, 1.6, logaddexp},
    {Math::logaddexp2, Floats, everywhere, 1.5, logaddexp2},
    {Math::sin, F64, with_fma, 1, formula(sin_of_doubles), has_large_angle},
    {Math::cos, F64, with_fma, 1, formula(cos_of_doubles), has_large_angle},
    {Math::sinh, F64, with_fma, 1, formula(sinh_of_doubles)},
    {Math::sinh, F32, with_fma, 0.51, formula(sinh_of_floats)},
    {Math::sinh, Floats, by_llvm, 1, called(sinh_repaired)},
    {Math::cosh, F64, with_fma, 1.1, formula(cosh_of_doubles)},
    {Math::cosh, F32, with_fma, 0.51, formula(cosh_of_floats)},
    {Math::cosh, Floats, by_llvm, 1, called(cosh_repaired)},
    {Math::tanh, F32, with_fma, 0.51, formula(tanh_of_floats)},
    {Math::asinh, F32, with_fma, 0.51, formula(asinh_of_floats)},
    {Math::asinh, Floats, by_llvm, 1, called(asinh_repaired)},
    {Math::acosh, Floats, by_llvm, 1, called(acosh_repaired)},
    {Math::pow, Floats, everywhere, 0.5, pow_of_constant},
    {Math::pow, F32, with_fma, 0.51, called(pow_of_floats), is_no_plain_power},  // without a call too, but one vector at a time
    {Math::pow, Integers, everywhere, 0, pow_of_integers},

    // Special functions.
    {Math::lgamma, Floats, everywhere, 3, lgamma},
#define MATH(name, arity, doc)
#define SPECIAL(name, arity, ulp) {Math::name, Floats, everywhere, ulp, name},
#include "ir/math.def"
#undef MATH

    // Complex numbers: ulp of the modulus, of arguments up to 20; errors of exp2 and pow grow with the exponent.
    {Math::exp, Complexes, everywhere, 2, of_one<exp>},
    {Math::exp2, Complexes, everywhere, 10, of_one<exp2>},
    {Math::expm1, Complexes, everywhere, 3, of_one<expm1>},
    {Math::log, Complexes, everywhere, 3, of_one<log>},
    {Math::log2, Complexes, everywhere, 2, of_one<log2>},
    {Math::log10, Complexes, everywhere, 3, of_one<log10>},
    {Math::log1p, Complexes, everywhere, 3, of_one<log1p>},
    {Math::sqrt, Complexes, everywhere, 2, of_one<sqrt>},
    {Math::sin, Complexes, everywhere, 2, of_one<sin>},
    {Math::cos, Complexes, everywhere, 2, of_one<cos>},
    {Math::tan, Complexes, everywhere, 3, of_one<tan>},
    {Math::asin, Complexes, everywhere, 2, of_one<asin>},
    {Math::acos, Complexes, everywhere, 2, of_one<acos>},
    {Math::atan, Complexes, everywhere, 2, of_one<atan>},
    {Math::sinh, Complexes, everywhere, 2, of_one<sinh>},
    {Math::cosh, Complexes, everywhere, 2, of_one<cosh>},
    {Math::tanh, Complexes, everywhere, 4, of_one<tanh>},
    {Math::asinh, Complexes, everywhere, 3, of_one<asinh>},
    {Math::acosh, Complexes, everywhere, 2, of_one<acosh>},
    {Math::atanh, Complexes, everywhere, 2, of_one<atanh>},
    {Math::pow, Complexes, everywhere, 15, pow_of_complex},
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
    for (const Row& row : rows)
        if (row.fn == fn && fits(row.dtypes, t) && row.targets(target)) return &row;
    return nullptr;
}

const Row* find_in_place(Math fn, DType t, const MathTarget& target) {
    for (const Row& row : rows)
        if (row.fn == fn && row.recipe.use != Use::Expanded && fits(row.dtypes, t) && row.targets(target)) return &row;
    return nullptr;
}

Kernel as_kernel(Expr (*recipe)(Args), Math fn, DType t) {
    Builder m(name(fn), 1, false);
    std::vector<Expr> operands;
    operands.reserve(static_cast<std::size_t>(arity(fn)));
    for (int k = 0; k < arity(fn); ++k) operands.push_back({&m, m.scalar_param(std::string(1, static_cast<char>('a' + k)), t)});
    const Expr result = recipe(operands);
    const Value out = m.pointer("result", result.type(), Access::Write, true);
    m.store(out, m.i64(0), result.v);
    return m.finish();
}

}  // namespace pardo::ir::math

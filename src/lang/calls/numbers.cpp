// src/lang/calls/numbers.cpp: functions of numbers: NumPy's, those of Python's math, Python's own, and the operators by name.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "ir/rules.h"
#include "lang/array_expr/array_expr.h"
#include "lang/calls/calls.h"
#include "lang/calls/user.h"
#include "lang/expressions.h"
#include "lang/memory/views.h"
#include "lang/numbers/failures.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang::calls {

using ir::Math;

struct Numbers {
    template <ir::Math fn> static TypedExpr math(Lowering& l, const Tree& t, const TypedExprs& a) { return of_math(l, t, a, fn); }
    static TypedExpr of_math(Lowering& l, const Tree& t, const TypedExprs& a, ir::Math fn) {
        TypedExprs numbers;
        for (std::size_t k = 0; k < a.size(); ++k) numbers.push_back(number_of(l, t, a, k));
        for (const TypedExpr& x : numbers)
            if (is_complex(x.number().type.dtype) && !ir::takes_complex(fn))
                l.source.wrong_type(t.place, t.name + ": complex numbers have no such function");
        return lang::math(l, fn, numbers, t.place);
    }

    /// Real numbers are taken as complex ones.
    static TypedExpr wofz(Lowering& l, const Tree& t, const TypedExprs& a) {
        TypedExpr x = number_of(l, t, a, 0);
        if (!is_complex(x.number().type.dtype)) {
            const TypedExpr wide =
                is_inexact(x.number().type.dtype) ? x : cast(l, x, {weak_dtype(DType::Float64, l.task.options.fp64), x.number().type.weak});
            x = cast(l, wide, {itemsize(wide.number().type.dtype) < 8 ? DType::Complex64 : DType::Complex128, x.number().type.weak});
        }
        return lang::math(l, ir::Math::wofz, std::span(&x, 1), t.place);
    }

    /// Riemann's of one argument, Hurwitz's of two.
    static TypedExpr zeta(Lowering& l, const Tree& t, const TypedExprs& a) {
        return of_math(l, t, a, a.size() == 1 ? ir::Math::riemann_zeta : ir::Math::zeta);
    }

    /// floor and its like leave integers alone.
    template <ir::Math fn> static TypedExpr rounding(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr x = number_of(l, t, a, 0);
        return is_inexact(x.number().type.dtype) ? math<fn>(l, t, a) : x;
    }
    /// As the functions of Python's math: the result is an int.
    template <ir::Math fn> static TypedExpr rounding_to_int(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr x = rounding<fn>(l, t, a);
        return to_int(l, x, t.place);
    }
    /// An integer rounded to a multiple of ten to the power of `zeros`; halves go to the even one. In integers: floats would be inexact.
    static TypedExpr rounded_to_tens(Lowering& l, const Tree& t, const TypedExpr& given, std::int64_t zeros) {
        const TypedExpr x = given.number().type.dtype == DType::Bool ? cast(l, given, {DType::Int64, true}) : given;
        const NumberType wide{l.rules.dtype(x.number().type) == DType::UInt64 ? DType::UInt64 : DType::Int64, false};
        if (zeros > (wide.dtype == DType::UInt64 ? 19 : 18)) return cast(l, integer(0), x.number().type);
        Scalar tens(std::uint64_t(1));
        for (std::int64_t k = 0; k < zeros; ++k) tens.u *= 10;
        const auto part = [&](const char* op, const TypedExpr& a, const TypedExpr& b) { return binary(l, op, a, b, t.place); };
        const TypedExpr factor = cast(l, number(tens), wide), whole = cast(l, x, wide);
        const TypedExpr above = part("%", whole, factor), below = part("-", factor, above), low = part("-", whole, above);
        const TypedExpr odd = compared(l, "==", part("%", part("//", whole, factor), cast(l, integer(2), wide)), integer(1), t.place);
        const TypedExpr half = pure(l, Opcode::And, {DType::Bool, false}, {compared(l, "==", above, below, t.place), odd}, DType::Bool);
        const TypedExpr up = pure(l, Opcode::Or, {DType::Bool, false}, {compared(l, ">", above, below, t.place), half}, DType::Bool);
        return cast(l, selected(l, up, {part("+", low, factor), t.place}, {low, t.place}, t.place), x.number().type);
    }
    template <bool numpy> static TypedExpr round(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr x = number_of(l, t, a, 0);
        if (a.size() == 1) return numpy ? rounding<ir::Math::rint>(l, t, a) : rounding_to_int<ir::Math::rint>(l, t, a);
        const TypedExpr digits = number_of(l, t, a, 1);
        if (!digits.number().constant) l.source.wrong_type(t.place, "round: the number of digits must be a constant");
        if (!is_inexact(x.number().type.dtype))
            return digits.number().scalar.as_int() < 0 ? rounded_to_tens(l, t, x, -digits.number().scalar.as_int()) : x;
        double scale = 1;
        for (std::int64_t k = 0; k < std::abs(digits.number().scalar.as_int()); ++k) scale *= 10;
        const TypedExpr factor = number(Scalar(scale));
        const bool up = digits.number().scalar.as_int() >= 0;
        const TypedExprs scaled{binary(l, up ? "*" : "/", x, factor, t.place)};
        return binary(l, up ? "/" : "*", math<ir::Math::rint>(l, t, scaled), factor, t.place);
    }

    /// The first that no other comes before.
    static TypedExpr extreme_tuple(Lowering& l, const Tree& t, const std::string& before, const TypedExprs& items) {
        TypedExpr out = items[0];
        for (const TypedExpr& other : std::span<const TypedExpr>(items).subspan(1)) {
            if (other.kind() != Kind::Tuple || other.tuple().items.size() != out.tuple().items.size())
                l.source.wrong_type(t.place, t.name + ": " + describe(out) + " and " + describe(other) + " have no order");
            out = selected(l, compared(l, before, other, out, t.place), {other, t.place}, {out, t.place}, t.place);
        }
        return out;
    }
    template <Opcode op> static TypedExpr extreme(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExprs& items = a.size() == 1 && a[0].kind() == Kind::Tuple ? a[0].tuple().items : a;
        if (items.empty()) l.source.fail(ErrorCode::Value, t.place, t.name + ": at least one number is needed");
        if (items.size() == 1 && is_rows(items[0]) && rows_of(l, items[0])->extents.size() == 1)
            return reduced(l, items[0], {op == Opcode::Min ? RowReduction::Min : RowReduction::Max, t.place, t.name, {}, integer(0)},
                           TypedExpr(), false);
        if (items[0].kind() == Kind::Tuple) return extreme_tuple(l, t, op == Opcode::Min ? "<" : ">", items);
        TypedExpr out = need_number(l, items[0], t.place, t.name.c_str());
        for (std::size_t k = 1; k < items.size(); ++k) out = pair(l, t, op, out, need_number(l, items[k], t.place, t.name.c_str()));
        return out;
    }
    static TypedExpr abs(Lowering& l, const Tree& t, const TypedExprs& a) {
        if (const auto out = by_method(l, "__abs__", a[0], {}, t.place)) return *out;
        const TypedExpr x = number_of(l, t, a, 0);
        if (x.number().type.dtype == DType::Bool) return cast(l, x, {DType::Int64, true});
        if (x.number().constant && x.number().type == NumberType{DType::Int64, true} && x.number().scalar.as_int() < 0)
            return unary_of(l, "-", x, t.place);
        const NumberType type{real_of(x.number().type.dtype), x.number().type.weak};
        TypedExpr out = pure(l, Opcode::Abs, type, {x}, l.rules.dtype(x.number().type));
        bound(l, out, Opcode::Abs, x, x, t.place, false);
        out.number().given = x.number().given;
        return out;
    }
    /// As abs, but always a float: of integers by NumPy's rule for their size, in Python's math the widest.
    template <bool numpy> static TypedExpr fabs(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr x = number_of(l, t, a, 0);
        if (is_complex(x.number().type.dtype))
            l.source.wrong_type(t.place, t.name + ": complex numbers have no such function; take abs(…)");
        if (is_float(x.number().type.dtype)) return abs(l, t, a);
        NumberType type{weak_dtype(DType::Float64, l.task.options.fp64), x.number().type.weak};
        const int size = itemsize(x.number().type.dtype);
        if (numpy && !x.number().type.weak && size < 4) type.dtype = size == 1 ? DType::Float16 : DType::Float32;
        return abs(l, t, {cast(l, x, type)});
    }
    static TypedExpr sign(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr x = number_of(l, t, a, 0);
        if (is_complex(x.number().type.dtype) || x.number().type.dtype == DType::Bool)
            l.source.wrong_type(t.place, "sign: an integer or float is expected, not " + describe(x));
        const TypedExpr zero = cast(l, integer(0), x.number().type), one = cast(l, integer(1), x.number().type);
        const TypedExpr minus = cast(l, integer(-1), {x.number().type.dtype, x.number().type.weak});
        const DType d = l.rules.dtype(x.number().type);
        const TypedExpr positive = pure(l, Opcode::Gt, {DType::Bool, false}, {x, zero}, d);
        const auto choice = [&](const TypedExpr& test, const TypedExpr& a, const TypedExpr& b) {
            return selected(l, test, {a, t.place}, {b, t.place}, t.place);
        };
        if (kind_of(d) == DKind::Unsigned) return choice(positive, one, zero);
        const TypedExpr rest = is_float(d) ? choice(pure(l, Opcode::Eq, {DType::Bool, false}, {x, zero}, d), zero, x) : zero;  // NaN stays
        return choice(positive, one, choice(pure(l, Opcode::Lt, {DType::Bool, false}, {x, zero}, d), minus, rest));
    }
    static TypedExpr where(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr test = truth(l, a[0], t.place), x = number_of(l, t, a, 1), y = number_of(l, t, a, 2);
        const NumberType type = x.number().type == y.number().type ? x.number().type : promoted(l.rules, x, y, t.place);
        const TypedExpr yes = cast(l, x, type), no = cast(l, y, type);
        return selected(l, test, {yes, t.place}, {no, t.place}, t.place);
    }
    static TypedExpr clip(Lowering& l, const Tree& t, const TypedExprs& a) {
        return extreme<Opcode::Min>(l, t, {extreme<Opcode::Max>(l, t, {a[0], a[1]}), a[2]});
    }
    static TypedExpr fmod(Lowering& l, const Tree& t, const TypedExprs& a) {
        return pair(l, t, Opcode::Fmod, number_of(l, t, a, 0), number_of(l, t, a, 1));
    }
    static TypedExpr fma(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr x = number_of(l, t, a, 0), y = number_of(l, t, a, 1), z = number_of(l, t, a, 2);
        TypedExpr sum = binary(l, "+", binary(l, "*", x, y, t.place), z, t.place);
        if (!is_float(sum.number().type.dtype)) return sum;
        const DType d = l.rules.dtype(sum.number().type);
        return pure(l, Opcode::Fma, sum.number().type, {x, y, z}, d);
    }
    static TypedExpr divmod(Lowering& l, const Tree& t, const TypedExprs& a) {
        return tuple({binary(l, "//", a[0], a[1], t.place), binary(l, "%", a[0], a[1], t.place)});
    }
    static TypedExpr square(Lowering& l, const Tree& t, const TypedExprs& a) { return binary(l, "*", a[0], a[0], t.place); }
    /// Of integers an integer, as in NumPy: by float32, which is exact enough for -1, 0 and 1.
    static TypedExpr reciprocal(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr x = number_of(l, t, a, 0);
        if (is_inexact(x.number().type.dtype)) return binary(l, "/", integer(1), x, t.place);
        constexpr NumberType single{DType::Float32, false};
        return cast(l, pure(l, Opcode::Div, single, {integer(1), x}, DType::Float32),
                    x.number().type.dtype == DType::Bool ? NumberType{DType::Int8, false} : x.number().type);
    }
    static TypedExpr is_nan(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr x = number_of(l, t, a, 0);
        return is_inexact(x.number().type.dtype) ? compared(l, "!=", x, x, t.place) : number(Scalar(false));
    }
    static TypedExpr is_inf(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr x = number_of(l, t, a, 0);
        if (!is_inexact(x.number().type.dtype)) return number(Scalar(false));
        if (is_complex(x.number().type.dtype)) l.source.wrong_type(t.place, t.name + ": test .real and .imag of complex numbers");
        return compared(l, "==", abs(l, t, a), number(Scalar(std::numeric_limits<double>::infinity())), t.place);
    }
    static TypedExpr is_finite(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr x = number_of(l, t, a, 0);
        if (!is_inexact(x.number().type.dtype)) return number(Scalar(true));
        if (is_complex(x.number().type.dtype)) l.source.wrong_type(t.place, t.name + ": test .real and .imag of complex numbers");
        return compared(l, "<", abs(l, t, a), number(Scalar(std::numeric_limits<double>::infinity())), t.place);
    }
    static TypedExpr conjugate(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr x = number_of(l, t, a, 0);
        if (!is_complex(x.number().type.dtype)) return x;
        const DType d = l.rules.dtype(x.number().type);
        const Value v = value(l, x, d);
        const ir::Value imaginary = l.builder.neg(l.builder.imag(v));
        return number(x.number().type, l.builder.complex(l.builder.real(v), imaginary));
    }
    template <Opcode op> static TypedExpr part(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr x = number_of(l, t, a, 0);
        const NumberType type{real_of(x.number().type.dtype), x.number().type.weak};
        if (!is_complex(x.number().type.dtype)) return op == Opcode::Real ? x : cast(l, integer(0), type);
        return pure(l, op, type, {x}, l.rules.dtype(x.number().type));
    }
    template <char op> static TypedExpr bits(Lowering& l, const Tree& t, const TypedExprs& a) {
        return binary(l, std::string(1, op), a[0], a[1], t.place);
    }
    template <int op> static TypedExpr logic(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr x = truth(l, a[0], t.place);
        constexpr NumberType type{DType::Bool, false};
        if (op == 3) return pure(l, Opcode::Not, type, {x}, DType::Bool);
        constexpr Opcode ops[] = {Opcode::And, Opcode::Or, Opcode::Xor};
        return pure(l, ops[op % 3], type, {x, truth(l, a[1], t.place)}, DType::Bool);
    }
    template <int op> static TypedExpr comparison(Lowering& l, const Tree& t, const TypedExprs& a) {
        constexpr const char* ops[] = {"==", "!=", "<", "<=", ">", ">="};
        return compared(l, ops[op], a[0], a[1], t.place);
    }
    template <int op> static TypedExpr operation(Lowering& l, const Tree& t, const TypedExprs& a) {
        constexpr const char* ops[] = {"+", "-", "*", "/", "//", "%", "**", "<<", ">>"};
        return binary(l, ops[op], a[0], a[1], t.place);
    }
    template <char op> static TypedExpr of_one(Lowering& l, const Tree& t, const TypedExprs& a) { return unary_of(l, {op}, a[0], t.place); }
    template <int numerator> static TypedExpr scaled(Lowering& l, const Tree& t, const TypedExprs& a) {  // degrees, radians
        constexpr double pi = 3.14159265358979323846;
        return binary(l, "*", number_of(l, t, a, 0), number(Scalar(numerator == 180 ? 180.0 / pi : pi / 180.0)), t.place);
    }

    // Python's own.
    template <DKind kind> static TypedExpr python_number(Lowering& l, const Tree& t, const TypedExprs& a) {
        if (a.empty()) return kind == DKind::Bool ? number(Scalar(false)) : kind == DKind::Float ? number(Scalar(0.0)) : integer(0);
        const TypedExpr x = number_of(l, t, a, 0);
        if (kind == DKind::Bool) return truth(l, x, t.place);
        if (kind == DKind::Complex) {
            const DType d = weak_dtype(DType::Complex128, l.task.options.fp64);
            if (a.size() == 1) return cast(l, x, {d, true});
            const TypedExpr re = cast(l, x, {real_of(d), true}), im = cast(l, number_of(l, t, a, 1), {real_of(d), true});
            const Value real = value(l, re), imaginary = value(l, im);
            return number({d, true}, l.builder.complex(real, imaginary));
        }
        if (is_complex(x.number().type.dtype)) l.source.wrong_type(t.place, t.name + ": take .real or abs(…) of a complex number");
        if (kind == DKind::Signed) return to_int(l, x, t.place);
        return cast(l, x, {weak_dtype(DType::Float64, l.task.options.fp64), true});
    }
    static TypedExpr astype(Lowering& l, const Tree& t, const TypedExprs& a) {  // np.float32(x), x.astype(np.float32)
        if (a[1].kind() != Kind::DType) l.source.wrong_type(t.place, "a dtype is expected, not " + describe(a[1]));
        const TypedExpr x = number_of(l, t, a, 0);
        const DType to = a[1].dtype();
        if (is_complex(x.number().type.dtype) && !is_complex(to))
            l.source.wrong_type(t.place, "a complex number does not fit " + std::string(dtype_name(to)) + "; take .real or abs(…)");
        check_range(l.rules, x, to, t.place);
        TypedExpr out = cast(l, x, {to, false});
        if (!out.number().constant && x.number().least >= 0 && holds_least(l.rules, x, to)) out.number().least = x.number().least;
        return out;
    }

    static Tables tables();
};

TypedExpr pair(Lowering& l, const Tree& t, Opcode op, const TypedExpr& a, const TypedExpr& b) {
    const bool extreme = op == Opcode::Min || op == Opcode::Max || op == Opcode::Fmin || op == Opcode::Fmax;
    const bool wide = extreme && outgrows(a, b);
    if (wide && (a.number().type.dtype == DType::UInt64 || b.number().type.dtype == DType::UInt64))
        l.source.wrong_type(t.place,
                            t.name + ": " + describe(a) + " and " + describe(b) + " have no common integer dtype; convert one of the two");
    NumberType type = wide ? NumberType{DType::Int64, true} : promoted(l.rules, a, b, t.place);
    if (type.dtype == DType::Bool) {  // NumPy's: one of two bools is a bool, what is left of a division an int8
        if (op == Opcode::Fmin) op = Opcode::Min;
        if (op == Opcode::Fmax) op = Opcode::Max;
        if (op == Opcode::Fmod) type = {DType::Int8, false};
    }
    if (type.dtype == DType::Bool && a.number().type.dtype != b.number().type.dtype) type = {DType::Int64, true};
    if (is_complex(type.dtype)) l.source.wrong_type(t.place, t.name + ": complex numbers have no order");
    check_operands(l, op, a, b, l.rules.dtype(type), t.place);
    TypedExpr out = pure(l, op, type, {a, b}, l.rules.dtype(type));
    if (is_integer(type.dtype) && !out.number().constant) {
        const bool smaller = op == Opcode::Min || op == Opcode::Fmin;
        out.number().least = smaller ? std::min(a.number().least, b.number().least) : std::max(a.number().least, b.number().least);
        out.number().given = type.weak && is_given(a) && is_given(b);
        bound(l, out, op, a, b, t.place, false);
    }
    return out;
}

Tables Numbers::tables() {
    return {
        {
            {"sqrt", {1, 1, math<Math::sqrt>, "", Lift::Floats}},
            {"cbrt", {1, 1, math<Math::cbrt>, "", Lift::Floats}},
            {"exp", {1, 1, math<Math::exp>, "", Lift::Floats}},
            {"exp2", {1, 1, math<Math::exp2>, "", Lift::Floats}},
            {"expm1", {1, 1, math<Math::expm1>, "", Lift::Floats}},
            {"log", {1, 1, math<Math::log>, "", Lift::Floats}},
            {"log2", {1, 1, math<Math::log2>, "", Lift::Floats}},
            {"log10", {1, 1, math<Math::log10>, "", Lift::Floats}},
            {"log1p", {1, 1, math<Math::log1p>, "", Lift::Floats}},
            {"sin", {1, 1, math<Math::sin>, "", Lift::Floats}},
            {"cos", {1, 1, math<Math::cos>, "", Lift::Floats}},
            {"tan", {1, 1, math<Math::tan>, "", Lift::Floats}},
            {"asin", {1, 1, math<Math::asin>, "", Lift::Floats}},
            {"acos", {1, 1, math<Math::acos>, "", Lift::Floats}},
            {"atan", {1, 1, math<Math::atan>, "", Lift::Floats}},
            {"sinh", {1, 1, math<Math::sinh>, "", Lift::Floats}},
            {"cosh", {1, 1, math<Math::cosh>, "", Lift::Floats}},
            {"tanh", {1, 1, math<Math::tanh>, "", Lift::Floats}},
            {"asinh", {1, 1, math<Math::asinh>, "", Lift::Floats}},
            {"acosh", {1, 1, math<Math::acosh>, "", Lift::Floats}},
            {"atanh", {1, 1, math<Math::atanh>, "", Lift::Floats}},
            {"atan2", {2, 2, math<Math::atan2>, "", Lift::Floats}},
            {"hypot", {2, 2, math<Math::hypot>, "", Lift::Floats}},
            {"copysign", {2, 2, math<Math::copysign>, "", Lift::Floats}},
            {"nextafter", {2, 2, math<Math::nextafter>, "", Lift::Floats}},
            {"erf", {1, 1, math<Math::erf>, "", Lift::Floats}},
            {"erfc", {1, 1, math<Math::erfc>, "", Lift::Floats}},
            {"logaddexp", {2, 2, math<Math::logaddexp>, "", Lift::Floats}},
            {"logaddexp2", {2, 2, math<Math::logaddexp2>, "", Lift::Floats}},
            {"gamma", {1, 1, math<Math::gamma>, "", Lift::Floats}},
            {"lgamma", {1, 1, math<Math::lgamma>, "", Lift::Floats}},
            {"gammaln", {1, 1, math<Math::lgamma>, "", Lift::Floats}},
            {"zeta", {1, 2, zeta, "x q", Lift::Floats}},
            {"wofz", {1, 1, wofz, "", Lift::Each}},
#define MATH(name, arity, doc)
#define SPECIAL(name, arity, ulp) {#name, {arity, arity, math<Math::name>, "", Lift::Floats}},
#include "ir/math.def"
#undef MATH
            {"floor", {1, 1, rounding<Math::floor>, "", Lift::Each}},
            {"ceil", {1, 1, rounding<Math::ceil>, "", Lift::Each}},
            {"trunc", {1, 1, rounding<Math::trunc>, "", Lift::Each}},
            {"rint", {1, 1, rounding<Math::rint>, "", Lift::Each}},
            {"math.floor", {1, 1, rounding_to_int<Math::floor>}},
            {"math.ceil", {1, 1, rounding_to_int<Math::ceil>}},
            {"math.trunc", {1, 1, rounding_to_int<Math::trunc>}},
            {"round", {1, 2, round<false>, "number ndigits"}},
            {"around", {1, 2, round<true>, "a decimals", Lift::Each}},
            {"min", {1, 64, extreme<Opcode::Min>}},
            {"max", {1, 64, extreme<Opcode::Max>}},
            {"minimum", {2, 2, extreme<Opcode::Min>, "", Lift::Each}},
            {"maximum", {2, 2, extreme<Opcode::Max>, "", Lift::Each}},
            {"fmin", {2, 2, extreme<Opcode::Fmin>, "", Lift::Each}},
            {"fmax", {2, 2, extreme<Opcode::Fmax>, "", Lift::Each}},
            {"clip", {3, 3, clip, "x|a min|a_min max|a_max", Lift::Each}},
            {"abs", {1, 1, abs, "", Lift::Each}},
            {"fabs", {1, 1, fabs<true>, "", Lift::Each}},
            {"math.fabs", {1, 1, fabs<false>}},
            {"sign", {1, 1, sign, "", Lift::Each}},
            {"where", {3, 3, where, "condition x|x1 y|x2", Lift::Each}},
            {"fmod", {2, 2, fmod, "", Lift::Each}},
            {"fma", {3, 3, fma, "", Lift::Each}},
            {"divmod", {2, 2, divmod}},
            {"square", {1, 1, square, "", Lift::Each}},
            {"reciprocal", {1, 1, reciprocal, "", Lift::Each}},
            {"isnan", {1, 1, is_nan, "", Lift::Each}},
            {"isinf", {1, 1, is_inf, "", Lift::Each}},
            {"isfinite", {1, 1, is_finite, "", Lift::Each}},
            {"conj", {1, 1, conjugate, "", Lift::Each}},
            {"real", {1, 1, part<Opcode::Real>, "", Lift::Each}},
            {"imag", {1, 1, part<Opcode::Imag>, "", Lift::Each}},
            {"degrees", {1, 1, scaled<180>, "", Lift::Floats}},
            {"radians", {1, 1, scaled<1>, "", Lift::Floats}},
            {"bitwise_and", {2, 2, bits<'&'>, "", Lift::Each}},
            {"bitwise_or", {2, 2, bits<'|'>, "", Lift::Each}},
            {"bitwise_xor", {2, 2, bits<'^'>, "", Lift::Each}},
            {"logical_and", {2, 2, logic<0>, "", Lift::Each}},
            {"logical_or", {2, 2, logic<1>, "", Lift::Each}},
            {"logical_xor", {2, 2, logic<2>, "", Lift::Each}},
            {"logical_not", {1, 1, logic<3>, "", Lift::Each}},
            {"equal", {2, 2, comparison<0>, "", Lift::Each}},
            {"not_equal", {2, 2, comparison<1>, "", Lift::Each}},
            {"less", {2, 2, comparison<2>, "", Lift::Each}},
            {"less_equal", {2, 2, comparison<3>, "", Lift::Each}},
            {"greater", {2, 2, comparison<4>, "", Lift::Each}},
            {"greater_equal", {2, 2, comparison<5>, "", Lift::Each}},
            {"add", {2, 2, operation<0>, "", Lift::Each}},
            {"subtract", {2, 2, operation<1>, "", Lift::Each}},
            {"multiply", {2, 2, operation<2>, "", Lift::Each}},
            {"divide", {2, 2, operation<3>, "", Lift::Each}},
            {"floor_divide", {2, 2, operation<4>, "", Lift::Each}},
            {"remainder", {2, 2, operation<5>, "", Lift::Each}},
            {"power", {2, 2, operation<6>, "base|x1 exp|x2", Lift::Each}},
            {"left_shift", {2, 2, operation<7>, "", Lift::Each}},
            {"right_shift", {2, 2, operation<8>, "", Lift::Each}},
            {"negative", {1, 1, of_one<'-'>, "", Lift::Each}},
            {"positive", {1, 1, of_one<'+'>, "", Lift::Each}},
            {"bitwise_invert", {1, 1, of_one<'~'>, "", Lift::Each}},
            {"int", {0, 1, python_number<DKind::Signed>}},
            {"float", {0, 1, python_number<DKind::Float>}},
            {"bool", {0, 1, python_number<DKind::Bool>}},
            {"complex", {1, 2, python_number<DKind::Complex>, "real imag"}},
            {"astype", {2, 2, astype, "", Lift::Each}},
        },
        {
            {"number.astype", {2, 2, astype, "dtype"}},
            {"array.astype", {2, 2, astype, "dtype", Lift::Each}},
            {"array.conj", {1, 1, conjugate, "", Lift::Each}},
            {"array.conjugate", {1, 1, conjugate, "", Lift::Each}},
            {"array.round", {1, 2, round<true>, "decimals", Lift::Each}},
            {"array.clip", {3, 3, clip, "min max", Lift::Each}},
            {"number.conjugate", {1, 1, conjugate}},
            {"number.conj", {1, 1, conjugate}},
            {"number.item", {1, 1, [](Lowering&, const Tree&, const TypedExprs& a) { return a[0]; }}},
        },
    };
}

Tables numbers() { return Numbers::tables(); }

}  // namespace pardo::lang::calls

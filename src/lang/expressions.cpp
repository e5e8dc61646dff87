// src/lang/expressions.cpp: numbers, names, operators: their types by NumPy's rules, their values by the Builder.
#include <algorithm>
#include <limits>

#include "ir/eval.h"
#include "lang/lowering.h"

namespace pardo::lang {
namespace {

enum class Rule : std::uint8_t { Arithmetic, Quotient, Integers, Bits, Power };
struct Operator {
    const char* name;
    Opcode op;
    Rule rule;
};
constexpr Operator operators[] = {
    {"+", Opcode::Add, Rule::Arithmetic},
    {"-", Opcode::Sub, Rule::Arithmetic},
    {"*", Opcode::Mul, Rule::Arithmetic},
    {"/", Opcode::Div, Rule::Quotient},
    {"//", Opcode::FloorDiv, Rule::Arithmetic},
    {"%", Opcode::Rem, Rule::Arithmetic},
    {"**", Opcode::Call, Rule::Power},
    {"<<", Opcode::Shl, Rule::Integers},
    {">>", Opcode::Shr, Rule::Integers},
    {"&", Opcode::And, Rule::Bits},
    {"|", Opcode::Or, Rule::Bits},
    {"^", Opcode::Xor, Rule::Bits},
};

/// One of Python's integers that is known now.
bool is_python_int(const TypedExpr& t) {
    return t.number().constant && t.number().type.weak && (t.number().type.dtype == DType::Bool || is_integer(t.number().type.dtype));
}

bool is_zero(const TypedExpr& t) { return t.number().constant && t.number().scalar.cast(DType::Bool).b == false; }

}  // namespace

// ---- values

Value Lowering::value(const TypedExpr& t) { return value(t, dtype(t.number().type)); }

Value Lowering::value(const TypedExpr& t, DType to) {
    if (walk_.finds_types()) {
        host_.uses_status = host_.uses_status || checks_range(rules(), t, to);
        return ir::no_value;
    }
    if (t.number().constant) return builder_.constant(to, t.number().scalar.cast(to));
    if (t.number().type.weak && is_integer(t.number().type.dtype) && is_integer(to)) narrowed(t, to);
    return builder_.type(t.number().value) == to ? t.number().value : builder_.cast(t.number().value, to);
}

TypedExpr Lowering::cast(const TypedExpr& t, NumberType to) {
    if (t.number().constant) {
        Scalar s = t.number().scalar.cast(dtype(to));
        s.weak = to.weak;
        return number(s);
    }
    TypedExpr out = number(to, value(t, dtype(to)), holds_least(rules(), t, dtype(to)) ? t.number().least : unknown_least);
    out.number().given = t.number().given && to.weak && is_integer(to.dtype);
    if (exact_integers() && is_integer(to.dtype)) out.number().bits = static_cast<std::uint8_t>(bits_of(t));
    return out;
}

TypedExpr Lowering::need_number(const TypedExpr& t, const Place& place, const char* op_name) {
    const TypedExpr x = number_in(t);
    if (x.kind() != Kind::Number) wrong_type(place, std::string(op_name) + ": a number is expected, not " + describe(x));
    return x;
}

/// Sums and products of indices: Python ints that are computed in int64.
TypedExpr Lowering::index_arithmetic(Opcode op, const TypedExpr& a, const TypedExpr& b) {
    if (a.number().constant && b.number().constant) {
        const Scalar operands[] = {a.number().scalar.cast(DType::Int64), b.number().scalar.cast(DType::Int64)};
        return integer(ir::evaluate(op, {}, DType::Int64, operands).i);
    }
    if (op == Opcode::Add && is_zero(a)) return b;
    if ((op == Opcode::Add || op == Opcode::Sub) && is_zero(b)) return a;
    if (op == Opcode::Mul && (is_zero(a) || is_zero(b))) return integer(0);
    if (op == Opcode::Mul && a.number().constant && a.number().scalar.i == 1) return b;
    if (op == Opcode::Mul && b.number().constant && b.number().scalar.i == 1) return a;
    const Value v = walk_.value([&] { return builder_.emit(op, DType::Int64, {value(a, DType::Int64), value(b, DType::Int64)}); });
    TypedExpr out = number({DType::Int64, true}, v, least_of(op, a, b));
    bound(out, op, a, b, at_, true);
    return out;
}

// ---- types

/// One operation on operands converted to one dtype.
TypedExpr Lowering::pure(Opcode op, NumberType type, std::initializer_list<TypedExpr> operands, DType operand_dtype) {
    bool constant = true;
    for (const TypedExpr& t : operands) constant = constant && t.number().constant;
    if (constant) {
        std::vector<TypedExpr> converted;
        for (const TypedExpr& t : operands) converted.push_back(cast(t, {operand_dtype, false}));
        return folded(rules(), op, {}, type, converted);
    }
    ir::Builder::Values values;
    for (const TypedExpr& t : operands) values.push_back(value(t, operand_dtype));
    if (walk_.finds_types()) return number(type, ir::no_value);
    return number(type, builder_.emit(op, dtype(type), values));
}

TypedExpr Lowering::arithmetic(Opcode op, const TypedExpr& a, const TypedExpr& b, NumberType type, const Place& place) {
    const DType computed = dtype(type);
    if (is_complex(computed) && (op == Opcode::FloorDiv || op == Opcode::Rem)) wrong_type(place, "complex numbers have neither // nor %");
    const bool wraps = std::exchange(wraps_, false);
    check_operands(op, a, b, computed, place);
    TypedExpr result = pure(op, type, {a, b}, computed);
    bound(result, op, a, b, place, wraps);
    result.number().given = type.weak && is_integer(type.dtype) && is_given(a) && is_given(b);
    if (!wraps) keep_large(result, op, a, b, place);
    // Others wrap around; the remainder and the bits of what cannot be negative cannot either.
    const bool counts = computed == DType::Int64 || op == Opcode::Rem || op == Opcode::And || op == Opcode::Shr || op == Opcode::FloorDiv;
    if (is_integer(computed) && counts && !result.number().constant)
        result.number().least = std::max(result.number().least, least_of(op, a, b));
    return result;
}

TypedExpr Lowering::binary(const std::string& op, const TypedExpr& left, const TypedExpr& right, const Place& place) {
    if (op == "@") return product(left, right, "matmul", place);
    const TypedExpr a = number_in(left), b = number_in(right);
    const auto* row = std::find_if(std::begin(operators), std::end(operators), [&](const Operator& o) { return op == o.name; });
    if (row == std::end(operators)) fail(ErrorCode::Type, place, "the operator " + op + " is not part of the kernel language");
    if (const std::optional<TypedExpr> out = by_operator(a, b, op, false, place)) return *out;
    if (is_rows(a) || is_rows(b)) return array_binary(op, a, b, place);
    if (a.kind() == Kind::List || b.kind() == Kind::List)
        wrong_type(place,
                   "`" + op + "` of a list is not accepted in a kernel; append to it, or write np.array(…) of it for sums and products");
    if (a.kind() == Kind::Tuple && b.kind() == Kind::Tuple && op == "+" && a.tuple().names.empty() && b.tuple().names.empty()) {
        std::vector<TypedExpr> items = a.tuple().items;
        items.insert(items.end(), b.tuple().items.begin(), b.tuple().items.end());
        return tuple(std::move(items));
    }
    if (a.kind() != Kind::Number || b.kind() != Kind::Number)
        wrong_type(place, "`" + op + "` takes two numbers; here are " + describe(a) + " and " + describe(b));
    const bool both_bools = a.number().type.dtype == DType::Bool && b.number().type.dtype == DType::Bool;
    const bool root = row->rule == Rule::Power && b.number().type.dtype != DType::UInt64 && b.number().scalar.as_int() < 0;
    if (is_python_int(a) && is_python_int(b) && row->rule != Rule::Quotient && !root && !(row->rule == Rule::Bits && both_bools))
        if (const std::optional<TypedExpr> out = exact_constant(rules(), row->op, row->name, a, b, place)) return *out;
    NumberType type = promoted(rules(), a, b, place);
    const bool whole = type.dtype == DType::Bool || is_integer(type.dtype);
    switch (row->rule) {
        case Rule::Arithmetic:
            if (type.dtype == DType::Bool) type = {DType::Int64, true};
            return arithmetic(row->op, a, b, type, place);
        case Rule::Quotient:
            if (whole) type = {weak_dtype(DType::Float64, options_.fp64), type.weak};
            return arithmetic(row->op, a, b, type, place);
        case Rule::Power: return power(a, b, place);
        case Rule::Bits:
        case Rule::Integers:
            if (!whole) wrong_type(place, "`" + op + "` takes integers; here are " + describe(a) + " and " + describe(b));
            if (both_bools) type = {DType::Bool, a.number().type.weak && b.number().type.weak};
            if (row->rule == Rule::Integers && type.dtype == DType::Bool) type = {DType::Int64, true};
            return arithmetic(row->op, a, b, type, place);
    }
    return {};
}

/// Small constant powers are products; integers to negative ones are refused, as in NumPy.
/// x to ±½, ±3/2 or ±5/2 by a root, products and a division: within 2 ulp, where x to 5/2 is no larger or smaller than its dtype holds.
std::optional<TypedExpr> Lowering::power_of_root(const TypedExpr& x, double n, NumberType type, const Place& place) {
    const double size = std::abs(n);
    if (size != 0.5 && size != 1.5 && size != 2.5) return std::nullopt;
    const TypedExpr operands[] = {x};
    TypedExpr out = math(ir::Math::sqrt, operands, place);
    for (double k = 1; k < size; ++k) out = arithmetic(Opcode::Mul, out, x, type, place);
    return n < 0 ? arithmetic(Opcode::Div, cast(integer(1), type), out, type, place) : out;
}

TypedExpr Lowering::power(const TypedExpr& a, const TypedExpr& b, const Place& place) {
    NumberType type = promoted(rules(), a, b, place);
    if (type.dtype == DType::Bool) type = {DType::Int64, true};
    const bool whole = is_integer(type.dtype);
    if (b.number().constant && is_integer(b.number().type.dtype)) {
        const bool large = b.number().type.dtype == DType::UInt64;
        const std::int64_t n = large && b.number().scalar.u > static_cast<std::uint64_t>(unknown_most) ? unknown_most : b.number().scalar.i;
        if (whole && n < 0) {
            if (!type.weak)
                fail(ErrorCode::Value, place,
                     "integers to negative integer powers are not allowed; write x ** " + std::to_string(n) + ".0");
            return power(cast(a, {weak_dtype(DType::Float64, options_.fp64), true}), b, place);
        }
        if (n >= 0 && n <= 4 && !(a.number().constant && b.number().constant)) {
            if (n == 0) return cast(integer(1), type);
            TypedExpr base = cast(a, type), result = base;
            if (n >= 2) result = arithmetic(Opcode::Mul, base, base, type, place);
            if (n == 3) result = arithmetic(Opcode::Mul, result, base, type, place);
            if (n == 4) result = arithmetic(Opcode::Mul, result, result, type, place);
            return result;
        }
    }
    if (b.number().constant && is_float(type.dtype) && b.number().scalar.cast(DType::Float64).f == 0.5) {
        const TypedExpr operands[] = {cast(a, type)};
        return math(ir::Math::sqrt, operands, place);
    }
    if (options_.fast_math && b.number().constant && !a.number().constant && is_float(type.dtype) && type.dtype != DType::Float16)
        if (const std::optional<TypedExpr> root = power_of_root(cast(a, type), b.number().scalar.cast(DType::Float64).f, type, place))
            return *root;
    const DType computed = dtype(type);
    if (whole && !b.number().constant && b.number().least < 0) {
        TypedExpr negative = number({DType::Bool, false}, walk_.value([&] {
            const Value exponent = value(b);
            return builder_.lt(exponent, builder_.constant(builder_.type(exponent), 0.0));
        }));
        fail_when(negative, ErrorCode::Value, "integers to negative integer powers are not allowed; here is the power $0", place, {b});
    }
    if (a.number().constant && b.number().constant) {
        const TypedExpr operands[] = {cast(a, type), cast(b, type)};
        return folded(rules(), Opcode::Call, ir::Math::pow, type, operands);
    }
    TypedExpr out = number(type, walk_.value([&] {
        const Value y = value(b, computed), x = value(a, computed);
        return builder_.call(ir::Math::pow, x, y);
    }));
    bound(out, Opcode::Call, a, b, place, false);
    out.number().given = type.weak && whole && is_given(a) && is_given(b);
    return out;
}

/// A mathematical function; integers are taken as floats.
TypedExpr Lowering::math(ir::Math fn, std::span<const TypedExpr> operands, const Place& place) {
    TypedExpr widest = operands[0];
    NumberType type = widest.number().type;
    for (const TypedExpr& t : operands.subspan(1)) type = promoted(rules(), number(type, ir::no_value), t, place);
    if (!is_inexact(type.dtype)) type = {weak_dtype(DType::Float64, options_.fp64), type.weak};
    std::vector<TypedExpr> converted;
    bool constant = true;
    for (const TypedExpr& t : operands) {
        converted.push_back(cast(t, type));
        constant = constant && t.number().constant;
    }
    if (constant && ir::is_evaluable(fn, type.dtype)) return folded(rules(), Opcode::Call, fn, type, converted);
    if (walk_.finds_types()) return number(type, ir::no_value);
    ir::Builder::Values values;
    for (const TypedExpr& t : converted) values.push_back(value(t));
    return number(type, builder_.call(fn, values));
}

// ---- expressions

TypedExpr Lowering::name(const Tree& t) {
    const auto found = scope_.find(t.name);
    if (found == scope_.end() && own_.contains(t.name))
        fail(ErrorCode::Name, t.place,
             "`" + t.name +
                 "` has no value here: the parallel loop assigns it, so each iteration has its own, which begins without the value from "
                 "before "
                 "the loop and without those of other iterations; assign it above, or use an array");
    if (found == scope_.end()) fail(ErrorCode::Name, t.place, "`" + t.name + "` has no value here: it is assigned nowhere above");
    if (found->second.maybe)
        fail(ErrorCode::Name, t.place,
             "`" + t.name + "` may have no value here: it is assigned at " + line_text(found->second.place) +
                 ", but not on every path to this line; give it a value before the branch or loop");
    return found->second.expr;
}

TypedExpr Lowering::expression(const Tree& t) {
    const bool wraps = std::exchange(wraps_, false);
    if (walk_.builds()) {
        builder_.set_span({1, static_cast<std::uint32_t>(t.place.line), static_cast<std::uint32_t>(t.place.column),
                           static_cast<std::uint32_t>(t.place.end_column)});
    }
    switch (t.form) {
        case Form::Number: return number(t.number);
        case Form::Outside: return outside_.expression(source_.function->outside[static_cast<std::size_t>(t.index)]);
        case Form::Text: return {t.name};
        case Form::None: return {};
        case Form::DTypeName: return dtype_expr(static_cast<DType>(t.index));
        case Form::Name: return name(t);
        case Form::Tuple: {
            std::vector<TypedExpr> items;
            for (const Tree& p : t.parts) items.push_back(settled(expression(p), p.place));
            return tuple(std::move(items));
        }
        case Form::Slice: {
            Slice slice;
            for (const Tree& p : t.parts) slice.bounds.push_back(expression(p));
            return {std::move(slice)};
        }
        case Form::Attribute: return attribute(t);
        case Form::Subscript: return subscript(t);
        case Form::Unary: return unary(t, wraps);
        case Form::Binary: {
            TypedExpr out = binary_of(t, wraps);
            if (out.kind() == Kind::Number && is_integer(out.number().type.dtype) && !out.number().constant)
                out.number().least = std::max(out.number().least, difference(scope_, t));
            return out;
        }
        case Form::And:
        case Form::Or: return logical(t, 0, true);
        case Form::Compare: return compare(t, 0, expression(t.parts[0]));
        case Form::Choice: return choice(t);
        case Form::Call: return call(t);
        case Form::Method: return method(t);
        case Form::Apply: return apply(t);
        case Form::Named: {
            TypedExpr value = settled(expression(t.parts[1]), t.place);
            set_variable(t.parts[0].name, value, t.place);
            return value;
        }
        case Form::List: return list(t);
        case Form::Star: fail(ErrorCode::Compile, t.place, "`*` is accepted only before an argument of a call");
        case Form::FunctionName: {
            Callee f{nullptr, t.name};
            if (t.name.empty()) f.function = source_.function->callees[static_cast<std::size_t>(t.index)];
            return {std::move(f)};
        }
        default: fail(ErrorCode::Internal, t.place, "an expression is expected here, not a statement");
    }
}

TypedExpr Lowering::unary(const Tree& t, bool wraps) {
    if (t.name == "not") return condition(t);
    wraps_ = wraps;
    const TypedExpr x = expression(t.parts[0]);
    return unary_of(t.name, x, t.place, wraps);
}

TypedExpr Lowering::unary_of(const std::string& op, const TypedExpr& operand, const Place& place, bool wraps) {
    if (const auto out = by_method(op == "-" ? "__neg__" : op == "+" ? "__pos__" : "__invert__", operand, {}, place)) return *out;
    if (is_rows(operand)) return array_unary(op, operand, place);
    const TypedExpr x = need_number(operand, place, op.c_str());
    const NumberType type = x.number().type.dtype == DType::Bool && op != "~" ? NumberType{DType::Int64, true} : x.number().type;
    if (op == "+") return cast(x, type);
    const bool large = x.number().constant && type.weak && type.dtype == DType::UInt64;
    const std::uint64_t below = std::uint64_t{1} << 63;
    if (large && (op == "~" || x.number().scalar.u > below))
        fail(ErrorCode::Overflow, place, too_large(op + std::to_string(x.number().scalar.u)));
    if (op == "-") {
        if (large) return integer(static_cast<std::int64_t>(~x.number().scalar.u + 1));
        if (x.number().constant && type.weak && type.dtype == DType::Int64 && x.number().scalar.as_int() == unknown_least)
            return number(Scalar(below));
        TypedExpr out = pure(Opcode::Neg, type, {x}, dtype(type));
        bound(out, Opcode::Neg, x, x, place, wraps);
        out.number().given = x.number().given;
        return out;
    }
    if (!is_integer(type.dtype) && type.dtype != DType::Bool) wrong_type(place, "`~` takes an integer, not " + describe(x));
    return pure(Opcode::Not, type, {x}, dtype(type));
}

/// What NumPy's dtypes tell of themselves: kind, name, char and str.
static std::string dtype_text(DType dtype, const std::string& which) {
    const std::string name(dtype_name(dtype));
    if (which == "name") return name;
    const std::size_t size = itemsize(dtype);
    const std::array<const char*, 5> kinds{"b", "i", "u", "f", "c"};
    const std::string kind = kinds[static_cast<std::size_t>(kind_of(dtype))];
    if (which == "kind") return kind;
    if (which == "str") return (size == 1 ? "|" : "<") + kind + std::to_string(size);
    constexpr std::array<std::pair<const char*, char>, 14> chars{{{"bool", '?'},
                                                                  {"int8", 'b'},
                                                                  {"uint8", 'B'},
                                                                  {"int16", 'h'},
                                                                  {"uint16", 'H'},
                                                                  {"int32", 'i'},
                                                                  {"uint32", 'I'},
                                                                  {"int64", 'l'},
                                                                  {"uint64", 'L'},
                                                                  {"float16", 'e'},
                                                                  {"float32", 'f'},
                                                                  {"float64", 'd'},
                                                                  {"complex64", 'F'},
                                                                  {"complex128", 'D'}}};
    const auto* found = std::ranges::find_if(chars, [&](const auto& c) { return name == c.first; });
    return found == chars.end() ? name : std::string(1, found->second);
}

TypedExpr Lowering::attribute(const Tree& t) {
    const TypedExpr object = expression(t.parts[0]);
    const std::string& a = t.name;
    if (object.kind() == Kind::Tuple) {
        const bool of_arrays = (a == "shape" || a == "ndim" || a == "size") && is_indexed(object);
        if (of_arrays && object.tuple().record) {  // fields may have further dimensions
            TypedExpr own = first_part(object);
            own.view().rank = object.tuple().dimensions;
            return attribute_of(own, t);
        }
        const auto found = std::find(object.tuple().names.begin(), object.tuple().names.end(), a);
        if (found != object.tuple().names.end()) return field(object, static_cast<std::size_t>(found - object.tuple().names.begin()));
        if (of_arrays) return attribute_of(first_part(object), t);
        if (const auto member = member_of(object, a)) {
            if (member->kind == syntax::Member::Kind::Property) return called(function_of(*member, t.place), &object, {}, t.place);
            wrong_type(t.place, "`" + a + "` is a method; call it: " + a + "(…)");
        }
        if (!object.tuple().names.empty()) wrong_type(t.place, describe(object) + " has no field `" + a + "`");
    }
    return attribute_of(object, t);
}

TypedExpr Lowering::attribute_of(const TypedExpr& object, const Tree& t) {
    const std::string& a = t.name;
    if (object.kind() == Kind::List && a == "_elements" && source_.function->library) return changing_elements(object);
    if (is_rows(object) && (a == "real" || a == "imag")) {
        Tree call = t;
        call.form = Form::Call;
        return array_call(call, {object}, number_function(a), false);
    }
    if (object.kind() == Kind::Rows) {
        const std::vector<TypedExpr>& extents = object.rows()->extents;
        if (a == "shape") return tuple(extents);
        if (a == "ndim") return integer(static_cast<std::int64_t>(extents.size()));
        if (a == "dtype") return dtype_expr(object.rows()->type.dtype);
        if (a == "size") return count_of(extents);
        return attribute_of(settled(object, t.place), t);
    }
    if (object.kind() == Kind::Array) {
        const View& v = object.view();
        const auto rank = static_cast<std::size_t>(v.rank);
        if (a == "shape") return tuple({v.lead.begin() + 1, v.lead.begin() + 1 + static_cast<std::ptrdiff_t>(rank)});
        if (a == "ndim") return integer(v.rank);
        if (a == "dtype") return dtype_expr(v.dtype);
        if (a == "itemsize") return integer(itemsize(v.dtype));
        if (a == "size" || a == "nbytes") {
            TypedExpr size = integer(a == "size" ? 1 : itemsize(v.dtype));
            for (std::size_t d = 0; d < rank; ++d) size = mul(size, v.lead[1 + d]);
            return size;
        }
        if (a == "T") {
            TypedExpr turned = object;
            std::reverse(turned.view().lead.begin() + 1, turned.view().lead.begin() + 1 + v.rank);
            std::reverse(turned.view().lead.begin() + 1 + v.rank, turned.view().lead.end());
            return turned;
        }
        wrong_type(t.place, "arrays in kernels have shape, size, ndim, dtype, itemsize, nbytes, T, real and imag, not `" + a + "`");
    }
    if (object.kind() == Kind::Number) {
        const NumberType part{real_of(object.number().type.dtype), object.number().type.weak};
        if (a == "real")
            return is_complex(object.number().type.dtype) ? pure(Opcode::Real, part, {object}, dtype(object.number().type)) : object;
        if (a == "imag")
            return is_complex(object.number().type.dtype) ? pure(Opcode::Imag, part, {object}, dtype(object.number().type))
                                                          : cast(integer(0), part);
        if (a == "dtype") return dtype_expr(dtype(object.number().type));
        if (a == "ndim") return integer(0);
        if (a == "size") return integer(1);
        if (a == "shape") return tuple({});
        wrong_type(t.place, "numbers have real, imag, dtype, ndim, size and shape, not `" + a + "`");
    }
    if (a == "dimensions" && (object.kind() == Kind::Item || object.kind() == Kind::NdItem || object.kind() == Kind::Group)) {
        out_.asked = space_.rank;
        return integer(space_.rank);
    }
    if (a == "dimensions" && object.kind() == Kind::SubGroup) return integer(1);
    if (object.kind() == Kind::DType && a == "itemsize") return integer(itemsize(object.dtype()));
    if (object.kind() == Kind::DType && (a == "kind" || a == "name" || a == "char" || a == "str")) return {dtype_text(object.dtype(), a)};
    wrong_type(t.place, describe(object) + " has no attribute `" + a + "` in a kernel");
}

}  // namespace pardo::lang

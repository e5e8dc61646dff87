// src/lang/expressions.cpp: expressions: what each form of the syntax stands for.
#include "lang/expressions.h"

#include <algorithm>
#include <bit>

#include "lang/array_expr/array_expr.h"
#include "lang/calls/user.h"
#include "lang/memory/lists.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"
#include "lang/scope_facts.h"
#include "lang/statements.h"
#include "lang/syntax_facts.h"

namespace pardo::lang {

/// What NumPy's dtypes tell of themselves: kind, name, char and str.
static std::string dtype_text(DType dtype, const std::string& which) {
    const std::string name(dtype_name(dtype));
    if (which == "name") return name;
    const std::size_t size = itemsize(dtype);
    const std::array<const char*, 5> kinds{"b", "i", "u", "f", "c"};
    const std::string kind = kinds[static_cast<std::size_t>(kind_of(dtype))];
    if (which == "kind") return kind;
    if (which == "str") return (size == 1 ? "|" : "<") + kind + std::to_string(size);
    constexpr std::string_view chars = "?bhilBHILefdFDE";
    static_assert(chars.size() == dtype_count);
    return std::string(1, chars[static_cast<std::size_t>(dtype)]);
}

namespace {

/// Whether an operation leaves the low bits of its result to the low bits of its operands.
bool keeps_low_bits(const Tree& t) {
    const auto is = [&](std::initializer_list<const char*> names) {
        return std::ranges::any_of(names, [&](const char* name) { return t.name == name; });
    };
    return (t.form == Form::Binary && is({"+", "-", "*", "<<", "&", "|", "^"})) || (t.form == Form::Unary && is({"-", "~"}));
}

/// A number, or made of numbers alone.
bool is_literal(const Tree& t) {
    return t.form == Form::Number || ((t.form == Form::Binary || t.form == Form::Unary) && std::ranges::all_of(t.parts, is_literal));
}

TypedExpr binary_of(Lowering& l, const Tree& t, bool wraps);
TypedExpr unary(Lowering& l, const Tree& t, bool wraps);
TypedExpr attribute(Lowering& l, const Tree& t);
TypedExpr attribute_of(Lowering& l, const TypedExpr& object, const Tree& t);

TypedExpr value_of_name(Lowering& l, const Tree& t) {
    const auto found = l.scope.find(t.name);
    if (found == l.scope.end() && l.own.contains(t.name))
        l.source.fail(
            ErrorCode::Name, t.place,
            "`" + t.name +
                "` has no value here: the parallel loop assigns it, so each iteration has its own, which begins without the value from "
                "before "
                "the loop and without those of other iterations; assign it above, or use an array");
    if (found == l.scope.end()) l.source.fail(ErrorCode::Name, t.place, "`" + t.name + "` has no value here: it is assigned nowhere above");
    if (found->second.maybe)
        l.source.fail(ErrorCode::Name, t.place,
                      "`" + t.name + "` may have no value here: it is assigned at " + line_text(found->second.place) +
                          ", but not on every path to this line; give it a value before the branch or loop");
    return found->second.expr;
}

}  // namespace

TypedExpr expression(Lowering& l, const Tree& t, bool wraps) {
    l.builder.set_place(t.place);
    switch (t.form) {
        case Form::Number: return number(t.number);
        case Form::Outside: return l.outside.expression(l.source.function->outside[static_cast<std::size_t>(t.index)]);
        case Form::Text: return {t.name};
        case Form::None: return {};
        case Form::DTypeName: return dtype_expr(static_cast<DType>(t.index));
        case Form::Name: return value_of_name(l, t);
        case Form::Tuple: {
            std::vector<TypedExpr> items;
            for (const Tree& p : t.parts) items.push_back(settled(l, expression(l, p), p.place));
            return tuple(std::move(items));
        }
        case Form::Slice: {
            Slice slice;
            for (const Tree& p : t.parts) slice.bounds.push_back(expression(l, p));
            return {std::move(slice)};
        }
        case Form::Attribute: return attribute(l, t);
        case Form::Subscript: return subscript(l, t);
        case Form::Unary: return unary(l, t, wraps);
        case Form::Binary: {
            TypedExpr out = binary_of(l, t, wraps);
            if (out.kind() == Kind::Number && is_integer(out.number().type.dtype) && !out.number().constant)
                out.number().least = std::max(out.number().least, difference(l.scope, t));
            return out;
        }
        case Form::And:
        case Form::Or: return logical(l, t, 0, true);
        case Form::Compare: return compare(l, t, 0, expression(l, t.parts[0]));
        case Form::Choice: return choice(l, t);
        case Form::Call: return call_known(l, t);
        case Form::Method: return call_method(l, t);
        case Form::Apply: return apply(l, t);
        case Form::Named: {
            TypedExpr value = settled(l, expression(l, t.parts[1]), t.place);
            set_variable(l, t.parts[0].name, value, t.place);
            return value;
        }
        case Form::List: return list_display(l, t);
        case Form::Star: l.source.fail(ErrorCode::Compile, t.place, "`*` is accepted only before an argument of a call");
        case Form::FunctionName: {
            Callee f{nullptr, t.name};
            if (t.name.empty()) f.function = l.source.function->callees[static_cast<std::size_t>(t.index)];
            return {std::move(f)};
        }
        default: l.source.fail(ErrorCode::Internal, t.place, "an expression is expected here, not a statement");
    }
}

namespace {

/// a op b. Where a mask leaves only low bits of the result, those of sums and products inside may wrap as they like; so may it if `wraps`.
TypedExpr binary_of(Lowering& l, const Tree& t, bool wraps) {
    const auto masked_by = [&](const Tree& other) {
        if (!is_literal(other)) return false;
        const TypedExpr mask = expression(l, other);
        if (!mask.number().constant || !is_integer(mask.number().type.dtype) || mask.number().least < 0) return false;
        return t.name == "&" || std::has_single_bit(static_cast<std::uint64_t>(mask.number().scalar.i));
    };
    const auto operand = [&](std::size_t k) {
        const bool counts = t.name == "<<" && k == 1;
        const bool masked = (t.name == "&" || (t.name == "%" && k == 0)) && masked_by(t.parts[1 - k]);
        return expression(l, t.parts[k], keeps_low_bits(t.parts[k]) && !counts && (masked || (wraps && keeps_low_bits(t))));
    };
    TypedExpr a = operand(0);
    if (a.kind() == Kind::Rows && contains(t.parts[1], Form::Apply, true)) a = settled(l, a, t.place);  // which might change what it reads
    const TypedExpr b = operand(1);
    return binary(l, t.name, a, b, t.place, wraps);
}

}  // namespace

TypedExpr index_expression(Lowering& l, const Tree& t) { return expression(l, t, keeps_low_bits(t)); }

namespace {

TypedExpr unary(Lowering& l, const Tree& t, bool wraps) {
    if (t.name == "not") return condition(l, t);
    const TypedExpr x = expression(l, t.parts[0], wraps);
    return unary_of(l, t.name, x, t.place, wraps);
}

}  // namespace

namespace {

TypedExpr attribute(Lowering& l, const Tree& t) {
    const TypedExpr object = expression(l, t.parts[0]);
    const std::string& a = t.name;
    if (object.kind() == Kind::Tuple) {
        const bool of_arrays = (a == "shape" || a == "ndim" || a == "size") && is_indexed(object);
        if (of_arrays && object.tuple().record) {  // fields may have further dimensions
            TypedExpr own = first_part(object);
            own.view().rank = object.tuple().dimensions;
            return attribute_of(l, own, t);
        }
        const auto found = std::find(object.tuple().names.begin(), object.tuple().names.end(), a);
        if (found != object.tuple().names.end()) return field(l, object, static_cast<std::size_t>(found - object.tuple().names.begin()));
        if (of_arrays) return attribute_of(l, first_part(object), t);
        if (const auto member = member_of(object, a)) {
            if (member->kind == syntax::Member::Kind::Property) return called(l, function_of(l, *member, t.place), &object, {}, t.place);
            l.source.wrong_type(t.place, "`" + a + "` is a method; call it: " + a + "(…)");
        }
        if (!object.tuple().names.empty()) l.source.wrong_type(t.place, describe(object) + " has no field `" + a + "`");
    }
    return attribute_of(l, object, t);
}

TypedExpr attribute_of(Lowering& l, const TypedExpr& object, const Tree& t) {
    const std::string& a = t.name;
    if (object.kind() == Kind::List && a == "_elements" && l.source.function->library) return changing_elements(l, object);
    if (is_rows(object) && (a == "real" || a == "imag")) {
        Tree call = t;
        call.form = Form::Call;
        return array_call(l, call, {object}, function_of_numbers(l, a), false);
    }
    if (object.kind() == Kind::Rows) {
        const std::vector<TypedExpr>& extents = object.rows()->extents;
        if (a == "shape") return tuple(extents);
        if (a == "ndim") return integer(static_cast<std::int64_t>(extents.size()));
        if (a == "dtype") return dtype_expr(object.rows()->type.dtype);
        if (a == "size") return count_of(l, extents);
        return attribute_of(l, settled(l, object, t.place), t);
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
            for (std::size_t d = 0; d < rank; ++d) size = mul(l, size, v.lead[1 + d]);
            return size;
        }
        if (a == "T") {
            TypedExpr turned = object;
            std::reverse(turned.view().lead.begin() + 1, turned.view().lead.begin() + 1 + v.rank);
            std::reverse(turned.view().lead.begin() + 1 + v.rank, turned.view().lead.end());
            return turned;
        }
        l.source.wrong_type(t.place,
                            "arrays in kernels have shape, size, ndim, dtype, itemsize, nbytes, T, real and imag, not `" + a + "`");
    }
    if (object.kind() == Kind::Number) {
        const NumberType part{real_of(object.number().type.dtype), object.number().type.weak};
        if (a == "real")
            return is_complex(object.number().type.dtype) ? pure(l, Opcode::Real, part, {object}, l.rules.dtype(object.number().type))
                                                          : object;
        if (a == "imag")
            return is_complex(object.number().type.dtype) ? pure(l, Opcode::Imag, part, {object}, l.rules.dtype(object.number().type))
                                                          : cast(l, integer(0), part);
        if (a == "dtype") return dtype_expr(l.rules.dtype(object.number().type));
        if (a == "ndim") return integer(0);
        if (a == "size") return integer(1);
        if (a == "shape") return tuple({});
        l.source.wrong_type(t.place, "numbers have real, imag, dtype, ndim, size and shape, not `" + a + "`");
    }
    if (a == "dimensions" && (object.kind() == Kind::Item || object.kind() == Kind::NdItem || object.kind() == Kind::Group)) {
        l.out.asked = l.task.space.rank;
        return integer(l.task.space.rank);
    }
    if (a == "dimensions" && object.kind() == Kind::SubGroup) return integer(1);
    if (object.kind() == Kind::DType && a == "itemsize") return integer(itemsize(object.dtype()));
    if (object.kind() == Kind::DType && (a == "kind" || a == "name" || a == "char" || a == "str")) return {dtype_text(object.dtype(), a)};
    l.source.wrong_type(t.place, describe(object) + " has no attribute `" + a + "` in a kernel");
}

}  // namespace

TypedExpr binary(Lowering& l, const std::string& op, const TypedExpr& left, const TypedExpr& right, const Place& place, bool wraps) {
    if (op == "@") return product_of(l, left, right, "matmul", place);
    const TypedExpr a = number_in(l, left), b = number_in(l, right);
    require_operator(l, op, place);
    if (const std::optional<TypedExpr> out = by_operator(l, a, b, op, false, place)) return *out;
    if (is_rows(a) || is_rows(b)) return array_binary(l, op, a, b, place);
    if (a.kind() == Kind::List || b.kind() == Kind::List)
        l.source.wrong_type(
            place, "`" + op + "` of a list is not accepted in a kernel; append to it, or write np.array(…) of it for sums and products");
    if (a.kind() == Kind::Tuple && b.kind() == Kind::Tuple && op == "+" && a.tuple().names.empty() && b.tuple().names.empty()) {
        std::vector<TypedExpr> items = a.tuple().items;
        items.insert(items.end(), b.tuple().items.begin(), b.tuple().items.end());
        return tuple(std::move(items));
    }
    if (a.kind() != Kind::Number || b.kind() != Kind::Number)
        l.source.wrong_type(place, "`" + op + "` takes two numbers; here are " + describe(a) + " and " + describe(b));
    return number_binary(l, op, a, b, place, wraps);
}

TypedExpr unary_of(Lowering& l, const std::string& op, const TypedExpr& operand, const Place& place, bool wraps) {
    if (const auto out = by_method(l, op == "-" ? "__neg__" : op == "+" ? "__pos__" : "__invert__", operand, {}, place)) return *out;
    if (is_rows(operand)) return array_unary(l, op, operand, place);
    return number_unary(l, op, need_number(l, operand, place, op.c_str()), place, wraps);
}

TypedExpr product_of(Lowering& l, const TypedExpr& a, const TypedExpr& b, const std::string& op_name, const Place& place) {
    if (is_rows(a) && is_rows(b)) return product(l, a, b, op_name, place);
    if (op_name != "matmul" && (a.kind() == Kind::Number || b.kind() == Kind::Number)) return binary(l, "*", a, b, place);
    l.source.wrong_type(place, op_name + ": arrays of one or two dimensions are expected, not " + describe(is_rows(a) ? b : a));
}

}  // namespace pardo::lang

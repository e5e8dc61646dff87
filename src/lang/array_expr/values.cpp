// src/lang/array_expr/values.cpp: expressions on arrays: their shapes by NumPy's rules for broadcasting, their elements by those for
// numbers.
#include <algorithm>
#include <utility>

#include "lang/array_expr/array_expr.h"
#include "lang/lowering.h"

namespace pardo::lang {

namespace {

template <class T> void append(std::vector<T>& to, const std::vector<T>& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace

/// The view's element at an index.
View Lowering::view_at(const View& v, std::span<const TypedExpr> index) {
    View one = v;
    TypedExpr offset = v.lead[0];
    const auto rank = static_cast<std::size_t>(v.rank);
    for (std::size_t d = 0; d < rank; ++d) offset = add(offset, mul(index[d], v.lead[1 + rank + d]));
    one.rank = 0;
    one.lead = {offset};
    return one;
}

std::shared_ptr<const Rows> Lowering::rows_of(const TypedExpr& t) {
    if (t.kind() == Kind::Rows) return t.rows();
    Rows rows;
    rows.type = {t.view().dtype, false};
    rows.extents.assign(t.view().lead.begin() + 1, t.view().lead.begin() + 1 + t.view().rank);
    rows.guards = t.view().guards;
    rows.reads = {t.view()};
    View open = t.view();  // its guards are asked once, in front of the loops
    open.guards.clear();
    rows.at = [this, open](std::span<const TypedExpr> index, bool) { return element(view_at(open, index)); };
    return std::make_shared<const Rows>(std::move(rows));
}

/// Adds what an operand brings: its shape, aligned at the last axis, and what has to hold for it.
void Lowering::broadcast(Rows& out, const Rows& operand, const Place& place) {
    if (operand.extents.size() > out.extents.size())
        out.extents.insert(out.extents.begin(), operand.extents.size() - out.extents.size(), integer(1));
    const std::size_t skip = out.extents.size() - operand.extents.size();
    for (std::size_t d = 0; d < operand.extents.size(); ++d) {
        TypedExpr& whole = out.extents[skip + d];
        const TypedExpr& part = operand.extents[d];
        if (is_one(part) || known_equal(walk_, whole, part)) continue;
        if (is_one(whole)) {
            whole = part;
            continue;
        }
        if (whole.number().constant && part.number().constant)
            fail(ErrorCode::Value, place,
                 "operands could not be broadcast together: an axis has " + std::to_string(whole.number().scalar.i) + " elements, and " +
                     std::to_string(part.number().scalar.i));
        out.equal.push_back({whole, part, false, place, source_.function});
        if (whole.number().constant) continue;
        TypedExpr extent = part;
        if (!part.number().constant) {
            const auto chosen = [&] {
                const Value n = value(whole, DType::Int64);
                const Value other = value(part, DType::Int64);
                return builder_.select(builder_.eq(n, builder_.i64(1)), other, n);
            };
            extent = number({DType::Int64, true}, walk_.value([&] { return chosen(); }), 0);
            extent.number().bits = std::max(whole.number().bits, part.number().bits);
        }
        whole = extent;
    }
    append(out.guards, operand.guards);
    append(out.equal, operand.equal);
    append(out.reads, operand.reads);
    out.moved = out.moved || operand.moved;
    out.turned = out.turned || operand.turned;
    out.loops = out.loops || operand.loops;
    out.inner_lanes = out.inner_lanes || operand.inner_lanes;
    out.cost += operand.cost;
}

/// An operand's element for an index of the result.
TypedExpr Lowering::element_at(const TypedExpr& operand, std::span<const TypedExpr> index, bool same) {
    if (operand.kind() != Kind::Rows) return operand;
    const Rows& rows = *operand.rows();
    const std::size_t skip = index.size() - rows.extents.size();
    std::vector<TypedExpr> own;
    for (std::size_t d = 0; d < rows.extents.size(); ++d) {
        const TypedExpr &extent = rows.extents[d], &i = index[skip + d];
        if (is_one(extent)) {
            own.push_back(integer(0));
        } else if (same) {
            own.push_back(i);
        } else {
            const auto last = [&] { return builder_.sub(value(extent, DType::Int64), builder_.i64(1)); };
            own.push_back(number({DType::Int64, true}, walk_.value([&] { return builder_.min(value(i, DType::Int64), last()); }), 0));
        }
    }
    return rows.at(own, same);
}

/// Whether a result repeats elements of an operand.
static bool repeats(const std::vector<TypedExpr>& result, const Rows& operand) {
    if (operand.extents.size() < result.size()) return true;
    for (std::size_t d = 0; d < result.size(); ++d)
        if (is_one(operand.extents[d]) && !is_one(result[d])) return true;
    return false;
}

/// Whether the neighbours of a row are apart in memory, as far as is known.
static bool in_steps(const View& v) {
    const TypedExpr &extent = v.lead[static_cast<std::size_t>(v.rank)], &stride = v.lead.back();
    return !is_one(extent) && !(stride.number().constant && stride.number().scalar.i == 1);
}

/// A function of numbers, for each element of arrays.
TypedExpr Lowering::each(std::vector<TypedExpr> operands, int cost, const Place& place, const Elementwise& f) {
    Rows shape;
    for (TypedExpr& t : operands) {
        t = number_in(t);
        if (t.kind() != Kind::Number && t.kind() != Kind::DType && !is_rows(t))
            wrong_type(place, "numbers and arrays are combined element by element, not " + describe(t));
        if (is_rows(t)) broadcast(shape, *rows_of(t), place);
    }
    Rows out;
    std::vector<TypedExpr> samples;
    for (TypedExpr& t : operands) {
        if (is_rows(t)) {
            const std::shared_ptr<const Rows> rows = rows_of(t);
            const bool worth = t.kind() == Kind::Rows ? rows->cost >= dear || rows->loops : in_steps(t.view()) && own_bytes() == 0;
            TypedExpr one = t;
            if (worth && repeats(shape.extents, *rows)) one = settled(t.kind() == Kind::Rows ? t : rows_expr(*rows), place);
            if (one.kind() == Kind::Array) {
                const std::shared_ptr<const Rows> read = rows_of(one);
                one = rows_expr(*read);
            }
            t = std::move(one);
            broadcast(out, *t.rows(), place);
        }
        samples.push_back(t.kind() == Kind::Rows ? number(t.rows()->type, ir::no_value) : t);
    }
    out.cost += cost;
    const TypedExpr sample = walk_.types_of([&] { return f(samples); });
    if (sample.kind() != Kind::Number) wrong_type(place, "this gives " + describe(sample) + " for each element, and arrays hold numbers");
    out.type = {dtype(sample.number().type), false};
    const NumberType type = out.type;
    out.at = [this, operands = std::move(operands), f, type](std::span<const TypedExpr> index, bool same) {
        std::vector<TypedExpr> numbers;
        numbers.reserve(operands.size());
        for (const TypedExpr& t : operands) numbers.push_back(element_at(t, index, same));
        return cast(f(numbers), type);
    };
    return rows_expr(std::move(out));
}

/// NumPy's operators of arrays differ from those of numbers here where both are bools: they stay bools, or become int8.
TypedExpr Lowering::array_binary(const std::string& op, const TypedExpr& a, const TypedExpr& b, const Place& place) {
    std::string word = op;
    bool narrow = false;
    if (holds_bools(a) && holds_bools(b)) {
        if (op == "-") wrong_type(place, "`-` of two arrays of bools is not defined, as in NumPy; write `^`, or np.logical_xor");
        if (op == "+") word = "|";
        if (op == "*") word = "&";
        narrow = op == "//" || op == "%" || op == "**" || op == "<<" || op == ">>";
    }
    const int cost = op == "/" || op == "//" || op == "%" ? 6 : op == "**" ? 20 : 1;
    return each({a, b}, cost, place, [this, word, narrow, place](const std::vector<TypedExpr>& x) {
        constexpr NumberType byte{DType::Int8, false};
        if (narrow) {
            const TypedExpr b = cast(x[1], byte), a = cast(x[0], byte);
            return binary(word, a, b, place);
        }
        return binary(word, x[0], x[1], place);
    });
}

TypedExpr Lowering::array_unary(const std::string& op, const TypedExpr& x, const Place& place) {
    if (holds_bools(x) && op != "~")
        wrong_type(place, "`" + op + "` of an array of bools is not defined, as in NumPy; write `~`, or np.logical_not");
    return each({x}, 1, place, [this, op, place](const std::vector<TypedExpr>& e) { return unary_of(op, e[0], place); });
}

/// A function that the language knows of numbers, for each element. Mathematical ones of narrow integers are computed in narrow floats.
TypedExpr Lowering::array_call(const Tree& t, std::vector<TypedExpr> arguments, NumberHandler handler, bool of_floats) {
    constexpr std::pair<const char*, const char*> operators[] = {
        {"add", "+"},       {"subtract", "-"}, {"multiply", "*"},    {"divide", "/"},       {"floor_divide", "//"},
        {"remainder", "%"}, {"power", "**"},   {"left_shift", "<<"}, {"right_shift", ">>"},
    };
    for (const auto& [name, op] : operators)
        if (t.name == name) return array_binary(op, arguments[0], arguments[1], t.place);
    if (t.name == "negative" || t.name == "positive") return array_unary(t.name == "negative" ? "-" : "+", arguments[0], t.place);
    if (t.name == "square") return array_binary("*", arguments[0], arguments[0], t.place);
    if (t.name == "abs" && holds_bools(arguments[0]))
        return each(std::move(arguments), 0, t.place, [](const std::vector<TypedExpr>& x) { return x[0]; });
    const auto call = std::make_shared<Tree>();
    call->form = t.form;
    call->name = t.name;
    call->place = t.place;
    for (const Tree& p : t.parts) {
        call->parts.emplace_back();
        call->parts.back().place = p.place;
    }
    const DType widest = weak_dtype(DType::Float64, options_.fp64);
    const auto whole = [&](const TypedExpr& a) { return is_numeric(a) && (holds_bools(a) || is_integer(element_type(a).dtype)); };
    DType narrow = widest;
    if (of_floats && std::ranges::all_of(arguments, whole)) {
        int size = 1;
        for (const TypedExpr& a : arguments) {
            const NumberType type = element_type(a);
            if (!type.weak) size = std::max(size, itemsize(type.dtype));
        }
        narrow = size == 1 ? DType::Float16 : size == 2 ? DType::Float32 : widest;
    }
    return each(std::move(arguments), of_floats ? 20 : 2, t.place, [this, call, handler, narrow, widest](const std::vector<TypedExpr>& x) {
        if (narrow == widest) return handler(*this, *call, x);
        std::vector<TypedExpr> floats;
        floats.reserve(x.size());
        for (const TypedExpr& e : x) floats.push_back(cast(e, {narrow, false}));
        return handler(*this, *call, floats);
    });
}

/// The elements of matrices on the k-th diagonal and on one side of it; the others are 0.
TypedExpr Lowering::triangle(const TypedExpr& t, const TypedExpr& k, bool upper) {
    const std::shared_ptr<const Rows> inner = rows_of(t);
    Rows out = *inner;
    ++out.cost;
    out.at = [this, inner, k, upper](std::span<const TypedExpr> index, bool same) {
        const TypedExpr x = inner->at(index, same);
        if (walk_.finds_types()) return number(inner->type, ir::no_value);
        const Value row = value(index[index.size() - 2], DType::Int64), column = value(index.back(), DType::Int64);
        const Value to = builder_.sub(column, row), from = value(k, DType::Int64);
        const Value on = upper ? builder_.le(from, to) : builder_.le(to, from);
        const Value zero = value(cast(integer(0), inner->type)), own = value(cast(x, inner->type));
        return number(inner->type, builder_.select(on, own, zero));
    };
    return rows_expr(std::move(out));
}

}  // namespace pardo::lang

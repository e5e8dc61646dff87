// src/lang/array_expr/values.cpp: expressions on arrays: their shapes by NumPy's rules for broadcasting, their elements by those for
// numbers.
#include <algorithm>
#include <utility>

#include "lang/array_expr/parts.h"
#include "lang/memory/own.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang {

namespace {

template <class T> void append(std::vector<T>& to, const std::vector<T>& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace

std::shared_ptr<const Rows> rows_of(Memory& l, const TypedExpr& t) {
    if (t.kind() == Kind::Rows) return t.rows();
    Rows rows;
    rows.type = {t.view().dtype, false};
    rows.extents.assign(t.view().lead.begin() + 1, t.view().lead.begin() + 1 + t.view().rank);
    rows.guards = t.view().guards;
    rows.reads = {t.view()};
    View open = t.view();  // its guards are asked once, in front of the loops
    open.guards.clear();
    rows.at = [&l, open](std::span<const TypedExpr> index, bool) { return element(l, view_at(l, open, index)); };
    return std::make_shared<const Rows>(std::move(rows));
}

namespace {

/// Adds what an operand brings: its shape, aligned at the last axis, and what has to hold for it.
void broadcast(Memory& l, Rows& out, const Rows& operand, const Place& place) {
    if (operand.extents.size() > out.extents.size())
        out.extents.insert(out.extents.begin(), operand.extents.size() - out.extents.size(), integer(1));
    const std::size_t skip = out.extents.size() - operand.extents.size();
    for (std::size_t d = 0; d < operand.extents.size(); ++d) {
        TypedExpr& whole = out.extents[skip + d];
        const TypedExpr& part = operand.extents[d];
        if (is_one(part) || known_equal(l.walk, whole, part)) continue;
        if (is_one(whole)) {
            whole = part;
            continue;
        }
        if (whole.number().constant && part.number().constant)
            l.source.fail(ErrorCode::Value, place,
                          "operands could not be broadcast together: an axis has " + std::to_string(whole.number().scalar.i) +
                              " elements, and " + std::to_string(part.number().scalar.i));
        out.equal.push_back({whole, part, false, place, l.source.function});
        if (whole.number().constant) continue;
        TypedExpr extent = part;
        if (!part.number().constant) {
            const auto chosen = [&] {
                const Value n = value(l, whole, DType::Int64);
                const Value other = value(l, part, DType::Int64);
                return l.builder.select(l.builder.eq(n, l.builder.i64(1)), other, n);
            };
            extent = number({DType::Int64, true}, chosen(), 0);
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

}  // namespace

TypedExpr element_at(Memory& l, const TypedExpr& operand, std::span<const TypedExpr> index, bool same) {
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
            const auto last = [&] { return l.builder.sub(value(l, extent, DType::Int64), l.builder.i64(1)); };
            own.push_back(number({DType::Int64, true}, l.builder.min(value(l, i, DType::Int64), last()), 0));
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

TypedExpr each(Memory& l, std::vector<TypedExpr> operands, int cost, const Place& place, const Elementwise& f) {
    Rows shape;
    for (TypedExpr& t : operands) {
        t = number_in(l, t);
        if (t.kind() != Kind::Number && t.kind() != Kind::DType && !is_rows(t))
            l.source.wrong_type(place, "numbers and arrays are combined element by element, not " + describe(t));
        if (is_rows(t)) broadcast(l, shape, *rows_of(l, t), place);
    }
    Rows out;
    std::vector<TypedExpr> samples;
    for (TypedExpr& t : operands) {
        if (is_rows(t)) {
            const std::shared_ptr<const Rows> rows = rows_of(l, t);
            const bool worth = t.kind() == Kind::Rows ? rows->cost >= dear || rows->loops : in_steps(t.view()) && own_bytes(l) == 0;
            TypedExpr one = t;
            if (worth && repeats(shape.extents, *rows)) one = settled(l, t.kind() == Kind::Rows ? t : rows_expr(*rows), place);
            if (one.kind() == Kind::Array) {
                const std::shared_ptr<const Rows> read = rows_of(l, one);
                one = rows_expr(*read);
            }
            t = std::move(one);
            broadcast(l, out, *t.rows(), place);
        }
        samples.push_back(t.kind() == Kind::Rows ? number(t.rows()->type, ir::no_value) : t);
    }
    out.cost += cost;
    const TypedExpr sample = l.walk.types_of([&] { return f(samples); });
    if (sample.kind() != Kind::Number)
        l.source.wrong_type(place, "this gives " + describe(sample) + " for each element, and arrays hold numbers");
    out.type = {l.rules.dtype(sample.number().type), false};
    const NumberType type = out.type;
    out.at = [&l, operands = std::move(operands), f, type](std::span<const TypedExpr> index, bool same) {
        std::vector<TypedExpr> numbers;
        numbers.reserve(operands.size());
        for (const TypedExpr& t : operands) numbers.push_back(element_at(l, t, index, same));
        return cast(l, f(numbers), type);
    };
    return rows_expr(std::move(out));
}

TypedExpr array_binary(Memory& l, const std::string& op, const TypedExpr& a, const TypedExpr& b, const Place& place) {
    std::string word = op;
    bool narrow = false;
    if (holds_bools(a) && holds_bools(b)) {
        if (op == "-") l.source.wrong_type(place, "`-` of two arrays of bools is not defined, as in NumPy; write `^`, or np.logical_xor");
        if (op == "+") word = "|";
        if (op == "*") word = "&";
        narrow = op == "//" || op == "%" || op == "**" || op == "<<" || op == ">>";
    }
    const int cost = op == "/" || op == "//" || op == "%" ? 6 : op == "**" ? 20 : 1;
    return each(l, {a, b}, cost, place, [&l, word, narrow, place](const std::vector<TypedExpr>& x) {
        constexpr NumberType byte{DType::Int8, false};
        if (narrow) {
            const TypedExpr b = cast(l, x[1], byte), a = cast(l, x[0], byte);
            return number_binary(l, word, a, b, place);
        }
        return number_binary(l, word, x[0], x[1], place);
    });
}

TypedExpr array_unary(Memory& l, const std::string& op, const TypedExpr& x, const Place& place) {
    if (holds_bools(x) && op != "~")
        l.source.wrong_type(place, "`" + op + "` of an array of bools is not defined, as in NumPy; write `~`, or np.logical_not");
    return each(l, {x}, 1, place, [&l, op, place](const std::vector<TypedExpr>& e) { return number_unary(l, op, e[0], place); });
}

TypedExpr array_call(Memory& l, const Tree& t, std::vector<TypedExpr> arguments, const NumberFunction& f, bool of_floats) {
    constexpr std::pair<const char*, const char*> operators[] = {
        {"add", "+"},       {"subtract", "-"}, {"multiply", "*"},    {"divide", "/"},       {"floor_divide", "//"},
        {"remainder", "%"}, {"power", "**"},   {"left_shift", "<<"}, {"right_shift", ">>"},
    };
    for (const auto& [name, op] : operators)
        if (t.name == name) return array_binary(l, op, arguments[0], arguments[1], t.place);
    if (t.name == "negative" || t.name == "positive") return array_unary(l, t.name == "negative" ? "-" : "+", arguments[0], t.place);
    if (t.name == "square") return array_binary(l, "*", arguments[0], arguments[0], t.place);
    if (t.name == "abs" && holds_bools(arguments[0]))
        return each(l, std::move(arguments), 0, t.place, [](const std::vector<TypedExpr>& x) { return x[0]; });
    const auto call = std::make_shared<Tree>();
    call->form = t.form;
    call->name = t.name;
    call->place = t.place;
    for (const Tree& p : t.parts) {
        call->parts.emplace_back();
        call->parts.back().place = p.place;
    }
    const DType widest = weak_dtype(DType::Float64, l.task.options.fp64);
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
    return each(l, std::move(arguments), of_floats ? 20 : 2, t.place, [&l, call, f, narrow, widest](const std::vector<TypedExpr>& x) {
        if (narrow == widest) return f(*call, x);
        std::vector<TypedExpr> floats;
        floats.reserve(x.size());
        for (const TypedExpr& e : x) floats.push_back(cast(l, e, {narrow, false}));
        return f(*call, floats);
    });
}

TypedExpr triangle(Memory& l, const TypedExpr& t, const TypedExpr& k, bool upper) {
    const std::shared_ptr<const Rows> inner = rows_of(l, t);
    Rows out = *inner;
    ++out.cost;
    out.at = [&l, inner, k, upper](std::span<const TypedExpr> index, bool same) {
        const TypedExpr x = inner->at(index, same);
        if (l.walk.finds_types()) return number(inner->type, ir::no_value);
        const Value row = value(l, index[index.size() - 2], DType::Int64), column = value(l, index.back(), DType::Int64);
        const Value to = l.builder.sub(column, row), from = value(l, k, DType::Int64);
        const Value on = upper ? l.builder.le(from, to) : l.builder.le(to, from);
        const Value zero = value(l, cast(l, integer(0), inner->type)), own = value(l, cast(l, x, inner->type));
        return number(inner->type, l.builder.select(on, own, zero));
    };
    return rows_expr(std::move(out));
}

}  // namespace pardo::lang

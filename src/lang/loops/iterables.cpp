// src/lang/loops/iterables.cpp: for over tuples, arrays, lists, and zip, enumerate, reversed and ndindex of these.
#include <algorithm>
#include <cstdlib>

#include "lang/array_expr/array_expr.h"
#include "lang/expressions.h"
#include "lang/loops/loops.h"
#include "lang/memory/lists.h"
#include "lang/memory/views.h"
#include "lang/numbers/failures.h"
#include "lang/numbers/numbers.h"
#include "lang/statements.h"

namespace pardo::lang {

namespace {

/// What `for` goes over: how many iterations, and what each gets; `fixed` where each iteration may get another type.
struct Walked {
    TypedExpr length;
    bool fixed = false;
    std::function<TypedExpr(const TypedExpr& i)> at;
    std::function<TypedExpr()> now{};  // how many there are by now, where iterations may change that: of lists
};

}  // namespace

namespace {

Walked walked(Lowering& l, const Tree& t);

void unrolled(Lowering& l, const Tree& t, const std::vector<TypedExpr>& items, std::size_t k) {
    for (; k < items.size(); ++k) {
        assign(l, t.parts[0], items[k], t.place);
        give(l, continue_flag, flag(false), t.place);
        block(l, t.parts[2].parts);
        give(l, continue_flag, flag(false), t.place);
        if (k + 1 == items.size() || !escapes(l)) continue;
        return go_on(l, t.place, [&] { unrolled(l, t, items, k + 1); });
    }
}

}  // namespace

namespace {

/// A tuple, or the first axis of an array.
Walked walked_value(Lowering& l, const Tree& t) {
    const TypedExpr s = settled(l, expression(l, t), t.place);
    if (s.kind() == Kind::List) {
        const TypedExpr length = list_length(l, s);
        return {length, false, [&l, s](const TypedExpr& i) { return list_item(l, s, view_at(l, s.list().elements(), std::span(&i, 1))); },
                [&l, s, length, &t] { return s.list().is_set ? same_length(l, s, length, t.place) : list_length(l, s); }};
    }
    if (s.kind() != Kind::Tuple && (s.kind() != Kind::Array || s.view().rank == 0))
        l.source.wrong_type(t.place, describe(s) + " cannot be looped over; arrays, tuples, range, enumerate and zip can");
    const TypedExpr& axis = is_array_of_structs(s) ? first_part(s) : s;  // of a struct of arrays its elements
    if (axis.kind() == Kind::Array && axis.view().rank == 0)
        l.source.wrong_type(t.place, describe(s) + " has no dimension that could be looped over");
    const bool fixed = axis.kind() == Kind::Tuple;
    const TypedExpr length = fixed ? integer(static_cast<std::int64_t>(s.tuple().items.size())) : axis.view().lead[1];
    return {length, fixed, [&l, s, &t](const TypedExpr& i) -> TypedExpr {
                if (is_array_of_structs(s)) return indexed(l, s, std::span(&i, 1), t);
                if (s.kind() == Kind::Tuple) {
                    if (!i.number().constant)
                        l.source.wrong_type(t.place, "a tuple cannot be looped over together with an array; use an array for both");
                    return field(l, s, static_cast<std::size_t>(i.number().scalar.i));
                }
                TypedExpr part = s;
                part.view() = part_at(l, s.view(), i);
                return part.view().rank == 0 ? element(l, part.view()) : part;
            }};
}

Walked walked_zip(Lowering& l, const Tree& t) {
    std::vector<Walked> all;
    bool strict = false, fixed = false;
    for (const Tree& p : t.parts) {
        if (p.form != Form::Keyword)
            all.push_back(walked(l, p));
        else if (p.name == "strict")
            strict = truth(l, expression(l, p.parts[0]), p.place).number().scalar.b;
        else
            l.source.wrong_type(p.place, "zip: the keyword `" + p.name + "` is not known");
    }
    if (all.empty()) l.source.wrong_type(t.place, "zip takes arrays or tuples");
    TypedExpr length = all[0].length;
    fixed = std::ranges::any_of(all, [](const Walked& w) { return w.fixed; }) &&
            std::ranges::all_of(all, [](const Walked& w) { return w.length.number().constant; });
    for (const Walked& w : all) {
        const TypedExpr& n = w.length;
        if (strict && &w != all.data()) {
            const TypedExpr differ = pure(l, Opcode::Ne, {DType::Bool, false}, {length, n}, DType::Int64);
            const std::string message = "zip: argument " + std::to_string(&w - all.data() + 1) + " has $0 items, those before it $1";
            fail_when(l, differ, ErrorCode::Value, message, t.place, {n, length});
        }
        if (length.number().constant && n.number().constant) {
            length = integer(std::min(length.number().scalar.i, n.number().scalar.i));
        } else if (&w != all.data()) {
            const auto bits = static_cast<std::uint8_t>(std::min(bits_of(length), bits_of(n)));
            const Value other = value(l, n, DType::Int64);
            length = number({DType::Int64, true}, l.builder.min(value(l, length, DType::Int64), other), 0);
            if (l.rules.exact) length.number().bits = bits;
        }
    }
    const auto at = [all](const TypedExpr& i) {
        std::vector<TypedExpr> items;
        items.reserve(all.size());
        for (const Walked& w : all) items.push_back(w.at(i));
        return tuple(std::move(items));
    };
    if (std::ranges::none_of(all, [](const Walked& w) { return static_cast<bool>(w.now); })) return {length, fixed, at};
    return {length, fixed, at, [&l, all] {
                TypedExpr least = all[0].now ? all[0].now() : all[0].length;
                for (const Walked& w : std::span(all).subspan(1))
                    least = pure(l, Opcode::Min, {DType::Int64, true}, {least, w.now ? w.now() : w.length}, DType::Int64);
                return least;
            }};
}

/// A range beside other things that are walked through.
Walked walked_range(Lowering& l, const Tree& t) {
    TypedExpr bounds[3];
    for (std::size_t k = 0; k < 3; ++k) {
        const TypedExpr given = number_in(l, expression(l, t.parts[k]));
        if (given.kind() != Kind::Number || !is_integer(given.number().type.dtype))
            l.source.wrong_type(t.parts[k].place, "range takes integers, not " + describe(given));
        bounds[k] = whole_to_int(l, given, t.parts[k].place, "range: ");
    }
    const TypedExpr &start = bounds[0], &step = bounds[2];
    TypedExpr& stop = bounds[1];
    if (!step.number().constant || step.number().scalar.i == 0)
        l.source.fail(ErrorCode::Value, t.parts[2].place,
                      "range: beside other things that are looped over, its step is a constant, and not zero");
    guard_range(l, start, stop, step, t.parts[1].place);
    const bool up = step.number().scalar.i > 0;
    const TypedExpr by = integer(std::abs(step.number().scalar.i));
    const TypedExpr span = up ? index_arithmetic(l, Opcode::Sub, stop, start) : index_arithmetic(l, Opcode::Sub, start, stop);
    const TypedExpr whole = index_arithmetic(l, Opcode::Add, span, integer(by.number().scalar.i - 1));
    const TypedExpr rounds = by.number().scalar.i == 1 ? span : pure(l, Opcode::FloorDiv, {DType::Int64, true}, {whole, by}, DType::Int64);
    TypedExpr length = pure(l, Opcode::Max, {DType::Int64, true}, {rounds, integer(0)}, DType::Int64);
    if (!length.number().constant) length.number().least = 0;
    return {length, false, [&l, start, step](const TypedExpr& i) {
                TypedExpr out = index_arithmetic(l, Opcode::Add, start, index_arithmetic(l, Opcode::Mul, i, step));
                return out;
            }};
}

/// np.ndindex(shape): tuples of indices, the last one fastest.
Walked walked_indices(Lowering& l, const Tree& t) {
    std::vector<TypedExpr> extents;
    for (const Tree& p : t.parts) {
        const TypedExpr given = loaded(l, expression(l, p));
        if (given.kind() == Kind::Tuple && t.parts.size() == 1)
            extents = given.tuple().items;
        else
            extents.push_back(number_in(l, given));
    }
    TypedExpr length = integer(1);
    for (TypedExpr& e : extents) {
        if (e.kind() != Kind::Number || !is_integer(e.number().type.dtype))
            l.source.wrong_type(t.place, "ndindex takes integers, or a shape, not " + describe(e));
        e = whole_to_int(l, e, t.place, "ndindex: ");
        TypedExpr negative = pure(l, Opcode::Lt, {DType::Bool, false}, {e, integer(0)}, DType::Int64);
        if (e.number().least < 0) fail_when(l, negative, ErrorCode::Value, "negative dimensions are not allowed", t.place, {});
        length = index_arithmetic(l, Opcode::Mul, length, e);
    }
    if (!length.number().constant) length.number().least = 0;
    return {length, false, [&l, extents](const TypedExpr& i) {
                std::vector<TypedExpr> index(extents.size());
                TypedExpr rest = i;
                for (std::size_t d = extents.size(); d-- > 0;) {
                    index[d] = d == 0 ? rest : pure(l, Opcode::Rem, {DType::Int64, true}, {rest, extents[d]}, DType::Int64);
                    if (d > 0) rest = pure(l, Opcode::FloorDiv, {DType::Int64, true}, {rest, extents[d]}, DType::Int64);
                    if (!index[d].number().constant) index[d].number().least = 0;
                }
                return tuple(std::move(index));
            }};
}

Walked walked(Lowering& l, const Tree& t) {
    if (t.form == Form::Call && t.name == "zip") return walked_zip(l, t);
    if (t.form == Form::Call && t.name == "range") return walked_range(l, t);
    if (t.form == Form::Call && t.name == "ndindex") return walked_indices(l, t);
    if (t.form == Form::Call && t.name == "reversed") {
        if (const Tree& of = t.parts[0]; of.form == Form::Call && of.name != "range")
            l.source.wrong_type(t.place,
                                "reversed takes an array, a tuple, a list or a range; enumerate and zip have no reverse in Python");
        const Walked inner = walked(l, t.parts[0]);
        const TypedExpr last = index_arithmetic(l, Opcode::Sub, inner.length, integer(1));
        return {inner.length, inner.fixed, [&l, inner, last](const TypedExpr& i) {
                    TypedExpr back = index_arithmetic(l, Opcode::Sub, last, i);
                    if (!back.number().constant) back.number().least = 0;
                    return inner.at(back);
                }};
    }
    if (t.form != Form::Call || t.name != "enumerate") return walked_value(l, t);
    if (t.parts.empty() || t.parts.size() > 2)
        l.source.wrong_type(t.place, "enumerate takes an array or a tuple, and where it begins to count");
    const Tree* begins = t.parts.size() == 1 ? nullptr : t.parts[1].form == Form::Keyword ? &t.parts[1].parts[0] : &t.parts[1];
    const TypedExpr begin = begins ? need_number(l, expression(l, *begins), t.place, "enumerate") : integer(0);
    const Walked inner = walked(l, t.parts[0]);
    return {inner.length, inner.fixed,
            [&l, begin, inner](const TypedExpr& i) {
                return tuple({add(l, begin, i), inner.at(i)});
            },
            inner.now};
}

/// Over lists, whose length is asked for before each iteration.
void while_there_are(Lowering& l, const Tree& t, const Walked& w) {
    const Variable outer_break = l.scope.at(break_flag), outer_continue = l.scope.at(continue_flag);
    give(l, break_flag, flag(false), t.place);
    give(l, continue_flag, flag(false), t.place);
    const std::string counter = "$index" + std::to_string(l.counters++);
    TypedExpr first = number({DType::Int64, true}, l.builder.i64(0), 0);
    first.number().bits = 46;
    set_variable(l, counter, first, t.place);
    const auto test = [&] { return pure(l, Opcode::Lt, {DType::Bool, false}, {l.scope.at(counter).expr, w.now()}, DType::Int64); };
    const auto body = [&] {
        const TypedExpr i = l.scope.at(counter).expr;
        TypedExpr next = index_arithmetic(l, Opcode::Add, i, integer(1));
        next.number().least = 0;
        next.number().bits = 46;
        set_variable(l, counter, next, t.place);
        assign(l, t.parts[0], w.at(i), t.place);
        block(l, t.parts[2].parts);
    };
    general_loop(l, t, {&t}, {counter}, test, body);
    after_loop(l, &t.parts[3], outer_break, outer_continue);
}

}  // namespace

void for_each(Lowering& l, const Tree& t) {
    const Walked w = walked(l, t.parts[1]);
    if (w.fixed) {
        std::vector<TypedExpr> items;
        for (std::int64_t k = 0; k < w.length.number().scalar.i; ++k) items.push_back(w.at(integer(k)));
        const Variable outer_break = l.scope.at(break_flag), outer_continue = l.scope.at(continue_flag);
        give(l, break_flag, flag(false), t.place);
        unrolled(l, t, items, 0);
        return after_loop(l, &t.parts[3], outer_break, outer_continue);
    }
    if (w.now) return while_there_are(l, t, w);
    ranged(l, t, integer(0), w.length, integer(1), t.parts[2], &t.parts[3],
           [&](const TypedExpr& i) { assign(l, t.parts[0], w.at(i), t.place); });
}

}  // namespace pardo::lang

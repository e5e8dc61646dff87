// src/lang/collections.cpp: lists and sets by their displays, what they hold, and those of Python's that a loop is given.
#include "lang/array_expr/array_expr.h"
#include "lang/expressions.h"
#include "lang/memory/lists.h"
#include "lang/memory/own.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"
#include "lang/statements.h"

namespace pardo::lang {

void take_lists(Lowering& l) {
    for (const GivenList& g : l.task.loop->lists) {
        const Variable v = l.scope.at(g.name);
        if (own_bytes(l) > 0)
            l.source.wrong_type(g.made.place, "`" + g.name + "` is a Python list, which only the CPU takes; use an array");
        if (g.filled) {
            const NumberType given{v.expr.view().dtype, g.weak}, found = l.lists.types.try_emplace(&g.made, given).first->second;
            if (l.walk.builds() && !(given == found) && !(g.grows && given.dtype == found.dtype))
                l.source.wrong_type(g.made.place, "`" + g.name + "` holds " + describe(given) + ", and the loop puts " + describe(found) +
                                                      " into it; start with one like these");
        }
        give(l, g.name, new_list(l, g.made, g.filled ? &v.expr : nullptr), v.place);
    }
}

void hand_lists(Lowering& l) {
    std::int64_t at = 0;
    for (const GivenList& g : l.task.loop->lists) {
        if (!g.changes) continue;
        const TypedExpr list = l.scope.at(g.name).expr;
        const View& out = l.scope.at(given_lists).expr.view();
        note_access(l, out, ir::Access::Write);
        const Value count = value(l, list_length(l, list), DType::Int64);
        const bool is_weak = list.list().type.weak;
        const Value facts[] = {
            l.builder.take_memory(list.list().elements().pointer, count), count,
            l.builder.i64(2 * static_cast<std::int64_t>(l.rules.dtype(list.list().type)) + static_cast<std::int64_t>(is_weak))};
        for (const Value fact : facts) l.builder.store(out.pointer, l.builder.i64(at++), fact);
    }
}

TypedExpr list_display(Lowering& l, const Tree& t) {
    std::vector<TypedExpr> values;
    for (const Tree& p : t.parts) values.push_back(loaded(l, expression(l, p)));
    const TypedExpr out = new_list(l, t);
    for (std::size_t k = 0; k < values.size(); ++k) {
        if (t.index == 0)
            list_append(l, out, values[k], t.parts[k].place);
        else
            add_to_set(l, out, values[k], t.parts[k].place);
    }
    return out;
}

void add_to_set(Lowering& l, const TypedExpr& set, const TypedExpr& item, const Place& place) {
    note_item(l, set, item, place);
    const TypedExpr known = contained(l, item, set, place);
    branch(
        l, known, place, [] {}, [&] { list_append(l, set, item, place); });
}

TypedExpr contained(Lowering& l, const TypedExpr& item, const TypedExpr& values, const Place& place) {
    if (values.kind() == Kind::Tuple && values.tuple().names.empty()) {
        TypedExpr out = flag(false);
        for (std::size_t k = 0; k < values.tuple().items.size(); ++k) {
            const TypedExpr same = compared(l, "==", item, field(l, values, k), place);
            if (same.kind() != Kind::Number)
                l.source.wrong_type(place, "`in` of a tuple compares numbers in a kernel; here are " + describe(item) + " and " +
                                               describe(values.tuple().items[k]));
            if (same.number().constant && same.number().scalar.b) return same;
            if (!same.number().constant)
                out = out.number().constant ? same : pure(l, Opcode::Or, {DType::Bool, false}, {out, same}, DType::Bool);
        }
        out.number().type.weak = true;  // as Python's
        return out;
    }
    const TypedExpr array = values.kind() == Kind::List ? elements_of(l, values) : values;
    if (!is_rows(array))
        l.source.wrong_type(place, "`in` looks through tuples, lists, sets and arrays of numbers in a kernel, not " + describe(values));
    const TypedExpr same = compared(l, "==", item, array, place);
    if (same.kind() == Kind::Number) return same;  // None and texts are in no array
    TypedExpr out = reduced(l, same, {RowReduction::Any, place, "in", {}, integer(0)}, TypedExpr(), false);
    out.number().type.weak = true;
    return out;
}

}  // namespace pardo::lang

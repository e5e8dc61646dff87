// src/lang/subscripts.cpp: subscripts: elements and parts of arrays, tuples, records and lists, and stores into these.
#include <algorithm>

#include "lang/array_expr/array_expr.h"
#include "lang/calls/user.h"
#include "lang/expressions.h"
#include "lang/memory/lists.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"
#include "lang/statements.h"

namespace pardo::lang {

namespace {

void store_at(Lowering& l, const TypedExpr& object, std::span<const TypedExpr> indices, const Tree& target, const TypedExpr& stored,
              const Place& place);
void note_own_element(Lowering& l, const View& v, std::span<const TypedExpr> indices);

}  // namespace

std::vector<TypedExpr> indices_of(Lowering& l, const Tree& t) {
    std::vector<TypedExpr> indices;
    for (std::size_t k = 1; k < t.parts.size(); ++k) indices.push_back(number_in(l, index_expression(l, t.parts[k])));
    if (indices.size() == 1 && indices[0].kind() == Kind::Tuple) return std::vector<TypedExpr>(indices[0].tuple().items);
    return indices;
}

namespace {

TypedExpr part_of(Lowering& l, const TypedExpr& object, const Tree& t) { return field(l, object, field_at(l, object, t)); }

}  // namespace

std::size_t field_at(Lowering& l, const TypedExpr& object, const Tree& t) {
    const TypedExpr index = t.form == Form::Attribute ? TypedExpr{t.name} : t.parts.size() < 2 ? tuple({}) : expression(l, t.parts[1]);
    if (index.kind() == Kind::Text) {
        const auto found = std::find(object.tuple().names.begin(), object.tuple().names.end(), index.text());
        if (found == object.tuple().names.end())
            l.source.fail(ErrorCode::Value, t.place, describe(object) + " has no field `" + index.text() + "`");
        return static_cast<std::size_t>(found - object.tuple().names.begin());
    }
    if (t.parts.size() != 2 || index.kind() != Kind::Number || !index.number().constant || !is_integer(index.number().type.dtype))
        l.source.wrong_type(t.place, "a tuple is indexed with a constant integer: which one it is must be known before the kernel runs");
    const auto n = static_cast<std::int64_t>(object.tuple().items.size());
    const std::int64_t i = index.number().scalar.i < 0 ? index.number().scalar.i + n : index.number().scalar.i;
    if (i < 0 || i >= n)
        l.source.fail(ErrorCode::Index, t.place,
                      "index " + std::to_string(index.number().scalar.i) + " is out of range for a tuple of " + std::to_string(n));
    return static_cast<std::size_t>(i);
}

TypedExpr subscript(Lowering& l, const Tree& t) {
    const TypedExpr object = settled(l, expression(l, t.parts[0]), t.place);
    if (object.kind() == Kind::Item || object.kind() == Kind::NdItem) {
        Tree call = t;
        call.form = Form::Method;
        call.name = object.kind() == Kind::Item ? "get_id" : "get_global_id";
        return call_method(l, call);
    }
    if (object.kind() == Kind::List) return list_item(l, object, list_place(l, object, indices_of(l, t), t));
    const bool elements = is_indexed(object) && (t.parts.size() < 2 || t.parts[1].form != Form::Text);
    if (object.kind() == Kind::Tuple && !elements && t.parts.size() == 2) {
        const TypedExpr index = expression(l, t.parts[1]);
        if (index.kind() == Kind::Number && !index.number().constant && is_integer(index.number().type.dtype))
            return item_at(l, object, index, t);
    }
    return object.kind() == Kind::Tuple && !elements ? part_of(l, object, t) : indexed(l, object, indices_of(l, t), t);
}

bool is_field(const Lowering& l, const TypedExpr& object, const Tree& target) {
    const bool named = target.form == Form::Attribute || (target.parts.size() == 2 && target.parts[1].form == Form::Text);
    if (object.kind() == Kind::Tuple && object.tuple().record) return named || is_element(object);
    const bool is_struct = object.kind() == Kind::Tuple && !object.tuple().names.empty();
    if (is_struct && (named || first_part(object).kind() != Kind::Array))
        l.source.wrong_type(target.place, "the fields of a struct do not change; make another: p = p._replace(" + object.tuple().names[0] +
                                              "=…), or points[i] = …");
    if (target.form == Form::Attribute) l.source.wrong_type(target.place, describe(object) + " has no attribute that could be assigned");
    return false;
}

void store(Lowering& l, const Tree& target, const TypedExpr& stored, const Place& place) {
    const TypedExpr object = expression(l, target.parts[0]);
    if (object.kind() == Kind::List && target.form == Form::Subscript) {
        const TypedExpr item = loaded(l, stored);
        const View at = list_place(l, object, indices_of(l, target), target);
        note_item(l, object, item, place);
        return l.lists.changed ? void() : store_element(l, at, item, place);
    }
    if (is_field(l, object, target))
        return store_into(l, object.tuple().items[field_at(l, object, target)], loaded(l, stored), target, place);
    if (object.kind() == Kind::Tuple && !is_indexed(object))
        l.source.wrong_type(target.place, "tuples do not change; make a new one, or use a private array");
    store_at(l, object, indices_of(l, target), target, loaded(l, stored), place);
}

namespace {

/// Structs go into structs of arrays field by field.
void store_at(Lowering& l, const TypedExpr& object, std::span<const TypedExpr> indices, const Tree& target, const TypedExpr& stored,
              const Place& place) {
    if (object.kind() == Kind::Tuple && object.tuple().record)
        return store_into(l, indexed(l, object, indices, target), stored, target, place);
    if (object.kind() == Kind::Tuple) {
        if (stored.kind() != Kind::Tuple || stored.tuple().items.size() != object.tuple().items.size() ||
            stored.tuple().names != object.tuple().names ||
            (stored.tuple().structure && object.tuple().structure && stored.tuple().structure != object.tuple().structure))
            l.source.wrong_type(place, "an element here is " + describe(object) + ", which cannot take " + describe(stored));
        for (std::size_t k = 0; k < object.tuple().items.size(); ++k)
            store_at(l, object.tuple().items[k], indices, target, stored.tuple().items[k], place);
        return;
    }
    if (object.kind() != Kind::Array) l.source.wrong_type(target.place, describe(object) + " has no elements that could be assigned");
    if (const int k = array_index(l.source, indices, place); k >= 0) {
        const TypedExpr& index = indices[static_cast<std::size_t>(k)];
        if (indices.size() == 1 && holds_bools(index)) {
            if (stored.kind() != Kind::Number)
                l.source.wrong_type(
                    place, "where a mask says so, a number is stored in a kernel, not " + describe(stored) + "; write np.where(…)");
            return store_masked(
                l, object.view(), index, [&](const TypedExpr&) { return stored; }, place);
        }
        return store_gathered(l, gathered(l, object.view(), indices, k, target), object.view().name, stored, place);
    }
    note_own_element(l, object.view(), indices);
    store_view(l, viewed(l, object.view(), indices, target), stored, place);
}

/// Notes a store to an argument's element at the item's own place, to which each item comes: where the index space has the array's shape,
/// nothing is left out.
void note_own_element(Lowering& l, const View& v, std::span<const TypedExpr> indices) {
    if (!l.builder.is_unconditional() || v.source < 0 || static_cast<std::size_t>(v.source) >= l.task.types.size()) return;
    const auto declared =
        std::ranges::find_if(l.arguments, [&](const TypedExpr& a) { return a.kind() == Kind::Array && a.view().source == v.source; });
    if (declared == l.arguments.end() || declared->view().pointer != v.pointer) return;
    if (!std::ranges::equal(v.lead, declared->view().lead, [&](const auto& a, const auto& b) { return known_equal(l.walk, a, b); })) return;
    const int rank = l.task.rank();
    if (v.rank != rank || indices.size() != static_cast<std::size_t>(rank)) return;
    for (int d = 0; d < rank; ++d) {
        const auto at = static_cast<std::size_t>(d);
        if (indices[at].kind() != Kind::Number || indices[at].number().constant || !is_integer(indices[at].number().type.dtype)) return;
        const Value index = value(l, indices[at]);
        if (l.task.loop ? at >= l.own_indices.size() || index != l.own_indices[at] : !l.builder.is_dim(index, d)) return;
    }
    l.out.own_elements[static_cast<std::size_t>(v.source)] = true;
}

}  // namespace

}  // namespace pardo::lang

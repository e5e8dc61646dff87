// src/lang/array_expr/stores.cpp: where the elements of array expressions go: into arrays, or into memory of the item's own.
#include <algorithm>

#include "lang/array_expr/parts.h"
#include "lang/memory/own.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang {

void store_rows(Memory& l, const View& target, const TypedExpr& stored, const Place& place, bool fits) {
    const auto rank = static_cast<std::size_t>(target.rank);
    const std::vector<TypedExpr> extents(target.lead.begin() + 1, target.lead.begin() + 1 + target.rank);
    TypedExpr from = is_rows(stored) ? rows_expr(*rows_of(l, stored)) : stored;
    require_fits(l.rules, target, from.kind() == Kind::Rows ? number(from.rows()->type, ir::no_value) : from, place);
    std::vector<Guard> guards = target.guards;
    std::vector<Equal> equal;
    bool inner_lanes = false;
    if (from.kind() == Kind::Rows) {
        const auto overlaps = [&](const View& read) {
            return (from.rows()->moved && read.source == target.source) || may_overlap(l.walk, l.task.options.distinct, read, target);
        };
        if (std::ranges::any_of(from.rows()->reads, overlaps)) from = rows_expr(*rows_of(l, settled(l, from, place)));
        if (l.walk.finds_types() && std::ranges::any_of(from.rows()->reads, [&](const View& read) { return read.source == target.source; }))
            note_own_memory(l, extents);  // whether they are the same elements is known when values are
        if (from.rows()->extents.size() > rank) {
            const std::size_t more = from.rows()->extents.size() - rank;
            if (!std::all_of(from.rows()->extents.begin(), from.rows()->extents.begin() + static_cast<std::ptrdiff_t>(more), is_one))
                l.source.fail(
                    ErrorCode::Value, place,
                    "a part of `" + target.name + "` with " + std::to_string(rank) + " dimensions cannot take " + describe(stored));
            Rows fewer = *from.rows();
            fewer.extents.erase(fewer.extents.begin(), fewer.extents.begin() + static_cast<std::ptrdiff_t>(more));
            fewer.at = [inner = from.rows(), more](std::span<const TypedExpr> index, bool same) {
                std::vector<TypedExpr> own(more, integer(0));
                own.insert(own.end(), index.begin(), index.end());
                return inner->at(own, same);
            };
            from = rows_expr(std::move(fewer));
        }
        const Rows& rows = *from.rows();
        guards.insert(guards.end(), rows.guards.begin(), rows.guards.end());
        equal = rows.equal;
        inner_lanes = rows.inner_lanes;
        const std::size_t skip = rank - rows.extents.size();
        for (std::size_t d = 0; d < rows.extents.size() && !fits; ++d) {
            const TypedExpr &whole = extents[skip + d], &part = rows.extents[d];
            if (is_one(part) || known_equal(l.walk, whole, part)) continue;
            if (whole.number().constant && part.number().constant)
                l.source.fail(ErrorCode::Value, place,
                              std::to_string(part.number().scalar.i) + " elements do not fill " + std::to_string(whole.number().scalar.i));
            equal.push_back({whole, part, true, place, l.source.function});
        }
    }
    View open = target;
    open.guards.clear();
    const auto run = [&](bool same) {
        nest(
            l, extents, same && !inner_lanes,
            [&](std::span<const TypedExpr> index) { store_element(l, view_at(l, open, index), element_at(l, from, index, same), place); },
            same);
        return ir::Builder::Values();
    };
    where_valid(l, guards, equal, run, {});
}

bool is_contiguous(Memory& l, const View& v) {
    const auto rank = static_cast<std::size_t>(v.rank);
    TypedExpr stride = integer(1);
    for (std::size_t d = rank; d-- > 0;) {
        const TypedExpr& own = v.lead[1 + rank + d];
        if (!known_equal(l.walk, own, stride)) return false;
        if (d > 0) stride = mul(l, stride, v.lead[1 + d]);
    }
    return true;
}

void store_gathered(Memory& l, const Gathered& target, const std::string& name, const TypedExpr& stored, const Place& place) {
    TypedExpr from = is_rows(stored) ? rows_expr(*rows_of(l, stored)) : stored;
    View like;
    like.dtype = target.rows.type.dtype;
    like.name = name;
    require_fits(l.rules, like, from.kind() == Kind::Rows ? number(from.rows()->type, ir::no_value) : from, place);
    std::vector<Guard> guards = target.rows.guards;
    std::vector<Equal> equal = target.rows.equal;
    const int source = target.rows.reads[0].source;
    if (from.kind() == Kind::Rows) {
        const auto reads_it = [&](const View& read) {
            return read.source == source || (read.source >= 0 && source >= 0 && !l.task.options.distinct);
        };
        if (std::ranges::any_of(from.rows()->reads, reads_it)) from = rows_expr(*rows_of(l, settled(l, from, place)));
        guards.insert(guards.end(), from.rows()->guards.begin(), from.rows()->guards.end());
        equal.insert(equal.end(), from.rows()->equal.begin(), from.rows()->equal.end());
        const std::size_t rank = target.rows.extents.size(), own = from.rows()->extents.size();
        if (own > rank) l.source.fail(ErrorCode::Value, place, describe(from) + " does not fill " + std::to_string(rank) + " dimensions");
        for (std::size_t d = 0; d < own; ++d) {
            const TypedExpr &whole = target.rows.extents[rank - own + d], &part = from.rows()->extents[d];
            if (is_one(part) || known_equal(l.walk, whole, part)) continue;
            if (whole.number().constant && part.number().constant)
                l.source.fail(ErrorCode::Value, place,
                              std::to_string(part.number().scalar.i) + " elements do not fill " + std::to_string(whole.number().scalar.i));
            equal.push_back({whole, part, true, place, l.source.function});
        }
    }
    where_valid(l, guards, equal,
                [&](bool same) {
                    nest(l, target.rows.extents, false, [&](std::span<const TypedExpr> index) {
                        store_element(l, target.view(index), element_at(l, from, index, same), place);
                    });
                    return ir::Builder::Values();
                },
                {});
}

TypedExpr settled(Memory& l, const TypedExpr& t, const Place& place) {
    if (t.kind() == Kind::Tuple) {
        TypedExpr out = t;
        for (TypedExpr& item : out.tuple().items) item = settled(l, item, place);
        return out;
    }
    if (t.kind() != Kind::Rows) return t;
    const TypedExpr memory = own_memory(l, "temporary", t.rows()->type.dtype, t.rows()->extents, place);
    store_rows(l, memory.view(), t, place, true);
    return memory;
}

void store_view(Memory& l, const View& v, const TypedExpr& stored, const Place& place) {
    if (stored.kind() == Kind::Tuple) {
        if (v.rank != 1)
            l.source.wrong_type(place, "a tuple fills one dimension, and this part of `" + v.name + "` has " + std::to_string(v.rank));
        const TypedExpr& extent = v.lead[1];
        if (extent.number().constant && extent.number().scalar.i != static_cast<std::int64_t>(stored.tuple().items.size()))
            l.source.fail(ErrorCode::Value, place,
                          "a tuple of " + std::to_string(stored.tuple().items.size()) + " does not fill " +
                              std::to_string(extent.number().scalar.i) + " elements");
        for (std::size_t k = 0; k < stored.tuple().items.size(); ++k) {
            const View one = part_at(l, v, integer(static_cast<std::int64_t>(k)));
            store_element(l, one, stored.tuple().items[k], place);
        }
        return;
    }
    const TypedExpr value = number_in(l, stored);
    if (v.rank == 0) return store_element(l, v, value, place);
    store_rows(l, v, value, place);
}

void store_into(Memory& l, const TypedExpr& object, const TypedExpr& stored, const Tree& target, const Place& place) {
    if (object.kind() == Kind::Array) return store_view(l, object.view(), stored, place);
    if (stored.kind() != Kind::Tuple || stored.tuple().items.size() != object.tuple().items.size() ||
        (!stored.tuple().names.empty() && stored.tuple().names != object.tuple().names))
        l.source.wrong_type(place, "here is " + describe(object) + ", which cannot take " + describe(stored));
    for (std::size_t k = 0; k < object.tuple().items.size(); ++k)
        store_into(l, object.tuple().items[k], stored.tuple().items[k], target, place);
}

}  // namespace pardo::lang

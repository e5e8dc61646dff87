// src/lang/array_expr/stores.cpp: where the elements of array expressions go: into arrays, or into memory of the item's own.
#include <algorithm>

#include "lang/array_expr/array_expr.h"
#include "lang/lowering.h"

namespace pardo::lang {

/// target[…] = an expression on arrays, or a number, which fills it. `fits`: the shapes are known to be the same.
void Lowering::store_rows(const View& target, const TypedExpr& stored, const Place& place, bool fits) {
    const auto rank = static_cast<std::size_t>(target.rank);
    const std::vector<TypedExpr> extents(target.lead.begin() + 1, target.lead.begin() + 1 + target.rank);
    TypedExpr from = is_rows(stored) ? rows_expr(*rows_of(stored)) : stored;
    require_fits(rules(), target, from.kind() == Kind::Rows ? number(from.rows()->type, ir::no_value) : from, place);
    std::vector<Guard> guards = target.guards;
    std::vector<Equal> equal;
    bool inner_lanes = false;
    if (from.kind() == Kind::Rows) {
        const auto overlaps = [&](const View& read) {
            return (from.rows()->moved && read.source == target.source) || may_overlap(walk_, options_.distinct, read, target);
        };
        if (std::ranges::any_of(from.rows()->reads, overlaps)) from = rows_expr(*rows_of(settled(from, place)));
        if (walk_.finds_types() && std::ranges::any_of(from.rows()->reads, [&](const View& read) { return read.source == target.source; }))
            note_own_memory(extents);  // whether they are the same elements is known when values are
        if (from.rows()->extents.size() > rank) {
            const std::size_t more = from.rows()->extents.size() - rank;
            if (!std::all_of(from.rows()->extents.begin(), from.rows()->extents.begin() + static_cast<std::ptrdiff_t>(more), is_one))
                fail(ErrorCode::Value, place,
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
            if (is_one(part) || known_equal(walk_, whole, part)) continue;
            if (whole.number().constant && part.number().constant)
                fail(ErrorCode::Value, place,
                     std::to_string(part.number().scalar.i) + " elements do not fill " + std::to_string(whole.number().scalar.i));
            equal.push_back({whole, part, true, place, source_.function});
        }
    }
    View open = target;
    open.guards.clear();
    const auto run = [&](bool same) {
        nest(
            extents, same && !inner_lanes,
            [&](std::span<const TypedExpr> index) { store_element(view_at(open, index), element_at(from, index, same), place); }, same);
        return ir::Builder::Values();
    };
    where_valid(guards, equal, run, {});
}

/// Memory of the item's own, row by row, without values. Small constant shapes are private arrays; others take what they need when they
/// are met.
TypedExpr Lowering::own_memory(const std::string& name, DType dtype, const std::vector<TypedExpr>& extents, const Place& place) {
    constexpr std::int64_t most_private = 65536, many = std::int64_t(1) << 46;
    TypedExpr t = own_view(name, dtype, extents.size());
    std::int64_t count = 1;
    bool known = true;
    for (const TypedExpr& e : extents) {
        known = known && e.number().constant;
        if (e.number().constant && e.number().scalar.i < 0) fail(ErrorCode::Value, place, "negative dimensions are not allowed");
        if (e.number().constant && __builtin_mul_overflow(count, e.number().scalar.i, &count)) count = many;
    }
    std::vector<TypedExpr> sizes = extents;
    if (known && count <= most_private / itemsize(dtype)) {
        if (walk_.builds())
            t.view().pointer = builder_.array(name, dtype, std::max<std::int64_t>(count, 1), ir::Space::Private, lanes_.are_row_loops());
    } else {
        sized_memory(t.view(), sizes, place);
    }
    t.view().lead.push_back(integer(0));
    t.view().lead.insert(t.view().lead.end(), sizes.begin(), sizes.end());
    std::vector<TypedExpr> strides;
    TypedExpr stride = integer(1);
    for (std::size_t d = sizes.size(); d-- > 0;) {
        strides.insert(strides.begin(), stride);
        if (d > 0) stride = mul(stride, sizes[d]);
    }
    t.view().lead.insert(t.view().lead.end(), strides.begin(), strides.end());
    return t;
}

/// Notes in a walk for types that memory of the item's own may be needed.
void Lowering::note_own_memory(const std::vector<TypedExpr>& extents) {
    if (std::ranges::all_of(extents, [](const TypedExpr& e) { return e.number().constant; })) return;
    need_own_memory();
}

void Lowering::need_own_memory() {
    lanes_.met_rows = host_.uses_status = true;
    lanes_.scalar_items = lanes_.scalar_items || own_bytes() == 0;
}

/// The bytes of arrays whose size is known when the kernel runs; 0: as many as it takes. Items of groups are there all at once.
std::int64_t Lowering::own_bytes() const {
    constexpr std::int64_t in_groups = 2048;
    return options_.own_bytes == 0 && !space_.group_size.empty() ? in_groups : options_.own_bytes;
}

/// Gives a view memory for so many elements as the kernel finds when it runs. Where there is none, the extents are 0.
void Lowering::sized_memory(View& view, std::vector<TypedExpr>& extents, const Place& place) {
    need_own_memory();
    const std::int64_t room = own_bytes() / itemsize(view.dtype);
    const bool known = std::ranges::all_of(extents, [](const TypedExpr& e) { return e.number().constant; });
    if (room > 0 && known && !count_fits(extents, room))
        fail(ErrorCode::Value, place,
             "an array of one item takes at most " + std::to_string(own_bytes()) + " bytes here; use an argument for more");
    if (walk_.finds_types()) {
        for (TypedExpr& e : extents)
            if (!e.number().constant) e = number({DType::Int64, true}, ir::no_value, 0);
        return;
    }
    const std::int64_t most = std::int64_t(1) << (62 / static_cast<std::int64_t>(extents.size()));
    Value natural = builder_.boolean(true), few = natural, count = builder_.i64(1);
    for (const TypedExpr& e : extents) {
        const Value n = value(e, DType::Int64), zero = builder_.i64(0);
        if (e.number().least < 0) natural = builder_.bit_and(natural, builder_.le(zero, n));
        few = builder_.bit_and(few, builder_.le(n, builder_.i64(most)));
        count = builder_.mul(count, builder_.max(builder_.min(n, builder_.i64(most)), zero));
    }
    if (view.pointer == ir::no_value) view.pointer = builder_.array(view.name, view.dtype, room, ir::Space::Private);
    const Value made = room > 0 ? builder_.le(count, builder_.i64(room)) : builder_.resize(view.pointer, count);
    const Value fits = builder_.bit_and(made, few), valid = builder_.bit_and(fits, natural);
    TypedExpr bad = number({DType::Bool, false}, builder_.bit_not(natural));
    if (std::ranges::any_of(extents, [](const TypedExpr& e) { return e.number().least < 0; }))
        fail_when(bad, ErrorCode::Value, "negative dimensions are not allowed", place, {});
    bad.number().value = builder_.bit_not(fits);
    const std::string most_text = room > 0 ? ": an item has room for " + std::to_string(room) + " here; pass an array for more" : "";
    fail_when(bad, ErrorCode::Memory, "there is no memory for `" + view.name + "` of $0 elements" + most_text, place,
              {number({DType::Int64, true}, count)});
    for (TypedExpr& e : extents) {
        TypedExpr size = number({DType::Int64, true}, builder_.select(valid, value(e, DType::Int64), builder_.i64(0)), 0);
        size.number().bits = e.number().bits;
        e = size;
    }
}

/// Whether its elements are one after the other, row by row, as far as is known now.
bool Lowering::is_contiguous(const View& v) {
    const auto rank = static_cast<std::size_t>(v.rank);
    TypedExpr stride = integer(1);
    for (std::size_t d = rank; d-- > 0;) {
        const TypedExpr& own = v.lead[1 + rank + d];
        if (!known_equal(walk_, own, stride)) return false;
        if (d > 0) stride = mul(stride, v.lead[1 + d]);
    }
    return true;
}

/// x[places] = an expression or a number: one after the other, so that of those for one place the last stays.
void Lowering::store_gathered(const Gathered& target, const std::string& name, const TypedExpr& stored, const Place& place) {
    TypedExpr from = is_rows(stored) ? rows_expr(*rows_of(stored)) : stored;
    View like;
    like.dtype = target.rows.type.dtype;
    like.name = name;
    require_fits(rules(), like, from.kind() == Kind::Rows ? number(from.rows()->type, ir::no_value) : from, place);
    std::vector<Guard> guards = target.rows.guards;
    std::vector<Equal> equal = target.rows.equal;
    const int source = target.rows.reads[0].source;
    if (from.kind() == Kind::Rows) {
        const auto reads_it = [&](const View& read) {
            return read.source == source || (read.source >= 0 && source >= 0 && !options_.distinct);
        };
        if (std::ranges::any_of(from.rows()->reads, reads_it)) from = rows_expr(*rows_of(settled(from, place)));
        guards.insert(guards.end(), from.rows()->guards.begin(), from.rows()->guards.end());
        equal.insert(equal.end(), from.rows()->equal.begin(), from.rows()->equal.end());
        const std::size_t rank = target.rows.extents.size(), own = from.rows()->extents.size();
        if (own > rank) fail(ErrorCode::Value, place, describe(from) + " does not fill " + std::to_string(rank) + " dimensions");
        for (std::size_t d = 0; d < own; ++d) {
            const TypedExpr &whole = target.rows.extents[rank - own + d], &part = from.rows()->extents[d];
            if (is_one(part) || known_equal(walk_, whole, part)) continue;
            if (whole.number().constant && part.number().constant)
                fail(ErrorCode::Value, place,
                     std::to_string(part.number().scalar.i) + " elements do not fill " + std::to_string(whole.number().scalar.i));
            equal.push_back({whole, part, true, place, source_.function});
        }
    }
    where_valid(guards, equal,
                [&](bool same) {
                    nest(target.rows.extents, false, [&](std::span<const TypedExpr> index) {
                        store_element(target.view(index), element_at(from, index, same), place);
                    });
                    return ir::Builder::Values();
                },
                {});
}

/// The elements of an expression on arrays put into memory; the arrays of a tuple too. Others are what they were.
TypedExpr Lowering::settled(const TypedExpr& t, const Place& place) {
    if (t.kind() == Kind::Tuple) {
        TypedExpr out = t;
        for (TypedExpr& item : out.tuple().items) item = settled(item, place);
        return out;
    }
    if (t.kind() != Kind::Rows) return t;
    const TypedExpr memory = own_memory("temporary", t.rows()->type.dtype, t.rows()->extents, place);
    store_rows(memory.view(), t, place, true);
    return memory;
}

}  // namespace pardo::lang

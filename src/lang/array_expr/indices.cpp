// src/lang/array_expr/indices.cpp: arrays as indices, masks, and the same elements in another shape.
#include <algorithm>

#include "lang/array_expr/array_expr.h"
#include "lang/lowering.h"

namespace pardo::lang {

namespace {}  // namespace

/// x[…, places, …]: for each place the element, or what is behind it, that it names.
Lowering::Gathered Lowering::gathered(const View& v, std::span<const TypedExpr> indices, int k, const Tree& t) {
    const auto at = static_cast<std::size_t>(k);
    const TypedExpr places = settled(indices[at], t.place);
    if (!is_integer(element_type(places).dtype)) wrong_type(t.place, "an array of indices holds integers, not " + describe(places));
    std::vector<TypedExpr> others(indices.begin(), indices.end());
    others[at] = whole_axis();
    std::size_t axis = 0;
    for (std::size_t d = 0; d < at; ++d) axis += indices[d].kind() == Kind::Number ? 0 : 1;
    Gathered g;
    const View base = viewed(v, others, t);
    const std::size_t many = static_cast<std::size_t>(places.view().rank), rank = static_cast<std::size_t>(base.rank);
    g.rows.type = {v.dtype, false};
    g.rows.guards = base.guards;
    g.rows.guards.insert(g.rows.guards.end(), places.view().guards.begin(), places.view().guards.end());
    g.rows.reads = {base, places.view()};
    g.rows.moved = true;
    g.rows.cost = 4;
    g.rows.extents.assign(base.lead.begin() + 1, base.lead.begin() + 1 + base.rank);
    g.rows.extents.erase(g.rows.extents.begin() + static_cast<std::ptrdiff_t>(axis));
    g.rows.extents.insert(g.rows.extents.begin() + static_cast<std::ptrdiff_t>(axis), places.view().lead.begin() + 1,
                          places.view().lead.begin() + 1 + places.view().rank);
    View open = base, names = places.view();
    open.guards.clear();
    names.guards.clear();
    const TypedExpr extent = base.lead[1 + axis];
    g.view = [this, open, names, axis, many, rank, extent, place = t.place](std::span<const TypedExpr> index) {
        const TypedExpr name = element(view_at(names, index.subspan(axis, many)));
        View one = open;
        std::vector<TypedExpr> own(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(axis));
        own.push_back(index_of(name, extent, place, one.guards));
        own.insert(own.end(), index.begin() + static_cast<std::ptrdiff_t>(axis + many), index.end());
        own.resize(rank);
        return view_at(one, own);
    };
    g.rows.at = [this, view = g.view](std::span<const TypedExpr> index, bool) { return element(view(index)); };
    return g;
}

/// The mask of an array: of its shape.
TypedExpr Lowering::mask_of(const View& v, const TypedExpr& mask, const Place& place, std::vector<Guard>& guards) {
    const TypedExpr out = mask.kind() == Kind::Array ? rows_expr(*rows_of(mask)) : mask;
    const std::vector<TypedExpr>& extents = out.rows()->extents;
    if (extents.size() != static_cast<std::size_t>(v.rank))
        fail(ErrorCode::Index, place,
             "in a kernel a mask has the dimensions of the array; here are " + describe(mask) + ", and " + std::to_string(v.rank));
    for (std::size_t d = 0; d < extents.size(); ++d)
        require_same(v.lead[1 + d], extents[d], "boolean index did not match indexed array", place, guards);
    guards.insert(guards.end(), v.guards.begin(), v.guards.end());
    guards.insert(guards.end(), out.rows()->guards.begin(), out.rows()->guards.end());
    return out;
}

/// x[mask]: the elements where it is true, one after the other.
TypedExpr Lowering::compressed(const View& v, const TypedExpr& given, const Place& place) {
    std::vector<Guard> guards;
    const TypedExpr mask = mask_of(v, settled(given, place), place, guards);
    const std::shared_ptr<const Rows> rows = mask.rows();
    TypedExpr count = reduced(mask, {RowReduction::CountNonzero, place, "mask", {}, integer(0)}, TypedExpr(), false);
    count = cast(count, {DType::Int64, true});
    count.number().least = 0;
    const TypedExpr out = own_memory("masked", v.dtype, {count}, place);
    View open = v;
    open.guards.clear();
    const std::vector<TypedExpr> extents(v.lead.begin() + 1, v.lead.begin() + 1 + v.rank);
    std::vector<TypedExpr> index(extents.size());
    const auto walk = [&](std::size_t d, Value next, const auto& self) -> Value {
        if (d == extents.size()) {
            const TypedExpr on = rows->at(index, true), x = element(view_at(open, index));
            const auto put = [&] {
                const TypedExpr to[] = {number({DType::Int64, true}, next, 0)};
                store_element(view_at(out.view(), to), x, place);
                return ir::Builder::Values{walk_.value([&] { return builder_.add(next, builder_.i64(1)); })};
            };
            if (walk_.finds_types()) return put()[0];
            // Where there is no memory nothing is put.
            const Value room = builder_.lt(next, value(out.view().lead[1], DType::Int64));
            return builder_.if_else(builder_.bit_and(value(on, DType::Bool), room), put, [&] { return ir::Builder::Values{next}; })[0];
        }
        if (walk_.finds_types()) {
            index[d] = number({DType::Int64, true}, ir::no_value, 0);
            return self(d + 1, next, self);
        }
        return builder_.for_loop(builder_.i64(0), value(extents[d], DType::Int64), builder_.i64(1), std::span(&next, 1),
                                 [&](Value i, std::span<const Value> carried) {
                                     index[d] = number({DType::Int64, true}, i, 0);
                                     return ir::Builder::Values{self(d + 1, carried[0], self)};
                                 })[0];
    };
    where_valid(guards, rows->equal,
                [&](bool) {
                    walk(0, walk_.value([&] { return builder_.i64(0); }), walk);
                    return ir::Builder::Values();
                },
                {});
    return out;
}

/// x[mask] = a number, or in place: `changed` makes the new element of the old one.
void Lowering::store_masked(const View& v, const TypedExpr& given, const std::function<TypedExpr(const TypedExpr& old)>& changed,
                            const Place& place) {
    std::vector<Guard> guards;
    TypedExpr mask = mask_of(v, given, place, guards);
    if (std::ranges::any_of(mask.rows()->reads, [&](const View& read) {
            return may_overlap(walk_, options_.distinct, read, v) || (mask.rows()->moved && read.source == v.source);
        }))
        mask = rows_expr(*rows_of(settled(given, place)));
    const std::vector<TypedExpr> extents(v.lead.begin() + 1, v.lead.begin() + 1 + v.rank);
    if (walk_.finds_types() && std::ranges::any_of(mask.rows()->reads, [&](const View& read) { return read.source == v.source; }))
        note_own_memory(extents);
    View open = v;
    open.guards.clear();
    where_valid(guards, mask.rows()->equal,
                [&](bool same) {
                    const auto put_where = [&](std::span<const TypedExpr> index) {
                        const View one = view_at(open, index);
                        const auto put = [&] {
                            store_element(one, changed(element(one)), place);
                            return ir::Builder::Values();
                        };
                        const TypedExpr on = truth(mask.rows()->at(index, same), place);
                        if (walk_.finds_types())
                            put();
                        else
                            builder_.if_else(value(on, DType::Bool), put, [] { return ir::Builder::Values(); });
                    };
                    nest(extents, same && !mask.rows()->inner_lanes, put_where, same);
                    return ir::Builder::Values();
                },
                {});
}

/// The elements row by row in another shape: where they lie, if they are one after the other; else copied.
TypedExpr Lowering::reshaped(const TypedExpr& given, std::vector<TypedExpr> shape, const std::string& op_name, const Place& place) {
    TypedExpr whole = settled(given, place);
    const bool known = is_contiguous(whole.view());
    const std::vector<TypedExpr> extents(whole.view().lead.begin() + 1, whole.view().lead.begin() + 1 + whole.view().rank);
    if (walk_.finds_types()) note_own_memory(extents);
    if (!known) whole = settled(each({whole}, 0, place, [](const std::vector<TypedExpr>& x) { return x[0]; }), place);
    const TypedExpr size = count_of(extents);
    TypedExpr product = integer(1);
    TypedExpr* open = nullptr;
    for (TypedExpr& e : shape) {
        if (!(e.number().constant && e.number().scalar.i == -1)) {
            product = mul(product, e);
        } else if (open) {
            fail(ErrorCode::Value, place, op_name + ": can only specify one unknown dimension");
        } else {
            open = &e;
        }
    }
    if (open) {
        *open = number({DType::Int64, true}, ir::no_value, 0);
        if (walk_.builds()) {
            const Value known = builder_.max(value(product, DType::Int64), builder_.i64(1));
            open->number().value = builder_.floor_div(value(size, DType::Int64), known);
        }
        product = mul(product, *open);
    }
    std::vector<Guard> guards;
    require_same(size, product, op_name + ": the numbers of elements differ", place, guards);
    TypedExpr out = whole;
    out.view().rank = static_cast<int>(shape.size());
    out.view().guards.insert(out.view().guards.end(), guards.begin(), guards.end());
    std::vector<TypedExpr> strides;
    TypedExpr stride = integer(1);
    for (std::size_t d = shape.size(); d-- > 0;) {
        strides.insert(strides.begin(), stride);
        if (d > 0) stride = mul(stride, shape[d]);
    }
    out.view().lead = {whole.view().lead[0]};
    out.view().lead.insert(out.view().lead.end(), shape.begin(), shape.end());
    out.view().lead.insert(out.view().lead.end(), strides.begin(), strides.end());
    return out;
}

}  // namespace pardo::lang

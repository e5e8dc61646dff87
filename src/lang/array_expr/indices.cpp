// src/lang/array_expr/indices.cpp: arrays as indices, masks, and the same elements in another shape.
#include <algorithm>

#include "lang/array_expr/parts.h"
#include "lang/memory/own.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang {

Gathered gathered(Memory& l, const View& v, std::span<const TypedExpr> indices, int k, const Tree& t) {
    const auto at = static_cast<std::size_t>(k);
    const TypedExpr places = settled(l, indices[at], t.place);
    if (!is_integer(element_type(places).dtype))
        l.source.wrong_type(t.place, "an array of indices holds integers, not " + describe(places));
    std::vector<TypedExpr> others(indices.begin(), indices.end());
    others[at] = whole_axis();
    std::size_t axis = 0;
    for (std::size_t d = 0; d < at; ++d) axis += indices[d].kind() == Kind::Number ? 0 : 1;
    Gathered g;
    const View base = viewed(l, v, others, t);
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
    g.view = [&l, open, names, axis, many, rank, extent, place = t.place](std::span<const TypedExpr> index) {
        const TypedExpr name = element(l, view_at(l, names, index.subspan(axis, many)));
        View one = open;
        std::vector<TypedExpr> own(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(axis));
        own.push_back(index_of(l, name, extent, place, one.guards));
        own.insert(own.end(), index.begin() + static_cast<std::ptrdiff_t>(axis + many), index.end());
        own.resize(rank);
        return view_at(l, one, own);
    };
    g.rows.at = [&l, view = g.view](std::span<const TypedExpr> index, bool) { return element(l, view(index)); };
    return g;
}

namespace {

/// The mask of an array: of its shape.
TypedExpr mask_of(Memory& l, const View& v, const TypedExpr& mask, const Place& place, std::vector<Guard>& guards) {
    const TypedExpr out = mask.kind() == Kind::Array ? rows_expr(*rows_of(l, mask)) : mask;
    const std::vector<TypedExpr>& extents = out.rows()->extents;
    if (extents.size() != static_cast<std::size_t>(v.rank))
        l.source.fail(ErrorCode::Index, place,
                      "in a kernel a mask has the dimensions of the array; here are " + describe(mask) + ", and " + std::to_string(v.rank));
    for (std::size_t d = 0; d < extents.size(); ++d)
        require_same(l, v.lead[1 + d], extents[d], "boolean index did not match indexed array", place, guards);
    guards.insert(guards.end(), v.guards.begin(), v.guards.end());
    guards.insert(guards.end(), out.rows()->guards.begin(), out.rows()->guards.end());
    return out;
}

/// x[mask]: the elements where it is true, one after the other.
TypedExpr compressed(Memory& l, const View& v, const TypedExpr& given, const Place& place) {
    std::vector<Guard> guards;
    const TypedExpr mask = mask_of(l, v, settled(l, given, place), place, guards);
    const std::shared_ptr<const Rows>& rows = mask.rows();
    TypedExpr count = reduced(l, mask, {RowReduction::CountNonzero, place, "mask", {}, integer(0)}, TypedExpr(), false);
    count = cast(l, count, {DType::Int64, true});
    count.number().least = 0;
    const TypedExpr out = own_memory(l, "masked", v.dtype, {count}, place);
    View open = v;
    open.guards.clear();
    const std::vector<TypedExpr> extents(v.lead.begin() + 1, v.lead.begin() + 1 + v.rank);
    std::vector<TypedExpr> index(extents.size());
    const auto walk = [&](std::size_t d, Value next, const auto& self) -> Value {
        if (d == extents.size()) {
            const TypedExpr on = rows->at(index, true), x = element(l, view_at(l, open, index));
            const auto put = [&] {
                const TypedExpr to[] = {number({DType::Int64, true}, next, 0)};
                store_element(l, view_at(l, out.view(), to), x, place);
                return ir::Builder::Values{l.builder.add(next, l.builder.i64(1))};
            };
            if (l.walk.finds_types()) return put()[0];
            // Where there is no memory nothing is put.
            const Value room = l.builder.lt(next, value(l, out.view().lead[1], DType::Int64));
            return l.builder.if_else(l.builder.bit_and(value(l, on, DType::Bool), room), put, [&] { return ir::Builder::Values{next}; })[0];
        }
        if (l.walk.finds_types()) {
            index[d] = number({DType::Int64, true}, ir::no_value, 0);
            return self(d + 1, next, self);
        }
        return l.builder.for_loop(l.builder.i64(0), value(l, extents[d], DType::Int64), l.builder.i64(1), std::span(&next, 1),
                                  [&](Value i, std::span<const Value> carried) {
                                      index[d] = number({DType::Int64, true}, i, 0);
                                      return ir::Builder::Values{self(d + 1, carried[0], self)};
                                  })[0];
    };
    where_valid(l, guards, rows->equal,
                [&](bool) {
                    walk(0, l.builder.i64(0), walk);
                    return ir::Builder::Values();
                },
                {});
    return out;
}

}  // namespace

void store_masked(Memory& l, const View& v, const TypedExpr& given, const std::function<TypedExpr(const TypedExpr& old)>& changed,
                  const Place& place) {
    std::vector<Guard> guards;
    TypedExpr mask = mask_of(l, v, given, place, guards);
    if (std::ranges::any_of(mask.rows()->reads, [&](const View& read) {
            return may_overlap(l.walk, l.task.options.distinct, read, v) || (mask.rows()->moved && read.source == v.source);
        }))
        mask = rows_expr(*rows_of(l, settled(l, given, place)));
    const std::vector<TypedExpr> extents(v.lead.begin() + 1, v.lead.begin() + 1 + v.rank);
    if (l.walk.finds_types() && std::ranges::any_of(mask.rows()->reads, [&](const View& read) { return read.source == v.source; }))
        note_own_memory(l, extents);
    View open = v;
    open.guards.clear();
    where_valid(l, guards, mask.rows()->equal,
                [&](bool same) {
                    const auto put_where = [&](std::span<const TypedExpr> index) {
                        const View one = view_at(l, open, index);
                        const auto put = [&] {
                            store_element(l, one, changed(element(l, one)), place);
                            return ir::Builder::Values();
                        };
                        const TypedExpr on = number_truth(l, mask.rows()->at(index, same));
                        if (l.walk.finds_types())
                            put();
                        else
                            l.builder.if_else(value(l, on, DType::Bool), put, [] { return ir::Builder::Values(); });
                    };
                    nest(l, extents, same && !mask.rows()->inner_lanes, put_where, same);
                    return ir::Builder::Values();
                },
                {});
}

TypedExpr reshaped(Memory& l, const TypedExpr& given, std::vector<TypedExpr> shape, const std::string& op_name, const Place& place) {
    TypedExpr whole = settled(l, given, place);
    const bool known = is_contiguous(l, whole.view());
    const std::vector<TypedExpr> extents(whole.view().lead.begin() + 1, whole.view().lead.begin() + 1 + whole.view().rank);
    if (l.walk.finds_types()) note_own_memory(l, extents);
    if (!known) whole = settled(l, each(l, {whole}, 0, place, [](const std::vector<TypedExpr>& x) { return x[0]; }), place);
    const TypedExpr size = count_of(l, extents);
    TypedExpr product = integer(1);
    TypedExpr* open = nullptr;
    for (TypedExpr& e : shape) {
        if (!(e.number().constant && e.number().scalar.i == -1)) {
            product = mul(l, product, e);
        } else if (open) {
            l.source.fail(ErrorCode::Value, place, op_name + ": can only specify one unknown dimension");
        } else {
            open = &e;
        }
    }
    if (open) {
        *open = number({DType::Int64, true}, ir::no_value, 0);
        const Value known = l.builder.max(value(l, product, DType::Int64), l.builder.i64(1));
        open->number().value = l.builder.floor_div(value(l, size, DType::Int64), known);
        product = mul(l, product, *open);
    }
    std::vector<Guard> guards;
    require_same(l, size, product, op_name + ": the numbers of elements differ", place, guards);
    TypedExpr out = whole;
    out.view().rank = static_cast<int>(shape.size());
    out.view().guards.insert(out.view().guards.end(), guards.begin(), guards.end());
    std::vector<TypedExpr> strides;
    TypedExpr stride = integer(1);
    for (std::size_t d = shape.size(); d-- > 0;) {
        strides.insert(strides.begin(), stride);
        if (d > 0) stride = mul(l, stride, shape[d]);
    }
    out.view().lead = {whole.view().lead[0]};
    out.view().lead.insert(out.view().lead.end(), shape.begin(), shape.end());
    out.view().lead.insert(out.view().lead.end(), strides.begin(), strides.end());
    return out;
}

TypedExpr indexed(Memory& l, const TypedExpr& object, std::span<const TypedExpr> indices, const Tree& t) {
    if (object.kind() == Kind::Tuple) {
        TypedExpr out = tuple_like(object, {});
        out.tuple().columns = false;
        if (object.tuple().record) {
            const auto is_slice = [](const TypedExpr& i) { return i.kind() == Kind::Slice; };
            if (indices.size() > static_cast<std::size_t>(object.tuple().dimensions))
                l.source.fail(ErrorCode::Index, t.place,
                              describe(object) + " has " + std::to_string(object.tuple().dimensions) +
                                  (object.tuple().dimensions == 1 ? " dimension" : " dimensions") + ", but is indexed with " +
                                  std::to_string(indices.size()) + " indices");
            out.tuple().dimensions -= static_cast<int>(indices.size() - static_cast<std::size_t>(std::ranges::count_if(indices, is_slice)));
        }
        for (const TypedExpr& item : object.tuple().items) {
            if (object.tuple().record && item.kind() == Kind::Array) {
                out.tuple().items.push_back({viewed(l, item.view(), indices, t)});
            } else {
                out.tuple().items.push_back(indexed(l, item, indices, t));
            }
        }
        return out;
    }
    if (object.kind() == Kind::Number && !object.number().type.weak && indices.empty()) return object;  // x[()], as of NumPy's
    if (object.kind() != Kind::Array) l.source.wrong_type(t.place, describe(object) + " cannot be indexed; arrays and tuples can");
    if (const int k = array_index(l.source, indices, t.place); k >= 0) {
        const TypedExpr& index = indices[static_cast<std::size_t>(k)];
        if (indices.size() == 1 && holds_bools(index)) return compressed(l, object.view(), index, t.place);
        return rows_expr(gathered(l, object.view(), indices, k, t).rows);
    }
    View out = viewed(l, object.view(), indices, t);
    return out.rank == 0 ? element(l, out) : TypedExpr{std::move(out)};
}

}  // namespace pardo::lang

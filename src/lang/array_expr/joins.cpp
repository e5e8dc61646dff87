// src/lang/array_expr/joins.cpp: one memory for arrays that are one name on several paths.
#include <algorithm>

#include "lang/array_expr/parts.h"
#include "lang/memory/own.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang {

TypedExpr joint_array(Memory& l, const TypedExpr& x, const TypedExpr& y, const Place& place, bool of_any_size) {
    const auto rank = static_cast<std::size_t>(x.view().rank);
    std::vector<TypedExpr> extents;
    bool known = true;
    for (std::size_t d = 0; d < rank; ++d) {
        const TypedExpr &m = x.view().lead[1 + d], &n = y.view().lead[1 + d];
        const bool same = m.number().constant && n.number().constant && m.number().scalar.i == n.number().scalar.i && !of_any_size;
        known = known && same;
        extents.push_back(same ? m : number({DType::Int64, true}, ir::no_value, 0));
    }
    if (known) return own_memory(l, x.view().name, x.view().dtype, extents, place);
    need_own_memory(l);
    TypedExpr t = own_view(l, x.view().name, x.view().dtype, rank);
    t.view().pointer = l.builder.array(t.view().name, t.view().dtype, own_bytes(l) / itemsize(t.view().dtype), ir::Space::Private);
    t.view().lead.push_back(integer(0));
    t.view().lead.insert(t.view().lead.end(), extents.begin(), extents.end());
    t.view().lead.insert(t.view().lead.end(), rank - 1, number({DType::Int64, true}, ir::no_value, 0));
    t.view().lead.push_back(integer(1));
    return t;
}

TypedExpr put_into(Memory& l, const TypedExpr& joint, const TypedExpr& made, const Place& place) {
    TypedExpr t = joint;
    const auto rank = static_cast<std::size_t>(t.view().rank);
    std::vector<TypedExpr> extents = rows_of(l, made)->extents;
    if (!std::ranges::all_of(std::span(joint.view().lead).subspan(1, rank), [](const TypedExpr& e) { return e.number().constant; })) {
        sized_memory(l, t.view(), extents, place);
        TypedExpr stride = integer(1);
        for (std::size_t d = rank; d-- > 0;) {
            t.view().lead[1 + d] = extents[d];
            t.view().lead[1 + rank + d] = stride;
            if (d > 0) stride = mul(l, stride, extents[d]);
        }
    }
    store_rows(l, t.view(), made, place, true);
    return t;
}

}  // namespace pardo::lang

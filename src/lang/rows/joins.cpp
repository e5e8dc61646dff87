// src/lang/rows/joins.cpp: a name that is one new array on one path and another on another: their elements go where one memory has them.
#include <algorithm>

#include "lang/lowering.h"
#include "lang/rows/rows.h"

namespace pardo::lang {
namespace {

bool holds(const TypedExpr& t, int source) {
    return (t.kind == Kind::Array && t.view.source == source) ||
           std::ranges::any_of(t.items, [&](const TypedExpr& item) { return holds(item, source); });
}

/// Whether an array was made in this function, and nothing else names it behind a path: a copy of it is as good. `other`: what the other
/// path knows; `first`: the number of the function's first array.
bool is_own(const TypedExpr& t, const std::string& name, int first, const Scope& before, const Scope& own, const Scope& other) {
    const int source = t.view.source;
    if (source > -1 - first) return false;
    for (const auto& [known, v] : before)
        if (known != name && holds(v.expr, source)) return false;
    for (const auto& [known, v] : own)
        if (known != name && other.contains(known) && holds(v.expr, source)) return false;
    return true;
}

}  // namespace

bool Lowering::joins_arrays(const std::string& name, const Scope& before, const Scope& a, const Scope& b) {
    const TypedExpr &x = a.at(name).expr, &y = b.at(name).expr;
    if (x.kind != Kind::Array || y.kind != Kind::Array || x.view.source == y.view.source) return false;
    if (x.view.rank == 0 || x.view.rank != y.view.rank || x.view.dtype != y.view.dtype) return false;
    return is_own(x, name, first_array_, before, a, b) && is_own(y, name, first_array_, before, b, a);
}

/// The memory for both, as far as it is known before either is.
TypedExpr Lowering::joint_array(const TypedExpr& x, const TypedExpr& y, const Place& place) {
    const auto rank = static_cast<std::size_t>(x.view.rank);
    std::vector<TypedExpr> extents;
    bool known = true;
    for (std::size_t d = 0; d < rank; ++d) {
        const TypedExpr &m = x.view.lead[1 + d], &n = y.view.lead[1 + d];
        const bool same = m.constant && n.constant && m.scalar.i == n.scalar.i;
        known = known && same;
        extents.push_back(same ? m : number({DType::Int64, true}, ir::no_value, 0));
    }
    if (known) return own_memory(x.view.name, x.view.dtype, extents, place);
    need_own_memory();
    TypedExpr t = own_view(x.view.name, x.view.dtype, rank);
    if (!dry_) t.view.pointer = builder_.array(t.view.name, t.view.dtype, own_bytes() / itemsize(t.view.dtype), ir::Space::Private);
    t.view.lead.push_back(integer(0));
    t.view.lead.insert(t.view.lead.end(), extents.begin(), extents.end());
    t.view.lead.insert(t.view.lead.end(), rank - 1, number({DType::Int64, true}, ir::no_value, 0));
    t.view.lead.push_back(integer(1));
    return t;
}

/// Puts what a path has made into the memory for both.
TypedExpr Lowering::put_into(const TypedExpr& joint, const TypedExpr& made, const Place& place) {
    TypedExpr t = joint;
    const auto rank = static_cast<std::size_t>(t.view.rank);
    std::vector<TypedExpr> extents(made.view.lead.begin() + 1, made.view.lead.begin() + 1 + t.view.rank);
    if (!std::ranges::all_of(std::span(joint.view.lead).subspan(1, rank), [](const TypedExpr& e) { return e.constant; })) {
        sized_memory(t.view, extents, place);
        TypedExpr stride = integer(1);
        for (std::size_t d = rank; d-- > 0;) {
            t.view.lead[1 + d] = extents[d];
            t.view.lead[1 + rank + d] = stride;
            if (d > 0) stride = mul(stride, extents[d]);
        }
    }
    store_rows(t.view, made, place, true);
    return t;
}

}  // namespace pardo::lang

// src/lang/array_expr/array_expr.cpp: what is known of arrays and of expressions on them before anything is built.
#include "lang/array_expr/array_expr.h"

#include <utility>

namespace pardo::lang {

bool is_rows(const TypedExpr& t) { return t.kind() == Kind::Rows || (t.kind() == Kind::Array && t.view().rank > 0); }

TypedExpr rows_expr(Rows rows) { return {std::make_shared<const Rows>(std::move(rows))}; }

TypedExpr turned(const TypedExpr& t, const std::vector<std::size_t>& axes) {
    if (t.kind() == Kind::Array) {
        TypedExpr out = t;
        const auto rank = static_cast<std::size_t>(t.view().rank);
        for (std::size_t d = 0; d < rank; ++d) {
            out.view().lead[1 + d] = t.view().lead[1 + axes[d]];
            out.view().lead[1 + rank + d] = t.view().lead[1 + rank + axes[d]];
        }
        return out;
    }
    Rows out = *t.rows();
    out.moved = out.turned = true;
    for (std::size_t d = 0; d < axes.size(); ++d) out.extents[d] = t.rows()->extents[axes[d]];
    out.at = [inner = t.rows(), axes](std::span<const TypedExpr> index, bool same) {
        std::vector<TypedExpr> own(index.size());
        for (std::size_t d = 0; d < axes.size(); ++d) own[axes[d]] = index[d];
        return inner->at(own, same);
    };
    return rows_expr(std::move(out));
}

DType sum_dtype(DType of) {
    switch (kind_of(of)) {
        case DKind::Bool:
        case DKind::Signed: return DType::Int64;
        case DKind::Unsigned: return DType::UInt64;
        default: return of;
    }
}

bool known_equal(const Walk& walk, const TypedExpr& a, const TypedExpr& b) {
    if (a.number().constant || b.number().constant)
        return a.number().constant && b.number().constant && a.number().scalar.i == b.number().scalar.i;
    return walk.builds() && a.number().value == b.number().value;
}

bool may_overlap(const Walk& walk, bool distinct, const View& read, const View& written) {
    if (read.source != written.source) {
        const bool arguments = read.source >= 0 && written.source >= 0;
        return arguments && !distinct;
    }
    if (read.rank != written.rank) return true;
    if (walk.finds_types()) return false;
    for (std::size_t k = 0; k < read.lead.size(); ++k)
        if (!known_equal(walk, read.lead[k], written.lead[k])) return true;
    return false;
}

int array_index(const Source& source, std::span<const TypedExpr> indices, const Place& place) {
    int found = -1;
    for (std::size_t k = 0; k < indices.size(); ++k) {
        if (!is_rows(indices[k])) continue;
        if (found >= 0) source.wrong_type(place, "one of the indices may be an array in a kernel, not several; write the loop");
        found = static_cast<int>(k);
    }
    return found;
}

}  // namespace pardo::lang

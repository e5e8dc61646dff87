// src/lang/array_expr/parts.h: what the files of this folder use of each other.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lang/array_expr/array_expr.h"

namespace pardo::lang {

/// An operand's element for an index of the result.
TypedExpr element_at(Memory& l, const TypedExpr& operand, std::span<const TypedExpr> index, bool same);
/// Does `run` where `guards` hold: with `same` where the extents are equal, and else, if they can be broadcast, another time for those.
ir::Builder::Values where_valid(Memory& l, const std::vector<Guard>& guards, const std::vector<Equal>& equal,
                                const std::function<ir::Builder::Values(bool same)>& run, const ir::Builder::Values& otherwise);
/// Calls `body` for each index below the extents; `lanes`: in any order; `apart`: each index by itself, so that threads may share them.
void nest(Memory& l, std::span<const TypedExpr> extents, bool lanes, const std::function<void(std::span<const TypedExpr>)>& body,
          bool apart = false);
/// All elements below the extents, combined.
TypedExpr accumulated(Memory& l, std::span<const TypedExpr> extents, ir::Combine combine, DType type, bool lanes,
                      const std::function<TypedExpr(std::span<const TypedExpr>)>& element);
/// Whether its elements are one after the other, row by row, as far as is known now.
bool is_contiguous(Memory& l, const View& v);
/// A number made of the elements of an array where these may be asked for; else 0.
TypedExpr number_of_rows(Memory& l, const Rows& rows, const std::function<TypedExpr(bool same)>& made);
/// Refuses two extents that are not the same, which nothing may repeat; `guards` gets what holds where they are.
void require_same(Memory& l, const TypedExpr& a, const TypedExpr& b, const std::string& message, const Place& place,
                  std::vector<Guard>& guards);

}  // namespace pardo::lang

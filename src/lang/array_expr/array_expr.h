// src/lang/array_expr/array_expr.h: what an expression on arrays stands for: elements that are computed where they are used.
// This folder: array expressions inside of kernels and loops: they become loops (docs/design/rows.md).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "lang/problem.h"
#include "lang/typed_expr.h"
#include "lang/walk.h"

namespace pardo::lang {

/// Two extents of one axis that are taken to be equal; the loop that is made for others lets the second, or either, be 1.
struct Equal {
    TypedExpr whole, part;
    bool fills = false;  // `whole` is the place where elements go: it is not repeated
    syntax::Place place;
    std::shared_ptr<const syntax::Function> function;
};

/// An array's elements as a function of their indices. Nothing of it is in memory.
struct Rows {
    NumberType type;  // never weak
    std::vector<TypedExpr> extents;
    /// The element there. `same`: all of `equal` are equal.
    std::function<TypedExpr(std::span<const TypedExpr> index, bool same)> at;
    std::vector<Guard> guards;  // elements may be asked for only where these hold
    std::vector<Equal> equal;
    std::vector<View> reads;
    bool moved = false;        // element i of it may need other elements than i of what it reads
    bool turned = false;       // axes are in another order than in what it reads
    bool loops = false;        // an element takes a loop
    bool inner_lanes = false;  // whose iterations are the lanes
    int cost = 0;              // of an element, in additions
};

/// What is worth memory, where it would be computed several times.
inline constexpr int dear = 8;

/// Whether an extent is known to be 1: then it is repeated.
inline bool is_one(const TypedExpr& extent) { return extent.number().constant && extent.number().scalar.i == 1; }

/// An array with dimensions, or an expression on such.
bool is_rows(const TypedExpr& t);
TypedExpr rows_expr(Rows rows);
/// An array, or an expression on arrays, turned: its axes in the order of `axes`.
TypedExpr turned(const TypedExpr& t, const std::vector<std::size_t>& axes);
/// In what the sum or product of numbers of a dtype is computed, as NumPy does.
DType sum_dtype(DType of);
/// Whether so many elements, by extents that are known, are no more than `room`.
bool count_fits(const std::vector<TypedExpr>& extents, std::int64_t room);
/// Whether two extents, strides or offsets are the same for certain.
bool known_equal(const Walk& walk, const TypedExpr& a, const TypedExpr& b);
/// Whether elements that a view has may be others of what is written: then all are computed before the first one is written. `distinct`: no
/// two arrays of the call share memory.
bool may_overlap(const Walk& walk, bool distinct, const View& read, const View& written);
/// Which of the indices is an array; -1 if none is.
int array_index(const Source& source, std::span<const TypedExpr> indices, const Place& place);

}  // namespace pardo::lang

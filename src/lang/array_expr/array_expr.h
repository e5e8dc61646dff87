// src/lang/array_expr/array_expr.h: what an expression on arrays stands for: elements that are computed where they are used.
// This folder: array expressions inside of kernels and loops: they become loops (docs/design/rows.md). It is given views, numbers and
// functions of numbers, and knows neither names nor statements.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lang/memory/memory.h"

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
/// Whether two extents, strides or offsets are the same for certain.
bool known_equal(const Walk& walk, const TypedExpr& a, const TypedExpr& b);
/// Whether elements that a view has may be others of what is written: then all are computed before the first one is written. `distinct`: no
/// two arrays of the call share memory.
bool may_overlap(const Walk& walk, bool distinct, const View& read, const View& written);
/// Which of the indices is an array; -1 if none is.
int array_index(const Source& source, std::span<const TypedExpr> indices, const Place& place);

/// What is made of an array's elements. PlainSum: Python's own, which keeps their dtype.
enum class RowReduction : std::uint8_t { Sum, PlainSum, Prod, Mean, Var, Std, Min, Max, ArgMin, ArgMax, Any, All, CountNonzero, Norm };
struct RowFold {
    RowReduction op;
    Place place;
    std::string name;
    std::optional<DType> dtype;  // that the user asks for
    TypedExpr ddof;
};
/// Elements of an array that an array of indices names.
struct Gathered {
    Rows rows;
    std::function<View(std::span<const TypedExpr> index)> view;  // the element there
};
/// A function of numbers, one of each operand.
using Elementwise = std::function<TypedExpr(const std::vector<TypedExpr>& numbers)>;
/// A function that the language knows of numbers; `call`: where messages place it.
using NumberFunction = std::function<TypedExpr(const Tree& call, const std::vector<TypedExpr>& numbers)>;

/// The elements of an array, or of an expression on arrays, as a function of their indices.
std::shared_ptr<const Rows> rows_of(Memory& l, const TypedExpr& t);
/// A function of numbers, for each element of arrays.
TypedExpr each(Memory& l, std::vector<TypedExpr> operands, int cost, const Place& place, const Elementwise& f);
/// NumPy's operators of arrays: where both are bools they stay bools, or become int8, other than those of numbers here.
TypedExpr array_binary(Memory& l, const std::string& op, const TypedExpr& a, const TypedExpr& b, const Place& place);
/// An operator of one array.
TypedExpr array_unary(Memory& l, const std::string& op, const TypedExpr& x, const Place& place);
/// A function that the language knows of numbers, for each element. `of_floats`: of narrow integers it is computed in narrow floats.
TypedExpr array_call(Memory& l, const Tree& t, std::vector<TypedExpr> arguments, const NumberFunction& f, bool of_floats);
/// The elements of matrices on the k-th diagonal and on one side of it; the others are 0.
TypedExpr triangle(Memory& l, const TypedExpr& t, const TypedExpr& k, bool upper);
/// target[…] = an expression on arrays, or a number, which fills it. `fits`: the shapes are known to be the same.
void store_rows(Memory& l, const View& target, const TypedExpr& stored, const Place& place, bool fits = false);
/// x[places] = an expression or a number: one after the other, so that of those for one place the last stays.
void store_gathered(Memory& l, const Gathered& target, const std::string& name, const TypedExpr& stored, const Place& place);
/// The elements of an expression on arrays put into memory; the arrays of a tuple too. Others are what they were.
TypedExpr settled(Memory& l, const TypedExpr& t, const Place& place);
/// x[…] = a number for every element, a tuple of numbers, or an array.
void store_view(Memory& l, const View& v, const TypedExpr& stored, const Place& place);
/// Records take records, structs and tuples field by field.
void store_into(Memory& l, const TypedExpr& object, const TypedExpr& stored, const Tree& target, const Place& place);
/// Memory for two arrays of one dtype and rank, as far as it is known before either is. `of_any_size`: and for others.
TypedExpr joint_array(Memory& l, const TypedExpr& x, const TypedExpr& y, const Place& place, bool of_any_size = false);
/// Puts what a path has made into the memory for both.
TypedExpr put_into(Memory& l, const TypedExpr& joint, const TypedExpr& made, const Place& place);
/// x[…, places, …]: for each place the element, or what is behind it, that it names.
Gathered gathered(Memory& l, const View& v, std::span<const TypedExpr> indices, int k, const Tree& t);
/// x[mask] = a number, or in place: `changed` makes the new element of the old one.
void store_masked(Memory& l, const View& v, const TypedExpr& given, const std::function<TypedExpr(const TypedExpr& old)>& changed,
                  const Place& place);
/// The elements row by row in another shape: where they lie, if they are one after the other; else copied.
TypedExpr reshaped(Memory& l, const TypedExpr& given, std::vector<TypedExpr> shape, const std::string& op_name, const Place& place);
/// An element of an array, or a part of it; of a struct of arrays, the struct of theirs.
TypedExpr indexed(Memory& l, const TypedExpr& object, std::span<const TypedExpr> indices, const Tree& t);
/// The number of elements below the extents.
TypedExpr count_of(Memory& l, std::span<const TypedExpr> extents);
/// A reduction of all elements, or along an axis: then the others' elements take a loop each.
TypedExpr reduced(Memory& l, const TypedExpr& given, const RowFold& fold, const TypedExpr& axis, bool keeps);
/// a @ b, of vectors and matrices, in loops.
TypedExpr product(Memory& l, const TypedExpr& given_a, const TypedExpr& given_b, const std::string& op_name, const Place& place);
/// Every element of one by every element of the other.
TypedExpr outer_product(Memory& l, const TypedExpr& given_a, const TypedExpr& given_b, const Place& place);

}  // namespace pardo::lang

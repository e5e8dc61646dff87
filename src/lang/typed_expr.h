// src/lang/typed_expr.h: what a Python expression stands for while a function is lowered: its type, and its value in the IR.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <pardo/syntax.h>

#include "ir/ir.h"

namespace pardo::lang {

enum class Kind : std::uint8_t {
    Number,
    Array,
    Rows,
    Tuple,
    DType,
    Text,
    None,
    Item,
    NdItem,
    Group,
    SubGroup,
    Slice,
    Function,
    Reference,
    List
};

inline constexpr std::int64_t unknown_least = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t unknown_most = std::numeric_limits<std::int64_t>::max();

/// A number's type. Weak: made of Python's own numbers alone; it takes the dtype of what it meets (NEP 50).
struct NumberType {
    DType dtype = DType::Int64;
    bool weak = false;
    friend bool operator==(const NumberType&, const NumberType&) = default;
};

struct TypedExpr;
struct Rows;  // rows/rows.h

/// That an index is in range, as far as a view's elements depend on it.
struct Guard {
    ir::Value inside = ir::no_value;
    ir::Value index = ir::no_value, extent = ir::no_value;  // what is reported; none where that has been done
    syntax::Place place;
    std::shared_ptr<const syntax::Function> function{};
    bool large = false;  // the index is a uint64
};

/// An array or a view of one: element (i, j, …) is at pointer[offset + i * strides[0] + j * strides[1] + …].
struct View {
    DType dtype = DType::Float64;
    int source = -1;  // which argument it belongs to; arrays of the kernel's own: -1 - their index
    std::string name;
    ir::Value pointer = ir::no_value;
    std::vector<TypedExpr> lead;  // offset, then the extents, then the strides: numbers of Int64
    int rank = 0;
    std::vector<Guard> guards;  // of the indices so far; with bounds_check only
};

struct TypedExpr {
    Kind kind = Kind::None;
    NumberType type;        // Number; DType: `type.dtype`; Rows, List: of elements
    bool constant = false;  // Number: known now, in `scalar`
    Scalar scalar;
    ir::Value value = ir::no_value;                    // Number that is not a constant
    std::int64_t least = unknown_least;                // integers: never below this
    std::int64_t most = unknown_most;                  // Python's integers: never above this
    bool assumed = false;                              // a Python integer that is taken to fit what it meets; the launch checks
    int argument = -1;                                 // a Python integer that is this argument, as it was given
    bool given = false;                                // of arguments and constants alone, or the lesser or greater of such and another
    std::uint8_t bits = 63;                            // Python's integers in serial loops: the magnitude is below 2^bits
    View view;                                         // Array; Reference: one element, which atomics change
    std::shared_ptr<const Rows> rows;                  // Rows: an expression on arrays
    std::vector<TypedExpr> items;                      // Tuple; Slice: start, stop, step; List: its memory, and its length and capacity
    const syntax::Tree* made_at = nullptr;             // List
    std::vector<std::string> names;                    // Tuple: a struct's fields
    bool columns = false;                              // Tuple of arrays that is indexed as one array of tuples
    std::shared_ptr<const syntax::Class> structure;    // Tuple: a struct's class, if it has one
    bool record = false;                               // Tuple: of NumPy's records, an array or a view of one element
    int dimensions = 0;                                // of such an array; 0: an element, whose fields are views; -1: a named tuple
    std::string text;                                  // Text; Function that the language knows; List: "list" or "set"
    std::shared_ptr<const syntax::Function> function;  // Function of the user
    ir::MemoryOrder order = ir::MemoryOrder::Relaxed;  // Reference
    ir::MemoryScope scope = ir::MemoryScope::Device;   // Reference
};

TypedExpr number(const Scalar& constant);
TypedExpr number(NumberType type, ir::Value value, std::int64_t least = unknown_least);
TypedExpr integer(std::int64_t constant);
TypedExpr tuple(std::vector<TypedExpr> items);
/// A tuple like another, of other items.
TypedExpr tuple_like(const TypedExpr& like, std::vector<TypedExpr> items);
TypedExpr dtype_expr(DType dtype);
/// An element of an array of records: a view.
bool is_element(const TypedExpr& expr);
/// A struct, or a tuple of arrays that is indexed as one array.
bool is_indexed(const TypedExpr& expr);
/// A struct, or a tuple, of arrays: it is indexed, unpacked and looped over as one array.
bool is_array_of_structs(const TypedExpr& expr);
/// The first of a tuple's parts that is not a tuple itself.
const TypedExpr& first_part(const TypedExpr& expr);

/// "a float32 array of 2 dimensions", "an int64", "a Python float", "a tuple".
std::string describe(const TypedExpr& expr);
std::string describe(NumberType type);
/// The same, with what a string says.
std::string text_or(const TypedExpr& expr);

/// The dtype in which a weak number of this kind is computed until it meets another: int64 (uint64 for what is beyond it), the device's
/// float, its complex.
DType weak_dtype(DType kind, bool fp64);
/// What a name is that is `a` on one path and `b` on another; false if they do not go together.
bool join(NumberType a, NumberType b, NumberType& out);
/// Bits that hold the magnitude of an integer, as far as is known: 63 if nothing is.
int bits_of(const TypedExpr& t);
/// Whether a number is not the result of arithmetic in the kernel on Python's integers: it has a dtype, is a constant, or is made of
/// arguments.
bool is_given(const TypedExpr& t);
/// Whether a Python integer is known to fit an integer dtype.
bool fits(const TypedExpr& weak, DType dtype);
/// Whether one of two integers is Python's and need not fit the dtype of the other.
bool outgrows(const TypedExpr& a, const TypedExpr& b);

}  // namespace pardo::lang

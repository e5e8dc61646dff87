// src/lang/typed_expr.h: what a Python expression stands for while a function is lowered: its type, and its value in the IR.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <pardo/binding/syntax.h>

#include "ir/ir.h"

namespace pardo::lang {

inline constexpr std::int64_t unknown_least = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t unknown_most = std::numeric_limits<std::int64_t>::max();

/// A number's type. Weak: made of Python's own numbers alone; it takes the dtype of what it meets (NEP 50).
struct NumberType {
    DType dtype = DType::Int64;
    bool weak = false;
    friend bool operator==(const NumberType&, const NumberType&) = default;
};

class TypedExpr;
struct Rows;  // array_expr/array_expr.h

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

/// A number: a constant of the program, or a value that the program computes.
struct Number {
    NumberType type;
    bool constant = false;
    Scalar scalar;                       // of a constant
    ir::Value value = ir::no_value;      // of any other
    std::int64_t least = unknown_least;  // integers: never below this
    std::int64_t most = unknown_most;    // Python's integers: never above this
    bool assumed = false;                // a Python integer that is taken to fit what it meets; the launch checks
    int argument = -1;                   // a Python integer that is this argument, as it was given
    bool given = false;                  // of arguments and constants alone, or the lesser or greater of such and another
    std::uint8_t bits = 63;              // Python's integers in serial loops: the magnitude is below 2^bits
};

/// A tuple, a struct, or a record of NumPy's.
struct Tuple {
    std::vector<TypedExpr> items;
    std::vector<std::string> names{};                  // of a struct's fields
    bool columns = false;                              // arrays that are indexed as one array of tuples
    std::shared_ptr<const syntax::Class> structure{};  // a struct's class, if it has one
    bool record = false;                               // of NumPy's records: an array or a view of one element
    int dimensions = 0;                                // of such an array; 0: an element, whose fields are views; -1: a named tuple
};

/// The bounds of a slice: start, stop and step; of an ellipsis none.
struct Slice {
    std::vector<TypedExpr> bounds;
};

/// A list or a set that an item makes.
struct List {
    NumberType type;                // of its elements
    std::vector<TypedExpr> memory;  // two arrays: its elements, and how many these are with how many there is room for
    const syntax::Tree* made_at = nullptr;
    bool is_set = false;

    const View& elements() const;
    const View& counts() const;
    const char* word() const { return is_set ? "set" : "list"; }
};

/// One element of an array, which atomics change.
struct Reference {
    View view;
    ir::MemoryOrder order = ir::MemoryOrder::Relaxed;
    ir::MemoryScope scope = ir::MemoryScope::Device;
};

/// A function of the user, or one that the language knows by its name.
struct Callee {
    std::shared_ptr<const syntax::Function> function;
    std::string name;
};

/// What has no parts and no value: there is one of each kind.
struct Nothing {};
struct ItemObject {};
struct NdItemObject {};
struct GroupObject {};
struct SubGroupObject {};

/// What an expression is: the order of the payloads of a TypedExpr.
enum class Kind : std::uint8_t {
    None,
    Number,
    Array,
    Rows,
    Tuple,
    DType,
    Text,
    Item,
    NdItem,
    Group,
    SubGroup,
    Slice,
    Function,
    Reference,
    List
};

/// What an expression stands for. Each accessor is of one kind: of another it throws.
class TypedExpr {
public:
    using Payload = std::variant<Nothing, Number, View, std::shared_ptr<const Rows>, Tuple, DType, std::string, ItemObject, NdItemObject,
                                 GroupObject, SubGroupObject, Slice, Callee, Reference, List>;

    TypedExpr() = default;  // None
    TypedExpr(Payload payload) : payload_(std::move(payload)) {}

    Kind kind() const { return static_cast<Kind>(payload_.index()); }

    const Number& number() const { return std::get<Number>(payload_); }
    Number& number() { return std::get<Number>(payload_); }
    const View& view() const { return std::get<View>(payload_); }  // an array's
    View& view() { return std::get<View>(payload_); }
    const std::shared_ptr<const Rows>& rows() const { return std::get<std::shared_ptr<const Rows>>(payload_); }
    const Tuple& tuple() const { return std::get<Tuple>(payload_); }
    Tuple& tuple() { return std::get<Tuple>(payload_); }
    DType dtype() const { return std::get<DType>(payload_); }
    const std::string& text() const { return std::get<std::string>(payload_); }
    const Slice& slice() const { return std::get<Slice>(payload_); }
    const Callee& callee() const { return std::get<Callee>(payload_); }
    const Reference& reference() const { return std::get<Reference>(payload_); }
    const List& list() const { return std::get<List>(payload_); }

    /// A number that is known now.
    bool is_constant() const { return kind() == Kind::Number && number().constant; }
    /// The items of a tuple, the bounds of a slice, the memory of a list; others have none.
    std::span<const TypedExpr> parts() const;
    std::span<TypedExpr> parts();

private:
    Payload payload_;
};

TypedExpr number(const Scalar& constant);
TypedExpr number(NumberType type, ir::Value value, std::int64_t least = unknown_least);
TypedExpr integer(std::int64_t constant);
TypedExpr tuple(std::vector<TypedExpr> items);
/// A tuple like another, of other items.
TypedExpr tuple_like(const TypedExpr& like, std::vector<TypedExpr> items);
TypedExpr dtype_expr(DType dtype);
/// A slice of all of an axis.
TypedExpr whole_axis();
/// The class of a struct; null for what has none.
const std::shared_ptr<const syntax::Class>& structure_of(const TypedExpr& expr);
/// A number, an array or an expression on arrays.
bool is_numeric(const TypedExpr& expr);
/// A bool, or an array or an expression on arrays of bools.
bool holds_bools(const TypedExpr& expr);
/// The type of a number, or of the elements of an array, an expression on arrays or a list.
NumberType element_type(const TypedExpr& expr);
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
}  // namespace pardo::lang

// src/lang/expressions.h: expressions of the syntax: operators, conditions, attributes, subscripts, lists.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lang/lowering.h"

namespace pardo::lang {

/// What an expression stands for. `wraps`: only the low bits of its result are asked for.
TypedExpr expression(Lowering& l, const Tree& t, bool wraps = false);
/// a op b, of numbers, tuples, structs or arrays.
TypedExpr binary(Lowering& l, const std::string& op, const TypedExpr& left, const TypedExpr& right, const Place& place, bool wraps = false);
/// a @ b; `op_name`: np.dot multiplies by numbers too.
TypedExpr product_of(Lowering& l, const TypedExpr& a, const TypedExpr& b, const std::string& op_name, const Place& place);
/// The index of an array: sums and products that leave int64 are far out of any range.
TypedExpr index_expression(Lowering& l, const Tree& t);
/// op x, of a number, a struct or an array.
TypedExpr unary_of(Lowering& l, const std::string& op, const TypedExpr& operand, const Place& place, bool wraps = false);
/// Whether something is true, as in Python: a bool.
TypedExpr truth(Lowering& l, const TypedExpr& given, const Place& place);
/// a op b, of numbers, texts, tuples, structs or arrays.
TypedExpr compared(Lowering& l, const std::string& op, const TypedExpr& left, const TypedExpr& right, const Place& place);
/// a < b < c …, from the operator `from`, whose left side has this value.
TypedExpr compare(Lowering& l, const Tree& t, std::size_t from, const TypedExpr& left);
/// What an `if` asks: numbers are true if they are not zero.
TypedExpr condition(Lowering& l, const Tree& t);
/// a and b and …, from the operand `from`; `strict`: operands must be bools.
TypedExpr logical(Lowering& l, const Tree& t, std::size_t from, bool strict);
/// a if test else b.
TypedExpr choice(Lowering& l, const Tree& t);
/// What stands between the brackets; a tuple in there stands for its items.
std::vector<TypedExpr> indices_of(Lowering& l, const Tree& t);
/// Which item of a tuple is meant: by an attribute's name, a field's name in brackets, or a constant.
std::size_t field_at(Lowering& l, const TypedExpr& object, const Tree& t);
/// object[…]
TypedExpr subscript(Lowering& l, const Tree& t);
/// Whether a target names a field of a record, or of all records of an array. Fields of structs do not change.
bool is_field(const Lowering& l, const TypedExpr& object, const Tree& target);
/// target[…] = value, or target.field = value.
void store(Lowering& l, const Tree& target, const TypedExpr& stored, const Place& place);
/// Makes lists of the arguments that are lists of Python's.
void take_lists(Lowering& l);
/// Gives the host what they have become.
void hand_lists(Lowering& l);
/// [a, b, …] or {a, b, …}: a new list or set with these.
TypedExpr list_display(Lowering& l, const Tree& t);
/// Adds a number to a set, unless it is there.
void add_to_set(Lowering& l, const TypedExpr& set, const TypedExpr& item, const Place& place);
/// item in values.
TypedExpr contained(Lowering& l, const TypedExpr& item, const TypedExpr& values, const Place& place);

}  // namespace pardo::lang

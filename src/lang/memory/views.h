// src/lang/memory/views.h: indices, views of arrays, and their elements.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lang/memory/memory.h"

namespace pardo::lang {

/// Notes how an argument is used; refuses what the user has said that the function does not do.
void note_access(Memory& l, const View& v, ir::Access access);
/// Does `access` where the view's indices are in range, and reports those that are not; `otherwise`: what it gives there.
ir::Builder::Values guarded(Memory& l, const View& v, const std::function<ir::Builder::Values()>& access, ir::Builder::Values otherwise);
/// An index as a place along an axis: negative ones count from the end.
TypedExpr index_of(Memory& l, const TypedExpr& index, const TypedExpr& extent, const Place& place, std::vector<Guard>& guards);
/// The part of an array that indices name; `t`: the subscript, for places of messages.
View viewed(Memory& l, const View& v, std::span<const TypedExpr> given, const Tree& t);
/// The view without its first dimension, at index i of that.
View part_at(Memory& l, const View& v, const TypedExpr& i);
/// The view's element at an index.
View view_at(Memory& l, const View& v, std::span<const TypedExpr> index);
/// The element that a view without dimensions is.
TypedExpr element(Memory& l, const View& v);
/// An item of a tuple; of a record's element its value.
TypedExpr field(Memory& l, const TypedExpr& object, std::size_t k);
/// Elements of records are views until their values are needed.
TypedExpr loaded(Memory& l, const TypedExpr& t);
/// An array without dimensions is its number where one is needed.
TypedExpr number_in(Memory& l, const TypedExpr& t);
/// A number; else a message that begins with `op_name`.
TypedExpr need_number(Memory& l, const TypedExpr& t, const Place& place, const char* op_name);
/// values[i] of a tuple of numbers, where i is not known before the kernel runs.
TypedExpr item_at(Memory& l, const TypedExpr& values, const TypedExpr& index, const Tree& t);
/// Stores a number at the element that a view without dimensions is.
void store_element(Memory& l, const View& v, const TypedExpr& stored, const Place& place);
/// The values of an expression, converted to another's type; constants of that need none.
void flatten(Memory& l, const TypedExpr& t, const TypedExpr& like, std::vector<Value>& out);
/// The value of one of two expressions, only one of which is evaluated.
TypedExpr chosen(Memory& l, const TypedExpr& test, const Tree& yes, const std::function<TypedExpr()>& then_part,
                 const std::function<TypedExpr()>& else_part, const Place& place);

}  // namespace pardo::lang

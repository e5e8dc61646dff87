// src/lang/memory/lists.h: lists and sets of numbers that an item makes, and those of Python's that a serial loop is given.
#pragma once

#include <span>

#include "lang/memory/memory.h"

namespace pardo::lang {

/// Notes a number that a list takes: where it changes what the list holds, the function is walked once more before it is built.
void note_item(Memory& l, const TypedExpr& list, const TypedExpr& item, const Place& place);
/// How many elements a list or set has.
TypedExpr list_length(Memory& l, const TypedExpr& list);
/// A list or set without elements; `contents`: what it starts with, an array.
TypedExpr new_list(Memory& l, const Tree& t, const TypedExpr* contents = nullptr);
/// The elements as an array: what NumPy's functions make of a list.
TypedExpr elements_of(Memory& l, const TypedExpr& list);
/// The elements as an array that may be stored to; those of a given list stay as they were when something failed.
TypedExpr changing_elements(Memory& l, const TypedExpr& list);
/// An element as Python has it: what was put in.
TypedExpr list_item(Memory& l, const TypedExpr& list, const View& place);
/// The element of a list at an index.
View list_place(Memory& l, const TypedExpr& list, std::span<const TypedExpr> indices, const Tree& t);
/// Appends a number.
void list_append(Memory& l, const TypedExpr& list, const TypedExpr& item, const Place& place);
/// The last element, taken out.
TypedExpr popped(Memory& l, const TypedExpr& list, const Place& place);
/// Takes all elements out.
void cleared(Memory& l, const TypedExpr& list);
/// The length of a set that a loop goes through, which is to be what it was.
TypedExpr same_length(Memory& l, const TypedExpr& set, const TypedExpr& length, const Place& place);

}  // namespace pardo::lang

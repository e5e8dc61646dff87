// src/lang/memory/own.h: memory that a program makes for itself, and whether it has been written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/memory/memory.h"

namespace pardo::lang {

/// An array of the kernel's own, without memory and extents yet.
TypedExpr own_view(Memory& l, const std::string& name, DType dtype, std::size_t rank);
/// A small array of an item or a group; its elements have no values yet.
TypedExpr unwritten_array(Memory& l, ir::Space space, const std::string& name, DType dtype, const std::vector<std::int64_t>& extents,
                          const Place& place);
/// Memory of the item's own, row by row, without values: small shapes as private arrays, others take what they need when they are met.
TypedExpr own_memory(Memory& l, const std::string& name, DType dtype, const std::vector<TypedExpr>& extents, const Place& place);
/// Notes in a walk for types that memory of the item's own may be needed.
void note_own_memory(Memory& l, const std::vector<TypedExpr>& extents);
/// Notes that memory of the item's own is needed.
void need_own_memory(Memory& l);
/// The bytes of arrays whose size is known when the kernel runs; 0: as many as it takes. Items of groups are there all at once.
std::int64_t own_bytes(const Memory& l);
/// Gives a view memory of a size that is known only at run time. Where memory does not suffice, the extents become 0.
void sized_memory(Memory& l, View& view, std::vector<TypedExpr>& extents, const Place& place);
/// From here on reads of an array of a group or an item are checked: a flag for each element says whether it was written.
void track_writes(Memory& l, const View& v, std::int64_t count, ir::Space space);
/// Notes that an element of memory of the program's own has a value.
void mark_written(Memory& l, const View& v, Value place);
/// Reports an element of memory of the program's own that has no value yet.
void check_written(Memory& l, const View& v, Value place);

}  // namespace pardo::lang

// src/graph/rows.h: the rows of ops.def as a table.
#pragma once

#include <pardo/binding/rows.h>
#include <pardo/ops.h>

#include "graph/node.h"

namespace pardo::graph {

const OpInfo& op_row(Op op) noexcept;  // also those that are not public functions
const char* name(Op op) noexcept;
/// Throws unless `id` is a public row that takes so many operands.
void check_row(const char* op_name, int id, std::size_t operands);

}  // namespace pardo::graph

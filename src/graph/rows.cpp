// src/graph/rows.cpp: the rows of ops.def as a table.
#include "graph/rows.h"

#include <string>

#include <pardo/binding/rows.h>
#include <pardo/error.h>

namespace pardo::graph {
namespace {

constexpr OpInfo op_rows[] = {
#define OP(name, arity, kind, dtypes, result, cost, identity, recipe, numpy, doc) {#name, arity, #numpy, #dtypes, #result, #identity, doc},
#include "graph/ops.def"
#undef OP
};
constexpr std::size_t public_rows = static_cast<std::size_t>(Op::cast);  // conversions come last
static_assert(std::size(op_rows) == public_rows + 4);

}  // namespace

const OpInfo& op_row(Op op) noexcept { return op_rows[static_cast<int>(op)]; }

const char* name(Op op) noexcept { return op_row(op).name; }

void check_row(const char* op_name, int id, std::size_t operands) {
    if (id < 0 || id >= static_cast<int>(public_rows))
        throw Error(ErrorCode::Value, std::string(op_name) + ": there is no operation " + std::to_string(id));
    const OpInfo& row = op_rows[id];
    if (operands == static_cast<std::size_t>(row.arity)) return;
    throw Error(ErrorCode::Type,
                std::string(row.name) + ": takes " + std::to_string(row.arity) + " operands, got " + std::to_string(operands));
}

}  // namespace pardo::graph

namespace pardo {

std::span<const OpInfo> op_table() { return std::span(graph::op_rows).first(graph::public_rows); }

}  // namespace pardo

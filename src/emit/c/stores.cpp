// src/emit/c/stores.cpp: statements that write memory: one element, or neighbours by one access.
#include <algorithm>
#include <bit>
#include <utility>

#include "emit/c/emitter.h"
#include "ir/rules.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {

using ir::Opcode;

void CEmitter::store(const Instr& in) {
    const DType dtype = type(in.operands[2]);
    std::string value = at(in.operands[2]);
    if (dtype == DType::Float16) {
        helpers_.use("f16", dtype);
        value = "f32_to_f16(" + value + ")";
    }
    const std::string statement = at(in.operands[0]) + "[" + at(in.operands[1]) + "] = " + value + ";";
    // What the whole team computes, one of it writes.
    const bool shared = uses_team() && std::none_of(owners_.begin(), owners_.end(), [](const Instr* o) { return ir::is_lanes_loop(*o); });
    line(shared ? "if (lane == 0) " + statement : statement);
}

void CEmitter::store_together(const std::vector<ir::InstrId>& stores) {
    const Instr& first = kernel_.instrs[stores[0]];
    std::string statement = helpers_.use("store_" + std::to_string(stores.size()), type(first.operands[2])) + "(&" + at(first.operands[0]) +
                            "[" + at(first.operands[1]) + "]";
    for (const ir::InstrId i : stores) statement += ", " + at(kernel_.instrs[i].operands[2]);
    line(statement + ");");
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)

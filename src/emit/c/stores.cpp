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

namespace {

constexpr int widest = 16;  // bytes

/// An index as another one and a number beyond it.
std::pair<ir::Value, std::int64_t> parts(const ir::Kernel& kernel, ir::Value index) {
    const ir::Instr* sum = ir::definition(kernel, index);
    if (!sum || sum->op != Opcode::Add) return {index, 0};
    for (int k = 0; k < 2; ++k) {
        const ir::Instr* number = ir::definition(kernel, sum->operands[k]);
        if (number && number->op == Opcode::Const) return {sum->operands[1 - k], number->scalar.i};
    }
    return {index, 0};
}

}  // namespace

/// The store at a place of a region, and those after it that write the next elements of the same parameter, as many as one access of a GPU
/// writes: an item that writes them one by one has the memory's sectors written as often. Between them nothing touches memory.
std::vector<ir::InstrId> CEmitter::neighbours(const ir::Region& region, std::size_t at) const {
    const Instr& first = kernel_.instrs[region.body[at]];
    std::vector<ir::InstrId> found{region.body[at]};
    const ir::Value pointer = first.operands[0];
    const int size = itemsize(type(first.operands[2]));
    const Instr* whose = ir::definition(kernel_, pointer);
    if (!target_.wide_stores || uses_team() || size < 4 || !whose || whose->op != Opcode::Param) return found;
    const auto [base, begin] = parts(kernel_, first.operands[1]);
    for (++at; at < region.body.size() && static_cast<int>(found.size()) < widest / size; ++at) {
        const Instr& in = kernel_.instrs[region.body[at]];
        if (ir::is_pure(in.op)) continue;
        if (in.op != Opcode::Store || in.operands[0] != pointer) break;
        if (parts(kernel_, in.operands[1]) != std::pair(base, begin + static_cast<std::int64_t>(found.size()))) break;
        found.push_back(region.body[at]);
    }
    found.resize(std::bit_floor(found.size()));
    return found;
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

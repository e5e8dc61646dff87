// src/emit/c/memory.cpp: arrays of a kernel's own, loads and stores.
#include "emit/c/memory.h"

#include "emit/c/expressions.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {

CMemory memory_of(const ir::Kernel& kernel, ir::Value pointer) {
    const ir::Instr& definition = kernel.instrs[kernel.values[pointer].def];
    if (definition.op == ir::Opcode::Param) return CMemory::Global;
    return kernel.arrays[definition.index()].space == ir::Space::Group ? CMemory::Group : CMemory::Private;
}

std::string array_definitions(const CSource& source, ir::Space space) {
    const CTarget& target = source.target;
    const bool large = space == ir::Space::Group && source.large_arrays();
    std::string text;
    if (large) text += std::string(target.large_shared) + " shared_bytes[];\n";
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < source.kernel.arrays.size(); ++k) {
        const ir::ArrayInfo& a = source.kernel.arrays[k];
        if (a.space != space) continue;
        const std::string t = c_memory_type(target, a.type), &name = source.names.arrays[k];
        if (large) {
            text += t + "* const " + name + " = (" + t + "*)(shared_bytes + " + std::to_string(offset) + ");\n";
            offset += (a.count * itemsize(a.type) + array_alignment - 1) / array_alignment * array_alignment;
        } else if (space == ir::Space::Group) {
            text +=
                std::string(target.shared) + " " + t + " " + element(name, std::to_string(a.count)) + " __attribute__((aligned(16)));\n";
        } else {
            text += t + " " + element(name, std::to_string(a.count)) + ";\n";
        }
    }
    return text;
}

std::string kept_definitions(const CSource& source) {
    std::string text;
    int k = 0;
    for (const DType dtype : source.shared.arrays)
        text += c_type(source.target, dtype) + " " + element(kept_array(k++), std::to_string(source.geometry.steps)) + ";\n";
    return text;
}

void load(CValues& values, const CContext& here, const ir::Instr& in) {
    const ir::Value result = in.results[0];
    const DType dtype = values.source.type(result);
    std::string value = element(values[in.operands[0]], values[in.operands[1]]);
    if (dtype == DType::Bool) value += " != 0";
    const bool movable = here.loads_move && !values.source.fixed[result] && values.source.uses.once_nearby(result);
    if (movable && value.size() < longest_expression)
        values[result] = value;
    else
        values.declare(result, value);
}

void store(CValues& values, const CContext& here, const ir::Instr& in) {
    const std::string statement = element(values[in.operands[0]], values[in.operands[1]]) + " = " + values[in.operands[2]] + ";";
    // What the whole team computes, one of it writes.
    const bool shared = values.source.uses_team() && !here.in_lanes_loop;
    values.w.line(shared ? "if (lane == 0) " + statement : statement);
}

void store_run(CValues& values, std::span<const ir::InstrId> run) {
    const ir::Instr& first = values.source.instr(run[0]);
    const std::string helper = values.w.helpers.use("store_" + std::to_string(run.size()), values.source.type(first.operands[2]));
    std::string statement = helper + "(&" + element(values[first.operands[0]], values[first.operands[1]]);
    for (const ir::InstrId id : run) statement += ", " + values[values.source.instr(id).operands[2]];
    values.w.line(statement + ");");
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)

// src/ir/rules.h: which dtypes each operation takes and gives; one table for the builder and the verifier.
#pragma once

#include <span>

#include "ir/ir.h"

namespace pardo::ir {

/// Null if an operation without regions and memory may have these dtypes, else the rule that is broken.
const char* broken_rule(Opcode op, Math fn, DType result, std::span<const DType> operands);

/// Null if memory of this dtype has this atomic operation, else the rule that is broken. Floats have no bits, narrow types no atomics.
const char* broken_atomic_rule(AtomicOp op, DType dtype);

/// True for operations that depend on nothing but operands and attributes, and change nothing.
constexpr bool is_pure(Opcode op) { return op < Opcode::Load; }
/// True for Const, Param, Array and what gives an item's place in its range.
constexpr bool is_leaf(Opcode op) { return op <= Opcode::Array; }
/// True for operations that change memory or order changes of it.
constexpr bool has_effect(Opcode op) { return op >= Opcode::Store && op <= Opcode::Barrier; }
/// True for operations whose first operand is a pointer.
constexpr bool takes_pointer(Opcode op) { return op >= Opcode::Load && op <= Opcode::Report; }
/// The instruction that a value is a result of; null for arguments of regions.
inline const Instr* definition(const Kernel& kernel, Value v) {
    const ValueInfo& info = kernel.values[v];
    return info.result < 0 ? nullptr : &kernel.instrs[info.def];
}
/// What a Call computes; nothing that counts for other operations.
inline Math function_of(const Instr& in) { return in.op == Opcode::Call ? in.math() : Math{}; }
/// Whether an instruction has the attribute that its operation asks for.
bool has_its_attribute(const Instr& in);
/// True for a loop whose iterations may run in parallel.
inline bool is_lanes_loop(const Instr& in) { return in.op == Opcode::For && in.loop_kind() == LoopKind::Lanes; }
/// True if items exchange values without memory.
bool has_shuffles(const Kernel& kernel);
/// One an instruction: it is a barrier or a shuffle, or a region of it holds one.
std::vector<bool> barriers_of(const Kernel& kernel);
/// True if an element that one lane of a lanes loop stores, or an item outside of such loops, may be used by another lane: lanes that are
/// threads would have to wait for each other.
bool passes_elements(const Kernel& kernel);
/// True if complex numbers have this function.
bool takes_complex(Math fn);

}  // namespace pardo::ir

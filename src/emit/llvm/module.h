// src/emit/llvm/module.h: Kernel -> llvm::Module, in vector code made here: items become lanes.
// This folder: Kernel -> llvm::Module -> machine code. What other folders include of it needs no header of LLVM.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/ir.h"

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
}  // namespace llvm

namespace pardo::emit {

/// Bump when emitted code changes for the same IR: part of every cache key.
inline constexpr int llvm_emitter_version = 20;

/// What the emitter has to know of the machine.
struct LlvmTarget {
    std::string cpu;        // "sapphirerapids"
    std::string features;   // "+avx512f,…"
    int vector_bytes = 16;  // 64 AVX-512, 32 AVX2, 16 SSE2 or NEON
    bool fma = false;
    std::string level;  // "x86-64-v4": what came compiled for it fits, with the same vectors; empty: nothing does
};
/// The machine this runs on, found once. PARDO_CPU_VECTOR_BYTES (16, 32, 64) lowers it, for tests.
const LlvmTarget& host_target();
/// This machine with registers of at most so many bytes.
LlvmTarget host_target_limited(int vector_bytes);
/// What is compiled while pardo is built: every machine of a level runs it, and nothing else of a machine is in it. Of x86-64
/// and of 64-bit ARM.
const std::vector<LlvmTarget>& levels();

/// Emits one function:  void <symbol>(const uint64_t* args, const int64_t* extents, const int64_t* begin, const int64_t* end,
/// const uint8_t* stop)  that runs the items of the box [begin, end) of the range. `args` has one slot a parameter (device::Launch::args)
/// after lower_complex: a complex scalar takes two slots, re then im. Unoptimised; external symbols are those of math_symbols() only.
std::unique_ptr<llvm::Module> emit_llvm(const ir::Kernel& kernel, llvm::LLVMContext& context, const LlvmTarget& target,
                                        const std::string& symbol);

/// The last step before code is made: masks between blocks as wide as the vectors that they serve, where no registers are made for masks.
void widen_masks(llvm::Module& module, const LlvmTarget& target);

/// Before that: comparisons and roundings of halves by floats, for processors that compute with no halves: LLVM would take their lanes
/// apart.
void widen_halves(llvm::Module& module);

/// Before that: where loops may be long, the function returns soon after `stop` has become 1.
void add_interrupts(llvm::Module& module);
/// The name of a fact of loops over items, which add_interrupts leaves alone.
inline constexpr const char* items_loop = "pardo.items";

/// Likewise: the constants of long formulas as operands in memory, where a register for each is too much.
void load_constants(llvm::Module& module, const LlvmTarget& target);

/// Which compiler this is, for cache keys: LLVM's version, the emitter's, CPU, features, vector width.
std::string compiler_id(const LlvmTarget& target);
/// Emits, optimises and assembles a lowered kernel: an object file. Throws Compile.
std::vector<std::uint8_t> compile_object(const ir::Kernel& kernel, const std::string& symbol, const LlvmTarget& target = host_target());
/// The same as text: optimised LLVM IR ("llvm") or assembly ("asm").
std::string compile_text(const ir::Kernel& kernel, const std::string& symbol, bool assembly, const LlvmTarget& target = host_target());
/// Items that the last dimension is best cut at between threads.
int split_granularity(const ir::Kernel& kernel);

/// A library function that emitted code may call.
struct Symbol {
    const char* name;
    void* address;
};
/// void* pardo_own_memory(int64 array, int64 count, int64 bytes of an element): this thread's memory for that array of a kernel; null if
/// memory does not suffice. The array -1 means that the kernel has ended and uses none of its arrays any longer. The count -1 (handed_over)
/// means that the array's memory belongs to the caller from now on, who frees it.
inline constexpr const char* own_memory_symbol = "pardo_own_memory";
/// What threads share of a program (emit/runtime/shared_loop.h).
inline constexpr const char* share_loop_symbol = "pardo_share_loop";
/// SLEEF's and libm's functions for all lane counts, and those for memory and for threads: the only symbols that a Program sees.
const std::vector<Symbol>& math_symbols();

}  // namespace pardo::emit

// src/backend/cpu/program.h: machine code for one kernel, and how it is made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/program.h"
#include "jit/cache.h"

namespace pardo::ir {
struct Kernel;
}
namespace pardo::emit {
struct LlvmTarget;
}

namespace pardo::cpu {

/// A kernel as machine code. `entry` runs all items of the box [begin, end) of the range; it is reentrant, and parts of one range may run
/// in parallel. Loops that may be long look at `stop` now and then: when it is not 0 the entry returns, whatever is left to do.
class CpuProgram final : public device::Program {
public:
    using Entry = void (*)(const std::uint64_t* args, const std::int64_t* extents, const std::int64_t* begin, const std::int64_t* end,
                           const std::uint8_t* stop);

    CpuProgram(std::string name, Entry entry, int rank, int split_granularity, std::shared_ptr<void> code,
               std::vector<std::int64_t> group_size = {})
        : Program(std::move(name)),
          entry_(entry),
          rank_(rank),
          split_granularity_(split_granularity),
          code_(std::move(code)),
          group_size_(std::move(group_size)) {}

    Entry entry() const noexcept { return entry_; }
    /// Dimensions of the range.
    int rank() const noexcept { return rank_; }
    /// The last dimension is cut between threads only at multiples of this many items: whole vectors, whole cache lines.
    int split_granularity() const noexcept { return split_granularity_; }
    /// Items of a group in each dimension: ranges are cut at whole groups. Empty for kernels without groups.
    const std::vector<std::int64_t>& group_size() const noexcept { return group_size_; }

private:
    Entry entry_;
    int rank_;
    int split_granularity_;
    std::shared_ptr<void> code_;  // keeps the machine code loaded
    std::vector<std::int64_t> group_size_;
};

/// The program for a kernel: what came with pardo, or from the cache, or compiled. Throws Compile.
Ref<device::Program> compile(const ir::Kernel& kernel);
/// The same if it is in memory, else null.
Ref<device::Program> known_program(const ir::Kernel& kernel);
/// A kernel's object file for a target, compiled now.
jit::Binary object_for(const ir::Kernel& kernel, const emit::LlvmTarget& target);
/// Text of a kernel at one stage: "ir", "llvm" or "asm". Throws Value for any other name.
std::string inspect(const ir::Kernel& kernel, std::string_view what);

}  // namespace pardo::cpu

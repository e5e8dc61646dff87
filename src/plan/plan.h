// src/plan/plan.h: a finished plan: what to allocate, launch and materialise for every graph with one signature.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/text.h"
#include "device/program.h"
#include "ir/ir.h"
#include "plan/walk.h"

namespace pardo::plan {

/// One launch, but for addresses and scalar values.
struct PlannedLaunch {
    /// An argument that differs from force to force.
    struct Patch {
        enum class Kind : std::uint8_t { Leaf, Slot, Constant };
        Kind kind;
        std::uint16_t argument;
        std::uint32_t source;  // node, or slot
        std::int64_t offset;   // bytes
    };
    struct Use {
        bool leaf;
        std::uint32_t source;
        device::Access access;
    };
    Ref<device::Program> program;
    Text name;
    std::vector<std::int64_t> extents;
    std::vector<std::uint64_t> arguments;  // numbers are in place
    std::vector<Patch> patches;
    std::vector<Use> uses;
    double cost_ns = 0;
    std::int64_t bytes_read = 0, bytes_written = 0, operations = 0;
};

/// Everything that is the same for graphs with one signature.
struct Plan {
    /// A node that gets memory of its own, in the order of the walk.
    struct Result {
        NodeId node;
        std::uint32_t slot;
        Strides strides;
    };
    std::vector<std::int64_t> slots;  // bytes of the buffers to allocate
    std::vector<PlannedLaunch> launches;
    std::vector<Result> results;
    bool needs_temporary = false;  // store: the value overlaps the target in another order
    int running = 0;               // how often it is being used now: the cache keeps it
};

class PlanCache;
/// Plans what a walk has collected, and compiles what `cache` has not seen.
std::unique_ptr<Plan> make_plan(const Walk& walk, device::Device* device, PlanCache& cache);

/// Finished plans by signature; one for each queue, under its graph lock. When it is full, one that was not used lately makes room.
class PlanCache {
public:
    PlanCache();
    /// Null when there is none.
    Plan* find(std::span<const std::uint8_t> key, std::uint64_t hash);
    Plan* add(std::span<const std::uint8_t> key, std::uint64_t hash, std::unique_ptr<Plan> plan);
    std::size_t size() const { return entries_.size(); }
    static constexpr std::size_t most_plans = 512, most_programs = 512;
    /// The program of a kernel; equal kernels that come from graphs with other sizes share one.
    Ref<device::Program> program(const ir::Kernel& kernel, device::Device* device, const device::LaunchShape& shape);
    /// The cache of a queue, made at first use.
    static PlanCache& of(device::Queue* queue);

private:
    struct Entry {
        std::uint64_t hash = 0;
        std::vector<std::uint8_t> key;
        std::unique_ptr<Plan> plan;
        bool used = false;  // since the hand last came by
    };
    std::size_t slot(std::span<const std::uint8_t> key, std::uint64_t hash) const;
    std::size_t evict();
    std::vector<Entry> entries_;
    std::vector<std::uint16_t> table_;  // positions in entries_, plus one; open addressing, a power of two
    std::size_t hand_ = 0;              // of the clock that finds what was not used
    std::unordered_map<Hash128, Ref<device::Program>> programs_;
};

}  // namespace pardo::plan

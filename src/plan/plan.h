// src/plan/plan.h: a finished plan: what to allocate, launch and materialise for every graph with one signature.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/text.h"
#include "device/program.h"
#include "device/signature.h"
#include "ir/ir.h"
#include "plan/adaptable.h"
#include "plan/subgraph.h"

namespace pardo::plan {

/// One launch, but for addresses and scalar values.
struct PlannedLaunch {
    /// Values of its signature: the slots of the plan, and behind them the nodes of the subgraph.
    static constexpr std::uint32_t first_node = std::uint32_t{1} << 31;
    static std::uint32_t node(NodeId id) { return first_node + id; }
    Ref<device::Program> program;
    Text name;
    std::vector<std::int64_t> extents;
    device::Signature signature;
    double cost_ns = 0;
    std::int64_t bytes_read = 0, bytes_written = 0, operations = 0;
};

/// Everything that is the same for graphs with one signature. Shared by all queues of a device; those in the cache do not change.
struct Plan : RefCounted<Plan> {
    /// A node that gets memory of its own, in the order of the subgraph.
    struct Result {
        NodeId node;
        std::uint32_t slot;
        Strides strides;
        friend bool operator==(const Result&, const Result&) = default;
    };
    std::vector<std::int64_t> slots;  // bytes of the buffers to allocate
    std::vector<PlannedLaunch> launches;
    std::vector<Result> results;
    bool needs_temporary = false;  // store: the value overlaps the target in another order
    std::uint64_t hash = 0;        // of the signature
    std::vector<std::uint8_t> key;
    mutable std::atomic<bool> used{false};  // since the hand of the cache last came by

    bool is(std::span<const std::uint8_t> other, std::uint64_t its_hash) const;
    void note_use() const {
        if (!used.load(std::memory_order_relaxed)) used.store(true, std::memory_order_relaxed);
    }
};

class PlanCache;

/// A plan whose last programs are still to be made. It refers to no node, so that they are made while other threads use the graph.
class Draft {
public:
    /// Plans what a subgraph has collected, with the programs that are in memory. `hash`: of the subgraph's key.
    Draft(const Subgraph& subgraph, std::uint64_t hash, PlanClass kind, device::Device* device);
    /// The same for no cache: the thread's trace, if there is one, says how its numbers come about.
    Draft(const Subgraph& subgraph, device::Device* device);
    const Plan& plan() const { return *plan_; }
    const AdaptablePlan& numbers() const { return *adaptable_; }
    /// True when nothing is left to compile.
    bool complete() const { return missing_.empty(); }
    /// Makes what is missing, or has it made later (device::CompileLater), and gives the plan to the cache; needs no graph lock. Throws
    /// Compile. Returns what the cache keeps.
    Ref<const Plan> compile(device::Device* device, PlanCache& cache);
    /// The same without telling the cache of the plan.
    Ref<const Plan> finished(device::Device* device);

private:
    void make(const Subgraph& subgraph, device::Device* device);
    PlanClass class_;
    Ref<Plan> plan_{new Plan};
    Ref<AdaptablePlan> adaptable_{new AdaptablePlan};
    std::vector<std::size_t> missing_;  // launches
};

/// Finished plans by signature; one for each device, safe from any thread. When it is full, a plan that
/// was not used lately makes room.
class PlanCache : public device::Device::Attachment {
public:
    PlanCache();
    /// Null when there is none.
    Ref<const Plan> find(std::span<const std::uint8_t> key, std::uint64_t hash);
    /// Gives the plan that is kept: another thread's when that one came first.
    Ref<const Plan> add(Ref<const Plan> plan);
    std::size_t size();
    /// A plan for this subgraph made of one for other sizes; null when there is none.
    Ref<const Plan> adapt(const Subgraph& subgraph, std::uint64_t hash, const PlanClass& kind, device::Device* device);
    void add_adaptable(const PlanClass& kind, Ref<const AdaptablePlan> plan);
    static constexpr std::size_t most_plans = 512, most_classes = 128, plans_of_class = 4;
    /// The cache of a device, made at first use.
    static PlanCache& of(device::Device* device);

private:
    std::size_t slot(std::span<const std::uint8_t> key, std::uint64_t hash) const;
    std::size_t evict();
    std::mutex mutex_;  // nothing is compiled, waited for or destroyed under it
    std::vector<Ref<const Plan>> entries_;
    std::vector<std::uint16_t> table_;  // positions in entries_, plus one; open addressing, a power of two
    std::size_t hand_ = 0;              // of the clock that finds what was not used
    std::unordered_map<Hash128, std::vector<Ref<const AdaptablePlan>>> classes_;  // the last that was made first
    std::deque<Hash128> class_order_;                                             // their keys, as they were added
};

/// Plans that a queue has used lately, so that a force takes no lock but the graph's. Guarded by that one.
class RecentPlans {
public:
    struct Entry {
        Ref<const Plan> plan;
        int running = 0;  // forces that run the plan now; while there are any, `plan` stays: what a force releases may force other values
    };
    Entry& at(std::uint64_t hash) { return entries_[hash % entries_.size()]; }
    static RecentPlans& of(device::Queue* queue);

private:
    std::array<Entry, 64> entries_;
};

}  // namespace pardo::plan

// src/plan/schedule/schedule.h: a group as one or two loop nests: order and merging of dims, memory accesses, what runs in which loop.
// This folder: in which order a group's elements are computed, how it reaches memory, and what that costs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "plan/group/planner.h"
#include "plan/schedule/steps.h"

namespace pardo::plan {

/// Something that is indexed by the loops: memory, or a plain index value.
struct MemoryAccess {
    enum class Kind : std::uint8_t {
        Memory,   // of a leaf or of a stored value: `node`
        Partial,  // results of blocks: `partial`
        Index,    // no memory: the affine index itself (Iota, positions for argmin and argmax)
    };
    Kind kind = Kind::Memory;
    ir::Access mode = ir::Access::Read;
    DType dtype = DType::Float64;
    NodeId node = no_node;
    int partial = -1;
    bool streaming = false;
    Steps steps{};  // by domain dims at first, by loop dims once scheduled
};

/// A value that is written: inside loop `loop` (Full) or after all loops (Outer).
struct Store {
    NodeId node;
    int fused, access, loop;
    Level level;
};

/// A reduction, and where its pieces go in a split group.
struct Reduction {
    NodeId node;
    int fused, loop;
    int position = -1;          // Index access of argmin and argmax
    int partial[2] = {-1, -1};  // accesses: value; position
    bool by_position() const { return position >= 0; }
};

/// One kernel, before it is IR.
struct KernelPlan {
    enum class Stage : std::uint8_t { Whole, Blocks, Combine };
    int group = -1;
    Stage stage = Stage::Whole;
    Strategy strategy = Strategy::Elementwise;
    std::string name;
    Sizes extents;                    // of the loop dims: range, then `unrolled` if any, then inner ones, outermost first
    int range = 0;                    // leading dims that are the kernel's index space
    bool lanes = false;               // the last of them runs across lanes
    bool unrolled = false;            // one kept dim is written out inside the item
    std::vector<ScheduleStep> steps;  // what made these loops of one a dim, kept dims before reduced ones
    /// An inner loop dim of which an item does one block only.
    struct Block {
        int counter;  // range dim that counts the blocks
        int dim;
        Size length;
    };
    std::vector<Block> blocks;
    std::vector<MemoryAccess> accesses;
    std::vector<int> access_of;            // by fused value; -1: none
    std::vector<std::uint32_t> loop_dims;  // by fused value: loop dims that it depends on
    std::vector<Store> stores;
    std::vector<Reduction> reductions;
    // Values kept in an output's memory between two loops: computed in loop `from`, read back in `to`.
    struct Spill {
        int fused, access, from, to;
        bool write;  // false: the value is an output of loop `from` anyway
    };
    std::vector<Spill> spills;
    /// What one buffer moves, and the leaf that says how much it holds, if it is one.
    struct Traffic {
        Size bytes;
        NodeId leaf;
        bool read, written;
    };
    std::vector<Traffic> traffic;
    Size operations = 0;      // as device::Amount::operations
    double element_cost = 0;  // in additions

    int inner() const { return range + unrolled; }  // first inner loop dim
    int loops() const;                              // inner loops after one another
    Size elements() const;
};

/// What moves of so many bytes: never more than the buffer holds.
std::int64_t bytes_moved(const KernelPlan::Traffic& traffic, std::int64_t bytes, const Subgraph& subgraph);

/// Scratch memory for the results of blocks.
struct Partial {
    DType dtype;
    Size count;
};

/// Schedules all groups of a planner, in order.
class LoopScheduler {
public:
    explicit LoopScheduler(Planner& planner) : planner_(planner) {}
    /// False when a store's group reads its target at other positions than it writes: the value needs a temporary first.
    bool run();
    std::vector<KernelPlan>& kernels() { return kernels_; }
    const std::vector<Partial>& partials() const { return partials_; }
    /// Instructions of its group that a kernel computes, operands before users.
    std::vector<int> computed(const KernelPlan& kernel) const;
    /// What an instruction is called: "add", "sum"; null for those that only bring a value.
    const char* operation(const FusedValue& fused) const;

private:
    struct Dim {
        Size extent;
        bool reduced;
        std::uint32_t member;  // the domain dim, one bit; 0: of blocks
    };
    void choose_layouts(const Group& group);
    // What a kernel computes and writes.
    KernelPlan draft(int group, KernelPlan::Stage stage);
    void make_partials(const Group& group);
    void add_reduction(KernelPlan& kernel, NodeId id);
    MemoryAccess partial_access(const KernelPlan& kernel, int number) const;
    void add_store(KernelPlan& kernel, NodeId id);
    int add_access(KernelPlan& kernel, MemoryAccess access) const;
    // What it reads, and in which loops.
    void add_loads(KernelPlan& kernel);
    bool resolve_target(KernelPlan& kernel);
    void make_loops(KernelPlan& kernel, const std::vector<Dim>& dims) const;
    void arrange(KernelPlan& kernel) const;
    void split_blocks(KernelPlan& kernel);
    void split_rows(KernelPlan& kernel);
    void tile(KernelPlan& kernel) const;
    void finish(KernelPlan& kernel);
    void find_keeps(KernelPlan& kernel);
    void estimate(KernelPlan& kernel) const;
    Size operations(const KernelPlan& kernel, const std::vector<bool>& in) const;
    std::string make_name(const KernelPlan& kernel) const;
    std::vector<bool> needed(const KernelPlan& kernel) const;

    Planner& planner_;
    std::vector<KernelPlan> kernels_;
    std::vector<Partial> partials_;
    std::vector<std::pair<NodeId, std::array<int, 2>>> partial_of_;  // reduction -> its scratch, in a split group
    Size blocks_ = 0;
};

/// Which values `targets` need, themselves included; Reduced ones and `leaves` need no others.
std::vector<bool> closure(const Group& group, const std::vector<int>& targets, const std::vector<int>& leaves = {});
bool is_arg(graph::ReduceOp op);
/// dtype in which a reduction's values are compared or combined.
DType reduction_dtype(const graph::Node* node);

}  // namespace pardo::plan

// src/plan/group/planner.h: cuts a walked graph into groups, and says what each group computes.
// This folder: what is computed together: which nodes are added to those asked for, which get memory, and which share a group.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/group/access.h"
#include "plan/subgraph.h"
#include "plan/tuning.h"

namespace pardo::plan {

/// One value at one map inside a group: what the kernel computes.
struct FusedValue {
    enum class Kind : std::uint8_t {
        Load,     // element of a leaf, or of a value that another group stores
        Scalar,   // a Constant's value, an argument
        Iota,     // index along an axis
        Op,       // row of ops.def on `in`
        Reduced,  // result of a reduction of this group; in[0] is what it reduces
        Cast,     // in[0] in another dtype
        Old,      // what the store's target holds
        Blend,    // in[0] ? in[1] : in[2]
    };
    Kind kind;
    DType dtype;
    NodeId node;
    Map map;
    int in[3] = {-1, -1, -1};
    std::uint32_t dims = 0;  // domain dims that the value depends on
    int ready = 0;           // number of inner loops that must be over before it can be computed
    double cost = 0;         // additions for one element, inputs included
};

/// How far inside a group's loops a value lives: in all of them, or outside of those over reduced dims.
enum class Level : std::uint8_t { Full, Outer };

/// What is known of each node during planning; the store, if any, is one more after the last node.
struct NodeInfo {
    bool materialized = false;  // a materialization point: computed once, in one group; everything else is computed where it is read
    bool required = false;      // becomes a Leaf
    bool alias = false;         // required View of a required input: becomes a Leaf when that does
    bool stored = false;        // has memory after its group has run
    int group = -1;
    int fused = -1;
    Level level = Level::Full;
    Map map;               // domain of its group -> its index
    Sizes strides;         // of its memory, once scheduled
    const char* why = "";  // why it is stored
    double cost = 0;       // additions and loads for one element, down to leaves and materialization points
    int operations = 0, loads = 0;
    int reductions = 0;  // on top of each other, down to leaves and to values that are stored because of their number
    Size reduced = 0;    // elements of the largest of their inputs
};
/// More reductions on top of each other are several kernels: a long chain becomes kernels of one shape, not one huge one.
inline constexpr int group_loops = 6;
/// Of a value in several others, whose costs add up.
inline constexpr double cost_cap = 1e9;

/// How the reduced dims of a group run.
enum class Strategy : std::uint8_t {
    Elementwise,  // none
    Unrolled,     // few elements: written out; lanes over the kept dims
    InnerLanes,   // lanes over the innermost reduced dim, items are the kept dims
    OuterLanes,   // lanes over the innermost kept dim, serial loops over the reduced ones
    Rows,         // as OuterLanes, for large arrays: whole rows are added to results in memory, so that everything is read in order
};
const char* name(Strategy strategy);

/// The nodes that one kernel (two, when `split`) computes over one index space.
struct Group {
    Sizes domain;
    std::uint32_t reduced = 0;  // dims of the domain that its reductions run over
    bool reduces = false;
    bool split = false;  // reductions run in blocks, then over the blocks' results in a second kernel
    Strategy strategy = Strategy::Elementwise;
    std::vector<FusedValue> values;  // operands before users
    std::unordered_map<NodeId, SmallVector<int, 2>> by_node;
    std::vector<NodeId> members;
    std::vector<int> needs;  // groups whose results it reads
    int loads = 0;
    const char* cut = "";  // why it is not part of an earlier group
};

/// Elements along some dims of a domain.
Size count_over(const Sizes& domain, std::uint32_t dims);

/// Groups of one force, explain or store.
class Planner {
public:
    Planner(const Subgraph& subgraph, device::Execution execution);
    /// Cuts into groups; `order()` then gives them so that each comes after those it needs.
    void run();

    const Subgraph& subgraph() const { return subgraph_; }
    const Tuning& tuning() const { return tuning_; }
    std::vector<Group>& groups() { return groups_; }
    const std::vector<Group>& groups() const { return groups_; }
    const std::vector<int>& order() const { return order_; }
    NodeInfo& info(NodeId id) { return info_[id]; }
    const NodeInfo& info(NodeId id) const { return info_[id]; }
    NodeId store_id() const { return static_cast<NodeId>(subgraph_.nodes.size()); }
    bool is_store(NodeId id) const { return subgraph_.target && id == store_id(); }
    const graph::Node* node(NodeId id) const { return is_store(id) ? subgraph_.target : subgraph_.nodes[id]; }
    const Sizes& shape(NodeId id) const { return shapes_[id]; }
    Size size(NodeId id) const { return count(shapes_[id]); }
    /// Of its memory: as it is, or as its group's schedule has it.
    Sizes strides(NodeId id) const { return node(id)->in_memory() ? given(node(id)->strides) : info_[id].strides; }
    /// Inputs within the subgraph: what a call is computed from is not a part of it.
    int arity(NodeId id) const { return subgraph_.in_memory(subgraph_.nodes[id]) ? 0 : subgraph_.nodes[id]->arity; }
    NodeId input(NodeId id, int k) const { return subgraph_.nodes[id]->inputs[k]->index; }

private:
    /// What one try to place a materialization point has added to a group, to be kept or taken back.
    struct Attempt {
        int group = -1;
        bool bounded = true;  // limits apply: not for the first of a group
        NodeId placing = no_node;
        std::size_t values = 0;  // before the try
        int loads = 0;
        std::vector<int> needs;     // groups that would be read
        std::vector<NodeId> reads;  // their values that are read, which then need memory
        Level level = Level::Full;
        Map map;
        int fused = -1;
        std::uint32_t reduced = 0;
    };
    // materialization.cpp
    void choose_required();
    void choose_materialization_points();
    // group.cpp
    void place(NodeId id);
    std::vector<int> candidates(NodeId id) const;
    bool build(int group, NodeId id, bool bounded);
    bool place_reduce(Attempt& attempt, NodeId id);
    bool place_elementwise(Attempt& attempt, NodeId id);
    bool place_at(Attempt& attempt, NodeId id, Level level);
    void commit(Attempt& attempt, NodeId id);
    void roll_back(Attempt& attempt);
    bool reaches(int from, int to) const;
    bool has_arg(const Group& group) const;
    void choose_strategy(Group& group) const;
    void sort_groups();
    // values.cpp; all give the position of the value in the group, or -1 with a reason
    int instance(Attempt& attempt, NodeId id, const Map& map);
    int operation(Attempt& attempt, NodeId id, const Map& map);
    int store_expression(Attempt& attempt, const Map& map);
    int load(Attempt& attempt, NodeId id, const Map& map);
    int find(const Group& group, NodeId id, const Map& map) const;
    int add(Attempt& attempt, FusedValue fused);
    int fail(const char* reason);

    const Subgraph& subgraph_;
    const Tuning& tuning_;
    std::vector<NodeInfo> info_;
    std::vector<Sizes> shapes_;
    std::vector<Group> groups_;
    std::vector<int> order_;
    bool fuse_;
    const char* reason_ = "";  // why the last attempt failed
    mutable std::vector<std::uint32_t> seen_;
    mutable std::uint32_t seen_mark_ = 0;
};

}  // namespace pardo::plan

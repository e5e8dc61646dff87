// src/plan/subgraph.h: one pass over pending nodes: collects them in order, and writes the signature that finds a finished plan.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include <pardo/array.h>

#include "graph/node.h"

namespace pardo::plan {

using NodeId = std::uint32_t;
inline constexpr NodeId no_node = ~0u;

/// What subgraphs that differ only in sizes have in common, and the numbers by which one of them differs.
struct PlanClass {
    static constexpr std::size_t most_numbers = 64;
    std::vector<std::uint8_t> key;
    std::vector<std::int64_t> numbers;  // different ones beyond -1, 0 and 1, in the order of the key
    bool complete = true;               // false: there are too many
};

/// The pending nodes below some roots, inputs before users, with the leaves they read. Reused from pass to pass.
struct Subgraph {
    enum Flag : std::uint8_t {
        Root = 1,
        Held = 2,      // the value is needed outside of this graph later
        Same = 4,      // store: a leaf that names the target's elements by the same indices
        Overlaps = 8,  // store: a leaf that may have other elements in common with the target
    };
    std::vector<graph::Node*> nodes;
    std::vector<std::uint32_t> uses;  // references from within
    std::vector<std::uint8_t> flags;
    std::vector<NodeId> leaves;
    std::vector<std::uint8_t> key;
    bool calls = false;  // some nodes are calls, to be computed before the others are planned
    /// Set by a caller that plans part after part and computes nothing: what earlier parts compute; views are not among them. What these
    /// and calls are computed from is left out.
    const std::unordered_set<const graph::Node*>* computed = nullptr;

    // store: target[...] = value where `where`
    graph::Node* target = nullptr;
    NodeId target_id = no_node, value_id = no_node, where_id = no_node;

    /// Collects; afterwards node->index is the position of each node in `nodes`.
    void collect(std::span<graph::Node* const> roots);
    /// As collect, for a store; `references` to `value` do not count if they are dropped after it. Where that is not sure, they do count
    /// when the value reads the target's buffer: it could not be computed again.
    void collect_store(graph::Node* store_target, graph::Node* value, graph::Node* where, After after, int references);
    /// Writes `key`: structure, dtypes, shapes, strides, which leaves are of one buffer, and how each lies to the target; no values,
    /// addresses or offsets. What a plan does is a function of the key and of the device.
    void write_key();
    /// Likewise for values of any size: what does not depend on numbers, and each number at its place; not those of float constants.
    struct Outline {
        std::vector<std::uint8_t> structure;
        std::vector<std::int64_t> numbers;
        /// For each node where its own number is: of a leaf its offset, of a constant its value if that is an integer.
        std::vector<std::size_t> own;
    };
    Outline outline() const;
    /// Whether the plan finds the value in memory: a leaf, a call, which is computed before its users are planned, or a value of
    /// `computed`.
    bool in_memory(const graph::Node* node) const { return node->in_memory() || (computed && computed->contains(node)); }
    /// The key in two parts: what does not depend on numbers, and the numbers.
    PlanClass plan_class() const;
    bool contains(const graph::Node* node) const { return node->mark == mark_; }
    /// True when a pending node outside reads this memory.
    bool read_outside(const device::Buffer* buffer) const;
    void clear();

private:
    struct Frame {
        graph::Node* node;
        int next;
    };
    void begin();
    void visit(graph::Node* root);
    void mark_held();
    template <class Writer> void write(Writer& out) const;
    bool reads_target() const;
    void mark_overlaps();
    std::vector<Frame> stack_;
    std::uint32_t mark_ = 0;
};

/// The integer that a scalar is, if it is one that floats and integers hold alike.
std::optional<std::int64_t> integer_of(const Scalar& scalar);
/// A mark that no node carries yet.
std::uint32_t fresh_mark();

}  // namespace pardo::plan

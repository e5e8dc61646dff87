// src/graph/call.h: operations that are not one fused loop (products of matrices, sorting, running sums, gathers), as nodes.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/text.h"
#include "graph/call_cost.h"
#include "graph/node.h"

namespace pardo::graph {

/// An input of a call as it is in memory, or will be.
struct CallInput {
    const Node* node;
    Strides strides;  // elements
};

/// Which code computes a call.
struct ImplementationChoice {
    std::string name;                   // empty: none takes these inputs
    std::vector<std::string> rejected;  // cheaper ones, and why they are not taken: "cuBLAS: not installed; …"
    bool on_host = false;               // on copies of the operands
};

/// One recorded operation, shared by the nodes of its results. src/array derives one class for each operation, with its attributes
/// as members.
struct Call : RefCounted<Call> {
    static constexpr std::size_t most_results = 4, most_inputs = 3;

    explicit Call(const char* op_name) : name(op_name) {}
    virtual ~Call() = default;
    /// Submits the computation, and gives each result as a Leaf. Inputs are Leaves, of any strides. The graph lock may be held.
    virtual void run(std::span<Node* const> inputs, std::span<Ref<Node>> results) const = 0;
    /// What `run` will take, for explain; its results have elements.
    virtual ImplementationChoice implementation(std::span<const CallInput> inputs) const = 0;
    /// How its cost is estimated.
    virtual CallCost cost_row() const { return CallCost::elements; }

    const char* name;                           // what the user called; of static life
    Text location;                              // where in the caller's language
    std::array<Node*, most_results> results{};  // those that are pending; guarded by the graph lock
};

/// Tells the transfer hook, if there is one, of a routine that goes through the host; throws what it throws. No lock may be held.
class TransferQuestion {
public:
    /// Whether there is a hook, and work of this queue may concern it; otherwise its implementation need not be looked up.
    static bool wanted(const device::Queue* queue) noexcept;
    static void ask(const char* op_name, std::int64_t bytes, const device::Queue* queue, const ImplementationChoice& choice);
    /// Tells of a 0-d array of the CPU that is about to be copied to the queue of other operands.
    static void ask_to_follow(const char* op_name, std::int64_t bytes, const device::Queue* queue);
    /// While it lives this thread does not call the hook: a recorded call has asked when it was recorded, for all routines that it runs.
    class Answered {
    public:
        Answered() noexcept;
        ~Answered();
        Answered(const Answered&) = delete;

    private:
        bool outer_;
    };
};

}  // namespace pardo::graph

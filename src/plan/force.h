// src/plan/force.h: decides what runs now, and cuts it into launches.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <pardo/array.h>
#include <pardo/error.h>

#include "graph/node.h"
#include "graph/record.h"

namespace pardo {
struct PlanStep;
}

namespace pardo::plan {

/// What a force does with the graph lock while it compiles what it has no program for.
enum class Compile : std::uint8_t {
    Locked,    // keeps it
    Unlocked,  // lets go of it, if the caller's one is the only lock that the thread holds: others may record, write and compute meanwhile
};

/// Computes `roots` and every still-referenced pending node on the way; submits, does not wait. Afterwards every root is a Leaf.
/// On failure (memory, compilation) nothing has changed and the error is thrown. Caller holds the graph lock; roots share one queue.
void force(std::span<graph::Node* const> roots, Compile compile = Compile::Locked);

/// target[...] = value, fused into one kernel where that is safe, through a temporary where target and value's inputs overlap.
/// `target` is a Leaf; value broadcasts to it and is cast to its dtype. Pending readers of the target's buffer are computed first, as by
/// force_readers. The kernel that writes the target is launched last: on failure before that the target is what it was.
/// `where` (Bool, broadcast) leaves elements alone where false; may be null. `references`: those to `value` that the caller lets go if
/// `after` says so; when there are no others, the value gets no memory of its own.
/// False, with Compile::Unlocked: programs were missing, they are there now, and nothing is stored. The caller looks at its values again,
/// for others may have changed the graph meanwhile, and stores again.
bool store(graph::Node* target, graph::Node* value, graph::Node* where, After after = After::Kept, int references = 0,
           Compile compile = Compile::Locked);

/// Computes the pending nodes that read `buffer` and that the program still holds: called before the memory is written or handed to
/// outside code. A node that cannot be computed becomes a failed value, and nothing is thrown. Afterwards no pending node reads the buffer.
/// The caller holds the queue's graph lock, and with Compile::Unlocked a reference to the buffer.
void force_readers(device::Buffer* buffer, Compile compile = Compile::Locked);

/// Forces every pending node of a queue that the program holds. What cannot be computed becomes a failed value; then throws its error.
void force_pending(device::Queue* queue);

/// The plan for `roots` as text, and the same as data if `steps` is given; computes nothing.
std::string explain(std::span<graph::Node* const> roots, std::vector<PlanStep>* steps = nullptr);

/// Acts on a verdict that is not None; counts and logs it. Foreign, Depth: forces `fresh`; else every pending node that the program holds,
/// oldest first. Caller holds the graph lock, which may be let go of as by Compile::Unlocked, and a reference to `fresh`. But for Foreign,
/// programs are compiled later (device::CompileLater).
void flush(graph::Flush verdict, graph::Node* fresh);

/// Computes nodes for the sake of another operation, which their failures are not part of: what cannot be computed becomes a failed value.
/// Gives the first failure, if any.
std::shared_ptr<const Error> force_each(const std::vector<Ref<graph::Node>>& nodes, Compile compile = Compile::Locked);

/// True unless PARDO_FUSION=off: then each node is a launch of its own.
bool fusion_enabled();
void set_fusion_enabled(bool on);  // tests

}  // namespace pardo::plan

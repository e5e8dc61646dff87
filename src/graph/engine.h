// src/graph/engine.h: what recording needs of the layers above. Defined in src/plan and src/lib, so that no include points upward.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pardo/array.h>

#include "graph/node.h"

namespace pardo {
struct PlanStep;
}

namespace pardo::plan {

/// Why a queue's pending work is submitted before a value is needed.
enum class Flush : std::uint8_t { None, Depth, Nodes, Bytes };
/// The flush bounds, for all back ends: 250 operations on top of each other, 4096 pending nodes, half the device's memory pinned.
Flush flush_verdict(const graph::GraphState& state, const graph::Node& fresh);
/// Acts on a verdict that is not None; counts and logs it. Depth: forces `fresh`; else every pending node that the program holds, oldest
/// first. Caller holds the graph lock, which may be let go of as by Compile::Unlocked, and a reference to `fresh`.
void flush(Flush verdict, graph::Node* fresh);

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

/// Computes what pending nodes read from `buffer`, as far as the program holds it: called before the memory is written or handed to
/// outside code. What cannot be computed becomes a failed value; nothing is thrown for it. Caller holds the queue's graph lock, and the
/// buffer, if the lock may be let go of; at the end there are no readers in any case.
void force_readers(device::Buffer* buffer, Compile compile = Compile::Locked);

/// Forces every pending node of a queue that the program holds. What cannot be computed becomes a failed value; then throws its error.
void force_pending(device::Queue* queue);

/// The plan for `roots` as text, and the same as data if `steps` is given; computes nothing.
std::string explain(std::span<graph::Node* const> roots, std::vector<PlanStep>* steps = nullptr);

}  // namespace pardo::plan

namespace pardo::lib {

/// The exponents; what reads them fails if the device finds a negative one.
Array checked_exponents(const Array& y);
// See pardo/log.h.
bool float_errors_wanted() noexcept;
/// While it lives nothing is noted on this thread: for operations that the library records on its own.
class NoFloatErrors {
public:
    NoFloatErrors() noexcept;
    ~NoFloatErrors();
    NoFloatErrors(const NoFloatErrors&) = delete;

private:
    bool outer_;
};
/// What `compute` gives, an operation on these operands in dtype `loop`, and notes what it signals.
Array note_float_errors(graph::Op op, std::span<const Operand> operands, DType loop, Array (*compute)(const void*), const void* context);
template <class F> Array note_float_errors(graph::Op op, std::span<const Operand> operands, DType loop, const F& compute) {
    return note_float_errors(
        op, operands, loop, [](const void* f) { return (*static_cast<const F*>(f))(); }, &compute);
}
/// The same of a sum or product along axes.
Array note_float_errors_of_fold(const Array& x, const Array& folded, std::uint32_t axes, bool keepdims);
/// The reduction of all elements, if they are in memory and the library has code that ends as soon as the result is known: any and all of
/// bools, their number, places of extreme bools and narrow integers. Any other one is a kernel's, as are these on devices.
std::optional<Array> reduced_early(graph::ReduceOp op, const Array& x);
// See src/lib/gather.h.
Array gather(const Array& base, std::span<const Array> indices, std::span<const int> axes);
void scatter(const Array& base, std::span<const Array> indices, std::span<const int> axes, const Array& value);
Array compress(const Array& x, const Array& mask);
void put_mask(const Array& x, const Array& mask, const Array& value);

}  // namespace pardo::lib

// src/array/record.h: records operations on arrays, and gives access to their memory.
// This folder: the public functions on arrays, above plans and routines.
#pragma once

#include <array>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include <pardo/array.h>
#include <pardo/ops.h>

#include "graph/infer.h"
#include "graph/node.h"
#include "graph/record.h"
#include "graph/rows.h"
#include "plan/force.h"

namespace pardo::arrays {

using graph::byte_count;
using graph::check_number;
using graph::check_output_cast;
using graph::default_on;
using graph::Inferred;
using graph::Kind;
using graph::make_constant;
using graph::make_elementwise;
using graph::make_leaf;
using graph::make_leaf_view;
using graph::make_view;
using graph::Node;
using graph::Op;
using graph::ReduceOp;
using graph::ResultType;
using graph::state_of;
using graph::ViewMap;
using graph::with_scalar_value;

[[noreturn, gnu::cold]] void throw_without_value(const char* op_name);
/// The node of an array that a caller gives; a Value error of an empty handle. What has been checked asks x.node().
inline Node& node_of(const Array& x, const char* op_name) {
    if (!x.node()) [[unlikely]]
        throw_without_value(op_name);
    return *x.node();
}
[[gnu::cold]] void arrive_now(const Array& x);
/// Brings what is on its way from another queue (graph::Kind::Transfer) into memory: whoever is about to make x an input does so, before
/// the lock of its queue is taken. Throws its error.
inline void arrive(const Array& x) {
    if (x.node()->is_transfer()) [[unlikely]]
        arrive_now(x);
}
/// The graph of x, whose lock may be taken to record what reads x.
inline graph::GraphState& graph_of(const Array& x) {
    arrive(x);
    return state_of(x.node()->queue.get());
}
/// The queue that all arrays share, which need not have arrived; throws Placement as "<op_name>: …" naming both queues.
device::Queue* queue_among(const char* op_name, std::span<const Array* const> arrays);
/// The same of operands: they arrive.
device::Queue* common_queue(const char* op_name, std::span<const Array* const> arrays);
/// Whether x goes where the arrays are that it meets: 0-d arrays of the CPU do, as NumPy's numbers.
bool follows(const Array& x);
/// What decides where a result is: arrays that do not follow, before those that follow on a queue of one's own, before those on a canonical
/// one, where numbers are that no call has placed.
enum class Pull : std::uint8_t { Canonical, OwnQueue, Fixed };
Pull pull_of(const Array& x);
/// x on the queue of what it meets: a copy if it follows, which the hook for copies is told of, else x itself.
Array following(const Array& x, device::Queue* queue, const char* op_name);
/// As common_queue, of the arrays among operands; the default queue when all are scalars.
device::Queue* common_queue(const char* op_name, std::span<const Operand> operands);

/// Operands as recording takes them. Points to their nodes and numbers.
class Inputs {
public:
    explicit Inputs(std::span<const Operand> operands) : count_(operands.size()) {
        for (std::size_t i = 0; i < count_; ++i)
            list_[i] = operands[i].array() ? graph::Input(operands[i].array()->node()) : graph::Input(operands[i].scalar());
    }
    /// The same operands, whose handles others may have rebound meanwhile.
    void look_again(std::span<const Operand> operands) {
        for (std::size_t i = 0; i < count_; ++i) {
            if (operands[i].array() && operands[i].array()->node() != list_[i].node) list_[i] = graph::Input(operands[i].array()->node());
        }
    }
    operator std::span<const graph::Input>() const { return std::span(list_).first(count_); }

private:
    std::array<graph::Input, 3> list_;  // no operation has more
    std::size_t count_;
};
/// As graph::infer.
inline Inferred infer(Op op, std::span<const Operand> operands, std::optional<DType> dtype) {
    return graph::infer(op, Inputs(operands), dtype);
}

// Recording. These take the queue's graph lock themselves.
/// Records row `op`; what every public function of ops.def does.
Array record(Op op, std::span<const Operand> operands, std::optional<DType> dtype = {});
/// The values in another dtype; x itself when it has it already.
Array cast(const Array& x, DType dtype);
/// Complex numbers from two float arrays of one dtype.
Array from_parts(const Array& re, const Array& im);
/// A fresh node as an array, after the flush rules: forces it when it reads memory that outside code may write, or when too much is
/// pending. Caller holds the graph lock.
Array finish(Ref<Node> node);
/// The values as an operation's result: a later write to the memory does not change them, and a 0-d one behaves as a number.
Array scalar_copy(const Array& view);
/// A new array with uninitialised, row-major memory; `op_name` begins the message when memory does not suffice.
Array make_empty(device::Queue* queue, DType dtype, Shape shape, const char* op_name = "array", MemoryKind kind = MemoryKind::Device);
/// The kind of memory for what is made from x, no_kind if x only follows; forces x if its device has memory of several kinds.
MemoryKind kind_after(const Array& x);
/// Forces the node and gives its Leaf fields; does not wait.
void ensure_leaf(const Array& x);
/// An event after all of `events`; on an out-of-order queue after these alone. If all are over: one that failed, else none, or on a
/// profiling queue the last that has times.
Event joined(device::Queue* queue, std::vector<Event> events);
/// Forces x; false when its memory must not be written (imported read-only, or a broadcast view).
bool is_writeable(const Array& x);
/// Throws Value for what is not.
void require_writeable(const char* op_name, const Array& x);
/// x itself when it is row-major contiguous memory of that dtype, else a forced copy that is.
Array as_contiguous(const Array& x, std::optional<DType> dtype = {});
/// Whether other code uses the memory at the same time, or leaves it to us until it takes it back (retire_memory).
enum class Owner : std::uint8_t { Uses, Lends };
/// An array on memory that other code owns; see share_host and import_memory.
Array share_memory(const char* op_name, void* data, DType dtype, Extents shape, Extents strides, MemoryKind kind, bool read_only,
                   std::function<void()> release, const Queue& queue, Owner owner = Owner::Uses);

/// target[...] = value where `where` (null: everywhere) is true; as plan::store, with NumPy's broadcasting and read-only errors for
/// `op_name`.
void store(const char* op_name, const Array& target, const Array& value, const Array* where = nullptr, After after = After::Kept);
/// The same for one who holds the graph lock once, and has seen that the target is writeable. False: see plan::store; the lock was free.
bool store_locked(const char* op_name, const Array& target, const Array& value, const Array* where, After after, plan::Compile compile);
/// Computes the value into new memory, which nothing else uses.
void fill(const Array& fresh, const Array& value);

}  // namespace pardo::arrays

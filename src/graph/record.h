// src/graph/record.h: what the layers above and beside (lib, public API) use to record operations and to get at memory.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>

#include <pardo/array.h>
#include <pardo/ops.h>

#include "graph/node.h"

namespace pardo::plan {
enum class Compile : std::uint8_t;  // graph/engine.h
}

namespace pardo::graph {

// Rows of ops.def.
const OpInfo& op_row(Op op) noexcept;  // also those that are not public functions
const char* name(Op op) noexcept;
/// Throws unless `id` is a public row that takes so many operands.
void check_row(const char* op_name, int id, std::size_t operands);

/// The queue that all operands share; throws Placement as "<op_name>: …" naming both queues.
device::Queue* common_queue(const char* op_name, std::span<const Array* const> arrays);
/// Whether x goes where the arrays are that it meets: 0-d arrays of the CPU do, as NumPy's numbers.
bool follows(const Array& x);
/// What decides where a result is: arrays that do not follow, before those that follow on a queue of one's own, before those on a canonical
/// one, where numbers are that no call has placed.
enum class Pull : std::uint8_t { Canonical, OwnQueue, Fixed };
Pull pull_of(const Array& x);
/// x on the queue of what it meets: a copy if it follows, which the hook for copies is told of, else x itself.
Array following(const Array& x, device::Queue* queue, const char* op_name);
/// As above, of the arrays among operands; the default queue when all are scalars.
device::Queue* common_queue(const char* op_name, std::span<const Operand> operands);

/// dtype of row `op` on operands with these dtypes: the dtype inputs are cast to (`where`: all but the first, which is cast to Bool), and
/// the result's. Throws Type as NumPy's UFuncTypeError does.
struct Inferred {
    DType loop, result;
};
Inferred infer(Op op, std::span<const Operand> operands, std::optional<DType> dtype);
/// `t`, or what takes its place on a device without float64: for dtypes that were not asked for.
DType default_on(const device::Queue* queue, DType t);
/// Throws as NumPy does when a number cannot be stored as a `t`: integers out of bounds, NaN and infinity as integers, complex as real.
void check_number(const char* op_name, const Scalar& value, DType t);
/// Throws Type unless `from` may be cast to `to` under same_kind: results going into out= and in-place operators.
void check_output_cast(const char* op_name, DType from, DType to);

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
/// Makes 0-d results behave as NumPy's scalars.
inline Ref<Node> with_scalar_value(Ref<Node> node) {
    node->scalar_value = node->shape.empty();
    return node;
}

/// The values as an operation's result: a later write to the memory does not change them, and a 0-d one behaves as a number.
Array scalar_copy(const Array& view);
/// The node of an operand in a dtype (a Constant for scalars; a cast node when the dtype differs). Caller holds the graph lock.
Ref<Node> operand_node(const Operand& operand, DType dtype, device::Queue* queue);
/// Bytes of an array; throws Memory as "<op_name>: …" when int64 cannot count them.
std::int64_t byte_count(DType dtype, std::span<const std::int64_t> shape, const char* op_name = "array");
/// A new array with uninitialised, row-major memory; `op_name` is named when there is not so much.
Array make_empty(device::Queue* queue, DType dtype, Shape shape, const char* op_name = "array", MemoryKind kind = MemoryKind::Device);
/// The kind of memory for what is made from x, no_kind if x only follows; forces x if its device has memory of several kinds.
MemoryKind kind_after(const Array& x);
/// Forces the node and gives its Leaf fields; does not wait.
void ensure_leaf(const Array& x);
/// An event after all of `events`; on an out-of-order queue after these alone. If all are over: one that failed, or none.
Event joined(device::Queue* queue, std::vector<Event> events);
/// Forces x; false when its memory must not be written (imported read-only, or a broadcast view).
bool is_writeable(const Array& x);
/// Throws Value for what is not.
void require_writeable(const char* op_name, const Array& x);
/// x itself when it is row-major contiguous memory of that dtype, else a forced copy that is.
Array as_contiguous(const Array& x, std::optional<DType> dtype = {});
/// An array on memory that other code owns; see share_host and import_memory.
Array share_memory(const char* op_name, void* data, DType dtype, Extents shape, Extents strides, MemoryKind kind, bool read_only,
                   std::function<void()> release, const Queue& queue);

/// target[...] = value where `where` (null: everywhere) is true; as plan::store, with NumPy's broadcasting and read-only errors for
/// `op_name`.
void store(const char* op_name, const Array& target, const Array& value, const Array* where = nullptr, After after = After::Kept);
/// The same for one who holds the graph lock once, and has seen that the target is writeable. False: see plan::store; the lock was free.
bool store_locked(const char* op_name, const Array& target, const Array& value, const Array* where, After after, plan::Compile compile);
/// Computes the value into new memory, which nothing else uses.
void fill(const Array& fresh, const Array& value);

}  // namespace pardo::graph

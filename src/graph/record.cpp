// src/graph/record.cpp: recording: makes the node of an operation, and says whether pending work is to be submitted now.
#include "graph/record.h"

#include <algorithm>
#include <string>

#include <pardo/error.h>

#include "base/env.h"
#include "device/device.h"
#include "graph/call.h"
#include "graph/call_cost.h"
#include "graph/rows.h"

namespace pardo::graph {
namespace {

// Bytes of distinct arrays that pending work reads, from which on it starts: some 50 ms of a processor, some 4 ms of a GPU.
constexpr std::int64_t worth_reading = std::int64_t{1} << 30, worth_reading_away = std::int64_t{1} << 34;
// A cut stores the values that are needed after it: work that reads so many times as much hardly notices.
constexpr std::int64_t times_the_value = 8;

// A loop whose values are never read is cut here, in equal pieces: one kernel serves them all.
constexpr std::uint32_t most_depth = 250;

[[noreturn]] void throw_broadcast(Op op, std::span<Node* const> inputs) {
    std::string text = std::string(name(op)) + ": operands could not be broadcast together with shapes";
    for (Node* input : inputs) text += " " + to_string(input->shape);
    throw Error(ErrorCode::Value, text);
}

Shape broadcast_inputs(Op op, DType result, std::span<Node* const> inputs) {
    Shape shape = inputs[0]->shape;
    bool grown = false;
    for (Node* input : inputs.subspan(1)) {
        if (input->shape == shape) continue;
        if (!broadcast_into(shape, input->shape)) throw_broadcast(op, inputs);
        grown = true;
    }
    if (grown || itemsize(result) > itemsize(inputs[0]->dtype)) (void)byte_count(result, shape, name(op));  // throws beyond int64
    return shape;
}

/// A lossless cast has nothing to add to the one that follows it.
Node* beneath_lossless_cast(Node* node, DType to) {
    if (node->kind != Kind::Elementwise || node->op() != Op::cast) return node;
    Node* inner = node->inputs[0].get();
    if (inner->shape != node->shape || !can_cast_safe(inner->dtype, node->dtype)) return node;
    if (is_integer(inner->dtype) && itemsize(inner->dtype) == 8 && is_inexact(node->dtype)) return node;  // int64 -> float64 rounds
    return is_inexact(inner->dtype) && !is_inexact(to) ? node : inner;
}

Ref<Node> cast_node(Node* node, DType to) {
    if (itemsize(to) > itemsize(node->dtype)) (void)byte_count(to, node->shape, "astype");  // throws beyond int64
    if (node->kind == Kind::Constant) return make_constant(node->queue, node->scalar().cast(to), node->shape);
    Node* const inputs[] = {beneath_lossless_cast(node, to)};
    if (inputs[0]->dtype == to) return inputs[0];
    return make_elementwise(Op::cast, to, inputs[0]->shape, inputs);
}

bool is_foreign(const Node& node) { return node.kind == Kind::Leaf && node.buffer->externally_writable(); }

/// Looks through casts: they are made together with the operation and not finished themselves. Every other pending input was forced when it
/// was recorded.
bool reads_foreign_memory(const Node& node) {
    for (int i = 0; i < node.arity; ++i) {
        const Node& input = *node.inputs[i];
        if (is_foreign(input) || (input.kind == Kind::Elementwise && input.op() == Op::cast && is_foreign(*input.inputs[0]))) return true;
    }
    return false;
}

bool is_worth_reading(const Node& fresh, const GraphState& state) {
    if (state.pinned_bytes <= worth_reading) return false;
    if (state.pinned_bytes <= worth_reading_away && !device::is_processor(fresh.queue->device())) return false;
    std::int64_t largest = fresh.size() * itemsize(fresh.dtype);
    for (int i = 0; i < fresh.arity; ++i) largest = std::max(largest, fresh.inputs[i]->size() * itemsize(fresh.inputs[i]->dtype));
    return state.pinned_bytes > times_the_value * largest;
}

}  // namespace

bool starts_early() {
    static const bool on = env_flag("PARDO_EAGER", true);
    return on;
}

Ref<Node> record(Op op, DType result, std::span<Node* const> inputs) {
    return with_scalar_value(make_elementwise(op, result, broadcast_inputs(op, result, inputs), inputs));
}

Ref<Node> record(Op op, std::span<const Input> operands, const Inferred& types, device::Queue* queue) {
    Ref<Node> made[3];
    Node* inputs[3];
    const std::size_t count = operands.size();
    for (std::size_t i = 0; i < count; ++i) {
        const DType wanted = op == Op::where && i == 0 ? DType::Bool : types.loop;
        if (operands[i].node && operands[i].dtype == wanted) {
            inputs[i] = operands[i].node;
        } else {
            made[i] = input_node(operands[i], wanted, queue);
            inputs[i] = made[i].get();
        }
    }
    return record(op, types.result, {inputs, count});
}

Ref<Node> record_cast(Node* x, DType dtype) {
    Ref<Node> node = cast_node(x, dtype);
    // Back where a lossless cast began: a copy nevertheless, others may write into that array.
    if (x->arity == 1 && node.get() == x->inputs[0].get()) {
        Node* const inputs[] = {node.get()};
        node = make_elementwise(Op::cast, dtype, node->shape, inputs);
    }
    return with_scalar_value(std::move(node));
}

Ref<Node> input_node(const Input& operand, DType dtype, device::Queue* queue) {
    if (operand.number) return make_constant(queue, operand.number->cast(dtype), {});
    return operand.dtype == dtype ? Ref<Node>(operand.node) : cast_node(operand.node, dtype);
}

const char* name(Flush verdict) noexcept {
    constexpr const char* names[] = {"none", "foreign memory", "a call that is worth it", "depth", "nodes", "bytes"};
    return names[static_cast<int>(verdict)];
}

Flush flush_verdict(const Node& fresh) {
    if (reads_foreign_memory(fresh)) return Flush::Foreign;
    const GraphState& state = state_of(fresh.queue.get());
    const auto early = [&state] { return starts_early() && !state.capture; };
    if (fresh.kind == Kind::Call && early() && estimate_call(fresh).worth_starting()) return Flush::Worth;
    if (fresh.depth >= most_depth) return Flush::Depth;
    if (state.pending_count >= most_pending_nodes) return Flush::Nodes;
    if (state.pinned_bytes > fresh.queue->device()->info().global_mem_size / 2) return Flush::Bytes;
    if (is_worth_reading(fresh, state) && early()) return Flush::Bytes;
    return Flush::None;
}

}  // namespace pardo::graph

// src/array/transfer.cpp: values in from the host, out to it, and from one queue to another.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <pardo/array.h>
#include <pardo/binding/exchange.h>
#include <pardo/error.h>
#include <pardo/ops.h>

#include "array/call.h"
#include "array/record.h"
#include "base/counters.h"
#include "device/event.h"
#include "device/waiting.h"
#include "ir/eval.h"
#include "plan/force.h"

namespace pardo {
namespace {

using graph::Kind;
using graph::Node;

constexpr char transfer_name[] = "to_device";

/// Elements in a row whose copy by the host is cheaper than a kernel that may have to be compiled.
constexpr std::int64_t host_copy_limit = 1 << 17;  // bytes

/// Copies one innermost run; `step` in bytes.
template <std::size_t Size> void copy_run(char* to, const char* from, std::int64_t count, std::int64_t step) {
    if (step == static_cast<std::int64_t>(Size)) {
        std::memcpy(to, from, static_cast<std::size_t>(count) * Size);
        return;
    }
    for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i * static_cast<std::int64_t>(Size), from + i * step, Size);
}

using CopyRun = void (*)(char*, const char*, std::int64_t, std::int64_t);

CopyRun copy_run_for(int size) {
    switch (size) {
        case 1: return copy_run<1>;
        case 2: return copy_run<2>;
        case 4: return copy_run<4>;
        case 8: return copy_run<8>;
        default: return copy_run<16>;
    }
}

/// Gathers a strided block (strides in bytes, any alignment) into row-major order.
void pack(char* to, const char* from, int size, Extents shape, Extents strides) {
    const std::int64_t total = element_count(shape);
    if (total == 0) return;
    // Dimensions that are one run in memory become one.
    Shape extents;
    Strides steps;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 1) continue;
        if (!extents.empty() && steps.back() == strides[d] * shape[d]) {
            extents.back() *= shape[d];
            steps.back() = strides[d];
        } else {
            extents.push_back(shape[d]);
            steps.push_back(strides[d]);
        }
    }
    const CopyRun run = copy_run_for(size);
    if (extents.empty()) return run(to, from, 1, size);
    const std::int64_t inner = extents.back(), inner_step = steps.back();
    extents.pop_back();
    steps.pop_back();
    Shape index(extents.size(), 0);
    for (std::int64_t done = 0; done < total; done += inner) {
        run(to + done * size, from, inner, inner_step);
        for (int d = extents.size() - 1; d >= 0; --d) {
            from += steps[d];
            if (++index[d] < extents[d]) break;
            from -= steps[d] * extents[d];
            index[d] = 0;
        }
    }
}

Strides byte_strides(const Node& leaf) {
    Strides strides = leaf.strides;
    for (std::int64_t& s : strides) s *= itemsize(leaf.dtype);
    return strides;
}

/// The value of an array that is one number everywhere and has no memory yet.
std::optional<Scalar> constant_value(Node& node) {
    if (!node.pending()) return {};
    std::lock_guard guard(graph::state_of(node.queue.get()).lock);
    if (node.kind != Kind::Constant) return {};
    return node.scalar();
}

Shape checked_shape(const char* op_name, Extents shape) {
    check_rank(op_name, shape.size());
    return Shape(shape);
}

}  // namespace

Array from_host(const void* data, DType dtype, Extents shape, Extents strides_bytes, const Queue& queue, MemoryKind kind,
                const char* op_name) {
    (void)memory_range(op_name, data, dtype, shape, strides_bytes, 1);
    const Array x = arrays::make_empty(queue.impl(), dtype, Shape(shape), op_name, kind);
    const auto bytes = static_cast<std::size_t>(x.nbytes());
    if (bytes == 0) return x;
    count_copy(x.nbytes());
    Strides packed = contiguous_strides(shape);
    bool contiguous = true;
    for (int d = 0; d < packed.size(); ++d)
        contiguous &= shape[static_cast<std::size_t>(d)] == 1 || strides_bytes[static_cast<std::size_t>(d)] == packed[d] * itemsize(dtype);
    Node& leaf = *x.node();
    if (contiguous) {
        leaf.queue->write(leaf.buffer.get(), 0, data, bytes);
        return x;
    }
    const std::unique_ptr<char[]> staging(new char[bytes]);
    pack(staging.get(), static_cast<const char*>(data), itemsize(dtype), shape, strides_bytes);
    leaf.queue->write(leaf.buffer.get(), 0, staging.get(), bytes);
    return x;
}

Array share_host(void* data, DType dtype, Extents shape, Extents strides, bool read_only, std::function<void()> release, const Queue& queue,
                 const char* op_name) {
    return arrays::share_memory(op_name, data, dtype, shape, strides, MemoryKind::Host, read_only, std::move(release), queue);
}

Array arrays::share_memory(const char* op_name, void* data, DType dtype, Extents shape, Extents strides, MemoryKind kind, bool read_only,
                           std::function<void()> release, const Queue& queue, Owner owner) {
    const std::int64_t size = itemsize(dtype);
    // The block reaches from the lowest to the highest element; negative strides put the first one inside it.
    const MemoryRange range = memory_range(op_name, data, dtype, shape, strides, size);
    const auto alignment = static_cast<std::uintptr_t>(is_complex(dtype) ? size / 2 : size);
    if (range.bytes != 0 && reinterpret_cast<std::uintptr_t>(data) % alignment != 0) {
        throw Error(ErrorCode::Buffer,
                    std::string(op_name) +
                        ": memory at an address that is not a multiple of the element size cannot be shared; copy it (copy=True)");
    }
    const std::int64_t first = range.bytes == 0 ? 0 : static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) - range.low) / size;
    Strides steps = contiguous_strides(shape);
    for (int d = 0; d < steps.size() && range.bytes != 0; ++d) {
        if (shape[static_cast<std::size_t>(d)] > 1) steps[d] = strides[static_cast<std::size_t>(d)];  // others may be any number
    }
    char* const base = static_cast<char*>(data) - first * size;
    const Ref<Node> whole = graph::make_leaf(queue.impl(), dtype, Shape(shape), steps, first, nullptr);
    Ref<Node> shown = graph::make_leaf(queue.impl(), dtype, Shape(shape), std::move(steps), first, nullptr);
    shown->base = whole;  // the memory is not the array's own
    // Last: until then an exception leaves the memory to the caller.
    Ref<device::Buffer> buffer = queue.device().impl()->import(base, range.bytes, kind, std::move(release));
    queue.impl()->device()->note_kind(kind);
    if (owner == Owner::Uses) buffer->set_externally_writable();
    if (read_only) buffer->set_read_only();
    whole->buffer = buffer;
    shown->buffer = std::move(buffer);
    const Array array(shown.detach(), Array::Adopt{});
    return array;
}

Scalar Array::item() const {
    if (size() != 1)
        throw Error(ErrorCode::Value, "item: can only convert an array of size 1 to a Python scalar, got shape " + to_string(shape()));
    if (const std::optional<Scalar> value = constant_value(*node_)) return *value;
    force();
    const std::int64_t at = node_->offset * itemsize(node_->dtype);
    if (node_->buffer->host_visible()) {
        if (node_->buffer->busy()) node_->buffer->wait_for_read(graph::view_of(*node_));
        return ir::read_element(node_->dtype, static_cast<const char*>(node_->buffer->data()) + at);
    }
    alignas(16) char element[16];
    node_->queue->read(element, node_->buffer.get(), static_cast<std::size_t>(at), static_cast<std::size_t>(itemsize(node_->dtype)));
    return ir::read_element(node_->dtype, element);
}

void Array::copy_to(void* host) const {
    const Node& node = arrays::node_of(*this, "copy_to");
    const std::int64_t bytes = graph::byte_count(node.dtype, node.shape, "copy_to");
    force();
    if (bytes == 0) return;
    count_copy(bytes);
    const bool contiguous = pardo::is_contiguous(node_->shape, node_->strides);
    if (!contiguous && node_->buffer->host_visible() && bytes <= host_copy_limit) {
        if (node_->buffer->busy()) node_->buffer->wait_for_read(graph::view_of(*node_));
        const char* first = static_cast<const char*>(node_->buffer->data()) + node_->offset * itemsize(node_->dtype);
        return pack(static_cast<char*>(host), first, itemsize(node_->dtype), node_->shape, byte_strides(*node_));
    }
    const Array packed = contiguous ? *this : arrays::as_contiguous(*this);
    const Node& leaf = *packed.node();
    leaf.queue->read(host, leaf.buffer.get(), static_cast<std::size_t>(leaf.offset * itemsize(leaf.dtype)),
                     static_cast<std::size_t>(bytes));
}

namespace {

/// The values on another queue: the copy is submitted.
Array copied_to(const Array& x, device::Queue* queue) {
    const Array packed = arrays::as_contiguous(x);
    // The kind is kept on a device; on another one it would mean something else.
    const bool same_device = queue->device() == x.node()->queue->device();
    const MemoryKind kind = same_device ? packed.node()->buffer->kind() : MemoryKind::Device;
    const Array copy = arrays::make_empty(queue, packed.dtype(), packed.node()->shape, transfer_name, kind);
    copy.node()->scalar_value = x.node()->scalar_value;
    const auto bytes = static_cast<std::size_t>(packed.nbytes());
    if (bytes == 0) return copy;
    count_copy(packed.nbytes());
    const std::int64_t from = packed.node()->offset * itemsize(packed.dtype());
    const Event copied = queue->copy(copy.node()->buffer.get(), 0, packed.node()->buffer.get(), static_cast<std::size_t>(from), bytes);
    if (packed.node()->buffer->externally_writable()) device::finish_without_locks(copied);
    return copy;
}

/// The near side of a transfer: a call of the queue that the values come from, whose result is in memory of the other one.
struct CopyToQueue final : arrays::ArrayCall {
    explicit CopyToQueue(device::Queue* to) : ArrayCall(transfer_name), target(to) {}
    void compute(std::span<const Array> inputs, std::span<Array> results) const override {
        try {
            results[0] = copied_to(inputs[0], target.get());
        } catch (const Error& e) {  // late: the line that uses the values is another one
            if (location.empty()) throw;
            throw e.with_message(e.message() + " (at " + location.str() + ")");
        }
    }
    arrays::ImplementationChoice implementation(std::span<const arrays::CallInput> inputs) const override {
        (void)inputs;
        return {"copy to " + target->device()->id(), {}, false};
    }
    graph::CallCost cost_row() const override { return graph::CallCost::copy; }
    const Ref<device::Queue> target;
};

/// Records the near side; null if x has been computed meanwhile.
Ref<Node> recorded_copy(const Array& x, device::Queue* to) {
    const Ref<CopyToQueue> call(new CopyToQueue(to));
    call->location = device::current_location();
    std::lock_guard guard(graph::state_of(x.node()->queue.get()).lock);
    Node* const inputs[] = {x.node()};
    if (!inputs[0]->pending()) return nullptr;
    const graph::ResultType type{inputs[0]->dtype, inputs[0]->shape};
    Ref<Node> made;
    graph::make_call(call, inputs, {&type, 1}, &made);
    return Ref<Node>(arrays::finish(std::move(made)).node());
}

}  // namespace

Array Array::to_queue(const Queue& queue) const {
    if (queue.impl() == arrays::node_of(*this, "to_queue").queue.get()) return *this;
    if (const std::optional<Scalar> value = constant_value(*node_)) return full(shape(), *value, node_->dtype, queue);
    arrays::arrive(*this);  // one from elsewhere goes on from here
    Ref<Node> exported = pending() ? recorded_copy(*this, queue.impl()) : nullptr;
    if (!exported) return copied_to(*this, queue.impl());
    const bool started = !exported->pending();  // it is worth it
    Array made;
    {
        std::lock_guard guard(graph::state_of(queue.impl()).lock);
        Ref<Node> node = graph::make_transfer(queue.impl(), std::move(exported));
        node->scalar_value = node_->scalar_value;
        made = arrays::finish(std::move(node));
    }
    if (started) arrays::arrive(made);
    return made;
}

Array reinterpret(const Array& bytes, DType dtype, Extents shape, std::int64_t offset) {
    const char* op_name = "array";
    (void)arrays::node_of(bytes, op_name);
    arrays::ensure_leaf(bytes);
    Node& leaf = *bytes.node();
    if (!pardo::is_contiguous(leaf.shape, leaf.strides))
        throw Error(ErrorCode::Value, std::string(op_name) + ": the bytes are not contiguous");
    Shape extents = checked_shape(op_name, shape);
    const std::int64_t size = itemsize(dtype), wanted = graph::byte_count(dtype, shape, op_name);
    const std::int64_t first = leaf.offset * itemsize(leaf.dtype) + offset;
    if (offset < 0 || first % size != 0)
        throw Error(ErrorCode::Value, std::string(op_name) + ": offset is " + std::to_string(offset) + "; it must be a multiple of " +
                                          std::to_string(size) + " bytes from the start of the memory, and not negative");
    if (wanted > bytes.nbytes() - offset)
        throw Error(ErrorCode::Value, std::string(op_name) + ": shape " + to_string(shape) + " needs " + std::to_string(wanted) +
                                          " bytes, and " + std::to_string(std::max<std::int64_t>(bytes.nbytes() - offset, 0)) +
                                          " are there");
    Strides strides = contiguous_strides(shape);
    return Array(graph::make_leaf_view(&leaf, dtype, std::move(extents), std::move(strides), first / size).get());
}

Array strided(const Array& bytes, DType dtype, Extents shape, Extents strides, std::int64_t offset) {
    (void)arrays::node_of(bytes, "array");
    if (strides.size() != shape.size())
        throw Error(ErrorCode::Value, "array: " + std::to_string(strides.size()) + " strides for " + std::to_string(shape.size()) +
                                          " axes; expected one for each");
    arrays::ensure_leaf(bytes);
    Node& leaf = *bytes.node();
    const std::int64_t size = itemsize(dtype), first = leaf.offset * itemsize(leaf.dtype) + offset;
    std::int64_t low = offset, high = offset + size;
    bool fits = first % size == 0, empty = false;
    Strides steps = contiguous_strides(shape);
    for (std::size_t d = 0; d < shape.size(); ++d) {
        empty = empty || shape[d] == 0;
        if (shape[d] <= 1) continue;
        (strides[d] < 0 ? low : high) += (shape[d] - 1) * strides[d];
        fits = fits && strides[d] % size == 0;
        steps[static_cast<int>(d)] = strides[d] / size;
    }
    if (!fits || (!empty && (low < 0 || high > bytes.nbytes())))
        throw Error(ErrorCode::Value, "array: elements of " + std::to_string(size) + " bytes are no part of " +
                                          std::to_string(bytes.nbytes()) + " bytes, by their strides and place");
    return Array(graph::make_leaf_view(&leaf, dtype, Shape(shape), std::move(steps), first / size).get());
}

Array in_memory(const Array& x, MemoryKind kind) {
    device::Queue* queue = arrays::node_of(x, "asarray").queue.get();
    if (kind == MemoryKind::Device && x.pending() && !queue->device()->mixed_kinds()) return x;  // that is what it will be
    if (!x.pending() && x.node()->buffer->kind() == kind) return x;
    const Array copy = arrays::make_empty(queue, x.dtype(), x.node()->shape, "asarray", kind);
    if (x.size() == 0) return copy;
    count_copy(copy.nbytes());
    arrays::fill(copy, x);
    return copy;
}

Array Array::to_device(const Device& device) const { return to_queue(Queue::of(device)); }

}  // namespace pardo

// src/array/element.cpp: single elements, read and written at once where nothing is under way.
#include <pardo/binding/layout.h>

#include "array/record.h"
#include "ir/eval.h"
#include "plan/force.h"

namespace pardo {

namespace {

using graph::Node;

/// True of memory that this thread may read now.
bool at_rest(const Node& node) {
    return !node.pending() && node.buffer && !node.buffer->busy() && node.buffer->host_visible() &&
           node.queue->device()->can(device::Feature::HostCode);
}

/// Where an element lies; null where an index is out of bounds.
char* address_of(const Node& node, std::span<const std::int64_t> index) {
    if (index.size() != static_cast<std::size_t>(node.shape.size())) return nullptr;
    std::int64_t at = node.offset;
    for (std::size_t d = 0; d < index.size(); ++d) {
        const std::int64_t extent = node.shape[static_cast<int>(d)], i = index[d] + (index[d] < 0 ? extent : 0);
        if (i < 0 || i >= extent) return nullptr;
        at += i * node.strides[static_cast<int>(d)];
    }
    return static_cast<char*>(node.buffer->data()) + at * itemsize(node.dtype);
}

}  // namespace

std::optional<Array> element_of(const Array& x, std::span<const std::int64_t> index) {
    const Node& node = *x.node();
    if (!at_rest(node)) return {};
    const MemoryKind kind = node.buffer->kind_for_results();
    if (kind == MemoryKind::Shared || kind == MemoryKind::Host) return {};  // a constant has no kind of memory
    const char* const at = address_of(node, index);
    if (!at) return {};
    const Scalar value = ir::read_element(node.dtype, at);
    std::lock_guard guard(graph::state_of(node.queue.get()).lock);
    Ref<Node> made = graph::make_constant(node.queue, value, {});
    made->scalar_value = true;
    return arrays::finish(std::move(made));
}

bool set_element(const Array& x, std::span<const std::int64_t> index, const Scalar& value) {
    const Node& node = *x.node();
    if (!at_rest(node)) return false;
    arrays::require_writeable("x[...] = value", x);
    if (node.buffer->externally_writable() || node.buffer->externally_readable() || node.queue->profiling()) return false;
    std::lock_guard guard(graph::state_of(node.queue.get()).lock);
    if (graph::reader_count(*node.buffer) || node.buffer->busy()) return false;
    char* const at = address_of(node, index);
    if (!at) return false;
    graph::check_number("x[...] = value", value, node.dtype);
    ir::write_element(value.cast(node.dtype), at);
    return true;
}

std::optional<Scalar> known_item(const Array& x) {
    const Node& node = *x.node();
    if (node.pending()) {
        if (element_count(node.shape) != 1) return {};
        std::lock_guard guard(graph::state_of(node.queue.get()).lock);
        if (node.kind != graph::Kind::Constant) return {};
        return node.scalar();
    }
    if (!at_rest(node) || element_count(node.shape) != 1) return {};
    return ir::read_element(node.dtype, static_cast<const char*>(node.buffer->data()) + node.offset * itemsize(node.dtype));
}

}  // namespace pardo

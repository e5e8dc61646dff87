// src/array/array.cpp: class Array: facts, computing, and access to memory.
#include <pardo/array.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <pardo/binding/exchange.h>
#include <pardo/binding/plan.h>
#include <pardo/error.h>
#include <pardo/ops.h>
#include <pardo/profile.h>

#include "array/record.h"
#include "base/counters.h"
#include "device/failure.h"
#include "device/waiting.h"
#include "graph/by_queue.h"
#include "plan/force.h"
#include "plan/transfer.h"

namespace pardo {
namespace {

using graph::Kind;
using graph::Node;

/// True when two indices may reach one element, so that a parallel write has no meaning: a broadcast view.
bool repeats_elements(const Node& leaf) {
    bool repeats = false;
    for (int d = 0; d < leaf.shape.size(); ++d) {
        if (leaf.shape[d] == 0) return false;
        repeats |= leaf.strides[d] == 0 && leaf.shape[d] > 1;
    }
    return repeats;
}

char* first_byte(const Node& leaf) { return static_cast<char*>(leaf.buffer->data()) + leaf.offset * itemsize(leaf.dtype); }

void require_host_visible(const char* op_name, const Node& leaf) {
    if (leaf.buffer->host_visible()) return;
    throw Error(ErrorCode::Buffer,
                std::string(op_name) + ": memory of " + leaf.buffer->device()->id() + " is not visible to the host; copy it with copy_to");
}

}  // namespace

Array::Array(Node* node) noexcept : node_(node) {
    if (node_) node_->retain();
}
Array::Array(const Array& other) noexcept : Array(other.node_) {}
Array::Array(Array&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
Array& Array::operator=(Array other) noexcept {
    std::swap(node_, other.node_);
    return *this;
}
Array::~Array() {
    if (node_) node_->release();
}

DType Array::dtype() const { return arrays::node_of(*this, "dtype").dtype; }
int Array::ndim() const { return arrays::node_of(*this, "ndim").shape.size(); }
Extents Array::shape() const { return arrays::node_of(*this, "shape").shape; }
std::int64_t Array::size() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : arrays::node_of(*this, "size").shape) count *= extent;
    return count;
}
std::int64_t Array::nbytes() const { return size() * itemsize(node_->dtype); }
Queue Array::queue() const { return Queue(arrays::node_of(*this, "queue").queue.get()); }
Device Array::device() const { return Device(arrays::node_of(*this, "device").queue.get()); }
bool Array::is_scalar_value() const { return arrays::node_of(*this, "is_scalar_value").scalar_value; }
bool Array::pending() const { return arrays::node_of(*this, "pending").pending(); }

const Array& Array::force() const {
    (void)arrays::node_of(*this, "force");
    arrays::ensure_leaf(*this);
    return *this;
}

const Array& Array::force_to_wait() const {
    if (!arrays::node_of(*this, "wait").pending()) return *this;
    const device::WaitsNext waits;
    return force();
}

const Array& Array::wait() const {
    force_to_wait();
    if (node_->buffer->busy()) node_->buffer->wait_for_read(graph::view_of(*node_));
    return *this;
}

std::optional<Error> Array::failure() const {
    try {
        force();
    } catch (const Error& e) {
        return e;  // it has no memory
    }
    const Event failed = node_->buffer->failed_write(graph::view_of(*node_));
    if (!failed.state()) return std::nullopt;
    failed.state()->acknowledge();
    return failed.state()->failure()->error;
}

bool failed_first_on(const Array& x, const Queue& queue) {
    const device::FailureLog* const own = queue.impl()->failures();
    if (!x.failure()) return false;
    if (x.node()->kind == graph::Kind::Failed) {
        const auto* const moved = dynamic_cast<const plan::MovedError*>(x.node()->error().get());
        return moved && moved->place == own;
    }
    if (!x.node()->buffer) return false;  // nothing was submitted
    const Event failed = x.node()->buffer->failed_write(graph::view_of(*x.node()));
    return failed.state() && failed.state()->failure()->home == own;
}

const Array& Array::accept() const {
    force();
    node_->buffer->accept(graph::view_of(*node_));
    return *this;
}

Event Array::event() const {
    std::vector<Event> events = writes();
    for (const Event& e : events) {
        if (device::failure_of(e)) return device::needed_now(e, node_->queue.get());  // not by joined: asking is no work of the queue
    }
    const Event all = arrays::joined(node_->queue.get(), std::move(events));
    return !all.state() && node_->queue->profiling() ? node_->buffer->timed_write() : all;  // over, maybe since a moment
}

std::vector<Event> Array::writes() const {
    force();
    if (!node_->buffer->busy()) return {};
    std::vector<Event> events, others;
    node_->buffer->collect_for_read(graph::view_of(*node_), events, others);
    return events;
}

Extents Array::strides() const {
    force();
    return node_->strides;
}

void Array::require_elements(const char* op_name, DType dtype, int dimensions) const {
    const Node& node = arrays::node_of(*this, op_name);
    if (node.dtype != dtype)
        throw Error(ErrorCode::Type, std::string(op_name) + ": the elements are " + std::string(dtype_name(node.dtype)) + ", not " +
                                         std::string(dtype_name(dtype)) + ": astype converts them");
    if (dimensions >= 0 && node.shape.size() != dimensions)
        throw Error(ErrorCode::Value, std::string(op_name) + ": the array has " + std::to_string(node.shape.size()) + " dimensions, not " +
                                          std::to_string(dimensions));
}

std::int64_t Array::parts() const {
    const Node& node = arrays::node_of(*this, "iteration");
    if (node.shape.empty()) throw Error(ErrorCode::Type, "iteration: an array without dimensions has no parts");
    return node.shape[0];
}

const void* Array::data() const {
    wait();
    require_host_visible("data", *node_);
    return first_byte(*node_);
}

void* Array::mutable_data() const {
    (void)arrays::node_of(*this, "mutable_data");
    const Array held = *this;  // its memory stays when others rebind this handle
    arrays::require_writeable("mutable_data", held);
    const Node& leaf = *held.node_;
    require_host_visible("mutable_data", leaf);
    {
        std::lock_guard guard(graph::state_of(leaf.queue.get()).lock);
        plan::force_readers(leaf.buffer.get(), plan::Compile::Unlocked);
    }
    if (leaf.buffer->busy()) leaf.buffer->wait_for_update(graph::view_of(leaf));
    return first_byte(leaf);
}

std::uint64_t Array::address() const {
    force();
    return reinterpret_cast<std::uintptr_t>(first_byte(*node_));
}

bool Array::writeable() const {
    if (arrays::node_of(*this, "writeable").read_only) return false;
    if (node_->pending() && node_->kind != Kind::View) return true;
    force();
    return !node_->buffer->read_only() && !repeats_elements(*node_);
}

bool Array::externally_writable() const {
    return !arrays::node_of(*this, "externally_writable").pending() && node_->buffer->externally_writable();
}
bool Array::externally_readable() const { return !arrays::node_of(*this, "externally_readable").pending() && node_->buffer->foreign(); }

bool Array::is_contiguous() const {
    force();
    return pardo::is_contiguous(node_->shape, node_->strides);
}

MemoryKind Array::memory_kind() const {
    (void)arrays::node_of(*this, "memory_kind");
    const MemoryKind kind = arrays::kind_after(*this);
    return kind == device::no_kind ? node_->buffer->kind() : kind;
}

std::function<void()> Array::hold() const {
    force();
    node_->buffer->add_external_reader();
    return [buffer = node_->buffer]() mutable {
        if (buffer) buffer->drop_external_reader();
        buffer = nullptr;
    };
}

std::function<void()> Array::share_writable() const {
    (void)arrays::node_of(*this, "share_writable");
    const Array held = *this;
    arrays::require_writeable("share_writable", held);
    const Node& leaf = *held.node_;
    {
        std::lock_guard guard(graph::state_of(leaf.queue.get()).lock);
        plan::force_readers(leaf.buffer.get(), plan::Compile::Unlocked);
        leaf.buffer->set_externally_writable();
    }
    if (leaf.buffer->busy()) leaf.buffer->wait_for_update(graph::view_of(leaf));
    return [buffer = leaf.buffer]() mutable { buffer = nullptr; };
}

Array Array::astype(DType dtype, bool copy) const {
    if (dtype != arrays::node_of(*this, "astype").dtype) return arrays::cast(*this, dtype);
    return copy ? this->copy() : *this;
}

// A cast to its own dtype: pending like any operation, so a copy that is only read from costs nothing.
Array Array::copy() const {
    (void)arrays::node_of(*this, "copy");
    std::lock_guard guard(arrays::graph_of(*this).lock);
    Node* const inputs[] = {node_};
    Ref<Node> node = graph::make_elementwise(graph::Op::cast, node_->dtype, node_->shape, inputs);
    node->scalar_value = node_->scalar_value;
    return arrays::finish(std::move(node));
}

PlanReport plan_report(std::span<const Array> roots) {
    if (roots.empty()) return {};
    std::vector<const Array*> arrays;
    for (const Array& a : roots) arrays.push_back(&a);
    device::Queue* const queue = arrays::queue_among("explain", arrays);
    std::vector<Ref<Node>> nodes;
    for (const Array& a : roots) nodes.emplace_back(a.node());
    PlanReport report;
    plan::unfold_transfers(queue, nodes);  // what they will be is planned where they come from
    const auto add = [&report](std::span<const Ref<Node>> own) {
        std::vector<Node*> planned;
        for (const Ref<Node>& n : own) planned.push_back(n.get());
        report.text += plan::explain(planned, &report.steps);
    };
    graph::for_each_queue(
        std::span(nodes), [](const Ref<Node>& n) { return n.get(); }, add);
    return report;
}

std::string explain(ListOf<Array> roots) { return plan_report(roots).text; }

void force(ListOf<Array> roots) {
    std::vector<Node*> left;
    std::vector<Node*> transfers;
    for (const Array& a : roots) {
        if (a.pending()) (a.node()->is_transfer() ? transfers : left).push_back(a.node());
    }
    if (!transfers.empty()) plan::arrive(transfers);
    graph::for_each_queue(
        std::span(left), [](Node* n) { return n; }, [](std::span<Node* const> own) { plan::force(own, plan::Compile::Unlocked); });
}

std::vector<CounterValue> counters_now() {
    const std::pair<const char*, const std::atomic<std::uint64_t>*> all[] = {
        {"recorded", &counters.recorded},
        {"forced", &counters.forced},
        {"planned", &counters.planned},
        {"flushed", &counters.flushed},
        {"launched", &counters.launched},
        {"compiled", &counters.compiled},
        {"from_disk", &counters.from_disk},
        {"from_pack", &counters.from_pack},
        {"bytes_read", &counters.bytes_read},
        {"bytes_written", &counters.bytes_written},
        {"copies", &counters.copies},
        {"copied_bytes", &counters.copied_bytes},
        {"fallbacks", &counters.fallbacks},
        {"handles", &counters.handles},
        {"handles_back", &counters.handles_back},
    };
    std::vector<CounterValue> values;
    for (const auto& [name, counter] : all) values.push_back({name, counter->load(std::memory_order_relaxed)});
    return values;
}

namespace arrays {

void throw_without_value(const char* op_name) {
    throw Error(ErrorCode::Value, std::string(op_name) + ": the array has no value: it was made without one, or moved from");
}

Array make_empty(device::Queue* queue, DType dtype, Shape shape, const char* op_name, MemoryKind kind) {
    const std::int64_t bytes = byte_count(dtype, shape, op_name);
    Ref<device::Buffer> buffer;
    try {
        buffer = queue->device()->obtain(static_cast<std::size_t>(bytes), kind == device::no_kind ? MemoryKind::Device : kind, queue);
    } catch (const Error& e) {
        throw e.with_message(std::string(op_name) + ": " + e.message());
    }
    if (kind == device::no_kind) buffer->set_follows();
    Strides strides = contiguous_strides(shape);
    return Array(make_leaf(queue, dtype, std::move(shape), std::move(strides), 0, std::move(buffer)).get());
}

MemoryKind kind_after(const Array& x) {
    if (x.pending() && !x.node()->queue->device()->mixed_kinds()) return MemoryKind::Device;
    ensure_leaf(x);
    return x.node()->buffer->kind_for_results();
}

void fill(const Array& fresh, const Array& value) {
    arrive(value);
    std::lock_guard guard(state_of(fresh.node()->queue.get()).lock);
    while (!plan::store(fresh.node(), value.node(), nullptr, After::Kept, 0, plan::Compile::Unlocked)) {
    }
}

void ensure_leaf(const Array& x) {
    if (!x.node()->pending()) return;
    std::lock_guard guard(graph_of(x).lock);
    Node* node = x.node();  // now: others may have rebound the handle while this thread waited for the lock
    if (!node->pending()) return;
    Node* const roots[] = {node};
    plan::force(roots, plan::Compile::Unlocked);
}

bool is_writeable(const Array& x) {
    if (x.node()->read_only) return false;
    ensure_leaf(x);
    return !x.node()->buffer->read_only() && !repeats_elements(*x.node());
}

void require_writeable(const char* op_name, const Array& x) {
    if (is_writeable(x)) return;
    throw Error(ErrorCode::Value, std::string(op_name) + ": assignment destination is read-only");
}

Array as_contiguous(const Array& x, std::optional<DType> dtype) {
    const Array wanted = dtype ? cast(x, *dtype) : x;
    ensure_leaf(wanted);
    if (pardo::is_contiguous(wanted.node()->shape, wanted.node()->strides)) return wanted;
    const Array packed =
        make_empty(wanted.node()->queue.get(), wanted.dtype(), wanted.node()->shape, "copy", wanted.node()->buffer->kind());
    if (wanted.node()->buffer->follows()) packed.node()->buffer->set_follows();
    count_copy(packed.nbytes());
    fill(packed, wanted);
    return packed;
}

}  // namespace arrays
}  // namespace pardo

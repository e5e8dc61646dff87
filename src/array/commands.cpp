// src/array/commands.cpp: what a queue is told to do with arrays: submit, copy, fill, prefetch.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <pardo/array.h>
#include <pardo/error.h>
#include <pardo/ops.h>

#include "array/record.h"
#include "base/counters.h"
#include "graph/overlap.h"
#include "ir/eval.h"
#include "plan/force.h"

namespace pardo {
namespace {

using device::StridedCopy;
using graph::Node;

/// The queue's context must hold the array's device, if it was made with one.
void check_reach(const char* op_name, const device::Queue* queue, const Array& x) {
    const device::Device* device = arrays::node_of(x, op_name).queue->device();
    if (device == queue->device() || !queue->context) return;
    const std::vector<device::Device*>& known = queue->context->devices();
    if (std::find(known.begin(), known.end(), device) != known.end()) return;
    throw Error(ErrorCode::Placement, std::string(op_name) + ": memory of " + device->id() +
                                          " is of another context than the queue, which is of " + queue->device()->id());
}

void check_own(const char* op_name, const device::Queue* queue, const Array& x) {
    const device::Device* device = arrays::node_of(x, op_name).queue->device();
    if (device == queue->device()) return;
    throw Error(ErrorCode::Placement, std::string(op_name) + ": the array is on " + device->id() + ", the queue is of " +
                                          queue->device()->id() + "; use a queue of the array's device");
}

void check_pair(const char* op_name, const device::Queue* queue, const Array& to, const Array& from) {
    check_reach(op_name, queue, to);
    check_reach(op_name, queue, from);
    const device::Device *target = to.node()->queue->device(), *source = from.node()->queue->device();
    if (target == queue->device() || source == queue->device()) return;
    throw Error(ErrorCode::Placement, std::string(op_name) + ": copies from " + source->id() + " to " + target->id() + " on a queue of " +
                                          queue->device()->id() + "; use a queue of one of the two");
}

/// Two strided blocks as regions; dimensions that are one in both become one.
class Regions {
public:
    Regions(const Node& to, const Node& from) : row_(itemsize(to.dtype)) {
        const std::int64_t size = row_;
        for (int d = to.shape.size() - 1; d >= 0; --d) {
            const Dimension next{to.shape[d], to.strides[d] * size, from.strides[d] * size};
            if (next.extent == 1) continue;
            if (dimensions_.empty() && next.to == row_ && next.from == row_) {
                row_ *= next.extent;
            } else if (!dimensions_.empty() && continues(dimensions_.back(), next)) {
                dimensions_.back().extent *= next.extent;
            } else {
                dimensions_.push_back(next);
            }
        }
        to_ = to.offset * size;
        from_ = from.offset * size;
    }

    template <class F> void for_each(F&& f) const { visit(static_cast<int>(dimensions_.size()), to_, from_, f); }

private:
    struct Dimension {
        std::int64_t extent, to, from;  // strides in bytes
    };
    static bool continues(const Dimension& inner, const Dimension& outer) {
        return outer.to == inner.to * inner.extent && outer.from == inner.from * inner.extent;
    }
    template <class F> void visit(int count, std::int64_t to, std::int64_t from, F& f) const {
        if (count > 2) {
            const Dimension& outer = dimensions_[static_cast<std::size_t>(count - 1)];
            for (std::int64_t i = 0; i < outer.extent; ++i) visit(count - 1, to + i * outer.to, from + i * outer.from, f);
            return;
        }
        StridedCopy region;
        region.extents[0] = row_;
        region.to_offset = to;
        region.from_offset = from;
        for (int d = 0; d < count; ++d) {
            const Dimension& dimension = dimensions_[static_cast<std::size_t>(d)];
            region.extents[d + 1] = dimension.extent;
            region.to_pitches[d] = dimension.to;
            region.from_pitches[d] = dimension.from;
        }
        f(region);
    }

    std::int64_t row_;
    std::vector<Dimension> dimensions_;  // innermost first
    std::int64_t to_ = 0, from_ = 0;
};

/// While it lives, nothing can be recorded that reads the target; what had been is handed over first.
class Writing {
public:
    Writing(const char* op_name, const Array& target)
        : target_(target), lock_(graph::state_of(target.node()->queue.get()).lock, std::defer_lock) {
        arrays::require_writeable(op_name, target_);
        lock_.lock();
        plan::force_readers(target_.node()->buffer.get(), plan::Compile::Unlocked);
    }

private:
    const Array target_;  // its memory stays when others rebind the caller's handle
    std::unique_lock<graph::GraphLock> lock_;
};

struct MemoryBlock {
    device::Buffer* buffer;
    std::int64_t offset, bytes;
};
MemoryBlock block_of(const char* op_name, const char* which, const Array& x) {
    arrays::ensure_leaf(x);
    const Node& leaf = *x.node();
    if (!is_contiguous(leaf.shape, leaf.strides))
        throw Error(ErrorCode::Value,
                    std::string(op_name) + ": the " + which + " is not contiguous; only a whole block of bytes can be cut into rows");
    return {leaf.buffer.get(), leaf.offset * itemsize(leaf.dtype), x.nbytes()};
}

/// Checks one side of a region, all of whose extents are positive, against its block; gives the offset of its first byte and its pitches.
/// Pitches are never negative, so what the region touches lies between its first byte and its last one.
std::int64_t place(const char* which, const Rect& rect, const std::int64_t (&origin)[3], const std::int64_t (&given)[2],
                   std::int64_t (&pitches)[2], const MemoryBlock& block) {
    using Wide = __int128;  // products of three int64 that are not negative may take more: each sum is checked before the next product
    const auto wrong = [&](const std::string& text) { throw Error(ErrorCode::Value, std::string("Queue.copy_rect: ") + which + text); };
    const auto beyond = [&] { wrong(": the region reaches beyond the block of " + std::to_string(block.bytes) + " bytes"); };
    const auto within = [&](Wide last) { return last <= block.bytes ? static_cast<std::int64_t>(last) : (beyond(), 0); };
    for (const std::int64_t pitch : given) {
        if (pitch < 0) wrong("_pitches: " + std::to_string(pitch) + " is negative");
    }
    for (const std::int64_t o : origin) {
        if (o < 0) wrong("_origin: " + std::to_string(o) + " is negative");
    }
    pitches[0] = given[0] ? given[0] : rect.region[0];
    const Wide plane = Wide{pitches[0]} * rect.region[1];
    pitches[1] = given[1]                              ? given[1]
                 : rect.region[2] > 1 || origin[2] > 0 ? within(plane)
                                                       : static_cast<std::int64_t>(std::min<Wide>(plane, block.bytes));
    if (rect.region[1] > 1 && pitches[0] < rect.region[0])
        wrong("_pitches: rows are " + std::to_string(pitches[0]) + " bytes apart, and the region's have " + std::to_string(rect.region[0]));
    if (rect.region[2] > 1 && pitches[1] < plane)
        wrong("_pitches: planes are " + std::to_string(pitches[1]) + " bytes apart, and " + std::to_string(rect.region[1]) + " rows of " +
              std::to_string(pitches[0]) + " take more");
    std::int64_t first = within(origin[0]), last = within(Wide{first} + rect.region[0]);
    for (int d = 0; d < 2; ++d) {
        first = within(Wide{origin[d + 1]} * pitches[d] + first);
        last = within(Wide{origin[d + 1] + Wide{rect.region[d + 1] - 1}} * pitches[d] + last);
    }
    return block.offset + first;
}

}  // namespace

namespace {

/// For several submissions: one failure of all of them.
std::vector<Event> needed_now(std::span<const Event> depends, device::Queue* queue) {
    std::vector<Event> needs;
    for (const Event& e : depends) needs.push_back(device::needed_now(e, queue));
    return needs;
}

}  // namespace

Event arrays::joined(device::Queue* queue, std::vector<Event> events) {
    Event timed;
    if (queue->profiling()) {
        for (const Event& e : events) {
            if (e.state() && e.state()->times().queued != 0) timed = e;
        }
    }
    std::erase_if(events, [](const Event& e) { return e.status() == EventStatus::Complete; });
    if (events.empty()) return timed;
    for (const Event& e : events) {
        if (!device::failure_of(e)) continue;
        const Event failed(new device::EventState(queue));  // the rest makes no difference
        failed.state()->set_failed(device::failure_of(device::needed_now(e, queue)));
        return failed;
    }
    if (events.size() == 1) return events[0];
    if (queue->order() == QueueOrder::InOrder) return queue->barrier(events);
    return queue->host_task([] {}, {}, {"join", {}}, 0, events);
}

Event Queue::submit(ListOf<Array> arrays, ListOf<Event> depends) const {
    for (const Array& x : arrays) {
        if (x.queue() == *this) continue;
        throw Error(ErrorCode::Placement, "Queue.submit: an array is of another queue, of " + x.device().id() + "; submit it there");
    }
    const std::vector<Event> needs = needed_now(depends, impl_);
    const device::ExtraDepends scope(needs);
    if (arrays.empty()) {
        plan::force_pending(impl_);
        return impl_->barrier(needs);
    }
    pardo::force(arrays);
    std::vector<Event> events = needs, others;
    for (const Array& x : arrays) x.node()->buffer->collect_for_read(graph::view_of(*x.node()), events, others);
    Event all = arrays::joined(impl_, std::move(events));
    if (impl_->profiling() && all.status() == EventStatus::Complete) {  // a buffer keeps the times of work that is over, but not as a use
        for (const Array& x : arrays) {
            const Event write = x.node()->buffer->timed_write();
            if (!write.state() || write.status() != EventStatus::Complete) continue;
            if (!all.state() || all.state()->times().end < write.state()->times().end) all = write;
        }
    }
    return all;
}

Event Queue::copy(const Array& to, const Array& from, ListOf<Event> depends) const {
    const char* op_name = "Queue.copy";
    if (to.dtype() != from.dtype())
        throw Error(ErrorCode::Type, std::string(op_name) + ": copies bytes, but the target is " + std::string(dtype_name(to.dtype())) +
                                         " and the source " + std::string(dtype_name(from.dtype())) +
                                         "; assign to convert: dst[...] = src");
    if (to.node()->shape != from.node()->shape)
        throw Error(ErrorCode::Value,
                    std::string(op_name) + ": the target has shape " + to_string(to.shape()) + ", the source " + to_string(from.shape()));
    check_pair(op_name, impl_, to, from);
    arrays::ensure_leaf(from);
    arrays::require_writeable(op_name, to);
    const std::vector<Event> needs = needed_now(depends, impl_);
    if (to.size() == 0) return arrays::joined(impl_, needs);
    Array source = from;
    if (graph::may_overlap(*to.node(), *from.node())) {
        const device::ExtraDepends scope(needs);
        source = from.copy();
        arrays::ensure_leaf(source);
    }
    const Writing writing(op_name, to);
    count_copy(to.nbytes());
    device::Buffer *target = to.node()->buffer.get(), *origin = source.node()->buffer.get();
    std::vector<Event> events;
    Regions(*to.node(), *source.node()).for_each([&](const StridedCopy& region) {
        const bool row = region.extents[1] == 1 && region.extents[2] == 1;
        events.push_back(row ? impl_->copy(target, static_cast<std::size_t>(region.to_offset), origin,
                                           static_cast<std::size_t>(region.from_offset), static_cast<std::size_t>(region.extents[0]), needs)
                             : impl_->copy_strided(target, origin, region, needs));
    });
    return arrays::joined(impl_, std::move(events));
}

Event Queue::copy_rect(const Array& to, const Array& from, const Rect& rect, ListOf<Event> depends) const {
    const char* op_name = "Queue.copy_rect";
    for (const std::int64_t extent : rect.region) {
        if (extent < 0) throw Error(ErrorCode::Value, std::string(op_name) + ": region: " + std::to_string(extent) + " is negative");
    }
    check_pair(op_name, impl_, to, from);
    const MemoryBlock source = block_of(op_name, "source", from), target = block_of(op_name, "target", to);
    StridedCopy region;
    std::copy(rect.region, rect.region + 3, region.extents);
    if (region.empty()) {
        arrays::require_writeable(op_name, to);
        return arrays::joined(impl_, {depends.begin(), depends.end()});
    }
    region.to_offset = place("dst", rect, rect.to_origin, rect.to_pitches, region.to_pitches, target);
    region.from_offset = place("src", rect, rect.from_origin, rect.from_pitches, region.from_pitches, source);
    const auto span = [&](const std::int64_t(&pitches)[2]) {
        return (region.extents[2] - 1) * pitches[1] + (region.extents[1] - 1) * pitches[0] + region.extents[0];
    };
    const auto range = [](const device::Buffer* buffer, std::int64_t offset, std::int64_t bytes) {
        const auto begin = reinterpret_cast<std::uint64_t>(buffer->data()) + static_cast<std::uint64_t>(offset);
        return graph::ByteRange{begin, begin + static_cast<std::uint64_t>(bytes)};
    };
    if (graph::comparable(*target.buffer, *source.buffer) &&
        range(target.buffer, region.to_offset, span(region.to_pitches))
            .overlaps(range(source.buffer, region.from_offset, span(region.from_pitches))))
        throw Error(ErrorCode::Value, std::string(op_name) + ": source and target overlap; copy through another block");
    const Writing writing(op_name, to);
    count_copy(region.extents[0] * region.extents[1] * region.extents[2]);
    return impl_->copy_strided(target.buffer, source.buffer, region, depends);
}

Event Queue::fill(const Array& to, const Scalar& value, ListOf<Event> depends) const {
    const char* op_name = "Queue.fill";
    check_own(op_name, impl_, to);
    const DType dtype = to.dtype();
    graph::check_number(op_name, value, dtype);
    char pattern[16] = {};
    ir::write_element(value.cast(dtype), pattern);
    const auto size = static_cast<std::size_t>(itemsize(dtype));
    const auto bytes = static_cast<std::size_t>(to.nbytes());
    const auto fill_block = [&](const Array& x) {
        return impl_->fill(x.node()->buffer.get(), static_cast<std::size_t>(x.node()->offset) * size, bytes, pattern, size, depends);
    };
    {
        const Writing writing(op_name, to);
        if (bytes == 0) return arrays::joined(impl_, {depends.begin(), depends.end()});
        if (is_contiguous(to.node()->shape, to.node()->strides)) return fill_block(to);
    }
    const Array block = arrays::make_empty(impl_, dtype, to.node()->shape, op_name);
    (void)fill_block(block);
    return copy(to, block);
}

Event Queue::prefetch(const Array& x, ListOf<Event> depends) const {
    const char* op_name = "Queue.prefetch";
    check_own(op_name, impl_, x);
    arrays::ensure_leaf(x);
    if (x.size() == 0) return arrays::joined(impl_, {depends.begin(), depends.end()});
    const graph::ByteRange range = graph::range_of(graph::elements_of(*x.node()));
    const std::uint64_t from = range.begin - reinterpret_cast<std::uint64_t>(x.node()->buffer->data());
    return impl_->prefetch(x.node()->buffer.get(), from, range.end - range.begin, depends);
}

}  // namespace pardo

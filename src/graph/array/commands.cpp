// src/graph/array/commands.cpp: what a queue is told to do with arrays: submit, copy, fill, prefetch.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <pardo/array.h>
#include <pardo/error.h>
#include <pardo/ops.h>

#include "base/counters.h"
#include "graph/engine.h"
#include "graph/overlap.h"
#include "graph/record.h"
#include "ir/eval.h"

namespace pardo {
namespace {

using device::CopyBox;
using graph::Node;

/// The queue's context must hold the array's device, if it was made with one.
void check_reach(const char* who, const device::Queue* queue, const Array& x) {
    const device::Device* device = x.node()->queue->device();
    if (device == queue->device() || !queue->context) return;
    const std::vector<device::Device*>& known = queue->context->devices();
    if (std::find(known.begin(), known.end(), device) != known.end()) return;
    throw Error(ErrorCode::Placement, std::string(who) + ": memory of " + device->id() +
                                          " is of another context than the queue, which is of " + queue->device()->id());
}

void check_own(const char* who, const device::Queue* queue, const Array& x) {
    const device::Device* device = x.node()->queue->device();
    if (device == queue->device()) return;
    throw Error(ErrorCode::Placement, std::string(who) + ": the array is on " + device->id() + ", the queue is of " +
                                          queue->device()->id() + "; use a queue of the array's device");
}

void check_pair(const char* who, const device::Queue* queue, const Array& to, const Array& from) {
    check_reach(who, queue, to);
    check_reach(who, queue, from);
    const device::Device *target = to.node()->queue->device(), *source = from.node()->queue->device();
    if (target == queue->device() || source == queue->device()) return;
    throw Error(ErrorCode::Placement, std::string(who) + ": copies from " + source->id() + " to " + target->id() + " on a queue of " +
                                          queue->device()->id() + "; use a queue of one of the two");
}

/// Two strided blocks as boxes; dimensions that are one in both become one.
class Boxes {
public:
    Boxes(const Node& to, const Node& from) : row_(itemsize(to.dtype)) {
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
        CopyBox box;
        box.extents[0] = row_;
        box.to_offset = to;
        box.from_offset = from;
        for (int d = 0; d < count; ++d) {
            const Dimension& dimension = dimensions_[static_cast<std::size_t>(d)];
            box.extents[d + 1] = dimension.extent;
            box.to_pitches[d] = dimension.to;
            box.from_pitches[d] = dimension.from;
        }
        f(box);
    }

    std::int64_t row_;
    std::vector<Dimension> dimensions_;  // innermost first
    std::int64_t to_ = 0, from_ = 0;
};

/// While it lives, nothing can be recorded that reads the target; what had been is handed over first.
class Writing {
public:
    Writing(const char* who, const Array& target)
        : target_(target), lock_(graph::state_of(target.node()->queue.get()).lock, std::defer_lock) {
        graph::require_writeable(who, target_);
        lock_.lock();
        plan::force_readers(target_.node()->buffer.get(), plan::Compile::Unlocked);
    }

private:
    const Array target_;  // its memory stays when others bind the caller's handle anew
    std::unique_lock<graph::GraphLock> lock_;
};

struct Block {
    device::Buffer* buffer;
    std::int64_t offset, bytes;
};
Block block_of(const char* who, const char* which, const Array& x) {
    graph::ensure_leaf(x);
    const Node& leaf = *x.node();
    if (!is_contiguous(leaf.shape, leaf.strides))
        throw Error(ErrorCode::Value,
                    std::string(who) + ": the " + which + " is not contiguous; only a whole block of bytes can be cut into rows");
    return {leaf.buffer.get(), leaf.offset * itemsize(leaf.dtype), x.nbytes()};
}

/// Checks one side of a box, all of whose extents are positive, against its block; gives the offset of its first byte and its pitches.
/// Pitches are never negative, so what the box touches lies between its first byte and its last one.
std::int64_t place(const char* which, const Rect& rect, const std::int64_t (&origin)[3], const std::int64_t (&given)[2],
                   std::int64_t (&pitches)[2], const Block& block) {
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

Event graph::joined(device::Queue* queue, std::vector<Event> events) {
    std::erase_if(events, [](const Event& e) { return e.status() == EventStatus::Complete; });
    if (events.empty() || std::all_of(events.begin(), events.end(), device::known_done)) return events.empty() ? Event() : events[0];
    if (events.size() == 1) return events[0];
    if (queue->order() == QueueOrder::InOrder) return queue->barrier(events);
    return queue->host_task([] {}, {}, {"join", {}}, 0, events);
}

Event Queue::submit(std::span<const Array> arrays, std::span<const Event> depends) const {
    for (const Array& x : arrays) {
        if (x.queue() == *this) continue;
        throw Error(ErrorCode::Placement, "Queue.submit: an array is of another queue, of " + x.device().id() + "; submit it there");
    }
    const device::ExtraDepends scope(depends);
    if (arrays.empty()) {
        plan::force_pending(impl_);
        return impl_->barrier(depends);
    }
    pardo::force(arrays);
    std::vector<Event> events(depends.begin(), depends.end());
    for (const Array& x : arrays) x.node()->buffer->collect_for_read(events);
    return graph::joined(impl_, std::move(events));
}

Event Queue::copy(const Array& to, const Array& from, std::span<const Event> depends) const {
    const char* who = "Queue.copy";
    if (to.dtype() != from.dtype())
        throw Error(ErrorCode::Type, std::string(who) + ": copies bytes, but the target is " + std::string(dtype_name(to.dtype())) +
                                         " and the source " + std::string(dtype_name(from.dtype())) +
                                         "; assign to convert: dst[...] = src");
    if (to.node()->shape != from.node()->shape)
        throw Error(ErrorCode::Value,
                    std::string(who) + ": the target has shape " + to_string(to.shape()) + ", the source " + to_string(from.shape()));
    check_pair(who, impl_, to, from);
    graph::ensure_leaf(from);
    graph::require_writeable(who, to);
    if (to.size() == 0) return graph::joined(impl_, {depends.begin(), depends.end()});
    Array source = from;
    if (graph::may_overlap(*to.node(), *from.node())) {
        const device::ExtraDepends scope(depends);
        source = from.copy();
        graph::ensure_leaf(source);
    }
    const Writing writing(who, to);
    counters.copies.fetch_add(1, std::memory_order_relaxed);
    device::Buffer *target = to.node()->buffer.get(), *origin = source.node()->buffer.get();
    std::vector<Event> events;
    Boxes(*to.node(), *source.node()).for_each([&](const CopyBox& box) {
        const bool row = box.extents[1] == 1 && box.extents[2] == 1;
        events.push_back(row ? impl_->copy(target, static_cast<std::size_t>(box.to_offset), origin,
                                           static_cast<std::size_t>(box.from_offset), static_cast<std::size_t>(box.extents[0]), depends)
                             : impl_->copy_box(target, origin, box, depends));
    });
    return graph::joined(impl_, std::move(events));
}

Event Queue::copy_rect(const Array& to, const Array& from, const Rect& rect, std::span<const Event> depends) const {
    const char* who = "Queue.copy_rect";
    for (const std::int64_t extent : rect.region) {
        if (extent < 0) throw Error(ErrorCode::Value, std::string(who) + ": region: " + std::to_string(extent) + " is negative");
    }
    check_pair(who, impl_, to, from);
    const Block source = block_of(who, "source", from), target = block_of(who, "target", to);
    CopyBox box;
    std::copy(rect.region, rect.region + 3, box.extents);
    if (box.empty()) {
        graph::require_writeable(who, to);
        return graph::joined(impl_, {depends.begin(), depends.end()});
    }
    box.to_offset = place("dst", rect, rect.to_origin, rect.to_pitches, box.to_pitches, target);
    box.from_offset = place("src", rect, rect.from_origin, rect.from_pitches, box.from_pitches, source);
    const auto span = [&](const std::int64_t(&pitches)[2]) {
        return (box.extents[2] - 1) * pitches[1] + (box.extents[1] - 1) * pitches[0] + box.extents[0];
    };
    const auto range = [](const device::Buffer* buffer, std::int64_t offset, std::int64_t bytes) {
        const auto begin = reinterpret_cast<std::uint64_t>(buffer->data()) + static_cast<std::uint64_t>(offset);
        return graph::ByteRange{begin, begin + static_cast<std::uint64_t>(bytes)};
    };
    if (graph::comparable(*target.buffer, *source.buffer) &&
        range(target.buffer, box.to_offset, span(box.to_pitches)).overlaps(range(source.buffer, box.from_offset, span(box.from_pitches))))
        throw Error(ErrorCode::Value, std::string(who) + ": source and target overlap; copy through another block");
    const Writing writing(who, to);
    counters.copies.fetch_add(1, std::memory_order_relaxed);
    return impl_->copy_box(target.buffer, source.buffer, box, depends);
}

Event Queue::fill(const Array& to, const Scalar& value, std::span<const Event> depends) const {
    const char* who = "Queue.fill";
    check_own(who, impl_, to);
    const DType dtype = to.dtype();
    graph::check_number(who, value, dtype);
    char pattern[16] = {};
    ir::write_element(value.cast(dtype), pattern);
    const auto size = static_cast<std::size_t>(itemsize(dtype));
    const auto bytes = static_cast<std::size_t>(to.nbytes());
    const auto fill_block = [&](const Array& x) {
        return impl_->fill(x.node()->buffer.get(), static_cast<std::size_t>(x.node()->offset) * size, bytes, pattern, size, depends);
    };
    {
        const Writing writing(who, to);
        if (bytes == 0) return graph::joined(impl_, {depends.begin(), depends.end()});
        if (is_contiguous(to.node()->shape, to.node()->strides)) return fill_block(to);
    }
    const Array block = graph::make_empty(impl_, dtype, to.node()->shape, who);
    (void)fill_block(block);
    return copy(to, block);
}

Event Queue::prefetch(const Array& x, std::span<const Event> depends) const {
    const char* who = "Queue.prefetch";
    check_own(who, impl_, x);
    graph::ensure_leaf(x);
    if (x.size() == 0) return graph::joined(impl_, {depends.begin(), depends.end()});
    const graph::ByteRange range = graph::range_of(graph::elements_of(*x.node()));
    const std::uint64_t from = range.begin - reinterpret_cast<std::uint64_t>(x.node()->buffer->data());
    return impl_->prefetch(x.node()->buffer.get(), from, range.end - range.begin, depends);
}

}  // namespace pardo

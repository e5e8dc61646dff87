// src/graph/overlap.h: the one answer to whether two arrays share memory: by addresses, whatever buffers they are parts of.
#pragma once

#include <cstdint>

#include "graph/node.h"

namespace pardo::graph {

/// Elements in memory.
struct Elements {
    std::uint64_t address;  // of the one with index 0 everywhere
    DType dtype;
    std::span<const std::int64_t> shape, strides;  // strides in elements
};
/// Of a Leaf, or of a routine's operand, which has the same fields.
template <class T> Elements elements_of(const T& x) {
    return {reinterpret_cast<std::uint64_t>(x.buffer->data()) + static_cast<std::uint64_t>(x.offset * itemsize(x.dtype)), x.dtype, x.shape,
            x.strides};
}

/// Addresses from the first byte of any element to the one after the last; empty for arrays without elements.
struct ByteRange {
    std::uint64_t begin, end;
    bool overlaps(const ByteRange& o) const { return begin < o.end && o.begin < end; }
};
ByteRange range_of(const Elements& x);

/// True when addresses of the two can be compared: of one device, or both of the host.
bool comparable(const device::Buffer& a, const device::Buffer& b);

/// False when the two surely have no byte in common.
bool may_overlap(const Elements& a, const Elements& b);
/// The same for Leaves and operands: two imports of one memory, and what was cut from one block, are one memory.
template <class T> bool may_overlap(const T& a, const T& b) {
    return (a.buffer == b.buffer || comparable(*a.buffer, *b.buffer)) && may_overlap(elements_of(a), elements_of(b));
}

/// True when each index names the same element in both Leaves.
bool same_elements(const Node& a, const Node& b);

}  // namespace pardo::graph

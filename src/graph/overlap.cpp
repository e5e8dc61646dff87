// src/graph/overlap.cpp: the one answer to whether two arrays share memory: by addresses, whatever buffers they are parts of.
#include "graph/overlap.h"

#include <numeric>

namespace pardo::graph {
namespace {

/// True when elements of the two lie on one grid of addresses, at places that never meet: x[0::2] and x[1::2].
bool interleaved(const Elements& a, const Elements& b) {
    const std::int64_t a_size = itemsize(a.dtype), b_size = itemsize(b.dtype);
    std::int64_t step = 0;
    for (const auto& [x, size] : {std::pair(&a, a_size), std::pair(&b, b_size)}) {
        for (std::size_t d = 0; d < x->shape.size(); ++d) {
            if (x->shape[d] > 1) step = std::gcd(step, x->strides[d] * size);
        }
    }
    if (step == 0) return false;
    std::int64_t apart = static_cast<std::int64_t>(b.address - a.address) % step;
    if (apart < 0) apart += step;
    return apart >= a_size && step - apart >= b_size;
}

}  // namespace

ByteRange range_of(const Elements& x) {
    const std::int64_t size = itemsize(x.dtype);
    std::int64_t low = 0, high = 0;
    for (std::size_t d = 0; d < x.shape.size(); ++d) {
        if (x.shape[d] == 0) return {x.address, x.address};
        (x.strides[d] < 0 ? low : high) += (x.shape[d] - 1) * x.strides[d];
    }
    return {x.address + static_cast<std::uint64_t>(low * size), x.address + static_cast<std::uint64_t>((high + 1) * size)};
}

bool comparable(const device::Buffer& a, const device::Buffer& b) {
    return a.device() == b.device() || (a.host_visible() && b.host_visible());
}

bool may_overlap(const Elements& a, const Elements& b) { return range_of(a).overlaps(range_of(b)) && !interleaved(a, b); }

bool same_elements(const Node& a, const Node& b) {
    return a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides && comparable(*a.buffer, *b.buffer) &&
           elements_of(a).address == elements_of(b).address;
}

}  // namespace pardo::graph

// src/capi/declared.cpp: sums of elements before and after.
#include "capi/declared.h"

#include <algorithm>
#include <string>

#include <pardo/error.h>

#include "base/env.h"

namespace pardo::capi {
namespace {

bool is_on() {
    static const bool on = env("PARDO_CHECKS") == "all";
    return on;
}

/// FNV-1a, by Fowler, Noll and Vo, of the elements' bytes.
std::uint64_t sum_of(const pardo_array_info& info, const pardo_memory& place) {
    constexpr std::uint64_t basis = 14695981039346656037u, prime = 1099511628211u;
    std::uint64_t sum = basis;
    std::vector<int64_t> index(static_cast<std::size_t>(info.ndim), 0);
    const auto* const first = static_cast<const unsigned char*>(place.address);
    int64_t offset = 0;  // in elements
    for (int64_t k = 0; k < info.count; ++k) {
        const unsigned char* const element = first + offset * info.itemsize;
        for (int64_t b = 0; b < info.itemsize; ++b) sum = (sum ^ element[b]) * prime;
        for (int d = info.ndim - 1; d >= 0; --d) {
            int64_t& at = index[static_cast<std::size_t>(d)];
            offset += info.strides[d];
            if (++at < info.shape[d]) break;
            offset -= at * info.strides[d];
            at = 0;
        }
    }
    return sum;
}

}  // namespace

DeclaredReads::DeclaredReads(std::span<const NativeUse> uses, std::span<const pardo_array_info> infos, std::span<const pardo_memory> places)
    : infos_(infos), places_(places) {
    if (!is_on()) return;
    const auto written = [&](const device::Buffer* buffer) {
        return std::any_of(uses.begin(), uses.end(),
                           [&](const NativeUse& u) { return device::writes(u.access) && u.node->buffer.get() == buffer; });
    };
    for (std::size_t k = 0; k < uses.size(); ++k) {
        const device::Buffer* const buffer = uses[k].node->buffer.get();
        if (device::writes(uses[k].access) || buffer->externally_writable() || written(buffer)) continue;
        reads_.push_back({k, sum_of(infos[k], places[k])});
    }
}

void DeclaredReads::check(const std::string& name) const {
    for (const Read& read : reads_) {
        if (sum_of(infos_[read.use], places_[read.use]) == read.sum) continue;
        throw Error(ErrorCode::Value, name + ": the work function has written uses[" + std::to_string(read.use) +
                                          "], which it declares that it reads; say PARDO_READ | PARDO_WRITE");
    }
}

}  // namespace pardo::capi

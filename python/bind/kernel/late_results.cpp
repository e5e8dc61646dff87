// python/bind/kernel/late_results.cpp: results that wait on a device: their memory, in blocks that grow, and their copies.
#include "late_results.h"

#include <algorithm>
#include <atomic>
#include <exception>

#include <pardo/ops.h>

namespace bind {
namespace {

constexpr std::int64_t largest_block = std::int64_t{1} << 25, most_held = std::int64_t{1} << 28;  // bytes
constexpr std::size_t most_ranges = 256;

std::atomic<std::uint64_t> failed{0};

}  // namespace

std::uint64_t LateResults::failures() noexcept { return failed.load(std::memory_order_acquire); }

bool LateResults::overlaps(std::uintptr_t low, std::uintptr_t high) const {
    return std::ranges::any_of(ranges_, [&](const Range& r) { return r.low < high && low < r.high; });
}

pardo::Array LateResults::memory(std::uintptr_t bytes, std::int64_t itemsize, const pardo::Queue& queue, std::int64_t& place) {
    const auto wanted = static_cast<std::int64_t>(bytes);
    if (ranges_.size() >= most_ranges || held_ + wanted > most_held) finish();
    place = (used_ + itemsize - 1) / itemsize * itemsize;
    if (!block_.node() || place + wanted > block_.nbytes()) {
        const std::int64_t extent[] = {std::max(wanted, next_)};
        block_ = pardo::empty(extent, pardo::DType::UInt8, queue);
        held_ += extent[0];
        next_ = std::min(2 * next_, largest_block);
        place = 0;
    }
    used_ = place + wanted;
    return block_;
}

void LateResults::add(std::uintptr_t low, std::uintptr_t high, const pardo::Array& block, std::int64_t place) {
    if (!ranges_.empty()) {
        Range& last = ranges_.back();
        const bool neighbours =
            last.high == low && last.block.node() == block.node() && last.place + static_cast<std::int64_t>(last.high - last.low) == place;
        if (neighbours) {
            last.high = high;
            return;
        }
    }
    ranges_.push_back({low, high, block, place});
}

void LateResults::finish() {
    const std::vector<Range> ranges = std::move(ranges_);
    const std::optional<pardo::Event> running = running_;
    *this = LateResults();
    std::exception_ptr first;
    // A wait that was interrupted is repeated: nothing writes the host's memory after this.
    for (bool ended = !running; !ended; ended = running->done()) {
        try {
            running->wait();
        } catch (...) {
            if (!first) first = std::current_exception();
        }
    }
    for (const Range& r : ranges) {
        try {
            const std::int64_t extent[] = {static_cast<std::int64_t>(r.high - r.low)}, step[] = {1};
            pardo::strided(r.block, pardo::DType::UInt8, extent, step, r.place).copy_to(reinterpret_cast<void*>(r.low));
        } catch (...) {
            if (!first) first = std::current_exception();
        }
    }
    if (!first) return;
    failed.fetch_add(1, std::memory_order_acq_rel);
    std::rethrow_exception(first);
}

}  // namespace bind

// python/bind/kernel/late_results.h: results of regions that reach the host at the end of a block that reads none.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <pardo/array.h>
#include <pardo/event.h>

namespace bind {

/// Of one thread at a time. Results that are neighbours on the host are neighbours on the device where they come one after the other, so
/// that many small ones are few copies.
class LateResults {
public:
    bool empty() const { return ranges_.empty() && !running_; }
    bool overlaps(std::uintptr_t low, std::uintptr_t high) const;
    /// Memory of the device for a result: bytes of the array that is given back, from `place` on.
    pardo::Array memory(std::uintptr_t bytes, std::int64_t itemsize, const pardo::Queue& queue, std::int64_t& place);
    /// A result there that is complete, or will be.
    void add(std::uintptr_t low, std::uintptr_t high, const pardo::Array& block, std::int64_t place);
    /// What a device that shares the host's memory still writes there; its queue is in order.
    void runs(const pardo::Event& event) { running_ = event; }
    /// Copies all to the host, or waits; the first failure is thrown after that.
    void finish();
    /// How often that has failed, in all threads: regions then forget which of their arrays are at which address of the host.
    static std::uint64_t failures() noexcept;

private:
    struct Range {
        std::uintptr_t low, high;
        pardo::Array block;
        std::int64_t place;
    };
    std::vector<Range> ranges_;
    std::optional<pardo::Event> running_;
    pardo::Array block_;  // where there is room
    std::int64_t used_ = 0, next_ = std::int64_t{1} << 20, held_ = 0;
};

}  // namespace bind

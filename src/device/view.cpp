// src/device/view.cpp: regions and sets of bytes.
#include "device/view.h"

#include <algorithm>

#include "base/small_vector.h"

namespace pardo::device {
namespace {

/// In order, those that touch made one.
void merge(std::vector<ByteRange>& ranges) {
    const auto before = [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; };
    if (!std::is_sorted(ranges.begin(), ranges.end(), before)) std::sort(ranges.begin(), ranges.end(), before);
    std::size_t kept = 0;
    for (const ByteRange& r : ranges) {
        if (r.begin >= r.end) continue;
        if (kept > 0 && r.begin <= ranges[kept - 1].end) {
            ranges[kept - 1].end = std::max(ranges[kept - 1].end, r.end);
        } else {
            ranges[kept++] = r;
        }
    }
    ranges.resize(kept);
}

}  // namespace

ByteRegion::ByteRegion(const View& view, std::size_t buffer_bytes) {
    // No elements: a byte of its own, below all others, so that what fails for them is heard of.
    const auto none = [&](std::int64_t offset) {
        bounds_ = {-1 - offset, -offset};
        run_ = 1;
    };
    if (view.item < 0) {
        bounds_ = {0, static_cast<std::int64_t>(buffer_bytes)};
        run_ = bounds_.end;
        if (buffer_bytes == 0) none(0);
        return;
    }
    if (view.item == 0 || std::find(view.shape.begin(), view.shape.end(), 0) != view.shape.end()) {
        none(view.offset);
        return;
    }
    bounds_ = {view.offset, view.offset + view.item};
    run_ = view.item;
    SmallVector<Step, 8> steps;
    for (std::size_t d = 0; d < view.shape.size(); ++d) {
        const std::int64_t count = view.shape[d];
        const std::int64_t bytes = view.strides[d] * (view.unit ? view.unit : view.item);
        if (count == 1 || bytes == 0) continue;
        (bytes < 0 ? bounds_.begin : bounds_.end) += (count - 1) * bytes;
        steps.push_back({count, bytes < 0 ? -bytes : bytes});
    }
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.bytes < b.bytes; });
    for (const Step& s : steps) {
        if (steps_.empty() && s.bytes <= run_) {  // windows that overlap are a run, too
            run_ += (s.count - 1) * s.bytes;
        } else if (!steps_.empty() && s.bytes == steps_.back().bytes * steps_.back().count) {
            steps_.back().count *= s.count;
        } else {
            steps_.push_back(s);
        }
    }
}

std::int64_t ByteRegion::runs() const noexcept {
    std::int64_t count = 1;
    for (const Step& s : steps_) {
        if (__builtin_mul_overflow(count, s.count, &count)) return INT64_MAX;
    }
    return count;
}

bool ByteRegion::same(const ByteRegion& other) const noexcept {
    return bounds_ == other.bounds_ && run_ == other.run_ && steps_ == other.steps_;
}

bool ByteRegion::covers(const ByteRegion& other) const noexcept {
    if (other.empty()) return true;
    return dense() ? bounds_.begin <= other.bounds_.begin && other.bounds_.end <= bounds_.end : same(other);
}

std::vector<ByteRange> ByteRegion::list() const {
    std::vector<ByteRange> out;
    if (empty()) return out;
    out.reserve(static_cast<std::size_t>(runs()));
    out.push_back({bounds_.begin, bounds_.begin + run_});
    for (const Step& s : steps_) {
        const std::size_t inner = out.size();
        for (std::int64_t i = 1; i < s.count; ++i) {
            for (std::size_t k = 0; k < inner; ++k) out.push_back({out[k].begin + i * s.bytes, out[k].end + i * s.bytes});
        }
    }
    return out;
}

ByteSet::ByteSet(const ByteRegion& region) {
    if (region.empty()) return;
    if (region.runs() <= most_runs) {
        ranges_ = region.list();
        merge(ranges_);
    } else {
        ranges_ = {region.bounds()};
        within_ = std::make_shared<const ByteRegion>(region);
    }
}

bool ByteSet::intersects(const ByteRange& range) const {
    const auto at =
        std::upper_bound(ranges_.begin(), ranges_.end(), range.begin, [](std::int64_t begin, const ByteRange& r) { return begin < r.end; });
    return at != ranges_.end() && at->begin < range.end;
}

bool ByteSet::intersects(const ByteRegion& region) const {
    if (region.empty() || !intersects(region.bounds())) return false;
    if (region.dense() || region.runs() > most_runs) return true;
    const std::vector<ByteRange> runs = region.list();
    return std::any_of(runs.begin(), runs.end(), [&](const ByteRange& r) { return intersects(r); });
}

void ByteSet::remove(const ByteRegion& region) {
    if (region.empty() || ranges_.empty()) return;
    if (within_) {
        if (region.covers(*within_)) ranges_.clear();
        return;
    }
    if (region.runs() > most_runs || !intersects(region.bounds())) return;
    std::vector<ByteRange> gone = region.list(), left;
    merge(gone);
    std::size_t k = 0;
    for (ByteRange r : ranges_) {
        while (k < gone.size() && gone[k].end <= r.begin) ++k;
        for (std::size_t g = k; g < gone.size() && gone[g].begin < r.end; ++g) {
            if (gone[g].begin > r.begin) left.push_back({r.begin, gone[g].begin});
            r.begin = std::min(gone[g].end, r.end);
        }
        if (r.begin < r.end) left.push_back(r);
    }
    ranges_.swap(left);
}

}  // namespace pardo::device

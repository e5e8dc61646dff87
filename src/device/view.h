// src/device/view.h: which bytes of a buffer work uses, as it is said, as it is kept, and as a set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pardo::device {

/// The elements of a buffer that work uses. Valid during a call: it points to the shape of whoever makes it.
struct View {
    std::int64_t offset = 0;                           // bytes, of the element with index 0 everywhere
    std::int64_t item = -1;                            // bytes of an element; -1: the view is all of the buffer
    std::span<const std::int64_t> shape{}, strides{};  // strides in units
    std::int64_t unit = 0;                             // bytes; 0: an element

    static View bytes(std::size_t offset, std::size_t count) {
        return {static_cast<std::int64_t>(offset), static_cast<std::int64_t>(count), {}, {}, 0};
    }
};

/// Bytes from `begin` up to `end`.
struct ByteRange {
    std::int64_t begin, end;
    friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// A View to keep: runs of bytes in a row, repeated by steps; a run alone where the elements are contiguous.
class ByteRegion {
public:
    ByteRegion(const View& view, std::size_t buffer_bytes);
    /// All bytes of a range.
    explicit ByteRegion(ByteRange range) : bounds_(range), run_(range.end - range.begin) {}

    ByteRange bounds() const noexcept { return bounds_; }
    bool empty() const noexcept { return bounds_.begin >= bounds_.end; }
    bool dense() const noexcept { return steps_.empty(); }
    /// How many runs it has.
    std::int64_t runs() const noexcept;
    /// True when it surely has all bytes of the other one: cheap, so not always true where it could be.
    bool covers(const ByteRegion& other) const noexcept;
    bool same(const ByteRegion& other) const noexcept;
    /// The runs in no order.
    std::vector<ByteRange> list() const;

private:
    struct Step {
        std::int64_t count, bytes;
        friend bool operator==(const Step&, const Step&) = default;
    };
    ByteRange bounds_{0, 0};
    std::int64_t run_ = 0;
    std::vector<Step> steps_;  // innermost first
};

/// A set of bytes. Of a region with more runs than `most_runs` it keeps the bounds: then it has some bytes too many.
class ByteSet {
public:
    static constexpr std::int64_t most_runs = std::int64_t{1} << 20;
    explicit ByteSet(const ByteRegion& region);

    bool empty() const noexcept { return ranges_.empty(); }
    bool intersects(const ByteRegion& region) const;
    void remove(const ByteRegion& region);

private:
    bool intersects(const ByteRange& range) const;
    std::vector<ByteRange> ranges_;             // in order, apart from each other
    std::shared_ptr<const ByteRegion> within_;  // the region of which only the bounds are kept; null: the set is exact
};

}  // namespace pardo::device

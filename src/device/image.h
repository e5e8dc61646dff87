// src/device/image.h: images in a device's own layout, for programs of the user's text.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <pardo/dtype.h>
#include <pardo/memory.h>

#include "base/ref.h"
#include "device/buffer.h"

namespace pardo::device {

class Stream;
struct NativeOrder;

struct ImageShape {
    int rank = 1;                                  // of one layer
    bool layered = false;                          // then the last extent that counts is the number of layers
    std::array<std::int64_t, 3> extents{1, 1, 1};  // width, height, depth; layers come after those of the rank
    int channels = 1;                              // 1, 2 or 4
    DType dtype = DType::Float32;                  // of a channel
    bool normalized = false;                       // unsigned integers stand for 0 to 1

    /// Extents in use.
    int dimensions() const noexcept { return rank + layered; }
    std::size_t texel_bytes() const noexcept { return static_cast<std::size_t>(channels * itemsize(dtype)); }
    std::size_t bytes() const noexcept { return static_cast<std::size_t>(extents[0] * extents[1] * extents[2]) * texel_bytes(); }
    /// "a 2-D image of 640 x 480 texels of 4 channels of uint8, normalized".
    std::string text() const;
};

/// A device's own form of an image. What orders its uses are those of its texels' buffer, which stand for it.
class Image : public RefCounted<Image> {
public:
    explicit Image(const ImageShape& shape) : shape_(shape) {}
    virtual ~Image() = default;
    const ImageShape& shape() const noexcept { return shape_; }

    /// What a kernel's parameter takes: the image; with a sampler what CUDA calls a texture. Throws Device where there is no such thing.
    virtual std::uint64_t handle(const Sampler* sampler) = 0;
    /// Copies all texels from or to the buffer, which holds them row by row from `offset` on.
    virtual void copy(Stream& stream, Buffer* texels, std::size_t offset, bool to_image, const NativeOrder& order) = 0;

private:
    const ImageShape shape_;
};

}  // namespace pardo::device

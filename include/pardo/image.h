// include/pardo/image.h: images: texels of one to four channels, read and written by coordinates, and sampled.
#pragma once

#include <cstdint>
#include <memory>

#include <pardo/array.h>
#include <pardo/export.h>

namespace pardo {

/// What lies beyond an image: nothing (the kernel does not go there), the texel at the edge, zeros, the image again, or its mirror image.
enum class Addressing : std::uint8_t { None, ClampToEdge, Clamp, Repeat, MirroredRepeat };

/// How a kernel samples an image.
struct Sampler {
    bool normalized = false;  // coordinates go from 0 to 1
    Addressing addressing = Addressing::None;
    bool linear = false;  // between the nearest texels; else the nearest one
    bool operator==(const Sampler&) const = default;
};

/// An image is an array of texels, which our own kernels use; devices whose programs are text have a copy in their own layout, made when
/// a program first takes the image. Each is brought up to date when it is needed. A cheap handle, safe from any thread.
class PARDO_API Image {
public:
    /// `texels`: memory of its own, of the shape (layers, depth, height, width, channels) without those that the image does not have: `rank`
    /// is 1 to 3, of one layer; only images of rank 1 and 2 have layers. `normalized`: unsigned integers stand for 0 to 1.
    Image(const Array& texels, int rank, bool layered, bool normalized);
    ~Image();
    Image(const Image&);
    Image& operator=(const Image&);

    /// The texels, up to date. `writes`: whoever asks for them is going to write, so that the device's copy is out of date then.
    const Array& texels(bool writes) const;

    struct State;
    const std::shared_ptr<State>& state() const noexcept { return state_; }  // internal

private:
    std::shared_ptr<State> state_;
};

/// For CUDA C++: a cudaTextureObject_t, which is an image and how it is sampled.
struct SampledImage {
    Image image;
    Sampler sampler;
};

}  // namespace pardo

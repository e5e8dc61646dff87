// src/device/image.cpp: writes images for messages.
#include "device/image.h"

#include <pardo/error.h>

#include "device/device.h"

namespace pardo::device {

std::string ImageShape::text() const {
    std::string out = "a " + std::to_string(rank) + "-D image" + (layered ? " of layers, of " : " of ");
    for (int d = 0; d < dimensions(); ++d) out += (d ? " x " : "") + std::to_string(extents[static_cast<std::size_t>(d)]);
    out += " texels of " + std::to_string(channels) + (channels == 1 ? " channel of " : " channels of ") + std::string(dtype_name(dtype));
    return out + (normalized ? ", normalized" : "");
}

Ref<Image> Device::make_image(const ImageShape& shape, Buffer*) {
    throw Error(ErrorCode::Device, shape.text() + ": the programs of device " + id() + " take no images");
}

std::uint64_t Device::sampler_handle(const Sampler&) {
    throw Error(ErrorCode::Device,
                "the programs of device " + id() + " take a sampler together with an image: give image.sampled(sampler)");
}

}  // namespace pardo::device

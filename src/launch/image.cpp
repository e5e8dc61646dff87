// src/launch/image.cpp: which copy of an image's texels is up to date, and the other one brought up to date when it is needed.
#include "launch/image.h"

#include <algorithm>

#include <pardo/error.h>

#include "array/record.h"
#include "device/device.h"
#include "device/queue/queue.h"
#include "plan/force.h"

namespace pardo {
namespace {

device::ImageShape image_shape_of(const Array& texels, int rank, bool layered, bool normalized) {
    device::ImageShape shape;
    shape.rank = rank;
    shape.layered = layered;
    shape.normalized = normalized;
    shape.dtype = texels.dtype();
    const int dimensions = shape.dimensions();
    if (rank < 1 || dimensions > 3 || texels.ndim() != dimensions + 1)
        throw Error(ErrorCode::Value, "Image: an array of the image's extents and of channels is expected");
    for (int d = 0; d < dimensions; ++d)
        shape.extents[static_cast<std::size_t>(d)] = texels.shape()[static_cast<std::size_t>(dimensions - 1 - d)];
    shape.channels = static_cast<int>(texels.shape()[static_cast<std::size_t>(dimensions)]);
    return shape;
}

}  // namespace

Image::Image(const Array& texels, int rank, bool layered, bool normalized)
    : state_(std::make_shared<State>(texels, image_shape_of(texels, rank, layered, normalized))) {}
Image::~Image() = default;
Image::Image(const Image&) = default;
Image& Image::operator=(const Image&) = default;

const Array& Image::texels(bool writes) const {
    state_->update_texels(writes);
    return state_->texels;
}

void Image::State::copy(bool to_image) {
    arrays::ensure_leaf(texels);
    const graph::Node& leaf = *texels.node();
    device::Buffer* buffer = leaf.buffer.get();
    const std::size_t offset = static_cast<std::size_t>(leaf.offset * itemsize(leaf.dtype));
    if (!to_image) plan::force_readers(buffer);
    // The device's copy has no uses of its own: those of the texels order its uses, so that this one counts as writing in both directions.
    const device::BufferUse uses[] = {{buffer, device::Access::ReadWrite, graph::view_of(leaf)}};
    // Devices that take images have queues of a driver.
    static_cast<device::DriverQueue*>(leaf.queue.get())
        ->submit_native(
            [native = native_, buffer, offset, to_image](device::Stream& stream, const device::NativeOrder& order) {
                native->copy(stream, buffer, offset, to_image, order);
            },
            uses, {"image", device::current_location()});
}

Ref<device::Image> Image::State::native(bool writes) {
    const std::lock_guard lock(arrays::graph_of(texels).lock);
    if (!native_) {
        arrays::ensure_leaf(texels);
        const graph::Node& leaf = *texels.node();
        native_ = leaf.queue->device()->make_image(shape, leaf.buffer.get());
    }
    if (!native_current_) copy(true);
    native_current_ = true;
    if (writes) texels_current_ = false;
    return native_;
}

void Image::State::update_texels(bool writes) {
    const std::lock_guard lock(arrays::graph_of(texels).lock);
    if (!texels_current_) copy(false);
    texels_current_ = true;
    if (writes) native_current_ = false;
}

}  // namespace pardo

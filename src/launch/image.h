// src/launch/image.h: an image: its texels as an array, and the device's own copy of them.
#pragma once

#include <pardo/program.h>

#include "device/image.h"

namespace pardo {

struct __attribute__((visibility("hidden"))) Image::State {
    State(const Array& texels, const device::ImageShape& shape) : texels(texels), shape(shape) {}

    /// The device's copy, up to date, made at first use. `writes`: the program that asks for it is going to write.
    Ref<device::Image> native(bool writes);
    /// Brings the texels up to date.
    void update_texels(bool writes);

    const Array texels;
    const device::ImageShape shape;

private:
    void copy(bool to_image);

    // Guarded by the graph lock of the texels' queue, which a fork finds at rest.
    Ref<device::Image> native_;
    bool texels_current_ = true, native_current_ = false;
};

}  // namespace pardo

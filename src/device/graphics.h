// src/device/graphics.h: buffers and textures of OpenGL whose memory a device uses in place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/image.h"

namespace pardo::device {

class Stream;
struct NativeOrder;

/// What a driver has registered. All functions but the destructor and `copy` are for the thread where the OpenGL context is current that
/// has the object. Those that are not noexcept throw Device with the driver's words.
class GraphicsObject {
public:
    /// Calls nothing of the driver's: the context may be gone.
    virtual ~GraphicsObject() = default;
    /// What comes on `stream` from now on comes after OpenGL's commands so far.
    virtual void map() = 0;
    /// OpenGL's commands from now on come after what `stream` has so far.
    virtual void unmap() = 0;
    /// The driver's stream of maps, in the terms of Queue::wait_for_stream. It lives as long as the device.
    virtual std::uintptr_t stream() = 0;
    /// Where a mapped buffer is, and how many bytes it has.
    struct Memory {
        void* address = nullptr;
        std::size_t bytes = 0;
    };
    virtual Memory memory() = 0;
    /// Looks a level of a mapped texture or renderbuffer up, before `copy`. Throws Value where it is not of the shape.
    virtual void open_level(int level, const ImageShape& shape) = 0;
    /// Copies all texels of that level from or to the buffer, which holds them row by row from `offset` on. From any thread.
    virtual void copy(Stream& stream, Buffer* texels, std::size_t offset, bool to_texture, const NativeOrder& order) = 0;
    /// Ends the map, if there is one, and the registration.
    virtual void close() noexcept = 0;
};

}  // namespace pardo::device

// include/pardo/binding/graphics.h: buffers and textures of OpenGL whose memory a device uses in place.
// For pardo's own bindings: no stability.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <pardo/array.h>
#include <pardo/device.h>
#include <pardo/export.h>
#include <pardo/program.h>
#include <pardo/queue.h>

namespace pardo::device {
class GraphicsObject;
}

namespace pardo {

/// The devices of the same driver whose memory the OpenGL context has that is current in this thread: none where it is another driver's.
PARDO_API std::vector<Device> graphics_devices(const Device& device);

/// A buffer, texture or renderbuffer that a device's driver has registered. All of it is for the thread where the OpenGL context is
/// current that has the object, but for the destructor, which calls nothing of the driver's. Between map and unmap the memory is used in
/// place, after OpenGL's commands before, and before those after; no thread waits. Throws Device with the driver's words, as
/// "<op_name>: …".
class PARDO_API GraphicsObject {
public:
    /// `target`: 0 for a buffer, else OpenGL's word for the kind of a texture, or a renderbuffer.
    GraphicsObject(const char* op_name, const Device& device, std::uint32_t name, std::uint32_t target);
    /// Elements of a buffer from a byte on. Throws Buffer where the buffer ends before they do; `release`: as import_memory.
    Array map(const char* op_name, std::size_t offset, DType dtype, Extents shape, bool read_only, std::function<void()> release,
              const Queue& queue);
    /// Each use of the array, and of others over that memory, throws Value with the message from then on. What is pending is computed.
    void unmap(const char* op_name, const Array& x, std::string message);
    /// Maps a level of a texture for an image of the same texels, and copies them to it if `read`. Throws Value where they are not the
    /// same.
    void map_image(const char* op_name, const Image& image, int level, bool read);
    /// Copies the image's texels to the texture if `write`; each use of these throws Value with the message from then on.
    void unmap_image(const char* op_name, const Image& image, bool write, std::string message);
    /// Ends a map, and the registration. Failures are not told.
    void close() noexcept;

private:
    std::shared_ptr<device::GraphicsObject> object_;
};

}  // namespace pardo

// tests/fake_cuda/graphics.cpp: buffers of OpenGL in the fake CUDA driver: a map reads them into the device's memory, an unmap writes them
// back. Beside errors it has what the real driver has: maps and unmaps are ordered on a stream and by nothing else.
#include "graphics.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>

#include "world.h"

namespace fake {

constexpr unsigned copy_read = 0x8F36, copy_write = 0x8F37, buffer_size = 0x8764, buffer_mapped = 0x88BC, stream_copy = 0x88E2;

namespace {

std::set<Resource*>& resources() {
    static auto* const all = new std::set<Resource*>;
    return *all;
}

int parameter(unsigned target, unsigned what) {
    int value = 0;
    gl("glGetBufferParameteriv", target, what, &value);
    return value;
}

Result read_buffer(Resource& r, StreamHandle stream);
Result write_buffer(Resource& r);

}  // namespace

int gl_device() {
    const char* text = std::getenv("FAKE_CUDA_GL_DEVICE");
    return text && *text ? std::atoi(text) : 0;
}

Result find_resource(GraphicsHandle handle, Resource*& found) {
    found = reinterpret_cast<Resource*>(handle);
    {
        const std::lock_guard lock(world().mutex);
        if (!resources().contains(found)) return invalid_handle;
    }
    return current_gl() == found->context ? result::success : no_gl;
}

Result add_resource(std::unique_ptr<Resource> made, GraphicsHandle* handle) {
    made->device = current;
    made->context = current_gl();
    const std::lock_guard lock(world().mutex);
    for (const Resource* r : resources()) {
        if (r->target == made->target && r->name == made->name && r->context == made->context) return already_mapped;
    }
    ++world().live["graphics resource"];
    *handle = reinterpret_cast<GraphicsHandle>(*resources().insert(made.release()).first);
    return result::success;
}

}  // namespace fake

using namespace fake;

extern "C" {

Result cuMemAlloc_v2(DevicePointer* pointer, std::size_t bytes);
Result cuMemFree_v2(DevicePointer pointer);
Result cuStreamSynchronize(StreamHandle stream);

Result cuGLGetDevices_v2(unsigned* count, DeviceHandle* devices, unsigned room, unsigned list) {
    ENTER_CONTEXT("cuGLGetDevices");
    if (list != graphics_devices_all || room == 0) return result::invalid_value;
    if (!current_gl()) return no_gl;
    if (gl_device() < 0) return operating_system;
    *count = 1;
    devices[0] = gl_device();
    return result::success;
}

Result cuGraphicsGLRegisterBuffer(GraphicsHandle* handle, unsigned name, unsigned flags) {
    ENTER_CONTEXT("cuGraphicsGLRegisterBuffer");
    if (flags > 2) return result::invalid_value;
    if (!current_gl()) return no_gl;
    if (gl_device() != current->ordinal) return result::unknown;
    if (!gl<unsigned char>("glIsBuffer", name)) return result::invalid_value;
    auto made = std::make_unique<Resource>();
    made->name = name;
    {
        const GlBound bound("glBindBuffer", copy_read, copy_read, name);
        made->bytes = static_cast<std::size_t>(parameter(copy_read, buffer_size));
    }
    return add_resource(std::move(made), handle);
}

Result cuGraphicsUnregisterResource(GraphicsHandle handle) {
    ENTER_CONTEXT("cuGraphicsUnregisterResource");
    Resource* r = nullptr;
    if (const Result failed = find_resource(handle, r)) return failed;
    const std::lock_guard lock(world().mutex);
    resources().erase(r);
    --world().live["graphics resource"];
    delete r;
    return result::success;
}

Result cuGraphicsMapResources(unsigned count, GraphicsHandle* handles, StreamHandle stream) {
    ENTER_CONTEXT("cuGraphicsMapResources");
    for (unsigned i = 0; i < count; ++i) {
        Resource* r = nullptr;
        if (const Result failed = find_resource(handles[i], r)) return failed;
        if (r->mapped) return already_mapped;
        if (gl_device() != current->ordinal) return result::unknown;
        if (r->target == 0) {
            if (const Result failed = read_buffer(*r, stream)) return failed;
        }
        r->mapped = true;
        r->stream = stream;
    }
    return result::success;
}

Result cuGraphicsUnmapResources(unsigned count, GraphicsHandle* handles, StreamHandle stream) {
    ENTER_CONTEXT("cuGraphicsUnmapResources");
    for (unsigned i = 0; i < count; ++i) {
        Resource* r = nullptr;
        if (const Result failed = find_resource(handles[i], r)) return failed;
        if (!r->mapped) return not_mapped;
        r->mapped = false;
        if (const Result failed = cuStreamSynchronize(stream)) return failed;
        if (r->target != 0) {
            write_arrays(*r);
        } else if (const Result failed = write_buffer(*r)) {
            return failed;
        }
    }
    return result::success;
}

Result cuGraphicsResourceGetMappedPointer_v2(DevicePointer* pointer, std::size_t* bytes, GraphicsHandle handle) {
    ENTER_CONTEXT("cuGraphicsResourceGetMappedPointer");
    Resource* r = nullptr;
    if (const Result failed = find_resource(handle, r)) return failed;
    if (!r->mapped) return not_mapped;
    if (r->target != 0) return not_mapped_as_pointer;
    *pointer = r->pointer;
    *bytes = r->bytes;
    return result::success;
}

}  // extern "C"

namespace fake {
namespace {

/// What the buffer holds arrives when the stream's turn comes, some time after that.
Result read_buffer(Resource& r, StreamHandle stream) {
    auto staged = std::make_shared<std::vector<char>>(r.bytes);
    {
        const GlBound bound("glBindBuffer", copy_read, copy_read, r.name);
        if (!gl<unsigned char>("glIsBuffer", r.name) || parameter(copy_read, buffer_mapped)) return result::unknown;
        r.bytes = static_cast<std::size_t>(parameter(copy_read, buffer_size));
        staged->resize(r.bytes);
        gl("glGetBufferSubData", copy_read, std::ptrdiff_t{0}, static_cast<std::ptrdiff_t>(r.bytes), static_cast<void*>(staged->data()));
    }
    if (const Result failed = cuMemAlloc_v2(&r.pointer, r.bytes)) return failed;
    return push(stream, [staged, pointer = r.pointer] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        char* const target = locked_bytes_at(pointer, staged->size());
        if (target) std::memcpy(target, staged->data(), staged->size());
        return result::success;
    });
}

Result write_buffer(Resource& r) {
    const char* const bytes = locked_bytes_at(r.pointer, r.bytes);
    if (!bytes) return result::illegal_address;
    unsigned staging = 0;
    gl("glGenBuffers", 1, &staging);
    {
        // Also where only copies may write.
        const GlBound from("glBindBuffer", copy_read, copy_read, staging), to("glBindBuffer", copy_write, copy_write, r.name);
        gl("glBufferData", copy_read, static_cast<std::ptrdiff_t>(r.bytes), static_cast<const void*>(bytes), stream_copy);
        gl("glCopyBufferSubData", copy_read, copy_write, std::ptrdiff_t{0}, std::ptrdiff_t{0}, static_cast<std::ptrdiff_t>(r.bytes));
    }
    gl("glDeleteBuffers", 1, &staging);
    return cuMemFree_v2(r.pointer);
}

}  // namespace
}  // namespace fake

// tests/fake_cuda/graphics.h: OpenGL as the fake CUDA driver reaches it: by the library that the process has loaded.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "world.h"

namespace fake {

/// The context that is current in this thread; null without one.
inline void* current_gl() {
    static void* const egl = dlopen("libEGL.so.1", RTLD_NOLOAD | RTLD_LAZY);
    return egl ? reinterpret_cast<void* (*)()>(dlsym(egl, "eglGetCurrentContext"))() : nullptr;
}

/// Calls a function of it.
template <class R = void, class... T> R gl(const char* name, T... arguments) {
    static const auto find = reinterpret_cast<void* (*)(const char*)>(dlsym(dlopen("libEGL.so.1", RTLD_LAZY), "eglGetProcAddress"));
    return reinterpret_cast<R (*)(T...)>(find(name))(arguments...);
}

/// A number of its state.
inline int gl_integer(unsigned what) {
    int value[4] = {};
    gl("glGetIntegerv", what, &value[0]);
    return value[0];
}

/// Binds something while it lives.
class GlBound {
public:
    GlBound(const char* bind, unsigned target, unsigned binding, unsigned name)
        : bind_(bind), target_(target), former_(gl_integer(binding)) {
        gl(bind_, target_, name);
    }
    ~GlBound() { gl(bind_, target_, static_cast<unsigned>(former_)); }
    GlBound(const GlBound&) = delete;

private:
    const char* bind_;
    unsigned target_;
    int former_;
};

/// Sets a number of its state while it lives.
class GlStored {
public:
    GlStored(unsigned what, int value) : what_(what), former_(gl_integer(what)) { gl("glPixelStorei", what_, value); }
    ~GlStored() { gl("glPixelStorei", what_, former_); }
    GlStored(const GlStored&) = delete;

private:
    unsigned what_;
    int former_;
};

constexpr Result already_mapped = 208, not_mapped = 211, not_mapped_as_array = 212, not_mapped_as_pointer = 213, no_gl = 219,
                 operating_system = 304;

/// CUgraphicsResource.
struct Resource {
    Device* device = nullptr;
    void* context = nullptr;  // of OpenGL's
    unsigned name = 0, target = 0;
    bool mapped = false;
    StreamHandle stream = nullptr;  // of the map
    DevicePointer pointer = 0;
    std::size_t bytes = 0;
    std::map<std::pair<unsigned, unsigned>, std::shared_ptr<Array>> arrays;  // by layer and level
    std::vector<std::shared_ptr<Array>> ended;                               // of former maps: a copy that comes too late finds them
};

/// Which device has the memory of OpenGL's contexts; -1: none.
int gl_device();
/// Adds a resource to those that are known, unless there is one of the same object.
Result add_resource(std::unique_ptr<Resource> made, GraphicsHandle* handle);
/// The common begin of functions of a resource.
Result find_resource(GraphicsHandle handle, Resource*& found);
/// Writes the arrays of a texture or renderbuffer back.
void write_arrays(Resource& resource);

}  // namespace fake

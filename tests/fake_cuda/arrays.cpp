// tests/fake_cuda/arrays.cpp: CUDA arrays of the fake driver, and the surfaces and textures of them.
#include <algorithm>
#include <cstring>

#include "world.h"

namespace fake {

std::size_t Array::texel_bytes() const {
    const int format = descriptor.format;
    return descriptor.channels * (format == 1 || format == 8 ? 1u : format == 2 || format == 9 || format == 0x10 ? 2u : 4u);
}

namespace {

struct Object {
    Array* array;
    TextureDescriptor texture;
};

Result make_object(const char* kind, std::uint64_t* object, const ResourceDescriptor* resource, const TextureDescriptor* texture) {
    if (resource->type != 0 || !resource->array || resource->flags != 0) return result::invalid_value;
    const std::lock_guard lock(world().mutex);
    ++world().live[kind];
    *object = number(new Object{reinterpret_cast<Array*>(resource->array), texture ? *texture : TextureDescriptor{}});
    return result::success;
}

Result destroy_object(const char* kind, std::uint64_t object) {
    const std::lock_guard lock(world().mutex);
    --world().live[kind];
    delete reinterpret_cast<Object*>(object);
    return result::success;
}

}  // namespace
}  // namespace fake

using namespace fake;

extern "C" {

void* fake_cuda_array_of(std::uint64_t object) { return reinterpret_cast<Object*>(object)->array->bytes.data(); }
FakeTexture fake_cuda_texture(std::uint64_t object) {
    const TextureDescriptor& t = reinterpret_cast<Object*>(object)->texture;
    return {t.address_mode[0], t.filter, t.flags};
}

Result cuArray3DCreate_v2(ArrayHandle* array, const ArrayDescriptor* descriptor) {
    ENTER_CONTEXT("cuArray3DCreate");
    constexpr std::size_t most = 32768;
    const ArrayDescriptor& d = *descriptor;
    const bool known =
        d.format == 1 || d.format == 2 || d.format == 3 || (d.format >= 8 && d.format <= 10) || d.format == 0x10 || d.format == 0x20;
    if (!known || (d.channels != 1 && d.channels != 2 && d.channels != 4) || d.width == 0 || std::max({d.width, d.height, d.depth}) > most)
        return result::invalid_value;
    auto made = std::make_unique<Array>();
    made->descriptor = d;
    made->bytes = std::vector<char>(d.width * std::max<std::size_t>(d.height, 1) * std::max<std::size_t>(d.depth, 1) * made->texel_bytes());
    const std::lock_guard lock(world().mutex);
    ++world().live["array"];
    *array = reinterpret_cast<ArrayHandle>(made.release());
    return result::success;
}
Result cuArrayDestroy(ArrayHandle array) {
    ENTER_CONTEXT("cuArrayDestroy");
    const std::lock_guard lock(world().mutex);
    --world().live["array"];
    delete reinterpret_cast<Array*>(array);
    return result::success;
}
Result cuSurfObjectCreate(std::uint64_t* surface, const ResourceDescriptor* resource) {
    ENTER_CONTEXT("cuSurfObjectCreate");
    if (!(reinterpret_cast<Array*>(resource->array)->descriptor.flags & array_surfaces)) return result::invalid_value;
    return make_object("surface", surface, resource, nullptr);
}
Result cuSurfObjectDestroy(std::uint64_t surface) {
    ENTER_CONTEXT("cuSurfObjectDestroy");
    return destroy_object("surface", surface);
}
Result cuTexObjectCreate(std::uint64_t* texture, const ResourceDescriptor* resource, const TextureDescriptor* descriptor,
                         const void* view) {
    ENTER_CONTEXT("cuTexObjectCreate");
    if (view || descriptor->filter < 0 || descriptor->filter > 1) return result::invalid_value;
    // Between integers there is nothing.
    const int format = reinterpret_cast<Array*>(resource->array)->descriptor.format;
    const bool integers = format < 0x10 && ((descriptor->flags & texture_of_integers) || format == 3 || format == 10);
    if (descriptor->filter == 1 && integers) return result::invalid_value;
    return make_object("texture", texture, resource, descriptor);
}
Result cuTexObjectDestroy(std::uint64_t texture) {
    ENTER_CONTEXT("cuTexObjectDestroy");
    return destroy_object("texture", texture);
}

}  // extern "C"

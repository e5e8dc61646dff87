// tests/fake_cuda/textures.cpp: textures and renderbuffers of OpenGL in the fake CUDA driver: arrays that hold their texels for a while.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "graphics.h"

namespace fake {
namespace {

constexpr unsigned texture_2d = 0x0DE1, texture_3d = 0x806F, texture_2d_array = 0x8C1A, renderbuffer = 0x8D41;
constexpr unsigned read_framebuffer = 0x8CA8, draw_framebuffer = 0x8CA9, colour = 0x8CE0;
constexpr int is_float = 0x1406, is_int = 0x1404, is_unsigned = 0x1405, is_normalized = 0x8C17;

/// How OpenGL calls what an array has.
struct Texels {
    ArrayDescriptor descriptor;
    unsigned format, type;
    int internal;
};

/// Binds a texture or renderbuffer.
GlBound bound(const Resource& r) {
    switch (r.target) {
        case texture_2d: return {"glBindTexture", r.target, 0x8069, r.name};
        case texture_3d: return {"glBindTexture", r.target, 0x806A, r.name};
        case texture_2d_array: return {"glBindTexture", r.target, 0x8C1D, r.name};
        default: return {"glBindRenderbuffer", r.target, 0x8CA7, r.name};
    }
}

/// A framebuffer with the renderbuffer, or the texture of that number, as its colours; bound to `target` while it lives.
class Framebuffer {
public:
    Framebuffer(unsigned target, unsigned attached, unsigned name)
        : name_(made()), bound_("glBindFramebuffer", target, target == read_framebuffer ? 0x8CAAu : 0x8CA6u, name_) {
        if (attached == renderbuffer) {
            gl("glFramebufferRenderbuffer", target, colour, renderbuffer, name);
        } else {
            gl("glFramebufferTexture2D", target, colour, attached, name, 0);
        }
    }
    ~Framebuffer() { gl("glDeleteFramebuffers", 1, &name_); }

private:
    static unsigned made() {
        unsigned name = 0;
        gl("glGenFramebuffers", 1, &name);
        return name;
    }
    unsigned name_;
    GlBound bound_;
};

/// What a level is; nothing for formats that the driver does not take.
std::optional<Texels> describe(const Resource& r, unsigned level) {
    const GlBound b = bound(r);
    const bool is_texture = r.target != renderbuffer;
    const auto ask = [&](unsigned of_texture, unsigned of_renderbuffer) {
        int value = 0;
        if (is_texture) {
            gl("glGetTexLevelParameteriv", r.target, static_cast<int>(level), of_texture, &value);
        } else {
            gl("glGetRenderbufferParameteriv", r.target, of_renderbuffer, &value);
        }
        return value;
    };
    Texels t{};
    const int width = ask(0x1000, 0x8D42), height = ask(0x1001, 0x8D43), bits = ask(0x805C, 0x8D50);
    const int depth = r.target == texture_3d ? ask(0x8071, 0) : 0;
    const bool green = ask(0x805D, 0x8D51) > 0, blue = ask(0x805E, 0x8D52) > 0, alpha = ask(0x805F, 0x8D53) > 0;
    t.internal = ask(0x1003, 0x8D44);
    if (width == 0 || bits == 0 || blue != alpha) return std::nullopt;
    int type = 0;
    if (is_texture) {
        type = ask(0x8C10, 0);
    } else {
        const Framebuffer framebuffer(read_framebuffer, renderbuffer, r.name);
        gl("glGetFramebufferAttachmentParameteriv", read_framebuffer, colour, 0x8211u, &type);
    }
    const int size = bits == 8 ? 0 : bits == 16 ? 1 : 2;
    const bool whole = type == is_int || type == is_unsigned;
    static constexpr int unsigned_formats[] = {1, 2, 3}, int_formats[] = {8, 9, 10}, float_formats[] = {0, 0x10, 0x20};
    static constexpr unsigned unsigned_types[] = {0x1401, 0x1403, 0x1405}, int_types[] = {0x1400, 0x1402, 0x1404},
                              float_types[] = {0, 0x140B, 0x1406};
    const int channels = alpha ? 4 : green ? 2 : 1;
    t.format = channels == 4 ? (whole ? 0x8D99 : 0x1908) : channels == 2 ? (whole ? 0x8228 : 0x8227) : (whole ? 0x8D94 : 0x1903);
    t.type = (type == is_int ? int_types : type == is_float ? float_types : unsigned_types)[size];
    t.descriptor.format = (type == is_int ? int_formats : type == is_float ? float_formats : unsigned_formats)[size];
    t.descriptor.width = static_cast<std::size_t>(width);
    t.descriptor.height = static_cast<std::size_t>(height);
    t.descriptor.depth = static_cast<std::size_t>(depth);
    t.descriptor.channels = static_cast<unsigned>(channels);
    if (type != is_int && type != is_float && type != is_unsigned && type != is_normalized) return std::nullopt;
    return t;
}

/// Texels one after the other, from and to memory of the host.
class Packed {
    GlStored pack_alignment_{0x0D05, 1}, pack_row_{0x0D02, 0}, pack_height_{0x806C, 0}, pack_images_{0x806B, 0}, pack_rows_{0x0D03, 0},
        pack_pixels_{0x0D04, 0}, alignment_{0x0CF5, 1}, row_{0x0CF2, 0}, height_{0x806E, 0}, images_{0x806D, 0}, rows_{0x0CF3, 0},
        pixels_{0x0CF4, 0};
    GlBound pack_{"glBindBuffer", 0x88EB, 0x88ED, 0}, unpack_{"glBindBuffer", 0x88EC, 0x88EF, 0};
};

std::vector<char> read_level(const Resource& r, unsigned layer, unsigned level, const Texels& t, std::size_t bytes) {
    const Packed packed;
    int layers = 1;
    const GlBound b = bound(r);
    if (r.target == renderbuffer) {
        std::vector<char> texels(bytes);
        const Framebuffer framebuffer(read_framebuffer, renderbuffer, r.name);
        gl("glReadBuffer", colour);
        gl("glReadPixels", 0, 0, static_cast<int>(t.descriptor.width), static_cast<int>(t.descriptor.height), t.format, t.type,
           static_cast<void*>(texels.data()));
        return texels;
    }
    if (r.target == texture_2d_array) gl("glGetTexLevelParameteriv", r.target, static_cast<int>(level), 0x8071u, &layers);
    std::vector<char> all(bytes * static_cast<std::size_t>(layers));
    gl("glGetTexImage", r.target, static_cast<int>(level), t.format, t.type, static_cast<void*>(all.data()));
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(bytes * layer);
    return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
}

void write_renderbuffer(const Resource& r, const Texels& t, const char* texels) {
    const int width = static_cast<int>(t.descriptor.width), height = static_cast<int>(t.descriptor.height);
    const bool scissor = gl<unsigned char>("glIsEnabled", 0x0C11u);
    if (scissor) gl("glDisable", 0x0C11u);
    unsigned staging = 0;
    gl("glGenTextures", 1, &staging);
    {
        const GlBound texture("glBindTexture", texture_2d, 0x8069, staging);
        gl("glTexImage2D", texture_2d, 0, t.internal, width, height, 0, t.format, t.type, static_cast<const void*>(texels));
        const Framebuffer from(read_framebuffer, texture_2d, staging), to(draw_framebuffer, renderbuffer, r.name);
        gl("glBlitFramebuffer", 0, 0, width, height, 0, 0, width, height, 0x4000u, 0x2600u);
    }
    gl("glDeleteTextures", 1, &staging);
    if (scissor) gl("glEnable", 0x0C11u);
}

void write_level(const Resource& r, unsigned layer, unsigned at, const Texels& t, const char* texels) {
    const Packed packed;
    const auto* data = static_cast<const void*>(texels);
    const int width = static_cast<int>(t.descriptor.width), height = static_cast<int>(t.descriptor.height), level = static_cast<int>(at);
    if (r.target == renderbuffer) return write_renderbuffer(r, t, texels);
    const GlBound b = bound(r);
    if (r.target == texture_2d) {
        gl("glTexSubImage2D", r.target, level, 0, 0, width, height, t.format, t.type, data);
    } else {
        gl("glTexSubImage3D", r.target, level, 0, 0, static_cast<int>(layer), width, height,
           std::max(static_cast<int>(t.descriptor.depth), 1), t.format, t.type, data);
    }
}

}  // namespace

void write_arrays(Resource& r) {
    for (auto& [place, array] : r.arrays) {
        if (const auto t = describe(r, place.second)) write_level(r, place.first, place.second, *t, array->bytes.data());
        r.ended.push_back(std::move(array));
    }
    r.arrays.clear();
}

}  // namespace fake

using namespace fake;

extern "C" {

Result cuGraphicsGLRegisterImage(GraphicsHandle* handle, unsigned name, unsigned target, unsigned flags) {
    ENTER_CONTEXT("cuGraphicsGLRegisterImage");
    if (flags != 0 && flags != 1 && flags != 2 && flags != 4 && flags != 8) return result::invalid_value;
    if (target != texture_2d && target != texture_3d && target != texture_2d_array && target != renderbuffer) return result::invalid_value;
    if (!current_gl()) return no_gl;
    if (gl_device() != current->ordinal) return result::unknown;
    if (!gl<unsigned char>(target == renderbuffer ? "glIsRenderbuffer" : "glIsTexture", name)) return result::invalid_value;
    auto made = std::make_unique<Resource>();
    made->name = name;
    made->target = target;
    if (!describe(*made, 0)) return result::invalid_value;
    return add_resource(std::move(made), handle);
}

Result cuGraphicsSubResourceGetMappedArray(ArrayHandle* handle, GraphicsHandle resource, unsigned layer, unsigned level) {
    ENTER_CONTEXT("cuGraphicsSubResourceGetMappedArray");
    Resource* r = nullptr;
    if (const Result failed = find_resource(resource, r)) return failed;
    if (!r->mapped) return not_mapped;
    if (r->target == 0) return not_mapped_as_array;
    const auto texels = describe(*r, level);
    if (!texels || (layer > 0 && r->target != texture_2d_array)) return result::invalid_value;
    std::shared_ptr<Array>& array = r->arrays[{layer, level}];
    *handle = reinterpret_cast<ArrayHandle>(array.get());
    if (array) return result::success;
    array = std::make_shared<Array>();
    *handle = reinterpret_cast<ArrayHandle>(array.get());
    array->descriptor = texels->descriptor;
    const auto most = [](std::size_t extent) { return std::max<std::size_t>(extent, 1); };
    const ArrayDescriptor& d = array->descriptor;
    array->bytes.resize(d.width * most(d.height) * most(d.depth) * array->texel_bytes());
    // They arrive when the turn of the map comes, some time after that.
    auto staged = std::make_shared<std::vector<char>>(read_level(*r, layer, level, *texels, array->bytes.size()));
    return push(r->stream, [staged, array] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        array->bytes = *staged;
        return result::success;
    });
}

Result cuArray3DGetDescriptor_v2(ArrayDescriptor* descriptor, ArrayHandle array) {
    ENTER_CONTEXT("cuArray3DGetDescriptor");
    *descriptor = reinterpret_cast<Array*>(array)->descriptor;
    return result::success;
}

}  // extern "C"

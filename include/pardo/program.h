// include/pardo/program.h: programs of text in a device's own language, and launches of their kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <pardo/array.h>
#include <pardo/device.h>
#include <pardo/event.h>
#include <pardo/export.h>
#include <pardo/extents.h>
#include <pardo/kernel.h>
#include <pardo/memory.h>
#include <pardo/queue.h>

namespace pardo {

/// An image is an array of texels, which our own kernels use; devices whose programs are text have a copy in their own layout, made when
/// a program first takes the image. Each is brought up to date when it is needed. A cheap handle, safe from any thread.
class PARDO_API Image {
public:
    /// `texels`: memory of its own, of the shape (layers, depth, height, width, channels) without those that the image does not have:
    /// `rank` is 1 to 3, of one layer; only images of rank 1 and 2 have layers. `normalized`: unsigned integers stand for 0 to 1.
    Image(const Array& texels, int rank, bool layered, bool normalized);
    ~Image();
    Image(const Image&);
    Image& operator=(const Image&);

    /// The texels, up to date. `writes`: whoever asks for them is going to write, so that the device's copy is out of date then.
    const Array& texels(bool writes) const;

    struct State;
    const std::shared_ptr<State>& state() const noexcept { return state_; }  ///< internal

private:
    std::shared_ptr<State> state_;
};

/// For CUDA C++: a cudaTextureObject_t, which is an image and how it is sampled.
struct SampledImage {
    Image image;      ///< what is sampled
    Sampler sampler;  ///< how
};

/// Memory that the items of a group share.
struct LocalMemory {
    std::int64_t bytes = 0;  ///< of a group
};
/// One argument of a launch. A pointer takes an array, row-major and without gaps, or null. A weak number is converted to the kernel's
/// type, where the driver tells it; any other number has it. A structure is given by its bytes. In CUDA C++ an image is a surface object,
/// a sampled one a texture object; in OpenCL C images and samplers are arguments of their own.
using ProgramArgument = std::variant<Array, Scalar, std::vector<std::byte>, LocalMemory, std::nullptr_t, Image, SampledImage, Sampler>;

/// What a driver tells of a kernel; -1 where it tells nothing.
struct KernelFacts {
    std::int64_t most_items = 0, multiple = -1;         ///< of a group: at most; best a multiple of this
    std::int64_t local_bytes = -1, private_bytes = -1;  ///< of a group, that the text declares; of an item, in memory
    std::int64_t registers = -1;                        ///< of an item
    std::int64_t group[3] = {0, 0, 0};                  ///< the only size of groups, where the text names one
};

/// Text, or a module of SPIR-V, compiled for one device; a cheap handle, safe from any thread.
class PARDO_API Program {
public:
    /// `language`: "opencl", "cuda", "spirv", or empty for the device's, or what the first word says; `options`: of its compiler. The
    /// program cache keeps what reads no other files. Throws Compile with what the compiler says, Device for a device without such a
    /// language, Value for one with another.
    /// "binary": what binary() of a program has given, or a driver's own. `headers`: names that the text includes, and their texts.
    /// `others`: texts that are compiled apart and linked with it.
    Program(const Device& device, const std::string& text, std::string_view language = {}, const std::vector<std::string>& options = {},
            const std::vector<std::pair<std::string, std::string>>& headers = {}, const std::vector<std::string>& others = {});
    ~Program();
    Program(const Program&);
    Program& operator=(const Program&);

    Device device() const;              ///< that it is compiled for
    std::string_view language() const;  ///< "opencl", "cuda", "spirv", "binary"
    /// Names, in the driver's order.
    std::vector<std::string> kernels() const;
    /// "add(float* a, int n)", as far as the driver tells.
    std::string signature(std::string_view kernel) const;
    KernelFacts facts(std::string_view kernel) const;  ///< what the driver tells of a kernel
    /// What the compiler said; empty if nothing.
    std::string build_log() const;
    /// From which it can be loaded again on the same device with the same driver. Throws Device where the driver gives none.
    std::string binary() const;

    /// Launches on `queue` (null: that of the arrays). Dimension d of the range is get_global_id(d) in OpenCL C, and x, y or z in CUDA C++;
    /// without groups the device chooses them. The kernel counts as writing all arrays but those that the driver calls constant. Throws
    /// what is wrong with the call; what fails later is raised by the next wait.
    /// `offset`: of the first item, in OpenCL C.
    Event launch(std::string_view kernel, ListOf<ProgramArgument> arguments, const NdRange& range, const Queue* queue = nullptr,
                 ListOf<Event> depends = {}, Extents offset = {}) const;
    /// How such a launch uses its arguments.
    std::vector<ArgumentUse> uses(std::string_view kernel, ListOf<ProgramArgument> arguments) const;

private:
    struct State;
    std::shared_ptr<const State> state_;
};

}  // namespace pardo

// src/routines/device/task.h: how routines of devices that compile text name their kernels, compile them once and launch them.
// This folder: routines of devices that compile text (OpenCL, CUDA): the host's part of each; the texts of kernels are in kernels/.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "routines/memory.h"
#include "routines/routines.h"

namespace pardo::routines {

/// A kernel's text before its types and defines are known.
struct KernelText {
    const char* name;
    std::initializer_list<const char*> pieces;
};
/// Rows of kernels.def by position.
enum class KernelId : std::uint8_t {
#define KERNEL(id, ...) id,
#include "routines/device/kernels.def"
#undef KERNEL
    Count,
};

/// One define of a kernel: values are small, because they are part of a program's key.
struct Define {
    const char* name;
    int value;  // [0, 255]
};
/// What sets one program of a kernel apart from another; at most six defines, always the same ones in the same order for a kernel.
/// WARPS is how many times 32 items a group has; without it there are 256.
struct Variant {
    KernelId kernel;
    DType dtype;  // whose elements the kernel handles
    SmallVector<Define, 6> defines;
    bool moved = false;  // elements are only moved about: the dtype's size counts

    Variant(KernelId k, DType d, std::initializer_list<Define> list = {}) : kernel(k), dtype(d) {
        for (const Define& define : list) defines.push_back(define);
    }
    std::uint64_t key() const noexcept;
};
/// As a Variant of elements that are only moved.
Variant moved_variant(KernelId kernel, DType dtype, std::initializer_list<Define> defines = {});

/// The whole text of a variant, for emit::c_macros.
device::SourceKernel kernel_source(const Variant& variant, std::string params);

/// An argument of a launch.
struct DeviceArg {
    std::int64_t number = 0;
    const void* first = nullptr;  // of the elements
    device::BufferUse use{};      // without a buffer it is a number

    DeviceArg(std::int64_t value) : number(value) {}
    DeviceArg(const Memory& memory, device::Access how) : first(memory.address()), use(use_of(memory, how)) {}
    DeviceArg(device::Buffer* whole, device::Access how) : first(whole->data()), use{whole, how} {}
};
inline DeviceArg reads(const Memory& memory) { return {memory, device::Access::Read}; }
inline DeviceArg writes(const Memory& memory) { return {memory, device::Access::Write}; }
inline DeviceArg updates(const Memory& memory) { return {memory, device::Access::ReadWrite}; }
using DeviceArgs = SmallVector<DeviceArg, 24>;

/// Launches `groups` groups of a kernel. `name` (of static life) is the routine's in messages and profiles; `check` as of device::Launch.
void launch_kernel(device::Queue* queue, const char* name, const Variant& variant, std::int64_t groups, std::span<const DeviceArg> args,
                   std::function<void()> check = {});
void launch_kernel(device::Queue* queue, const char* name, const Variant& variant, std::int64_t groups,
                   std::initializer_list<DeviceArg> args);

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
/// Groups of 256 items that handle one element each, or `each` of them.
constexpr std::int64_t groups_for(std::int64_t elements, std::int64_t each = 1) { return divide_up(elements, device_group * each); }

/// The arguments of kernels/strided.h: `rank` is the define, `args` come where A_ARGS or B_ARGS are. Keep it until the launch.
struct DeviceStrides {
    int rank = 0;
    DeviceArgs args;
    Memory description;  // of more than four dimensions

    DeviceStrides(device::Queue* queue, Extents shape, Extents strides);
};

/// Memory like `like`'s queue, with a dtype; contiguous.
inline Memory device_scratch(device::Queue* queue, DType dtype, std::int64_t count) { return make_scratch(queue, dtype, count); }
/// The part of a contiguous memory from an element on.
Memory memory_from(const Memory& memory, std::int64_t element);

/// Groups that keep a device busy.
std::int64_t busy_groups(const device::Device* device);
/// True for processors that want few, long items.
bool runs_on_cores(const device::Device* device);
/// Reads one int64 when everything before is done.
std::int64_t read_int64(device::Queue* queue, const Memory& memory, std::int64_t element);

}  // namespace pardo::routines

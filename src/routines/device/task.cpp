// src/routines/device/task.cpp: texts, programs and launches of the routines for devices that compile text.
#include "routines/device/task.h"

#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/fork.h"
#include "base/short_name.h"
#include "device/pending_program.h"
#include "routines/device/kernels/accumulate.h"
#include "routines/device/kernels/gather.h"
#include "routines/device/kernels/mask.h"
#include "routines/device/kernels/matmul.h"
#include "routines/device/kernels/matrices.h"
#include "routines/device/kernels/orthogonal.h"
#include "routines/device/kernels/scan.h"
#include "routines/device/kernels/select.h"
#include "routines/device/kernels/small_matrices.h"
#include "routines/device/kernels/sort.h"
#include "routines/device/kernels/strided.h"
#include "routines/device/kernels/sweep.h"
#include "routines/device/kernels/values.h"
#include "routines/strided_iterator.h"

namespace pardo::routines {

namespace kernels {
namespace {

/// By KernelId.
const std::array<KernelText, static_cast<std::size_t>(KernelId::Count)> texts = {{
#define KERNEL(id, name, ...) {#name, {__VA_ARGS__}},
#include "routines/device/kernels.def"
#undef KERNEL
}};

}  // namespace
}  // namespace kernels

namespace {

const char* real_type(DType dtype) {
    switch (dtype) {
        case DType::Float32:
        case DType::Complex64: return "f32";
        case DType::Float64:
        case DType::Complex128: return "f64";
        default: return "";
    }
}

void define(std::string& text, const char* name, const std::string& value) {
    text += "#define ";
    text += name;
    text += ' ';
    text += value;
    text += '\n';
}

/// What kernels/values.h asks of the host.
void define_dtype(std::string& text, DType dtype) {
    const DKind kind = kind_of(dtype);
    const bool complex = is_complex(dtype), narrow = is_narrow_float(dtype);
    const struct {
        const char* name;
        bool is;
    } classes[] = {
        {"IS_BOOL", kind == DKind::Bool},
        {"IS_SIGNED", kind == DKind::Signed},
        {"IS_UNSIGNED", kind == DKind::Unsigned},
        {"IS_NARROW", narrow},
        {"IS_FLOAT", dtype == DType::Float32 || dtype == DType::Float64},
        {"IS_COMPLEX", complex},
    };
    for (const auto& row : classes) define(text, row.name, row.is ? "1" : "0");
    if (*real_type(dtype)) define(text, "R", real_type(dtype));
    if (narrow) {
        const std::string name = short_name(dtype);
        define(text, "LOAD(x)", name + "_to_f32(x)");
        define(text, "STORE(v)", "f32_to_" + name + "(v)");
    }
    if (is_inexact(dtype)) {
        const DTypeFacts& facts = facts_of(dtype);
        const std::uint64_t exponents = (std::uint64_t{1} << facts.exponent) - 1;
        define(text, "INFINITY_BITS", "((U)" + std::to_string(exponents << facts.mantissa) + "u)");
    }
}

/// Programs of one device. Entries are never removed: devices live as long as the process.
struct Programs {
    const device::Device* device;
    Programs* next;
    std::mutex mutex;
    std::unordered_map<std::uint64_t, Ref<device::Program>> table;
};

/// The list of all devices' programs: leaked, because drivers may be gone before static objects are.
std::atomic<Programs*> all_programs{nullptr};

Programs& programs_of(const device::Device* device) {
    const auto find = [device]() -> Programs* {
        for (Programs* entry = all_programs.load(std::memory_order_acquire); entry; entry = entry->next) {
            if (entry->device == device) return entry;
        }
        return nullptr;
    };
    if (Programs* found = find()) return *found;
    static auto& adding = *new HeldMutex;
    const std::lock_guard lock(adding);
    if (Programs* found = find()) return *found;
    auto* made = new Programs{device, all_programs.load(std::memory_order_relaxed), {}, {}};
    renew_at_fork(made->mutex);
    all_programs.store(made, std::memory_order_release);
    return *made;
}

std::string params_of(std::span<const DeviceArg> args) {
    std::string params;
    for (const DeviceArg& arg : args) params += arg.use.buffer ? 'p' : 'l';
    return params;
}

Ref<device::Program> program_for(device::Device* device, const Variant& variant, std::span<const DeviceArg> args) {
    Programs& programs = programs_of(device);
    const std::uint64_t key = variant.key();
    // Held while compiling too: another thread that wants the same program waits for it.
    const std::lock_guard lock(programs.mutex);
    const auto found = programs.table.find(key);
    if (found != programs.table.end()) return found->second;
    device::SourceKernel source = kernel_source(variant, params_of(args));
    Ref<device::Program> program;
    if (device::CompileLater::here()) {
        program = new device::PendingProgram(source.name, [device, source] { return device->compile_source(source); });
    } else {
        program = device->compile_source(source);
    }
    programs.table.emplace(key, program);
    return program;
}

}  // namespace

std::uint64_t Variant::key() const noexcept {
    std::uint64_t key =
        static_cast<std::uint64_t>(kernel) | static_cast<std::uint64_t>(dtype) << 8 | static_cast<std::uint64_t>(moved) << 15;
    int shift = 16;
    for (const Define& define : defines) {
        key |= static_cast<std::uint64_t>(define.value) << shift;
        shift += 8;
    }
    return key;
}

Variant moved_variant(KernelId kernel, DType dtype, std::initializer_list<Define> defines) {
    // Complex128 stands for 16 bytes; its text has no double in it.
    constexpr DType by_size[] = {DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64, DType::Complex128};
    const int size = itemsize(dtype);
    Variant variant(kernel, by_size[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : 4], defines);
    variant.moved = true;
    return variant;
}

device::SourceKernel kernel_source(const Variant& variant, std::string params) {
    const KernelText& kernel = kernels::texts[static_cast<std::size_t>(variant.kernel)];
    device::SourceKernel source;
    source.name = kernel.name;
    source.group_size = device_group;
    source.params = std::move(params);
    define(source.text, "T_SIZE", std::to_string(itemsize(variant.dtype)));
    if (!variant.moved) define_dtype(source.text, variant.dtype);
    for (const Define& each : variant.defines) {
        define(source.text, each.name, std::to_string(each.value));
        if (std::string_view(each.name) == "WARPS") source.group_size = 32 * each.value;
    }
    for (const char* piece : kernel.pieces) source.text += piece;
    return source;
}

void launch_kernel(device::Queue* queue, const char* name, const Variant& variant, std::int64_t groups, std::span<const DeviceArg> args,
                   std::function<void()> check) {
    const Ref<device::Program> program = program_for(queue->device(), variant, args);
    device::LaunchArguments arguments;
    for (const DeviceArg& arg : args) {
        if (arg.use.buffer)
            arguments.add(arg.first, arg.use);
        else
            arguments.add(arg.number);
    }
    device::Launch launch;
    launch.program = program.get();
    launch.extents = std::span(&groups, 1);
    launch.args = arguments.words;
    launch.uses = arguments.uses;
    launch.cost_ns = static_cast<double>(groups) * 1000;
    launch.label = [](const void* text) { return device::Label{static_cast<const char*>(text), {}}; };
    launch.label_data = name;
    launch.check = std::move(check);
    const Event event = queue->launch(launch);
    if (arguments.foreign) device::finish_without_locks(event);
}

void launch_kernel(device::Queue* queue, const char* name, const Variant& variant, std::int64_t groups,
                   std::initializer_list<DeviceArg> args) {
    launch_kernel(queue, name, variant, groups, std::span(args.begin(), args.size()));
}

DeviceStrides::DeviceStrides(device::Queue* queue, Extents shape, Extents strides) {
    const StridedIterator elements(shape, strides);
    const auto extents = elements.shape(), steps = elements.strides();
    const std::size_t dims = extents.size();
    if (dims > 4) {
        rank = 5;
        SmallVector<std::int64_t, 16> words;
        words.push_back(static_cast<std::int64_t>(dims));
        words.append(extents.begin(), extents.end());
        words.append(steps.begin(), steps.end());
        description = make_scratch(queue, DType::Int64, words.size());
        queue->write(description.buffer.get(), 0, words.data(), static_cast<std::size_t>(words.size()) * sizeof(std::int64_t));
        args.push_back(reads(description));
        return;
    }
    if (dims == 1) {
        rank = extents[0] == 1 ? 0 : 1;
        args.push_back(steps[0]);
        return;
    }
    rank = 4;
    for (std::size_t d = 1; d < 4; ++d) args.push_back(d + dims >= 4 ? extents[d + dims - 4] : 1);
    for (std::size_t d = 0; d < 4; ++d) args.push_back(d + dims >= 4 ? steps[d + dims - 4] : 0);
}

Memory memory_from(const Memory& memory, std::int64_t element) {
    Memory part = memory;
    part.offset += element;
    return part;
}

bool runs_on_cores(const device::Device* device) { return device->info().type == DeviceType::Cpu; }

std::int64_t busy_groups(const device::Device* device) {
    return std::max(device->info().max_compute_units, 1) * std::int64_t{runs_on_cores(device) ? 4 : 16};
}

std::int64_t read_int64(device::Queue* queue, const Memory& memory, std::int64_t element) {
    std::int64_t value = 0;
    queue->read(&value, memory.buffer.get(), static_cast<std::size_t>(memory.offset + element) * sizeof(value), sizeof(value));
    return value;
}

}  // namespace pardo::routines

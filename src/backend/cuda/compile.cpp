// src/backend/cuda/compile.cpp: Kernel or text -> machine code through the program cache.
#include <functional>
#include <optional>

#include <pardo/error.h>

#include "backend/cuda/device.h"
#include "backend/cuda/libraries/nvrtc.h"
#include "backend/cuda/program.h"
#include "backend/cuda/ptx.h"
#include "base/counters.h"
#include "base/env.h"
#include "emit/c/family.h"
#include "ir/hash.h"
#include "ir/ir.h"
#include "jit/cache.h"
#include "jit/pack.h"

namespace pardo::cuda {
namespace {

/// Raised when the same text is compiled or launched in another way.
constexpr const char* backend_version = "cuda 2";

Target target_of(const CudaDevice& device) {
    Target target = target_for(device.compute_major(), device.compute_minor());
    if (!target.reason.empty()) {
        counters.fallbacks.fetch_add(1, std::memory_order_relaxed);
        warn_once("cuda target " + target.arch, "cuda: " + target.reason + ": programs are compiled for " + target.arch);
    }
    return target;
}

/// What a program depends on besides its text.
std::string toolchain_key(const Target& target, bool fast = false) {
    std::string text = std::string(backend_version) + '\n' + nvrtc_version() + '\n' + target.arch;
    for (const char* option : default_options(fast)) text += std::string(" ") + option;
    return text + '\n';
}

/// Machine code of compute capability 9.0 on can wait for the launch before by itself; every NVRTC that we take knows it.
emit::CFeatures features_for(const CudaDevice& device) {
    emit::CFeatures features = device.features();
    features.overlap = device.compute_major() >= 9;
    return features;
}

emit::CText text_of(const CudaDevice& device, const ir::Kernel& kernel, device::ShapeClass shape) {
    const emit::CFeatures features = features_for(device);
    return emit::emit_c(emit::lowered_for_c(kernel, features), features, emit::CGeometry::decode(shape));
}

/// Loads on the device at once, so that a damaged file is found while it can still be compiled again.
Ref<device::Program> load(CudaDevice& device, const std::string& name, const std::string& entry, const Grid& grid,
                          const jit::Binary& binary) {
    const Ref<CudaProgram> program(new CudaProgram(name, entry, grid, binary));
    const ContextScope scope(device);
    program->function_on(device);
    return program;
}

/// A text, how it is compiled and launched, and what of that is not in it.
struct Job {
    std::string entry, text;
    bool fast = false;
    std::string rest;
    Grid grid;
};

/// The machine code of a text, empty if it cannot be read; false if pardo came without it. NVRTC need not be there.
bool find_packed(const CudaDevice& device, const Job& job, jit::Binary& binary) {
    const jit::Pack& pack = jit::Pack::installed();
    const std::optional<std::size_t> target = packed_target(pack.targets(), device.compute_major(), device.compute_minor());
    if (!target) return false;
    std::string options;
    for (const char* option : default_options(job.fast)) options += std::string(option) + '\n';
    const Hash128 code = hash128(jit::packed_text(options, job.text));
    if (!pack.holds(code, *target)) return false;
    if (!pack.read(code, *target, binary)) binary.clear();
    return true;
}

Grid grid_of(const emit::CText& text, device::ShapeClass shape, int rank, bool overlap) {
    Grid grid;
    grid.overlap = overlap;
    grid.by_geometry = true;
    grid.geometry = emit::CGeometry::decode(shape);
    grid.group_size = grid.geometry.group_size;
    grid.rank = rank;
    grid.params = static_cast<int>(text.params.size()) - rank - int{text.reversible};
    grid.reversible = text.reversible;
    grid.groups = text.groups;
    grid.shared_bytes = static_cast<unsigned>(text.shared_bytes);
    return grid;
}

/// What memory keeps programs by besides the kernel: devices of one architecture share them.
std::string memory_key(const CudaDevice& device, std::string_view rest) {
    return std::string(backend_version) + ' ' + std::to_string(device.compute_major()) + '.' + std::to_string(device.compute_minor()) +
           ' ' + features_for(device).key() + ' ' + std::string(rest);
}

/// The program of a key: from memory, or of the job that `make` makes of it.
Ref<device::Program> program_of(CudaDevice& device, const Hash128& key, const std::string& name, const std::function<Job()>& make) {
    std::optional<Job> made;  // once it is needed
    const auto job = [&]() -> const Job& { return made ? *made : made.emplace(make()); };
    std::optional<Target> target;
    const std::string id = device.id();
    jit::CompileSteps recipe;
    recipe.name = name;
    recipe.device = id;
    recipe.packed = [&](jit::Binary& binary) { return find_packed(device, job(), binary); };
    recipe.file = [&] {
        device.context();  // a lost device says so before anything is compiled
        target = target_of(device);
        return jit::key(toolchain_key(*target, job().fast) + job().rest + '\n' + job().text);
    };
    recipe.compile = [&] { return compile_text(name, job().text, default_options(job().fast), target->arch); };
    recipe.load = [&](const jit::Binary& binary) { return load(device, name, job().entry, job().grid, binary); };
    return jit::get(key, recipe);
}

}  // namespace

device::ShapeClass CudaDevice::shape_class(const ir::Kernel& kernel, const device::LaunchShape& shape) const {
    return emit::choose_geometry(kernel, shape, features_).encode();
}

Hash128 CudaDevice::key_of(const ir::Kernel& kernel, device::ShapeClass shape) const {
    return jit::key(ir::hash(kernel), memory_key(*this, std::to_string(shape)));
}

Ref<device::Program> CudaDevice::known_program(const ir::Kernel& kernel, device::ShapeClass shape) {
    return jit::find(key_of(kernel, shape));
}

Ref<device::Program> CudaDevice::compile(const ir::Kernel& kernel, device::ShapeClass shape) {
    context();  // a lost device says so before anything is compiled
    return program_of(*this, key_of(kernel, shape), kernel.name, [&] {
        const ir::Kernel lowered = emit::lowered_for_c(kernel, features_);
        emit::check_groups(lowered, {info_.max_work_group_size, info_.max_work_item_sizes, most_shared_}, id());
        const emit::CFeatures features = features_for(*this);
        const emit::CText text = emit::emit_c(lowered, features, emit::CGeometry::decode(shape));
        const Grid grid = grid_of(text, shape, kernel.rank, features.overlap);
        // The text does not say how large the last of its large arrays is.
        const std::string bytes = text.shared_bytes ? ' ' + std::to_string(text.shared_bytes) : std::string();
        return Job{text.entry, text.text, text.fast_math, std::to_string(shape) + ' ' + text.params + bytes, grid};
    });
}

Ref<device::Program> CudaDevice::load_emitted(const std::string& name, const emit::CText& text, device::ShapeClass shape, int rank,
                                              const std::vector<std::uint8_t>& code) {
    return load(*this, name, text.entry, grid_of(text, shape, rank, features_for(*this).overlap), code);
}

Ref<device::Program> CudaDevice::compile_source(const device::SourceKernel& kernel) {
    context();
    const std::string rest = kernel.name + ' ' + std::to_string(kernel.group_size) + ' ' + kernel.params;
    const Hash128 key = jit::key(memory_key(*this, "source " + rest + '\n' + kernel.text));
    return program_of(*this, key, kernel.name, [&] {
        const emit::CFeatures features = features_for(*this);
        Grid grid;
        grid.overlap = features.overlap;
        grid.group_size = kernel.group_size;
        grid.params = static_cast<int>(kernel.params.size());
        return Job{kernel.name, emit::c_macros(features) + kernel.text, false, rest, grid};
    });
}

Ref<device::TextProgram> CudaDevice::compile_program(const device::ProgramText& given) {
    context();
    const Target target = target_of(*this);
    const std::string own_id = id();
    jit::CompileSteps recipe;
    recipe.name = "Program";
    recipe.device = own_id;
    // PTX tells of the kernels' parameters, machine code does not.
    const bool packed = device::is_packed(given.binary), raw = !given.binary.empty() && !packed;
    if (!given.others.empty()) throw Error(ErrorCode::Device, "Program: " + id() + " takes one text; put what several share into headers=");
    recipe.compile = [&] {
        UserImage made;
        if (raw) {
            made.ptx.assign(given.binary.begin(), given.binary.end());
            made.image = given.binary;
            made.image.push_back(0);
        } else {
            made = compile_user_text(given, target.arch);
        }
        const std::string declarations = declarations_of(made.ptx);
        if (declarations.empty() && raw)
            throw Error(ErrorCode::Value, "Program: this is neither what binary of a program gave nor PTX with a kernel");
        if (declarations.empty())
            throw Error(ErrorCode::Compile, "Program: there is no kernel in the text: no function is marked __global__");
        return jit::pack(declarations, jit::pack(made.log, made.image));
    };
    recipe.load = [&](const jit::Binary& binary) {
        const auto [declarations, rest] = jit::unpack(binary);
        const auto [log, image] = jit::unpack(rest);
        return CudaTextProgram::load(*this, kernels_of(declarations), image, binary, log);
    };
    if (packed) return static_cast<device::TextProgram*>(recipe.load(device::unpacked(given.binary)).get());
    if (!given.self_contained() || raw) return static_cast<device::TextProgram*>(jit::make(recipe).get());
    std::string key = std::string(backend_version) + '\n' + nvrtc_version() + '\n' + target.arch + ' ' + id() + " texts";
    for (const std::string& option : given.options) key += '\n' + option;
    return static_cast<device::TextProgram*>(jit::get(jit::key(key + "\n\n" + given.whole()), recipe).get());
}

std::string CudaDevice::inspect(const ir::Kernel& kernel, device::ShapeClass shape, std::string_view what) {
    if (what == "ir") return ir::print(kernel);
    if (what == "cuda") return text_of(*this, kernel, shape).text;
    if (what == "ptx") {
        // PTX of the architecture that programs are compiled for.
        std::string arch = target_for(major_, minor_).arch;
        if (arch.starts_with("sm_")) arch.replace(0, 3, "compute_");
        const jit::Binary ptx = compile_text(kernel.name, text_of(*this, kernel, shape).text, default_options(kernel.fast_math), arch);
        std::string text(ptx.begin(), ptx.end());
        if (const std::size_t end = text.find('\0'); end != std::string::npos) text.resize(end);
        return text;
    }
    throw Error(ErrorCode::Value, "inspect: " + id() + " has no \"" + std::string(what) + "\", only \"ir\", \"cuda\" and \"ptx\"");
}

}  // namespace pardo::cuda

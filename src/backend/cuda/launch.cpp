// src/backend/cuda/launch.cpp: loads programs, and launches them with parameters on the stack.
#include <algorithm>
#include <new>

#include "backend/cuda/program.h"
#include "backend/cuda/submission.h"
#include "base/counters.h"
#include "base/env.h"
#include "base/fork.h"
#include "base/shape.h"
#include "device/queue/queue.h"

namespace pardo::cuda {
namespace {

constexpr std::int64_t most_groups = (std::int64_t{1} << 31) - 1;
constexpr std::size_t log_bytes = 4096;
/// The launch may begin while the one before it ends.
constexpr LaunchAttribute overlaps{launch_overlaps, {}, 1, {}};

}  // namespace

ModuleHandle load_module(CudaDevice& device, const std::string& name, const jit::Binary& image) {
    const device::Compiling compiling(name, &device);
    const Driver& d = driver();
    char log[log_bytes] = "";
    int options[] = {jit_error_log, jit_error_log_bytes};
    void* values[] = {log, reinterpret_cast<void*>(log_bytes)};
    ModuleHandle module = nullptr;
    const Result failed = d.cuModuleLoadDataEx(&module, image.data(), 2, options, values);
    if (failed == result::success) return module;
    const Error error = device.failure(failed, "cuModuleLoadDataEx");
    std::string advice;
    if (failed == result::invalid_image || failed == result::no_binary || failed == result::invalid_ptx ||
        failed == result::unsupported_ptx)
        advice = "; the driver knows CUDA " + version_text(d.version) + ": a newer driver, or an NVRTC of that version, helps";
    throw error.with_message(name + ": " + error.message() + (log[0] ? std::string(" (") + log + ")" : "") + advice);
}

CudaProgram::CudaProgram(std::string name, std::string entry, const Grid& grid, jit::Binary binary)
    : Program(std::move(name)), entry_(std::move(entry)), grid_(grid), binary_(std::move(binary)) {}

CudaProgram::~CudaProgram() {
    if (device::driver_gone()) return;
    for (const Loaded& l : loaded_) {
        const ContextScope scope(l.device->known_context());
        driver().cuModuleUnload(l.module);
    }
}

int CudaProgram::ordinal_of(const CudaDevice& device) noexcept { return device.ordinal(); }

FunctionHandle CudaProgram::load_on(CudaDevice& device) {
    std::lock_guard lock(mutex_);
    for (const Loaded& l : loaded_) {
        if (l.device == &device) return l.function;
    }
    const Driver& d = driver();
    Loaded l{&device, load_module(device, name(), binary_), nullptr};
    if (const Result failed = d.cuModuleGetFunction(&l.function, l.module, entry_.c_str()); failed != result::success) {
        d.cuModuleUnload(l.module);
        throw Error(ErrorCode::Device, name() + ": " + device.failure(failed, "cuModuleGetFunction").message());
    }
    if (grid_.shared_bytes > 0) {
        const Result failed = d.cuFuncSetAttribute(l.function, function_dynamic_shared, static_cast<int>(grid_.shared_bytes));
        if (failed != result::success) {
            d.cuModuleUnload(l.module);
            throw Error(ErrorCode::Device, name() + ": groups that share " + std::to_string(grid_.shared_bytes) +
                                               " bytes: " + device.failure(failed, "cuFuncSetAttribute").message());
        }
    }
    loaded_.push_back(l);
    if (const auto i = static_cast<std::size_t>(device.ordinal()); i < fast_.size()) fast_[i].store(l.function, std::memory_order_release);
    return l.function;
}

void CudaStream::launch(const device::Launch& launch, const device::NativeOrder& order) {
    auto* program = static_cast<CudaProgram*>(launch.program);
    const Grid& grid = program->grid();
    if (launch.extents.size() != static_cast<std::size_t>(grid.rank) || launch.args.size() != static_cast<std::size_t>(grid.params)) {
        throw Error(ErrorCode::Internal, "launch: kernel " + program->name() + " takes " + std::to_string(grid.rank) + " extents and " +
                                             std::to_string(grid.params) + " arguments, not " + std::to_string(launch.extents.size()) +
                                             " and " + std::to_string(launch.args.size()));
    }
    const bool own = !grid.groups.size.empty();
    const std::int64_t groups = own                ? grid.groups.count(program->name(), launch.extents)
                                : grid.by_geometry ? emit::group_count(grid.geometry, launch.extents)
                                                   : launch.extents[0];
    if (groups > most_groups) {
        throw Error(ErrorCode::Value, "launch: kernel " + program->name() + " would take " + std::to_string(groups) + " groups of " +
                                          std::to_string(grid.group_size) + "; a device takes " + std::to_string(most_groups));
    }
    Submission submission(*this, order);
    if (groups <= 0) return submission.finish();
    // The driver copies the parameters out of these places during the call.
    SmallVector<void*, 64> params;
    for (const std::uint64_t& slot : launch.args) params.push_back(const_cast<std::uint64_t*>(&slot));
    if (grid.by_geometry) {
        for (const std::int64_t& extent : launch.extents) params.push_back(const_cast<std::int64_t*>(&extent));
    }
    if (grid.reversible) {
        launch_parity_ ^= 1;
        params.push_back(&launch_parity_);
    }
    const std::array<int, 3> local = own ? grid.groups.local : std::array<int, 3>{grid.group_size, 1, 1};
    LaunchConfig config{{static_cast<unsigned>(groups), 1, 1}, {}, grid.shared_bytes, submission.stream(), &overlaps, grid.overlap};
    for (std::size_t d = 0; d < local.size(); ++d) config.block[d] = static_cast<unsigned>(local[d]);
    submission.check(driver().cuLaunchKernelEx(&config, program->function_on(*device_), params.data(), nullptr), "cuLaunchKernelEx");
    submission.finish();
}

// --- text of the user ---------------------------------------------------------------------------------------------------------------

class CudaTextProgram::Module {
public:
    Module(CudaDevice& device, const jit::Binary& image) : device_(device), module_(load_module(device, "Program", image)) {}
    ~Module() {
        if (device::driver_gone()) return;
        const ContextScope scope(device_.known_context());
        driver().cuModuleUnload(module_);
    }
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    FunctionHandle function(const std::string& name) const {
        FunctionHandle f = nullptr;
        device_.check(driver().cuModuleGetFunction(&f, module_, name.c_str()), "cuModuleGetFunction");
        return f;
    }
    int attribute(FunctionHandle f, int what) const {
        int value = 0;
        device_.check(driver().cuFuncGetAttribute(&value, what, f), "cuFuncGetAttribute");
        return value;
    }
    /// -1 where the driver does not tell.
    int fact(FunctionHandle f, int what) const {
        int value = 0;
        return driver().cuFuncGetAttribute(&value, what, f) == result::success ? value : -1;
    }
    void allow_shared(FunctionHandle f, std::int64_t bytes) const {
        device_.check(driver().cuFuncSetAttribute(f, function_dynamic_shared, static_cast<int>(bytes)), "cuFuncSetAttribute");
    }

private:
    CudaDevice& device_;
    ModuleHandle module_;
};

CudaTextProgram::CudaTextProgram(std::unique_ptr<Module> module, std::vector<FunctionHandle> functions,
                                 std::vector<device::TextKernel> kernels, device::ProgramBinary binary, std::string log)
    : TextProgram(std::move(kernels), 1, true, std::move(binary), std::move(log)),
      module_(std::move(module)),
      functions_(std::move(functions)) {}

CudaTextProgram::~CudaTextProgram() = default;

Ref<device::Program> CudaTextProgram::load(CudaDevice& device, std::vector<device::TextKernel> declared, const jit::Binary& image,
                                           device::ProgramBinary binary, std::string log) {
    const ContextScope scope(device);
    auto module = std::make_unique<Module>(device, image);
    std::vector<FunctionHandle> functions;
    for (device::TextKernel& kernel : declared) {
        FunctionHandle f = module->function(kernel.name.str());
        kernel.most_items = module->attribute(f, function_most_threads);
        kernel.most_local = device.most_shared() - module->attribute(f, function_shared);
        kernel.multiple = 32;
        kernel.local_bytes = device.most_shared() - kernel.most_local;
        kernel.private_bytes = module->fact(f, function_local);
        kernel.registers = module->fact(f, function_registers);
        module->allow_shared(f, kernel.most_local);
        functions.push_back(f);
    }
    return new CudaTextProgram(std::move(module), std::move(functions), std::move(declared), std::move(binary), std::move(log));
}

namespace {

/// Groups for a launch that names none: as many items as the largest divisors of its extents give, from the first dimension on.
std::array<std::int64_t, 3> chosen_groups(const device::TextKernel& kernel, const std::array<std::int64_t, 3>& global) {
    constexpr std::int64_t wanted = 256, few = 32, most_z = 64;
    std::array<std::int64_t, 3> local{1, 1, 1};
    std::int64_t room = std::min(wanted, kernel.most_items), items = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        local[d] = std::min({room, global[d], d == 2 ? most_z : room});
        while (global[d] % local[d] != 0) --local[d];
        room /= local[d];
        items *= global[d];
    }
    const std::int64_t size = local[0] * local[1] * local[2];
    if (size < few && items > few) {
        counters.fallbacks.fetch_add(1, std::memory_order_relaxed);
        log(LogLevel::Info, "cuda: " + kernel.name.str() + ": " + std::to_string(items) + " items are run in groups of " +
                                std::to_string(size) + ", which is slow: launch it over an NdRange");
    }
    return local;
}

}  // namespace

void CudaTextProgram::enqueue(device::Stream& stream, std::size_t kernel, const device::TextLaunch& launch,
                              const device::NativeOrder& order) {
    static_cast<CudaStream&>(stream).launch(functions_[kernel], kernels()[kernel], launch, order);
}

void CudaStream::launch(FunctionHandle function, const device::TextKernel& kernel, const device::TextLaunch& l,
                        const device::NativeOrder& order) {
    constexpr std::int64_t most[] = {most_groups, 65535, 65535};
    const std::array<std::int64_t, 3> local = l.local[0] ? l.local : chosen_groups(kernel, l.global);
    unsigned grid[3], block[3], shared_bytes = 0;
    for (std::size_t d = 0; d < 3; ++d) {
        const std::int64_t groups = l.global[d] / local[d];
        if (groups > most[d]) {
            throw Error(ErrorCode::Value, std::to_string(groups) + " groups in dimension " + std::to_string(d) + "; a device takes " +
                                              std::to_string(most[d]) + " there");
        }
        grid[d] = static_cast<unsigned>(groups);
        block[d] = static_cast<unsigned>(local[d]);
    }
    SmallVector<void*, 16> params;
    for (const device::TextArgument& a : l.arguments) {
        if (a.kind == device::TextArgument::Kind::Local) {
            shared_bytes += static_cast<unsigned>(a.bytes);
        } else {
            params.push_back(const_cast<std::uint64_t*>(a.words.data()));
        }
    }
    Submission submission(*this, order);
    submission.check(driver().cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared_bytes,
                                             submission.stream(), params.data(), nullptr),
                     "cuLaunchKernel");
    submission.finish();
}

}  // namespace pardo::cuda

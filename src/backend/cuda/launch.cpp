// src/backend/cuda/launch.cpp: loads programs, and launches them with parameters on the stack.
#include <algorithm>
#include <new>

#include "backend/cuda/program.h"
#include "backend/cuda/submission.h"
#include "base/fork.h"
#include "base/shape.h"
#include "device/driver_queue.h"

namespace pardo::cuda {
namespace {

constexpr std::int64_t most_groups = (std::int64_t{1} << 31) - 1;
constexpr std::size_t log_bytes = 4096;

}  // namespace

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
    char log[log_bytes] = "";
    int options[] = {jit_error_log, jit_error_log_bytes};
    void* values[] = {log, reinterpret_cast<void*>(log_bytes)};
    Loaded l{&device, nullptr, nullptr};
    if (const Result failed = d.cuModuleLoadDataEx(&l.module, binary_.data(), 2, options, values); failed != result::success) {
        const Error error = device.failure(failed, "cuModuleLoadDataEx");
        std::string advice;
        if (failed == result::invalid_image || failed == result::no_binary || failed == result::invalid_ptx ||
            failed == result::unsupported_ptx)
            advice = "; the driver knows CUDA " + version_text(d.version) + ": a newer driver, or an NVRTC of that version, helps";
        throw Error(error.code(), name() + ": " + error.message() + (log[0] ? std::string(" (") + log + ")" : "") + advice);
    }
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
    if (grid.turns) {
        turned_ ^= 1;
        params.push_back(&turned_);
    }
    const std::array<int, 3> local = own ? grid.groups.local : std::array<int, 3>{grid.group_size, 1, 1};
    submission.check(
        driver().cuLaunchKernel(program->function_on(*device_), static_cast<unsigned>(groups), 1, 1, static_cast<unsigned>(local[0]),
                                static_cast<unsigned>(local[1]), static_cast<unsigned>(local[2]), grid.shared_bytes, submission.stream(),
                                params.data(), nullptr),
        "cuLaunchKernel");
    submission.finish();
}

}  // namespace pardo::cuda

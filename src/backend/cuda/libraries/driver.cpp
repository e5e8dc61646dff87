// src/backend/cuda/libraries/driver.cpp: finds the driver, starts it, and says in words what is wrong with it.
#include "backend/cuda/libraries/driver.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#include "base/env.h"
#include "base/fork.h"
#include "device/queue/queue.h"

namespace pardo::cuda {
namespace {

constexpr const char* get_a_driver = "install NVIDIA's driver";

/// Guarded by `mutex` until `done`; then constant.
struct DriverState {
    std::mutex mutex;
    bool done = false;
    Driver driver;
    std::string reason;
};
DriverState& driver_state() {
    static DriverState* const instance = [] {
        auto* made = new DriverState;  // never destroyed: devices live as long as the process
        // Not held while the process forks: the driver installs handlers of its own while it is loaded.
        renew_at_fork(made->mutex);
        return made;
    }();
    return *instance;
}

/// Looks every function up; the name of the first that is missing, or null.
const char* bind(Driver& d, const DynamicLibrary& library) {
#define PARDO_CUDA_BIND(name, symbol_name, params) \
    if (!library.bind(d.name, symbol_name)) return symbol_name;
    PARDO_CUDA_FUNCTIONS(PARDO_CUDA_BIND)
#undef PARDO_CUDA_BIND
#define PARDO_CUDA_BIND(name, symbol_name, since, params) \
    if (d.version >= since) library.bind(d.name, symbol_name);
    PARDO_CUDA_NEWER_FUNCTIONS(PARDO_CUDA_BIND)
#undef PARDO_CUDA_BIND
#define PARDO_CUDA_BIND(name, symbol_name, params) library.bind(d.name, symbol_name);
    PARDO_CUDA_GL_FUNCTIONS(PARDO_CUDA_BIND)
    PARDO_CUDA_GRAPHICS_FUNCTIONS(PARDO_CUDA_BIND)
#undef PARDO_CUDA_BIND
    return nullptr;
}

/// What cuInit's refusals mean to a person.
std::string init_advice(Result error, int version) {
    switch (error) {
        case result::no_device: return "no NVIDIA GPU is visible (CUDA_VISIBLE_DEVICES hides those it does not list)";
        case result::stub_library: return std::string("the library is the toolkit's stub; ") + get_a_driver;
        case result::system_driver_mismatch:
        case result::compat_not_supported:
            return "the library (CUDA " + version_text(version) +
                   ") and the kernel's driver (/proc/driver/nvidia/version) do not fit together; reboot after an update of the driver, or "
                   "install the same version of both";
        default: return "see whether nvidia-smi works";
    }
}

std::string start(Driver& d) {
    const std::optional<std::string> wish = env("PARDO_CUDA_DRIVER");
    const std::string name = wish.value_or("libcuda.so.1");
    std::string error;
    const DynamicLibrary library = DynamicLibrary::open({name}, &error);
    if (!library) {
        if (wish) return "PARDO_CUDA_DRIVER=" + name + " cannot be loaded (" + error + ")";
        return name + " not found: " + get_a_driver + " (" + error + ")";
    }
    d.path = library.path();
    if (!library.bind(d.cuDriverGetVersion, "cuDriverGetVersion") || d.cuDriverGetVersion(&d.version) != result::success)
        return name + " is not a CUDA driver: " + get_a_driver;
    const std::string too_old = "the driver is too old: it knows CUDA " + version_text(d.version) + ", pardo needs " +
                                version_text(oldest_driver) + " or newer; update NVIDIA's driver";
    if (d.version < oldest_driver) return too_old;
    if (const char* missing = bind(d, library))
        return name + " (CUDA " + version_text(d.version) + ") lacks " + missing + "; update NVIDIA's driver";
    device::driver_in_use();
    if (const Result failed = d.cuInit(0); failed != result::success)
        return "cuInit failed: " + d.describe(failed) + "; " + init_advice(failed, d.version);
    return {};
}

}  // namespace

std::string version_text(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

std::string Driver::describe(Result error) const {
    const char *name = nullptr, *text = nullptr;
    if (!cuGetErrorName || cuGetErrorName(error, &name) != result::success || !name) return "error " + std::to_string(error);
    if (!cuGetErrorString || cuGetErrorString(error, &text) != result::success || !text) return name;
    return std::string(name) + " (" + text + ")";
}

const Driver* load_driver(std::string& reason) {
    DriverState& s = driver_state();
    std::lock_guard lock(s.mutex);
    if (!s.done) {
        s.reason = start(s.driver);
        s.done = true;
        if (!s.reason.empty()) log(LogLevel::Debug, "cuda: " + s.reason);
    }
    reason = s.reason;
    return s.reason.empty() ? &s.driver : nullptr;
}

const Driver& driver() noexcept {
    static const Driver& loaded = driver_state().driver;
    return loaded;
}

bool loses_context(Result error) noexcept {
    constexpr Result fatal[] = {result::ecc_uncorrectable, result::nvlink_uncorrectable, result::contained,
                                result::illegal_address,   result::launch_timeout,       result::context_is_destroyed,
                                result::assert_failed,     result::tensor_memory_leak,   result::unknown};
    const bool in_kernel = error >= result::hardware_stack_error && error <= result::launch_failed;
    return in_kernel || std::find(std::begin(fatal), std::end(fatal), error) != std::end(fatal);
}

Error error_of(Result error, const char* call) {
    const ErrorCode code = error == result::out_of_memory ? ErrorCode::Memory : ErrorCode::Device;
    return Error(code, std::string(call) + " failed: " + driver().describe(error));
}

}  // namespace pardo::cuda

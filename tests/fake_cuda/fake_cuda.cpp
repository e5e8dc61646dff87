// tests/fake_cuda/fake_cuda.cpp: a CUDA driver without a GPU, for tests of the runtime layer: devices, contexts, modules, launches, errors.
#include "fake_cuda.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "image.h"
#include "world.h"

namespace fake {
namespace {

long environment(const char* name, long fallback) {
    const char* text = std::getenv(name);
    return text && *text ? std::atol(text) : fallback;
}

constexpr int most_shared = 232448;
struct Function {
    std::string name;
    ImageKernel kernel;
    int shared_bytes = 49152;  // that a launch may ask for
};
struct Module {
    std::map<std::string, std::unique_ptr<Function>> functions;
    int device = 0;
};

}  // namespace

World& world() {
    static auto* instance = new World;  // streams run until the process ends
    return *instance;
}

bool fatal(Result code) { return code == 214 || code == 700 || (code >= 714 && code <= 719) || code == 999; }

Result enter(const char* function) {
    World& w = world();
    std::lock_guard lock(w.mutex);
    ++w.calls[function];
    const auto at = w.injections.find(function);
    if (at == w.injections.end() || at->second.after-- > 0) return 0;
    const Result code = at->second.code;
    w.injections.erase(at);
    if (fatal(code) && current) current->lost = code;
    return code;
}

Result enter_context(const char* function) {
    if (const Result failed = enter(function)) return failed;
    if (!current) return invalid_context;
    std::lock_guard lock(world().mutex);
    return current->lost;
}

}  // namespace fake

using namespace fake;

// --- what tests ask for ------------------------------------------------------------------------------------------------------------

extern "C" {

void fake_cuda_fail_next(const char* function, int code, int after) {
    std::lock_guard lock(world().mutex);
    world().injections[function] = {code, after};
}
void fake_cuda_forget_failures() {
    std::lock_guard lock(world().mutex);
    world().injections.clear();
    world().bad_kernels.clear();
}
void fake_cuda_fail_kernel(const char* kernel, int code) {
    std::lock_guard lock(world().mutex);
    world().bad_kernels[kernel] = code;
}
long fake_cuda_calls(const char* function) {
    std::lock_guard lock(world().mutex);
    return world().calls[function];
}
long fake_cuda_live(const char* kind) {
    std::lock_guard lock(world().mutex);
    return world().live[kind];
}
void fake_cuda_hold(int hold) {
    std::lock_guard lock(world().mutex);
    world().held = hold != 0;
    world().changed.notify_all();
}
void fake_cuda_revive(int device) {
    std::lock_guard lock(world().mutex);
    world().devices[static_cast<std::size_t>(device)]->lost = 0;
}
long fake_cuda_launches() {
    std::lock_guard lock(world().mutex);
    return static_cast<long>(world().launches.size());
}
const FakeLaunch* fake_cuda_launch(long index) {
    std::lock_guard lock(world().mutex);
    return &world().launches[static_cast<std::size_t>(index)]->launch;
}
void fake_cuda_forget_launches() {
    std::lock_guard lock(world().mutex);
    world().launches.clear();
}
void fake_cuda_on_launch(const char* kernel, void (*f)(const FakeLaunch*)) {
    std::lock_guard lock(world().mutex);
    world().bodies[kernel] = f;
}
void* fake_cuda_host_address(std::uint64_t pointer, std::size_t bytes) { return locked_bytes_at(pointer, bytes); }

// --- the driver: start, devices, contexts --------------------------------------------------------------------------------------------

Result cuDriverGetVersion(int* version) {
    *version = static_cast<int>(environment("FAKE_CUDA_VERSION", 13000));
    return 0;
}

Result cuInit(unsigned) {
    ENTER("cuInit");
    if (const long code = environment("FAKE_CUDA_INIT", 0)) return static_cast<Result>(code);
    World& w = world();
    std::lock_guard lock(w.mutex);
    if (w.started) return 0;
    w.started = true;
    const auto memory = static_cast<std::size_t>(environment("FAKE_CUDA_MEMORY", 1L << 30));
    const auto count = static_cast<std::size_t>(environment("FAKE_CUDA_DEVICES", 1));
    for (std::size_t i = 0; i < count; ++i) {
        auto d = std::make_unique<Device>();
        d->ordinal = static_cast<int>(i);
        d->memory = memory;
        d->base = number(mmap(nullptr, memory, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        d->file = memfd_create("fake_cuda", MFD_CLOEXEC);
        if (ftruncate(d->file, static_cast<off_t>(memory)) != 0) std::abort();
        d->storage = static_cast<char*>(mmap(nullptr, memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, d->file, 0));
        d->peers.resize(count);
        w.devices.push_back(std::move(d));
    }
    return 0;
}

struct NamedError {
    Result code;
    const char *name, *text;
};
static constexpr NamedError named_errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT", "invalid OpenGL or DirectX context"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
};
static const NamedError* named(Result code) {
    for (const NamedError& e : named_errors) {
        if (e.code == code) return &e;
    }
    return nullptr;
}
Result cuGetErrorName(Result error, const char** name) {
    const NamedError* e = named(error);
    *name = e ? e->name : nullptr;
    return e ? 0 : result::invalid_value;
}
Result cuGetErrorString(Result error, const char** text) {
    const NamedError* e = named(error);
    *text = e ? e->text : nullptr;
    return e ? 0 : result::invalid_value;
}

Result cuDeviceGetCount(int* count) {
    ENTER("cuDeviceGetCount");
    if (!world().started) return not_initialized;
    *count = static_cast<int>(world().devices.size());
    return 0;
}
static Device* device_at(int ordinal) {
    World& w = world();
    return ordinal >= 0 && static_cast<std::size_t>(ordinal) < w.devices.size() ? w.devices[static_cast<std::size_t>(ordinal)].get()
                                                                                : nullptr;
}
Result cuDeviceGet(DeviceHandle* device, int ordinal) {
    ENTER("cuDeviceGet");
    *device = ordinal;
    return device_at(ordinal) ? 0 : invalid_device;
}
Result cuDeviceGetName(char* name, int length, DeviceHandle device) {
    ENTER("cuDeviceGetName");
    std::snprintf(name, static_cast<std::size_t>(length), "Fake GPU %d", device);
    return 0;
}
Result cuDeviceGetUuid_v2(Uuid* uuid, DeviceHandle device) {
    for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<unsigned char>(16 * device + i);
    return 0;
}
Result cuDeviceTotalMem_v2(std::size_t* bytes, DeviceHandle device) {
    *bytes = device_at(device)->memory;
    return 0;
}
Result cuDeviceGetAttribute(int* value, Attribute attribute, DeviceHandle device) {
    ENTER("cuDeviceGetAttribute");
    const int arch = static_cast<int>(environment("FAKE_CUDA_ARCH", 90));
    const std::map<Attribute, int> values = {
        {Attribute::MaxThreadsPerBlock, 1024},
        {Attribute::MaxGridX, 2147483647},
        {Attribute::MaxSharedMemoryPerBlock, 49152},
        {Attribute::WarpSize, 32},
        {Attribute::ClockRate, 1980000},
        {Attribute::Multiprocessors, 132},
        {Attribute::Integrated, 0},
        {Attribute::PciBus, 24 + device},
        {Attribute::PciDevice, 0},
        {Attribute::L2CacheSize, 50 << 20},
        {Attribute::UnifiedAddressing, 1},
        {Attribute::PciDomain, 0},
        {Attribute::MaxBlockX, 1024},
        {Attribute::MaxBlockY, 1024},
        {Attribute::MaxBlockZ, 64},
        {Attribute::ComputeMajor, arch / 10},
        {Attribute::ComputeMinor, arch % 10},
        {Attribute::ManagedMemory, 1},
        {Attribute::ConcurrentManagedAccess, 1},
        {Attribute::MaxSharedMemoryOptin, most_shared},
        {Attribute::MaxThreadsPerMultiprocessor, 2048},
    };
    const auto at = values.find(attribute);
    if (at == values.end()) return result::invalid_value;
    *value = at->second;
    return 0;
}
Result cuDeviceCanAccessPeer(int* can, DeviceHandle device, DeviceHandle peer) {
    *can = device != peer && environment("FAKE_CUDA_PEERS", 1) != 0;
    return 0;
}
Result cuDevicePrimaryCtxRetain(ContextHandle* context, DeviceHandle device) {
    ENTER("cuDevicePrimaryCtxRetain");
    Device* d = device_at(device);
    if (!d) return invalid_device;
    std::lock_guard lock(world().mutex);
    if (!d->context) ++world().live["context"];
    d->context = true;
    *context = handle_of(d);
    return 0;
}
Result cuDevicePrimaryCtxGetState(DeviceHandle device, unsigned* flags, int* active) {
    std::lock_guard lock(world().mutex);
    *flags = 0;
    *active = device_at(device)->context;
    return 0;
}
Result cuCtxGetCurrent(ContextHandle* context) {
    *context = handle_of(current);
    return 0;
}
Result cuCtxSetCurrent(ContextHandle context) {
    ENTER("cuCtxSetCurrent");
    current = reinterpret_cast<Device*>(context);
    return 0;
}
Result cuCtxSynchronize() {
    ENTER_CONTEXT("cuCtxSynchronize");
    Lock lock(world().mutex);
    wait_idle(lock, current);
    return current->lost;
}
Result cuCtxEnablePeerAccess(ContextHandle peer, unsigned) {
    ENTER_CONTEXT("cuCtxEnablePeerAccess");
    if (!environment("FAKE_CUDA_PEERS", 1)) return peer_unsupported;
    std::lock_guard lock(world().mutex);
    const auto index = static_cast<std::size_t>(reinterpret_cast<Device*>(peer)->ordinal);
    if (current->peers[index]) return result::peer_access_already_enabled;
    current->peers[index] = true;
    return 0;
}

// --- programs ------------------------------------------------------------------------------------------------------------------------

Result cuModuleLoadDataEx(ModuleHandle* module, const void* image, unsigned, int*, void**) {
    ENTER_CONTEXT("cuModuleLoadDataEx");
    const std::vector<ImageKernel> kernels = read_image(image);
    if (kernels.empty()) return result::invalid_image;
    auto m = std::make_unique<Module>();
    m->device = current->ordinal;
    for (const ImageKernel& k : kernels) m->functions[k.name] = std::make_unique<Function>(Function{k.name, k});
    std::lock_guard lock(world().mutex);
    ++world().live["module"];
    *module = reinterpret_cast<ModuleHandle>(m.release());
    return 0;
}
Result cuModuleUnload(ModuleHandle module) {
    ENTER_CONTEXT("cuModuleUnload");
    std::lock_guard lock(world().mutex);
    --world().live["module"];
    delete reinterpret_cast<Module*>(module);
    return 0;
}
Result cuModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
    ENTER_CONTEXT("cuModuleGetFunction");
    auto* m = reinterpret_cast<Module*>(module);
    const auto at = m->functions.find(name);
    if (at == m->functions.end()) return not_found;
    *function = reinterpret_cast<FunctionHandle>(at->second.get());
    return 0;
}
Result cuFuncGetAttribute(int* value, int attribute, FunctionHandle function) {
    ENTER_CONTEXT("cuFuncGetAttribute");
    if (attribute != function_most_threads && attribute != function_shared) return result::invalid_value;
    *value = attribute == function_most_threads ? reinterpret_cast<Function*>(function)->kernel.max_threads : 0;
    return 0;
}
Result cuFuncSetAttribute(FunctionHandle function, int attribute, int value) {
    ENTER_CONTEXT("cuFuncSetAttribute");
    if (attribute != function_dynamic_shared || value < 0 || value > most_shared) return result::invalid_value;
    reinterpret_cast<Function*>(function)->shared_bytes = value;
    return 0;
}
Result cuLaunchKernel(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                      unsigned block_z, unsigned shared_bytes, StreamHandle stream, void** params, void**) {
    ENTER_CONTEXT("cuLaunchKernel");
    const auto* f = reinterpret_cast<Function*>(function);
    if (grid_x == 0 || grid_y == 0 || grid_z == 0 || grid_y > 65535 || grid_z > 65535 || block_x * block_y * block_z == 0)
        return result::invalid_value;
    if (static_cast<int>(block_x * block_y * block_z) > f->kernel.max_threads) return launch_out_of_resources;
    if (static_cast<int>(shared_bytes) > f->shared_bytes || block_z > 64) return result::invalid_value;
    auto recorded = std::make_unique<RecordedLaunch>();
    recorded->kernel = f->name;
    for (std::size_t i = 0; i < f->kernel.param_bytes.size(); ++i) {
        std::uint64_t value = 0;
        std::memcpy(&value, params[i], f->kernel.param_bytes[i]);
        recorded->params.push_back(value);
    }
    FakeLaunch& l = recorded->launch;
    l = {recorded->kernel.c_str(),    current->ordinal, {grid_x, grid_y, grid_z},
         {block_x, block_y, block_z}, shared_bytes,     static_cast<int>(recorded->params.size()),
         recorded->params.data()};
    Result bad = 0;
    void (*body)(const FakeLaunch*) = nullptr;
    auto kept = std::make_shared<RecordedLaunch>(*recorded);
    kept->launch.kernel = kept->kernel.c_str();
    kept->launch.params = kept->params.data();
    {
        World& w = world();
        std::lock_guard lock(w.mutex);
        for (const std::string& name : {f->name, std::string()}) {
            const auto at = w.bad_kernels.find(name);
            if (at == w.bad_kernels.end()) continue;
            bad = at->second;
            w.bad_kernels.erase(at);
            break;
        }
        if (const auto at = w.bodies.find(f->name); at != w.bodies.end()) body = at->second;
        if (w.launches.size() < 10000) w.launches.push_back(std::move(recorded));
    }
    return push(stream, [=] {
        if (bad) return bad;
        if (body) body(&kept->launch);
        return result::success;
    });
}
Result cuLaunchKernelEx(const LaunchConfig* config, FunctionHandle function, void** params, void** extra) {
    for (unsigned i = 0; i < config->count; ++i)
        if (config->attributes[i].id != launch_overlaps) return result::invalid_value;
    return cuLaunchKernel(function, config->grid[0], config->grid[1], config->grid[2], config->block[0], config->block[1], config->block[2],
                          config->shared_bytes, config->stream, params, extra);
}

}  // extern "C"

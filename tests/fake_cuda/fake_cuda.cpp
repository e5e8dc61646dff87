// tests/fake_cuda/fake_cuda.cpp: a CUDA driver without a GPU, for tests of the runtime layer.
#include "fake_cuda.h"

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backend/cuda/driver.h"
#include "image.h"

namespace fake {

using namespace pardo::cuda;

constexpr Result invalid_handle = 400, invalid_context = 201, not_initialized = 3, not_found = 500, invalid_device = 101,
                 not_registered = 713, launch_out_of_resources = 701, peer_unsupported = 217;

long environment(const char* name, long fallback) {
    const char* text = std::getenv(name);
    return text && *text ? std::atol(text) : fallback;
}

double now_ms() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Results after which a device's context does not work any more.
bool fatal(Result code) { return code == 214 || code == 700 || (code >= 714 && code <= 719) || code == 999; }

/// One recording of an event.
struct Occurrence {
    bool done = false;
    double time_ms = 0;
    int device = 0;
};
struct Event {
    unsigned flags = 0;
    std::shared_ptr<Occurrence> last;
};

struct Stream;
struct Device {
    int ordinal = 0;
    bool context = false;
    Result lost = 0;
    std::uint64_t base = 0;   // what pointers say
    char* storage = nullptr;  // where the bytes are
    std::size_t memory = 0, used = 0;
    std::map<std::uint64_t, std::size_t> blocks;
    std::vector<std::shared_ptr<Stream>> streams;
    std::shared_ptr<Stream> standard;  // of handles 0, 1 and 2
    std::vector<bool> peers;
};

/// Work runs without the lock; its result is the device's if it loses the context.
struct Stream {
    Device* device = nullptr;
    std::deque<std::function<Result()>> work;
    bool busy = false, closed = false;
};

struct Function {
    std::string name;
    ImageKernel kernel;
};
struct Module {
    std::map<std::string, std::unique_ptr<Function>> functions;
    int device = 0;
};

struct Injection {
    Result code;
    int after;
};
struct HostRange {
    std::size_t bytes;
    bool owned;
};
struct RecordedLaunch {
    FakeLaunch launch;
    std::string kernel;
    std::vector<std::uint64_t> params;
};

/// Everything, under one lock.
struct World {
    std::mutex mutex;
    std::condition_variable changed;
    bool started = false, held = false;
    std::vector<std::unique_ptr<Device>> devices;
    std::map<std::uint64_t, HostRange> pinned;  // also registered
    std::map<std::uint64_t, std::size_t> managed;
    std::map<std::string, Injection> injections;
    std::map<std::string, Result> bad_kernels;
    std::map<std::string, long> calls, live;
    std::map<std::string, void (*)(const FakeLaunch*)> bodies;
    std::vector<std::unique_ptr<RecordedLaunch>> launches;
};
World& world() {
    static auto* instance = new World;  // streams run until the process ends
    return *instance;
}
using Lock = std::unique_lock<std::mutex>;

thread_local Device* current = nullptr;

/// The common begin of the driver's functions: counts the call; a result when it has been told to fail.
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

/// As enter, for functions that need a current context that is not lost.
Result enter_context(const char* function) {
    if (const Result failed = enter(function)) return failed;
    if (!current) return invalid_context;
    std::lock_guard lock(world().mutex);
    return current->lost;
}

#define ENTER(function) \
    if (const Result failed = enter(function)) return failed
#define ENTER_CONTEXT(function) \
    if (const Result failed = enter_context(function)) return failed

ContextHandle handle_of(Device* d) { return reinterpret_cast<ContextHandle>(d); }

void serve(const std::shared_ptr<Stream>& s) {
    World& w = world();
    Lock lock(w.mutex);
    for (;;) {
        w.changed.wait(lock, [&] { return (!w.held && !s->work.empty()) || (s->closed && s->work.empty()); });
        if (s->work.empty()) return;
        const std::function<Result()> f = std::move(s->work.front());
        s->work.pop_front();
        s->busy = true;
        lock.unlock();
        const Result result = f();
        lock.lock();
        s->busy = false;
        if (result && fatal(result) && !s->device->lost) s->device->lost = result;
        w.changed.notify_all();
    }
}

std::shared_ptr<Stream> new_stream(Device* d) {
    auto s = std::make_shared<Stream>();
    s->device = d;
    d->streams.push_back(s);
    std::thread([s] { serve(s); }).detach();
    return s;
}

/// With the lock held. Null for a handle that is none.
std::shared_ptr<Stream> stream_of(StreamHandle handle) {
    if (reinterpret_cast<std::uintptr_t>(handle) <= 2) {
        if (!current) return nullptr;
        if (!current->standard) current->standard = new_stream(current);
        return current->standard;
    }
    for (const auto& d : world().devices) {
        for (const auto& s : d->streams) {
            if (reinterpret_cast<StreamHandle>(s.get()) == handle) return s;
        }
    }
    return nullptr;
}

/// Adds work to a stream; on a lost device it is dropped when its turn comes, unless it only tells that its turn has come.
Result push(StreamHandle handle, std::function<Result()> f) {
    World& w = world();
    Lock lock(w.mutex);
    const auto s = stream_of(handle);
    if (!s) return invalid_handle;
    s->work.push_back([s, f = std::move(f)] {
        {
            std::lock_guard guard(world().mutex);
            if (s->device->lost) return Result{0};
        }
        return f();
    });
    w.changed.notify_all();
    return 0;
}

void wait_idle(Lock& lock, const std::shared_ptr<Stream>& s) {
    world().changed.wait(lock, [&] { return s->work.empty() && !s->busy; });
}
void wait_idle(Lock& lock, Device* d) {
    const auto streams = d->streams;
    for (const auto& s : streams) wait_idle(lock, s);
}

bool inside(std::uint64_t pointer, std::size_t bytes, std::uint64_t begin, std::size_t size) {
    return pointer >= begin && bytes <= size && pointer - begin <= size - bytes;
}
template <class Map> auto range_of(const Map& map, std::uint64_t pointer) {
    auto at = map.upper_bound(pointer);
    return at == map.begin() ? map.end() : std::prev(at);
}
std::size_t size_of(std::size_t bytes) { return bytes; }
std::size_t size_of(const HostRange& r) { return r.bytes; }
template <class Map> bool holds(const Map& map, std::uint64_t pointer, std::size_t bytes) {
    const auto at = range_of(map, pointer);
    return at != map.end() && inside(pointer, bytes, at->first, size_of(at->second));
}

Device* device_of(std::uint64_t pointer) {
    for (const auto& d : world().devices) {
        if (pointer >= d->base && pointer < d->base + d->memory) return d.get();
    }
    return nullptr;
}

/// Where the bytes are; null for what is not one allocation's. With the lock held.
char* bytes_at(std::uint64_t pointer, std::size_t bytes) {
    if (Device* d = device_of(pointer)) return holds(d->blocks, pointer, bytes) ? d->storage + (pointer - d->base) : nullptr;
    if (holds(world().managed, pointer, bytes) || holds(world().pinned, pointer, bytes)) return reinterpret_cast<char*>(pointer);
    return nullptr;
}
char* locked_bytes_at(std::uint64_t pointer, std::size_t bytes) {
    std::lock_guard lock(world().mutex);
    return bytes_at(pointer, bytes);
}

std::uint64_t number(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

/// Copies between allocations when its turn comes.
std::function<Result()> copy_work(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
    return [=] {
        char *target = locked_bytes_at(to, bytes), *source = locked_bytes_at(from, bytes);
        if (!target || !source) return result::illegal_address;
        std::memmove(target, source, bytes);
        return result::success;
    };
}

template <class T> Result fill(StreamHandle stream, DevicePointer to, T value, std::size_t count) {
    if (to % sizeof(T) != 0) return result::invalid_value;
    if (!locked_bytes_at(to, count * sizeof(T))) return result::invalid_value;
    return push(stream, [=] {
        auto* target = reinterpret_cast<T*>(locked_bytes_at(to, count * sizeof(T)));
        if (!target) return result::illegal_address;
        std::fill_n(target, count, value);
        return result::success;
    });
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
        d->storage = static_cast<char*>(mmap(nullptr, memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
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
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
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
        {Attribute::MaxSharedMemoryOptin, 232448},
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

// --- memory ------------------------------------------------------------------------------------------------------------------------

Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    ENTER_CONTEXT("cuMemGetInfo");
    std::lock_guard lock(world().mutex);
    *total = current->memory;
    *free = current->memory - current->used;
    return 0;
}
Result cuMemAlloc_v2(DevicePointer* pointer, std::size_t bytes) {
    ENTER_CONTEXT("cuMemAlloc");
    if (bytes == 0) return result::invalid_value;
    World& w = world();
    std::lock_guard lock(w.mutex);
    const std::size_t rounded = (bytes + 511) / 512 * 512;
    std::uint64_t at = current->base;
    for (const auto& [begin, size] : current->blocks) {
        if (at + rounded <= begin) break;
        at = begin + (size + 511) / 512 * 512;
    }
    if (at + rounded > current->base + current->memory) return result::out_of_memory;
    current->blocks[at] = bytes;
    current->used += rounded;
    ++w.live["device memory"];
    *pointer = at;
    return 0;
}
Result cuMemFree_v2(DevicePointer pointer) {
    ENTER_CONTEXT("cuMemFree");
    World& w = world();
    Lock lock(w.mutex);
    if (const auto managed = w.managed.find(pointer); managed != w.managed.end()) {
        wait_idle(lock, current);
        munmap(reinterpret_cast<void*>(pointer), managed->second);
        w.managed.erase(managed);
        --w.live["managed memory"];
        return 0;
    }
    Device* d = device_of(pointer);
    if (!d || !d->blocks.contains(pointer)) return result::invalid_value;
    wait_idle(lock, d);
    const auto at = d->blocks.find(pointer);
    const std::size_t rounded = (at->second + 511) / 512 * 512;
    std::memset(d->storage + (pointer - d->base), 0xdd, std::min<std::size_t>(rounded, 4096));  // who reads it later sees nonsense
    d->used -= rounded;
    d->blocks.erase(at);
    --w.live["device memory"];
    return 0;
}
Result cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned) {
    ENTER_CONTEXT("cuMemHostAlloc");
    std::lock_guard lock(world().mutex);
    *pointer = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!*pointer) return result::out_of_memory;
    world().pinned[number(*pointer)] = {bytes, true};
    ++world().live["pinned memory"];
    return 0;
}
Result cuMemFreeHost(void* pointer) {
    ENTER_CONTEXT("cuMemFreeHost");
    Lock lock(world().mutex);
    const auto at = world().pinned.find(number(pointer));
    if (at == world().pinned.end() || !at->second.owned) return result::invalid_value;
    wait_idle(lock, current);
    world().pinned.erase(number(pointer));
    std::free(pointer);
    --world().live["pinned memory"];
    return 0;
}
Result cuMemAllocManaged(DevicePointer* pointer, std::size_t bytes, unsigned) {
    ENTER_CONTEXT("cuMemAllocManaged");
    std::lock_guard lock(world().mutex);
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return result::out_of_memory;
    *pointer = number(p);
    world().managed[*pointer] = bytes;
    ++world().live["managed memory"];
    return 0;
}
Result cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned) {
    ENTER_CONTEXT("cuMemHostRegister");
    std::lock_guard lock(world().mutex);
    const auto at = range_of(world().pinned, number(pointer) + bytes - 1);
    if (at != world().pinned.end() && at->first + at->second.bytes > number(pointer)) return result::already_registered;
    world().pinned[number(pointer)] = {bytes, false};
    ++world().live["registration"];
    return 0;
}
Result cuMemHostUnregister(void* pointer) {
    ENTER_CONTEXT("cuMemHostUnregister");
    std::lock_guard lock(world().mutex);
    const auto at = world().pinned.find(number(pointer));
    if (at == world().pinned.end() || at->second.owned) return not_registered;
    world().pinned.erase(at);
    --world().live["registration"];
    return 0;
}
Result cuPointerGetAttribute(void* value, int attribute, DevicePointer pointer) {
    ENTER_CONTEXT("cuPointerGetAttribute");
    std::lock_guard lock(world().mutex);
    Device* d = device_of(pointer);
    const bool managed = holds(world().managed, pointer, 1), pinned = holds(world().pinned, pointer, 1);
    if ((!d || !holds(d->blocks, pointer, 1)) && !managed && !pinned) return result::invalid_value;
    switch (attribute) {
        case pointer_memory_type: *static_cast<unsigned*>(value) = pinned ? memory_type_host : memory_type_device; return 0;
        case pointer_device_ordinal: *static_cast<int*>(value) = d ? d->ordinal : 0; return 0;
        default: return result::invalid_value;
    }
}

// --- copies and fills ----------------------------------------------------------------------------------------------------------------

Result cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t bytes, StreamHandle stream) {
    ENTER_CONTEXT("cuMemcpyHtoDAsync");
    if (!locked_bytes_at(to, bytes)) return result::invalid_value;
    if (locked_bytes_at(number(from), bytes)) return push(stream, copy_work(to, number(from), bytes));
    // Pageable memory is the caller's again when the function returns.
    auto staged = std::make_shared<std::vector<char>>(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
    return push(stream, [=] {
        char* target = locked_bytes_at(to, bytes);
        if (!target) return result::illegal_address;
        std::memcpy(target, staged->data(), bytes);
        return result::success;
    });
}
Result cuStreamSynchronize(StreamHandle stream);
Result cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t bytes, StreamHandle stream) {
    ENTER_CONTEXT("cuMemcpyDtoHAsync");
    if (!locked_bytes_at(from, bytes)) return result::invalid_value;
    if (locked_bytes_at(number(to), bytes)) return push(stream, copy_work(number(to), from, bytes));
    const Result pushed = push(stream, [=] {
        const char* source = locked_bytes_at(from, bytes);
        if (!source) return result::illegal_address;
        std::memcpy(to, source, bytes);
        return result::success;
    });
    return pushed ? pushed : cuStreamSynchronize(stream);
}
Result cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream) {
    ENTER_CONTEXT("cuMemcpyDtoDAsync");
    if (!locked_bytes_at(to, bytes) || !locked_bytes_at(from, bytes)) return result::invalid_value;
    return push(stream, copy_work(to, from, bytes));
}
Result cuMemcpyAsync(DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream) {
    ENTER_CONTEXT("cuMemcpyAsync");
    if (!locked_bytes_at(to, bytes) || !locked_bytes_at(from, bytes)) return result::invalid_value;
    return push(stream, copy_work(to, from, bytes));
}
Result cuMemcpyPeerAsync(DevicePointer to, ContextHandle to_context, DevicePointer from, ContextHandle from_context, std::size_t bytes,
                         StreamHandle stream) {
    ENTER_CONTEXT("cuMemcpyPeerAsync");
    Device *target, *source;
    {
        std::lock_guard lock(world().mutex);
        target = device_of(to);
        source = device_of(from);
    }
    if (target && handle_of(target) != to_context) return invalid_context;
    if (source && handle_of(source) != from_context) return invalid_context;
    if (!locked_bytes_at(to, bytes) || !locked_bytes_at(from, bytes)) return result::invalid_value;
    return push(stream, copy_work(to, from, bytes));
}
Result cuMemsetD8Async(DevicePointer to, unsigned char value, std::size_t count, StreamHandle stream) {
    ENTER_CONTEXT("cuMemsetD8Async");
    return fill(stream, to, value, count);
}
Result cuMemsetD16Async(DevicePointer to, unsigned short value, std::size_t count, StreamHandle stream) {
    ENTER_CONTEXT("cuMemsetD16Async");
    return fill(stream, to, value, count);
}
Result cuMemsetD32Async(DevicePointer to, unsigned value, std::size_t count, StreamHandle stream) {
    ENTER_CONTEXT("cuMemsetD32Async");
    return fill(stream, to, value, count);
}
Result cuMemsetD2D32Async(DevicePointer to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height, StreamHandle stream) {
    ENTER_CONTEXT("cuMemsetD2D32Async");
    if (height == 0 || width == 0) return 0;
    const std::size_t bytes = (height - 1) * pitch + width * 4;
    if (to % 4 != 0 || pitch % 4 != 0 || !locked_bytes_at(to, bytes)) return result::invalid_value;
    return push(stream, [=] {
        char* target = locked_bytes_at(to, bytes);
        if (!target) return result::illegal_address;
        for (std::size_t y = 0; y < height; ++y) std::fill_n(reinterpret_cast<unsigned*>(target + y * pitch), width, value);
        return result::success;
    });
}

// --- streams and events --------------------------------------------------------------------------------------------------------------

Result cuStreamCreate(StreamHandle* stream, unsigned) {
    ENTER_CONTEXT("cuStreamCreate");
    std::lock_guard lock(world().mutex);
    ++world().live["stream"];
    *stream = reinterpret_cast<StreamHandle>(new_stream(current).get());
    return 0;
}
Result cuStreamDestroy_v2(StreamHandle stream) {
    ENTER("cuStreamDestroy");
    World& w = world();
    std::lock_guard lock(w.mutex);
    const auto s = stream_of(stream);
    if (!s || s == s->device->standard) return invalid_handle;
    s->closed = true;
    std::erase(s->device->streams, s);
    --w.live["stream"];
    w.changed.notify_all();
    return 0;
}
Result cuStreamSynchronize(StreamHandle stream) {
    ENTER_CONTEXT("cuStreamSynchronize");
    Lock lock(world().mutex);
    const auto s = stream_of(stream);
    if (!s) return invalid_handle;
    wait_idle(lock, s);
    return s->device->lost;
}
Result cuStreamQuery(StreamHandle stream) {
    ENTER_CONTEXT("cuStreamQuery");
    Lock lock(world().mutex);
    const auto s = stream_of(stream);
    if (!s) return invalid_handle;
    return s->work.empty() && !s->busy ? 0 : result::not_ready;
}
Result cuStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
    ENTER_CONTEXT("cuStreamWaitEvent");
    std::shared_ptr<Occurrence> last;
    {
        std::lock_guard lock(world().mutex);
        last = reinterpret_cast<Event*>(event)->last;
    }
    if (!last) return 0;
    return push(stream, [last] {
        Lock lock(world().mutex);
        world().changed.wait(lock, [&] { return last->done || world().devices[static_cast<std::size_t>(last->device)]->lost; });
        return result::success;
    });
}
Result cuEventCreate(EventHandle* event, unsigned flags) {
    ENTER_CONTEXT("cuEventCreate");
    auto* e = new Event;
    e->flags = flags;
    std::lock_guard lock(world().mutex);
    ++world().live["event"];
    *event = reinterpret_cast<EventHandle>(e);
    return 0;
}
Result cuEventDestroy_v2(EventHandle event) {
    ENTER("cuEventDestroy");
    std::lock_guard lock(world().mutex);
    --world().live["event"];
    delete reinterpret_cast<Event*>(event);
    return 0;
}
Result cuEventRecord(EventHandle event, StreamHandle stream) {
    ENTER_CONTEXT("cuEventRecord");
    auto occurrence = std::make_shared<Occurrence>();
    {
        std::lock_guard lock(world().mutex);
        const auto s = stream_of(stream);
        if (!s || s->device != current) return invalid_handle;
        occurrence->device = s->device->ordinal;
        reinterpret_cast<Event*>(event)->last = occurrence;
    }
    return push(stream, [occurrence] {
        std::lock_guard lock(world().mutex);
        occurrence->done = true;
        occurrence->time_ms = now_ms();
        return result::success;
    });
}
Result cuEventQuery(EventHandle event) {
    ENTER("cuEventQuery");
    std::lock_guard lock(world().mutex);
    const auto last = reinterpret_cast<Event*>(event)->last;
    if (!last) return 0;
    if (const Result lost = world().devices[static_cast<std::size_t>(last->device)]->lost) return lost;
    return last->done ? 0 : result::not_ready;
}
Result cuEventSynchronize(EventHandle event) {
    ENTER("cuEventSynchronize");
    Lock lock(world().mutex);
    const auto last = reinterpret_cast<Event*>(event)->last;
    if (!last) return 0;
    Device* d = world().devices[static_cast<std::size_t>(last->device)].get();
    world().changed.wait(lock, [&] { return last->done || d->lost; });
    return d->lost;
}
Result cuEventElapsedTime(float* milliseconds, EventHandle start, EventHandle end) {
    ENTER("cuEventElapsedTime");
    std::lock_guard lock(world().mutex);
    const auto* a = reinterpret_cast<Event*>(start);
    const auto* b = reinterpret_cast<Event*>(end);
    if ((a->flags | b->flags) & event_disable_timing || !a->last || !b->last) return invalid_handle;
    if (!a->last->done || !b->last->done) return result::not_ready;
    *milliseconds = static_cast<float>(b->last->time_ms - a->last->time_ms);
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
Result cuLaunchKernel(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                      unsigned block_z, unsigned shared_bytes, StreamHandle stream, void** params, void**) {
    ENTER_CONTEXT("cuLaunchKernel");
    const auto* f = reinterpret_cast<Function*>(function);
    if (grid_x == 0 || grid_y == 0 || grid_z == 0 || grid_y > 65535 || grid_z > 65535 || block_x * block_y * block_z == 0)
        return result::invalid_value;
    if (static_cast<int>(block_x * block_y * block_z) > f->kernel.max_threads) return launch_out_of_resources;
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

}  // extern "C"

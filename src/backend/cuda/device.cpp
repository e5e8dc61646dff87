// src/backend/cuda/device.cpp: the primary context of a GPU, what it is made of, and the end of it.
#include "backend/cuda/device.h"

#include <algorithm>

#include "backend/cuda/libraries/nvrtc.h"
#include "backend/cuda/memory.h"
#include "backend/cuda/queue.h"
#include "base/counters.h"
#include "base/env.h"
#include "device/queue/queue.h"

namespace pardo::cuda {

namespace {

/// What all GPUs have in common.
emit::CFeatures common_features() {
    emit::CFeatures f;
    f.target = &emit::cuda_cpp;
    f.masked_abs = true;  // NVIDIA's assembler takes -|x| <= 0 and |x| >= 0 for true where x is NaN
    f.native_erf = true;
    return f;
}

emit::CFeatures features_of(const DeviceInfo& info) {
    emit::CFeatures f = common_features();
    f.sub_group = info.sub_group_sizes.front();
    f.shuffles = 2 * f.sub_group - 1;  // parts of a warp too
    f.max_group_size = static_cast<int>(info.max_work_group_size);
    f.compute_units = info.max_compute_units;
    f.most_shared = static_cast<int>(info.local_mem_size);
    return f;
}

}  // namespace

emit::CFeatures features_of_architecture(int number) {
    emit::CFeatures f = common_features();
    f.sub_group = 32;
    f.shuffles = 63;
    f.max_group_size = 1024;
    f.compute_units = 132;
    f.most_shared = 48 << 10;
    f.overlap = number >= 90;
    return f;
}

CudaDevice::CudaDevice(device::Backend* backend, int ordinal, DeviceHandle handle)
    : backend_(backend),
      ordinal_(ordinal),
      handle_(handle),
      info_(device_info(ordinal, handle)),
      features_(features_of(info_)),
      events_(this, false),
      timed_events_(this, true),
      transfer_(this),
      allocator_(this, std::make_unique<CudaMemory>(this)) {
    driver().cuDeviceGetAttribute(&major_, Attribute::ComputeMajor, handle);
    driver().cuDeviceGetAttribute(&minor_, Attribute::ComputeMinor, handle);
    driver().cuDeviceGetAttribute(&most_shared_, Attribute::MaxSharedMemoryOptin, handle);
    most_shared_ = std::max(most_shared_, static_cast<int>(info_.local_mem_size));
}

ContextHandle CudaDevice::context() {
    if (lost()) [[unlikely]]
        raise_lost();
    if (ContextHandle made = context_.load(std::memory_order_acquire)) [[likely]]
        return made;
    return make_context();
}

ContextHandle CudaDevice::make_context() {
    device::check_not_forked("Device", this);
    std::lock_guard lock(mutex_);
    if (ContextHandle made = context_.load(std::memory_order_acquire)) return made;
    ContextHandle made = nullptr;
    const Result failed = [&] {
        const std::jthread loads = load_nvrtc_aside();  // meanwhile: the driver takes 0.1 s
        return driver().cuDevicePrimaryCtxRetain(&made, handle_);
    }();
    if (failed != result::success) {
        throw Error(failed == result::out_of_memory ? ErrorCode::Memory : ErrorCode::Device,
                    "Device: " + id() + " cannot be used: cuDevicePrimaryCtxRetain failed: " + driver().describe(failed));
    }
    context_.store(made, std::memory_order_release);
    return made;
}

std::pair<int, int> CudaDevice::dlpack_device(MemoryKind kind) const noexcept {
    constexpr int cuda = 2, cuda_host = 3, cuda_managed = 13;
    switch (kind) {
        case MemoryKind::Device: return {cuda, ordinal_};
        case MemoryKind::Host: return {cuda_host, 0};
        case MemoryKind::Shared: return {cuda_managed, ordinal_};
    }
    return {0, 0};
}

bool CudaDevice::holds(std::uintptr_t low, std::size_t bytes) {
    // Without a context there is no memory; asking must not make one.
    unsigned flags = 0;
    int active = 0;
    if (driver().cuDevicePrimaryCtxGetState(handle_, &flags, &active) != result::success || !active) return false;
    const ContextScope scope(*this);
    const auto ask = [](auto& value, int attribute, std::uintptr_t address) {
        return driver().cuPointerGetAttribute(&value, attribute, address) == result::success;
    };
    const std::uintptr_t last = low + std::max<std::size_t>(bytes, 1) - 1;
    // A range of other libraries' virtual memory is what they have reserved; of that only what is mapped has an owner.
    for (const std::uintptr_t address : {low, last}) {
        int ordinal = -1;
        if (!ask(ordinal, pointer_device_ordinal, address) || ordinal != ordinal_) return false;
    }
    std::uintptr_t begin = 0;
    std::size_t size = 0;
    return ask(begin, pointer_range_start, low) && ask(size, pointer_range_size, low) && low >= begin && last - begin < size;
}

device::ProcessBlock CudaDevice::name_block(std::uintptr_t address) {
    const ContextScope scope(*this);
    const Driver& d = driver();
    std::uintptr_t begin = 0;
    device::ProcessBlock block;
    check(d.cuPointerGetAttribute(&begin, pointer_range_start, address), "cuPointerGetAttribute");
    check(d.cuPointerGetAttribute(&block.bytes, pointer_range_size, address), "cuPointerGetAttribute");
    block.offset = address - begin;
    IpcHandle handle{};
    // Virtual memory and pools of streams, which other libraries may have allocated, have no such names.
    check(d.cuIpcGetMemHandle(&handle, begin), "cuIpcGetMemHandle");
    block.name.assign(handle.bytes, sizeof handle.bytes);
    return block;
}

std::uintptr_t CudaDevice::open_block(std::string_view name) {
    IpcHandle handle{};
    if (name.size() != sizeof handle.bytes)
        throw Error(ErrorCode::Value,
                    "a name of memory has " + std::to_string(sizeof handle.bytes) + " bytes, not " + std::to_string(name.size()));
    std::copy(name.begin(), name.end(), handle.bytes);
    const ContextScope scope(*this);
    DevicePointer pointer = 0;
    check(driver().cuIpcOpenMemHandle(&pointer, handle, ipc_lazy_peer_access), "cuIpcOpenMemHandle");
    return pointer;
}

void CudaDevice::close_block(std::uintptr_t address) noexcept {
    if (device::driver_gone() || !known_context()) return;
    const ContextScope scope(known_context());
    (void)driver().cuIpcCloseMemHandle(address);  // what goes wrong here: the context is lost, and its memory with it
}

device::NativeDevice CudaDevice::native() { return {reinterpret_cast<void*>(static_cast<std::intptr_t>(handle_)), context(), nullptr}; }

std::optional<std::int64_t> CudaDevice::free_memory() {
    context();
    const std::int64_t bytes = allocator_.raw().free_bytes();
    if (bytes < 0) return std::nullopt;
    return bytes;
}

Ref<device::Queue> CudaDevice::create_queue(QueueOrder order, bool profiling) {
    device::check_not_forked("Queue", this);
    return new CudaQueue(this, order, profiling, std::make_unique<CudaStream>(this, order, profiling));
}

Ref<device::Buffer> CudaDevice::allocate(std::size_t bytes, MemoryKind kind, device::Queue* queue) {
    if (lost()) raise_lost();
    return allocator_.allocate(bytes, kind, queue);
}

Ref<device::Buffer> CudaDevice::import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release) {
    context();
    return allocator_.import(data, bytes, kind, std::move(release));
}

Error CudaDevice::failure(Result result, const char* call) {
    Error error = error_of(result, call);
    if (!loses_context(result)) return error;
    const std::string reason =
        error.message() + ": the context of " + id() +
        " is lost, and its memory with it; other devices go on, but to use this GPU again the process must be restarted";
    std::lock_guard lock(mutex_);
    if (lost_reason_.empty()) {
        lost_reason_ = reason;
        lost_.store(true, std::memory_order_release);
        log(LogLevel::Warn, "cuda: " + reason);
    }
    return Error(ErrorCode::Device, reason);
}

void CudaDevice::fail(Result result, const char* call) { throw failure(result, call); }

void CudaDevice::check_foreign(Result result, const char* call) {
    if (result == result::unknown) throw error_of(result, call);
    check(result, call);
}

void CudaDevice::raise_lost() {
    std::lock_guard lock(mutex_);
    throw Error(ErrorCode::Device, lost_reason_);
}

void CudaDevice::enable_peer(CudaDevice& peer) {
    ContextHandle other = peer.context();
    const ContextScope scope(*this);
    std::lock_guard lock(mutex_);
    if (std::find(peers_.begin(), peers_.end(), peer.ordinal()) != peers_.end()) return;
    peers_.push_back(peer.ordinal());
    static const bool wanted = env_flag("PARDO_PEER", true);
    int can = 0;
    Result enabled = wanted ? driver().cuDeviceCanAccessPeer(&can, handle_, peer.handle()) : result::success;
    if (enabled == result::success && can) enabled = driver().cuCtxEnablePeerAccess(other, 0);
    if (can && (enabled == result::success || enabled == result::peer_access_already_enabled)) return;
    // The driver copies through the host then.
    counters.fallbacks.fetch_add(1, std::memory_order_relaxed);
    log(LogLevel::Info,
        "cuda: " + id() + " and " + peer.id() + " do not reach each other's memory: copies between them go through the host");
}

}  // namespace pardo::cuda

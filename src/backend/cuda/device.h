// src/backend/cuda/device.h: one NVIDIA GPU: its primary context, queues, memory and programs.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/cuda/copies/transfer.h"
#include "backend/cuda/events.h"
#include "backend/cuda/libraries/driver.h"
#include "base/hash.h"
#include "device/device.h"
#include "device/memory/caching_allocator.h"
#include "emit/c/family.h"
#include "emit/c/target.h"

namespace pardo::cuda {

/// See device::Device. The primary context, which other CUDA libraries of the process share, is made at first use.
class CudaDevice final : public device::Device {
public:
    CudaDevice(device::Backend* backend, int ordinal, DeviceHandle handle);

    device::Backend* backend() const noexcept override { return backend_; }
    const DeviceInfo& info() const noexcept override { return info_; }
    std::string id() const override { return "cuda:" + std::to_string(ordinal_); }
    bool supports(DType) const noexcept override { return true; }
    bool can(device::Feature feature) const noexcept override { return feature == device::Feature::LookBack; }
    std::pair<int, int> dlpack_device(MemoryKind kind) const noexcept override;
    bool holds(std::uintptr_t low, std::size_t bytes) override;
    device::ProcessBlock name_block(std::uintptr_t address) override;
    std::uintptr_t open_block(std::string_view name) override;
    void close_block(std::uintptr_t address) noexcept override;
    std::vector<device::Device*> graphics_devices() override;
    std::unique_ptr<device::GraphicsObject> share_graphics(unsigned name, unsigned target) override;
    Event foreign_work(std::uintptr_t stream) override;
    std::optional<std::int64_t> free_memory() override;
    device::NativeApi native_api() const noexcept override { return device::NativeApi::Cuda; }
    device::NativeDevice native() override;
    Ref<device::Queue> adopt_queue(void* stream, const std::shared_ptr<void>& owner) override;
    void await_native(device::NativeTurn& turn, void* event) override;
    void* native_marker(device::NativeTurn& turn) override;
    Ref<device::Queue> create_queue(QueueOrder order, bool profiling) override;
    Ref<device::Buffer> allocate(std::size_t bytes, MemoryKind kind, device::Queue* queue) override;
    Ref<device::Buffer> import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release) override;
    MemoryStats memory_stats() const override { return allocator_.stats(); }
    void trim_memory() override { allocator_.trim(); }
    void set_memory_limit(std::int64_t bytes) override { allocator_.set_limit(bytes); }
    void reset_memory_peak() override { allocator_.reset_peak(); }
    device::Execution execution() const noexcept override { return device::Execution::Groups; }
    device::ShapeClass shape_class(const ir::Kernel& kernel, const device::LaunchShape& shape) const override;
    Ref<device::Program> compile(const ir::Kernel& kernel, device::ShapeClass shape) override;
    Ref<device::Program> known_program(const ir::Kernel& kernel, device::ShapeClass shape) override;
    Ref<device::Program> compile_source(const device::SourceKernel& kernel) override;
    Ref<device::TextProgram> compile_program(const device::ProgramText& program) override;
    /// Machine code that another process has made of a text for this device's architecture, or an earlier one of the same major number;
    /// `text` without the text itself. No compiler is needed.
    Ref<device::Program> load_emitted(const std::string& name, const emit::CText& text, device::ShapeClass shape, int rank,
                                      const std::vector<std::uint8_t>& code);
    Ref<device::Image> make_image(const device::ImageShape& shape, device::Buffer* texels) override;
    std::string inspect(const ir::Kernel& kernel, device::ShapeClass shape, std::string_view what) override;

    int ordinal() const noexcept { return ordinal_; }
    DeviceHandle handle() const noexcept { return handle_; }
    int compute_major() const noexcept { return major_; }
    int compute_minor() const noexcept { return minor_; }
    /// Bytes of arrays that a group may share, when asked for.
    int most_shared() const noexcept { return most_shared_; }
    const emit::CFeatures& features() const noexcept { return features_; }
    EventPool& events() noexcept { return events_; }
    EventPool& timed_events() noexcept { return timed_events_; }
    Transfer& transfer() noexcept { return transfer_; }

    /// The primary context, made by the first call. Throws Device when that fails, or when the context is lost.
    ContextHandle context();
    /// The context, or null when none has been made.
    ContextHandle known_context() const noexcept { return context_.load(std::memory_order_acquire); }
    /// As cuda::check, and remembers results after which the context is lost.
    void check(Result result, const char* call) {
        if (result != result::success) [[unlikely]]
            fail(result, call);
    }
    /// For calls that are given objects of other drivers: of those that it does not know, CUDA says CUDA_ERROR_UNKNOWN, which elsewhere
    /// means that the context is lost. Where it is lost indeed, the next call says so.
    void check_foreign(Result result, const char* call);
    [[noreturn]] void fail(Result result, const char* call);
    /// What a failed call means here; remembers lost contexts. For places that must not throw.
    Error failure(Result result, const char* call);
    /// The stream on which maps of OpenGL's objects are ordered, made at first use.
    StreamHandle graphics_stream();
    bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }
    /// Lets the devices reach each other's memory where the hardware can; once for each pair.
    void enable_peer(CudaDevice& peer);

protected:
    std::shared_ptr<device::External> make_external() override;

private:
    Hash128 key_of(const ir::Kernel& kernel, device::ShapeClass shape) const;
    ContextHandle make_context();
    [[noreturn]] void raise_lost();

    device::Backend* backend_;
    const int ordinal_;
    const DeviceHandle handle_;
    int major_ = 0, minor_ = 0;
    DeviceInfo info_;
    emit::CFeatures features_;
    int most_shared_ = 0;
    std::atomic<ContextHandle> context_{nullptr};
    std::atomic<bool> lost_{false};
    std::mutex mutex_;  // guards what follows
    std::string lost_reason_;
    std::vector<int> peers_;  // ordinals that have been looked at
    StreamHandle graphics_stream_ = nullptr;
    EventPool events_, timed_events_;
    Transfer transfer_;
    mutable device::CachingAllocator allocator_;
    std::mutex fences_mutex_;
    Ref<device::Queue> fences_;  // follows other libraries' streams
};

/// Makes the device's context current on this thread while it lives; other libraries find theirs again afterwards. Where there was none
/// it stays, as the runtime library does it: a switch back and forth costs more than the rest of a launch.
class ContextScope {
public:
    explicit ContextScope(CudaDevice& device) : ContextScope(device.context()) {}
    explicit ContextScope(ContextHandle context) noexcept {
        const Driver& d = driver();
        d.cuCtxGetCurrent(&before_);
        changed_ = before_ != context;
        if (changed_) d.cuCtxSetCurrent(context);
    }
    ~ContextScope() {
        if (changed_ && before_) driver().cuCtxSetCurrent(before_);
    }
    ContextScope(const ContextScope&) = delete;
    ContextScope& operator=(const ContextScope&) = delete;

private:
    ContextHandle before_ = nullptr;
    bool changed_ = false;
};

/// What texts are written with for devices of an architecture, 90 for "sm_90", of which there need be none here.
emit::CFeatures features_of_architecture(int number);

/// What the driver tells about a device without a context.
DeviceInfo device_info(int ordinal, DeviceHandle handle);

}  // namespace pardo::cuda

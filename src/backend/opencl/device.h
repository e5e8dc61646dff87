// src/backend/opencl/device.h: an OpenCL device, or a part of one.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "backend/opencl/platform_context.h"
#include "base/hash.h"
#include "device/device.h"
#include "device/memory/caching_allocator.h"
#include "device/queue/stream.h"
#include "emit/c/family.h"
#include "emit/c/target.h"

namespace pardo::opencl {

/// How kernels reach memory.
enum class MemoryPath : std::uint8_t {
    Usm,        // cl_intel_unified_shared_memory
    SvmFine,    // shared virtual memory that the host may read and write at any time
    SvmCoarse,  // the same addresses, but the host copies in and out
    Buffer,     // cl_mem and an offset: no addresses
};

class OpenClDevice final : public device::Device {
public:
    /// `id`: a selection string. `parent`: null for a device of a platform.
    OpenClDevice(device::Backend* backend, PlatformContext* context, cl_device_id handle, std::string id, OpenClDevice* parent);

    device::Backend* backend() const noexcept override { return backend_; }
    const DeviceInfo& info() const noexcept override { return info_; }
    std::string id() const override { return id_; }
    Device* parent() const noexcept override { return parent_; }
    bool supports(DType dtype) const noexcept override;
    Ref<device::Queue> create_queue(QueueOrder order, bool profiling) override;
    Ref<device::Buffer> allocate(std::size_t bytes, MemoryKind kind, device::Queue* queue) override;
    Ref<device::Buffer> import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release) override;
    bool can(device::Feature feature) const noexcept override;
    device::NativeApi native_api() const noexcept override { return device::NativeApi::OpenCl; }
    device::NativeDevice native() override;
    device::NativePlace native_place(const device::Buffer* buffer, std::size_t offset) const override;
    std::shared_ptr<void> set_native_argument(void* kernel, unsigned index, const device::Buffer* buffer, std::size_t offset,
                                              std::size_t bytes) override;
    std::pair<int, int> dlpack_device(MemoryKind kind) const noexcept override;
    MemoryStats memory_stats() const override;
    void trim_memory() override;
    void set_memory_limit(std::int64_t bytes) override;
    void reset_memory_peak() override;
    device::Execution execution() const noexcept override;
    device::ShapeClass shape_class(const ir::Kernel& kernel, const device::LaunchShape& shape) const override;
    Ref<device::Program> compile(const ir::Kernel& kernel, device::ShapeClass shape) override;
    Ref<device::Program> known_program(const ir::Kernel& kernel, device::ShapeClass shape) override;
    Ref<device::Program> compile_source(const device::SourceKernel& kernel) override;
    Ref<device::TextProgram> compile_program(const device::ProgramText& program) override;
    /// A kernel's text that another process has emitted, for a device with these features.
    Ref<device::Program> compile_emitted(const std::string& name, const emit::CText& text, device::ShapeClass shape);
    Ref<device::Image> make_image(const device::ImageShape& shape, device::Buffer* texels) override;
    std::uint64_t sampler_handle(const Sampler& sampler) override;
    std::string inspect(const ir::Kernel& kernel, device::ShapeClass shape, std::string_view what) override;

    PlatformContext& context() const noexcept { return *context_; }
    const Api& api() const noexcept { return context_->api(); }
    cl_device_id handle() const noexcept { return handle_; }
    /// Throws Device when PARDO_OPENCL_MEMORY asks for a path that the device lacks.
    MemoryPath path() const;
    const emit::CFeatures& features() const noexcept { return features_; }
    /// Whether the driver takes no two launches of one kernel at the same time.
    bool takes_turns() const noexcept { return takes_turns_; }
    Ref<device::Queue> adopt_queue(void* stream, const std::shared_ptr<void>& owner) override;
    void await_native(device::NativeTurn& turn, void* event) override;
    void* native_marker(device::NativeTurn& turn) override;
    /// Native out-of-order queues that are not in use; null when there is none.
    cl_command_queue take_idle_queue();
    void keep_idle_queue(cl_command_queue queue);

protected:
    std::vector<Device*> make_sub_devices(const Partition& partition) override;
    std::shared_ptr<device::External> make_external() override;

private:
    void choose_sub_group();
    device::CachingAllocator& allocator() const;
    std::string build_options(bool fast) const;
    std::string program_key(const std::string& options) const;
    Hash128 key_of(const ir::Kernel& kernel, device::ShapeClass shape) const;
    /// `emit` is called where the program of that key is not in memory.
    Ref<device::Program> build(const Hash128& key, const std::string& name, bool fast, device::ShapeClass shape, int group_size,
                               const std::function<emit::CText()>& emit);

    device::Backend* backend_;
    PlatformContext* context_;
    cl_device_id handle_;
    std::string id_;
    OpenClDevice* parent_;
    DeviceInfo info_;
    MemoryPath path_ = MemoryPath::Buffer;
    std::string no_path_;  // why there is none
    bool shares_memory_ = false, host_routines_ = false, takes_turns_ = false;
    emit::CFeatures features_;
    std::mutex idle_mutex_;
    std::vector<cl_command_queue> idle_queues_;
    std::mutex samplers_mutex_;
    std::vector<std::pair<Sampler, cl_sampler>> samplers_;
    mutable std::once_flag allocator_made_;
    mutable std::unique_ptr<device::CachingAllocator> allocator_;
};

/// What the driver tells of a device; makes no context (info.cpp).
DeviceInfo device_info(const PlatformContext& context, cl_device_id device, bool usm);
/// The best path that the device has, or the one that PARDO_OPENCL_MEMORY names; `error` says why there is none (memory.cpp).
MemoryPath choose_path(const PlatformContext& context, cl_device_id device, const std::string& id, std::string& error);
bool has_usm(const PlatformContext& context, cl_device_id device);
/// True when the host reads and writes such memory where it is.
bool host_visible(MemoryPath path, MemoryKind kind) noexcept;
/// The driver's flag of a domain by its name, which exists.
cl_device_affinity_domain affinity_domain(std::string_view name);
std::unique_ptr<device::RawMemory> make_memory(const OpenClDevice& device);
/// A native queue (queue.cpp).
std::unique_ptr<device::Stream> make_stream(OpenClDevice& device, QueueOrder order, bool profiling);

}  // namespace pardo::opencl

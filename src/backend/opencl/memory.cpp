// src/backend/opencl/memory.cpp: where a device's memory comes from: USM, SVM, or buffers without addresses.
#include <algorithm>

#include <pardo/error.h>

#include "backend/opencl/device.h"
#include "base/env.h"

namespace pardo::opencl {
namespace {

constexpr const char* kind_names[] = {"device", "shared", "host"};
constexpr cl_uint alignment = 128;

/// Addresses for buffers that have none: unique in the process, and no address of anything.
void* made_up_address(std::size_t bytes) {
    static std::atomic<std::uint64_t> next{std::uint64_t{1} << 60};
    const std::uint64_t apart = (bytes + 2 * 4096) & ~std::uint64_t{4095};  // a gap, so that no end is another one's begin
    return reinterpret_cast<void*>(next.fetch_add(apart));
}

[[noreturn]] void lacks_kind(const OpenClDevice& device, MemoryKind kind) {
    throw Error(ErrorCode::Device, "allocate: " + device.id() + " has no " + kind_names[static_cast<int>(kind)] +
                                       " memory (its driver offers neither unified nor fine-grained shared memory); use device memory");
}

class OpenClMemory final : public device::RawMemory {
public:
    explicit OpenClMemory(const OpenClDevice& device) : device_(device), path_(device.path()) {}

    device::MemoryPolicy policy() const override {
        device::MemoryPolicy policy;
        // Kernels of the user's text take a block as a buffer of its own, and such may begin only there.
        if (path_ == MemoryPath::Buffer)
            policy.block_alignment = static_cast<std::size_t>(std::max<std::int64_t>(device_.info().mem_base_addr_align / 8, 1));
        return policy;
    }

    bool allocate(std::size_t bytes, std::size_t, MemoryKind kind, device::RawBlock& block) override {
        switch (path_) {
            case MemoryPath::Usm: block.data = usm(bytes, kind); break;
            case MemoryPath::SvmFine: block.data = svm(bytes, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER); break;
            case MemoryPath::SvmCoarse:
                if (kind != MemoryKind::Device) lacks_kind(device_, kind);
                block.data = svm(bytes, CL_MEM_READ_WRITE);
                break;
            case MemoryPath::Buffer:
                if (kind != MemoryKind::Device) lacks_kind(device_, kind);
                block.handle = buffer(bytes);
                if (block.handle) block.data = made_up_address(bytes);
                break;
        }
        return block.data != nullptr;
    }

    void free(const device::RawBlock& block, std::size_t, MemoryKind) noexcept override {
        switch (path_) {
            case MemoryPath::Usm: device_.context().usm().free(device_.context().handle(), block.data); break;
            case MemoryPath::SvmFine:
            case MemoryPath::SvmCoarse: device_.api().clSVMFree(device_.context().handle(), block.data); break;
            case MemoryPath::Buffer: device_.api().clReleaseMemObject(static_cast<cl_mem>(block.handle)); break;
        }
    }

    bool host_visible(MemoryKind kind) const noexcept override { return opencl::host_visible(path_, kind); }
    std::int64_t total_bytes() const noexcept override { return device_.info().global_mem_size; }
    std::int64_t largest_block() const noexcept override { return device_.info().max_mem_alloc_size; }

private:
    void* usm(std::size_t bytes, MemoryKind kind) {
        const UsmApi& api = device_.context().usm();
        cl_context context = device_.context().handle();
        cl_int code = CL_SUCCESS;
        void* data = nullptr;
        switch (kind) {
            case MemoryKind::Device: data = api.device_alloc(context, device_.handle(), nullptr, bytes, alignment, &code); break;
            case MemoryKind::Shared:
                if (!device_.info().has_usm_shared_allocations) lacks_kind(device_, kind);
                data = api.shared_alloc(context, device_.handle(), nullptr, bytes, alignment, &code);
                break;
            case MemoryKind::Host:
                if (!device_.info().has_usm_host_allocations) lacks_kind(device_, kind);
                data = api.host_alloc(context, nullptr, bytes, alignment, &code);
                break;
        }
        return short_of_memory(code) ? nullptr : (check(code, "USM allocation"), data);
    }

    void* svm(std::size_t bytes, cl_svm_mem_flags flags) {
        return device_.api().clSVMAlloc(device_.context().handle(), flags, bytes, alignment);
    }

    void* buffer(std::size_t bytes) {
        cl_int code = CL_SUCCESS;
        cl_mem made = device_.api().clCreateBuffer(device_.context().handle(), CL_MEM_READ_WRITE, bytes, nullptr, &code);
        return short_of_memory(code) ? nullptr : (check(code, "clCreateBuffer"), static_cast<void*>(made));
    }

    static bool short_of_memory(cl_int code) {
        constexpr cl_int codes[] = {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY, CL_INVALID_BUFFER_SIZE};
        return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
    }

    const OpenClDevice& device_;
    const MemoryPath path_;
};

}  // namespace

bool host_visible(MemoryPath path, MemoryKind kind) noexcept {
    return path == MemoryPath::SvmFine || (path == MemoryPath::Usm && kind != MemoryKind::Device);
}

bool has_usm(const PlatformContext& context, cl_device_id device) {
    return context.usm().whole() && has_extension(context.api(), device, "cl_intel_unified_shared_memory") &&
           device_value<cl_bitfield>(context.api(), device, CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL) != 0;
}

MemoryPath choose_path(const PlatformContext& context, cl_device_id device, const std::string& id, std::string& error) {
    const Api& api = context.api();
    const auto svm = device_value<cl_device_svm_capabilities>(api, device, CL_DEVICE_SVM_CAPABILITIES);
    const bool has_svm =
        api.clSVMAlloc && api.clSVMFree && api.clEnqueueSVMMemcpy && api.clEnqueueSVMMemFill && api.clSetKernelArgSVMPointer;
    const bool usm = has_usm(context, device), fine = has_svm && (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER),
               coarse = has_svm && (svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
    const std::string wanted = env("PARDO_OPENCL_MEMORY").value_or("");
    if (wanted == "usm" && !usm) error = "PARDO_OPENCL_MEMORY=usm: " + id + " lacks cl_intel_unified_shared_memory";
    if (wanted == "svm" && !fine && !coarse) error = "PARDO_OPENCL_MEMORY=svm: " + id + " has no shared virtual memory";
    if (wanted == "buffer") return MemoryPath::Buffer;
    if (usm && wanted != "svm") return MemoryPath::Usm;
    return fine ? MemoryPath::SvmFine : coarse ? MemoryPath::SvmCoarse : MemoryPath::Buffer;
}

std::unique_ptr<device::RawMemory> make_memory(const OpenClDevice& device) { return std::make_unique<OpenClMemory>(device); }

}  // namespace pardo::opencl

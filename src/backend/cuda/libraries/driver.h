// src/backend/cuda/libraries/driver.h: the functions of libcuda.so.1 that we call, loaded at first use; no header of NVIDIA's is needed.
// This folder: libraries of NVIDIA's, found and loaded at run time; nothing here makes a context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <pardo/error.h>

namespace pardo::cuda {

// Types and numbers as the driver's interface lays them down. Handles are opaque.
using Result = int;
using DeviceHandle = int;
using DevicePointer = std::uint64_t;
using ContextHandle = struct ContextOpaque*;
using StreamHandle = struct StreamOpaque*;
using EventHandle = struct EventOpaque*;
using ModuleHandle = struct ModuleOpaque*;
using FunctionHandle = struct FunctionOpaque*;
using ArrayHandle = struct ArrayOpaque*;
using GraphicsHandle = struct GraphicsOpaque*;
using AllocationHandle = std::uint64_t;
using ExternalMemoryHandle = struct ExternalMemoryOpaque*;
using ExternalSemaphoreHandle = struct ExternalSemaphoreOpaque*;
struct Uuid {
    unsigned char bytes[16];
};
/// CUipcMemHandle.
struct IpcHandle {
    char bytes[64];
};
/// CUmemLocation.
struct MemoryLocation {
    int type, id;
};
/// CUmemAllocationProp.
struct AllocationProperties {
    int type, handle_types;
    MemoryLocation location;
    void* windows;
    unsigned char flags[8];
};
/// CUmemAccessDesc.
struct AccessDescriptor {
    MemoryLocation location;
    int flags;
};
/// CUDA_EXTERNAL_MEMORY_HANDLE_DESC, of a file descriptor.
struct ExternalMemoryDescriptor {
    int type;
    alignas(8) int fd;
    char rest_of_handle[12];
    std::uint64_t bytes;
    unsigned flags, reserved[16];
};
/// CUDA_EXTERNAL_MEMORY_BUFFER_DESC.
struct ExternalBufferDescriptor {
    std::uint64_t offset, bytes;
    unsigned flags, reserved[16];
};
/// CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, of a file descriptor.
struct ExternalSemaphoreDescriptor {
    int type;
    alignas(8) int fd;
    char rest_of_handle[12];
    unsigned flags, reserved[16];
};
/// CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS and …_WAIT_PARAMS, which differ in what is not used here.
struct SemaphoreParameters {
    std::uint64_t value, others[8];
    unsigned flags, reserved[16];
};
static_assert(sizeof(AllocationProperties) == 32 && sizeof(ExternalMemoryDescriptor) == 104 && sizeof(ExternalBufferDescriptor) == 88 &&
              sizeof(ExternalSemaphoreDescriptor) == 96 && sizeof(SemaphoreParameters) == 144);
/// CUDA_MEMCPY3D_v2 and CUDA_MEMCPY3D_PEER, which differ in `context` only: it is null in the first.
struct Copy3DSide {
    std::size_t x_bytes, y, z, level;
    unsigned memory_type;
    const void* host;
    DevicePointer device;
    void* array;
    ContextHandle context;
    std::size_t pitch, height;
};
struct Copy3D {
    Copy3DSide from, to;
    std::size_t width_bytes, height, depth;
};
/// CUlaunchConfig, and its attributes.
struct LaunchAttribute {
    int id;
    char padding[4];
    int on;
    char rest[60];
};
constexpr int launch_overlaps = 6;  // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
struct LaunchConfig {
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    StreamHandle stream;
    const LaunchAttribute* attributes;
    unsigned count;
};
/// CUDA_ARRAY3D_DESCRIPTOR_v2.
struct ArrayDescriptor {
    std::size_t width, height, depth;
    int format;  // CUarray_format
    unsigned channels, flags;
};
/// CUDA_RESOURCE_DESC of an array.
struct ResourceDescriptor {
    int type;  // CU_RESOURCE_TYPE_ARRAY is 0
    ArrayHandle array;
    char rest[120];
    unsigned flags;
};
/// CUDA_TEXTURE_DESC.
struct TextureDescriptor {
    int address_mode[3];
    int filter;  // CU_TR_FILTER_MODE_POINT is 0, …_LINEAR is 1
    unsigned flags, most_anisotropy;
    int between_levels;
    float level_bias, least_level, greatest_level;
    float border[4];
    int reserved[12];
};
/// CUresult, those that are told apart.
namespace result {
constexpr Result success = 0, invalid_value = 1, out_of_memory = 2, stub_library = 34, no_device = 100, invalid_image = 200,
                 no_binary = 209, ecc_uncorrectable = 214, invalid_ptx = 218, invalid_graphics_context = 219, nvlink_uncorrectable = 220,
                 unsupported_ptx = 222, contained = 226, not_ready = 600, illegal_address = 700, launch_timeout = 702,
                 peer_access_already_enabled = 704, context_is_destroyed = 709, assert_failed = 710, already_registered = 712,
                 hardware_stack_error = 714, launch_failed = 719, tensor_memory_leak = 721, system_driver_mismatch = 803,
                 compat_not_supported = 804, unknown = 999;
}
/// CUdevice_attribute.
enum class Attribute : int {
    MaxThreadsPerBlock = 1,
    MaxBlockX = 2,
    MaxBlockY = 3,
    MaxBlockZ = 4,
    MaxGridX = 5,
    MaxSharedMemoryPerBlock = 8,
    TotalConstantMemory = 9,
    WarpSize = 10,
    ClockRate = 13,  // kHz
    Multiprocessors = 16,
    Integrated = 18,
    EccEnabled = 32,
    PciBus = 33,
    PciDevice = 34,
    L2CacheSize = 38,
    MaxThreadsPerMultiprocessor = 39,
    UnifiedAddressing = 41,
    PciDomain = 50,
    ComputeMajor = 75,
    ComputeMinor = 76,
    ManagedMemory = 83,
    ConcurrentManagedAccess = 89,
    MaxSharedMemoryOptin = 97,
};
constexpr unsigned stream_non_blocking = 1;
constexpr unsigned event_blocking_sync = 1, event_disable_timing = 2;
constexpr unsigned host_alloc_portable = 1, host_register_portable = 1;
constexpr unsigned attach_global = 1;
constexpr unsigned memory_type_host = 1, memory_type_device = 2, memory_type_array = 3, memory_type_unified = 4;
constexpr unsigned array_layers = 1, array_surfaces = 2;                                    // CUDA_ARRAY3D_LAYERED, …_SURFACE_LDST
constexpr int address_wrap = 0, address_clamp = 1, address_mirror = 2, address_border = 3;  // CU_TR_ADDRESS_MODE_…
constexpr unsigned texture_of_integers = 1, texture_normalized = 2;                         // CU_TRSF_…
constexpr int location_device = 1;
constexpr int allocation_pinned = 1, handle_of_file = 1, access_read_write = 3;  // CU_MEM_ALLOCATION_TYPE_PINNED, …_POSIX_FILE_DESCRIPTOR
constexpr int external_opaque_fd = 1, external_timeline_fd = 9;  // CU_EXTERNAL_…_HANDLE_TYPE_OPAQUE_FD, …_TIMELINE_SEMAPHORE_FD
constexpr unsigned external_dedicated = 1;                       // CUDA_EXTERNAL_MEMORY_DEDICATED
constexpr std::int64_t max_pitch = 2147483647;                   // CU_DEVICE_ATTRIBUTE_MAX_PITCH, of all devices so far
constexpr int pointer_memory_type = 2, pointer_device_ordinal = 9;
constexpr int pointer_range_start = 11, pointer_range_size = 12;
constexpr int function_most_threads = 0, function_shared = 1;  // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, …_SHARED_SIZE_BYTES
constexpr int function_local = 3, function_registers = 4;      // …_LOCAL_SIZE_BYTES, …_NUM_REGS
constexpr int function_dynamic_shared = 8;                     // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr unsigned ipc_lazy_peer_access = 1;                   // CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
constexpr unsigned graphics_devices_all = 1;                   // CU_GL_DEVICE_LIST_ALL
constexpr int jit_error_log = 5, jit_error_log_bytes = 6;

/// Everything that is loaded: our name, the library's symbol (those with a version say so), parameters.
#define PARDO_CUDA_FUNCTIONS(F)                                                                                                           \
    F(cuInit, "cuInit", (unsigned flags))                                                                                                 \
    F(cuDriverGetVersion, "cuDriverGetVersion", (int* version))                                                                           \
    F(cuGetErrorName, "cuGetErrorName", (Result error, const char** name))                                                                \
    F(cuGetErrorString, "cuGetErrorString", (Result error, const char** text))                                                            \
    F(cuDeviceGetCount, "cuDeviceGetCount", (int* count))                                                                                 \
    F(cuDeviceGet, "cuDeviceGet", (DeviceHandle * device, int ordinal))                                                                   \
    F(cuDeviceGetName, "cuDeviceGetName", (char* name, int length, DeviceHandle device))                                                  \
    F(cuDeviceGetUuid, "cuDeviceGetUuid_v2", (Uuid * uuid, DeviceHandle device))                                                          \
    F(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (std::size_t * bytes, DeviceHandle device))                                                \
    F(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int* value, Attribute attribute, DeviceHandle device))                               \
    F(cuDeviceCanAccessPeer, "cuDeviceCanAccessPeer", (int* can, DeviceHandle device, DeviceHandle peer))                                 \
    F(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (ContextHandle * context, DeviceHandle device))                               \
    F(cuDevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState", (DeviceHandle device, unsigned* flags, int* active))                      \
    F(cuCtxGetCurrent, "cuCtxGetCurrent", (ContextHandle * context))                                                                      \
    F(cuCtxSetCurrent, "cuCtxSetCurrent", (ContextHandle context))                                                                        \
    F(cuCtxSynchronize, "cuCtxSynchronize", ())                                                                                           \
    F(cuCtxEnablePeerAccess, "cuCtxEnablePeerAccess", (ContextHandle peer, unsigned flags))                                               \
    F(cuMemGetInfo, "cuMemGetInfo_v2", (std::size_t * free, std::size_t * total))                                                         \
    F(cuMemAlloc, "cuMemAlloc_v2", (DevicePointer * pointer, std::size_t bytes))                                                          \
    F(cuMemFree, "cuMemFree_v2", (DevicePointer pointer))                                                                                 \
    F(cuMemHostAlloc, "cuMemHostAlloc", (void** pointer, std::size_t bytes, unsigned flags))                                              \
    F(cuMemFreeHost, "cuMemFreeHost", (void* pointer))                                                                                    \
    F(cuMemAllocManaged, "cuMemAllocManaged", (DevicePointer * pointer, std::size_t bytes, unsigned flags))                               \
    F(cuMemHostRegister, "cuMemHostRegister_v2", (void* pointer, std::size_t bytes, unsigned flags))                                      \
    F(cuMemHostUnregister, "cuMemHostUnregister", (void* pointer))                                                                        \
    F(cuPointerGetAttribute, "cuPointerGetAttribute", (void* value, int attribute, DevicePointer pointer))                                \
    F(cuIpcGetMemHandle, "cuIpcGetMemHandle", (IpcHandle * handle, DevicePointer pointer))                                                \
    F(cuIpcOpenMemHandle, "cuIpcOpenMemHandle_v2", (DevicePointer * pointer, IpcHandle handle, unsigned flags))                           \
    F(cuIpcCloseMemHandle, "cuIpcCloseMemHandle", (DevicePointer pointer))                                                                \
    F(cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity",                                                                     \
      (std::size_t * bytes, const AllocationProperties* properties, int option))                                                          \
    F(cuMemCreate, "cuMemCreate",                                                                                                         \
      (AllocationHandle * handle, std::size_t bytes, const AllocationProperties* properties, std::uint64_t flags))                        \
    F(cuMemRelease, "cuMemRelease", (AllocationHandle handle))                                                                            \
    F(cuMemAddressReserve, "cuMemAddressReserve",                                                                                         \
      (DevicePointer * pointer, std::size_t bytes, std::size_t alignment, DevicePointer wish, std::uint64_t flags))                       \
    F(cuMemAddressFree, "cuMemAddressFree", (DevicePointer pointer, std::size_t bytes))                                                   \
    F(cuMemMap, "cuMemMap", (DevicePointer pointer, std::size_t bytes, std::size_t offset, AllocationHandle handle, std::uint64_t flags)) \
    F(cuMemUnmap, "cuMemUnmap", (DevicePointer pointer, std::size_t bytes))                                                               \
    F(cuMemSetAccess, "cuMemSetAccess", (DevicePointer pointer, std::size_t bytes, const AccessDescriptor* access, std::size_t count))    \
    F(cuMemExportToShareableHandle, "cuMemExportToShareableHandle",                                                                       \
      (void* shared, AllocationHandle handle, int type, std::uint64_t flags))                                                             \
    F(cuImportExternalMemory, "cuImportExternalMemory", (ExternalMemoryHandle * memory, const ExternalMemoryDescriptor* descriptor))      \
    F(cuExternalMemoryGetMappedBuffer, "cuExternalMemoryGetMappedBuffer",                                                                 \
      (DevicePointer * pointer, ExternalMemoryHandle memory, const ExternalBufferDescriptor* descriptor))                                 \
    F(cuDestroyExternalMemory, "cuDestroyExternalMemory", (ExternalMemoryHandle memory))                                                  \
    F(cuImportExternalSemaphore, "cuImportExternalSemaphore",                                                                             \
      (ExternalSemaphoreHandle * semaphore, const ExternalSemaphoreDescriptor* descriptor))                                               \
    F(cuDestroyExternalSemaphore, "cuDestroyExternalSemaphore", (ExternalSemaphoreHandle semaphore))                                      \
    F(cuSignalExternalSemaphoresAsync, "cuSignalExternalSemaphoresAsync",                                                                 \
      (const ExternalSemaphoreHandle* semaphores, const SemaphoreParameters* parameters, unsigned count, StreamHandle stream))            \
    F(cuWaitExternalSemaphoresAsync, "cuWaitExternalSemaphoresAsync",                                                                     \
      (const ExternalSemaphoreHandle* semaphores, const SemaphoreParameters* parameters, unsigned count, StreamHandle stream))            \
    F(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (DevicePointer to, const void* from, std::size_t bytes, StreamHandle stream))            \
    F(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void* to, DevicePointer from, std::size_t bytes, StreamHandle stream))                  \
    F(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream))          \
    F(cuMemcpyPeerAsync, "cuMemcpyPeerAsync",                                                                                             \
      (DevicePointer to, ContextHandle to_context, DevicePointer from, ContextHandle from_context, std::size_t bytes,                     \
       StreamHandle stream))                                                                                                              \
    F(cuMemcpyAsync, "cuMemcpyAsync", (DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream))                     \
    F(cuMemcpy3DAsync, "cuMemcpy3DAsync_v2", (const Copy3D* copy, StreamHandle stream))                                                   \
    F(cuMemcpy3DPeerAsync, "cuMemcpy3DPeerAsync", (const Copy3D* copy, StreamHandle stream))                                              \
    F(cuArray3DCreate, "cuArray3DCreate_v2", (ArrayHandle * array, const ArrayDescriptor* descriptor))                                    \
    F(cuArrayDestroy, "cuArrayDestroy", (ArrayHandle array))                                                                              \
    F(cuTexObjectCreate, "cuTexObjectCreate",                                                                                             \
      (std::uint64_t * texture, const ResourceDescriptor* resource, const TextureDescriptor* descriptor, const void* view))               \
    F(cuTexObjectDestroy, "cuTexObjectDestroy", (std::uint64_t texture))                                                                  \
    F(cuSurfObjectCreate, "cuSurfObjectCreate", (std::uint64_t * surface, const ResourceDescriptor* resource))                            \
    F(cuSurfObjectDestroy, "cuSurfObjectDestroy", (std::uint64_t surface))                                                                \
    F(cuMemPrefetchAsync, "cuMemPrefetchAsync", (DevicePointer pointer, std::size_t bytes, DeviceHandle device, StreamHandle stream))     \
    F(cuMemsetD8Async, "cuMemsetD8Async", (DevicePointer to, unsigned char value, std::size_t count, StreamHandle stream))                \
    F(cuMemsetD16Async, "cuMemsetD16Async", (DevicePointer to, unsigned short value, std::size_t count, StreamHandle stream))             \
    F(cuMemsetD32Async, "cuMemsetD32Async", (DevicePointer to, unsigned value, std::size_t count, StreamHandle stream))                   \
    F(cuMemsetD2D32Async, "cuMemsetD2D32Async",                                                                                           \
      (DevicePointer to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height, StreamHandle stream))                  \
    F(cuStreamCreate, "cuStreamCreate", (StreamHandle * stream, unsigned flags))                                                          \
    F(cuStreamDestroy, "cuStreamDestroy_v2", (StreamHandle stream))                                                                       \
    F(cuStreamWaitEvent, "cuStreamWaitEvent", (StreamHandle stream, EventHandle event, unsigned flags))                                   \
    F(cuStreamQuery, "cuStreamQuery", (StreamHandle stream))                                                                              \
    F(cuStreamGetCtx, "cuStreamGetCtx", (StreamHandle stream, ContextHandle * context))                                                   \
    F(cuEventCreate, "cuEventCreate", (EventHandle * event, unsigned flags))                                                              \
    F(cuEventDestroy, "cuEventDestroy_v2", (EventHandle event))                                                                           \
    F(cuEventRecord, "cuEventRecord", (EventHandle event, StreamHandle stream))                                                           \
    F(cuEventQuery, "cuEventQuery", (EventHandle event))                                                                                  \
    F(cuEventSynchronize, "cuEventSynchronize", (EventHandle event))                                                                      \
    F(cuEventElapsedTime, "cuEventElapsedTime", (float* milliseconds, EventHandle start, EventHandle end))                                \
    F(cuModuleLoadDataEx, "cuModuleLoadDataEx", (ModuleHandle * module, const void* image, unsigned count, int* options, void** values))  \
    F(cuModuleUnload, "cuModuleUnload", (ModuleHandle module))                                                                            \
    F(cuModuleGetFunction, "cuModuleGetFunction", (FunctionHandle * function, ModuleHandle module, const char* name))                     \
    F(cuFuncGetAttribute, "cuFuncGetAttribute", (int* value, int attribute, FunctionHandle function))                                     \
    F(cuFuncSetAttribute, "cuFuncSetAttribute", (FunctionHandle function, int attribute, int value))                                      \
    F(cuLaunchKernel, "cuLaunchKernel",                                                                                                   \
      (FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,  \
       unsigned shared_bytes, StreamHandle stream, void** params, void** extra))                                                          \
    F(cuLaunchKernelEx, "cuLaunchKernelEx", (const LaunchConfig* config, FunctionHandle function, void** params, void** extra))
/// The same with the version that brought them, where that is newer than the oldest that serves: null in older drivers.
#define PARDO_CUDA_NEWER_FUNCTIONS(F)                                                                           \
    F(cuMemPrefetchAsync_v2, "cuMemPrefetchAsync_v2", 12020,                                                    \
      (DevicePointer pointer, std::size_t bytes, MemoryLocation location, unsigned flags, StreamHandle stream)) \
    F(cuCtxRecordEvent, "cuCtxRecordEvent", 12050, (ContextHandle context, EventHandle event))

/// Those that know OpenGL, and those for what it shares: null in drivers for machines that have none. The toolkit's stub lacks the first.
#define PARDO_CUDA_GL_FUNCTIONS(F)                                                                                          \
    F(cuGLGetDevices, "cuGLGetDevices_v2", (unsigned* count, DeviceHandle* devices, unsigned room, unsigned list))          \
    F(cuGraphicsGLRegisterBuffer, "cuGraphicsGLRegisterBuffer", (GraphicsHandle * resource, unsigned name, unsigned flags)) \
    F(cuGraphicsGLRegisterImage, "cuGraphicsGLRegisterImage", (GraphicsHandle * resource, unsigned name, unsigned target, unsigned flags))
#define PARDO_CUDA_GRAPHICS_FUNCTIONS(F)                                                                                      \
    F(cuGraphicsUnregisterResource, "cuGraphicsUnregisterResource", (GraphicsHandle resource))                                \
    F(cuGraphicsMapResources, "cuGraphicsMapResources", (unsigned count, GraphicsHandle* resources, StreamHandle stream))     \
    F(cuGraphicsUnmapResources, "cuGraphicsUnmapResources", (unsigned count, GraphicsHandle* resources, StreamHandle stream)) \
    F(cuGraphicsResourceGetMappedPointer, "cuGraphicsResourceGetMappedPointer_v2",                                            \
      (DevicePointer * pointer, std::size_t * bytes, GraphicsHandle resource))                                                \
    F(cuGraphicsSubResourceGetMappedArray, "cuGraphicsSubResourceGetMappedArray",                                             \
      (ArrayHandle * array, GraphicsHandle resource, unsigned layer, unsigned level))                                         \
    F(cuArray3DGetDescriptor, "cuArray3DGetDescriptor_v2", (ArrayDescriptor * descriptor, ArrayHandle array))

/// The loaded driver. Every member has the driver's own name.
struct Driver {
#define PARDO_CUDA_MEMBER(name, symbol, params) Result(*name) params = nullptr;
    PARDO_CUDA_FUNCTIONS(PARDO_CUDA_MEMBER)
    PARDO_CUDA_GL_FUNCTIONS(PARDO_CUDA_MEMBER)
    PARDO_CUDA_GRAPHICS_FUNCTIONS(PARDO_CUDA_MEMBER)
#undef PARDO_CUDA_MEMBER
#define PARDO_CUDA_MEMBER(name, symbol, since, params) Result(*name) params = nullptr;
    PARDO_CUDA_NEWER_FUNCTIONS(PARDO_CUDA_MEMBER)
#undef PARDO_CUDA_MEMBER
    std::string path;
    int version = 0;  // 12040: the newest CUDA that the driver knows

    /// "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)".
    std::string describe(Result error) const;
};

/// "12.4" of 12040.
std::string version_text(int version);

/// The oldest driver that serves: it has all functions above and takes what NVRTC 12 makes.
constexpr int oldest_driver = 12000;

/// Loads and initialises the driver once (cuInit costs a tenth of a second). Null when that is impossible; `reason` then says why and
/// what to do.
const Driver* load_driver(std::string& reason);
/// The loaded driver; only for code that runs after a CUDA device was found.
const Driver& driver() noexcept;

/// Errors after which nothing in the device's context works any more, in this process.
bool loses_context(Result error) noexcept;
/// The exception for a failed call: "cuMemAlloc failed: …".
Error error_of(Result error, const char* call);
/// Throws error_of when a call has failed.
inline void check(Result error, const char* call) {
    if (error != result::success) [[unlikely]]
        throw error_of(error, call);
}

}  // namespace pardo::cuda

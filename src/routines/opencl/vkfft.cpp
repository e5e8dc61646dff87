// src/routines/opencl/vkfft.cpp: VkFFT, whose calls of OpenCL go to the functions that were loaded at run time.
#include "routines/opencl/vkfft.h"

#include <algorithm>
#include <clocale>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <pardo/error.h>

namespace pardo::routines {
namespace {

/// What VkFFT's calls on this thread are for.
struct VkfftCalls {
    const opencl::Api* api = nullptr;
    opencl::OpenClDevice* device = nullptr;
    opencl::LibraryQueue* queue = nullptr;  // null while a plan is made: it has a queue of its own then
    const void* handles[2] = {};            // what stands for memory that has addresses,
    void* addresses[2] = {};                // and those
    std::size_t bytes = 0;                  // of buffers that were made
    std::string said;                       // what it would print
};
thread_local VkfftCalls* vkfft_calls = nullptr;

cl_mem vkfft_create_buffer(cl_context context, cl_mem_flags flags, std::size_t bytes, void* host, cl_int* code) {
    vkfft_calls->bytes += bytes;
    return vkfft_calls->api->clCreateBuffer(context, flags, bytes, host, code);
}

/// Of processors VkFFT sees a GPU: what items of larger groups keep at a barrier does not fit on the stack of PoCL's threads.
cl_int vkfft_device_info(cl_device_id device, cl_device_info what, std::size_t bytes, void* value, std::size_t* given) {
    const cl_int code = vkfft_calls->api->clGetDeviceInfo(device, what, bytes, value, given);
    if (code != CL_SUCCESS || !value || vkfft_calls->device->info().type != DeviceType::Cpu) return code;
    if (what == CL_DEVICE_MAX_WORK_GROUP_SIZE)
        *static_cast<std::size_t*>(value) = std::min<std::size_t>(*static_cast<std::size_t*>(value), 256);
    if (what == CL_DEVICE_LOCAL_MEM_SIZE) *static_cast<cl_ulong*>(value) = std::min<cl_ulong>(*static_cast<cl_ulong*>(value), 32768);
    return code;
}

cl_int vkfft_set_argument(cl_kernel kernel, cl_uint index, std::size_t bytes, const void* value) {
    const VkfftCalls& calls = *vkfft_calls;
    if (bytes == sizeof(cl_mem)) {
        for (int i = 0; i < 2; ++i) {
            if (calls.handles[i] && *static_cast<const void* const*>(value) == calls.handles[i])
                return opencl::set_address(*calls.device, kernel, index, calls.addresses[i]);
        }
    }
    return calls.api->clSetKernelArg(kernel, index, bytes, value);
}

cl_int vkfft_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const std::size_t* offset, const std::size_t* global,
                    const std::size_t* local, cl_uint, const cl_event*, cl_event*) {
    const auto launch = [&](cl_uint count, const cl_event* events, cl_event* event) {
        return vkfft_calls->api->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, count, events, event);
    };
    return vkfft_calls->queue ? vkfft_calls->queue->enqueue(launch) : launch(0, nullptr, nullptr);
}

/// On a queue of its own. Intel's runtime for processors comes back from a blocking write before the memory is written.
cl_int vkfft_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking, std::size_t offset, std::size_t bytes, const void* from,
                   cl_uint count, const cl_event* events, cl_event* event) {
    const cl_int code = vkfft_calls->api->clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes, from, count, events, event);
    return code == CL_SUCCESS ? vkfft_calls->api->clFinish(queue) : code;
}

[[gnu::format(printf, 1, 2)]] int vkfft_print(const char* format, ...) {
    char text[2048];
    std::va_list list;
    va_start(list, format);
    const int length = std::vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (vkfft_calls->said.size() < 4096) vkfft_calls->said += text;
    return length;
}

}  // namespace
}  // namespace pardo::routines

#define clGetDeviceInfo ::pardo::routines::vkfft_device_info
#define clCreateBuffer ::pardo::routines::vkfft_create_buffer
#define clSetKernelArg ::pardo::routines::vkfft_set_argument
#define clEnqueueWriteBuffer ::pardo::routines::vkfft_write
#define clEnqueueNDRangeKernel ::pardo::routines::vkfft_launch
#define PARDO_VKFFT_CALL(name) (::pardo::routines::vkfft_calls->api->name)
#define clBuildProgram PARDO_VKFFT_CALL(clBuildProgram)
#define clCreateCommandQueue PARDO_VKFFT_CALL(clCreateCommandQueue)
#define clCreateKernel PARDO_VKFFT_CALL(clCreateKernel)
#define clCreateProgramWithBinary PARDO_VKFFT_CALL(clCreateProgramWithBinary)
#define clCreateProgramWithSource PARDO_VKFFT_CALL(clCreateProgramWithSource)
#define clEnqueueReadBuffer PARDO_VKFFT_CALL(clEnqueueReadBuffer)
#define clFinish PARDO_VKFFT_CALL(clFinish)
#define clGetProgramBuildInfo PARDO_VKFFT_CALL(clGetProgramBuildInfo)
#define clGetProgramInfo PARDO_VKFFT_CALL(clGetProgramInfo)
#define clReleaseCommandQueue PARDO_VKFFT_CALL(clReleaseCommandQueue)
#define clReleaseKernel PARDO_VKFFT_CALL(clReleaseKernel)
#define clReleaseMemObject PARDO_VKFFT_CALL(clReleaseMemObject)
#define clReleaseProgram PARDO_VKFFT_CALL(clReleaseProgram)
#define printf(...) ::pardo::routines::vkfft_print(__VA_ARGS__)
#define VKFFT_BACKEND 3
#include <vkFFT.h>
#undef printf

namespace pardo::routines {
namespace {

/// Calls of VkFFT on this thread while it lives, with numbers of its texts written as C does.
class VkfftScope {
public:
    explicit VkfftScope(VkfftCalls& calls) : before_(vkfft_calls), locale_(uselocale(c_locale())) { vkfft_calls = &calls; }
    VkfftScope(const VkfftScope&) = delete;
    ~VkfftScope() {
        vkfft_calls = before_;
        uselocale(locale_);
    }

private:
    static locale_t c_locale() {
        static const locale_t c = newlocale(LC_ALL_MASK, "C", nullptr);  // stays
        return c;
    }
    VkfftCalls* before_;
    locale_t locale_;
};

void check_vkfft(VkFFTResult result, const VkfftShape& shape, const VkfftCalls& calls) {
    if (result == VKFFT_SUCCESS) return;
    constexpr VkFFTResult short_of_memory[] = {VKFFT_ERROR_MALLOC_FAILED, VKFFT_ERROR_FAILED_TO_ALLOCATE,
                                               VKFFT_ERROR_FAILED_TO_ALLOCATE_MEMORY, VKFFT_ERROR_FAILED_TO_CREATE_BUFFER};
    const bool memory = std::ranges::find(short_of_memory, result) != std::end(short_of_memory);
    std::string text = "fft: VkFFT says " + std::string(getVkFFTErrorString(result)) + " of " + std::to_string(shape.outer * shape.inner) +
                       " transforms of length " + std::to_string(shape.length) + " on " + calls.device->id();
    if (!calls.said.empty()) text += ": " + calls.said.substr(0, 2000);
    throw Error(memory ? ErrorCode::Memory : ErrorCode::Device, text);
}

}  // namespace

struct VkfftPlan::State {
    VkfftShape shape;
    VkfftCalls calls;
    VkFFTApplication app = VKFFT_ZERO_INIT;
    cl_device_id device = nullptr;
    cl_context context = nullptr;
    // VkFFT keeps where these are, and asks at each launch what they hold.
    cl_mem in = nullptr, out = nullptr;
    cl_command_queue queue = nullptr;
    // What the last launch of it is behind, which others come after: its own memory serves one at a time.
    cl_event last = nullptr;
    bool addressed = false;

    VkFFTResult make() {
        const bool halved = shape.transform != Transform::Complex;
        const auto points = static_cast<pfUINT>(shape.outer * shape.inner) * static_cast<pfUINT>(shape.length);
        const pfUINT number = shape.narrow ? 4 : 8;
        pfUINT in_bytes = points * number * (halved ? 1 : 2);
        pfUINT out_bytes = halved ? static_cast<pfUINT>(shape.outer * (shape.length / 2 + 1)) * 2 * number : in_bytes;
        VkFFTConfiguration c = VKFFT_ZERO_INIT;
        c.device = &device;
        c.context = &context;
        c.FFTdim = shape.inner == 1 ? 1 : 2;
        c.size[0] = static_cast<pfUINT>(shape.inner == 1 ? shape.length : shape.inner);
        c.size[1] = static_cast<pfUINT>(shape.inner == 1 ? 1 : shape.length);
        c.omitDimension[0] = shape.inner != 1;
        c.numberBatches = static_cast<pfUINT>(shape.outer);
        c.doublePrecision = !shape.narrow;
        c.performR2C = halved;
        c.makeForwardPlanOnly = shape.forward;
        c.makeInversePlanOnly = !shape.forward;
        c.useLUT = 1;  // sines of devices are not exact enough
        c.useUint64 = std::max(in_bytes, out_bytes) >= (pfUINT{1} << 31);
        c.disableSetLocale = 1;
        c.buffer = &out;
        c.bufferSize = &out_bytes;
        if (!shape.in_place) {  // `buffer` is the side of complex numbers
            c.inputBuffer = &in;
            c.inputBufferSize = &in_bytes;
            c.isInputFormatted = 1;
            if (halved) {
                c.inverseReturnToInputBuffer = !shape.forward;
                c.inputBufferStride[0] = static_cast<pfUINT>(shape.length);
            }
        }
        return initializeVkFFT(&app, c);
    }
    ~State() {
        VkfftScope scope(calls);
        if (last) calls.api->clReleaseEvent(last);
        deleteVkFFT(&app);
    }
};

VkfftPlan::VkfftPlan(opencl::OpenClDevice& device, const VkfftShape& shape) : state_(new State{}) {
    State& s = *state_;
    s.shape = shape;
    s.calls.api = &device.api();
    s.calls.device = &device;
    s.device = device.handle();
    s.context = device.context().handle();
    s.addressed = device.path() != opencl::MemoryPath::Buffer;
    if (s.addressed) {  // any two that are no buffers
        s.in = reinterpret_cast<cl_mem>(&s.in);
        s.out = reinterpret_cast<cl_mem>(&s.out);
        s.calls.handles[0] = s.in;
        s.calls.handles[1] = s.out;
    }
    const VkfftScope scope(s.calls);
    check_vkfft(s.make(), shape, s.calls);
}

VkfftPlan::~VkfftPlan() = default;

std::size_t VkfftPlan::bytes() const noexcept { return state_->calls.bytes; }

void VkfftPlan::run(opencl::LibraryQueue& queue, const VkfftMemory& in, const VkfftMemory& out) {
    State& s = *state_;
    // The side of half spectra's complex numbers is VkFFT's buffer in both directions.
    const bool turned = s.shape.transform == Transform::ComplexToReal;
    const VkfftMemory &real = turned ? out : in, &complex = turned ? in : out;
    if (s.addressed) {
        s.calls.addresses[0] = static_cast<char*>(real.buffer->data()) + real.offset;
        s.calls.addresses[1] = static_cast<char*>(complex.buffer->data()) + complex.offset;
    } else {
        s.out = queue.part(complex.buffer, complex.offset, complex.bytes);
        s.in = s.shape.in_place ? s.out : queue.part(real.buffer, real.offset, real.bytes);
    }
    if (s.last) queue.after(s.last);
    s.queue = queue.handle();
    s.calls.queue = &queue;
    VkFFTLaunchParams launch = VKFFT_ZERO_INIT;
    launch.commandQueue = &s.queue;
    launch.buffer = &s.out;
    if (!s.shape.in_place) launch.inputBuffer = &s.in;
    VkFFTResult result = VKFFT_SUCCESS;
    {
        const VkfftScope scope(s.calls);
        result = VkFFTAppend(&s.app, s.shape.forward ? -1 : 1, &launch);
    }
    s.calls.queue = nullptr;
    check_vkfft(result, s.shape, s.calls);
    if (s.last) s.calls.api->clReleaseEvent(s.last);
    s.last = queue.last();
    if (s.last) s.calls.api->clRetainEvent(s.last);
}

}  // namespace pardo::routines

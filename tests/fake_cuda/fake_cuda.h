// tests/fake_cuda/fake_cuda.h: what tests may ask of the fake CUDA driver, beyond the functions of the real one.
//
// libcuda_fake.so has the functions of libcuda.so.1 that pardo loads. A stream is a thread that works through a list. Device memory lies at
// addresses that the host may not touch (it crashes when it tries); the driver's own functions reach the bytes elsewhere. Kernels are real
// cubins, whose names and parameters are read from the file; launches are recorded, and run only where a test gives a function for the
// name. Environment: FAKE_CUDA_DEVICES (1), FAKE_CUDA_MEMORY (bytes a device, 1 GiB), FAKE_CUDA_ARCH (90), FAKE_CUDA_VERSION (13000),
// FAKE_CUDA_INIT (the result of cuInit, 0), FAKE_CUDA_PEERS (1: devices reach each other's memory), FAKE_CUDA_NUMBER (the host reads this
// wherever it reads eight bytes: counts of elements that no kernel has counted), FAKE_CUDA_GL_DEVICE (0: which device has the memory of
// OpenGL's contexts, -1: none; contexts are those of EGL). Memory by file descriptor is a file of memfd_create whose
// name is "fake CUDA memory"; a semaphore is one of 16 bytes, "fake CUDA semaphore": its value, and 1 for a timeline. Tests make such.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// The `after`-th next call of a driver's function (0: the very next) returns `code` and does nothing.
void fake_cuda_fail_next(const char* function, int code, int after);
void fake_cuda_forget_failures();
/// The next launch of the kernel ("" for any) fails when it runs, and with it everything on its device from then on, if `code` is such.
void fake_cuda_fail_kernel(const char* kernel, int code);
/// Calls of a driver's function so far.
long fake_cuda_calls(const char* function);
/// Things made and not yet destroyed: "event", "stream", "module", "device memory", "pinned memory", "managed memory", "registration",
/// "context", "array", "surface", "texture", "graphics resource", "opened memory", "allocation", "reservation", "external memory",
/// "external semaphore".
long fake_cuda_live(const char* kind);
/// While held, no stream takes new work.
void fake_cuda_hold(int hold);
/// What a device lost by an injected error is made good by; only for tests that go on with the same process.
void fake_cuda_revive(int device);

/// A launch as it was asked for; `params` holds the parameters one after another, each in eight bytes.
struct FakeLaunch {
    const char* kernel;
    int device;
    unsigned grid[3], block[3], shared_bytes;
    int param_count;
    const std::uint64_t* params;
};
/// Launches so far, and one of them; valid until fake_cuda_forget_launches.
long fake_cuda_launches();
const FakeLaunch* fake_cuda_launch(long index);
void fake_cuda_forget_launches();
/// Runs `f` for launches of the kernel, on the stream's thread.
void fake_cuda_on_launch(const char* kernel, void (*f)(const FakeLaunch* launch));
/// Where the host finds the bytes of device memory; null when they are not all in one allocation.
void* fake_cuda_host_address(std::uint64_t pointer, std::size_t bytes);
/// The texels of the array behind a surface or texture object, row by row; and how a texture samples, in the driver's numbers.
void* fake_cuda_array_of(std::uint64_t object);
struct FakeTexture {
    int address_mode, filter;
    unsigned flags;
};
FakeTexture fake_cuda_texture(std::uint64_t object);
}

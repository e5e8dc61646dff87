// src/routines/cuda/cufft.cpp: Fourier transforms by NVIDIA's cuFFT where it is installed. It has no factors, and half spectra in one
// direction each.
#include <algorithm>
#include <complex>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pardo/error.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/libraries/driver.h"
#include "device/queue/queue.h"
#include "routines/cuda/optional_library.h"
#include "routines/routines.h"

namespace pardo::routines {
namespace {

using FftHandle = int;
using FftStatus = int;
using Length = long long;

struct Cufft {
    FftStatus (*create)(FftHandle*) = nullptr;
    FftStatus (*destroy)(FftHandle) = nullptr;
    FftStatus (*set_stream)(FftHandle, cuda::StreamHandle) = nullptr;
    FftStatus (*set_own_workspace)(FftHandle, int wanted) = nullptr;
    FftStatus (*set_workspace)(FftHandle, void* memory) = nullptr;
    FftStatus (*plan)(FftHandle, int rank, Length* n, Length* in_extents, Length in_step, Length in_distance, Length* out_extents,
                      Length out_step, Length out_distance, int type, Length batch, std::size_t* workspace) = nullptr;
    FftStatus (*c2c)(FftHandle, void* in, void* out, int direction) = nullptr;
    FftStatus (*z2z)(FftHandle, void* in, void* out, int direction) = nullptr;
    FftStatus (*r2c)(FftHandle, void* in, void* out) = nullptr;
    FftStatus (*d2z)(FftHandle, void* in, void* out) = nullptr;
    FftStatus (*c2r)(FftHandle, void* in, void* out) = nullptr;
    FftStatus (*z2d)(FftHandle, void* in, void* out) = nullptr;

    bool bind(const DynamicLibrary& library) {
        return library.bind(create, "cufftCreate") && library.bind(destroy, "cufftDestroy") && library.bind(set_stream, "cufftSetStream") &&
               library.bind(set_own_workspace, "cufftSetAutoAllocation") && library.bind(set_workspace, "cufftSetWorkArea") &&
               library.bind(plan, "cufftMakePlanMany64") && library.bind(c2c, "cufftExecC2C") && library.bind(z2z, "cufftExecZ2Z") &&
               library.bind(r2c, "cufftExecR2C") && library.bind(d2z, "cufftExecD2Z") && library.bind(c2r, "cufftExecC2R") &&
               library.bind(z2d, "cufftExecZ2D");
    }
};

constexpr LibraryFile cufft_file{"cuFFT", "PARDO_CUFFT", "libcufft", "nvidia-cufft", "Fourier transforms run on the CPU, on copies", 1};

std::unique_ptr<Cufft> find_cufft(std::string& problem) {
    auto functions = std::make_unique<Cufft>();
    problem = find_library(cufft_file, [&](const DynamicLibrary& library) { return functions->bind(library); });
    return problem.empty() ? std::move(functions) : nullptr;
}

OptionalLibrary<Cufft>& cufft_library() {
    static auto* const library = new OptionalLibrary<Cufft>(find_cufft);
    return *library;
}
/// Null where cuFFT is not installed.
const Cufft* load_cufft() { return cufft_library().get(); }

void check_fft(FftStatus status, const char* call) {
    constexpr const char* names[] = {"",
                                     "invalid plan",
                                     "out of memory",
                                     "invalid type",
                                     "invalid value",
                                     "internal error",
                                     "execution failed",
                                     "setup failed",
                                     "invalid size"};
    if (status == 0) return;
    const bool known = status > 0 && status < static_cast<int>(std::size(names));
    const ErrorCode code = status == 2 ? ErrorCode::Memory : ErrorCode::Device;
    throw Error(code, std::string("fft: ") + call + " failed: " + (known ? names[status] : "status " + std::to_string(status)));
}

/// cuFFT's numbers.
enum class FftType : int { C2C = 0x29, R2C = 0x2a, C2R = 0x2c, Z2Z = 0x69, D2Z = 0x6a, Z2D = 0x6c };

/// What a plan is made of: extents of the logical transform, and how elements lie on both sides.
struct FftShape {
    FftType type;
    int rank;
    Length n[3], in_extents[3], out_extents[3];
    Length in_step, in_distance, out_step, out_distance, batch;
    bool operator==(const FftShape&) const = default;
};

/// The plans of one stream, those that were used last, and a workspace which they take by turns: each might want as much as it transforms.
/// Destroying one waits for its work.
class FftPlans final : public device::LibraryState {
public:
    FftPlans(const Cufft& library, cuda::StreamHandle stream) : library_(library), stream_(stream) {}
    ~FftPlans() override {
        for (const Entry& entry : entries_) library_.destroy(entry.handle);
        release();
    }
    /// A plan that is ready to be run.
    FftHandle get(const FftShape& shape) {
        const auto at = std::ranges::find(entries_, shape, &Entry::shape);
        if (at != entries_.end()) {
            entries_.splice(entries_.begin(), entries_, at);
        } else {
            entries_.push_front(make(shape));
            if (entries_.size() > most_plans) {
                library_.destroy(entries_.back().handle);
                entries_.pop_back();
            }
        }
        Entry& entry = entries_.front();
        reserve(entry.bytes);
        if (entry.workspace != workspace_) {
            check_fft(library_.set_workspace(entry.handle, reinterpret_cast<void*>(workspace_)), "cufftSetWorkArea");
            entry.workspace = workspace_;
        }
        return entry.handle;
    }

private:
    struct Entry {
        FftShape shape;
        FftHandle handle;
        std::size_t bytes;
        cuda::DevicePointer workspace;  // that it knows
    };
    static constexpr std::size_t most_plans = 16;

    /// The driver waits for the stream's work before it takes memory back.
    void release() noexcept {
        if (workspace_) (void)cuda::driver().cuMemFree(workspace_);
        workspace_ = 0;
        capacity_ = 0;
    }
    void reserve(std::size_t bytes) {
        if (bytes <= capacity_) return;
        release();
        cuda::check(cuda::driver().cuMemAlloc(&workspace_, bytes), "fft: cuMemAlloc");
        capacity_ = bytes;
    }
    Entry make(FftShape shape) {
        Entry entry{shape, 0, 0, 0};
        check_fft(library_.create(&entry.handle), "cufftCreate");
        try {
            check_fft(library_.set_own_workspace(entry.handle, 0), "cufftSetAutoAllocation");
            check_fft(
                library_.plan(entry.handle, shape.rank, shape.n, shape.in_extents, shape.in_step, shape.in_distance, shape.out_extents,
                              shape.out_step, shape.out_distance, static_cast<int>(shape.type), shape.batch, &entry.bytes),
                "cufftMakePlanMany64");
            check_fft(library_.set_stream(entry.handle, stream_), "cufftSetStream");
        } catch (...) {
            library_.destroy(entry.handle);
            throw;
        }
        return entry;
    }

    const Cufft& library_;
    cuda::StreamHandle stream_;
    std::list<Entry> entries_;
    cuda::DevicePointer workspace_ = 0;
    std::size_t capacity_ = 0;
};

/// One plan, run for each of `outer` stretches of memory.
struct FftStep {
    FftShape shape;
    char *in, *out;
    std::int64_t outer, in_stride, out_stride;  // bytes

    void run(const Cufft& library, FftPlans& plans, int direction) const {
        const FftHandle handle = plans.get(shape);
        for (std::int64_t i = 0; i < outer; ++i) {
            void *from = in + i * in_stride, *to = out + i * out_stride;
            switch (shape.type) {
                case FftType::C2C: check_fft(library.c2c(handle, from, to, direction), "cufftExecC2C"); break;
                case FftType::Z2Z: check_fft(library.z2z(handle, from, to, direction), "cufftExecZ2Z"); break;
                case FftType::R2C: check_fft(library.r2c(handle, from, to), "cufftExecR2C"); break;
                case FftType::D2Z: check_fft(library.d2z(handle, from, to), "cufftExecD2Z"); break;
                case FftType::C2R: check_fft(library.c2r(handle, from, to), "cufftExecC2R"); break;
                case FftType::Z2D: check_fft(library.z2d(handle, from, to), "cufftExecZ2D"); break;
            }
        }
    }
};

FftType type_of(Transform transform, bool narrow) {
    if (transform == Transform::Complex) return narrow ? FftType::C2C : FftType::Z2Z;
    if (transform == Transform::RealToComplex) return narrow ? FftType::R2C : FftType::D2Z;
    return narrow ? FftType::C2R : FftType::Z2D;
}

/// Along one axis of row-major memory.
FftStep along_axis(const Memory& in, const Memory& out, FftType type, int axis) {
    const Lines from = lines_of(in.shape, axis), to = lines_of(out.shape, axis);
    FftStep step{};
    const Length n = std::max(from.length, to.length);
    step.shape = {type, 1, {n}, {from.length}, {to.length}, from.inner, 1, to.inner, 1, from.inner};
    step.in = in.address();
    step.out = out.address();
    step.outer = from.outer;
    step.in_stride = from.length * from.inner * itemsize(in.dtype);
    step.out_stride = to.length * to.inner * itemsize(out.dtype);
    if (from.inner == 1) {  // lines one after the other: one batch
        step.shape.in_distance = from.length;
        step.shape.out_distance = to.length;
        step.shape.batch = from.outer;
        step.outer = 1;
    }
    return step;
}

/// Along the last dimensions at once.
FftStep along_last(const Memory& in, const Memory& out, FftType type, int rank) {
    FftStep step{};
    step.shape = {type, rank, {}, {}, {}, 1, 1, 1, 1, 1};
    const int first = in.shape.size() - rank;
    for (int d = 0; d < rank; ++d) {
        step.shape.in_extents[d] = in.shape[first + d];
        step.shape.out_extents[d] = out.shape[first + d];
        step.shape.n[d] = std::max(in.shape[first + d], out.shape[first + d]);
        step.shape.in_distance *= in.shape[first + d];
        step.shape.out_distance *= out.shape[first + d];
    }
    for (int d = 0; d < first; ++d) step.shape.batch *= in.shape[d];
    step.in = in.address();
    step.out = out.address();
    step.outer = 1;
    return step;
}

/// True when these are the last dimensions, few enough for one plan, and the halved one, if there is one, the very last.
bool are_last(std::span<const int> axes, int dimensions, bool halved) {
    const int count = static_cast<int>(axes.size());
    if (count > 3 || (halved && axes.back() != dimensions - 1)) return false;
    return std::ranges::all_of(axes, [&](int axis) { return axis >= dimensions - count; });
}

/// A copy of what is overwritten; or of what begins where cuFFT takes no complex number: a part of real numbers, memory of others.
bool needs_copy(const Memory& x, Transform transform) {
    const auto complex = static_cast<std::uintptr_t>(is_complex(x.dtype) ? itemsize(x.dtype) : 2 * itemsize(x.dtype));
    return transform == Transform::ComplexToReal || reinterpret_cast<std::uintptr_t>(x.address()) % complex != 0;
}

void cufft_fft(device::Queue* queue, const Memory& x, const Memory& out, const Fourier& what, std::span<const int> axes) {
    const Cufft* library = load_cufft();
    const bool narrow = itemsize(x.dtype) == (is_complex(x.dtype) ? 8 : 4), halved = what.transform != Transform::Complex;
    const FftType type = type_of(what.transform, narrow), complex = type_of(Transform::Complex, narrow);
    Memory in = x;
    std::vector<device::BufferUse> uses = {use_of(x, device::Access::Read), use_of(out, device::Access::Write)};
    const bool once = are_last(axes, x.shape.size(), halved);
    if (needs_copy(x, what.transform)) {
        in = make_scratch(queue, x.dtype, x.size());
        in.shape = x.shape;
        in.strides = x.strides;
        const auto bytes = static_cast<std::size_t>(x.nbytes());
        (void)queue->copy(in.buffer.get(), 0, x.buffer.get(), static_cast<std::size_t>(x.offset * itemsize(x.dtype)), bytes);
        uses[0] = use_of(in, device::Access::ReadWrite);
    }
    std::vector<FftStep> steps;
    if (once) {
        steps.push_back(along_last(in, out, type, static_cast<int>(axes.size())));
    } else {
        steps.push_back(along_axis(in, out, type, axes.back()));
        for (const int axis : axes.first(axes.size() - 1)) steps.push_back(along_axis(out, out, complex, axis));
        if (axes.size() > 1) uses[1].access = device::Access::ReadWrite;
    }
    const int direction = what.forward ? -1 : 1;
    // Buffers are held by the submission.
    device::call_library(queue,
                         [library, steps = std::move(steps), direction](void* stream, device::LibraryStates& states) {
                             auto& plans = states.get<FftPlans>(*library, static_cast<cuda::StreamHandle>(stream));
                             for (const FftStep& step : steps) step.run(*library, plans, direction);
                         },
                         uses, {"fft", {}});
}

/// It has no sums of cosines or sines. Several axes of half a spectrum it would take for those of a real signal, whatever they are.
bool cufft_applies(device::Queue*, const Memory&, const Memory&, const Fourier& what, std::span<const int> axes) {
    return what.transform < Transform::ComplexToReal || (what.transform == Transform::ComplexToReal && axes.size() == 1);
}
bool has_cufft() { return load_cufft() != nullptr; }
std::string no_cufft() { return cufft_library().problem(); }

const Registered by_cufft(routines::fft, {"cuFFT", DeviceKinds::Text, cufft_fft, cufft_applies, 0.1, "cuda", has_cufft, no_cufft});
// 8192 columns of 16384 complex64 took 3.6 ms on an H200, as many lines 0.7.
const Registered wants_lines(routines::fft_wants_lines,
                             {"cuFFT", DeviceKinds::Text, [](device::Queue*) { return true; }, nullptr, 0.1, "cuda", has_cufft, no_cufft});
// Factors, the other directions of half spectra and rows that are not contiguous are made by operations before and after it.
const Registered in_parts(routines::fft_in_parts,
                          {"cuFFT", DeviceKinds::Text,
                           [](device::Queue*, Transform transform) { return transform <= Transform::ComplexToReal; }, nullptr, 0.1, "cuda",
                           has_cufft, no_cufft});

}  // namespace
}  // namespace pardo::routines

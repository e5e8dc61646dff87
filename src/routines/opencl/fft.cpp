// src/routines/opencl/fft.cpp: Fourier transforms of OpenCL devices by VkFFT. It has half spectra in one direction each; factors are made
// by others.
#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/fork.h"
#include "device/queue/queue.h"
#include "routines/opencl/vkfft.h"
#include "routines/routines.h"

namespace pardo::routines {
namespace {

/// The plans of one device: few, and those that were used last. Their kernels' arguments are set under the lock.
class VkfftPlans {
public:
    explicit VkfftPlans(opencl::OpenClDevice& device) : device_(device) { renew_at_fork(mutex_); }

    void run(opencl::LibraryQueue& queue, const VkfftShape& shape, const VkfftMemory& in, const VkfftMemory& out) {
        const std::lock_guard lock(mutex_);
        find(shape).run(queue, in, out);
    }

private:
    struct Entry {
        VkfftShape shape;
        std::unique_ptr<VkfftPlan> plan;
    };
    static constexpr std::size_t most_plans = 32, most_bytes = std::size_t{512} << 20;

    VkfftPlan& find(const VkfftShape& shape) {
        const auto at = std::ranges::find(entries_, shape, &Entry::shape);
        if (at != entries_.end()) {
            entries_.splice(entries_.begin(), entries_, at);
            return *at->plan;
        }
        entries_.push_front({shape, std::make_unique<VkfftPlan>(device_, shape)});
        bytes_ += entries_.front().plan->bytes();
        while (entries_.size() > 1 && (entries_.size() > most_plans || bytes_ > most_bytes)) {
            bytes_ -= entries_.back().plan->bytes();
            entries_.pop_back();  // what is running keeps what it needs
        }
        return *entries_.front().plan;
    }

    opencl::OpenClDevice& device_;
    std::mutex mutex_;
    std::list<Entry> entries_;
    std::size_t bytes_ = 0;
};

/// They stay as long as the process, as devices do: drivers may be gone before static objects are.
VkfftPlans& plans_of(opencl::OpenClDevice& device) {
    struct All {
        std::mutex mutex;
        std::map<opencl::OpenClDevice*, std::unique_ptr<VkfftPlans>> plans;
        All() { renew_at_fork(mutex); }
    };
    static auto& all = *new All;
    const std::lock_guard lock(all.mutex);
    std::unique_ptr<VkfftPlans>& plans = all.plans[&device];
    if (!plans) plans = std::make_unique<VkfftPlans>(device);
    return *plans;
}

struct VkfftStep {
    VkfftShape shape;
    VkfftMemory in, out;
};

VkfftMemory memory_of_step(const Memory& x) {
    return {x.buffer.get(), static_cast<std::size_t>(x.offset * itemsize(x.dtype)), static_cast<std::size_t>(x.nbytes())};
}

VkfftStep step_along(const Memory& in, const Memory& out, Transform transform, bool forward, int axis) {
    const Lines from = lines_of(in.shape, axis), to = lines_of(out.shape, axis);
    const bool narrow = itemsize(in.dtype) == (is_complex(in.dtype) ? 8 : 4);
    return {{transform, forward, narrow, in.buffer == out.buffer, from.outer, std::max(from.length, to.length), from.inner},
            memory_of_step(in),
            memory_of_step(out)};
}

/// A copy of what may be overwritten; or of what begins where a buffer of OpenCL, or a complex number, may not.
bool needs_copy(const opencl::OpenClDevice& device, const Memory& x, const Fourier& what) {
    if (what.transform == Transform::ComplexToReal) return true;
    const std::int64_t complex = is_complex(x.dtype) ? itemsize(x.dtype) : 2 * itemsize(x.dtype);
    if (device.path() != opencl::MemoryPath::Buffer) return reinterpret_cast<std::intptr_t>(x.address()) % complex != 0;
    return x.offset * itemsize(x.dtype) % std::max<std::int64_t>(device.info().mem_base_addr_align / 8, 1) != 0;
}

void vkfft_fft(device::Queue* queue, const Memory& x, const Memory& out, const Fourier& what, std::span<const int> axes) {
    auto& device = static_cast<opencl::OpenClDevice&>(*queue->device());
    Memory in = x;
    device::Access reading = device::Access::Read;
    if (needs_copy(device, x, what)) {
        in.buffer = make_scratch(queue, x.dtype, x.size()).buffer;
        in.offset = 0;
        (void)queue->copy(in.buffer.get(), 0, x.buffer.get(), static_cast<std::size_t>(x.offset * itemsize(x.dtype)),
                          static_cast<std::size_t>(x.nbytes()));
        reading = device::Access::ReadWrite;
    }
    std::vector<VkfftStep> steps{step_along(in, out, what.transform, what.forward, axes.back())};
    for (const int axis : axes.first(axes.size() - 1)) {
        if (x.shape[axis] > 1) steps.push_back(step_along(out, out, Transform::Complex, what.forward, axis));
    }
    const device::BufferUse uses[] = {use_of(in, reading),
                                      use_of(out, axes.size() > 1 ? device::Access::ReadWrite : device::Access::Write)};
    // Buffers are held by the submission.
    device::call_library(queue,
                         [plans = &plans_of(device), steps = std::move(steps)](void* native, device::LibraryStates&) {
                             for (const VkfftStep& step : steps)
                                 plans->run(*static_cast<opencl::LibraryQueue*>(native), step.shape, step.in, step.out);
                         },
                         uses, {"fft", {}});
}

/// On the host's processor ducc0 is faster, on the same memory or on copies: tests ask for VkFFT there.
bool vkfft_serves(device::Queue* queue) { return queue->device()->info().type != DeviceType::Cpu || routines::fft.asked_for("VkFFT"); }

/// As cuFFT it has no sums of cosines or sines that are ours, and several axes of half a spectrum it would take for those of a real signal.
bool vkfft_applies(device::Queue* queue, const Memory& x, const Memory& out, const Fourier& what, std::span<const int> axes) {
    if (!vkfft_serves(queue) || what.factor != 1 || !is_contiguous(x.shape, x.strides) || !is_contiguous(out.shape, out.strides))
        return false;
    if (std::max(x.shape[axes.back()], out.shape[axes.back()]) == 1) return false;  // of one number it makes nothing
    if (what.transform == Transform::Complex) return true;
    const bool last = axes.back() == x.shape.size() - 1;
    if (what.transform == Transform::RealToComplex) return what.forward && last;
    return what.transform == Transform::ComplexToReal && !what.forward && last && axes.size() == 1;
}

const Registered by_vkfft(routines::fft, {"VkFFT", DeviceKinds::Away, vkfft_fft, vkfft_applies, 0.1, "opencl"});
const Registered in_parts(routines::fft_in_parts,
                          {"VkFFT", DeviceKinds::Away,
                           [](device::Queue*, Transform transform) { return transform <= Transform::ComplexToReal; },
                           [](device::Queue* queue, Transform) { return vkfft_serves(queue); }, 0.1, "opencl"});

}  // namespace
}  // namespace pardo::routines

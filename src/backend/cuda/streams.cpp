// src/backend/cuda/streams.cpp: the order between our queues and other CUDA libraries' streams.
#include "backend/cuda/queue.h"
#include "device/driver_queue.h"

namespace pardo::cuda {
namespace {

/// Work on the native stream that is none of pardo's kernels; tells whether it is there already when `submit` returns.
class StreamCall final : public device::NativeCall {
public:
    using Work = std::function<void(CudaStream&, const device::NativeOrder&)>;
    explicit StreamCall(Work work) : work_(std::move(work)) {}
    void run(device::Stream& stream, const device::NativeOrder& order) override {
        work_(static_cast<CudaStream&>(stream), order);
        ran = true;
    }
    Kept keep() override {
        return [work = work_](device::Stream& stream, const device::NativeOrder& order) { work(static_cast<CudaStream&>(stream), order); };
    }
    bool ran = false;

private:
    Work work_;
};

StreamHandle foreign(std::uintptr_t stream) { return reinterpret_cast<StreamHandle>(stream); }

}  // namespace

std::uintptr_t CudaQueue::native_stream() const {
    return order() == QueueOrder::InOrder ? reinterpret_cast<std::uintptr_t>(cuda_stream().handle()) : 0;
}

void CudaQueue::signal_stream(std::uintptr_t stream) {
    // Out of order there is no stream that is behind everything.
    if (order() == QueueOrder::OutOfOrder) return wait();
    CudaDevice* device = &cuda_stream().device();
    StreamCall call([device, stream](CudaStream& own, const device::NativeOrder& order) {
        own.submit(
            [&](StreamHandle handle, LibrarySlot&) {
                StreamEvent* event = device->events().take();
                Result done = driver().cuEventRecord(event->end, handle);
                if (done == result::success) done = driver().cuStreamWaitEvent(foreign(stream), event->end, 0);
                device->events().give(event);  // the wait is for this recording, whatever the event is used for next
                device->check(done, "cuStreamWaitEvent");
            },
            order);
    });
    device::DriverCore::Request request;
    request.label.name = "stream order";
    const Event event = core().submit(std::move(request), call);
    if (!call.ran) event.wait();  // held back on the host: the other stream must not be used before
}

Event CudaQueue::wait_for_stream(std::uintptr_t stream) {
    CudaDevice* device = &cuda_stream().device();
    const ContextScope scope(*device);
    if (stream == all_streams) {
        device->check(driver().cuCtxSynchronize(), "cuCtxSynchronize");
        return {};
    }
    StreamEvent* event = device->events().take();
    const std::shared_ptr<StreamEvent> kept(event, [device](StreamEvent* e) { device->events().give(e); });
    device->check(driver().cuEventRecord(event->end, foreign(stream)), "cuEventRecord");
    if (order() == QueueOrder::OutOfOrder) {
        device->check(await(event->end), "cuEventSynchronize");
        return {};
    }
    StreamCall call([device, kept](CudaStream& own, const device::NativeOrder& order) {
        own.submit([&](StreamHandle handle,
                       LibrarySlot&) { device->check(driver().cuStreamWaitEvent(handle, kept->end, 0), "cuStreamWaitEvent"); },
                   order);
    });
    device::DriverCore::Request request;
    request.label.name = "stream order";
    return core().submit(std::move(request), call);
}

}  // namespace pardo::cuda

// src/backend/cuda/streams.cpp: the order between our queues and other CUDA libraries' streams.
#include "backend/cuda/queue.h"
#include "device/queue/queue.h"

namespace pardo::cuda {
namespace {

/// Work on the native stream other than pardo's kernels; `ran`: the stream had it when `submit` returned, else it was deferred.
class StreamCall final : public device::NativeCall {
public:
    using Work = std::function<void(CudaStream&, const device::NativeOrder&)>;
    explicit StreamCall(Work work) : work_(std::move(work)) {}
    void run(device::Stream& stream, const device::NativeOrder& order) override {
        work_(static_cast<CudaStream&>(stream), order);
        ran = true;
    }
    Owned keep() override {
        return [work = work_](device::Stream& stream, const device::NativeOrder& order) { work(static_cast<CudaStream&>(stream), order); };
    }
    bool ran = false;

private:
    Work work_;
};

StreamHandle foreign(std::uintptr_t stream) { return reinterpret_cast<StreamHandle>(stream); }

std::shared_ptr<StreamEvent> shared_event(CudaDevice* device) {
    return {device->events().take(), [device](StreamEvent* e) { device->events().give(e); }};
}

}  // namespace

std::uintptr_t CudaQueue::native_stream() const {
    return order() == QueueOrder::InOrder ? reinterpret_cast<std::uintptr_t>(cuda_stream().handle()) : 0;
}

void CudaQueue::signal_stream(std::uintptr_t stream) {
    // Out of order there is no stream that comes after everything.
    if (order() == QueueOrder::OutOfOrder) return wait();
    CudaDevice* device = &cuda_stream().device();
    StreamCall call([device, stream](CudaStream& own, const device::NativeOrder& order) {
        own.call_library(
            [&](void* own_stream, device::LibraryStates&) {
                const auto handle = static_cast<StreamHandle>(own_stream);
                StreamEvent* event = device->events().take();
                Result done = driver().cuEventRecord(event->end, handle);
                if (done == result::success) done = driver().cuStreamWaitEvent(foreign(stream), event->end, 0);
                device->events().give(event);  // the wait is for this recording, whatever the event is used for next
                device->check(done, "cuStreamWaitEvent");
            },
            order);
    });
    device::Request request;
    request.label.name = "stream order";
    const Event event = core().submit(std::move(request), call);
    if (!call.ran) event.wait();  // deferred on the host: the other stream must not be used before
}

Event CudaQueue::wait_for_stream(std::uintptr_t stream) {
    CudaDevice* device = &cuda_stream().device();
    const ContextScope scope(*device);
    const std::shared_ptr<StreamEvent> event = shared_event(device);
    device->check(driver().cuEventRecord(event->end, foreign(stream)), "cuEventRecord");
    if (order() == QueueOrder::OutOfOrder) {
        device->check(await(event->end), "cuEventSynchronize");
        return {};
    }
    return wait_for_event(event);
}

Event CudaQueue::wait_for_event(const std::shared_ptr<StreamEvent>& kept) {
    CudaDevice* device = &cuda_stream().device();
    StreamCall call([device, kept](CudaStream& own, const device::NativeOrder& order) {
        own.call_library(
            [&](void* handle, device::LibraryStates&) {
                device->check(driver().cuStreamWaitEvent(static_cast<StreamHandle>(handle), kept->end, 0), "cuStreamWaitEvent");
            },
            order);
    });
    device::Request request;
    request.label.name = "stream order";
    return core().submit(std::move(request), call);
}

Event CudaQueue::wait_for_all_streams() {
    CudaDevice* device = &cuda_stream().device();
    const ContextScope scope(*device);
    if (driver().cuCtxRecordEvent) {
        const std::shared_ptr<StreamEvent> event = shared_event(device);
        if (driver().cuCtxRecordEvent(device->context(), event->end) == result::success) return wait_for_event(event);
    }
    // Older drivers, and those that are capturing a graph: a thread waits that has nothing else to do.
    return host_task(
        [device] {
            const ContextScope inside(*device);
            device->check(driver().cuCtxSynchronize(), "cuCtxSynchronize");
        },
        {}, device::Label{"stream order", {}}, 50, {});
}

Ref<device::Queue> CudaDevice::adopt_queue(void* stream, const std::shared_ptr<void>& owner) {
    device::check_not_forked("Queue", this);
    constexpr std::uintptr_t legacy_stream = 1;  // CU_STREAM_LEGACY, whatever the calling code was compiled for
    auto* const handle = stream ? static_cast<StreamHandle>(stream) : foreign(legacy_stream);
    const ContextScope scope(*this);
    ContextHandle of = nullptr;
    check(driver().cuStreamGetCtx(handle, &of), "cuStreamGetCtx");
    if (of != context())
        throw Error(ErrorCode::Value, "the stream is of another device or context than " + id() + ", whose context is the primary one");
    return new CudaQueue(this, QueueOrder::InOrder, false, std::make_unique<CudaStream>(this, handle, owner));
}

void CudaDevice::await_native(device::NativeTurn& turn, void* event) {
    check(driver().cuStreamWaitEvent(static_cast<StreamHandle>(turn.stream), static_cast<EventHandle>(event), 0), "cuStreamWaitEvent");
}

void* CudaDevice::native_marker(device::NativeTurn& turn) {
    EventHandle event = nullptr;
    check(driver().cuEventCreate(&event, event_disable_timing), "cuEventCreate");
    if (turn.after.empty()) return event;  // one that is not recorded counts as complete; the stream may have others' waits
    const Result recorded = driver().cuEventRecord(event, static_cast<StreamHandle>(turn.stream));
    if (recorded != result::success) (void)driver().cuEventDestroy(event);
    check(recorded, "cuEventRecord");
    return event;
}

// On a queue of its own: what comes later on others waits for it only where it uses the same memory.
Event CudaDevice::foreign_work(std::uintptr_t stream) {
    device::Queue* queue = nullptr;
    {
        std::lock_guard lock(fences_mutex_);
        if (!fences_) fences_ = create_queue(QueueOrder::InOrder, false);
        queue = fences_.get();
    }
    return stream ? queue->wait_for_stream(stream) : static_cast<CudaQueue&>(*queue).wait_for_all_streams();
}

}  // namespace pardo::cuda

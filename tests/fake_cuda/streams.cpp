// tests/fake_cuda/streams.cpp: streams and events of the fake CUDA driver. A stream is a thread that works through a list.
#include <algorithm>
#include <chrono>
#include <thread>

#include "world.h"

namespace fake {
namespace {

double now_ms() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// One recording of an event.
struct Occurrence {
    bool done = false;
    double time_ms = 0;
    int device = 0;
};
struct Event {
    unsigned flags = 0;
    std::shared_ptr<Occurrence> last;
};

void serve(const std::shared_ptr<Stream>& s) {
    World& w = world();
    Lock lock(w.mutex);
    for (;;) {
        w.changed.wait(lock, [&] { return (!w.held && !s->work.empty()) || (s->closed && s->work.empty()); });
        if (s->work.empty()) return;
        const std::function<Result()> f = std::move(s->work.front());
        s->work.pop_front();
        s->busy = true;
        lock.unlock();
        const Result result = f();
        lock.lock();
        s->busy = false;
        if (result && fatal(result) && !s->device->lost) s->device->lost = result;
        w.changed.notify_all();
    }
}

std::shared_ptr<Stream> new_stream(Device* d) {
    auto s = std::make_shared<Stream>();
    s->device = d;
    d->streams.push_back(s);
    std::thread([s] { serve(s); }).detach();
    return s;
}

/// With the lock held. Null for a handle that is none.
std::shared_ptr<Stream> stream_of(StreamHandle handle) {
    if (reinterpret_cast<std::uintptr_t>(handle) <= 2) {
        if (!current) return nullptr;
        if (!current->standard) current->standard = new_stream(current);
        return current->standard;
    }
    for (const auto& d : world().devices) {
        for (const auto& s : d->streams) {
            if (reinterpret_cast<StreamHandle>(s.get()) == handle) return s;
        }
    }
    return nullptr;
}

}  // namespace

Result push(StreamHandle handle, std::function<Result()> f) {
    World& w = world();
    Lock lock(w.mutex);
    const auto s = stream_of(handle);
    if (!s) return invalid_handle;
    s->work.push_back([s, f = std::move(f)] {
        {
            std::lock_guard guard(world().mutex);
            if (s->device->lost) return Result{0};
        }
        return f();
    });
    w.changed.notify_all();
    return 0;
}

void wait_idle(Lock& lock, const std::shared_ptr<Stream>& s) {
    world().changed.wait(lock, [&] { return s->work.empty() && !s->busy; });
}
void wait_idle(Lock& lock, Device* d) {
    const auto streams = d->streams;
    for (const auto& s : streams) wait_idle(lock, s);
}

}  // namespace fake

using namespace fake;

extern "C" {

Result cuStreamCreate(StreamHandle* stream, unsigned) {
    ENTER_CONTEXT("cuStreamCreate");
    std::lock_guard lock(world().mutex);
    ++world().live["stream"];
    *stream = reinterpret_cast<StreamHandle>(new_stream(current).get());
    return 0;
}
Result cuStreamDestroy_v2(StreamHandle stream) {
    ENTER("cuStreamDestroy");
    World& w = world();
    std::lock_guard lock(w.mutex);
    const auto s = stream_of(stream);
    if (!s || s == s->device->standard) return invalid_handle;
    s->closed = true;
    std::erase(s->device->streams, s);
    --w.live["stream"];
    w.changed.notify_all();
    return 0;
}
Result cuStreamSynchronize(StreamHandle stream) {
    ENTER_CONTEXT("cuStreamSynchronize");
    Lock lock(world().mutex);
    const auto s = stream_of(stream);
    if (!s) return invalid_handle;
    wait_idle(lock, s);
    return s->device->lost;
}
Result cuStreamQuery(StreamHandle stream) {
    ENTER_CONTEXT("cuStreamQuery");
    Lock lock(world().mutex);
    const auto s = stream_of(stream);
    if (!s) return invalid_handle;
    if (s->device->lost) return s->device->lost;  // since this function was entered
    return s->work.empty() && !s->busy ? 0 : result::not_ready;
}
Result cuStreamGetCtx(StreamHandle stream, ContextHandle* context) {
    ENTER_CONTEXT("cuStreamGetCtx");
    std::lock_guard lock(world().mutex);
    const auto s = stream_of(stream);
    if (!s) return invalid_handle;
    *context = handle_of(s->device);
    return 0;
}
Result cuStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
    ENTER_CONTEXT("cuStreamWaitEvent");
    std::shared_ptr<Occurrence> last;
    {
        std::lock_guard lock(world().mutex);
        last = reinterpret_cast<Event*>(event)->last;
    }
    if (!last) return 0;
    return push(stream, [last] {
        Lock lock(world().mutex);
        world().changed.wait(lock, [&] { return last->done || world().devices[static_cast<std::size_t>(last->device)]->lost; });
        return result::success;
    });
}
Result cuEventCreate(EventHandle* event, unsigned flags) {
    ENTER_CONTEXT("cuEventCreate");
    auto* e = new Event;
    e->flags = flags;
    std::lock_guard lock(world().mutex);
    ++world().live["event"];
    *event = reinterpret_cast<EventHandle>(e);
    return 0;
}
Result cuEventDestroy_v2(EventHandle event) {
    ENTER("cuEventDestroy");
    std::lock_guard lock(world().mutex);
    --world().live["event"];
    delete reinterpret_cast<Event*>(event);
    return 0;
}
Result cuEventRecord(EventHandle event, StreamHandle stream) {
    ENTER_CONTEXT("cuEventRecord");
    auto occurrence = std::make_shared<Occurrence>();
    {
        std::lock_guard lock(world().mutex);
        const auto s = stream_of(stream);
        if (!s || s->device != current) return invalid_handle;
        occurrence->device = s->device->ordinal;
        reinterpret_cast<Event*>(event)->last = occurrence;
    }
    return push(stream, [occurrence] {
        std::lock_guard lock(world().mutex);
        occurrence->done = true;
        occurrence->time_ms = now_ms();
        return result::success;
    });
}
Result cuCtxRecordEvent(ContextHandle context, EventHandle event) {
    ENTER_CONTEXT("cuCtxRecordEvent");
    auto occurrence = std::make_shared<Occurrence>();
    std::vector<StreamHandle> streams;
    {
        std::lock_guard lock(world().mutex);
        if (context != handle_of(current)) return invalid_handle;
        occurrence->device = current->ordinal;
        reinterpret_cast<Event*>(event)->last = occurrence;
        for (const auto& s : current->streams) streams.push_back(reinterpret_cast<StreamHandle>(s.get()));
    }
    const auto left = std::make_shared<std::size_t>(streams.size());
    const auto passed = [occurrence, left] {
        std::lock_guard lock(world().mutex);
        if (*left > 0) --*left;
        occurrence->done = *left == 0;
        occurrence->time_ms = now_ms();
        world().changed.notify_all();
        return result::success;
    };
    if (streams.empty()) return passed();
    for (const StreamHandle s : streams) {
        if (push(s, passed)) passed();  // closed meanwhile
    }
    return 0;
}
Result cuEventQuery(EventHandle event) {
    ENTER("cuEventQuery");
    std::lock_guard lock(world().mutex);
    const auto last = reinterpret_cast<Event*>(event)->last;
    if (!last) return 0;
    if (const Result lost = world().devices[static_cast<std::size_t>(last->device)]->lost) return lost;
    return last->done ? 0 : result::not_ready;
}
Result cuEventSynchronize(EventHandle event) {
    ENTER("cuEventSynchronize");
    Lock lock(world().mutex);
    const auto last = reinterpret_cast<Event*>(event)->last;
    if (!last) return 0;
    Device* d = world().devices[static_cast<std::size_t>(last->device)].get();
    world().changed.wait(lock, [&] { return last->done || d->lost; });
    return d->lost;
}
Result cuEventElapsedTime(float* milliseconds, EventHandle start, EventHandle end) {
    ENTER("cuEventElapsedTime");
    std::lock_guard lock(world().mutex);
    const auto* a = reinterpret_cast<Event*>(start);
    const auto* b = reinterpret_cast<Event*>(end);
    if ((a->flags | b->flags) & event_disable_timing || !a->last || !b->last) return invalid_handle;
    if (!a->last->done || !b->last->done) return result::not_ready;
    *milliseconds = static_cast<float>(b->last->time_ms - a->last->time_ms);
    return 0;
}

}  // extern "C"

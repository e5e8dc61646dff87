// src/capi/queues.cpp: queues and events as native code makes, orders and waits for them.
#include <cmath>
#include <memory>
#include <string>

#include <pardo/event.h>
#include <pardo/queue.h>

#include "capi/functions.h"
#include "capi/handle.h"
#include "device/event.h"

namespace pardo::capi {
namespace {

constexpr int64_t ns_per_ms = 1'000'000;

/// Blocks until the event is complete or has failed, or the time is over; then it is false. Interruptions are thrown.
bool finished(const Event& event, int64_t timeout_ns) {
    if (timeout_ns >= 0) {
        const int64_t ms = timeout_ns / ns_per_ms + (timeout_ns % ns_per_ms != 0);
        return event.done_within(static_cast<int>(std::min<int64_t>(ms, std::numeric_limits<int>::max())));
    }
    try {
        event.wait();
    } catch (const Error&) {
        if (!event.done()) throw;  // an interruption
    }
    return true;
}

void raise_failure(const Event& event) {
    if (const std::optional<Error> error = event.failure()) throw *error;
}

}  // namespace

std::vector<Event> events_of(const char* function, const pardo_event* events, size_t count) {
    if (count > 0) require(function, events, "after");
    std::vector<Event> out;
    out.reserve(count);
    for (size_t k = 0; k < count; ++k)
        if (events[k]) out.push_back(as_event(function, events[k]));
    return out;
}

pardo_status queue_of(pardo_device device, pardo_queue* out) {
    return guarded("queue_of", [&] {
        require("queue_of", out, "out");
        *out = give(device ? as_device("queue_of", device)->queue() : Queue().impl());
    });
}

pardo_status queue_new(pardo_device device, uint32_t flags, pardo_queue* out) {
    return guarded("queue_new", [&] {
        require("queue_new", out, "out");
        constexpr uint32_t known = PARDO_QUEUE_OUT_OF_ORDER | PARDO_QUEUE_PROFILING;
        if (flags & ~known) throw Error(ErrorCode::Value, "queue_new: there are no flags " + std::to_string(flags & ~known));
        const QueueOrder order = flags & PARDO_QUEUE_OUT_OF_ORDER ? QueueOrder::OutOfOrder : QueueOrder::InOrder;
        *out = give(Queue(Device(as_device("queue_new", device)), order, (flags & PARDO_QUEUE_PROFILING) != 0).impl());
    });
}

pardo_status queue_device(pardo_queue queue, pardo_device* out) {
    return guarded("queue_device", [&] {
        require("queue_device", out, "out");
        *out = give(as_queue("queue_device", queue)->device());
    });
}

pardo_status queue_wait(pardo_queue queue) {
    return guarded("queue_wait", [&] {
        device::Queue* const own = as_queue("queue_wait", queue);
        InWork::refuse("queue_wait");
        Queue(own).wait();
    });
}

pardo_status queue_barrier(pardo_queue queue, const pardo_event* after, size_t n_after, pardo_event* out) {
    return guarded("queue_barrier", [&] {
        device::Queue* const own = as_queue("queue_barrier", queue);
        const Event event = own->barrier(events_of("queue_barrier", after, n_after));
        if (out) *out = give(event);
    });
}

pardo_status event_new(pardo_event* out) {
    return guarded("event_new", [&] {
        require("event_new", out, "out");
        *out = give(Ref<Signal>(new Signal));
    });
}

pardo_status event_complete(pardo_event event, pardo_status code, const char* text) {
    return guarded("event_complete", [&] {
        const Signal& signal = *as_signal("event_complete", event);
        const std::string why = text ? text : "native code has failed with code " + std::to_string(code);
        if (code == PARDO_OK ? signal.event.set_complete() : signal.event.set_failed(error_of(code, why))) return;
        throw Error(ErrorCode::Value, "event_complete: the event is complete already");
    });
}

pardo_status event_wait(pardo_event event, int64_t timeout_ns) {
    return guarded("event_wait", [&] {
        const Event waited = as_event("event_wait", event);
        if (!waited.done()) {
            InWork::refuse("event_wait");
            if (!finished(waited, timeout_ns))
                throw StatusError(PARDO_E_TIMEOUT, "event_wait: the event is not complete after " + std::to_string(timeout_ns) + " ns");
        }
        raise_failure(waited);
    });
}

int32_t event_status(pardo_event event) {
    int32_t status = PARDO_FAILED;
    (void)guarded("event_status", [&] { status = static_cast<int32_t>(as_event("event_status", event).status()); });
    return status;
}

pardo_status event_then(pardo_event event, void (*f)(pardo_status, void*), void* user, void (*destroy)(void*)) {
    return guarded("event_then", [&] {
        const std::shared_ptr<void> kept(user, [destroy](void* x) {  // once, whatever becomes of the rest
            if (destroy) destroy(x);
        });
        require("event_then", reinterpret_cast<const void*>(f), "f");
        const Event awaited = as_event("event_then", event);
        awaited.add_done_callback([f, kept, awaited] {
            const std::optional<Error> failure = awaited.failure(false);
            f(failure ? status_of(*failure) : PARDO_OK, kept.get());
        });
    });
}

}  // namespace pardo::capi

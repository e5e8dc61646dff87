// src/capi/native_queues.cpp: a driver's queues and events as ours, and ours as the driver's.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include <pardo/event.h>

#include <pardo/binding/native.h>

#include "capi/functions.h"
#include "capi/handle.h"
#include "device/event.h"

namespace pardo::capi {
namespace {

/// Whether a turn is over, or will never come.
struct TurnEnd {
    std::mutex mutex;
    std::condition_variable changed;
    bool begun = false, over = false, unwanted = false;

    /// False where nobody wants what the turn makes any more.
    bool begin() {
        const std::lock_guard lock(mutex);
        begun = !unwanted;
        return begun;
    }
    /// False where it has begun.
    bool give_up() {
        const std::lock_guard lock(mutex);
        unwanted = !begun;
        return unwanted;
    }
    void set() {
        const std::lock_guard lock(mutex);
        over = true;
        changed.notify_all();
    }
    bool is_set() {
        const std::lock_guard lock(mutex);
        return over;
    }
    void wait() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return over; });
    }
};

/// Runs `code` in a turn of the driver's after `event`, and returns when it is over. Throws its failure, which is not the turn's, and the
/// event's.
Event in_turn(const char* function, device::Device* device, const Event& event, device::NativeCode code) {
    const auto end = std::make_shared<TurnEnd>();
    const auto failure = std::make_shared<std::optional<Error>>();
    const auto run = [code = std::move(code), end, failure](device::NativeTurn& turn) {
        if (!end->begin()) return;
        try {
            code(turn);
        } catch (...) {
            *failure = device::current_error();
            turn.done = nullptr;
        }
        end->set();
    };
    const Event made = device->marker_queue()->native_task(run, {}, {function, {}}, 0, {&event, event.state() ? 1U : 0U});
    if (!end->is_set()) {
        if (made.state()) made.state()->subscribe([end] { end->set(); });  // of a turn that never comes
        try {
            if (!event.done()) {
                InWork::refuse(function);
                event.state()->wait_done();
            }
        } catch (...) {
            if (end->give_up()) throw;
        }
        end->wait();
    }
    if (*failure) throw(*failure)->with_message(std::string(function) + ": " + (*failure)->message());
    if (const std::optional<Error> inherited = event.failure()) {
        if (made.state()) made.state()->acknowledge();
        throw *inherited;
    }
    return made;
}

}  // namespace

pardo_status queue_from_native(pardo_device device, void* stream, void* owner, void (*destroy)(void*), pardo_queue* out) {
    return guarded("queue_from_native", [&] {
        require("queue_from_native", out, "out");
        const auto accepted = std::make_shared<bool>(false);
        const std::shared_ptr<void> kept(owner, [destroy, accepted](void* x) {
            if (destroy && *accepted) destroy(x);
        });
        const Queue queue = adopt_queue("queue_from_native", Device(as_device("queue_from_native", device)), stream, kept);
        *accepted = true;
        *out = give(queue.impl());
    });
}

pardo_status queue_native(pardo_queue queue, void** stream) {
    return guarded("queue_native", [&] {
        require("queue_native", stream, "stream");
        *stream = as_queue("queue_native", queue)->native_queue();
    });
}

pardo_status event_from_native(pardo_device device, void* native, pardo_event* out) {
    return guarded("event_from_native", [&] {
        require("event_from_native", native, "native");
        require("event_from_native", out, "out");
        *out = give(adopt_event("event_from_native", Device(as_device("event_from_native", device)), native));
    });
}

pardo_status event_to_native(pardo_event event, pardo_device device, void** native) {
    return guarded("event_to_native", [&] {
        require("event_to_native", native, "native");
        const Device on(as_device("event_to_native", device));
        *native = native_event("event_to_native", as_event("event_to_native", event), on);
    });
}

}  // namespace pardo::capi

namespace pardo {

NativeHandles native_handles(const Device& device) {
    const device::NativeApi api = device.impl()->native_api();
    if (api == device::NativeApi::Host || api == device::NativeApi::None)
        throw Error(ErrorCode::Device, device.id() + " has no driver, and no handles of one");
    const device::NativeDevice native = device.impl()->native();
    return {native.device, native.context, native.platform};
}

Queue adopt_queue(const char* op_name, const Device& device, void* stream, const std::shared_ptr<void>& owner) {
    try {
        return Queue(device.impl()->adopt_queue(stream, owner).get());
    } catch (const Error& e) {
        throw e.with_message(std::string(op_name) + ": " + e.message());
    }
}

void* native_queue(const Queue& queue) noexcept { return queue.impl()->native_queue(); }

Event adopt_event(const char* op_name, const Device& device, void* native) {
    device::Device* const on = device.impl();
    return capi::in_turn(op_name, on, {}, [=](device::NativeTurn& turn) { on->await_native(turn, native); });
}

void* native_event(const char* op_name, const Event& event, const Device& device) {
    device::Device* const on = device.impl();
    const auto made = std::make_shared<void*>(nullptr);
    (void)capi::in_turn(op_name, on, event, [=](device::NativeTurn& turn) { *made = on->native_marker(turn); });
    return *made;
}

}  // namespace pardo

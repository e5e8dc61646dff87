// src/capi/handle.cpp: how handles are given, looked at, and given back.
#include "capi/handle.h"

#include <string>

#ifndef NDEBUG
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#endif

#include "base/counters.h"
#include "capi/status.h"
#include "device/event.h"

namespace pardo::capi {
namespace {

constexpr std::uintptr_t kind_bits = 7;
constexpr const char* kind_names[] = {"", "a device", "a queue", "an event", "an array", "an event", "a program"};

HandleKind kind_of(const void* handle) noexcept { return static_cast<HandleKind>(reinterpret_cast<std::uintptr_t>(handle) & kind_bits); }
template <class T> T* object_in(const void* handle) noexcept {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(handle) & ~kind_bits);
}
template <class T> void* tagged(T* object, HandleKind kind) noexcept {
    static_assert(alignof(T) > kind_bits);
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(object) | static_cast<std::uintptr_t>(kind));
}

#ifdef NDEBUG
constexpr bool is_alive(const void*) noexcept { return true; }
void note_reference(const void*) noexcept { counters.handles.fetch_add(1, std::memory_order_relaxed); }
void note_lent(const void*) noexcept {}
void drop_reference(const void*) noexcept { counters.handles_back.fetch_add(1, std::memory_order_relaxed); }
#else
/// How many references native code has to each handle, and those whose last one has gone.
struct Known {
    std::mutex mutex;
    std::unordered_map<const void*, std::size_t> references;
    std::unordered_set<const void*> released;
};
Known& known() {
    static auto& all = *new Known;
    return all;
}
bool is_alive(const void* handle) {
    const std::lock_guard lock(known().mutex);
    return !known().released.contains(handle);
}
void note_reference(const void* handle) {
    counters.handles.fetch_add(1, std::memory_order_relaxed);
    const std::lock_guard lock(known().mutex);
    ++known().references[handle];
    known().released.erase(handle);
}
void note_lent(const void* handle) {
    const std::lock_guard lock(known().mutex);
    known().released.erase(handle);
}
void drop_reference(const void* handle) {
    counters.handles_back.fetch_add(1, std::memory_order_relaxed);
    const std::lock_guard lock(known().mutex);
    const auto at = known().references.find(handle);
    if (at == known().references.end() || --at->second != 0) return;
    known().references.erase(at);
    known().released.insert(handle);
}
#endif

template <class T> void* given(T* object, HandleKind kind) {
    if (!object) return nullptr;
    object->retain();
    void* const handle = tagged(object, kind);
    note_reference(handle);
    return handle;
}

/// Calls f(object) for a handle of a counted object; false for null, devices, and what is no handle.
template <class F> bool with_object(const void* handle, const F& f) {
    if (!handle) return false;
    switch (kind_of(handle)) {
        case HandleKind::Queue: f(*object_in<device::Queue>(handle)); return true;
        case HandleKind::Event: f(*object_in<device::EventState>(handle)); return true;
        case HandleKind::Array: f(*object_in<graph::Node>(handle)); return true;
        case HandleKind::Signal: f(*object_in<Signal>(handle)); return true;
        case HandleKind::Program: f(*object_in<CompiledText>(handle)); return true;
        default: return false;
    }
}

[[noreturn]] void refuse(const char* function, const char* name, const std::string& what) {
    throw StatusError(PARDO_E_HANDLE, std::string(function) + ": " + name + " " + what);
}

void check(const char* function, const void* handle, const char* name, HandleKind kind) {
    if (!handle) refuse(function, name, "is NULL");
    const auto found = static_cast<std::size_t>(kind_of(handle));
    if (found == 0 || found >= std::size(kind_names)) refuse(function, name, "is no handle of pardo's");
    if (kind_of(handle) != kind)
        refuse(function, name, std::string("is to be ") + kind_names[static_cast<std::size_t>(kind)] + ", and is " + kind_names[found]);
    if (!is_alive(handle)) refuse(function, name, "is not alive: its last reference has been released");
}

}  // namespace

pardo_device lent(device::Device* device) noexcept { return static_cast<pardo_device>(tagged(device, HandleKind::Device)); }
pardo_queue lent(device::Queue* queue) noexcept {
    auto* const handle = static_cast<pardo_queue>(tagged(queue, HandleKind::Queue));
    note_lent(handle);
    return handle;
}

pardo_device give(device::Device* device) { return device ? lent(device) : nullptr; }
pardo_queue give(device::Queue* queue) { return static_cast<pardo_queue>(given(queue, HandleKind::Queue)); }
pardo_event give(const Event& event) {
    if (!event.state()) return nullptr;
    const bool timed = event.state()->times().queued != 0;  // of a queue that profiles
    if (event.state()->known_status() == EventStatus::Complete && !timed) return nullptr;
    return static_cast<pardo_event>(given(event.state(), HandleKind::Event));
}
pardo_event give(const Ref<Signal>& signal) { return static_cast<pardo_event>(given(signal.get(), HandleKind::Signal)); }
pardo_program give(const Ref<CompiledText>& program) { return static_cast<pardo_program>(given(program.get(), HandleKind::Program)); }
pardo_array give(graph::Node* node) { return static_cast<pardo_array>(given(node, HandleKind::Array)); }

device::Device* as_device(const char* function, const void* handle, const char* name) {
    check(function, handle, name, HandleKind::Device);
    return object_in<device::Device>(handle);
}
device::Queue* as_queue(const char* function, const void* handle, const char* name) {
    check(function, handle, name, HandleKind::Queue);
    return object_in<device::Queue>(handle);
}
graph::Node* as_node(const char* function, const void* handle, const char* name) {
    check(function, handle, name, HandleKind::Array);
    return object_in<graph::Node>(handle);
}
Signal* as_signal(const char* function, const void* handle) {
    if (handle && kind_of(handle) == HandleKind::Event)
        refuse(function, "event", "is one of pardo's own, which completes it; event_new makes one that you complete");
    check(function, handle, "event", HandleKind::Signal);
    return object_in<Signal>(handle);
}
const Program& as_program(const char* function, const void* handle) {
    check(function, handle, "program", HandleKind::Program);
    return object_in<CompiledText>(handle)->program;
}
Event as_event(const char* function, const void* handle) {
    if (!handle) return {};
    if (kind_of(handle) == HandleKind::Signal) {
        check(function, handle, "event", HandleKind::Signal);
        return object_in<Signal>(handle)->event.event();
    }
    check(function, handle, "event", HandleKind::Event);
    return Event(object_in<device::EventState>(handle));
}

void retain(void* handle) noexcept {
    if (with_object(handle, [](const auto& object) { object.retain(); })) note_reference(handle);
}

void release(void* handle) noexcept {
    if (!handle || kind_of(handle) == HandleKind::Device) return;
    if (!is_alive(handle)) {
        keep(PARDO_E_HANDLE, "release: the handle's last reference has been released before");
        return;
    }
    drop_reference(handle);
    with_object(handle, [](const auto& object) { object.release(); });
}

}  // namespace pardo::capi

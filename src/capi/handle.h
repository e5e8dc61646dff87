// src/capi/handle.h: handles of native code. A handle is the address of a counted object; its lowest bits, which are 0 in addresses, say of
// which kind.
#pragma once

#include <cstdint>

#include <pardo/array.h>
#include <pardo/c_api.h>
#include <pardo/event.h>
#include <pardo/program.h>

#include "base/ref.h"
#include "device/device.h"
#include "graph/node.h"

namespace pardo::capi {

enum class HandleKind : std::uint8_t { Device = 1, Queue, Event, Array, Signal, Program };

/// An event that native code completes. When the last handle goes before that, it fails.
struct Signal : RefCounted<Signal> {
    UserEvent event;
};

/// A program that native code has a handle of.
struct CompiledText : RefCounted<CompiledText> {
    explicit CompiledText(const Program& made) : program(made) {}
    Program program;
};

// New references; null for what there is none of, and for events that are complete and have not failed.
pardo_device give(device::Device* device);
pardo_queue give(device::Queue* queue);
pardo_event give(const Event& event);
pardo_event give(const Ref<Signal>& signal);
pardo_array give(graph::Node* node);
pardo_program give(const Ref<CompiledText>& program);

// What a handle stands for. Throw, as "<function>: <name> …", of null, of another kind, and, where the library is built for debugging, of a
// handle to which no reference is left.
device::Device* as_device(const char* function, const void* handle, const char* name = "device");
device::Queue* as_queue(const char* function, const void* handle, const char* name = "queue");
graph::Node* as_node(const char* function, const void* handle, const char* name = "array");
Signal* as_signal(const char* function, const void* handle);
const Program& as_program(const char* function, const void* handle);
/// Null is complete.
Event as_event(const char* function, const void* handle);

void retain(void* handle) noexcept;
void release(void* handle) noexcept;

/// A handle that is passed for the time of a call: no reference is given.
pardo_device lent(device::Device* device) noexcept;
pardo_queue lent(device::Queue* queue) noexcept;

}  // namespace pardo::capi

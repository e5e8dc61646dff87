// src/graph/call.cpp: the question whether a routine may go through the host.
#include "graph/call.h"

#include <atomic>
#include <string>
#include <utility>

#include <pardo/binding/hooks.h>
#include <pardo/log.h>

#include "device/device.h"

namespace pardo::graph {

namespace {

std::atomic<TransferHook> transfer_hook{nullptr};
thread_local bool answered = false;

}  // namespace

bool TransferQuestion::wanted(const device::Queue* queue) noexcept {
    return transfer_hook.load(std::memory_order_acquire) && !answered && !queue->device()->can(device::Feature::HostCode);
}

void TransferQuestion::ask(const char* op_name, std::int64_t bytes, const device::Queue* queue, const ImplementationChoice& choice) {
    const TransferHook hook = transfer_hook.load(std::memory_order_acquire);
    if (!hook || !choice.on_host || bytes == 0) return;
    std::string why;
    for (const std::string& other : choice.rejected) why += (why.empty() ? "" : "; ") + other;
    hook({op_name, bytes, queue->device()->id(), why});
}

void TransferQuestion::ask_to_follow(const char* op_name, std::int64_t bytes, const device::Queue* queue) {
    const TransferHook hook = transfer_hook.load(std::memory_order_acquire);
    if (hook && !answered) hook({op_name, bytes, queue->device()->id(), {}, true});
}

TransferQuestion::Answered::Answered() noexcept : outer_(std::exchange(answered, true)) {}
TransferQuestion::Answered::~Answered() { answered = outer_; }

}  // namespace pardo::graph

namespace pardo {

void set_transfer_hook(TransferHook hook) { graph::transfer_hook.store(hook, std::memory_order_release); }

}  // namespace pardo

// src/routines/recorder.cpp: the recorders that there are.
#include "routines/recorder.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/fork.h"

namespace pardo::routines {
namespace {

struct Recorders {
    Recorders() { renew_at_fork(mutex); }
    std::mutex mutex;
    std::vector<std::pair<const device::Device*, Recorder*>> list;
};
Recorders& recorders() {
    static auto& made = *new Recorders;
    return made;
}

}  // namespace

Recorder::Recorder(const device::Device* device) : device_(device) {
    const std::lock_guard lock(recorders().mutex);
    recorders().list.emplace_back(device, this);
    count.fetch_add(1, std::memory_order_relaxed);
}

Recorder::~Recorder() {
    const std::lock_guard lock(recorders().mutex);
    std::erase_if(recorders().list, [&](const auto& one) { return one.second == this; });
    count.fetch_sub(1, std::memory_order_relaxed);
}

Recorder* Recorder::find(const device::Device* device) {
    const std::lock_guard lock(recorders().mutex);
    const auto found = std::ranges::find(recorders().list, device, &std::pair<const device::Device*, Recorder*>::first);
    return found == recorders().list.end() ? nullptr : found->second;
}

}  // namespace pardo::routines

// src/jit/cache.cpp: programs in memory, in front of disk, in front of the compiler.
#include "jit/cache.h"

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/counters.h"
#include "jit/disk.h"

namespace pardo::jit {
namespace {

/// One key that somebody is making now.
struct InFlight {
    std::mutex mutex;
    std::condition_variable changed;
    bool finished = false;
    Ref<device::Program> program;
    std::exception_ptr failure;
};

struct Memory {
    std::mutex mutex;
    std::unordered_map<Hash128, Ref<device::Program>> programs;
    std::unordered_map<Hash128, std::shared_ptr<InFlight>> in_flight;
};

Memory& memory() {
    static auto* made = new Memory;   // programs may still run when the process exits
    return *made;
}

Ref<device::Program> make(const Hash128& key, const Recipe& recipe) {
    if (auto stored = disk::load(key)) {
        Ref<device::Program> program = recipe.load(*stored);
        counters.from_disk.fetch_add(1, std::memory_order_relaxed);
        return program;
    }
    const Binary binary = recipe.compile();
    Ref<device::Program> program = recipe.load(binary);
    counters.compiled.fetch_add(1, std::memory_order_relaxed);
    disk::store(key, binary);
    return program;
}

Ref<device::Program> wait_for(InFlight& work) {
    std::unique_lock lock(work.mutex);
    work.changed.wait(lock, [&] { return work.finished; });
    if (work.failure) std::rethrow_exception(work.failure);
    return work.program;
}

}  // namespace

Hash128 key(std::string_view text) { return hash128(text); }

Ref<device::Program> get(const Hash128& key, const Recipe& recipe) {
    Memory& m = memory();
    std::shared_ptr<InFlight> work;
    bool mine = false;
    {
        std::lock_guard guard(m.mutex);
        if (const auto found = m.programs.find(key); found != m.programs.end()) return found->second;
        std::shared_ptr<InFlight>& slot = m.in_flight[key];
        mine = !slot;
        if (mine) slot = std::make_shared<InFlight>();
        work = slot;
    }
    if (!mine) return wait_for(*work);

    Ref<device::Program> program;
    std::exception_ptr failure;
    try {
        program = make(key, recipe);
    } catch (...) {
        failure = std::current_exception();   // those who wait get it too; the next call tries again
    }
    {
        std::lock_guard guard(m.mutex);
        if (program) m.programs.emplace(key, program);
        m.in_flight.erase(key);
    }
    {
        std::lock_guard guard(work->mutex);
        work->program = program;
        work->failure = failure;
        work->finished = true;
    }
    work->changed.notify_all();
    if (failure) std::rethrow_exception(failure);
    return program;
}

DiskState disk_state() { return disk::state(); }

void clear_memory() {
    Memory& m = memory();
    std::lock_guard guard(m.mutex);
    m.programs.clear();
}

void clear_disk() { disk::clear(); }

}  // namespace pardo::jit

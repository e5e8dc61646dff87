// src/jit/cache.cpp: programs by key, in memory; makes each of them once.
#include "jit/cache.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <pardo/error.h>

#include "base/counters.h"
#include "base/env.h"
#include "base/fork.h"
#include "device/profile.h"
#include "jit/build_id.h"
#include "jit/compiling.h"
#include "jit/disk.h"
#include "jit/pack.h"
#include "jit/progress.h"

namespace pardo::jit {
namespace {

Ref<device::Program> compile(const CompileSteps& recipe, Binary& binary) {
    const std::int64_t start = device::now_ns();
    {
        const Progress progress(recipe.name, recipe.device);
        binary = recipe.compile();
    }
    counters.compiled.fetch_add(1, std::memory_order_relaxed);
    Ref<device::Program> program = recipe.load(binary);
    if (device::recording()) device::record_program(Activity::Compile, recipe.name, start, device::now_ns());
    return program;
}

Ref<device::Program> load(const CompileSteps& recipe, const Binary& binary, std::atomic<std::uint64_t>& counter) {
    const std::int64_t start = device::now_ns();
    Ref<device::Program> program = recipe.load(binary);
    if (device::recording()) device::record_program(Activity::Load, recipe.name, start, device::now_ns());
    counter.fetch_add(1, std::memory_order_relaxed);
    return program;
}

/// A program, or the fact that a thread is making it.
struct Slot {
    bool done = false;
    Ref<device::Program> program;
    std::exception_ptr failure;
};

/// More programs in memory than this, and unused ones are removed: a driver may keep megabytes for each of them.
constexpr std::size_t most_programs = 512;

class Cache {
public:
    /// Never destroyed: programs may be in use when the process ends.
    static Cache& instance() {
        static Cache* cache = [] {
            auto* made = new Cache;
            at_fork(ForkStage::Programs,
                    {[made] { made->mutex_.lock(); }, [made] { made->mutex_.unlock(); }, [made] { made->after_fork(); }});
            return made;
        }();
        return *cache;
    }

    Ref<device::Program> get(const Hash128& key, const CompileSteps& recipe) {
        std::shared_ptr<Slot> slot;
        {
            std::unique_lock lock(mutex_);
            if (slots_.size() >= room_) evict();
            if (const auto at = slots_.find(key); at != slots_.end()) {
                slot = at->second;
                return wait(lock, *slot);
            }
            slot = std::make_shared<Slot>();
            slots_.emplace(key, slot);  // whole or not at all: others wait for what they find
        }
        return make(key, recipe, *slot);
    }

    Ref<device::Program> find(const Hash128& key) {
        const std::lock_guard lock(mutex_);
        const auto at = slots_.find(key);
        return at != slots_.end() ? at->second->program : nullptr;
    }

    void clear_memory() {
        std::lock_guard lock(mutex_);
        forget([](const Slot& slot) { return slot.done; });
        disk_.reset();
    }

    std::shared_ptr<Disk> disk() {
        std::lock_guard lock(mutex_);
        if (!disk_) disk_ = std::make_shared<Disk>();
        return disk_;
    }

private:
    Ref<device::Program> wait(std::unique_lock<std::mutex>& lock, const Slot& slot) {
        if (!slot.done) ready_->wait(lock, [&] { return slot.done; });
        if (slot.failure) std::rethrow_exception(slot.failure);
        return slot.program;
    }

    Ref<device::Program> make(const Hash128& key, const CompileSteps& recipe, Slot& slot) {
        Ref<device::Program> program;
        std::exception_ptr failure;
        try {
            const Compiling compiling;
            program = load_or_compile(key, recipe);
        } catch (...) {
            failure = std::current_exception();
        }
        {
            std::lock_guard lock(mutex_);
            slot.program = program;
            slot.failure = failure;
            slot.done = true;
            if (failure) slots_.erase(key);  // those that wait still get it; the next one tries again
            ready_->notify_all();
        }
        if (failure) std::rethrow_exception(failure);
        return program;
    }

    Ref<device::Program> load_or_compile(const Hash128& key, const CompileSteps& recipe) {
        Binary binary;
        if (recipe.packed && recipe.packed(binary)) {
            try {
                if (binary.empty())
                    throw Error(ErrorCode::Compile, std::string(recipe.name) + ": " + Pack::installed().path() + " cannot be read");
                return load(recipe, binary, counters.from_pack);
            } catch (const Error& e) {
                counters.fallbacks.fetch_add(1, std::memory_order_relaxed);
                log(LogLevel::Warn, std::string(recipe.name) + " as it came with pardo does not load, compiling it: " + e.message());
            }
        }
        const std::shared_ptr<Disk> folder = disk();
        const Hash128 file = recipe.file ? recipe.file() : key;
        if (folder->load(file, binary)) {
            try {
                return load(recipe, binary, counters.from_disk);
            } catch (const Error& e) {
                counters.fallbacks.fetch_add(1, std::memory_order_relaxed);
                log(LogLevel::Warn,
                    "program cache: " + std::string(recipe.name) + " from disk does not load, compiling it again: " + e.message());
            }
        }
        Ref<device::Program> program = compile(recipe, binary);
        folder->store(file, binary);
        return program;
    }

    /// Looks at all programs only after as many have come as stay.
    void evict() {
        forget([](const Slot& slot) { return slot.program && slot.program->use_count() == 1; });
        room_ = std::max(most_programs, 2 * slots_.size());
    }

    template <class Which> void forget(Which which) {
        for (auto at = slots_.begin(); at != slots_.end();) at = which(*at->second) ? slots_.erase(at) : std::next(at);
    }

    /// In the child there is one thread; what others were making will never be done.
    void after_fork() {
        forget([](const Slot& slot) { return !slot.done; });
        (void)ready_.release();  // its waiters do not exist here, and destroying it would wait for them
        ready_ = std::make_unique<std::condition_variable>();
        mutex_.unlock();
    }

    std::mutex mutex_;
    std::unique_ptr<std::condition_variable> ready_ = std::make_unique<std::condition_variable>();
    std::unordered_map<Hash128, std::shared_ptr<Slot>> slots_;
    std::shared_ptr<Disk> disk_;
    std::size_t room_ = most_programs;
};

[[maybe_unused]] const Cache& cache_at_start = Cache::instance();  // see at_fork

}  // namespace

Binary pack(std::string_view text, const Binary& binary) {
    Binary both(text.begin(), text.end());
    both.push_back(0);
    both.insert(both.end(), binary.begin(), binary.end());
    return both;
}

std::pair<std::string, Binary> unpack(const Binary& both) {
    const auto end = std::find(both.begin(), both.end(), 0);
    if (end == both.end()) throw Error(ErrorCode::Internal, "a binary without its description");
    return {std::string(both.begin(), end), Binary(end + 1, both.end())};
}

namespace {

const Hash128& build() {
    static const Hash128 hash = hash128(build_id());
    return hash;
}

}  // namespace

Hash128 key(std::string_view text) {
    const Hash128 both[] = {build(), hash128(text)};
    return hash128(both, sizeof both);
}

Hash128 key(const Hash128& kernel, std::string_view rest) {
    const Hash128 all[] = {build(), kernel, hash128(rest)};
    return hash128(all, sizeof all);
}

Ref<device::Program> find(const Hash128& key) { return Cache::instance().find(key); }

Ref<device::Program> get(const Hash128& key, const CompileSteps& recipe) { return Cache::instance().get(key, recipe); }

Ref<device::Program> make(const CompileSteps& recipe) {
    Binary binary;
    return compile(recipe, binary);
}

void keep(const Hash128& key, const Binary& data) { Cache::instance().disk()->store(key, data); }
bool kept(const Hash128& key, Binary& data) { return Cache::instance().disk()->load(key, data); }

DiskState disk_state() { return Cache::instance().disk()->state(); }
void clear_memory() { Cache::instance().clear_memory(); }
void clear_disk() { Cache::instance().disk()->clear(); }

}  // namespace pardo::jit

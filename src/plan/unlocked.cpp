// src/plan/unlocked.cpp: a stretch of a force in which the thread compiles and holds no lock.
#include "plan/unlocked.h"

#include <condition_variable>
#include <mutex>

#include "base/fork.h"

namespace pardo::plan {
namespace {

thread_local unsigned stretches = 0;
thread_local bool compiling_here = false;

/// How many threads compile without a graph lock; a fork keeps others from beginning.
class Compilers {
public:
    static Compilers& instance() {
        static Compilers* const all = [] {
            auto* made = new Compilers;  // outlives every thread
            at_fork(ForkStage::Compilers, {[made] { made->hold(); }, [made] { made->mutex_.unlock(); }, [made] { made->in_child(); }});
            return made;
        }();
        return *all;
    }
    void enter() {
        const std::lock_guard lock(mutex_);
        ++count_;
    }
    void leave() {
        const std::lock_guard lock(mutex_);
        if (--count_ == 0) idle_.notify_all();
    }

private:
    /// A compiler that forks to run another program does not wait for itself.
    void hold() {
        std::unique_lock lock(mutex_);
        if (!compiling_here) idle_.wait(lock, [this] { return count_ == 0; });
        lock.release();
    }
    void in_child() {
        count_ = compiling_here ? 1 : 0;
        mutex_.unlock();
    }
    std::mutex mutex_;
    std::condition_variable idle_;
    int count_ = 0;
};

}  // namespace

Unlocked::Unlocked(graph::GraphLock& lock) : lock_(lock) {
    lock_.unlock();
    blocking_.emplace();
    Compilers::instance().enter();
    compiling_here = true;
    ++stretches;
}

Unlocked::~Unlocked() {
    compiling_here = false;
    Compilers::instance().leave();
    blocking_.reset();
    lock_.lock();
}

unsigned Unlocked::count() noexcept { return stretches; }

}  // namespace pardo::plan

// src/jit/compiling.cpp: how many threads compile.
#include "jit/compiling.h"

#include <condition_variable>
#include <mutex>

#include "base/fork.h"

namespace pardo::jit {
namespace {

thread_local int compiling_here = 0;

/// A fork keeps others from beginning.
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
        if (compiling_here == 0) idle_.wait(lock, [this] { return count_ == 0; });
        lock.release();
    }
    void in_child() {
        count_ = compiling_here == 0 ? 0 : 1;
        mutex_.unlock();
    }
    std::mutex mutex_;
    std::condition_variable idle_;
    int count_ = 0;
};

[[maybe_unused]] const Compilers& compilers_at_start = Compilers::instance();  // see at_fork

}  // namespace

Compiling::Compiling() {
    if (compiling_here++ == 0) Compilers::instance().enter();
}

Compiling::~Compiling() {
    if (--compiling_here == 0) Compilers::instance().leave();
}

}  // namespace pardo::jit

// src/device/pending_program.cpp: programs that are compiled when their first launch has its turn.
#include "device/pending_program.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/affinity.h"
#include "base/fork.h"
#include "device/queue/scheduler.h"

namespace pardo::device {
namespace {

thread_local bool compile_later = false;

/// Threads that compile ahead: one more whenever none is idle. They live as long as the process.
class CompileThreads {
public:
    static CompileThreads& instance() {
        static auto* const all = [] {
            auto* made = new CompileThreads;  // never destroyed: its threads may outlive main
            at_fork(ForkStage::Launches, {[made] { made->compile_all(); }, {}, {}});
            at_fork(ForkStage::Moments, {[made] { made->mutex_.lock(); }, [made] { made->mutex_.unlock(); }, [made] { made->in_child(); }});
            return made;
        }();
        return *all;
    }

    void add(const Ref<PendingProgram>& program) {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
        waiting_.push_back(program);
        if (idle_ < waiting_.size() && threads_ < most_threads_) {
            try {
                const Bound inherit_nothing(any_core());
                std::thread([this] { serve(); }).detach();
                ++threads_;
            } catch (const std::system_error&) {
                if (threads_ == 0) waiting_.pop_back();  // then each is compiled at its turn
                return;
            }
        }
        wake_.notify_one();
    }
    bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
    void close() {
        std::deque<Ref<PendingProgram>> dropped;  // goes after the lock
        std::unique_lock lock(mutex_);
        closed_ = true;
        std::swap(dropped, waiting_);
        ended_.wait(lock, [this] { return running_.empty(); });
    }

private:
    void serve() {
        std::unique_lock lock(mutex_);
        for (;;) {
            ++idle_;
            wake_.wait(lock, [this] { return !waiting_.empty(); });
            --idle_;
            Ref<PendingProgram> program = take();
            lock.unlock();
            program->compile_if_idle();
            lock.lock();
            std::erase(running_, program);
            if (closed_) ended_.notify_all();
            lock.unlock();
            program = nullptr;
            lock.lock();
        }
    }
    Ref<PendingProgram> take() {
        running_.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
        return running_.back();
    }
    /// In the child no thread goes on with what one had begun.
    void compile_all() {
        std::vector<Ref<PendingProgram>> all;
        {
            const std::lock_guard lock(mutex_);
            all = running_;
            all.insert(all.end(), waiting_.begin(), waiting_.end());
            waiting_.clear();
        }
        for (const Ref<PendingProgram>& program : all) program->compile();
    }
    void in_child() {
        for (std::condition_variable* each : {&wake_, &ended_})
            new (each) std::condition_variable;  // the old ones count waiters of the parent
        idle_ = threads_ = 0;
        running_.clear();
        mutex_.unlock();
    }

    std::mutex mutex_;
    std::condition_variable wake_, ended_;
    std::deque<Ref<PendingProgram>> waiting_;
    std::vector<Ref<PendingProgram>> running_;
    std::size_t idle_ = 0, threads_ = 0;
    std::atomic<bool> closed_{false};
    const std::size_t most_threads_ = std::clamp<std::size_t>(cores_of_thread().size(), 1, 8);
};

[[maybe_unused]] const CompileThreads& threads_at_start = CompileThreads::instance();  // see at_fork

}  // namespace

namespace {

/// Compilers make things when they are first used that exit() destroys, the last that was made first: queues come to rest before that.
void finish_at_exit() {
    constexpr int first_uses = 16;
    static std::atomic<int> times{0};
    if (times.fetch_add(1, std::memory_order_relaxed) < first_uses) std::atexit([] { finish_queues(Runner::Process); });
}

}  // namespace

Program* PendingProgram::get() {
    if (Program* const there = made()) return there;
    return make(std::unique_lock(mutex_));
}

void PendingProgram::compile_if_idle() noexcept {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    try {
        (void)make(std::move(lock));
    } catch (...) {
        return;  // get() will throw it
    }
}

Program* PendingProgram::make(std::unique_lock<std::mutex>) {
    if (Program* const there = made()) return there;
    if (failure_) std::rethrow_exception(failure_);
    try {
        program_ = make_();
    } catch (...) {
        failure_ = std::current_exception();
        failed_.store(true, std::memory_order_release);
        throw;
    }
    finish_at_exit();
    make_ = nullptr;
    made_.store(program_.get(), std::memory_order_release);
    return program_.get();
}

void PendingProgram::compile() noexcept {
    try {
        (void)get();
    } catch (...) {
        return;  // get() will throw it
    }
}

Program* ready_program(Program* program) {
    if (!program->pending()) return program;
    auto& later = static_cast<PendingProgram&>(*program);
    if (later.failed_.load(std::memory_order_acquire)) {
        const std::lock_guard lock(later.mutex_);
        later.failure_ = nullptr;
        later.failed_.store(false, std::memory_order_relaxed);
    }
    return later.made();
}

Program* compiled_program(Program* program) { return program->pending() ? static_cast<PendingProgram*>(program)->get() : program; }

Ref<PendingProgram> compile_ahead(Program* program) {
    Ref<PendingProgram> pending(static_cast<PendingProgram*>(program));
    CompileThreads::instance().add(pending);
    return pending;
}

void stop_compiling_ahead() { CompileThreads::instance().close(); }

CompileLater::CompileLater() noexcept : outer_(std::exchange(compile_later, true)) {}

CompileLater::~CompileLater() { compile_later = outer_; }

bool CompileLater::here() noexcept { return compile_later && !CompileThreads::instance().closed(); }

}  // namespace pardo::device

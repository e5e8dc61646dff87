// src/device/queue/helper_thread.cpp: the one thread that runs done-callbacks, and what fork() does to it.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <thread>

#include "base/affinity.h"
#include "base/env.h"
#include "base/fork.h"
#include "device/buffer.h"
#include "device/event.h"

namespace pardo::device {

namespace {

struct Helper {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::function<void()>> work;
    bool started = false;
};

Helper& helper() {
    static auto* instance = new Helper;  // never destroyed: the thread may outlive main
    return *instance;
}
[[maybe_unused]] const Helper& helper_at_start = helper();  // see at_fork

void run_callbacks() {
    Helper& h = helper();
    for (;;) {
        std::function<void()> f;
        {
            std::unique_lock lock(h.mutex);
            h.wake.wait(lock, [&] { return !h.work.empty(); });
            f = std::move(h.work.front());
            h.work.pop_front();
        }
        try {
            f();
        } catch (const std::exception& e) {
            log(LogLevel::Warn, std::string("a done-callback raised: ") + e.what());
        } catch (...) {
            log(LogLevel::Warn, "a done-callback raised something that is not a std::exception");
        }
    }
}

void helper_after_fork() {
    Helper& h = helper();
    new (&h.wake) std::condition_variable;  // the old one counts a waiter that does not exist here
    h.started = false;
    const bool waiting = !h.work.empty();
    h.mutex.unlock();
    if (waiting) run_on_helper_thread([] {});
}

}  // namespace

void install_fork_handlers() {
    static std::once_flag once;
    std::call_once(once, [] {
        at_fork(ForkStage::Moments, {[] { helper().mutex.lock(); }, [] { helper().mutex.unlock(); }, helper_after_fork});
        hold_buffers_at_fork();
    });
}

void run_on_helper_thread(std::function<void()> f) {
    install_fork_handlers();
    Helper& h = helper();
    std::lock_guard lock(h.mutex);
    h.work.push_back(std::move(f));
    if (!h.started) {
        const Bound inherit_nothing(any_core());
        std::thread(run_callbacks).detach();
        h.started = true;
    }
    h.wake.notify_one();
}

}  // namespace pardo::device

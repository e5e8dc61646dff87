// src/run/pool.cpp: threads that sleep between launches; they are made when they are first needed, and made anew in a child of fork.
#include "run/pool.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace pardo::run {
namespace {

std::atomic<int> wanted{0};

int processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(CPU_COUNT(&set), 1);
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

class Pool {
public:
    explicit Pool(int helpers) : process_(::getpid()) {
        try {
            for (int i = 0; i < helpers; ++i) std::thread([this, i] { serve(i); }).detach(), ++helpers_;
        } catch (const std::system_error&) {  // as many as there are
        }
    }
    bool alive() const { return process_ == ::getpid(); }

    void run(int count, const std::function<void(int)>& part) {
        {
            const std::lock_guard lock(mutex_);
            part_ = &part;
            count_ = count;
            next_.store(0, std::memory_order_relaxed);
            left_ = helpers_;
            ++round_;
        }
        begin_.notify_all();
        take();
        std::unique_lock lock(mutex_);
        end_.wait(lock, [&] { return left_ == 0; });
        part_ = nullptr;
    }

private:
    void take() {
        for (int k = next_.fetch_add(1); k < count_; k = next_.fetch_add(1)) (*part_)(k);
    }
    void serve(int) {
        std::uint64_t seen = 0;
        for (;;) {
            {
                std::unique_lock lock(mutex_);
                begin_.wait(lock, [&] { return round_ != seen; });
                seen = round_;
            }
            take();
            const std::lock_guard lock(mutex_);
            if (--left_ == 0) end_.notify_one();
        }
    }
    const pid_t process_;
    std::mutex mutex_;
    std::condition_variable begin_, end_;
    const std::function<void(int)>* part_ = nullptr;
    std::atomic<int> next_{0};
    int count_ = 0, left_ = 0, helpers_ = 0;
    std::uint64_t round_ = 0;
};

std::atomic<bool> busy{false};
Pool* pool = nullptr;  // by `busy`; never destroyed: its threads run until the process ends

}  // namespace

int threads() {
    int count = wanted.load();
    if (count > 0) return count;
    const char* const chosen = std::getenv("PARDO_NUM_THREADS");
    count = chosen ? std::atoi(chosen) : 0;
    if (count < 1) count = processors();
    wanted.store(count);
    return count;
}

void set_threads(int count) { wanted.store(std::max(count, 1)); }

void run_parts(int count, const std::function<void(int)>& part) {
    if (count > 1 && threads() > 1 && !busy.exchange(true)) {
        if (!pool || !pool->alive()) pool = new Pool(threads() - 1);
        pool->run(count, part);
        busy.store(false);
        return;
    }
    for (int k = 0; k < count; ++k) part(k);
}

}  // namespace pardo::run

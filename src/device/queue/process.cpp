// src/device/queue/process.cpp: driver queues around fork() and at exit.
#include <algorithm>
#include <cstdlib>
#include <new>

#include <pardo/exit.h>

#include "base/fork.h"
#include "device/queue/internal.h"

namespace pardo::device {
namespace {

/// All cores of live queues.
struct Cores {
    std::mutex mutex;
    std::vector<DriverCore*> list;
};
Cores& cores() {
    static auto* instance = new Cores;  // never destroyed: threads may outlive main
    return *instance;
}

std::atomic<bool> in_use{false}, forked{false}, exited{false};

std::vector<Ref<DriverCore>> live_cores(const Device* device) {
    std::vector<Ref<DriverCore>> list;
    std::lock_guard lock(cores().mutex);
    for (DriverCore* c : cores().list) {
        if (!device || c->device() == device) list.emplace_back(c);
    }
    return list;
}

std::string fork_message(const Device* device) {
    return (device ? device->id() : std::string("the device")) +
           " cannot be used after fork(); start processes with \"spawn\" (multiprocessing.set_start_method), or use it only in the "
           "children";
}

void before_fork() {
    cores().mutex.lock();
    for (DriverCore* c : cores().list) c->lock_for_fork();
}
void after_fork_in_parent() {
    for (DriverCore* c : cores().list) c->unlock_after_fork();
    cores().mutex.unlock();
}
void after_fork_in_child() {
    forked = in_use.load();
    for (DriverCore* c : cores().list) {
        c->lose_in_child(lost_failure(c->device()));
        c->unlock_after_fork();
    }
    cores().mutex.unlock();
}

void at_exit() {
    if (driver_gone()) return;
    finish_driver_work();
    exited = true;
}

}  // namespace

void driver_in_use() {
    static std::once_flag once;
    std::call_once(once, [] {
        install_fork_handlers();
        at_fork(ForkStage::Moments, {before_fork, after_fork_in_parent, after_fork_in_child});
    });
    in_use = true;
}

void check_not_forked(std::string_view op_name, const Device* device) {
    if (forked.load(std::memory_order_relaxed)) throw Error(ErrorCode::Device, std::string(op_name) + ": " + fork_message(device));
    if (exited.load(std::memory_order_relaxed)) throw Error(ErrorCode::Device, std::string(op_name) + ": the process is exiting");
}

bool driver_gone() noexcept { return forked.load(std::memory_order_relaxed) || exited.load(std::memory_order_relaxed); }

std::shared_ptr<Failure> lost_failure(const Device* device) {
    return std::make_shared<Failure>(Error(ErrorCode::Device, "work submitted before fork() is lost: " + fork_message(device)));
}

void register_exit() { std::atexit(at_exit); }

void add_core(DriverCore* core) {
    driver_in_use();
    static std::once_flag once;
    std::call_once(once, register_exit);
    std::lock_guard lock(cores().mutex);
    cores().list.push_back(core);
}

void remove_core(DriverCore* core) {
    std::lock_guard lock(cores().mutex);
    std::erase(cores().list, core);
}

void DriverCore::lock_for_fork() {
    mutex_.lock();
    watch_mutex_.lock();
}

void DriverCore::unlock_after_fork() {
    watch_mutex_.unlock();
    mutex_.unlock();
}

void DriverCore::lose_in_child(const std::shared_ptr<Failure>& failure) {
    for (auto* list : {&in_flight_, &deferred_}) {
        for (const Ref<DriverEvent>& e : *list) {
            e->taken_ = true;
            e->lose(failure);
        }
    }
    for (const Ref<DriverEvent>& e : finishing_) {
        if (!e->known_done()) e->lose(failure);
    }
    // Nothing is destroyed: what the lists hold may want locks and drivers that are not there.
    for (auto* list : {&in_flight_, &deferred_, &ready_, &tasks_}) new (list) std::deque<Ref<DriverEvent>>;
    new (&last_barrier_) Event;
    new (&markers_) std::deque<Ref<Marker>>;
    for (auto* list : {&finishing_, &watched_}) new (list) std::vector<Ref<DriverEvent>>;
    new (&notified_) std::vector<Ref<DriverEvent>>;
    for (auto* wake : {&work_wake_, &task_wake_, &watch_wake_}) new (wake) std::condition_variable;  // they may count waiters
}

void wait_for_driver_queues(const Device* device) {
    if (inside_task()) return;
    for (const Ref<DriverCore>& c : live_cores(device)) {
        if (!c->waits_for_host()) c->wait_quietly();  // the host signal may have to come from this very thread
    }
}

void sweep_driver_queues(const Device* device) {
    for (const Ref<DriverCore>& c : live_cores(device)) c->sweep();
}

}  // namespace pardo::device

namespace pardo {

void finish_driver_work() {
    if (device::driver_gone()) return;
    for (const Ref<device::DriverCore>& c : device::live_cores(nullptr)) c->stop_for_exit();
}

}  // namespace pardo

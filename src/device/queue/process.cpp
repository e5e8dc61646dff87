// src/device/queue/process.cpp: queues around fork() and at exit.
#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include <pardo/binding/activity.h>
#include <pardo/binding/library.h>

#include "base/fork.h"
#include "device/queue/internal.h"

namespace pardo::device {
namespace {

/// The schedulers of all live queues.
struct Schedulers {
    std::mutex mutex;
    std::vector<Scheduler*> list;
};
Schedulers& schedulers() {
    static auto* instance = new Schedulers;  // never destroyed: threads may outlive main
    return *instance;
}
[[maybe_unused]] const Schedulers& schedulers_at_start = schedulers();  // see at_fork

std::vector<Ref<Scheduler>> live(Runner runner, const Device* device) {
    std::vector<Ref<Scheduler>> list;
    std::lock_guard lock(schedulers().mutex);
    for (Scheduler* s : schedulers().list) {
        if (s->runner() == runner && (!device || s->device() == device)) list.emplace_back(s);
    }
    return list;
}

std::atomic<bool> in_use{false}, forked{false}, exited{false};

/// Threads in compilers of drivers.
struct Compilers {
    std::mutex mutex;
    std::condition_variable changed;
    int running = 0;
    std::optional<std::thread::id> last;  // the only thread that may begin
};
Compilers& compilers() {
    static auto* instance = new Compilers;  // never destroyed: threads may outlive main
    return *instance;
}
[[maybe_unused]] const Compilers& compilers_at_start = compilers();  // see at_fork
thread_local int compiling_here = 0;

/// The child has no other threads.
void forget_compilers() {
    Compilers& c = compilers();
    new (&c.changed) std::condition_variable;
    c.running = compiling_here;
    c.mutex.unlock();
}

void finish_compilers() {
    Compilers& c = compilers();
    std::unique_lock lock(c.mutex);
    c.last = std::this_thread::get_id();
    c.changed.wait(lock, [&] { return c.running == compiling_here; });
}

std::string fork_message(const Device* device) {
    return (device ? device->id() : std::string("the device")) +
           " cannot be used after fork(); start processes with \"spawn\" (multiprocessing.set_start_method), or use it only in the "
           "children";
}

/// Around fork(), those whose work is run so.
template <Runner runner, class F> void for_each_held(F&& f) {
    for (Scheduler* s : schedulers().list) {
        if (s->runner() == runner) f(*s);
    }
}
template <Runner runner> ForkHandler handler() {
    return {[] { for_each_held<runner>([](Scheduler& s) { s.lock_for_fork(); }); },
            [] { for_each_held<runner>([](Scheduler& s) { s.unlock_after_fork(); }); },
            [] {
                for_each_held<runner>([](Scheduler& s) {
                    s.lose_in_child();
                    s.unlock_after_fork();
                });
            }};
}

void at_exit() {
    if (driver_gone()) return;
    finish_driver_work();
    exited = true;
}

}  // namespace

void hold_queues_at_fork() {
    static std::once_flag once;
    std::call_once(once, [] {
        // The list is held while queues whose work this process runs come to rest; those of drivers are only held.
        const auto unlock = [] { schedulers().mutex.unlock(); };
        at_fork(ForkStage::Launches, {[] {
                                          if (inside_task()) return;
                                          for (const Ref<Scheduler>& s : live(Runner::Process, nullptr)) s->compile_pending();
                                      },
                                      {},
                                      {}});
        at_fork(ForkStage::Queues, {[] {
                                        wait_for_queues(Runner::Process);  // without the list: queues may end
                                        schedulers().mutex.lock();
                                    },
                                    unlock, unlock});
        at_fork(ForkStage::Queues, handler<Runner::Process>());
        install_fork_handlers();
        at_fork(ForkStage::Moments, handler<Runner::Driver>());
    });
}

void driver_in_use() {
    static std::once_flag once;
    std::call_once(once, [] {
        hold_queues_at_fork();
        at_fork(ForkStage::Moments, {{}, {}, [] { forked = in_use.load(); }});
        at_fork(ForkStage::Moments, {[] { compilers().mutex.lock(); }, [] { compilers().mutex.unlock(); }, forget_compilers});
    });
    in_use = true;
}

void check_not_forked(std::string_view op_name, const Device* device) {
    if (forked.load(std::memory_order_relaxed)) throw Error(ErrorCode::Device, std::string(op_name) + ": " + fork_message(device));
    if (exited.load(std::memory_order_relaxed)) throw Error(ErrorCode::Device, std::string(op_name) + ": the process is exiting");
}

Compiling::Compiling(std::string_view op_name, const Device* device) {
    check_not_forked(op_name, device);
    Compilers& c = compilers();
    const std::lock_guard lock(c.mutex);
    if (c.last && *c.last != std::this_thread::get_id()) throw NotRun(ErrorCode::Device, std::string(op_name) + ": the process is exiting");
    ++c.running;
    ++compiling_here;
}

Compiling::~Compiling() {
    Compilers& c = compilers();
    const std::lock_guard lock(c.mutex);
    --c.running;
    --compiling_here;
    c.changed.notify_all();
}

bool driver_gone() noexcept { return forked.load(std::memory_order_relaxed) || exited.load(std::memory_order_relaxed); }

std::shared_ptr<Failure> lost_failure(const Device* device) {
    return Failure::make(Error(ErrorCode::Device, "work submitted before fork() is lost: " + fork_message(device)));
}

void register_exit() { std::atexit(at_exit); }

void Scheduler::open() {
    hold_queues_at_fork();
    std::lock_guard lock(schedulers().mutex);
    schedulers().list.push_back(this);
}

void Scheduler::leave() {
    std::lock_guard lock(schedulers().mutex);
    std::erase(schedulers().list, this);
}

void DriverCore::lock_for_fork() {
    mutex_.lock();
    watch_mutex_.lock();
}

void DriverCore::unlock_after_fork() {
    watch_mutex_.unlock();
    mutex_.unlock();
}

void DriverCore::lose_in_child() {
    lose(lost_failure(device_));
    new (&in_flight_) std::deque<Ref<DriverEvent>>;
    new (&host_tasks_) std::deque<Ref<ScheduledEvent>>;
    new (&markers_) std::deque<Ref<Marker>>;
    for (auto* list : {&watched_, &notified_}) new (list) std::vector<Ref<DriverEvent>>;
    for (auto* wake : {&task_wake_, &watch_wake_}) new (wake) std::condition_variable;
}

void wait_for_queues(Runner runner, const Device* device) {
    if (inside_task()) return;
    for (const Ref<Scheduler>& s : live(runner, device)) s->wait_for_ungated();
}

void sweep_driver_queues(const Device* device) {
    for (const Ref<Scheduler>& s : live(Runner::Driver, device)) static_cast<DriverCore&>(*s).sweep();
}

void finish_queues(Runner runner) {
    stop_compiling_ahead();
    const std::vector<Ref<Scheduler>> list = live(runner, nullptr);
    for (const Ref<Scheduler>& s : list) s->stop_for_exit();
    for (const Ref<Scheduler>& s : list) s->finish_for_exit();
}

}  // namespace pardo::device

namespace pardo {

void finish_driver_work() {
    if (device::driver_gone()) return;
    device::finish_compilers();
    device::finish_queues(device::Runner::Driver);
}

void finish_compiling() {
    for (const device::Runner runner : {device::Runner::Process, device::Runner::Driver}) {
        for (const Ref<device::Scheduler>& s : device::live(runner, nullptr)) s->compile_pending();
    }
    device::stop_compiling_ahead();
}

std::vector<QueueWork> unfinished_work() {
    if (!device::driver_gone()) device::sweep_driver_queues(nullptr);
    std::vector<QueueWork> all;
    for (const device::Runner runner : {device::Runner::Process, device::Runner::Driver}) {
        for (const Ref<device::Scheduler>& s : device::live(runner, nullptr)) {
            if (QueueWork work = s->work(); work.unfinished > 0) all.push_back(std::move(work));
        }
    }
    return all;
}

std::vector<UnfinishedWork> finish_driver_work_within(std::chrono::milliseconds limit) {
    if (device::driver_gone()) return {};
    const auto end = std::chrono::steady_clock::now() + limit;
    device::finish_compilers();
    const std::vector<Ref<device::Scheduler>> list = device::live(device::Runner::Driver, nullptr);
    for (const Ref<device::Scheduler>& s : list) s->stop_for_exit();
    std::vector<UnfinishedWork> left;
    for (const Ref<device::Scheduler>& s : list) s->collect_unfinished(end, left);
    if (left.empty()) device::finish_queues(device::Runner::Driver);
    return left;
}

}  // namespace pardo

// src/jit/progress.cpp: a thread that reports on a compiler that takes long.
#include "jit/progress.h"

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include <pardo/binding/activity.h>
#include <pardo/binding/hooks.h>
#include <pardo/error.h>
#include <pardo/log.h>

#include "base/env.h"
#include "base/fork.h"

namespace pardo::jit {
namespace {

using namespace std::chrono;

std::atomic<ProgressSink> sink{nullptr};
constexpr std::size_t most_name = 60;  // a line of a terminal

/// Seconds after which a compilation is told of; nothing: never.
std::optional<double> read_delay() {
    const std::optional<std::string> text = env("PARDO_PROGRESS");
    if (!text) return 1.0;
    if (*text == "off" || *text == "0") return std::nullopt;
    double seconds = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
    if (error != std::errc() || end != text->data() + text->size() || !(seconds > 0 && seconds < 1e6)) {
        warn_once("PARDO_PROGRESS", "PARDO_PROGRESS=" + *text + ": expected seconds, or off");
        return 1.0;
    }
    return seconds;
}

/// What compilers are working on.
struct AtWork {
    HeldMutex mutex;
    std::list<Progress::Running> list;
};
AtWork& at_work() {
    static auto* instance = new AtWork;  // never destroyed: threads may outlive main
    return *instance;
}
[[maybe_unused]] const AtWork& at_work_at_start = at_work();  // see at_fork

}  // namespace

struct Progress::Teller {
    Teller(std::string kernel, double delay_s) : name(std::move(kernel)), delay(delay_s), thread([this] { run(); }) {}
    ~Teller() {
        {
            const std::lock_guard lock(mutex);
            over = true;
        }
        ended.notify_one();
        thread.join();
    }
    void run() {
        const auto start = steady_clock::now();
        std::unique_lock lock(mutex);
        bool told = false;
        for (auto next = start + duration_cast<steady_clock::duration>(duration<double>(delay)); !over; next += seconds(1)) {
            if (ended.wait_until(lock, next, [this] { return over; })) break;
            const auto took = duration_cast<seconds>(steady_clock::now() - start).count();
            if (auto* tell = sink.load(std::memory_order_acquire)) tell("compiling " + name + ", " + std::to_string(took) + " s so far");
            told = true;
        }
        if (auto* tell = sink.load(std::memory_order_acquire); told && tell) tell({});
    }
    const std::string name;
    const double delay;
    std::mutex mutex;
    std::condition_variable ended;
    bool over = false;
    std::thread thread;  // last: it reads the others
};

Progress::Progress(std::string_view name, std::string_view device) {
    {
        AtWork& all = at_work();
        const std::lock_guard lock(all.mutex);
        running_ = all.list.insert(all.list.end(), {std::string(name), std::string(device), steady_clock::now()});
    }
    if (!sink.load(std::memory_order_acquire)) return;
    static const std::optional<double> delay = read_delay();
    if (!delay) return;
    try {
        const std::string place = device.empty() ? std::string() : " for " + std::string(device);
        teller_ = std::make_unique<Teller>(std::string(name.substr(0, most_name)) + place, *delay);
    } catch (const std::system_error&) {
        // No thread can be made: there is no message, and the compiler goes on.
    }
}

Progress::~Progress() {
    teller_.reset();
    AtWork& all = at_work();
    const std::lock_guard lock(all.mutex);
    all.list.erase(running_);
}

}  // namespace pardo::jit

namespace pardo {

std::vector<Compilation> compilations() {
    std::vector<Compilation> all;
    jit::AtWork& at_work = jit::at_work();
    const std::lock_guard lock(at_work.mutex);
    const auto now = std::chrono::steady_clock::now();
    for (const jit::Progress::Running& each : at_work.list)
        all.push_back({each.name, each.device, std::chrono::duration<double>(now - each.start).count()});
    return all;
}

void set_progress_sink(ProgressSink fresh) { jit::sink.store(fresh, std::memory_order_release); }

}  // namespace pardo

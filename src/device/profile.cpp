// src/device/profile.cpp: the logs of open profiles: bounded, shared by all threads, read when the work is over.
#include "device/profile.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/fork.h"

namespace pardo::device {
/// A record as it is kept: events are let go of as soon as their times are known.
struct ProfileEntry {
    ProfileRecord record;
    std::uint64_t queue = 0;  // serial
    bool canonical = false, in_order = true;
    Event event;
    bool settled = true;
};

namespace {

void settle(ProfileEntry& entry) {
    if (entry.settled) return;
    const Profiling times = entry.event.state() ? entry.event.state()->times() : Profiling();
    ProfileRecord& r = entry.record;
    r.failed = entry.event.state() && entry.event.state()->known_status() == EventStatus::Failed;
    if (times.queued) r.queued = times.queued;
    // What depended on failed work never ran.
    r.start = times.start ? times.start : r.queued;
    r.end = std::max(times.end, r.start);
    entry.event = Event();
    entry.settled = true;
}

}  // namespace

/// What one profile has seen. All logs are under one lock, that of the open ones; under it no driver is asked what is complete.
class ProfileLog {
public:
    explicit ProfileLog(std::size_t most) : most_(most) {}

    void add(const ProfileEntry& entry) {
        if (entries_.size() >= most_) {
            ++dropped;
            return;
        }
        entries_.push_back(entry);
        // Now and then, what is complete gives its events back.
        if (entries_.size() % settle_interval != 0) return;
        for (; settled_ < entries_.size() && known_done(entries_[settled_].event); ++settled_) settle(entries_[settled_]);
    }
    std::vector<Event> unfinished() const {
        std::vector<Event> events;
        for (const ProfileEntry& e : entries_) {
            if (!known_done(e.event)) events.push_back(e.event);
        }
        return events;
    }
    std::vector<ProfileRecord> records();

    std::uint64_t dropped = 0;
    const std::int64_t started = now_ns();
    std::int64_t stopped = 0;

private:
    static constexpr std::size_t settle_interval = 1024;

    const std::size_t most_;
    std::vector<ProfileEntry> entries_;
    std::size_t settled_ = 0;  // entries before this one
};

std::vector<ProfileRecord> ProfileLog::records() {
    std::vector<ProfileRecord> records;
    std::map<std::uint64_t, int> numbers;     // of the queues that are not canonical
    std::map<std::string, int> next_numbers;  // by device
    for (ProfileEntry& e : entries_) {
        if (!known_done(e.event)) continue;  // submitted a moment ago: the profile is still open
        settle(e);
        records.push_back(e.record);
        ProfileRecord& r = records.back();
        if (e.queue == 0) {
            r.queue = "compiler";
            continue;
        }
        r.queue = r.device;
        if (e.canonical) continue;
        const auto [number, fresh] = numbers.try_emplace(e.queue, 0);
        if (fresh) number->second = ++next_numbers[r.device];
        r.queue += " queue " + std::to_string(number->second) + (e.in_order ? "" : " (out of order)");
    }
    std::stable_sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    return records;
}

std::atomic<int> open_profiles{0};

namespace {

struct OpenLogs {
    HeldMutex mutex;
    std::vector<std::shared_ptr<ProfileLog>> logs;
};
OpenLogs& open_logs() {
    static auto* const instance = new OpenLogs;  // never destroyed: work may be in flight at exit
    return *instance;
}
[[maybe_unused]] const OpenLogs& open_logs_at_start = open_logs();  // see at_fork

void add_to_all(const ProfileEntry& entry) {
    OpenLogs& open = open_logs();
    const std::lock_guard lock(open.mutex);
    for (const auto& log : open.logs) log->add(entry);
}

ProfileEntry entry_of(Submission&& s) {
    ProfileEntry entry;
    ProfileRecord& r = entry.record;
    r.activity = s.activity;
    r.name = s.label.name.str();
    r.location = s.label.location.empty() ? current_location().str() : s.label.location.str();
    r.device = s.queue->device()->id();
    r.bytes_read = s.amount.bytes_read;
    r.bytes_written = s.amount.bytes_written;
    r.operations = s.amount.operations;
    entry.queue = s.queue->serial();
    entry.canonical = s.queue == s.queue->device()->queue();
    entry.in_order = s.queue->order() == QueueOrder::InOrder;
    return entry;
}

}  // namespace

void record(Submission submission, const Event& event) {
    if (submission.label.name.empty()) return;  // the library's own, that only keeps an order
    ProfileEntry entry = entry_of(std::move(submission));
    entry.record.queued = now_ns();  // unless the event knows better
    entry.event = event;
    entry.settled = false;
    add_to_all(entry);
}

void record(Submission submission, std::int64_t start, std::int64_t end) {
    ProfileEntry entry = entry_of(std::move(submission));
    entry.record.queued = entry.record.start = start;
    entry.record.end = end;
    add_to_all(entry);
}

void record_program(Activity activity, std::string_view kernel, std::int64_t start, std::int64_t end) {
    ProfileEntry entry;
    entry.record.activity = activity;
    entry.record.name = kernel;
    entry.record.location = current_location().str();
    entry.record.queued = entry.record.start = start;
    entry.record.end = end;
    add_to_all(entry);
}

Label label_of(const Launch& launch) {
    Label label = launch.label ? launch.label(launch.label_data) : Label();
    if (label.name.empty()) label.name = launch.program->name();
    if (label.location.empty()) label.location = current_location();
    return label;
}

}  // namespace pardo::device

namespace pardo {

using device::open_logs;

Profile::Profile(std::size_t most_records) : log_(std::make_shared<device::ProfileLog>(most_records)) {
    const std::lock_guard lock(open_logs().mutex);
    open_logs().logs.push_back(log_);
    device::open_profiles.fetch_add(1, std::memory_order_relaxed);
}

Profile::~Profile() { stop(); }

void Profile::stop() {
    const std::lock_guard lock(open_logs().mutex);
    if (std::erase(open_logs().logs, log_) == 0) return;
    device::open_profiles.fetch_sub(1, std::memory_order_relaxed);
    log_->stopped = device::now_ns();
}

std::vector<Event> Profile::unfinished() const {
    std::vector<Event> events;
    {
        const std::lock_guard lock(open_logs().mutex);
        events = log_->unfinished();
    }
    std::erase_if(events, [](const Event& e) { return e.done(); });
    return events;
}

std::vector<ProfileRecord> Profile::records() const {
    for (const Event& e : unfinished()) e.state()->wait_quietly();
    const std::lock_guard lock(open_logs().mutex);
    return log_->records();
}

std::uint64_t Profile::dropped() const {
    const std::lock_guard lock(open_logs().mutex);
    return log_->dropped;
}

std::int64_t Profile::started() const { return log_->started; }

std::int64_t Profile::stopped() const {
    const std::lock_guard lock(open_logs().mutex);
    return log_->stopped ? log_->stopped : device::now_ns();
}

}  // namespace pardo

// src/launch/log.cpp: takes a kernel's log apart, and hands its lines to the printer.
#include "launch/log.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <tuple>

#include <pardo/binding/kernel.h>

#include "base/fork.h"
#include "device/event.h"
#include "device/waiting.h"
#include "ir/eval.h"

namespace pardo {
namespace {

/// Never freed: a kernel may end while another printer is set.
std::atomic<const Printer*> printer = nullptr;

/// What has not printed yet. Never freed: threads may print while the process ends.
struct Unprinted {
    HeldMutex mutex;
    std::vector<Event> events;
};
Unprinted& unprinted = *new Unprinted;

}  // namespace

void set_printer(Printer given) { printer = new Printer(std::move(given)); }

void finish_prints() {
    std::vector<Event> events;
    {
        const std::lock_guard lock(unprinted.mutex);
        events.swap(unprinted.events);
    }
    for (const Event& e : events) {
        if (!e.state()->waits_for_user_event()) e.state()->wait_done();
    }
}

namespace launch {
namespace {

/// The values of a print, from its words on.
std::vector<KernelArgument> values_of(const lang::Print& print, const std::int64_t* words, bool fp64) {
    const auto real = [&](std::int64_t word) {
        return fp64 ? std::bit_cast<double>(word) : static_cast<double>(std::bit_cast<float>(static_cast<std::int32_t>(word)));
    };
    std::vector<KernelArgument> out;
    for (const lang::ArgumentType& type : print.layout) {
        KernelArgument& a = out.emplace_back();
        if (type.kind == lang::ArgumentType::Kind::Tuple) {
            a.kind = KernelArgument::Kind::Tuple;
            a.parts = type.parts;
            a.names = type.names;
            a.structure = type.structure;
            a.records = type.records;
            continue;
        }
        if (is_complex(type.dtype)) {
            a.scalar = Scalar(std::complex<double>(real(words[0]), real(words[1])));
            ++words;
        } else if (is_float(type.dtype)) {
            a.scalar = Scalar(real(*words));
        } else {
            a.scalar = Scalar(*words);
        }
        ++words;
        a.scalar = a.scalar.cast(type.dtype);
        a.scalar.weak = type.weak;
    }
    return out;
}

/// Whether it is one of the queue's that has not ended: one that has may stay in the list for a moment.
auto is_left_of(const device::Queue* queue) {
    return [queue](const Event& e) { return e.state()->queue() == queue && !device::known_done(e); };
}

}  // namespace

void note_printing(const Event& printing) {
    device::EventState* const state = printing.state();
    if (!state || state->done()) return;
    {
        const std::lock_guard lock(unprinted.mutex);
        unprinted.events.push_back(printing);
    }
    state->subscribe([state] {  // a handle that stayed would delay the report of its failure
        Event printed;          // goes after the lock: its failure may be reported then
        const std::lock_guard lock(unprinted.mutex);
        const auto at = std::ranges::find_if(unprinted.events, [state](const Event& e) { return e.state() == state; });
        if (at == unprinted.events.end()) return;
        printed = std::move(*at);
        unprinted.events.erase(at);
    });
}

Event last_printing(const device::Queue* queue) {
    const std::lock_guard lock(unprinted.mutex);
    const auto last = std::find_if(unprinted.events.rbegin(), unprinted.events.rend(), is_left_of(queue));
    return last == unprinted.events.rend() ? Event() : *last;
}

void limit_printing(const device::Queue* queue) {
    constexpr int most = 256;  // logs of 1 MiB
    Event first;
    int left = 0;
    {
        const std::lock_guard lock(unprinted.mutex);
        for (const Event& e : unprinted.events) {
            if (is_left_of(queue)(e) && left++ == 0) first = e;
        }
    }
    // A UserEvent or a host task that it waits for may have to come from this very thread.
    if (left > most && !device::inside_task() && first.state()->pending_host_signals().empty()) device::wait_without_locks(first);
}

void print_all(std::span<const std::int64_t> log, const std::vector<lang::Print>& prints, bool fp64, const std::string& name) {
    const auto words_of = [](const lang::Print& p) {
        std::int64_t words = 2;
        for (const lang::ArgumentType& type : p.layout)
            words += type.kind == lang::ArgumentType::Kind::Tuple ? 0 : is_complex(type.dtype) ? 2 : 1;
        return words;
    };
    const std::int64_t room = lang::Lowered::log_words - 1;
    struct Entry {
        std::int64_t item, at;
    };
    std::vector<Entry> entries;
    std::int64_t at = 1;
    while (at - 1 < std::min(log[0], room)) {
        const auto site = static_cast<std::size_t>(log[static_cast<std::size_t>(at)]);
        if (site == 0 || site > prints.size()) break;  // after the last that had room
        entries.push_back({log[static_cast<std::size_t>(at + 1)], at});
        at += words_of(prints[site - 1]);
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return std::tie(a.item, a.at) < std::tie(b.item, b.at); });
    const Printer* print_line = printer;
    if (!print_line) return;
    for (const Entry& e : entries) {
        const std::int64_t* words = log.data() + e.at;
        const lang::Print& print = prints[static_cast<std::size_t>(words[0] - 1)];
        (*print_line)(print.format, values_of(print, words + 2, fp64));
    }
    if (log[0] > at - 1) (*print_line)("[" + name + ": more was printed than there is room for, and is lost]\n", {});
}

}  // namespace launch
}  // namespace pardo

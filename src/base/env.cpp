// src/base/env.cpp: reads environment variables and hands log lines to the installed sink.
#include "base/env.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_set>
#include <utility>

#include <pardo/error.h>

#include "base/fork.h"

namespace pardo {
namespace {

void drop(LogLevel, std::string_view) {}

std::atomic<LogSink> sink{drop};

std::string lower(std::string text) {
    for (char& c : text) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return text;
}

/// Level of a word; nothing for an unknown word.
std::optional<LogLevel> parse_level(const std::optional<std::string>& word) {
    constexpr std::pair<std::string_view, LogLevel> levels[] = {
        {"off", LogLevel::Off}, {"0", LogLevel::Off}, {"warn", LogLevel::Warn}, {"info", LogLevel::Info}, {"debug", LogLevel::Debug}};
    if (!word) return LogLevel::Warn;
    const std::string key = lower(*word);
    for (const auto& [name, level] : levels) {
        if (key == name) return level;
    }
    return {};
}

/// The level of PARDO_LOG. An unknown word is the first warning and counts as the default: logging must not fail.
LogLevel wanted_level() {
    const std::optional<std::string> word = env("PARDO_LOG");
    const std::optional<LogLevel> level = parse_level(word);
    if (!level) sink.load(std::memory_order_acquire)(LogLevel::Warn, "pardo: PARDO_LOG=" + *word + ": expected off, warn, info or debug");
    return level.value_or(LogLevel::Warn);
}

}  // namespace

std::optional<std::string> env(const char* name) {
    const char* value = ::secure_getenv(name);  // null where a program has rights that its caller lacks
    if (!value || !*value) return std::nullopt;
    return std::string(value);
}

bool env_flag(const char* name, bool fallback) {
    const std::optional<std::string> value = env(name);
    if (!value) return fallback;
    const std::string word = lower(*value);
    for (const char* yes : {"1", "on", "true", "yes"}) {
        if (word == yes) return true;
    }
    for (const char* no : {"0", "off", "false", "no"}) {
        if (word == no) return false;
    }
    throw Error(ErrorCode::Value, std::string(name) + "=" + *value + ": expected 1, on, true, yes, or 0, off, false, no");
}

TemporaryVariable::TemporaryVariable(std::string name, std::string_view value) : name_(std::move(name)) {
    if (!environ || ::getenv(name_.c_str())) return;
    before_ = environ;
    std::size_t count = 0;
    while (before_[count]) ++count;
    list_ = static_cast<char**>(std::malloc((count + 2) * sizeof(char*)));  // not freed, as the entry: a thread may be reading them
    if (!list_) throw std::bad_alloc();
    std::copy_n(before_, count, list_);
    list_[count] = ::strdup((name_ + "=" + std::string(value)).c_str());
    list_[count + 1] = nullptr;
    __atomic_store_n(&environ, list_, __ATOMIC_RELEASE);
}

TemporaryVariable::~TemporaryVariable() {
    if (!list_) return;
    if (environ == list_)
        __atomic_store_n(&environ, before_, __ATOMIC_RELEASE);
    else
        ::unsetenv(name_.c_str());  // another one has been set since, in a list of its own
}

LogLevel log_level() {
    static const LogLevel level = wanted_level();
    return level;
}

void log(LogLevel level, std::string_view text) {
    if (level == LogLevel::Off || level > log_level()) return;
    sink.load(std::memory_order_acquire)(level, "pardo: " + std::string(text));
}

void set_log_sink(LogSink fresh) { sink.store(fresh ? fresh : drop, std::memory_order_release); }

namespace {

struct Warned {
    HeldMutex mutex;
    std::unordered_set<std::string> seen;
};
Warned& warned() {
    static auto& all = *new Warned;
    return all;
}
[[maybe_unused]] const Warned& warned_at_start = warned();  // see at_fork

}  // namespace

void warn_once(std::string_view once_key, std::string_view text) {
    {
        std::lock_guard lock(warned().mutex);
        if (!warned().seen.emplace(once_key).second) return;
    }
    log(LogLevel::Warn, text);
}

}  // namespace pardo

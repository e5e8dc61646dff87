// src/base/counters.cpp: the process-wide counts.
#include "base/counters.h"

#include <pardo/binding/hooks.h>

#include "base/env.h"

namespace pardo {

Counters counters;

void note_copy(std::int64_t bytes) { count_copy(bytes); }

void note_fallback(std::string_view text) {
    counters.fallbacks.fetch_add(1, std::memory_order_relaxed);
    log(LogLevel::Info, text);
}

}  // namespace pardo

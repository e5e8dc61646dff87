// src/plan/unlocked.cpp: a stretch of a force in which the thread holds no lock.
#include "plan/unlocked.h"

namespace pardo::plan {
namespace {

thread_local unsigned stretches = 0;

}  // namespace

Unlocked::Unlocked(graph::GraphLock& lock, For what) : lock_(lock) {
    lock_.unlock();
    ++stretches;
    if (what != For::Compiling) return;
    blocking_.emplace();
    compiling_.emplace();
}

Unlocked::~Unlocked() {
    compiling_.reset();
    blocking_.reset();
    lock_.lock();
}

unsigned Unlocked::count() noexcept { return stretches; }

}  // namespace pardo::plan

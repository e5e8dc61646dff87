// src/run/pool.h: threads for the parts of a launch.
// This folder: pardo/run.h, a small library of its own: programs from files on the host, without anything that compiles.
#pragma once

#include <cstdint>
#include <functional>

namespace pardo::run {

/// How many threads a launch may use; the caller is one.
int threads();
void set_threads(int count);
/// Runs part(0) to part(count - 1), on the pool's threads and the caller; at most threads() of them. A caller that finds the threads at
/// work for another runs all parts itself.
void run_parts(int count, const std::function<void(int)>& part);

}  // namespace pardo::run

// examples/cpp/timing.h: how long something takes.
#pragma once

#include <algorithm>
#include <chrono>

/// The shortest of `runs` calls of `f`, in milliseconds.
template <class F> double best_ms(int runs, F&& f) {
    double best = 1e300;
    for (int i = 0; i < runs; ++i) {
        const auto start = std::chrono::steady_clock::now();
        f();
        const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
        best = std::min(best, passed.count());
    }
    return best;
}

// examples/cpp/heat.cpp: heat spreads over a plate whose edges stay cold, by slices of arrays alone, checked against plain loops.
// heat [ROWS COLUMNS STEPS]: of another size than 600 x 800, 200 steps, it is timed only.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <pardo/ops.h>

#include "timing.h"

using namespace pardo;

namespace {

/// A cold plate with a hot disc.
std::vector<double> hot_plate(std::int64_t rows, std::int64_t columns) {
    const std::int64_t middle = rows / 2, centre = columns / 2, radius = rows / 8;
    std::vector<double> plate(rows * columns);
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) plate[i * columns + j] = std::hypot(i - middle, j - centre) < radius ? 1 : 0;
    return plate;
}

/// Explicit Euler, a quarter of the largest stable step. `around` ends with the call: nothing refers to it, so it is never stored.
Array inner(const Array& now) {
    const Slice middle = slice(1, -1), before = slice(-2), after = slice(2, {});
    const Array here = now[{middle, middle}];
    const Array around = now[{before, middle}] + now[{after, middle}] + now[{middle, before}] + now[{middle, after}];
    return here + 0.0625 * (around - 4 * here);
}

Array spread(const Array& plate, int steps) {
    Array now = plate.copy(), then = plate.copy();
    for (int step = 0; step < steps; ++step) {
        then.set({slice(1, -1), slice(1, -1)}, inner(now));
        std::swap(now, then);
    }
    return now.wait();
}

/// By plain loops.
std::vector<double> spread(std::vector<double> now, std::int64_t rows, std::int64_t columns, int steps) {
    std::vector<double> then = now;
    for (int step = 0; step < steps; ++step) {
        for (std::int64_t i = 1; i < rows - 1; ++i) {
            for (std::int64_t at = i * columns + 1; at < (i + 1) * columns - 1; ++at) {
                const double around = now[at - columns] + now[at + columns] + now[at - 1] + now[at + 1];
                then[at] = now[at] + 0.0625 * (around - 4 * now[at]);
            }
        }
        std::swap(now, then);
    }
    return now;
}

}  // namespace

int main(int count, char** words) {
    const bool sized = count == 4;
    const std::int64_t rows = sized ? std::atoll(words[1]) : 600, columns = sized ? std::atoll(words[2]) : 800;
    const int steps = sized ? std::atoi(words[3]) : 200;
    const std::vector<double> plate = hot_plate(rows, columns);
    const Array start = reshape(array(plate), {rows, columns});
    Array end;
    spread(start, 2);  // compiles
    const double ms = best_ms(1, [&] { end = spread(start, steps); });
    std::printf("%d steps of %lld x %lld points on %s: %.1f ms, the hottest is at %.4f\n", steps, static_cast<long long>(rows),
                static_cast<long long>(columns), end.device().id().c_str(), ms, max(end).item<double>());
    if (sized) return 0;
    const Array expected = reshape(array(spread(plate, rows, columns, steps)), {rows, columns});
    return max(absolute(end - expected)).item<double>() < 1e-12 ? 0 : 1;
}

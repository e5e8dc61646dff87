// src/routines/cpu/sort/cut.cpp: where sorted runs are to be cut so that all before the cuts come first.
// Reference: P. J. Varman, S. D. Scheufler, B. R. Iyer, G. R. Ricard, "Merging multiple lists on hierarchical-memory multiprocessors",
// Journal of Parallel and Distributed Computing 12, 1991.
#include <algorithm>
#include <vector>

#include "routines/cpu/keys.h"
#include "routines/cpu/task.h"
#include "routines/memory.h"
#include "routines/runs.h"

namespace pardo::routines {

namespace {

template <class T> struct Run {
    const T* elements;
    std::int64_t low, high;  // the cut is not before, and not behind
    std::int64_t before;     // elements that come before the one that is looked at
};

/// Cuts so that `target` elements are before. Each step looks at the middle of the longest run that is left: by how many elements come
/// before that one it is inside or outside, and with it a part of every run.
template <class T> void cut(std::vector<Run<T>>& runs, std::int64_t target, bool descending) {
    const KeyOrder<T> before{descending};
    const auto length = [](const Run<T>& r) { return r.high - r.low; };
    for (;;) {
        const auto longest = std::ranges::max_element(runs, {}, length);
        if (length(*longest) == 0) return;
        const std::int64_t middle = longest->low + length(*longest) / 2;
        const KeyOf<T> key = Codec<T>::rank(longest->elements[middle]);
        std::int64_t rank = 0;
        for (auto r = runs.begin(); r != runs.end(); ++r) {
            // Equal elements come first in earlier runs.
            const auto passes = [&](const T& element) {
                const KeyOf<T> other = Codec<T>::rank(element);
                return r < longest ? !before(key, other) : before(other, key);
            };
            r->before = r == longest ? middle : std::partition_point(r->elements + r->low, r->elements + r->high, passes) - r->elements;
            rank += r->before;
        }
        const bool inside = rank < target;
        for (Run<T>& r : runs) (inside ? r.low : r.high) = r.before;
        if (inside) longest->low = middle + 1;
    }
}

void cpu_cut_runs(device::Queue* queue, std::span<const Memory> runs, const Memory& out, std::span<const std::int64_t> targets,
                  bool descending) {
    std::vector<const Memory*> reads;
    reads.reserve(runs.size());
    for (const Memory& run : runs) reads.push_back(&run);
    const Memory* const writes[] = {&out};
    const double cost = static_cast<double>(targets.size() * runs.size() * runs.size()) * 2000 + 200;
    const std::vector<Memory> memories(runs.begin(), runs.end());
    const std::vector<std::int64_t> wanted(targets.begin(), targets.end());
    submit(queue, "cut_runs", cost, std::span<const Memory* const>(reads), writes, [=] {
        visit_dtype(memories[0].dtype, [&]<class T>(std::type_identity<T>) {
            auto* to = reinterpret_cast<std::int64_t*>(out.address());
            for (const std::int64_t target : wanted) {
                std::vector<Run<T>> bounds;
                bounds.reserve(memories.size());
                for (const Memory& memory : memories) bounds.push_back({reinterpret_cast<const T*>(memory.address()), 0, memory.size(), 0});
                cut(bounds, target, descending);
                for (const Run<T>& bound : bounds) *to++ = bound.low;
            }
        });
    });
}

const Registered cut_runs_here(routines::cut_runs, {"threads", DeviceKinds::Processor, cpu_cut_runs});

}  // namespace

}  // namespace pardo::routines

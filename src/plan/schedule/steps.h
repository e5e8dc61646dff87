// src/plan/schedule/steps.h: changes of a loop nest, in order: who decides adds one to the list, one function carries it out, explain shows
// them.
#pragma once

#include <string>

#include "base/small_vector.h"
#include "plan/size.h"

namespace pardo::plan {

struct KernelPlan;

/// One change of a kernel's loops, which are numbered from the outermost one on.
struct ScheduleStep {
    enum class Kind : std::uint8_t {
        Reorder,  // the loops in the order `order`
        Merge,    // loop `at` and the next one become one
        Single,   // there is no loop: one that runs once
        Inside,   // the last loop of the range goes behind all others, and runs inside an item
        Unroll,   // the last loop of the range is written out inside an item
        Lanes,    // loop `at`, the last one of the range, or of all, runs across lanes
        Split,    // loop `at`, inside an item: an item runs `length` of it, and a new loop `counter` of the range counts these blocks
        Tile,     // loop `at` of the range: an item runs `length` of it, as its innermost loop
    };
    Kind kind;
    int at = 0, counter = 0;
    Size length = 0;
    SmallVector<int, 8> order = {};
};

/// Carries a step out, and adds it to the kernel's list.
void apply(KernelPlan& kernel, ScheduleStep step);
/// "merge(0, 1)", "split(2, 256)".
std::string text_of(const ScheduleStep& step);

}  // namespace pardo::plan

// src/lang/loops/lane_choice.cpp: a loop becomes the lanes if it can wherever it is met.
#include "lang/loops/lane_choice.h"

#include <utility>

namespace pardo::lang {

void LaneChoice::begin() {
    loops.clear();
    others.clear();
}

void LaneChoice::choose(const Tree& loop, bool can, std::string why, bool outermost) {
    if (can && !others.contains(&loop)) {
        loops.insert(&loop);
    } else if (!can) {
        loops.erase(&loop);
        others.try_emplace(&loop, outermost ? std::move(why) : std::string());
    }
}

void LaneChoice::note_row_loop(bool may_be_lanes) {
    ++inner_loops;
    met_rows = true;
    if (choosing && may_be_lanes) row_loops = true;
}

}  // namespace pardo::lang

// src/lang/loops/lane_choice.h: which loops of an item become the lanes, as the first walk finds, and whether the walk is inside of one.
#pragma once

#include <map>
#include <set>
#include <string>

#include "lang/problem.h"

namespace pardo::lang {

struct LaneChoice {
    bool choosing = false;                      // in the first walk
    bool inside = false;                        // one of them is around
    bool in_rounds = false;                     // a parallel loop inside of a serial one is around
    bool row_loops = false;                     // an item has loops over elements of arrays: those are the lanes
    bool scalar_items = false;                  // or memory whose size is known when it runs
    bool met_rows = false;                      // either of these, since this was last cleared
    int inner_loops = 0;                        // that have been walked, but short ones of known length
    std::set<const Tree*> loops;                // those that become the lanes
    std::map<const Tree*, std::string> others;  // those that do not, and why; empty: not to be told

    /// Forgets what an earlier walk has found.
    void begin();
    /// Notes whether a loop becomes the lanes. It does if it can each time that it is met. Why it cannot is told of outermost loops.
    void choose(const Tree& loop, bool can, std::string why, bool outermost);
    /// Notes a loop over elements of arrays; `may_be_lanes`: of a program that has no lanes otherwise.
    void note_row_loop(bool may_be_lanes);
    /// Whether loops over elements are the lanes here. They are, where items are scalar code: as soon as an item has one of them.
    bool are_row_loops() const { return row_loops && !inside; }
    /// Whether items are scalar code.
    bool makes_scalar() const { return !loops.empty() || row_loops || scalar_items; }
};

}  // namespace pardo::lang

// src/lang/memory/memory.h: the state with which arrays are used: what the program makes for itself, and which loops over elements are
// lanes. This folder: memory: views of arrays, memory of the program's own, lists. It knows no names.
#pragma once

#include <map>
#include <vector>

#include "lang/loops/lane_choice.h"
#include "lang/numbers/emit.h"

namespace pardo::lang {

/// Arrays of the program's own.
struct OwnArrays {
    int made = 0;   // in this walk
    int first = 0;  // of the function that is walked
};

/// Flags of what has been written, of arrays whose reads are checked.
struct WriteFlags {
    std::map<Value, Value> flags;  // by the array
    std::vector<Value> of_groups;  // those of arrays of groups
};

/// Types of the elements of lists, by where these are made, as far as is known.
struct ListTypes {
    std::map<const Tree*, NumberType> types;
    bool changed = false;  // in the walk that is under way
};

struct Memory : Emit {
    using Emit::Emit;

    LaneChoice lanes;
    OwnArrays arrays;
    WriteFlags written;
    ListTypes lists;
};

}  // namespace pardo::lang

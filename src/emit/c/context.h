// src/emit/c/context.h: where the walk over a kernel is: what an instruction is emitted for. Passed by reference to const; a region gets a
// changed copy.
#pragma once

namespace pardo::emit {

struct CContext {
    bool in_lanes_loop = false;  // the items of a team have iterations of their own
    bool loads_move = true;      // the region changes memory once at most: a load may be written where its value is used
};

}  // namespace pardo::emit

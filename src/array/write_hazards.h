// src/array/write_hazards.h: what a routine does before it writes memory that others may still read.
#pragma once

#include <mutex>

#include "array/operand.h"
#include "graph/node.h"

namespace pardo::arrays {

/// Forces x and gives its memory for writing; throws Value "assignment destination is read-only".
Memory writable_memory(const char* op_name, const Array& x);

/// value's elements in `dtype`, row-major, in memory that is not the target's.
Memory detached_memory(const Array& value, DType dtype, const Memory& target);

/// While it lives, nothing can be recorded that reads the target; what had been is handed over first.
class PendingWrite {
public:
    PendingWrite(device::Queue* queue, const Memory& target);

private:
    std::unique_lock<graph::GraphLock> lock_;
};

}  // namespace pardo::arrays

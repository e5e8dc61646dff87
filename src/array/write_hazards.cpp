// src/array/write_hazards.cpp: what a routine does before it writes memory that others may still read.
#include "array/write_hazards.h"

#include "graph/overlap.h"
#include "plan/force.h"

namespace pardo::arrays {

Memory writable_memory(const char* op_name, const Array& x) {
    Memory memory = memory_of(x);
    if (memory.buffer->read_only() || x.node()->read_only) fail(ErrorCode::Value, op_name, "assignment destination is read-only");
    return memory;
}

Memory detached_memory(const Array& value, DType dtype, const Memory& target) {
    Memory memory = contiguous_memory(value, dtype);
    if (graph::may_overlap(memory, target)) memory = memory_of(value.astype(dtype).copy());
    return memory;
}

PendingWrite::PendingWrite(device::Queue* queue, const Memory& target) : lock_(graph::state_of(queue).lock) {
    plan::force_readers(target.buffer.get(), plan::Compile::Unlocked);
}

}  // namespace pardo::arrays

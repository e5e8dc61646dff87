// src/lang/host_memory.h: memory in which a program says to the host what has failed, and what it prints.
#pragma once

#include <vector>

#include "ir/builder.h"
#include "lang/lower.h"

namespace pardo::lang {

struct HostMemory {
    bool uses_status = false, uses_log = false;  // something may fail, or is printed
    ir::Value status = ir::no_value;             // the block of the first failure
    ir::Value log = ir::no_value;
    ir::Value log_real = ir::no_value;  // the same memory as floats

    /// Makes parameters of what is used; `fails`: something may fail in any case. `real`: the device's widest float.
    void declare(ir::Builder& builder, std::vector<Slot>& slots, bool fails, DType real);
};

}  // namespace pardo::lang

// src/emit/llvm/records.h: loads and stores of all fields of small records (real and imaginary part; x, y, z) at once.
#pragma once

#include "emit/llvm/memory.h"

namespace pardo::emit {

/// True if the load's value is in Memory::fields, found now or with an earlier load of its record.
bool load_record(Memory& m, const LaneContext& here, ir::InstrId id);
/// True if the store waits for the rest of its record, or has just completed it.
bool store_record(Memory& m, const LaneContext& here, ir::InstrId id, llvm::Value* value);

}  // namespace pardo::emit

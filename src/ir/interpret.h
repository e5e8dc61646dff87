// src/ir/interpret.h: runs kernels one operation after the other on host memory: the oracle of emitters and passes.
#pragma once

#include <cstdint>
#include <span>

#include "ir/ir.h"

namespace pardo::ir {

/// Runs a kernel for all items of the range. `args` as in device::Launch, one slot a parameter: an address, or the scalar's bytes from the
/// low end; a complex scalar takes two slots, re and im, lowered or not. Lanes loops run in order, and combine what they
/// contribute in pairs. Slow.
void interpret(const Kernel& kernel, std::span<const std::uint64_t> args, std::span<const std::int64_t> extents);

}  // namespace pardo::ir

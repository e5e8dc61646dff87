// src/emit/analysis/packed_key.h: loops that look for the place of a greatest element by one integer of key and place.
#pragma once

#include "emit/analysis/uses.h"
#include "ir/ir.h"

namespace pardo::emit {

/// Where a lanes loop looks for the greatest of `key << 32 | ~place`, and the place counts its iterations: the key, a UInt32; else none.
/// Of equal keys the first one wins then, so that later ones need no look at their places.
ir::Value packed_key(const ir::Kernel& kernel, const Uses& uses, const ir::Instr& loop);

}  // namespace pardo::emit

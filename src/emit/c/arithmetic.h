// src/emit/c/arithmetic.h: instructions that compute.
#pragma once

#include "emit/c/values.h"

namespace pardo::emit {

/// Every instruction without regions that touches no memory.
void arithmetic(CValues& values, const ir::Instr& in);

}  // namespace pardo::emit

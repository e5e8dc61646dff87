// src/emit/analysis/lane_report.h: what of a kernel runs in the lanes of vectors, in words.
#pragma once

#include <string>

#include "ir/ir.h"

namespace pardo::emit {

/// Lines for the user: what the lanes are, where they part, and which accesses to memory are not of neighbours.
std::string lane_report(const ir::Kernel& kernel);

}  // namespace pardo::emit

// src/launch/log.h: how what a kernel prints reaches the printer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <pardo/event.h>

#include "lang/lower.h"

namespace pardo::launch {

/// Prints a kernel's log in the order of the items, and of each item in the order of its prints. `name`: the kernel's.
void print_all(std::span<const std::int64_t> log, const std::vector<lang::Print>& prints, bool fp64, const std::string& name);

/// Notes what prints a log, for finish_prints.
void note_printing(const Event& printing);

}  // namespace pardo::launch

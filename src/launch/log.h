// src/launch/log.h: how what a kernel prints reaches the printer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <pardo/event.h>

#include "device/device.h"
#include "lang/lower.h"

namespace pardo::launch {

/// Prints a kernel's log in the order of the items, and of each item in the order of its prints. `name`: the kernel's.
void print_all(std::span<const std::int64_t> log, const std::vector<lang::Print>& prints, bool fp64, const std::string& name);

/// Notes what prints a log: for finish_prints, and for the two below.
void note_printing(const Event& printing);

/// What prints the log of the queue's last launch that has not printed yet: launches print one after the other, out of order too.
Event last_printing(const device::Queue* queue);

/// Waits where many launches of the queue have still to print: each keeps the memory of its log.
void limit_printing(const device::Queue* queue);

}  // namespace pardo::launch

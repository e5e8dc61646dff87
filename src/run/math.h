// src/run/math.h: the functions that machine code calls: those of a program's own library, and those of the system.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace pardo::run {

/// A shared library that a program has brought along; null where it has none. Throws Value where the system cannot load it.
std::shared_ptr<void> load_library(std::span<const std::uint8_t> bytes);
/// A function of the system's libraries or of this one, by the name that machine code has for it; null if there is none.
void* system_function(const char* name);
/// The same in a library of load_library's, first.
void* function_in(void* library, const char* name);

}  // namespace pardo::run

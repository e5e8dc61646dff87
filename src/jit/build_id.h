// src/jit/build_id.h: tells one build of pardo from another.
#pragma once

#include <string>

namespace pardo::jit {

/// The id that the linker gave to the program or library that holds this code: a hash of all of it, in hexadecimal digits. Empty if it was
/// linked without one.
std::string build_id();

}  // namespace pardo::jit

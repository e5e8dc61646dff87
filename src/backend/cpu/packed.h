// src/backend/cpu/packed.h: kernels that were compiled when pardo was built (docs/design/first-calls.md).
#pragma once

#include <string>

#include "backend/cpu/program.h"
#include "emit/llvm/module.h"

namespace pardo::cpu {

/// What code for a target is found by: the kernel's hash, the compiler, and this build of pardo.
Hash128 packed_key(const Hash128& kernel, const emit::LlvmTarget& target);

/// A kernel's code of this machine's level, empty if it cannot be read; false if pardo came without it.
bool find_packed(const Hash128& kernel, jit::Binary& object);

/// While the wheel is built, PARDO_KERNEL_LISTING names a folder, to which objects for all levels go beside a list of them; empty
/// otherwise.
const std::string& listing_folder();
/// Compiles for all levels at once, or finds what the folder has of an earlier time; an object for this machine.
jit::Binary list_kernel(const ir::Kernel& kernel, const Hash128& hash);

}  // namespace pardo::cpu

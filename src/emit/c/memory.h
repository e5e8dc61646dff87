// src/emit/c/memory.h: arrays of a kernel's own, loads and stores.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "emit/c/context.h"
#include "emit/c/values.h"

namespace pardo::emit {

/// Whose the elements behind a pointer are.
enum class CMemory : std::uint8_t { Global, Group, Private };
CMemory memory_of(const ir::Kernel& kernel, ir::Value pointer);
/// Definitions of the kernel's arrays; those of the group are in the kernel's function, for languages that allow them only there.
std::string array_definitions(const CSource& source, ir::Space space);
/// Definitions of the arrays where lanes loops leave values for later ones.
std::string kept_definitions(const CSource& source);

/// A Load.
void load(CValues& values, const CContext& here, const ir::Instr& in);
/// A Store.
void store(CValues& values, const CContext& here, const ir::Instr& in);
/// Stores of neighbours by one access.
void store_run(CValues& values, std::span<const ir::InstrId> run);

}  // namespace pardo::emit

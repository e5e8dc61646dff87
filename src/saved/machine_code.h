// src/saved/machine_code.h: object files of kernels into executable memory, without a linker.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace pardo::saved {

/// A function, and what keeps its code in memory.
struct MachineCode {
    void* entry = nullptr;
    std::shared_ptr<void> keep;
};

/// Finds a function that objects may call; null if there is none.
using FindSymbol = std::function<void*(const char* name)>;

/// Loads a relocatable ELF file of this machine. Throws Value where it is none, or asks for what is not there.
MachineCode load_machine_code(std::span<const std::uint8_t> object, const char* entry, const FindSymbol& find);

/// Whether this machine runs code for a target: "x86-64-v3", "x86-64-v4", "armv8-a" or "neoverse-n1"; -1 if not, else greater for what is
/// better.
int rank_of_target(const std::string& target);

}  // namespace pardo::saved

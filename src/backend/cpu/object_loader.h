// src/backend/cpu/object_loader.h: object files into executable memory, by ORC and JITLink; no LLVM in this header.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace pardo::cpu {

/// A function, and what keeps its code in memory.
struct LoadedCode {
    void* entry = nullptr;
    std::shared_ptr<void> keep;
};

/// Links an object file against emit::math_symbols() and finds `symbol` in it. Throws Compile.
LoadedCode load_object(std::span<const std::uint8_t> object, const std::string& symbol);

}  // namespace pardo::cpu

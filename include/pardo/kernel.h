// include/pardo/kernel.h: index spaces of kernels, and what launches do with their arguments; program.h launches.
#pragma once

#include <cstdint>
#include <vector>

namespace pardo {

/// An index space of one to three dimensions; in groups of `local` items if that is not empty, which divides `global`.
struct NdRange {
    std::vector<std::int64_t> global, local;  ///< items; of a group
    bool bare = false;                        ///< written as plain numbers: launches of kernels that ask for fewer dimensions are refused
};

/// What a launch does with its arguments.
enum class ArgumentUse : std::uint8_t { None, Read, Write, ReadWrite };

}  // namespace pardo

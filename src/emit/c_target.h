// src/emit/c_target.h: what sets one C-family language apart from another: a row of words for each, and what a device allows.
#pragma once

#include <cstdint>
#include <string>

namespace pardo::emit {

/// The languages.
enum class CLanguage : std::uint8_t { OpenCL, Cuda };

/// The words of a language. Functions are written as macros would be: `%s` stands for the argument.
struct CTarget {
    CLanguage language;
    const char* name;        // as inspect() calls it
    const char* function;    // begins a helper function
    const char* kernel;      // begins a kernel; %d: its group size
    const char* global;      // qualifies a pointer to global memory, with the space behind it
    const char* local;       // qualifies an array that a group shares
    const char* restrict_;   // a pointer without aliases
    const char* barrier;     // waits for the group and makes its local and global writes seen
    const char* local_id;    // int, in [0, group size)
    const char* group_id;    // of this group
    const char* group_count;
    // Integer types by log2 of their bytes; floats have the same names everywhere.
    const char* signed_types[4];
    const char* unsigned_types[4];
    /// The dtype-independent part of every program: pragmas, nothing else.
    const char* head;
};
const CTarget& c_target(CLanguage language);

/// What the emitter may use on one device; part of a program's key.
struct CFeatures {
    CLanguage language = CLanguage::OpenCL;
    bool fp64 = true;
    bool fp16 = false;             // half arithmetic; without it float16 values are floats rounded after each operation, as on the CPU
    bool split_pointers = false;   // OpenCL: a pointer parameter is a base and an offset in bytes, because buffers have no addresses
    bool cpu = false;              // work-groups run on a core: a barrier is expensive, a long loop in one item is not
    bool int64_atomics = false;
    int sub_group = 1;             // items that run in lock-step and may shuffle; 1 when the language has no shuffles
    int max_group_size = 256;
    int compute_units = 1;
    std::string key() const;
};

/// Macros that make hand-written kernels read alike in all languages; SourceKernel texts begin with them:
/// KERNEL(size) FN GLOBAL LOCAL RESTRICT BARRIER LOCAL_ID GROUP_ID GROUP_COUNT, the types i8 … u64, f32, f64 (with fp64), f16 (16 bits of
/// storage), `PTR(type, name)` for a pointer parameter and `AT(type, name)` for its address, f16_to_f32, f32_to_f16, f64_to_f16.
std::string c_macros(const CFeatures& features);

/// Text of the helper functions named (with those that they need), each once, in the order of the table.
std::string c_helpers(const CFeatures& features, const std::string& used);

}  // namespace pardo::emit

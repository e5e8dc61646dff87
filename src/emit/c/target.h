// src/emit/c/target.h: what sets one C-family language apart from another: a row of words for each, and what a device allows.
#pragma once

#include <cstdint>
#include <string>

#include <pardo/dtype.h>

namespace pardo::emit {

/// The words of a language, and what it can do. A back end may bring one of its own.
struct CTarget {
    const char* name;      // as inspect() calls it
    const char* head;      // first lines of every program
    const char* fp64;      // and, where the device has float64
    const char* function;  // begins a helper function
    const char* kernel;    // begins a kernel of $G items a group
    const char* global;    // qualifies what a pointer to global memory points to
    const char* local;     // qualifies a pointer to memory that a group shares
    const char* shared;    // begins the definition of an array that a group shares
    const char* restrict_pointer;
    const char* overlap;  // a statement: where launches overlap, waits for the end of the one before, and sees what it wrote
    const char* barrier;  // a statement: waits for the group, and makes its writes seen in it
    const char* local_id;
    const char* sub_group_kernel;  // in front of `kernel`, where it shuffles: fixes the size of sub-groups, $N
    const char* sub_group_item;    // as local_id, there: neighbours are of one sub-group of $N items
    const char* shuffle_xor;       // the value $V of the item whose number differs by $S; $M says which items take part
    const char* shuffle;           // the value $V of the item of number $I in a sub-group of $N; $M says which items take part
    const char* global_id;         // the item's number in dimension $D; only where processors run the language
    const char* group_id;
    const char* group_count;
    const char* signed_types[4];  // by log2 of the bytes
    const char* unsigned_types[4];
    const char* float_suffix;   // of mathematical functions that take float
    const char* f32_from_bits;  // function of an unsigned integer
    const char* f64_from_bits;
    const char* bits_of_f32;
    const char* bits_of_f64;
    const char* f16_functions;      // as c_narrow_functions, by CHalf::Builtins
    const char* f64_to_f16;         // as c_narrow_of_double
    const char* f32_to_bf16;        // a body of its own for f32_to_bf16(float x), in front of the one by integers; or nothing
    const char* unroll;             // a line before a loop that is written out
    const char* unroll_hint;        // the same as a macro may have it
    const char* popcount;           // of an unsigned integer x of 32 bits
    const char* atomic_add_local;   // to *p, uint32 that a group shares
    const char* atomic_add_global;  // with *p, uint32 in global memory
    const char* atomic_max_global;  // with *p, int32 in global memory
    const char* local_ids[3];       // the item's number in each dimension of its group
    const char* kernel_3d;          // `kernel`, where groups have $X, $Y, $Z items
    const char* large_shared;       // begins the definition of bytes whose number the launch says
    const char* atomics[9];         // functions for 32-bit integers, by ir::AtomicOp, and compare-and-exchange; null: not there
    const char* wide_atomics[9];    // for 64-bit ones
    const char* wide_atomics_head;  // first lines of a program that has them
    bool wide_unsigned;             // and all but min and max take unsigned ones only
    bool float_atomics;             // adds floats as they are
    const char* scopes[3];          // ends of those functions' names, by ir::MemoryScope
    const char* fences[3];          // statements: what is before is seen before what is after
    bool partial_sub_groups;        // items shuffle where not all of their sub-group are there
    bool warp_votes;                // teams of 32 items and more vote by warps
    bool paired_sines;              // has sincos
    bool wide_stores;               // stores to adjacent elements are better joined
};
extern const CTarget opencl_c, cuda_cpp;
/// Puts values in the places of a target's words.
void replace_all(std::string& text, const char* what, const std::string& with);

/// How a device turns the 16 bits of a float16 into a float and back.
enum class CHalf : std::uint8_t {
    Builtins,  // by the language's own functions
    Type,      // it computes with the type half
    Integers,  // by the bits: processors whose compilers call a function for each number
};

/// What the emitter may use on one device; part of a program's key.
struct CFeatures {
    const CTarget* target = &opencl_c;
    bool fp64 = true;
    bool split_pointers = false;  // OpenCL: a pointer parameter is a base and an offset in bytes, because buffers have no addresses
    bool cpu = false;             // work-groups run on a core: a barrier is expensive, a long loop in one item is not
    bool vector_loops = false;    // and its compiler makes vectors of loops, not of neighbouring items
    int sub_group = 1;            // items in lock-step that may shuffle, a power of two; 1 where the device has no shuffles
    int shuffles = 0;             // kernels in groups may ask for sub-groups of so many items that shuffle: the sizes, or-ed
    bool intel_shuffles = false;  // OpenCL: they are those of cl_intel_subgroups
    int max_group_size = 256;
    int compute_units = 1;
    bool wide_atomics = true;          // of 64 bits. These do not join the key: without them there is no program
    bool conditional_barriers = true;  // barriers may be in an if
    bool system_atomics = true;        // that other devices and the host see as such
    int most_shared = 49152;           // bytes of a group's arrays that need not be asked for
    bool native_erf = false;           // the language's own erf and log1p are within 2 ulp, and faster than IR's
    bool split_longs = false;          // int64 becomes float64 by its halves: the compiler fails at loops that do it in one step
    bool scalar_counts = false;        // loops that count or compare doubles are not for its vectoriser: the compiler fails at some of them
    bool scalar_pairs = false;         // nor are items that fold both parts of complex elements to be vectors
    bool masked_abs = false;  // float32's absolute value clears the sign's bit: it takes fabs(x) < 0 for false, of NaN too, and !(… >= 0)
    bool hidden_masks = false;  // `& 63` and `% 64` are hidden from the loop vectoriser, which takes (i * 5) & 63 for even steps
    bool own_starts = false;    // what a loop passes from name to name begins as the item's own: the compiler fails at others
    CHalf half = CHalf::Builtins;
    bool overlap = false;  // a launch begins while the one before ends, and waits for that itself
    std::string key() const;
};

/// Definitions of f16_to_f32 and f32_to_f16, or of bf16_to_f32 and f32_to_bf16; and of f64_to_f16 or f64_to_bf16, where the device has
/// float64, which need those.
std::string c_narrow_functions(const CFeatures& features, DType dtype);
std::string c_narrow_of_double(const CFeatures& features, DType dtype);

/// Name of a dtype in the language, as values are held and as memory holds them (Bool: a byte); of floats of 16 bits their bits.
std::string c_type(const CTarget& target, DType dtype);
std::string c_memory_type(const CTarget& target, DType dtype);

/// What hand-written kernels (device::SourceKernel) begin with, so that they read alike in all languages:
///   KERNEL(size)  begins a kernel of `size` items a group: KERNEL(256) name(ARG(f32, x), CONST_ARG(f32, y), i64 n) { PTR(f32, x); … }
///   ARG, CONST_ARG, PTR, CONST_PTR   a pointer parameter, and the definition of the pointer of that name inside
///   BEGIN         its first statement: what earlier launches wrote is there
///   FN GLOBAL LOCAL SHARED RESTRICT BARRIER LOCAL_ID GROUP_ID GROUP_COUNT UNROLL
///   i8 … i64, u8 … u64, f32, f64 (if the device has it: HAS_FP64), f16_to_f32(u16), f32_to_f16(f32), f64_to_f16(f64), and of bf16 alike
///   POPCOUNT(u32), ATOMIC_ADD_LOCAL(u32 pointer, v), ATOMIC_ADD_GLOBAL(u32 pointer, v), ATOMIC_MAX_GLOBAL(i32 pointer, v)
///   F32_BITS(u32) F64_BITS(u64) BITS_F32(f32) BITS_F64(f64)
std::string c_macros(const CFeatures& features);

}  // namespace pardo::emit

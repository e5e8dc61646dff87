// src/ir/ir.h: the Kernel IR: a typed, structured SSA loop program that knows no target.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <pardo/dtype.h>

#include "base/small_vector.h"

namespace pardo::ir {

/// Mathematical functions; accuracy at most 1 ulp on the CPU unless the row in math.def says otherwise.
enum class Math : std::uint8_t {
#define MATH(name, arity, doc) name,
#include "ir/math.def"
#undef MATH
};

/// Operations. Rules of operands and results are in rules.cpp, names in names.cpp.
enum class Opcode : std::uint8_t {
    // leaves
    Const,   // attribute: Constant
    Param,   // Index: which parameter (pointer or scalar)
    Dim,     // Index: this item's index in dimension d of the range, Int64
    Extent,  // Index: extent of dimension d of the range, Int64
    // leaves of kernels in groups
    LocalDim,  // Index: this item's index within its group in dimension d, Int64
    GroupDim,  // Index: this item's group's index in dimension d, Int64
    Array,     // Index: pointer to the first element of kernel.arrays[index]
    // arithmetic: operands and result of one dtype (any numeric one, complex until lowered)
    Add,
    Sub,
    Mul,
    Div,       // inexact only
    FloorDiv,  // integers (x // 0 = 0, min // -1 = min) and floats (NumPy's floor_divide)
    Rem,       // sign of the divisor, as Python and NumPy (integers: x % 0 = 0)
    Fmod,      // sign of the dividend, as C
    Neg,
    Abs,  // Abs of complex gives the real dtype
    Min,
    Max,  // NaN propagates (NumPy minimum, maximum)
    Fmin,
    Fmax,  // NaN loses (NumPy fmin, fmax)
    Fma,   // a * b + c, contracted
    // bits: integers and Bool
    And,
    Or,
    Xor,
    Not,
    Shl,
    Shr,  // counts outside [0, bits) give 0 (Shr of negatives: -1), as NumPy
    // comparisons: result Bool; complex only Eq, Ne
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    // choice and conversion
    Select,   // (Bool, T, T) -> T
    Cast,     // any dtype to any; float to integer out of range: defined, as NumPy on x86-64; complex to real drops the imaginary part
    Bitcast,  // same size, non-complex
    // mathematics
    Call,  // Math
    // complex
    Complex,  // (re, im) -> complex
    Real,
    Imag,
    // checks of indices, which resolve_checks makes plain arithmetic of: no target knows them
    Wrap,    // (Int64 index, Int64 extent) -> the index, plus the extent where it is negative: it counts from the end
    Inside,  // (Int64 index, Int64 extent) -> Bool: 0 <= index < extent
    // tables
    Lookup,  // (Int64 index, T value…) -> T: of a power of two values the one whose number is in the index's low bits
    // memory: pointer (a parameter or an array) and element index (Int64)
    Load,
    Store,
    Atomic,           // (pointer, index, value) -> what was there before; Atomic
    CompareExchange,  // (pointer, index, expected, desired) -> what was there before; equal bits exchange; Ordering
    Resize,      // (array without a fixed size, Int64 count) -> Bool: it has so many elements now, of which those before have their values;
                 // false: no memory
    TakeMemory,  // (array without a fixed size, Int64 count) -> Int64: the address of its memory, whose first `count` elements are
                 // valid; the host owns and frees it from now on, and the array is empty
    Report,      // (pointer, Int64 words…): writes the words there if the first of them that is there is 0; its own are not
    Shuffle,     // (value, Int64 k) -> the value of the k-th item of this item's sub-group, which is there; otherwise as Barrier
    Fence,       // what this item does with memory before is seen before what it does after; Ordering, not Relaxed
    Barrier,     // all items of the group have come here, and see what each other has written; kernels in groups only, where all
                 // items of a group take the same way
    // regions
    For,    // operands: lower, upper, step, initial values…; Loop; region: (index, carried…) -> Yield carried…; results: final values
    If,     // operand: Bool; regions then, else -> Yield results…
    While,  // operands: initial values…; regions: condition (carried…) -> Yield Bool, body (carried…) -> Yield carried…
    Yield,  // ends a region
};

/// What an Atomic does to memory. Add wraps; Min and Max of floats: NaN loses.
enum class AtomicOp : std::uint8_t { Add, Sub, Min, Max, And, Or, Xor, Exchange };
/// As in C++.
enum class MemoryOrder : std::uint8_t { Relaxed, Acquire, Release, AcqRel, SeqCst };
/// Which items see an atomic access as one.
enum class MemoryScope : std::uint8_t { Group, Device, System };

/// How a For runs.
enum class LoopKind : std::uint8_t {
    Serial,  // in order; carried values as usual
    Lanes,   // iterations are independent and may run in parallel in vector lanes, step 1: no carried values, only reductions (`combines`).
             // Operands: lower, upper, step, initial values…; the region gets (index) and yields one contribution for each combine;
             // results: combine(initial, all contributions) in an order that depends on nothing but the trip count and the target.
    Lockstep,  // as Serial; items of a group should run the iterations in lockstep where bounds and step are the same for them, so that
               // their accesses are next to each other
    Parallel,  // as Serial without carried values, step 1; iterations are independent, and threads may share them
};

/// What a reduction does with contributions.
enum class Combine : std::uint8_t { Add, Mul, Min, Max, And, Or, Xor };

using Value = std::uint32_t;  // index into Kernel::values
inline constexpr Value no_value = ~0u;
using InstrId = std::uint32_t;
using RegionId = std::uint32_t;

/// Where an instruction comes from in the user's program; file 0 is "unknown".
struct Span {
    std::uint32_t file = 0, line = 0, column = 0, end_column = 0;
};

/// A value: the result of an instruction, or an argument of a region.
struct ValueInfo {
    DType type;  // element type for pointers
    bool pointer = false;
    InstrId def = ~0u;        // instruction, or the instruction that owns the region
    std::int32_t result = 0;  // which result; region arguments count from -1 downwards: -1 is the first
    RegionId region = ~0u;    // for region arguments
};

/// What a For says beside its operands.
struct Loop {
    LoopKind kind = LoopKind::Serial;
    std::uint32_t unroll = 0;          // 0: the target's choice
    SmallVector<Combine, 2> combines;  // LoopKind::Lanes: one for each result
    bool operator==(const Loop&) const = default;
};
/// How an access to memory that items share is seen by others.
struct Ordering {
    MemoryOrder order{};
    MemoryScope scope{};
    bool operator==(const Ordering&) const = default;
};
/// What an Atomic says beside its operands.
struct Atomic {
    AtomicOp op{};
    Ordering ordering;
    bool operator==(const Atomic&) const = default;
};
/// Which parameter, array or dimension a leaf is.
struct Index {
    std::uint32_t value = 0;
    bool operator==(const Index&) const = default;
};
/// The value of a Const; equal if the bits are.
struct Constant {
    Scalar value;
    bool operator==(const Constant& other) const;
};

/// One operation.
struct Instr {
    /// What it says beside its operands: each operation has the one that Opcode names for it, or none.
    using Attribute = std::variant<std::monostate, Constant, Index, Math, Atomic, Ordering, Loop>;

    Opcode op{};
    Attribute attribute;
    SmallVector<Value, 4> operands;
    SmallVector<Value, 2> results;
    SmallVector<RegionId, 2> regions;
    Span span;

    /// Const. As those below: throws std::bad_variant_access for other operations.
    const Scalar& scalar() const { return std::get<Constant>(attribute).value; }
    /// Param, Dim, Extent, LocalDim, GroupDim, Array.
    std::uint32_t index() const { return std::get<Index>(attribute).value; }
    /// Call.
    Math math() const { return std::get<Math>(attribute); }
    /// Atomic.
    AtomicOp atomic() const { return std::get<Atomic>(attribute).op; }
    /// Atomic, CompareExchange, Fence.
    Ordering ordering() const {
        const Atomic* const update = std::get_if<Atomic>(&attribute);
        return update ? update->ordering : std::get<Ordering>(attribute);
    }
    /// For.
    const Loop& loop() const { return std::get<Loop>(attribute); }
    LoopKind loop_kind() const { return loop().kind; }  // its parts
    const SmallVector<Combine, 2>& combines() const { return loop().combines; }
};

/// A list of instructions with arguments; ends in Yield unless it is the kernel's body.
struct Region {
    SmallVector<Value, 4> args;
    std::vector<InstrId> body;
};

/// How a kernel uses a pointer.
enum class Access : std::uint8_t { Read = 1, Write = 2, ReadWrite = 3 };

/// One parameter: a pointer to elements, or one scalar (complex ones are two slots after lowering).
struct Param {
    std::string name;
    DType type;
    bool pointer = false;
    Access access = Access::Read;
    /// The memory behind it overlaps no other pointer parameter's. Between two parameters without it anything may overlap,
    /// but then iterations that may run in parallel touch equal addresses only in one and the same iteration.
    bool noalias = false;
    /// Written once and not read again soon: stores may bypass the caches.
    bool streaming = false;
    Value value = no_value;
};

/// Whose an array of the kernel's own is.
enum class Space : std::uint8_t {
    Group,    // shared by the items of a group; lives as long as the group
    Private,  // each item has its own
};
/// Memory that a kernel brings along; not initialised.
struct ArrayInfo {
    std::string name;
    DType type;
    std::int64_t count = 0;  // 0: Resize says how many, each time that it is met; kernels without lanes of items alone
    Space space = Space::Private;
    bool whole = false;  // Private: the lanes of an item's loops share it
    Value value = no_value;
};

/// A target-free loop program over an index space.
/// All items are independent. With `lanes`, neighbours in the last dimension become vector lanes; without, each item is scalar code
/// and lanes appear only in its LoopKind::Lanes loops.
struct Kernel {
    std::string name;
    std::vector<Param> params;
    int rank = 1;  // dimensions of the range, 0 to 32; extents arrive with the launch
    bool lanes = true;
    std::uint8_t fast_math = 0;  // 1: allows reassociation and contraction; 2: and reciprocal roots that are estimates alone
    /// Not empty: items come in groups of so many in each dimension. Extents arrive as numbers of items, multiples of these; barriers and
    /// arrays of the group are for such kernels alone. `lanes` is true then.
    SmallVector<std::int64_t, 3> group_size;
    int sub_group = 0;  // items of a sub-group, in row-major order, a power of two; the last of a group may have fewer; 0: there are none
    std::vector<ArrayInfo> arrays;
    Region body;
    std::vector<Instr> instrs;
    std::vector<Region> regions;
    std::vector<ValueInfo> values;
    std::vector<std::string> files{"<unknown>"};

    bool in_groups() const noexcept { return !group_size.empty(); }
};

/// Stable text; the cache key hashes it, tests and `inspect("ir")` show it.
std::string print(const Kernel& kernel);
/// Throws Error(Internal) naming instruction and rule. Run on what a front end hands over, and after each pass in debug builds.
void verify(const Kernel& kernel);
/// Replaces every complex value, parameter and access by pairs of reals (pointer parameters: interleaved re, im). Emitters see no complex.
Kernel lower_complex(const Kernel& kernel);
/// Floats of 16 bits become float32, in which they are computed with: each result is rounded to its dtype, and a reduction once at its end.
/// Their own dtype is left in memory, parameters, Cast and Bitcast.
Kernel lower_narrow_floats(const Kernel& kernel);
/// What recipes of mathematical functions are chosen by.
struct MathTarget {
    int vector_bytes = 0;     // of the registers that LLVM makes code for; 0: another compiler does
    bool native_erf = false;  // the target's own erf and log1p are within 2 ulp, and faster than IR's
};
/// Replaces math calls by recipes (ir/math), where a target has no better function of its own.
Kernel expand_math(const Kernel& kernel, const MathTarget& target = {});
/// Replaces shuffles by memory of the group and barriers, for devices whose items cannot exchange values otherwise.
Kernel expand_shuffles(const Kernel& kernel);
/// Lets a branch whose sides end with stores to the same elements store once, after it: for targets where stores under a mask are slow.
Kernel join_stores(const Kernel& kernel);
/// Lets innermost loops remember their first failed check, and report it when they end: for targets where a branch that writes memory keeps
/// the loads of several iterations from being under way together.
Kernel defer_reports(const Kernel& kernel);
/// The items of each group set these arrays of theirs to zero, and wait for each other, before anything else.
Kernel cleared_first(const Kernel& kernel, const std::vector<Value>& arrays);

const char* name(Opcode op);
const char* name(Math fn);
const char* name(Combine combine);
const char* name(AtomicOp op);
const char* name(MemoryOrder order);
const char* name(MemoryScope scope);
int arity(Math fn);

}  // namespace pardo::ir

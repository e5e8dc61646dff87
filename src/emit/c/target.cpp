// src/emit/c/target.cpp: the words of OpenCL C and CUDA C++.
#include "emit/c/target.h"

#include <bit>
#include <utility>

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {

const CTarget opencl_c = {
    .name = "opencl",
    .head = "#pragma OPENCL FP_CONTRACT OFF\n",
    .fp64 = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
    .function = "static inline",
    .kernel = "__kernel __attribute__((reqd_work_group_size($G, 1, 1))) void",
    .global = "__global",
    .local = "__local",
    .shared = "__local",
    .restrict_pointer = "restrict",
    .overlap = "",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
    .local_id = "(int)get_local_id(0)",
    .sub_group_kernel = "__attribute__((intel_reqd_sub_group_size($N))) ",
    .sub_group_item = "(int)(get_sub_group_id() * $N + get_sub_group_local_id())",
    .shuffle_xor = "sub_group_shuffle_xor($V, (uint)$S)",
    .shuffle = "sub_group_shuffle($V, (uint)($I))",
    .global_id = "(long)get_global_id($D)",
    .group_id = "(long)get_group_id(0)",
    .group_count = "(long)get_num_groups(0)",
    .signed_types = {"char", "short", "int", "long"},
    .unsigned_types = {"uchar", "ushort", "uint", "ulong"},
    .float_suffix = "",
    .f32_from_bits = "as_float",
    .f64_from_bits = "as_double",
    .bits_of_f32 = "as_uint",
    .bits_of_f64 = "as_ulong",
    .f16_functions =
        "static inline float f16_to_f32(ushort bits) { return vload_half(0, (const half*)&bits); }\n"
        "static inline ushort f32_to_f16(float x) { ushort bits; vstore_half_rte(x, 0, (half*)&bits); return bits; }\n",
    .f64_to_f16 = "static inline ushort f64_to_f16(double x) { ushort bits; vstore_half_rte(x, 0, (half*)&bits); return bits; }\n",
    .f32_to_bf16 = "",
    .unroll = "#pragma unroll",
    .unroll_hint = "__attribute__((opencl_unroll_hint))",
    .popcount = "popcount(x)",
    .atomic_add_local = "atomic_add((volatile __local uint*)(p), v)",
    .atomic_add_global = "atomic_add((volatile __global uint*)(p), v)",
    .atomic_max_global = "atomic_max((volatile __global int*)(p), v)",
    .local_ids = {"(long)get_local_id(0)", "(long)get_local_id(1)", "(long)get_local_id(2)"},
    .kernel_3d = "__kernel __attribute__((reqd_work_group_size($X, $Y, $Z))) void",
    .large_shared = "",
    .atomics = {"atomic_add", "atomic_sub", "atomic_min", "atomic_max", "atomic_and", "atomic_or", "atomic_xor", "atomic_xchg",
                "atomic_cmpxchg"},
    .wide_atomics = {"atom_add", "atom_sub", "atom_min", "atom_max", "atom_and", "atom_or", "atom_xor", "atom_xchg", "atom_cmpxchg"},
    .wide_atomics_head =
        "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
        "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n",
    .wide_unsigned = false,
    .float_atomics = false,
    .scopes = {"", "", ""},
    .fences = {"mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)", "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
               "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)"},
    .partial_sub_groups = false,
    .warp_votes = false,
    .paired_sines = false,
    .wide_stores = false,
};

const CTarget cuda_cpp = {
    .name = "cuda",
    .head = "",
    .fp64 = "",
    .function = "static __device__ __forceinline__",
    .kernel = "extern \"C\" __global__ void __launch_bounds__($G)",
    .global = "",
    .local = "",
    .shared = "__shared__",
    .restrict_pointer = "__restrict__",
    .overlap = "asm volatile(\"griddepcontrol.wait;\" ::: \"memory\")",
    .barrier = "__syncthreads()",
    .local_id = "(int)threadIdx.x",
    .sub_group_kernel = "",
    .sub_group_item = "(int)threadIdx.x",
    .shuffle_xor = "__shfl_xor_sync($M, $V, $S)",
    .shuffle = "__shfl_sync($M, $V, (int)($I), $N)",
    .global_id = "",
    .group_id = "(long long)blockIdx.x",
    .group_count = "(long long)gridDim.x",
    .signed_types = {"signed char", "short", "int", "long long"},
    .unsigned_types = {"unsigned char", "unsigned short", "unsigned int", "unsigned long long"},
    .float_suffix = "f",
    .f32_from_bits = "__uint_as_float",
    .f64_from_bits = "__longlong_as_double",
    .bits_of_f32 = "__float_as_uint",
    .bits_of_f64 = "(unsigned long long)__double_as_longlong",
    .f16_functions =
        "static __device__ __forceinline__ float f16_to_f32(unsigned short bits) {\n"
        "    float x;\n"
        "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(bits));\n"
        "    return x;\n"
        "}\n"
        "static __device__ __forceinline__ unsigned short f32_to_f16(float x) {\n"
        "    unsigned short bits;\n"
        "    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(bits) : \"f\"(x));\n"
        "    return bits;\n"
        "}\n",
    .f64_to_f16 =
        "static __device__ __forceinline__ unsigned short f64_to_f16(double x) {\n"
        "    unsigned short bits;\n"
        "    asm(\"cvt.rn.f16.f64 %0, %1;\" : \"=h\"(bits) : \"d\"(x));\n"
        "    return bits;\n"
        "}\n",
    .f32_to_bf16 =
        "#if __CUDA_ARCH__ >= 800\n"
        "    unsigned short nearest;\n"
        "    asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(nearest) : \"f\"(x));\n"
        "    return nearest;\n"
        "#endif\n",
    .unroll = "#pragma unroll",
    .unroll_hint = "_Pragma(\"unroll\")",
    .popcount = "__popc(x)",
    .atomic_add_local = "atomicAdd(p, v)",
    .atomic_add_global = "atomicAdd(p, v)",
    .atomic_max_global = "atomicMax(p, v)",
    .local_ids = {"(long long)threadIdx.x", "(long long)threadIdx.y", "(long long)threadIdx.z"},
    .kernel_3d = "extern \"C\" __global__ void __launch_bounds__($X * $Y * $Z)",
    .large_shared = "extern __shared__ __align__(16) unsigned char",
    .atomics = {"atomicAdd", "atomicSub", "atomicMin", "atomicMax", "atomicAnd", "atomicOr", "atomicXor", "atomicExch", "atomicCAS"},
    .wide_atomics = {"atomicAdd", nullptr, "atomicMin", "atomicMax", "atomicAnd", "atomicOr", "atomicXor", "atomicExch", "atomicCAS"},
    .wide_atomics_head = "",
    .wide_unsigned = true,
    .float_atomics = true,
    .scopes = {"_block", "", "_system"},
    .fences = {"__threadfence_block()", "__threadfence()", "__threadfence_system()"},
    .partial_sub_groups = true,
    .warp_votes = true,
    .paired_sines = true,
    .wide_stores = true,
};

namespace {

/// OpenCL, CHalf::Type. Compilers see through these; vload_half of a variable's address they do not: on Intel's runtime it is a call for
/// each number, a hundred times slower.
constexpr const char* half_by_type =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "static inline float f16_to_f32(ushort bits) { return (float)as_half(bits); }\n"
    "static inline ushort f32_to_f16(float x) { return as_ushort((half)x); }\n";
constexpr const char* half_of_double_by_type = "static inline ushort f64_to_f16(double x) { return as_ushort((half)x); }\n";
/// OpenCL, CHalf::Integers. Numbers below 2^-14: 0.5 and x have that many binary places in common. Else the exponent's bias changes by
/// 112, and what falls off rounds to even.
constexpr const char* half_by_integers =
    "static inline float f16_to_f32(ushort bits) {\n"
    "    const uint size = (uint)(bits & 0x7fff) << 13, sign = (uint)(bits & 0x8000) << 16;\n"
    "    const uint wide = as_uint(as_float(size) * 0x1p112f);\n"
    "    return as_float(((bits & 0x7c00) == 0x7c00 ? size | 0x7f800000 : wide) | sign);\n"
    "}\n"
    "static inline ushort f32_to_f16(float x) {\n"
    "    const uint size = as_uint(x) & 0x7fffffff;\n"
    "    const uint tiny = as_uint(as_float(size) + 0.5f) - 0x3f000000;\n"
    "    const uint ordinary = (size - 0x38000000 + 0x0fff + (size >> 13 & 1)) >> 13;\n"
    "    const uint huge = size > 0x7f800000 ? 0x7e00 : 0x7c00;\n"
    "    return (ushort)((size < 0x38800000 ? tiny : size < 0x47800000 ? ordinary : huge) | (as_uint(x) >> 16 & 0x8000));\n"
    "}\n";

/// A bfloat16 is the top of a float32: what falls off rounds to even, and a NaN stays one.
constexpr const char* bfloat16_functions =
    "$F float bf16_to_f32($16 bits) { return $OF(($32)bits << 16); }\n"
    "$F $16 f32_to_bf16(float x) {\n"
    "$OWN"
    "    const $32 bits = $BITS(x);\n"
    "    return ($16)(((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);\n"
    "}\n";
/// By a float32 whose last bit tells that something is missing: it rounds once.
constexpr const char* bfloat16_of_double =
    "$F $16 f64_to_bf16(double x) {\n"
    "    const float f = (float)x;\n"
    "    const $32 bits = $BITS(f);\n"
    "    const $64 back = $BITS64((double)f) & 0x7fffffffffffffffUL, size = $BITS64(x) & 0x7fffffffffffffffUL;\n"
    "    const $32 odd = (bits & 1u) != 0 || back == size || x != x ? bits : back < size ? bits + 1u : bits - 1u;\n"
    "    return f32_to_bf16($OF(odd));\n"
    "}\n";

std::string in_words_of(const CTarget& target, std::string text) {
    const std::pair<const char*, const char*> words[] = {{"$F", target.function},           {"$16", target.unsigned_types[1]},
                                                         {"$32", target.unsigned_types[2]}, {"$64", target.unsigned_types[3]},
                                                         {"$BITS64", target.bits_of_f64},   {"$BITS", target.bits_of_f32},
                                                         {"$OF", target.f32_from_bits},     {"$OWN", target.f32_to_bf16}};
    for (const auto& [place, word] : words) replace_all(text, place, word);
    return text;
}

}  // namespace

std::string c_narrow_functions(const CFeatures& features, DType dtype) {
    if (dtype == DType::BFloat16) return in_words_of(*features.target, bfloat16_functions);
    switch (features.half) {
        case CHalf::Type: return half_by_type;
        case CHalf::Integers: return half_by_integers;
        default: return features.target->f16_functions;
    }
}

std::string c_narrow_of_double(const CFeatures& features, DType dtype) {
    if (dtype == DType::BFloat16) return in_words_of(*features.target, bfloat16_of_double);
    return features.half == CHalf::Type ? half_of_double_by_type : features.target->f64_to_f16;
}

void replace_all(std::string& text, const char* what, const std::string& with) {
    const std::size_t length = std::char_traits<char>::length(what);
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) text.replace(at, length, with);
}

std::string CFeatures::key() const {
    std::string text = target->name;
    for (const int part :
         {static_cast<int>(fp64), static_cast<int>(split_pointers), static_cast<int>(cpu), static_cast<int>(vector_loops),
          static_cast<int>(native_erf), static_cast<int>(intel_shuffles), static_cast<int>(overlap), static_cast<int>(split_longs),
          static_cast<int>(own_starts), static_cast<int>(hidden_masks), static_cast<int>(masked_abs), static_cast<int>(scalar_counts),
          static_cast<int>(scalar_pairs), static_cast<int>(half), sub_group, max_group_size}) {
        text += ' ';
        text += std::to_string(part);
    }
    return text;
}

std::string c_type(const CTarget& target, DType dtype) {
    const auto size = static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(itemsize(dtype))));
    switch (kind_of(dtype)) {
        case DKind::Bool: return "bool";
        case DKind::Signed: return target.signed_types[size];
        case DKind::Unsigned: return target.unsigned_types[size];
        default: return is_narrow_float(dtype) ? target.unsigned_types[size] : dtype == DType::Float64 ? "double" : "float";
    }
}

std::string c_memory_type(const CTarget& target, DType dtype) {
    return dtype == DType::Bool ? target.unsigned_types[0] : c_type(target, dtype);
}

std::string c_macros(const CFeatures& features) {
    const CTarget& t = *features.target;
    std::string text = t.head;
    if (features.fp64) text += t.fp64;
    const auto define = [&](const std::string& name, const std::string& value) { text += "#define " + name + " " + value + "\n"; };
    std::string kernel = t.kernel;
    kernel.replace(kernel.find("$G"), 2, "size");
    define("KERNEL(size)", kernel);
    define("BEGIN", features.overlap ? t.overlap : "");
    define("FN", t.function);
    define("GLOBAL", t.global);
    define("LOCAL", t.local);
    define("SHARED", t.shared);
    define("RESTRICT", t.restrict_pointer);
    define("BARRIER", t.barrier);
    define("LOCAL_ID", t.local_id);
    define("GROUP_ID", t.group_id);
    define("GROUP_COUNT", t.group_count);
    define("POPCOUNT(x)", t.popcount);
    define("ATOMIC_ADD_LOCAL(p, v)", t.atomic_add_local);
    define("ATOMIC_ADD_GLOBAL(p, v)", t.atomic_add_global);
    define("ATOMIC_MAX_GLOBAL(p, v)", t.atomic_max_global);
    define("F32_BITS", t.f32_from_bits);
    define("F64_BITS", t.f64_from_bits);
    define("BITS_F32", t.bits_of_f32);
    define("BITS_F64", t.bits_of_f64);
    // A compiler that makes vectors of neighbouring items takes two to ten times as long for unrolled loops, and their code is slower.
    const bool items_are_lanes = features.cpu && !features.vector_loops;
    define("UNROLL", items_are_lanes ? "" : t.unroll_hint);
    if (features.split_pointers) {
        define("ARG(T, name)", "GLOBAL u8* name##_base, i64 name##_offset");
        define("CONST_ARG(T, name)", "GLOBAL const u8* name##_base, i64 name##_offset");
        define("PTR(T, name)", "GLOBAL T* name = (GLOBAL T*)(name##_base + name##_offset)");
        define("CONST_PTR(T, name)", "GLOBAL const T* name = (GLOBAL const T*)(name##_base + name##_offset)");
    } else {
        define("ARG(T, name)", "GLOBAL T* RESTRICT name");
        define("CONST_ARG(T, name)", "GLOBAL const T* RESTRICT name");
        define("PTR(T, name)", "");
        define("CONST_PTR(T, name)", "");
    }
    for (int size = 0; size < 4; ++size) {
        const std::string bits = std::to_string(8 << size);
        text += std::string("typedef ") + t.signed_types[size] + " i" + bits + ";\n";
        text += std::string("typedef ") + t.unsigned_types[size] + " u" + bits + ";\n";
    }
    text += "typedef float f32;\n";
    if (features.fp64) text += "typedef double f64;\n#define HAS_FP64 1\n";
    for (const DType narrow : {DType::Float16, DType::BFloat16}) {
        text += c_narrow_functions(features, narrow);
        if (features.fp64) text += c_narrow_of_double(features, narrow);
    }
    return text;
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)

// src/emit/c/helpers.cpp: functions that C-family languages lack, as text; a program holds those that it calls.
#include "emit/c/helpers.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <pardo/error.h>

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {
namespace {

/// In texts: $F begins a function, $T the type, $U its unsigned twin, $N its short name, $B its bits, $Z its smallest value (integers),
/// $S the suffix of float functions, $L that of float constants.
struct Row {
    const char* name;
    const char* needs;  // another helper of the same dtype, in front of it
    const char* text;
};

constexpr Row rows[] = {
    // Integers: x op 0 is 0, and the smallest one by -1 wraps.
    {"floor_divide_signed", "", R"($F $T pardo_floor_divide_$N($T a, $T b) {
    if (b == 0) return 0;
    if (b == -1) return ($T)(($U)0 - ($U)a);
    const $T q = ($T)(a / b);
    return ($T)(q - (($T)(q * b) != a && (a < 0) != (b < 0)));
}
)"},
    {"floor_divide_unsigned", "", R"($F $T pardo_floor_divide_$N($T a, $T b) { return b == 0 ? ($T)0 : ($T)(a / b); }
)"},
    {"remainder_signed", "", R"($F $T pardo_remainder_$N($T a, $T b) {
    if (b == 0 || b == -1) return 0;
    const $T r = ($T)(a % b);
    return ($T)(r != 0 && (r < 0) != (b < 0) ? r + b : r);
}
)"},
    {"remainder_unsigned", "", R"($F $T pardo_remainder_$N($T a, $T b) { return b == 0 ? ($T)0 : ($T)(a % b); }
)"},
    {"fmod_signed", "", R"($F $T pardo_fmod_$N($T a, $T b) { return b == 0 || b == -1 ? ($T)0 : ($T)(a % b); }
)"},
    {"fmod_unsigned", "", R"($F $T pardo_fmod_$N($T a, $T b) { return b == 0 ? ($T)0 : ($T)(a % b); }
)"},
    // Counts outside of [0, bits) shift everything out.
    {"shift_left", "", R"($F $T pardo_shift_left_$N($T a, $T count) { return ($U)count < $B ? ($T)(($U)a << count) : ($T)0; }
)"},
    {"shift_right_signed", "", R"($F $T pardo_shift_right_$N($T a, $T count) { return ($T)(a >> (($U)count < $B ? count : $B - 1)); }
)"},
    {"shift_right_unsigned", "", R"($F $T pardo_shift_right_$N($T a, $T count) { return count < $B ? ($T)(a >> count) : ($T)0; }
)"},
    // True if x reaches the bar, which then rises above it; in a warp, if that of any lane here does, for all of them.
    {"passes", "", R"($F int pardo_passes_$N($T x, $T* bar) {
    if (x < *bar) return 0;
    *bar = x == ($T)-1 ? x : x + 1;
    return 1;
}
)"},
    {"passes_in_warp", "", R"($F int pardo_passes_in_warp_$N($T x, $T* bar) {
    const unsigned int here = __activemask();
    if (!__any_sync(here, x >= *bar)) return 0;
#if __CUDA_ARCH__ >= 800
    x = __reduce_max_sync(here, x);
#endif
    x = x == ($T)-1 ? x : x + 1;
    *bar = *bar > x ? *bar : x;
    return 1;
}
)"},
    // Floats: NumPy's divmod, step by step.
    {"floor_divide_float", "", R"($F $T pardo_floor_divide_$N($T a, $T b) {
    if (b == 0) return a / b;
    const $T mod = fmod$S(a, b);
    $T q = (a - mod) / b;
    if (mod != 0 && (b < 0) != (mod < 0)) q -= 1;
    if (q == 0) return copysign$S(($T)0, a / b);
    const $T whole = floor$S(q);
    return q - whole > ($T)0.5$L ? whole + 1 : whole;
}
)"},
    {"remainder_float", "", R"($F $T pardo_remainder_$N($T a, $T b) {
    const $T mod = fmod$S(a, b);
    if (b == 0) return mod;
    if (mod == 0) return copysign$S(($T)0, b);
    return (b < 0) != (mod < 0) ? mod + b : mod;
}
)"},
    // Float to integer as x86-64 does it: what does not fit gives the smallest int32 or int64.
    {"to_i32", "", R"($F int pardo_to_i32_$N($T x) { return x > ($T)-2147483649.0$L && x < ($T)2147483648.0$L ? (int)x : -2147483647 - 1; }
)"},
    {"to_i32_f32", "", R"($F int pardo_to_i32_f32(float x) { return x >= -2147483648.0f && x < 2147483648.0f ? (int)x : -2147483647 - 1; }
)"},
    {"to_i64", "", R"($F $I pardo_to_i64_$N($T x) {
    return x >= ($T)-9223372036854775808.0$L && x < ($T)9223372036854775808.0$L ? ($I)x : ($I)0x8000000000000000u;
}
)"},
    {"to_u64", "to_i64", R"($F $J pardo_to_u64_$N($T x) {
    if (!(x >= ($T)9223372036854775808.0$L)) return ($J)pardo_to_i64_$N(x);
    return ($J)pardo_to_i64_$N(x - ($T)9223372036854775808.0$L) ^ ($J)0x8000000000000000u;
}
)"},
    // The upper half has no fraction after it is scaled, so one sum rounds, as the conversion itself does.
    {"from_i64", "", R"($F $T pardo_from_i64_$N($I x) { return ($T)(int)(x >> 32) * 4294967296.0 + ($T)(unsigned int)x; }
)"},
    // Neighbours in memory, by one access where they lie so; views may begin anywhere.
    {"store_2", "", R"(struct __align__(2 * sizeof($T)) pardo_two_$N { $T a, b; };
$F void pardo_store_2_$N($T* p, $T a, $T b) {
    if (($J)p % sizeof(pardo_two_$N) == 0) {
        *(pardo_two_$N*)p = pardo_two_$N{a, b};
    } else {
        p[0] = a;
        p[1] = b;
    }
}
)"},
    {"store_4", "", R"(struct __align__(4 * sizeof($T)) pardo_four_$N { $T a, b, c, d; };
$F void pardo_store_4_$N($T* p, $T a, $T b, $T c, $T d) {
    if (($J)p % sizeof(pardo_four_$N) == 0) {
        *(pardo_four_$N*)p = pardo_four_$N{a, b, c, d};
    } else {
        p[0] = a;
        p[1] = b;
        p[2] = c;
        p[3] = d;
    }
}
)"},
};

}  // namespace

bool CHelpers::add(const std::string& name) {
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) return false;
    names_.push_back(name);
    return true;
}

std::string CHelpers::filled(std::string text, DType dtype) const {
    const bool single = dtype != DType::Float64;
    const auto size = static_cast<std::size_t>(itemsize(dtype) == 1 ? 0 : itemsize(dtype) == 2 ? 1 : itemsize(dtype) == 4 ? 2 : 3);
    replace_all(text, "$F", target_.function);
    replace_all(text, "$T", c_type(target_, dtype));
    replace_all(text, "$U", target_.unsigned_types[size]);
    replace_all(text, "$N", short_name(dtype));
    replace_all(text, "$B", std::to_string(8 * itemsize(dtype)));
    replace_all(text, "$S", single ? target_.float_suffix : "");
    replace_all(text, "$L", single ? "f" : "");
    replace_all(text, "$I", target_.signed_types[3]);
    replace_all(text, "$J", target_.unsigned_types[3]);
    return text;
}

std::string CHelpers::use(const std::string& row, DType dtype) {
    const std::string special = row + "_" + short_name(dtype);
    const auto* found = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.name == special; });
    if (found == std::end(rows)) found = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.name == row; });
    if (found == std::end(rows)) {
        const std::string kind = is_float(dtype) ? "_float" : kind_of(dtype) == DKind::Signed ? "_signed" : "_unsigned";
        found = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.name == row + kind; });
    }
    if (found == std::end(rows)) throw Error(ErrorCode::Internal, "emit_c: there is no helper " + special);
    if (*found->needs) use(found->needs, dtype);
    if (add(special)) text_ += filled(found->text, dtype);
    return "pardo_" + special;  // kernels are called after operations too
}

std::string CHelpers::of_bits(DType dtype, const std::string& bits) {
    if (add(short_name(dtype))) text_ += c_narrow_functions(features_, dtype);
    return short_name(dtype) + "_to_f32(" + bits + ")";
}

std::string CHelpers::to_bits(DType dtype, DType from, const std::string& number) {
    if (add(short_name(dtype))) text_ += c_narrow_functions(features_, dtype);
    const std::string function = short_name(from) + "_to_" + short_name(dtype);
    if (from == DType::Float64 && add(function)) text_ += c_narrow_of_double(features_, dtype);
    return function + "(" + number + ")";
}

/// How two values of a reduction become one.
std::string CHelpers::combined(const std::string& combine, DType dtype, const std::string& a, const std::string& b) {
    if (combine == "add" || combine == "mul") {
        const char* sign = combine == "add" ? " + " : " * ";
        if (kind_of(dtype) == DKind::Signed) return "($T)(($U)" + a + sign + "($U)" + b + ")";  // overflow wraps
        return a + sign + b;
    }
    if (combine == "and" || combine == "or" || combine == "xor")
        return a + (combine == "and" ? " & " : combine == "or" ? " | " : " ^ ") + b;
    const char* order = combine == "min" ? " < " : " > ";
    std::string test = a + order + b;
    if (is_float(dtype)) test += " || " + a + " != " + a;
    return test + " ? " + a + " : " + b;
}

std::string CHelpers::use_team(const std::string& combine, DType dtype, int team, const std::string& value) {
    if (std::find(exchanged_.begin(), exchanged_.end(), dtype) == exchanged_.end()) exchanged_.push_back(dtype);
    return team_function(combine, dtype, team) + "(" + value + ", lane, shared_" + short_name(dtype) + ")";
}

/// It takes (value, lane, scratch).
std::string CHelpers::team_function(const std::string& combine, DType dtype, int team) {
    const std::string name = "team_" + combine + "_" + short_name(dtype);
    if (!add(name)) return name;
    std::string text =
        "/* All " + std::to_string(team) + " items of a team get the value. */\n$F $T " + name + "($T x, int lane, $X $T* scratch) {\n";
    if (features_.sub_group >= 2) {
        shuffles_ = true;
        const int size = features_.sub_group, within = std::min(team, size), partial = team / within;
        // Narrow integers and truth values travel as int.
        const bool narrow = itemsize(dtype) < 4;
        std::string exchange = (features_.intel_shuffles ? "intel_" : "") + std::string(target_.shuffle_xor);
        replace_all(exchange, "$M",
                    within == 32 ? "0xffffffffu"
                                 : std::to_string((1u << within) - 1) + "u << (threadIdx.x & " + std::to_string(32 - within) + "u)");
        replace_all(exchange, "$V", narrow ? "(int)x" : "x");
        replace_all(exchange, "$S", "step");
        const std::string cast = narrow ? "($T)" : "";
        const auto butterfly = [&](int width) {
            text += "    for (int step = " + std::to_string(width / 2) + "; step > 0; step /= 2) {\n        const $T y = " + cast +
                    exchange + ";\n        x = " + combined(combine, dtype, "x", "y") + ";\n    }\n";
        };
        butterfly(within);
        if (partial > 1) {
            const int left = std::min(partial, size);
            text += "    if ((lane & " + std::to_string(size - 1) + ") == 0) scratch[lane >> " +
                    std::to_string(std::countr_zero(static_cast<unsigned>(size))) + "] = x;\n    $W;\n    x = scratch[lane & " +
                    std::to_string(left - 1) + "];\n";
            if (partial > left) {
                text += "    for (int k = " + std::to_string(left) + "; k < " + std::to_string(partial) + "; k += " + std::to_string(left) +
                        ") {\n        const $T y = scratch[k + (lane & " + std::to_string(left - 1) +
                        ")];\n        x = " + combined(combine, dtype, "x", "y") + ";\n    }\n";
            }
            butterfly(left);
            text += "    $W;\n";
        }
    } else {
        text += "    scratch[lane] = x;\n    $W;\n    for (int step = " + std::to_string(team / 2) +
                "; step > 0; step /= 2) {\n        if (lane < step) {\n            const $T a = scratch[lane], b = scratch[lane + step];\n"
                "            scratch[lane] = " +
                combined(combine, dtype, "a", "b") + ";\n        }\n        $W;\n    }\n    x = scratch[0];\n    $W;\n";
    }
    text += "    return x;\n}\n";
    replace_all(text, "$W", target_.barrier);
    replace_all(text, "$X", target_.local);
    text_ += filled(std::move(text), dtype);
    return name;
}

std::string CHelpers::use_float_atomic(ir::AtomicOp op, DType dtype, bool group, const std::string& suffix) {
    std::string name = std::string("pardo_atomic_") + ir::name(op) + "_" + short_name(dtype) + (group ? "_group" : "") + suffix;
    if (!add(name)) return name;
    const bool single = dtype == DType::Float32;
    const char* value = op == ir::AtomicOp::Add   ? "old + x"
                        : op == ir::AtomicOp::Sub ? "old - x"
                        : op == ir::AtomicOp::Min ? "old < x || x != x ? old : x"
                                                  : "old > x || x != x ? old : x";
    const char* memory = group ? target_.local : target_.global;
    std::string text =
        "$F $T $K($Q$T* p, $T x) {\n"
        "    $U seen = *(volatile $Q$U*)p;\n"
        "    for (;;) {\n"
        "        const $U expected = seen;\n"
        "        const $T old = $Y(expected);\n"
        "        seen = $C(($Q$U*)p, expected, $X($V));\n"
        "        if (seen == expected) return old;\n"
        "    }\n"
        "}\n";
    replace_all(text, "$K", name);
    replace_all(text, "$Q", *memory ? std::string(memory) + " " : std::string());
    replace_all(text, "$C", std::string((single ? target_.atomics : target_.wide_atomics)[8]) + suffix);
    replace_all(text, "$V", value);
    replace_all(text, "$X", single ? target_.bits_of_f32 : target_.bits_of_f64);
    replace_all(text, "$Y", single ? target_.f32_from_bits : target_.f64_from_bits);
    text_ += filled(std::move(text), dtype);
    return name;
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)

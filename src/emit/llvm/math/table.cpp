// src/emit/llvm/math/table.cpp: SLEEF's and libm's functions that emitted code may call: the only symbols that a Program sees.
#include "emit/llvm/math/table.h"

#include <pardo/error.h>

#include <algorithm>
#include <cstring>

#include "base/constant.h"
#include "emit/llvm/module.h"
#include "emit/runtime/library_calls.h"
#include "emit/runtime/own_memory.h"
#include "emit/runtime/shared_loop.h"

// A row: the IR's name, SLEEF's, and the accuracy that is part of SLEEF's symbol.
// clang-format off
#define PARDO_MATH_ROWS(ROW)                                                                                       \
    ROW(cbrt, cbrt, u10) ROW(exp, exp, u10) ROW(exp2, exp2, u10) ROW(expm1, expm1, u10)                            \
    ROW(log, log, u10) ROW(log2, log2, u10) ROW(log10, log10, u10) ROW(log1p, log1p, u10)                          \
    ROW(sin, sin, u10) ROW(cos, cos, u10) ROW(tan, tan, u10) ROW(asin, asin, u10) ROW(acos, acos, u10)             \
    ROW(atan, atan, u10) ROW(sinh, sinh, u10) ROW(cosh, cosh, u10) ROW(tanh, tanh, u10) ROW(asinh, asinh, u10)     \
    ROW(acosh, acosh, u10) ROW(atanh, atanh, u10) ROW(atan2, atan2, u10) ROW(hypot, hypot, u05) ROW(pow, pow, u10) \
    ROW(erf, erf, u10) ROW(erfc, erfc, u15) ROW(tgamma, tgamma, u10) ROW(lgamma, lgamma, u10)

// The instruction sets of SLEEF: lanes of double, lanes of float, suffix.
#if defined(__x86_64__)
#define PARDO_VARIANTS(V, sleef, ulp)                                                                              \
    V(sleef, d8, ulp, avx512f) V(sleef, f16, ulp, avx512f) V(sleef, d4, ulp, avx2) V(sleef, f8, ulp, avx2)         \
    V(sleef, d2, ulp, avx2128) V(sleef, f4, ulp, avx2128) V(sleef, d2, ulp, sse4) V(sleef, f4, ulp, sse4)          \
    V(sleef, d2, ulp, sse2) V(sleef, f4, ulp, sse2) V(sleef, d1, ulp, purecfma) V(sleef, f1, ulp, purecfma)        \
    V(sleef, d1, ulp, purec) V(sleef, f1, ulp, purec)
#elif defined(__aarch64__)
#define PARDO_VARIANTS(V, sleef, ulp)                                                                              \
    V(sleef, d2, ulp, advsimd) V(sleef, f4, ulp, advsimd) V(sleef, d1, ulp, purecfma) V(sleef, f1, ulp, purecfma)  \
    V(sleef, d1, ulp, purec) V(sleef, f1, ulp, purec)
#endif

// clang-format on

// Only addresses are taken, so the true signatures do not matter; asm labels keep the names apart from the declarations of system headers.
#define PARDO_DECLARE_VARIANT(sleef, lanes, ulp, suffix) \
    extern "C" void pardo_##sleef##lanes##_##ulp##suffix() __asm__("Sleef_" #sleef #lanes "_" #ulp #suffix);
#define PARDO_DECLARE_ROW(name, sleef, ulp) PARDO_VARIANTS(PARDO_DECLARE_VARIANT, sleef, ulp)
PARDO_MATH_ROWS(PARDO_DECLARE_ROW)

namespace pardo::emit {

namespace {

struct Row {
    ir::Math fn;
    const char* sleef;
    const char* ulp;
};
#define PARDO_ROW(name, sleef, ulp) {ir::Math::name, #sleef, #ulp},
constexpr Row math_rows[] = {PARDO_MATH_ROWS(PARDO_ROW)};

std::string sleef_name(ir::Math fn, const std::string& lanes, const char* suffix) {
    for (const Row& row : math_rows)
        if (row.fn == fn) return std::string("Sleef_") + row.sleef + lanes + "_" + row.ulp + suffix;
    throw Error(ErrorCode::Internal, std::string("emit_llvm: no library function for ") + ir::name(fn));
}

}  // namespace

const std::vector<Symbol>& math_symbols() {
#define PARDO_SYMBOL_VARIANT(sleef, lanes, ulp, suffix) \
    {"Sleef_" #sleef #lanes "_" #ulp #suffix, reinterpret_cast<void*>(&pardo_##sleef##lanes##_##ulp##suffix)},
#define PARDO_SYMBOL_ROW(name, sleef, ulp) PARDO_VARIANTS(PARDO_SYMBOL_VARIANT, sleef, ulp)
#define PARDO_SYMBOL_CALL(name) {#name, reinterpret_cast<void*>(&pardo_call_##name)},
    static constinit Constant<std::vector<Symbol>> table;
    return table.get([] {
        std::vector<Symbol> symbols = {PARDO_MATH_ROWS(PARDO_SYMBOL_ROW) PARDO_LIBRARY_CALLS(PARDO_SYMBOL_CALL)};
        symbols.push_back({own_memory_symbol, reinterpret_cast<void*>(&own_memory)});
        symbols.push_back({share_loop_symbol, reinterpret_cast<void*>(&share_loop)});
        std::sort(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) { return std::strcmp(a.name, b.name) < 0; });
        return symbols;
    });
}

void* math_address(const char* name) {
    const std::vector<Symbol>& table = math_symbols();
    auto less = [](const Symbol& s, const char* n) { return std::strcmp(s.name, n) < 0; };
    auto found = std::lower_bound(table.begin(), table.end(), name, less);
    return found != table.end() && std::strcmp(found->name, name) == 0 ? found->address : nullptr;
}

std::string vector_math_name(ir::Math fn, bool is_double, int lanes, const LlvmTarget& target) {
    const std::string shape = (is_double ? "d" : "f") + std::to_string(lanes);
    const int bytes = lanes * (is_double ? 8 : 4);
#if defined(__x86_64__)
    if (bytes == 64) return sleef_name(fn, shape, "avx512f");
    if (bytes == 32) return sleef_name(fn, shape, "avx2");
    if (target.vector_bytes >= 32) return sleef_name(fn, shape, "avx2128");
    return sleef_name(fn, shape, target.features.find("+sse4.1") != std::string::npos ? "sse4" : "sse2");
#elif defined(__aarch64__)
    return bytes == 16 ? sleef_name(fn, shape, "advsimd") : std::string();
#else
    return {};
#endif
}

std::string scalar_math_name(ir::Math fn, bool is_double, const LlvmTarget& target) {
    return sleef_name(fn, is_double ? "d1" : "f1", target.fma ? "purecfma" : "purec");
}

}  // namespace pardo::emit

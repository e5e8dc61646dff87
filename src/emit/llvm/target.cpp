// src/emit/llvm/target.cpp: the machine that code is made for, found once.
#include <llvm/ADT/StringMap.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/TargetParser/Host.h>

#include <pardo/error.h>

#include <algorithm>

#include "base/arm.h"
#include "base/env.h"
#include "emit/llvm/module.h"

namespace pardo::emit {

namespace {

bool has(const llvm::StringMap<bool>& features, llvm::StringRef name) {
    auto found = features.find(name);
    return found != features.end() && found->second;
}

bool has_all(const llvm::StringMap<bool>& features, std::initializer_list<const char*> names) {
    return std::all_of(names.begin(), names.end(), [&](const char* n) { return has(features, n); });
}

/// PARDO_CPU_VECTOR_BYTES, or no limit.
int requested_bytes() {
    const auto text = env("PARDO_CPU_VECTOR_BYTES");
    if (!text) return 64;
    if (*text != "16" && *text != "32" && *text != "64")
        throw Error(ErrorCode::Value, "PARDO_CPU_VECTOR_BYTES: must be 16, 32 or 64, is \"" + *text + "\"");
    return std::stoi(*text);
}

LlvmTarget find_host(int limit) {
    LlvmTarget target;
    const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
#if defined(__x86_64__)
    const bool avx2 = has_all(features, {"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"});
    const bool avx512 = avx2 && has_all(features, {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"});
    const int widest = avx512 ? 64 : avx2 ? 32 : 16;
    target.vector_bytes = std::min(widest, limit);
    const bool v2 = has_all(features, {"sse4.2", "ssse3", "popcnt", "cx16"});
    if (target.vector_bytes == 16) {
        target.cpu = v2 ? "x86-64-v2" : "x86-64";
        target.features = v2 ? "+sse4.1,+sse4.2" : "";
        return target;
    }
    target.fma = true;
    if (v2) target.level = target.vector_bytes == 64 ? "x86-64-v4" : "x86-64-v3";
    if (target.vector_bytes < widest) {
        target.cpu = "x86-64-v3";
        return target;
    }
#else
    target.vector_bytes = std::min(16, limit);
    target.fma = true;
#if defined(__aarch64__)
    target.level = has_neoverse_n1() ? "neoverse-n1" : "armv8-a";
#endif
#endif
    target.cpu = llvm::sys::getHostCPUName().str();
    std::vector<std::string> names;
    // Code of LLVM 19 for AVX512-FP16 has given binom of float16 the lanes of another mask; halves are computed as floats here anyway.
    for (const auto& f : features) names.push_back(f.first().str().insert(0, f.second && f.first() != "avx512fp16" ? "+" : "-"));
    std::sort(names.begin(), names.end());
    for (const std::string& n : names) target.features.append(target.features.empty() ? "" : ",").append(n);
    return target;
}

}  // namespace

const LlvmTarget& host_target() {
    static const auto& target = *new LlvmTarget(find_host(requested_bytes()));
    return target;
}

LlvmTarget host_target_limited(int vector_bytes) { return find_host(vector_bytes); }

const std::vector<LlvmTarget>& levels() {
#if defined(__x86_64__)
    static const auto& all =
        *new std::vector<LlvmTarget>{{"x86-64-v3", "", 32, true, "x86-64-v3"}, {"x86-64-v4", "", 64, true, "x86-64-v4"}};
#elif defined(__aarch64__)
    static const auto& all =
        *new std::vector<LlvmTarget>{{"generic", "", 16, true, "armv8-a"}, {"neoverse-n1", "", 16, true, "neoverse-n1"}};
#else
    static const auto& all = *new std::vector<LlvmTarget>;
#endif
    return all;
}

std::string compiler_id(const LlvmTarget& target) {
    std::string text = "LLVM " LLVM_VERSION_STRING " emitter ";
    text.append(std::to_string(llvm_emitter_version)).append(" ").append(target.cpu).append(" ").append(target.features).append(" ");
    return text.append(std::to_string(target.vector_bytes));
}

}  // namespace pardo::emit

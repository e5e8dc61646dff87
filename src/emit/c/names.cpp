// src/emit/c/names.cpp: names for the text, of names that users give.
#include "emit/c/names.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/constant.h"

namespace pardo::emit {
namespace {

/// Words of the languages, and those that every program uses.
constexpr const char* words[] = {
    "alignas",    "alignof",    "and",          "asm",         "auto",        "bool",      "break",      "case",     "catch",
    "char",       "class",      "const",        "constant",    "constexpr",   "continue",  "decltype",   "default",  "delete",
    "do",         "double",     "else",         "enum",        "event_t",     "explicit",  "export",     "extern",   "false",
    "float",      "for",        "friend",       "generic",     "global",      "goto",      "half",       "if",       "image1d_t",
    "image2d_t",  "image3d_t",  "inline",       "int",         "kernel",      "local",     "long",       "main",     "mutable",
    "namespace",  "new",        "noexcept",     "not",         "nullptr",     "operator",  "or",         "pipe",     "private",
    "protected",  "ptrdiff_t",  "public",       "queue_t",     "quad",        "read_only", "read_write", "register", "restrict",
    "return",     "sampler_t",  "short",        "signed",      "size_t",      "sizeof",    "static",     "struct",   "switch",
    "template",   "this",       "thread_local", "throw",       "true",        "try",       "typedef",    "typeid",   "typename",
    "uchar",      "uint",       "ulong",        "union",       "unsigned",    "ushort",    "using",      "virtual",  "void",
    "volatile",   "wchar_t",    "while",        "write_only",  "xor",         "barrier",   "mem_fence",  "popcount", "fabs",
    "fmod",       "fma",        "intptr_t",     "uintptr_t",   "linux",       "unix",      "item",       "load",     "Loads",
    "at",         "u",          "member",       "threadIdx",   "blockIdx",    "blockDim",  "gridDim",    "warpSize", "shared_bytes",
    "f16_to_f32", "f32_to_f16", "f64_to_f16",   "NULL",        "NAN",         "INFINITY",  "MAXFLOAT",   "HUGE_VAL", "HUGE_VALF",
    "bitand",     "bitor",      "compl",        "co_await",    "co_return",   "co_yield",  "concept",    "requires", "char8_t",
    "char16_t",   "char32_t",   "bf16_to_f32",  "f32_to_bf16", "f64_to_bf16",
};

/// What names begin with that belong to the languages: functions of theirs, and constants that are macros.
constexpr const char* beginnings[] = {"__",      "pardo_", "atom", "get_",  "as_",   "shared_", "team_", "CLK_",   "cl_",
                                      "CUDART_", "M_",     "FLT_", "DBL_",  "HALF",  "FP_",     "CHAR_", "SCHAR_", "UCHAR_",
                                      "SHRT_",   "USHRT_", "INT_", "UINT_", "LONG_", "ULONG_",  "LLONG_"};

/// What the kernel function says which items there are with, where the groups are not the kernel's.
constexpr const char* frame_words[] = {"lane", "group", "tile", "tiles", "first", "items",   "bands",
                                       "row",  "r",     "c",    "begin", "end",   "reversed"};

bool is_word(const std::string& name) {
    static constinit Constant<std::set<std::string>> all;
    const auto make = [] {
        std::set<std::string> set(std::begin(words), std::end(words));
#define MATH(name, arity, doc) set.insert({#name, #name "f"});
#include "ir/math.def"
#undef MATH
        return set;
    };
    return all.get(make).contains(name);
}

bool begins_as_theirs(const std::string& name) {
    return std::any_of(std::begin(beginnings), std::end(beginnings), [&](const char* beginning) { return name.starts_with(beginning); });
}

/// True for names as v12, i0: the emitter's own.
bool is_numbered(const std::string& name, const std::string& letters) {
    return name.size() > 1 && letters.find(name[0]) != std::string::npos &&
           std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string c_identifier(const std::string& name) {
    std::string out = name;
    for (char& c : out) {
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    }
    if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out = "k_" + out;
    return out;
}

CNames choose_names(const ir::Kernel& kernel, const CFeatures& features, bool loads) {
    CNames names;
    std::set<std::string> taken;
    for (int d = 0; d < kernel.rank; ++d) taken.insert("n" + std::to_string(d));
    if (loads) taken.insert("x");
    if (!kernel.in_groups()) taken.insert(std::begin(frame_words), std::end(frame_words));
    const auto choose = [&](const std::string& wanted, bool parts) {
        std::string name = c_identifier(wanted);
        if (begins_as_theirs(name)) name.insert(0, "own_");
        const auto is_taken = [&] {
            return taken.contains(name) || is_word(name) || is_numbered(name, "vaktilgu") ||
                   (parts && (taken.contains(name + "_base") || taken.contains(name + "_offset")));
        };
        while (is_taken()) name += '_';
        taken.insert(name);
        if (parts) taken.insert({name + "_base", name + "_offset"});
        return name;
    };
    for (const ir::Param& p : kernel.params) names.params.push_back(choose(p.name, p.pointer && features.split_pointers));
    for (const ir::ArrayInfo& a : kernel.arrays) names.arrays.push_back(choose(a.name, false));
    return names;
}

}  // namespace pardo::emit

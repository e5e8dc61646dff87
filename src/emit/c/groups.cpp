// src/emit/c/groups.cpp: kernels in groups, arrays of a kernel's own, atomics.
#include <algorithm>
#include <set>

#include <pardo/error.h>

#include "base/constant.h"
#include "emit/c/emitter.h"
#include "ir/builder.h"
#include "ir/rules.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {

using ir::Opcode;
using ir::Value;

namespace {

constexpr int compare_exchange = 8;  // after the operations of ir::AtomicOp in CTarget's tables

/// Words of the languages, and those that every program uses.
constexpr const char* words[] = {
    "alignas",    "alignof",    "and",          "asm",        "auto",      "bool",      "break",      "case",     "catch",
    "char",       "class",      "const",        "constant",   "constexpr", "continue",  "decltype",   "default",  "delete",
    "do",         "double",     "else",         "enum",       "event_t",   "explicit",  "export",     "extern",   "false",
    "float",      "for",        "friend",       "generic",    "global",    "goto",      "half",       "if",       "image1d_t",
    "image2d_t",  "image3d_t",  "inline",       "int",        "kernel",    "local",     "long",       "main",     "mutable",
    "namespace",  "new",        "noexcept",     "not",        "nullptr",   "operator",  "or",         "pipe",     "private",
    "protected",  "ptrdiff_t",  "public",       "queue_t",    "quad",      "read_only", "read_write", "register", "restrict",
    "return",     "sampler_t",  "short",        "signed",     "size_t",    "sizeof",    "static",     "struct",   "switch",
    "template",   "this",       "thread_local", "throw",      "true",      "try",       "typedef",    "typeid",   "typename",
    "uchar",      "uint",       "ulong",        "union",      "unsigned",  "ushort",    "using",      "virtual",  "void",
    "volatile",   "wchar_t",    "while",        "write_only", "xor",       "barrier",   "mem_fence",  "popcount", "fabs",
    "fmod",       "fma",        "intptr_t",     "uintptr_t",  "linux",     "unix",      "item",       "load",     "Loads",
    "at",         "u",          "member",       "threadIdx",  "blockIdx",  "blockDim",  "gridDim",    "warpSize", "shared_bytes",
    "f16_to_f32", "f32_to_f16", "f64_to_f16",   "NULL",       "NAN",       "INFINITY",  "MAXFLOAT",   "HUGE_VAL", "HUGE_VALF",
    "bitand",     "bitor",      "compl",        "co_await",   "co_return", "co_yield",  "concept",    "requires", "char8_t",
    "char16_t",   "char32_t",
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

/// Those of the kernel's parameters and arrays, where the program has no other use for them.
void CEmitter::choose_names() {
    std::set<std::string> taken;
    for (int d = 0; d < kernel_.rank; ++d) taken.insert("n" + std::to_string(d));
    if (!early_.empty()) taken.insert("x");
    if (!kernel_.in_groups()) taken.insert(std::begin(frame_words), std::end(frame_words));
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
    for (const ir::Param& p : kernel_.params) param_names_.push_back(choose(p.name, p.pointer && features_.split_pointers));
    for (const ir::ArrayInfo& a : kernel_.arrays) array_names_.push_back(choose(a.name, false));
}

// ---- arrays, and items of groups ---------------------------------------------------------------------------------------------------

CEmitter::Memory CEmitter::memory_of(Value pointer) const {
    const Instr& definition = kernel_.instrs[kernel_.values[pointer].def];
    if (definition.op == Opcode::Param) return Memory::Global;
    return kernel_.arrays[definition.index].space == ir::Space::Group ? Memory::Group : Memory::Private;
}

/// Definitions of the kernel's arrays; those of the group are in the kernel's function, for languages that allow them only there.
std::string CEmitter::own_arrays(ir::Space space) const {
    std::string text;
    const bool large = space == ir::Space::Group && large_arrays();
    if (large) text += std::string(target_.large_shared) + " shared_bytes[];\n";
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < kernel_.arrays.size(); ++k) {
        const ir::ArrayInfo& a = kernel_.arrays[k];
        if (a.space != space) continue;
        const std::string t = c_memory_type(target_, a.type);
        if (large) {
            text += t + "* const " + array_names_[k] + " = (" + t + "*)(shared_bytes + " + std::to_string(offset) + ");\n";
            offset += (a.count * itemsize(a.type) + array_alignment - 1) / array_alignment * array_alignment;
        } else {
            text += (space == ir::Space::Group ? std::string(target_.shared) + " " : "") + t + " " + array_names_[k] + "[" +
                    std::to_string(a.count) + "]" + (space == ir::Space::Group ? " __attribute__((aligned(16)))" : "") + ";\n";
        }
    }
    return text;
}

/// The language numbers the items of a group; its groups are in one dimension, which has no narrow limit anywhere.
std::string CEmitter::group_items() const {
    const CGroups groups = groups_of(kernel_);
    const std::string wide = c_type(target_, DType::Int64), u = wide_type();
    std::string text = own_arrays(ir::Space::Group);
    const auto define = [&](char letter, int d, const std::string& value) {
        text += "const " + wide + " " + letter + std::to_string(d) + " = " + value + ";\n";
    };
    // Where a driver may number the items of sub-groups as it likes, its numbers say who is who.
    const std::string member = ir::has_shuffles(kernel_) ? sub_group_word(target_.sub_group_item) : target_.local_ids[0];
    if (groups.flat) text += "unsigned int member = (unsigned int)" + member + ";\n";
    for (int d = kernel_.rank - 1; d >= 0; --d) {
        const std::string size = std::to_string(groups.size[d]);
        if (groups.flat) {
            define('l', d, "member % " + size + "u");
            text += "member /= " + size + "u;\n";
        } else {
            define('l', d, groups.axis[d] < 0 ? "0" : target_.local_ids[groups.axis[d]]);
        }
    }
    text += u + " at = (" + u + ")" + target_.group_id + ";\n";
    for (int d = kernel_.rank - 1; d >= 0; --d) {
        const std::string size = std::to_string(groups.size[d]), n = std::to_string(d);
        if (d == 0) {
            define('g', d, "at");
        } else {
            const std::string count = "(" + u + ")(n" + n + " / " + size + ")";
            define('g', d, "at % " + count);
            text += "at /= " + count + ";\n";
        }
        define('i', d, "g" + n + " * " + size + " + l" + n);
    }
    return text + "item(" + arguments() + ");\n";
}

namespace {

bool has_barrier(const ir::Kernel& kernel, const ir::Instr& in) {
    if (in.op == Opcode::Barrier) return true;
    return std::any_of(in.regions.begin(), in.regions.end(), [&](ir::RegionId r) {
        const auto& body = kernel.regions[r].body;
        return std::any_of(body.begin(), body.end(), [&](ir::InstrId i) { return has_barrier(kernel, kernel.instrs[i]); });
    });
}

}  // namespace

/// For compilers that make wrong code of it.
void CEmitter::refuse_barrier(const Instr& branch) const {
    if (!has_barrier(kernel_, branch)) return;
    const ir::Span& at = branch.span;
    const std::string place =
        at.file && at.file < kernel_.files.size() ? " (" + kernel_.files[at.file] + ":" + std::to_string(at.line) + ")" : "";
    throw Error(ErrorCode::Compile, kernel_.name + ": a barrier is in an if" + place +
                                        ": this device's compiler, PoCL, compiles that wrongly; put the barrier outside, into the "
                                        "kernel's body or in a loop, and only what is around it in the if, or use another device");
}

// ---- atomics -----------------------------------------------------------------------------------------------------------------------

void CEmitter::check_atomic(const Instr& in) const {
    if (uses_team()) throw Error(ErrorCode::Internal, "emit_c: items of a team have no atomics");
    if (itemsize(type(in.operands[0])) == 8 && !features_.wide_atomics) {
        throw Error(ErrorCode::Compile, kernel_.name +
                                            ": this device has no atomics of 64 bits (the extensions cl_khr_int64_base_atomics and "
                                            "cl_khr_int64_extended_atomics); use int32, uint32 or float32");
    }
    if (in.scope == ir::MemoryScope::System && !features_.system_atomics) {
        throw Error(ErrorCode::Compile, kernel_.name +
                                            ": the atomics of this device are seen as such only by itself; use the scope \"device\", and "
                                            "do not use the memory elsewhere while the kernel runs");
    }
}

/// Languages whose atomics order nothing else need a fence for what they do.
void CEmitter::fence(const Instr& in, bool before) {
    const ir::MemoryOrder o = in.order;
    const bool both = o == ir::MemoryOrder::AcqRel || o == ir::MemoryOrder::SeqCst;
    if (both || o == (before ? ir::MemoryOrder::Release : ir::MemoryOrder::Acquire))
        line(std::string(target_.fences[static_cast<int>(in.scope)]) + ";");
}

std::string CEmitter::as_bits(DType dtype, const std::string& value) const {
    if (!is_float(dtype)) return value;
    return std::string(dtype == DType::Float32 ? target_.bits_of_f32 : target_.bits_of_f64) + "(" + value + ")";
}

/// The language's own function; `place` points to elements of `bits`, or to floats of its size.
std::string CEmitter::integer_atomic(const Instr& in, int op, DType bits, const std::string& place,
                                     const std::vector<std::string>& operands) {
    const bool wide = itemsize(bits) == 8, group = memory_of(in.operands[0]) == Memory::Group;
    const char* const* functions = wide ? target_.wide_atomics : target_.atomics;
    std::vector<std::string> values = operands;
    if (!functions[op]) {  // only Sub may be missing
        op = static_cast<int>(ir::AtomicOp::Add);
        values[0] = wrapping(" - ", bits, "0", values[0]);
    }
    const bool ordered = op == static_cast<int>(ir::AtomicOp::Min) || op == static_cast<int>(ir::AtomicOp::Max);
    const bool as_unsigned = wide && target_.wide_unsigned && kind_of(bits) == DKind::Signed && !ordered;
    const std::string t = as_unsigned ? target_.unsigned_types[3] : c_type(target_, bits);
    const char* memory = group ? target_.local : target_.global;
    std::string text = std::string(functions[op]) + (group ? "" : target_.scopes[static_cast<int>(in.scope)]) + "(";
    if (as_unsigned || type(in.operands[0]) != bits) text += "(" + (*memory ? std::string(memory) + " " : "") + t + "*)";
    text += place;
    for (const std::string& v : values) text += ", " + (as_unsigned ? "(" + t + ")" + wrapped(v) : v);
    text += ")";
    return as_unsigned ? "(" + c_type(target_, bits) + ")" + text : text;
}

std::string CEmitter::atomic_call(const Instr& in, DType dtype) {
    const bool exchange = in.op == Opcode::CompareExchange, group = memory_of(in.operands[0]) == Memory::Group;
    const std::string place = "&" + at(in.operands[0]) + "[" + at(in.operands[1]) + "]";
    const int op = exchange ? compare_exchange : static_cast<int>(in.atomic);
    std::vector<std::string> values;
    for (int k = 2; k < in.operands.size(); ++k) values.push_back(at(in.operands[k]));
    if (!is_float(dtype)) return integer_atomic(in, op, dtype, place, values);
    const bool single = dtype == DType::Float32;
    if (exchange || in.atomic == ir::AtomicOp::Exchange) {
        for (std::string& v : values) v = as_bits(dtype, v);
        return std::string(single ? target_.f32_from_bits : target_.f64_from_bits) + "(" +
               integer_atomic(in, op, single ? DType::UInt32 : DType::UInt64, place, values) + ")";
    }
    const std::string suffix = group ? "" : target_.scopes[static_cast<int>(in.scope)];
    const bool sum = in.atomic == ir::AtomicOp::Add || in.atomic == ir::AtomicOp::Sub;
    if (sum && target_.float_atomics) {
        const std::string value = in.atomic == ir::AtomicOp::Sub ? "-" + wrapped(values[0]) : values[0];
        return std::string(target_.atomics[0]) + suffix + "(" + place + ", " + value + ")";
    }
    return helpers_.use_float_atomic(in.atomic, dtype, group, suffix) + "(" + place + ", " + values[0] + ")";
}

/// The first one leaves the words; devices without wide atomics may mix those of two that fail at once.
void CEmitter::report(const Instr& in) {
    const std::string words = at(in.operands[0]), first = at(in.operands[1]);
    Instr exchange = in;
    exchange.scope = ir::MemoryScope::Device;
    std::string test = words + "[0]";
    if (features_.wide_atomics)
        test = integer_atomic(exchange, compare_exchange, DType::Int64, "&" + test, {constant(Scalar(std::int64_t(0))), first});
    line("if (" + test + " == 0) {");
    ++depth_;
    for (int k = 2; k < in.operands.size(); ++k) line(words + "[" + std::to_string(k - 1) + "] = " + at(in.operands[k]) + ";");
    if (!features_.wide_atomics) line(words + "[0] = " + first + ";");
    --depth_;
    line("}");
}

/// Nothing else uses the memory.
void CEmitter::private_atomic(const Instr& in) {
    const DType dtype = type(in.operands[0]);
    const std::string index = named(in.operands[1]), place = at(in.operands[0]) + "[" + index + "]", x = named(in.operands[2]);
    declare(in.results[0], place);
    const std::string old = at(in.results[0]);
    if (in.op == Opcode::CompareExchange) {
        line("if (" + as_bits(dtype, old) + " == " + as_bits(dtype, x) + ") " + place + " = " + at(in.operands[3]) + ";");
        return;
    }
    std::string value;
    switch (in.atomic) {
        case ir::AtomicOp::Add:
        case ir::AtomicOp::Sub: {
            const char* sign = in.atomic == ir::AtomicOp::Add ? " + " : " - ";
            value = is_float(dtype) ? old + sign + wrapped(x) : wrapping(sign, dtype, old, x);
            break;
        }
        case ir::AtomicOp::Min: value = min_max(Opcode::Fmin, dtype, old, x); break;
        case ir::AtomicOp::Max: value = min_max(Opcode::Fmax, dtype, old, x); break;
        case ir::AtomicOp::And: value = old + " & " + wrapped(x); break;
        case ir::AtomicOp::Or: value = old + " | " + wrapped(x); break;
        case ir::AtomicOp::Xor: value = old + " ^ " + wrapped(x); break;
        case ir::AtomicOp::Exchange: value = x; break;
    }
    line(place + " = " + value + ";");
}

/// Narrow integers and truth values travel as int.
void CEmitter::shuffle(const Instr& in) {
    const DType dtype = type(in.results[0]);
    const bool narrow = itemsize(dtype) < 4 && dtype != DType::Float16;
    const std::int64_t items = groups_of(kernel_).items(), left = items % 32;
    const std::string some = std::to_string((1U << left) - 1) + "u",
                      mask = left == 0    ? "0xffffffffu"
                             : items < 32 ? some
                                          : "(threadIdx.x < " + std::to_string(items - left) + "u ? 0xffffffffu : " + some + ")";
    std::string text = (features_.intel_shuffles ? "intel_" : "") + sub_group_word(target_.shuffle);
    replace_all(text, "$M", mask);
    replace_all(text, "$V", (narrow ? "(int)" : "") + text_[in.operands[0]]);
    replace_all(text, "$I", text_[in.operands[1]]);
    declare(in.results[0], narrow ? "(" + c_type(target_, dtype) + ")(" + text + ")" : text);
}

void CEmitter::atomic(const Instr& in) {
    if (memory_of(in.operands[0]) == Memory::Private) return private_atomic(in);
    check_atomic(in);
    const Value result = in.results[0];
    const std::string text = atomic_call(in, type(result));
    fence(in, true);
    if (uses_.count[result] == 0) {
        line(text + ";");
    } else {
        declare(result, text);
    }
    fence(in, false);
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)

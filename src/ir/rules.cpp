// src/ir/rules.cpp: the dtype rules of operations.
#include "ir/rules.h"

#include <algorithm>
#include <bit>

#include "ir/math/table.h"

namespace pardo::ir {
namespace {

using DTypes = std::span<const DType>;

/// What all operands are and how the result follows from them.
enum class Domain : unsigned char { None, Any, Numbers, Inexact, Reals, Floats, Bits, Integers, Complex };
enum class Result : unsigned char { Free, Same, Bool, RealPart };

struct Rule {
    int operands;
    Domain domain;
    Result result;
};

constexpr Rule rules[] = {
    /* const */ {0, Domain::None, Result::Free},
    /* param */ {0, Domain::None, Result::Free},
    /* dim */ {0, Domain::None, Result::Free},
    /* extent */ {0, Domain::None, Result::Free},
    /* local_dim */ {0, Domain::None, Result::Free},
    /* group_dim */ {0, Domain::None, Result::Free},
    /* array */ {0, Domain::None, Result::Free},
    /* add */ {2, Domain::Any, Result::Same},
    /* sub */ {2, Domain::Any, Result::Same},
    /* mul */ {2, Domain::Any, Result::Same},
    /* div */ {2, Domain::Inexact, Result::Same},
    /* floor_div */ {2, Domain::Reals, Result::Same},
    /* rem */ {2, Domain::Reals, Result::Same},
    /* fmod */ {2, Domain::Reals, Result::Same},
    /* neg */ {1, Domain::Numbers, Result::Same},
    /* abs */ {1, Domain::Numbers, Result::RealPart},
    /* min */ {2, Domain::Any, Result::Same},
    /* max */ {2, Domain::Any, Result::Same},
    /* fmin */ {2, Domain::Reals, Result::Same},
    /* fmax */ {2, Domain::Reals, Result::Same},
    /* fma */ {3, Domain::Floats, Result::Same},
    /* and */ {2, Domain::Bits, Result::Same},
    /* or */ {2, Domain::Bits, Result::Same},
    /* xor */ {2, Domain::Bits, Result::Same},
    /* not */ {1, Domain::Bits, Result::Same},
    /* shl */ {2, Domain::Integers, Result::Same},
    /* shr */ {2, Domain::Integers, Result::Same},
    /* eq */ {2, Domain::Any, Result::Bool},
    /* ne */ {2, Domain::Any, Result::Bool},
    /* lt */ {2, Domain::Any, Result::Bool},
    /* le */ {2, Domain::Any, Result::Bool},
    /* gt */ {2, Domain::Any, Result::Bool},
    /* ge */ {2, Domain::Any, Result::Bool},
    /* select */ {3, Domain::None, Result::Free},
    /* cast */ {1, Domain::Any, Result::Free},
    /* bitcast */ {1, Domain::Reals, Result::Free},
    /* call */ {-1, Domain::Numbers, Result::Same},
    /* complex */ {2, Domain::Floats, Result::Free},
    /* real */ {1, Domain::Complex, Result::RealPart},
    /* imag */ {1, Domain::Complex, Result::RealPart},
    /* wrap */ {2, Domain::Integers, Result::Same},
    /* inside */ {2, Domain::Integers, Result::Bool},
    /* lookup */ {-1, Domain::Any, Result::Free},
};
static_assert(std::size(rules) == static_cast<std::size_t>(Opcode::Load));

bool in_domain(Domain d, DType t) {
    switch (d) {
        case Domain::None:
        case Domain::Any: return true;
        case Domain::Numbers: return t != DType::Bool;
        case Domain::Inexact: return is_inexact(t);
        case Domain::Reals: return is_integer(t) || is_float(t);
        case Domain::Floats: return is_float(t);
        case Domain::Bits: return is_integer(t) || t == DType::Bool;
        case Domain::Integers: return is_integer(t);
        case Domain::Complex: return is_complex(t);
    }
    return false;
}

const char* domain_text(Domain d) {
    constexpr const char* texts[] = {"",
                                     "",
                                     "operands must be numbers, not bool",
                                     "operands must be floating or complex",
                                     "operands must be integers or floating",
                                     "operands must be floating",
                                     "operands must be integers or bool",
                                     "operands must be integers",
                                     "the operand must be complex"};
    return texts[static_cast<int>(d)];
}

const char* call_rule(Math fn, DType t, int operands) {
    if (operands != arity(fn)) return "wrong number of operands for this function";
    if (is_integer(t)) return fn == Math::pow ? nullptr : "this function takes floating operands";
    if (is_complex(t)) return takes_complex(fn) ? nullptr : "this function has no complex form";
    if (fn == Math::wofz) return "this function takes complex operands";
    return nullptr;
}

const char* special_rule(Opcode op, DType result, DTypes t) {
    switch (op) {
        case Opcode::Dim:
        case Opcode::Extent:
        case Opcode::LocalDim:
        case Opcode::GroupDim: return result == DType::Int64 ? nullptr : "the result must be int64";
        case Opcode::Lt:
        case Opcode::Le:
        case Opcode::Gt:
        case Opcode::Ge: return is_complex(t[0]) ? "complex numbers have no order" : nullptr;
        case Opcode::Select:
            if (t[0] != DType::Bool) return "the condition must be bool";
            return t[1] == result && t[2] == result ? nullptr : "both choices must have the result's dtype";
        case Opcode::Bitcast:
            if (!in_domain(Domain::Reals, result)) return "the result must be integer or floating";
            return itemsize(t[0]) == itemsize(result) ? nullptr : "operand and result must have the same size";
        case Opcode::Complex:
            if (!is_complex(result)) return "the result must be complex";
            return t[0] == real_of(result) && t[1] == t[0] ? nullptr : "both parts must have the result's real dtype";
        case Opcode::Lookup:
            if (t.size() < 3 || !std::has_single_bit(t.size() - 1)) return "needs an index and a power of two values";
            if (t[0] != DType::Int64) return "the index must be int64";
            if (is_complex(result)) return "values must not be complex";
            return std::all_of(t.begin() + 1, t.end(), [&](DType v) { return v == result; }) ? nullptr
                                                                                             : "values must have the result's dtype";
        default: return nullptr;
    }
}

}  // namespace

bool has_shuffles(const Kernel& kernel) {
    return std::any_of(kernel.instrs.begin(), kernel.instrs.end(), [](const Instr& in) { return in.op == Opcode::Shuffle; });
}

std::vector<bool> barriers_of(const Kernel& kernel) {
    std::vector<bool> found(kernel.instrs.size());
    const auto visit = [&](const Region& region, const auto& self) -> bool {
        bool any = false;
        for (const InstrId id : region.body) {
            found[id] = kernel.instrs[id].op == Opcode::Barrier || kernel.instrs[id].op == Opcode::Shuffle;
            for (const RegionId inner : kernel.instrs[id].regions)
                if (self(kernel.regions[inner], self)) found[id] = true;
            any |= found[id];
        }
        return any;
    };
    visit(kernel.body, visit);
    return found;
}

bool takes_complex(Math fn) { return math::find(fn, DType::Complex128, {}) != nullptr; }

const char* broken_atomic_rule(AtomicOp op, DType dtype) {
    const bool number = (is_integer(dtype) || is_float(dtype)) && itemsize(dtype) >= 4;
    if (!number) return "atomics are for int32, uint32, int64, uint64, float32 and float64";
    const bool bits = op == AtomicOp::And || op == AtomicOp::Or || op == AtomicOp::Xor;
    return bits && !is_integer(dtype) ? "and, or, xor are for integers" : nullptr;
}

bool has_its_attribute(const Instr& in) {
    switch (in.op) {
        case Opcode::Const: return std::holds_alternative<Constant>(in.attribute);
        case Opcode::Call: return std::holds_alternative<Math>(in.attribute);
        case Opcode::Atomic: return std::holds_alternative<Atomic>(in.attribute);
        case Opcode::CompareExchange:
        case Opcode::Fence: return std::holds_alternative<Ordering>(in.attribute);
        case Opcode::For: return std::holds_alternative<Loop>(in.attribute);
        default: return is_leaf(in.op) ? std::holds_alternative<Index>(in.attribute) : std::holds_alternative<std::monostate>(in.attribute);
    }
}

const char* broken_rule(Opcode op, Math fn, DType result, DTypes t) {
    if (!is_pure(op)) return "not a plain operation";
    const Rule& rule = rules[static_cast<int>(op)];
    const int count = static_cast<int>(t.size());
    if (rule.operands >= 0 && count != rule.operands) return "wrong number of operands";
    for (DType each : t) {
        if (!in_domain(rule.domain, each)) return domain_text(rule.domain);
        if (rule.result != Result::Free && each != t[0]) return "operands must have one dtype";
    }
    if (op == Opcode::Call) {
        if (const char* broken = call_rule(fn, count ? t[0] : result, count)) return broken;
    }
    if (const char* broken = special_rule(op, result, t)) return broken;
    switch (rule.result) {
        case Result::Free: return nullptr;
        case Result::Same: return result == t[0] ? nullptr : "the result must have the operands' dtype";
        case Result::Bool: return result == DType::Bool ? nullptr : "the result must be bool";
        case Result::RealPart: return result == real_of(t[0]) ? nullptr : "the result must have the operand's real dtype";
    }
    return nullptr;
}

}  // namespace pardo::ir

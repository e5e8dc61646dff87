// src/emit/c/sines.cpp: sine and cosine of one number by one function of CUDA's: most of either is the reduction of the number.
#include <map>
#include <utility>

#include "emit/c/emitter.h"
#include "ir/rules.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {

using ir::Opcode;

void CEmitter::pair_sines() {
    if (!target_.paired_sines) return;
    for (const Instr& in : kernel_.instrs) {
        if (ir::is_lanes_loop(in)) return;  // whose values may come from elsewhere
    }
    const auto visit = [&](const ir::Region& region) {
        std::map<Value, const Instr*> seen;  // by operand: the first of the two
        for (const ir::InstrId i : region.body) {
            const Instr& in = kernel_.instrs[i];
            if (in.op != Opcode::Call || (in.math != ir::Math::sin && in.math != ir::Math::cos)) continue;
            if (uses_[in.results[0]] == 0 || type(in.results[0]) == DType::Float16) continue;
            const auto [at, first] = seen.emplace(in.operands[0], &in);
            if (!first && at->second->math != in.math) sines_[at->second->results[0]] = in.results[0];
        }
    };
    visit(kernel_.body);
    for (const ir::Region& region : kernel_.regions) visit(region);
}

/// The value of `in`; that of `other` is there for where it is met.
std::string CEmitter::sine_and_cosine(const Instr& in, Value other, DType dtype) {
    std::string mine = fresh("v");
    const std::string second = fresh("v");
    line(c_type(target_, dtype) + " " + mine + ", " + second + ";");
    const bool sine = in.math == ir::Math::sin;
    line(function("sincos", dtype) + "(" + at(in.operands[0]) + ", &" + (sine ? mine : second) + ", &" + (sine ? second : mine) + ");");
    from_[other] = second;
    return mine;
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)

// src/emit/c/sines.cpp: sine and cosine of one number by one function of CUDA's: most of either is the reduction of the number.
#include <map>
#include <utility>

#include "emit/c/emitter.h"
#include "ir/rules.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {

using ir::Opcode;

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

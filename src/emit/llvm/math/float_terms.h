// src/emit/llvm/math/float_terms.h: polynomials for functions of floats that are computed in double precision; minimax fits (Remez, 40
// digits).
#pragma once

#include <cstdint>

namespace pardo::emit {

inline constexpr std::int64_t bits_of_one = 0x3ff0000000000000;
/// (e^r - 1) / r in r on [-ln 2 / 2, ln 2 / 2], relative error 2^-32.
inline constexpr double expm1_of_float[] = {1.000000000031391,    0.5000000046945153,    0.16666666248385176,   0.04166635331419716,
                                            0.008333402917385973, 0.0013941091126067496, 0.00019841356984133486};
/// log((1 + s) / (1 - s)) / s in s^2 for (1 + s) / (1 - s) between the roots of 1/2 and 2, relative error 2^-38.
inline constexpr double log_of_float[] = {2.0000000000085096, 0.6666666522881476, 0.40000388238824164, 0.2853483581770604,
                                          0.2362037655060549};

}  // namespace pardo::emit

// src/ir/math/terms.h: numbers that several recipes approximate with.
#pragma once

namespace pardo::ir::math {

// e^x in double precision: (e^r - 1) / r on [-0.35, 0.35], lowest power first, relative error of e^r 2^-58 (minimax); ln 2 in two parts;
// and what leaves a sum's whole number in its low bits.
inline constexpr double expm1_terms[] = {1.0,
                                         0.5000000000000007,
                                         0.16666666666666693,
                                         0.04166666666656537,
                                         0.008333333333311379,
                                         0.0013888888935177902,
                                         0.00019841269909239457,
                                         2.480150097011464e-05,
                                         2.7557222635560476e-06,
                                         2.7627748697699826e-07,
                                         2.5116133219042486e-08};
inline constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
inline constexpr double whole_shifter = 0x1.8p52;

}  // namespace pardo::ir::math

// src/ir/math/special/tables.h: approximations of special functions, made by make_tables.py, which tells what is approximated, where, and
// how well.
#pragma once

#include <span>

namespace pardo::ir::math {

/// A polynomial in u - center, or a quotient of two, for each dtype; lowest power first.
struct Fit {
    double center;
    std::span<const double> top64, below64, top32, below32;
};
/// A number that no float is, as a sum of two.
struct Parts {
    double high64, low64, high32, low32;
};

extern const Fit lgamma_at_1;
extern const Fit lgamma_at_2;
extern const Fit stirling_terms;
extern const Fit digamma_near;
extern const Fit digamma_far;
extern const Fit sine_pi;
extern const Fit cosine_pi;
extern const Fit erfc_scaled;
extern const Fit erf_inverse;
extern const Fit erfc_inverse_near;
extern const Fit erfc_inverse_far;
extern const Fit erfc_inverse_end;
extern const Fit atanh_rest;
extern const Fit i0_near;
extern const Fit i1_near;
extern const Fit i0_far;
extern const Fit i1_far;
extern const Fit i0_unit;
extern const Fit i1_unit;
extern const Fit k0_near;
extern const Fit k1_near;
extern const Fit k0_far;
extern const Fit k1_far;
extern const Fit j0_near;
extern const Fit j1_near;
extern const Fit y0_near;
extern const Fit y1_near;
extern const Fit j0_p;
extern const Fit j0_q;
extern const Fit j1_p;
extern const Fit j1_q;
extern const Fit temme_0;
extern const Fit temme_1;
extern const Fit temme_2;
extern const Fit temme_3;
extern const Fit temme_4;
extern const Fit temme_5;
extern const Fit temme_6;
extern const Fit temme_7;
extern const Fit temme_8;
extern const Fit temme_9;
extern const Fit zeta_near;
extern const Fit zeta_middle;
extern const Fit zeta_end;
extern const Fit exp1_near;
extern const Fit exp1_far;
extern const Fit expi_near;
extern const Fit expi_middle;
extern const Fit expi_far;
extern const Fit expi_end;
extern const Fit ellipk_plain;
extern const Fit ellipk_rest;
extern const Fit ellipk_log;
extern const Fit ellipe_plain;
extern const Fit ellipe_rest;
extern const Fit ellipe_log;
extern const Parts digamma_root;
extern const Parts expi_root;
extern const Parts j0_first;
extern const Parts j0_second;
extern const Parts j1_first;
extern const Parts j1_second;

}  // namespace pardo::ir::math

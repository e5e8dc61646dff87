// src/ir/math/special/incomplete.cpp: the incomplete gamma and beta functions, and the beta function.
// Gamma: the series of P for small x, that of Q for small x and a, Legendre's continued fraction for x > a; about x = a, for a > 20,
// Temme's uniform expansion ("The asymptotic expansion of the incomplete gamma functions", 1979). The regions are those of SciPy (Cephes).
// Beta: the continued fraction of Lentz's method, of the tail that is the smaller one. Factors in front avoid the difference of large
// logarithms: by powers where parameters are small, by the distance to the maximum where they are large (DiDonato and Morris, 1992).
#include <numbers>

#include "ir/math/special/special.h"

namespace pardo::ir::math {
namespace {

constexpr double large = 8.0;  // parameters from which on Stirling's formula serves

Expr tgamma(Expr x) { return call(Math::tgamma, x); }
Expr relative_limit(Expr x) { return x.pick(0x1p-25, 0x1p-54); }

/// x^a e^-x / gamma(a + 1).
Expr gamma_factor(Expr a, Expr x) {
    return branch(
        a < large, [&] { return select(x > 1e4, x(0.0), pow(x, a) * exp(-x) / tgamma(a + 1.0)); },
        [&] { return exp(a * log1p_minus((x - a) / a, x / a) - stirling_rest(a)) / sqrt((2 * std::numbers::pi) * a); });
}

/// P divided by the factor: 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + …
Expr lower_series(Expr a, Expr x) {
    const Expr limit = relative_limit(x);
    const auto sums = loop(
        {x(1.0), x(1.0), a}, [&](Args v) { return v[0] > limit * v[1]; },
        [&](Args v) {
            const Expr next = v[2] + 1.0, term = v[0] * (x / next);
            return std::vector<Expr>{term, v[1] + term, next};
        });
    return sums[1];
}

/// Q for small x and a: 1 - x^a / gamma(a + 1) (1 + the sum of (-x)^n a / ((a + n) n!)).
Expr upper_series(Expr a, Expr x) {
    const Expr limit = relative_limit(x);
    const auto sums = loop(
        {x(1.0), x(0.0), x(0.0), x(1.0)}, [&](Args v) { return abs(v[3]) > limit * abs(v[1]); },
        [&](Args v) {
            const Expr n = v[2] + 1.0, power = v[0] * (-x / n), term = power / (a + n);
            return std::vector<Expr>{power, v[1] + term, n, term};
        });
    const Expr log_gamma = branch(
        a < 0.5, [&] { return a * fitted(lgamma_at_1, a); }, [&] { return expanded(Math::lgamma, {a + 1.0}); });
    const Expr exponent = a * log(x) - log_gamma;
    return -expm1(exponent) - exp(exponent) * (a * sums[1]);
}

/// Q divided by the factor: a continued fraction by Lentz's method.
Expr upper_fraction(Expr a, Expr x) {
    const Expr limit = relative_limit(x), b = x + 1.0 - a, first = 1.0 / b;
    const Expr far = x.pick(1e30, 1e300);
    const auto v = loop(
        {first, far, first, b, x(0.0), x(2.0)}, [&](Args v) { return abs(v[5] - 1.0) > limit; },
        [&](Args v) {
            const Expr i = v[4] + 1.0, numerator = i * (a - i), below = v[3] + 2.0;
            const Expr d = 1.0 / fma(numerator, v[0], below), c = below + numerator / v[1], change = c * d;
            return std::vector<Expr>{d, c, v[2] * change, below, i, change};
        });
    return a * v[2];
}

/// P and Q; the one that is small is precise.
struct Tails {
    Expr lower, upper;
};
Tails lower_is(Expr p) { return {p, 1.0 - p}; }
Tails upper_is(Expr q) { return {1.0 - q, q}; }

Tails branch(Expr condition, const std::function<Tails()>& yes, const std::function<Tails()>& no) {
    Builder* m = condition.m;
    const auto side = [](const std::function<Tails()>& f) {
        return [&f] {
            const Tails t = f();
            return Builder::Values{t.lower.v, t.upper.v};
        };
    };
    const Builder::Values v = m->if_else(condition.v, side(yes), side(no));
    return {{m, v[0]}, {m, v[1]}};
}

/// About x = a.
Tails temme(Expr a, Expr x) {
    const Expr d = (x - a) / a, below = d < 0.0, exponent = log1p_minus(d, x / a), size = sqrt(-2.0 * exponent),
               eta = select(below, -size, size);
    const Expr inverse = 1.0 / a;
    const Fit* const rows[] = {&temme_0, &temme_1, &temme_2, &temme_3, &temme_4, &temme_5, &temme_6, &temme_7, &temme_8, &temme_9};
    Expr sum = fitted(*rows[std::size(rows) - 1], eta);
    for (std::size_t k = std::size(rows) - 1; k-- > 0;) sum = fma(sum, inverse, fitted(*rows[k], eta));
    const Expr rest = sum / sqrt((2 * std::numbers::pi) * a);
    const Expr tail = exp(a * exponent) * (0.5 * scaled_erfc(sqrt(0.5 * a) * size) + select(below, -rest, rest)), other = 1.0 - tail;
    return {select(below, tail, other), select(below, other, tail)};
}

/// For a, x > 0.
Tails incomplete_gamma(Expr a, Expr x) {
    const Expr small = x <= 1.1;
    return branch((a > 20.0) & (abs((x - a) / a) < 0.3), [&] { return temme(a, x); },
                  [&] {
                      const Expr factor = gamma_factor(a, x);
                      return branch(
                          select(x <= 0.5, -0.4 / log(x) < a, select(small, 1.1 * x < a, x <= a)),
                          [&] { return lower_is(factor * lower_series(a, x)); },
                          [&] {
                              return branch(
                                  small, [&] { return upper_is(upper_series(a, x)); },
                                  [&] { return upper_is(factor * upper_fraction(a, x)); });
                          });
                  });
}

/// With what is at the ends: `none` of the integral, or `all`.
Expr with_ends(Expr a, Expr x, Expr value, double none) {
    const double all = 1.0 - none;
    const Expr at_zero = select(x > 0.0, x(all), x.nan()), at_infinity = select(is_infinite(x), x.nan(), x(none));
    const Expr plain = select(x == 0.0, x(none), select(is_infinite(x), x(all), value));
    return select((x < 0.0) | (a < 0.0) | is_nan(x) | is_nan(a), x.nan(),
                  select(a == 0.0, at_zero, select(is_infinite(a), at_infinity, plain)));
}

/// log gamma(a + b) - log gamma(b) - a log b for b, a + b >= 7.5, a <= b.
Expr gamma_ratio_rest(Expr a, Expr b) {
    const Expr sum = a + b;
    return fma(sum - 0.5, log1p(a / b), -a) + (stirling_rest(sum) - stirling_rest(b));
}

/// What is small in log beta(a, b) for a, b >= 8.
Expr beta_rest(Expr a, Expr b) { return stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b); }

/// x^a y^b / beta(a, b), y = 1 - x.
Expr beta_factor(Expr a, Expr b, Expr x, Expr y) {
    const Expr swap = a > b, low = select(swap, b, a), high = select(swap, a, b);
    return branch(
        low >= large,
        [&] {
            const Expr n = a + b, lambda = a * y - b * x;
            const Expr exponent = fma(a, log1p_minus(-lambda / a, x * (n / a)), b * log1p_minus(lambda / b, y * (n / b)));
            return exp(exponent - beta_rest(a, b)) * sqrt(a / n * b * (0.5 / std::numbers::pi));
        },
        [&] {
            const Expr of_low = select(swap, y, x), of_high = select(swap, x, y);
            return branch(
                high >= large,
                [&] {
                    const Expr logarithm = branch(
                        of_low < 0.5, [&] { return log1p(-of_low); }, [&] { return log(of_high); });
                    const Expr size = exp(fma(high, logarithm, gamma_ratio_rest(low, high)));  // 0 wherever the power overflows
                    return select(size == 0.0, size, pow(of_low * high, low) * size / tgamma(low));
                },
                [&] { return pow(x, a) * pow(y, b) * tgamma(a + b) / (tgamma(a) * tgamma(b)); });
        });
}

/// The integral up to x divided by the factor, for x below the mean: the even part of its continued fraction, of which each step takes two,
/// and in which nothing cancels where x is close to 1 (DiDonato and Morris); by Lentz's method.
Expr beta_fraction(Expr a, Expr b, Expr x, Expr y) {
    const Expr limit = relative_limit(x), tiny = x.pick(1e-30, 1e-300), far = x.pick(1e30, 1e300), most_steps = x.pick(0x1p24, 0x1p31);
    const auto nonzero = [&](Expr v) { return select(abs(v) < tiny, tiny, v); };
    const Expr least_base = 2.0 * (a + 1.0) / (a + b + 2.0), base = most(a * y - b * x + 1.0, least_base);  // below it by rounding only
    const Expr slope = y + 1.0, first = 1.0 / (a / (a + 1.0) * base);
    const auto v = loop(
        {first, far, first, x(0.0), x(2.0)}, [&](Args v) { return (abs(v[4] - 1.0) > limit) & (v[3] < most_steps); },
        [&](Args v) {
            const Expr m = v[3] + 1.0, at = a + 2.0 * m, before = 1.0 / (at - 1.0), product = m * ((b - m) * x);
            const Expr numerator = product * x * ((a + (m - 1.0)) * before) * ((a + b + (m - 1.0)) * before);
            const Expr below = m + product * before + (a + m) / (at + 1.0) * fma(m, slope, base);
            const Expr d = 1.0 / nonzero(fma(numerator, v[0], below)), c = nonzero(below + numerator / v[1]), change = c * d;
            return std::vector<Expr>{d, c, v[2] * change, m, change};
        });
    return v[2];
}

/// For a, b > 0, 0 < x < 1, x + y = 1.
Tails incomplete_beta(Expr a, Expr b, Expr x, Expr y) {
    const Expr swap = x * (a + b + 2.0) > a + 1.0;
    const Expr p = select(swap, b, a), q = select(swap, a, b), u = select(swap, y, x), w = select(swap, x, y);
    const Expr valid = (a > 0.0) & (b > 0.0) & (x > 0.0) & (y > 0.0);  // elsewhere the fraction need not end
    const Expr tail = beta_factor(p, q, u, w) * beta_fraction(p, q, select(valid, u, 0.0), select(valid, w, 1.0)), other = 1.0 - tail;
    return {select(swap, other, tail), select(swap, tail, other)};
}

/// With what is at the ends. All is at x = 0 where a is 0 or b infinite, at x = 1 the other way round.
Expr with_ends(Expr a, Expr b, Expr x, Expr value, double none) {
    const double all = 1.0 - none;
    const Expr at_zero = (a == 0.0) | is_infinite(b), at_one = (b == 0.0) | is_infinite(a);
    const Expr inside = select(at_zero, x(all), select(at_one, x(none), value));
    const Expr defined = select(x == 0.0, x(none), select(x == 1.0, x(all), inside));
    const Expr undefined = (a < 0.0) | (b < 0.0) | (x < 0.0) | (x > 1.0) | (at_zero & at_one) | is_nan(a) | is_nan(b) | is_nan(x);
    return select(undefined, x.nan(), defined);
}

/// The logarithm of beta, or beta itself, for b >= 8 and a + b >= 7.5, a not a pole: by gamma(a) b^-a.
Expr beta_beside_large(Expr a, Expr b, bool logarithm) {
    const Expr rest = select(is_infinite(b), b(0.0), gamma_ratio_rest(a, b));
    if (logarithm) return expanded(Math::lgamma, {a}) - fma(a, log(b), rest);
    const Expr root = pow(b, -0.5 * a);  // the power itself may be too large
    return tgamma(a) * root * (root * exp(-rest));
}

/// Of both larger than 8.
Expr beta_of_large(Expr low, Expr high, bool logarithm) {
    const Expr n = low + high, shape = fma(low, log(low / n), -high * log1p(low / high)) + beta_rest(low, high);
    const Expr scale = (2 * std::numbers::pi) / low * (n / high);
    const Expr value = logarithm ? fma(log(scale), 0.5, shape) : exp(shape) * sqrt(scale);
    return select(is_infinite(high), logarithm ? -high : high(0.0), value);
}

/// log |gamma| of both, less that of their sum; a loop, so that the code is there once.
Expr sum_of_lgammas(Expr a, Expr b) {
    const auto v = loop(
        {a(0.0), a(0.0)}, [&](Args v) { return v[0] < 3.0; },
        [&](Args v) {
            const Expr last = v[0] == 2.0, x = select(v[0] == 0.0, a, select(last, a + b, b)), part = lgamma({&x, 1});
            return std::vector<Expr>{v[0] + 1.0, v[1] + select(last, -part, part)};
        });
    return v[1];
}

/// From here on gamma and its reciprocal are numbers.
Expr least_of_gamma(Expr x) { return x.pick(-25.0, -100.0); }

Expr beta_of_small(Expr low, Expr high, bool logarithm) {
    if (logarithm) return sum_of_lgammas(low, high);
    const Expr sum = low + high, least_value = least_of_gamma(low);
    return branch(
        low > least_value, [&] { return tgamma(low) * expanded(Math::rgamma, {sum}) * tgamma(high); },
        [&] {
            const Expr mirrored = 1.0 - low, difference = sum - 1.0;  // gamma(low) gamma(mirrored) = pi / sin(pi low)
            return branch((high >= 8.0) & (sum > least_value),
                          [&] {
                              const Expr root = pow(mirrored, 0.5 * difference);  // the power itself may be too small
                              const Expr factor = expanded(Math::rgamma, {sum}) * exp(gamma_ratio_rest(difference, mirrored));
                              return std::numbers::pi / sin_pi(low) * root * factor * root;
                          },
                          [&] {
                              const Expr sign = gammasgn({&low, 1}) * gammasgn({&high, 1}) * gammasgn({&sum, 1});
                              return select(is_whole(sum) & (sum <= 0.0), sum(0.0), sign * exp(sum_of_lgammas(low, high)));
                          });
        });
}

// beta(a, b) is infinite where the smaller argument is an integer -n, unless the larger one is an integer m from 1 to n: then it is
// (-1)^m beta(m, 1 - m + n).
Expr any_beta(Expr a, Expr b, bool logarithm) {
    const Expr lower = least(a, b), upper = select(a < b, b, a), pole = (lower <= 0.0) & is_whole(lower), rest = 1.0 - lower - upper;
    const Expr finite = is_whole(upper) & (rest > 0.0) & (upper > 0.0);
    const Expr p = select(pole, select(finite, upper, 1.0), lower), q = select(pole, select(finite, rest, 1.0), upper);
    const Expr low = least(p, q), high = select(p < q, q, p);
    const Expr size = branch(
        low >= large, [&] { return beta_of_large(low, high, logarithm); },
        [&] {
            const Expr beside = (high >= large) & (low + high >= 7.5);
            return branch(
                logarithm ? beside : beside & (low > least_of_gamma(low)), [&] { return beta_beside_large(low, high, logarithm); },
                [&] { return select((high <= 0.0) & is_whole(high), high.infinity(), beta_of_small(low, high, logarithm)); });
        });
    // What is between was too large or too small for a number: by logarithms, which lose some digits.
    const Expr lost = (size == 0.0) | !(abs(size) < size.infinity()), sum = p + q;
    const Expr known = (!pole) & !((sum <= 0.0) & is_whole(sum)) & !((high <= 0.0) & is_whole(high)) & (abs(low) < low.infinity());
    const Expr found = logarithm ? size : replace(size, lost & known & (abs(high) < high.infinity()), [&] {
        return gammasgn({&low, 1}) * gammasgn({&high, 1}) * gammasgn({&sum, 1}) * exp(sum_of_lgammas(low, high));
    });
    const Expr turned = logarithm ? size : select(pole & is_odd(upper), -found, found);
    return select(is_nan(a) | is_nan(b), a.nan(), select(pole & !finite, a.infinity(), turned));
}

Expr smallest(Expr x) { return x.pick(std::numeric_limits<float>::min(), std::numeric_limits<double>::min()); }

/// The smaller tail at x, and the density of log x there.
struct Slope {
    Expr tail, density;
};

/// x where the tail is `wanted`, by Newton's method for its logarithm over log x. The density of log x is to be log-concave: then both
/// tails are, and once a step was beyond the solution, where the tail is smaller, none is any more. What leaves the interval that is known
/// to hold the solution, or starts where the tail is 0, is replaced by the interval's middle; `mean` stands for an end that is not known.
Expr solve(Expr begin, Expr mean, Expr wanted, Expr lower, const std::function<Slope(Expr)>& at) {
    const Expr most_size = begin.pick(80.0, 700.0), near = begin.pick(0x1p-14, 0x1p-32), exact = begin.pick(0x1p-22, 0x1p-51);
    const auto v = loop(
        {begin, begin(0.0), begin.infinity(), begin.infinity(), begin.infinity(), begin(0.0)},
        [&](Args v) { return (abs(v[3]) > near) & (abs(v[4]) > exact) & (v[5] < 200.0); },
        [&](Args v) {
            const Expr x = v[0];
            const Slope slope = at(x);
            const Expr error = log(slope.tail / wanted), beyond = select(lower, error, -error) > 0.0;
            const Expr low = select(beyond, v[1], x), high = select(beyond, x, v[2]);
            const Expr all = error * (slope.tail / slope.density), limited = least(most(all, -most_size), most_size);
            const Expr size = select(lower, -limited, limited), moved = x * select(lower | (size < 0.0), exp(size), 1.0 + size);
            const Expr middle = sqrt(select(low == 0.0, mean, low)) * sqrt(select(is_infinite(high), mean, high));
            const Expr inside = (slope.tail > 0.0) & (moved >= low) & (moved <= high);
            return std::vector<Expr>{most(select(inside, moved, middle), smallest(x)), low, high, size, error, v[5] + 1.0};
        });
    return v[0];
}

/// x with P(a, x) = p, Q(a, x) = q = 1 - p. Starts from Wilson and Hilferty's cube, or from the first term of the series.
Expr inverse_gamma(Expr a, Expr p, Expr q) {
    const Expr lower = p <= q, wanted = least(p, q), outer = ndtri({&wanted, 1}), z = select(lower, outer, -outer);
    const Expr root = 1.0 / (9.0 * a), cube = 1.0 - root + z * sqrt(root);
    const Expr first_term = exp((log(p) + expanded(Math::lgamma, {a + 1.0})) / a);
    const Expr split = fma(a, fma(a, -0.12, -0.253), 1.0), far = 1.0 - log(q / (1.0 - split));
    const Expr guess = select(a > 1.0, select(cube > 0.5, a * cube * cube * cube, first_term), select(p < split, first_term, far));
    const Expr begin = select(guess < guess.infinity(), most(guess, smallest(p)), a);
    return branch((p > 0.0) & (q > 0.0) & (a > 0.0) & !is_infinite(a),
                  [&] {
                      const Expr x = solve(begin, a, wanted, lower, [&](Expr x) {
                          const Tails t = incomplete_gamma(a, x);
                          return Slope{select(lower, t.lower, t.upper), gamma_factor(a, x) * a};
                      });
                      return select(first_term < smallest(p), first_term, x);
                  },
                  [&] { return select((p == 0.0) & (a > 0.0), p(0.0), select((q == 0.0) & (a > 0.0), p.infinity(), p.nan())); });
}

/// x and 1 - x of odds.
struct Odds {
    explicit Odds(Expr odds) : far(1.0 / (1.0 + odds)), near(select(odds < 1.0, odds * far, 1.0 / (1.0 + 1.0 / odds))) {}
    Expr far, near;
};

/// x with I(a, b, x) = p, 1 - p = q. What is solved for are the odds of the distance from the end where the smaller tail is: from the first
/// term there, or from the normal distribution's approximation (Abramowitz and Stegun, 26.5.22).
Expr inverse_beta(Expr a, Expr b, Expr p, Expr q) {
    return branch((p > 0.0) & (q > 0.0) & (a > 0.0) & (b > 0.0) & !is_infinite(a) & !is_infinite(b),
                  [&] {
                      const Expr swap = p > q, c = select(swap, b, a), d = select(swap, a, b), wanted = least(p, q), args[] = {c, d};
                      const Expr first_term = exp((log(wanted * c) + betaln(args)) / c), mean = c / d;
                      const Expr outer = ndtri({&wanted, 1}), of_c = 1.0 / (2.0 * c - 1.0), of_d = 1.0 / (2.0 * d - 1.0);
                      const Expr width = 2.0 / (of_c + of_d), bend = (outer * outer - 3.0) / 6.0;
                      const Expr w = outer * sqrt(width + bend) / width + (of_d - of_c) * (bend + 5.0 / 6.0 - 2.0 / (3.0 * width));
                      const Expr normal = mean * exp(2.0 * w), by_term = select(first_term < 0.5, first_term / (1.0 - first_term), mean);
                      const Expr guess = select((c > 1.0) & (d > 1.0) & (normal > 0.0), normal, least(by_term, mean));
                      const Expr begin = select(guess < guess.infinity(), most(guess, smallest(p)), mean);
                      const Odds found(solve(begin, mean, wanted, c == c, [&](Expr odds) {
                          const Odds x(odds);
                          return Slope{incomplete_beta(c, d, x.near, x.far).lower, beta_factor(c, d, x.near, x.far)};
                      }));
                      return select(swap, found.far, select(first_term < smallest(p), first_term, found.near));
                  },
                  [&] {
                      const Expr known = (a > 0.0) & (b > 0.0);
                      return select((p == 0.0) & known, p(0.0), select((q == 0.0) & known, p(1.0), p.nan()));
                  });
}

}  // namespace

// With r = x / (2 + x), log(1 + x) = 2 atanh(r), and x = r (2 + x).
Expr log1p_minus(Expr x, Expr above) {
    return branch(
        abs(x) <= 0.5,
        [&] {
            const Expr r = x / (2.0 + x), z = r * r;
            return r * (2.0 * z * fitted(atanh_rest, z) - x);
        },
        [&] { return log(above) - x; });
}

Expr gammainc(Args x) { return with_ends(x[0], x[1], incomplete_gamma(x[0], x[1]).lower, 0.0); }
Expr gammaincc(Args x) { return with_ends(x[0], x[1], incomplete_gamma(x[0], x[1]).upper, 1.0); }
Expr gammaincinv(Args x) { return inverse_gamma(x[0], x[1], 1.0 - x[1]); }
Expr gammainccinv(Args x) { return inverse_gamma(x[0], 1.0 - x[1], x[1]); }
Expr beta(Args x) { return any_beta(x[0], x[1], false); }
Expr betaln(Args x) { return any_beta(x[0], x[1], true); }
Expr betainc(Args x) { return with_ends(x[0], x[1], x[2], incomplete_beta(x[0], x[1], x[2], 1.0 - x[2]).lower, 0.0); }
Expr betaincc(Args x) { return with_ends(x[0], x[1], x[2], incomplete_beta(x[0], x[1], x[2], 1.0 - x[2]).upper, 1.0); }
Expr betaincinv(Args x) { return inverse_beta(x[0], x[1], x[2], 1.0 - x[2]); }
Expr betainccinv(Args x) { return inverse_beta(x[0], x[1], 1.0 - x[2], x[2]); }

}  // namespace pardo::ir::math

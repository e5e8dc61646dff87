# python/pardo/_random/continuous.py: distributions of floats: array expressions on standard draws, or each element by attempts of its own.
from __future__ import annotations

import math
from typing import Any

import numpy as np
from pardo._core import Array, _where, exp, expm1, log, maximum, minimum, sqrt, tan
from pardo._random import counts, draws, kernels
from pardo._random.arguments import Parameters
from pardo._random.rows import DEVROYE, GAMMA, INVERSION, NOT_NEGATIVE, POSITIVE, Parameter, Row, floats, shaped

# --- formulas


def located(z: Array, loc: Any, scale: Any) -> Array:
    """z * scale + loc, without the operations that change nothing."""
    if type(scale) is Array or scale != 1:
        z = z * scale
    return z + loc if type(loc) is Array or loc != 0 else z


def between(u: Array) -> Array:
    """Numbers of (0, 1) for those of [0, 1): the middle of what 0 stands for."""
    return maximum(u, 2.0**-54 if u.dtype.itemsize == 8 else 2.0**-25)


def laplace(u: Array, loc: Any, scale: Any) -> Array:
    u = between(u)
    return located(_where(u < 0.5, log(u + u), -log(2 - u - u)), loc, scale)


def logistic(u: Array, loc: Any, scale: Any) -> Array:
    u = between(u)
    return located(log(u / (1 - u)), loc, scale)


def weibull(e: Array, a: Any) -> Array:
    if type(a) is Array:
        return _where(a == 0, 0, e ** (1 / a))
    return e ** (1 / a) if a else e * 0


def cauchy(u: Array) -> Array:
    u = between(u)
    x = 1 / tan(minimum(u, 1 - u) * math.pi)
    return _where(u < 0.5, -x, x)


def triangular(u: Array, left: Any, mode: Any, right: Any) -> Array:
    width = right - left
    low, high = (mode - left) * width, (right - mode) * width
    return _where(u * width <= mode - left, sqrt(u * low) + left, right - sqrt((1 - u) * high))


# --- what must be true of several parameters


def check_interval(given: Parameters) -> None:
    low, high = (x if isinstance(x, (Array, np.ndarray)) else float(x) for x in given.known())
    with np.errstate(over="ignore", invalid="ignore"):
        distance = high - low
    given.refuse(~np.isfinite(distance), "high - low is not a finite number; draw from a smaller interval", overflow=True)
    given.refuse(distance < 0, "high is less than low; exchange them")


def check_triangle(given: Parameters) -> None:
    least, most_probable, greatest = given.known()
    given.refuse(least > most_probable, "left is greater than mode; the order is left, mode, right")
    given.refuse(most_probable > greatest, "mode is greater than right; the order is left, mode, right")
    given.refuse(least == greatest, "left is equal to right; there is no interval")


ROWS: tuple[Row, ...] = (
    Row(
        "uniform",
        "Draw samples from a uniform distribution.",
        (
            Parameter("low", "", default=0.0),
            Parameter("high", "The bounds of the interval; `high` does not belong to it, but rounding may give it.", default=1.0),
        ),
        shaped(kernels.uniform, lambda u, low, high: located(u, low, high - low)),
        gives="Numbers of [low, high).",
        notes="``low + (high - low) * u``, where u is what `random` draws.",
        example="-1.0, 1.0, 3\narray([ 0.90919426, -0.77164528, -0.18607919])",
        check=check_interval,
        raises="\nOverflowError\n    ``high - low`` is infinite or nan.",
    ),
    Row(
        "normal",
        "Draw random samples from a normal (Gaussian) distribution.",
        (
            Parameter("loc", "The mean.", default=0.0),
            Parameter("scale", "The standard deviation; not negative.", NOT_NEGATIVE, 1.0),
        ),
        shaped(kernels.normal, located),
        gives="The numbers drawn.",
        notes="``loc + scale * z``, where z is what `standard_normal` draws.",
        example="10.0, 2.0, 3\narray([13.74775941, 13.26982244, 10.96463204])",
    ),
    Row(
        "lognormal",
        "Draw samples from a log-normal distribution.",
        (
            Parameter("mean", "The mean of the logarithm.", default=0.0),
            Parameter("sigma", "The standard deviation of the logarithm; not negative.", NOT_NEGATIVE, 1.0),
        ),
        shaped(kernels.normal, lambda z, mean, sigma: exp(located(z, mean, sigma))),
        gives="Positive numbers.",
        notes="``exp(mean + sigma * z)``, where z is what `standard_normal` draws.",
        example="0.0, 0.5, 3\narray([2.55215947, 2.26473015, 1.27272212])",
    ),
    Row(
        "exponential",
        "Draw samples from an exponential distribution.",
        (Parameter("scale", "The mean; not negative.", NOT_NEGATIVE, 1.0),),
        shaped(kernels.exponential, lambda e, scale: located(e, 0.0, scale)),
        gives="Numbers from 0 on.",
        notes="``scale * e``, where e is what `standard_exponential` draws.",
        example="2.0, 3\narray([6.18435986, 0.24247706, 1.04498822])",
    ),
    Row(
        "laplace",
        "Draw samples from the Laplace or double exponential distribution with specified location and scale.",
        (
            Parameter("loc", "The mean.", default=0.0),
            Parameter("scale", "The mean distance from it; not negative.", NOT_NEGATIVE, 1.0),
        ),
        shaped(kernels.uniform, laplace),
        gives="The numbers drawn.",
        notes="``log(2 u)`` below 1/2 and ``-log(2 - 2 u)`` from there on, where u is what `random` draws.",
        example="0.0, 1.0, 3\narray([ 2.39903275, -1.47685505, -0.20589221])",
        reference=INVERSION,
    ),
    Row(
        "logistic",
        "Draw samples from a logistic distribution.",
        (
            Parameter("loc", "The mean.", default=0.0),
            Parameter("scale", "The width; not negative.", NOT_NEGATIVE, 1.0),
        ),
        shaped(kernels.uniform, logistic),
        gives="The numbers drawn.",
        notes="``loc + scale * log(u / (1 - u))``, where u is what `random` draws.",
        example="0.0, 1.0, 3\narray([ 3.04571405, -2.0487637 , -0.37654528])",
        reference=INVERSION,
    ),
    Row(
        "gumbel",
        "Draw samples from a Gumbel distribution.",
        (
            Parameter("loc", "The mode.", default=0.0),
            Parameter("scale", "The width; not negative.", NOT_NEGATIVE, 1.0),
        ),
        shaped(kernels.exponential, lambda e, loc, scale: located(-log(between(e)), loc, scale)),
        gives="The numbers drawn.",
        notes="``loc - scale * log(e)``, where e is what `standard_exponential` draws.",
        example="0.0, 1.0, 3\narray([-1.12887632,  2.10999534,  0.64914157])",
        reference=INVERSION,
    ),
    Row(
        "rayleigh",
        "Draw samples from a Rayleigh distribution: lengths of vectors of two normally distributed numbers.",
        (Parameter("scale", "The standard deviation of these two; not negative.", NOT_NEGATIVE, 1.0),),
        shaped(kernels.exponential, lambda e, scale: located(sqrt(e * 2), 0.0, scale)),
        gives="Numbers from 0 on.",
        notes="``scale * sqrt(2 e)``, where e is what `standard_exponential` draws.",
        example="1.0, 3\narray([2.48683732, 0.4924196 , 1.02224665])",
        reference=INVERSION,
    ),
    Row(
        "weibull",
        "Draw samples from a Weibull distribution of scale 1.",
        (Parameter("a", "The shape parameter; not negative. With 0 all numbers are 0.", NOT_NEGATIVE),),
        shaped(kernels.exponential, weibull),
        gives="Numbers from 0 on.",
        notes="``e ** (1 / a)``, where e is what `standard_exponential` draws.",
        example="1.5, 3\narray([2.12247787, 0.24495921, 0.64871549])",
        reference=INVERSION,
    ),
    Row(
        "pareto",
        "Draw samples from a Pareto II (Lomax) distribution with specified shape: the classical one minus 1.",
        (Parameter("a", "The shape parameter; positive.", POSITIVE),),
        shaped(kernels.exponential, lambda e, a: expm1(e / a)),
        gives="Numbers from 0 on.",
        notes="``exp(e / a) - 1``, where e is what `standard_exponential` draws.",
        example="3.0, 3\narray([1.80310195, 0.04124056, 0.19025159])",
        reference=INVERSION,
    ),
    Row(
        "gamma",
        "Draw samples from a Gamma distribution.",
        (
            Parameter("shape", "The shape parameter; not negative.", NOT_NEGATIVE),
            Parameter("scale", "What the draw of scale 1 is multiplied by; not negative.", NOT_NEGATIVE, 1.0),
        ),
        floats(draws.gamma),
        gives="Numbers from 0 on.",
        notes="``scale * g``, where g is what `standard_gamma` draws [1]_.",
        example="2.5, 2.0, 3\narray([5.04536305, 6.47547237, 8.59412365])",
        reference=GAMMA,
    ),
    Row(
        "beta",
        "Draw samples from a Beta distribution.",
        (
            Parameter("a", "The first shape parameter; positive.", POSITIVE),
            Parameter("b", "The second one; positive.", POSITIVE),
        ),
        floats(draws.beta),
        gives="Numbers of [0, 1].",
        notes="``x / (x + y)``, where x and y are what `standard_gamma` draws for `a` and `b` [1]_; where both are below 1, without"
        " numbers\nthat are too small.",
        example="2.0, 3.0, 3\narray([0.41996138, 0.41007991, 0.76326937])",
        reference=GAMMA,
    ),
    Row(
        "chisquare",
        "Draw samples from a chi-square distribution.",
        (Parameter("df", "The degrees of freedom; positive.", POSITIVE),),
        floats(draws.chisquare),
        gives="Numbers from 0 on.",
        notes="``2 * g``, where g is what `standard_gamma` draws for ``df / 2`` [1]_.",
        example="4, 3\narray([3.96230996, 5.248274  , 7.19457832])",
        reference=GAMMA,
    ),
    Row(
        "f",
        "Draw samples from an F distribution.",
        (
            Parameter("dfnum", "The degrees of freedom of the numerator; positive.", POSITIVE),
            Parameter("dfden", "Those of the denominator; positive.", POSITIVE),
        ),
        floats(draws.f_ratio),
        gives="Numbers from 0 on.",
        notes="The quotient of two draws of `chisquare`, each divided by its degrees of freedom [1]_.",
        example="3, 8, 3\narray([1.01934912, 1.07454742, 4.30932169])",
        reference=GAMMA,
    ),
    Row(
        "standard_t",
        "Draw samples from a standard Student's t distribution with `df` degrees of freedom.",
        (Parameter("df", "The degrees of freedom; positive.", POSITIVE),),
        floats(draws.standard_t),
        gives="The numbers drawn.",
        notes="``z * sqrt(df / (2 * g))``, where z is a normal draw and g what `standard_gamma` draws for ``df / 2`` [1]_.",
        example="5, 3\narray([ 0.04209385,  0.52876258, -0.94191263])",
        reference=GAMMA,
    ),
    Row(
        "noncentral_chisquare",
        "Draw samples from a noncentral chi-square distribution.",
        (
            Parameter("df", "The degrees of freedom; positive.", POSITIVE),
            Parameter("nonc", "The non-centrality; not negative.", NOT_NEGATIVE),
        ),
        floats(counts.noncentral_chisquare),
        gives="Numbers from 0 on.",
        notes="With more than one degree of freedom: ``(z + sqrt(nonc)) ** 2``, where z is a normal draw, and a draw of `chisquare` for"
        " ``df - 1``.\nOtherwise a draw of `chisquare` for ``df + 2 * k``, where k is what `poisson` draws for ``nonc / 2`` [1]_.",
        example="3, 2.0, 3\narray([3.86610826, 6.72039585, 4.20066706])",
        reference='N. L. Johnson, S. Kotz, N. Balakrishnan, "Continuous Univariate Distributions", volume 2, Wiley 1995, chapter 29.',
    ),
    Row(
        "noncentral_f",
        "Draw samples from the noncentral F distribution.",
        (
            Parameter("dfnum", "The degrees of freedom of the numerator; positive.", POSITIVE),
            Parameter("dfden", "Those of the denominator; positive.", POSITIVE),
            Parameter("nonc", "The non-centrality of the numerator; not negative.", NOT_NEGATIVE),
        ),
        floats(counts.noncentral_f),
        gives="Numbers from 0 on.",
        notes="The quotient of a draw of `noncentral_chisquare` and one of `chisquare`, each divided by its degrees of freedom.",
        example="3, 8, 2.0, 3\narray([1.73060483, 2.37420675, 1.65238811])",
    ),
    Row(
        "power",
        "Draw samples in [0, 1] from a power distribution with positive exponent a - 1.",
        (Parameter("a", "The exponent of the distribution function; positive.", POSITIVE),),
        shaped(kernels.exponential, lambda e, a: (-expm1(-e)) ** (1 / a)),
        gives="Numbers of [0, 1].",
        notes="``(1 - exp(-e)) ** (1 / a)``, where e is what `standard_exponential` draws.",
        example="3.0, 3\narray([0.9846307 , 0.48513209, 0.74105547])",
        reference=INVERSION,
    ),
    Row(
        "standard_cauchy",
        "Draw samples from a standard Cauchy distribution with mode = 0.",
        (),
        shaped(kernels.uniform, cauchy),
        gives="The numbers drawn.",
        notes="The negative cotangent of ``pi * u``, where u is what `random` draws.",
        example="3\narray([ 6.96317717, -2.66725004, -0.30091116])",
        reference=INVERSION,
    ),
    Row(
        "triangular",
        "Draw samples from the triangular distribution over the interval ``[left, right]``.",
        (
            Parameter("left", "The least number."),
            Parameter("mode", "The most probable one; not below `left`."),
            Parameter("right", "The greatest one; not below `mode`, and above `left`."),
        ),
        shaped(kernels.uniform, triangular),
        gives="Numbers of [left, right].",
        notes="By inversion of the distribution function [1]_ at what `random` draws.",
        example="0.0, 1.0, 4.0, 3\narray([3.26187098, 0.67580282, 1.33232776])",
        reference=DEVROYE + "II.2.",
        check=check_triangle,
    ),
    Row(
        "vonmises",
        "Draw samples from a von Mises distribution.",
        (
            Parameter("mu", "The mode, in radians."),
            Parameter("kappa", "The concentration; not negative. With 0 all angles are equally likely.", NOT_NEGATIVE),
        ),
        floats(draws.vonmises),
        gives="Angles of [-pi, pi].",
        notes="By rejection from a wrapped Cauchy distribution [1]_, with half-angles, so that large `kappa` lose no bits.",
        example="0.0, 4.0, 3\narray([-0.17232159,  0.36680116,  0.00476227])",
        reference='D. J. Best, N. I. Fisher, "Efficient simulation of the von Mises distribution", Applied Statistics 28, 1979.',
    ),
    Row(
        "wald",
        "Draw samples from a Wald, or inverse Gaussian, distribution.",
        (Parameter("mean", "The mean; positive.", POSITIVE), Parameter("scale", "The scale; positive.", POSITIVE)),
        floats(draws.wald),
        gives="Positive numbers.",
        notes="By a transformation with two roots [1]_, of which the smaller one is computed without a difference.",
        example="3.0, 2.0, 3\narray([ 2.26641214,  6.39358626, 10.9463949 ])",
        reference='J. R. Michael, W. R. Schucany, R. W. Haas, "Generating random variates using transformations with multiple roots",\n'
        "   The American Statistician 30, 1976.",
    ),
)

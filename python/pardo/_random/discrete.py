# python/pardo/_random/discrete.py: distributions of counts: each element by attempts of its own.
from __future__ import annotations

import numpy as np
from pardo._core import Array
from pardo._random import counts
from pardo._random.arguments import Parameters
from pardo._random.rows import ABOVE_0, BELOW_1, DEVROYE, NOT_NEGATIVE, POSITIVE_NUMBER, PROBABILITY, Parameter, Row, integers

MOST = 2.0**63
MOST_EVENTS = float(2**63 - 1 - 10 * 3037000500)  # ten standard deviations more are below 2**63
MOST_IN_URN = 10**9  # NumPy's limit


def check_failures(given: Parameters) -> None:
    n, p = (x if isinstance(x, (Array, np.ndarray)) else np.float64(x) for x in given.known())
    given.refuse((1 - p) * (n + 10 * np.sqrt(n)) > MOST * p, "n is too large or p too small; the mean must be below 2**63")


def check_events(given: Parameters) -> None:
    given.require("lam", lambda lam: lam > MOST_EVENTS, "is too large; counts must be below 2**63")


def check_urn(given: Parameters) -> None:
    for name in ("ngood", "nbad"):
        given.require(name, lambda n: n >= MOST_IN_URN, "must be below 10**9")
    good, bad, sample = given.known()
    given.refuse(good + bad < sample, "nsample is greater than ngood + nbad; draw fewer")


ROWS: tuple[Row, ...] = (
    Row(
        "binomial",
        "Draw samples from a binomial distribution.",
        (
            Parameter("n", "How often is tried; not negative.", NOT_NEGATIVE, kind="int"),
            Parameter("p", "The probability of a success; of [0, 1].", PROBABILITY),
        ),
        integers(counts.binomial),
        gives="How many successes there are.",
        notes="Of ``min(p, 1 - p)``: by search where the mean is below 10, otherwise by transformed rejection (BTRS) [1]_.",
        example="10, 0.5, 5\narray([8, 5, 1, 5, 4])",
        reference='W. Hörmann, "The generation of binomial random variates", Journal of Statistical Computation and Simulation 46, 1993.',
    ),
    Row(
        "negative_binomial",
        "Draw samples from a negative binomial distribution.",
        (
            Parameter("n", "How many successes end the trials; positive. It need not be an integer.", POSITIVE_NUMBER),
            Parameter("p", "The probability of a success; of (0, 1].", ABOVE_0),
        ),
        integers(counts.negative_binomial),
        gives="How many failures there are.",
        notes="What `poisson` draws for a mean that `gamma` draws, of shape `n` and scale ``(1 - p) / p`` [1]_.",
        example="3, 0.3, 5\narray([14, 10, 11, 13,  4])",
        reference=DEVROYE + "X.4.",
        check=check_failures,
    ),
    Row(
        "poisson",
        "Draw samples from a Poisson distribution.",
        (Parameter("lam", "The mean; not negative.", (lambda lam: (lam < 0) | (lam != lam), "must not be negative or nan"), 1.0),),
        integers(counts.poisson),
        gives="How many events there are.",
        notes="By search where the mean is below 10, otherwise by transformed rejection with squeeze (PTRS) [1]_.",
        example="4.0, 5\narray([8, 3, 0, 3, 3])",
        reference='W. Hörmann, "The transformed rejection method for generating Poisson random variables", Insurance: Mathematics and\n'
        "   Economics 12, 1993.",
        check=check_events,
    ),
    Row(
        "geometric",
        "Draw samples from the geometric distribution.",
        (Parameter("p", "The probability of a success; of (0, 1].", ABOVE_0),),
        integers(counts.geometric),
        gives="How many trials there are up to the first success, at most ``2**63 - 1``.",
        notes="``ceil(log(u) / log(1 - p))`` [1]_.",
        example="0.3, 5\narray([ 1,  3, 15,  3,  4])",
        reference=DEVROYE + "X.2: by inversion of the distribution function.",
    ),
    Row(
        "logseries",
        "Draw samples from a logarithmic series distribution.",
        (Parameter("p", "The parameter; of [0, 1).", BELOW_1),),
        integers(counts.logseries),
        gives="Positive integers, at most ``2**63 - 1``.",
        notes="By Kemp's algorithm LK [1]_.",
        example="0.7, 5\narray([ 1,  1, 11,  1,  3])",
        reference='A. W. Kemp, "Efficient generation of logarithmically distributed pseudo-random variables", Applied Statistics 30, 1981.',
    ),
    Row(
        "zipf",
        "Draw samples from a Zipf distribution.",
        (Parameter("a", "The exponent; above 1.", (lambda a: (a <= 1) | (a != a), "must be above 1")),),
        integers(counts.zipf),
        gives="Positive integers. Those that an int64 does not hold are not drawn.",
        notes="By rejection [1]_.",
        example="2.0, 5\narray([22,  1,  1,  1,  1])",
        reference=DEVROYE + "X.6.",
    ),
    Row(
        "hypergeometric",
        "Draw samples from a Hypergeometric distribution.",
        (
            Parameter("ngood", "How many good ones there are; not negative, and below 10**9.", NOT_NEGATIVE, kind="int"),
            Parameter("nbad", "How many bad ones there are; not negative, and below 10**9.", NOT_NEGATIVE, kind="int"),
            Parameter("nsample", "How many are drawn; from 0 to ``ngood + nbad``.", NOT_NEGATIVE, kind="int"),
        ),
        integers(counts.hypergeometric),
        gives="How many good ones are among those that are drawn.",
        notes="One by one where at most 10 are drawn or left; by search from the mode on where the variance is small; otherwise by a"
        " ratio of\nuniforms (HRUA) [1]_.",
        example="7, 5, 6, 5\narray([4, 2, 3, 2, 3])",
        reference='E. Stadlober, "The ratio of uniforms approach for generating discrete random variates", Journal of Computational'
        " and Applied\n   Mathematics 31, 1990.",
        check=check_urn,
    ),
)

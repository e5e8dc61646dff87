# python/pardo/random.py: random numbers: arrays by generators, single ones in kernels; by counters, the same bits on every device.
"""Arrays of random numbers, with NumPy's names, and functions that need no state for kernels: a counter and a key give the numbers.

Philox (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011), in the variant
philox4x32 with ten rounds, as in Random123.
"""

from numpy.random import SeedSequence
from pardo._base import public_names as _public_names
from pardo._random.device import philox, philox_normal, philox_uniform
from pardo._random.generator import Generator, default_rng
from pardo._random.in_kernels import philox_binomial, philox_exponential, philox_gamma, philox_integers, philox_poisson
from pardo._random.legacy import RandomState, get_bit_generator, ranf, sample, set_bit_generator
from pardo._random.legacy import shared as _shared
from pardo._random.philox import Philox

# NumPy's older functions: methods of one RandomState.
beta = _shared.beta
binomial = _shared.binomial
bytes = _shared.bytes
chisquare = _shared.chisquare
choice = _shared.choice
dirichlet = _shared.dirichlet
exponential = _shared.exponential
f = _shared.f
gamma = _shared.gamma
geometric = _shared.geometric
get_state = _shared.get_state
gumbel = _shared.gumbel
hypergeometric = _shared.hypergeometric
laplace = _shared.laplace
logistic = _shared.logistic
lognormal = _shared.lognormal
logseries = _shared.logseries
multinomial = _shared.multinomial
multivariate_normal = _shared.multivariate_normal
negative_binomial = _shared.negative_binomial
noncentral_chisquare = _shared.noncentral_chisquare
noncentral_f = _shared.noncentral_f
normal = _shared.normal
pareto = _shared.pareto
permutation = _shared.permutation
poisson = _shared.poisson
power = _shared.power
rand = _shared.rand
randint = _shared.randint
randn = _shared.randn
random = _shared.random
random_integers = _shared.random_integers
random_sample = _shared.random_sample
rayleigh = _shared.rayleigh
seed = _shared.seed
set_state = _shared.set_state
shuffle = _shared.shuffle
standard_cauchy = _shared.standard_cauchy
standard_exponential = _shared.standard_exponential
standard_gamma = _shared.standard_gamma
standard_normal = _shared.standard_normal
standard_t = _shared.standard_t
triangular = _shared.triangular
uniform = _shared.uniform
vonmises = _shared.vonmises
wald = _shared.wald
weibull = _shared.weibull
zipf = _shared.zipf

__all__ = [
    "Generator",
    "Philox",
    "RandomState",
    "SeedSequence",
    "beta",
    "binomial",
    "bytes",
    "chisquare",
    "choice",
    "default_rng",
    "dirichlet",
    "exponential",
    "f",
    "gamma",
    "geometric",
    "get_bit_generator",
    "get_state",
    "gumbel",
    "hypergeometric",
    "laplace",
    "logistic",
    "lognormal",
    "logseries",
    "multinomial",
    "multivariate_normal",
    "negative_binomial",
    "noncentral_chisquare",
    "noncentral_f",
    "normal",
    "pareto",
    "permutation",
    "philox",
    "philox_binomial",
    "philox_exponential",
    "philox_gamma",
    "philox_integers",
    "philox_normal",
    "philox_poisson",
    "philox_uniform",
    "poisson",
    "power",
    "rand",
    "randint",
    "randn",
    "random",
    "random_integers",
    "random_sample",
    "ranf",
    "rayleigh",
    "sample",
    "seed",
    "set_bit_generator",
    "set_state",
    "shuffle",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "triangular",
    "uniform",
    "vonmises",
    "wald",
    "weibull",
    "zipf",
]

_public_names.publish_module(globals())

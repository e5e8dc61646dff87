# python/pardo/random.py: random numbers in kernels, and in arrays: counter-based, the same bits on every device.
"""Random numbers that need no state: a counter and a key give them, in any order, on any device; and arrays of them.

Philox (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011), in the variant
philox4x32 with ten rounds, as in Random123.
"""

from pardo._base import public_names as _public_names
from pardo._random.device import normal, philox, uniform
from pardo._random.generator import Generator, default_rng

__all__ = ["Generator", "default_rng", "normal", "philox", "uniform"]

_public_names.publish_module(globals())

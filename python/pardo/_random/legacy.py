# python/pardo/_random/legacy.py: random.RandomState, and the functions of the module, which draw from one of them.
from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._base.arguments import flag
from pardo._base.public_names import publish_module
from pardo._core import Array
from pardo._random.generator import Generator
from pardo._random.philox import Philox

__all__ = ["RandomState", "get_bit_generator", "ranf", "sample", "set_bit_generator"]


class RandomState(Generator):
    """Container for a Philox pseudo-random number generator, with the names of NumPy's older interface.

    It has the methods of a `Generator` too, and draws the same numbers; those of NumPy's RandomState are others.

    Parameters
    ----------
    seed : None, int, sequence of int, SeedSequence or Philox, optional
        As for `default_rng`.

    Raises
    ------
    TypeError
        `seed` is of another type.
    ValueError
        `seed` is negative.

    See Also
    --------
    default_rng, Generator

    Examples
    --------
    >>> import pardo as pp
    >>> state = pp.random.RandomState(7)
    >>> state.rand(2, 2)
    array([[0.95459713, 0.11417736],
           [0.4069604 , 0.17179868]])
    """

    _in_kernels = "in kernels write pardo.random.philox, or a function whose name begins with it"

    def seed(self, seed: Any = None) -> None:
        """Reseed the generator, as a new one with this seed.

        Parameters
        ----------
        seed : None, int, sequence of int or SeedSequence, optional
            As for `default_rng`.

        Raises
        ------
        TypeError
            `seed` is of another type.
        ValueError
            `seed` is negative.

        Examples
        --------
        >>> import pardo as pp
        >>> pp.random.seed(7)
        >>> pp.random.random_sample(2)
        array([0.95459713, 0.11417736])
        """
        fresh = Philox(seed)
        self._bits.seed_seq, self._bits.state = fresh.seed_seq, fresh.state

    def get_state(self, legacy: bool = True) -> dict[str, Any]:
        """Return a dict representing the internal state of the generator.

        Parameters
        ----------
        legacy : bool, optional
            NumPy's; a Philox has no state in an older form, so it is a dict in any case.

        Returns
        -------
        dict
            What `Philox.state` says.

        Raises
        ------
        TypeError
            `legacy` is neither True nor False.

        Examples
        --------
        >>> import pardo as pp
        >>> pp.random.RandomState(7).get_state()["bit_generator"]
        'Philox'
        """
        flag(legacy, "get_state: legacy")
        return self._bits.state

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Set the internal state of the generator.

        Parameters
        ----------
        state : dict
            What `get_state` has given.

        Raises
        ------
        TypeError
            `state` is not a dict.
        ValueError
            It is not that of a Philox.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.RandomState(7)
        >>> state = rng.get_state()
        >>> first = rng.rand(3)
        >>> rng.set_state(state)
        >>> bool((rng.rand(3) == first).all())
        True
        """
        self._bits.state = state

    def rand(self, *d: int) -> Array:
        """Random values in a given shape: what `random` draws.

        Parameters
        ----------
        d0, d1, ... : int, optional
            The extents. Default: one number, as an array without dimensions.

        Returns
        -------
        Array
            Numbers of [0, 1).

        Raises
        ------
        TypeError
            An extent is not an integer.
        ValueError
            An extent is negative.

        Examples
        --------
        >>> import pardo as pp
        >>> pp.random.RandomState(7).rand(3)
        array([0.95459713, 0.11417736, 0.4069604 ])
        """
        return self.random(d)

    def randn(self, *d: int) -> Array:
        """Return a sample (or samples) from the "standard normal" distribution: what `standard_normal` draws.

        Parameters
        ----------
        d0, d1, ... : int, optional
            The extents. Default: one number, as an array without dimensions.

        Returns
        -------
        Array
            The numbers drawn.

        Raises
        ------
        TypeError
            An extent is not an integer.
        ValueError
            An extent is negative.

        Examples
        --------
        >>> import pardo as pp
        >>> pp.random.RandomState(7).randn(3)
        array([1.87387971, 1.63491122, 0.48231602])
        """
        return self.standard_normal(d)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: DTypeLike = np.int64) -> Array:
        """Return random integers from `low` (inclusive) to `high` (exclusive): what `integers` draws.

        Parameters
        ----------
        low : int or Array
            The least one; if `high` is None, it is the end, and the least one is 0.
        high : int or Array, optional
            The end.
        size : int or sequence of int, optional
            The shape. Default: that of `low` and `high`, broadcast against each other.
        dtype : data type, optional
            Any integer dtype, or bool. Default: int64.

        Returns
        -------
        Array
            The integers.

        Raises
        ------
        ValueError
            A bound does not fit the dtype, no integer lies between them, or their shapes cannot be broadcast to `size`.
        TypeError
            The dtype is neither an integer one nor bool, or a bound is neither a number nor an array.

        Examples
        --------
        >>> import pardo as pp
        >>> pp.random.RandomState(7).randint(1, 7, 5)
        array([6, 5, 1, 1, 3])
        """
        return self.integers(low, high, size, dtype)

    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Array:
        """Random integers between `low` and `high`, inclusive; deprecated by NumPy: write `randint` or `integers`.

        Parameters
        ----------
        low : int
            The least one; if `high` is None, it is the greatest, and the least one is 1.
        high : int, optional
            The greatest one.
        size : int or sequence of int, optional
            The shape. Default: one number, as an array without dimensions.

        Returns
        -------
        Array of int64
            The integers.

        Raises
        ------
        ValueError
            No integer lies between the bounds.
        TypeError
            A bound is neither a number nor an array.

        Examples
        --------
        >>> import warnings
        >>> import pardo as pp
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     pp.random.RandomState(7).random_integers(6, size=5)
        array([6, 5, 1, 1, 3])
        """
        warnings.warn(
            "random_integers is deprecated; write randint(low, high + 1), or Generator.integers",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.integers(1, low, size, endpoint=True) if high is None else self.integers(low, high, size, endpoint=True)

    def random_sample(self, size: Any = None) -> Array:
        """Return random floats in the half-open interval [0.0, 1.0): what `random` draws.

        Parameters
        ----------
        size : int or sequence of int, optional
            The shape. Default: one number, as an array without dimensions.

        Returns
        -------
        Array
            Numbers of [0, 1).

        Raises
        ------
        TypeError
            `size` is neither an integer nor a sequence of integers.
        ValueError
            `size` has a negative extent.

        Examples
        --------
        >>> import pardo as pp
        >>> pp.random.RandomState(7).random_sample(3)
        array([0.95459713, 0.11417736, 0.4069604 ])
        """
        return self.random(size)

    def tomaxint(self, size: Any = None) -> Array:
        """Return a sample of uniformly distributed random integers in the interval [0, 2**63 - 1].

        Parameters
        ----------
        size : int or sequence of int, optional
            The shape. Default: one number, as an array without dimensions.

        Returns
        -------
        Array of int64
            The integers.

        Raises
        ------
        TypeError
            `size` is neither an integer nor a sequence of integers.
        ValueError
            `size` has a negative extent.

        Examples
        --------
        >>> import pardo as pp
        >>> pp.random.RandomState(7).tomaxint(2)
        array([6918933028730322198,  790054359556513057])
        """
        return self.integers(0, 2**63 - 1, size, endpoint=True)


# What the module's functions draw from; `seed` and `set_state` change it.
shared = RandomState()


def ranf(size: Any = None) -> Array:
    return shared.random_sample(size)


def sample(size: Any = None) -> Array:
    return shared.random_sample(size)


ranf.__doc__ = sample.__doc__ = RandomState.random_sample.__doc__


def get_bit_generator() -> Philox:
    """Return the bit generator that the functions of this module draw from.

    Returns
    -------
    Philox
        The bit generator itself.

    See Also
    --------
    set_bit_generator

    Examples
    --------
    >>> import pardo as pp
    >>> type(pp.random.get_bit_generator()).__name__
    'Philox'
    """
    return shared.bit_generator


def set_bit_generator(bitgen: Philox) -> None:
    """Set the bit generator that the functions of this module draw from.

    Parameters
    ----------
    bitgen : Philox
        The bit generator; it is shared, not copied.

    Raises
    ------
    TypeError
        `bitgen` is not a Philox.

    See Also
    --------
    get_bit_generator

    Examples
    --------
    >>> import pardo as pp
    >>> before = pp.random.get_bit_generator()
    >>> pp.random.set_bit_generator(pp.random.Philox(7))
    >>> pp.random.random_sample(2)
    array([0.95459713, 0.11417736])
    >>> pp.random.set_bit_generator(before)
    """
    if not isinstance(bitgen, Philox):
        raise TypeError(f"set_bit_generator: bitgen must be a pardo.random.Philox, not {type(bitgen).__name__}")
    shared._bits = bitgen


publish_module(globals(), "pardo.random")
for _kind in RandomState.__mro__:
    for _value in vars(_kind).values():
        if isinstance(_value, _core._Shown) and _value.__module__.startswith("pardo._random"):
            _value.__module__ = "pardo.random"  # where its bound method is a function

# tests/fuzz/sides.py: the two sides of an array program, NumPy and pardo; a failing program is printed with this file before it.
from __future__ import annotations

import re
import warnings
from contextlib import contextmanager

import numpy as np

NAMES = re.compile(r"[vzn]\d+")  # v exact, z to some digits, n memory of NumPy


class Difference(AssertionError):
    """What the two sides do not agree about."""


def values(seed, shape, dtype):
    """Small values whose sums are exact in every order, both signs, zeros of both signs; every tenth time the ends of integers."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        if seed % 10 == 0:
            info = np.iinfo(dtype)
            return rng.choice(np.array([info.min, info.max, info.max - 1, 0, 1, 2], dtype), shape)
        return rng.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)
    made = rng.integers(-16, 17, shape) / 4
    made = np.where((made == 0) & (rng.integers(0, 2, shape) == 1), -0.0, made)
    if dtype.kind == "c":
        made = made + 1j * (rng.integers(-16, 17, shape) / 4)
    return made.astype(dtype)


def same(got, want, loose):
    """None, or what differs: dtype, shape, values, the sign of zeros; payloads of NaN are not looked at."""
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype != want.dtype:
        return f"dtype {got.dtype}, NumPy has {want.dtype}"
    if got.shape != want.shape:
        return f"shape {got.shape}, NumPy has {want.shape}"
    with np.errstate(all="ignore"):
        if loose and want.dtype.kind in "fc":
            digits = 64 * float(np.finfo(want.dtype).eps)
            finite = np.abs(want[np.isfinite(want)].astype(complex))
            scale = max(1.0, float(finite.max())) if finite.size else 1.0
            good = np.isclose(got, want, rtol=digits, atol=digits * scale, equal_nan=True)
        else:
            good = got == want
            if want.dtype.kind in "fc":
                for part in ("real", "imag"):
                    a, b = getattr(got, part), getattr(want, part)
                    alike = ((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))
                    good = alike if part == "real" else good & alike
    if np.all(good):
        return None
    at = tuple(int(i) for i in np.argwhere(~good)[0])
    return f"{int(np.sum(~good))} of {want.size} elements, the first at {at}: {got[at]!r}, NumPy has {want[at]!r}"


class NumPySide:
    """Runs first: keeps what every check found, and what every failing statement raised."""

    xp = np

    def __init__(self):
        self.checks = []

    def new(self, array, queue):
        return array.copy()

    def share(self, array, queue):
        return array[...]

    def move(self, array, queue):
        return array.copy()

    def settle(self):
        pass

    def force(self, array):
        pass

    def doomed(self, array):
        return None

    def poke(self, pending):
        pass

    def bad_put(self, array):
        pass

    def refused(self, operation):
        pass

    def check(self, names):
        self.checks.append({k: np.array(v) for k, v in names.items() if NAMES.fullmatch(k)})

    @contextmanager
    def raises(self, *kinds):
        try:
            yield
        except Exception:
            return
        raise Difference("NumPy raised nothing")


class PardoSide:
    """Runs the same statements, and compares at every check."""

    def __init__(self, numpy_side, device, fusion=None):
        import pardo as pp

        self.xp, self.checks, self.at = pp, numpy_side.checks, 0
        self.doom = 0  # values that fail: their queue's wait says so, once
        self.queues = [pp.Queue(device), pp.Queue(device, order="out_of_order"), pp.Queue(device)]
        self.kept = []

    def new(self, array, queue):
        return self.xp.asarray(array, queue=self.queues[queue])

    def share(self, array, queue):
        """An array in NumPy's memory; the memory lives as long as the program."""
        self.kept.append(array)
        return self.xp.asarray(array, copy=False, queue=self.queues[queue])

    def move(self, array, queue):
        return array.to_queue(self.queues[queue]).copy()

    def settle(self):
        """All that is pending is done: NumPy may look at shared memory, and write it."""
        for queue in self.queues:
            for _ in range(1 + self.doom):
                try:
                    queue.submit()
                    queue.wait()
                    break
                except MemoryError:
                    if not self.doom:
                        raise

    def force(self, array):
        array.wait()

    def doomed(self, array):
        """A pending value that no machine has memory for."""
        self.doom += 1
        return self.xp.ones(1 << 46, queue=array.queue) + array.ravel()[0]

    def poke(self, pending):
        """Its own error comes out of it, at each use."""
        try:
            pending.wait()
        except MemoryError:
            return
        raise Difference("a value of 2**46 elements was computed")

    def bad_put(self, array):
        """An index array that is out of bounds: IndexError now or at the wait, and nothing written."""
        try:
            array[self.xp.asarray([0, array.shape[0] + 3], queue=array.queue)] = 1
            array.queue.wait()
        except IndexError:
            array.accept()  # the elements have failed where the device has looked at the indices
            return
        raise Difference("no IndexError for an index array out of bounds")

    def refused(self, operation):
        """Arrays of two queues do not meet."""
        try:
            operation()
        except self.xp.ExecutionPlacementError:
            return
        raise Difference("operands of two queues were not refused")

    def check(self, names):
        want, self.at = self.checks[self.at], self.at + 1
        self.settle()
        for name, value in want.items():
            got = names[name]
            if not isinstance(got, np.ndarray):
                got = self.xp.asnumpy(got)
            if wrong := same(got, value, name[0] == "z"):
                raise Difference(f"{name}: {wrong}")

    @contextmanager
    def raises(self, *kinds):
        try:
            yield
        except Exception as e:
            if {k.__name__ for k in type(e).__mro__}.isdisjoint(kinds):
                raise Difference(f"{type(e).__name__} ({e}), NumPy raises {kinds[0]}") from e
            return
        raise Difference(f"no error, NumPy raises {kinds[0]}")


def run_both(program, device):
    """For printed programs: runs `program(s, xp)` on both sides."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        first = NumPySide()
        program(first, np)
        second = PardoSide(first, device)
        program(second, second.xp)
    print("no difference")

# tests/fuzz/arrays.py: random programs of array operations, run with NumPy and with pardo: values, dtypes, signs of zeros.
#
# A program is a list of [statement, condition]. Names say what is compared: v exactly, z to some digits (functions that round differently),
# n memory of NumPy; d is a pending value that fails, L a list of arrays. A condition is looked at while NumPy runs; a statement whose
# condition does not hold is left out on both sides: its result is not one that both promise (sums that depend on the order, ...).
from __future__ import annotations

import random
import re
import resource
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.array_maker import Maker
from fuzz.sides import Difference, NumPySide, PardoSide, values

# --- conditions -----------------------------------------------------------------------------------------------------------------


def exact_sum(x: Any, product: bool = False) -> bool:
    """Whether sums are the same in every order: integers, or multiples of one power of two that stay within the mantissa."""
    x = np.asarray(x)
    if x.dtype.kind in "bui":
        return True
    if product or not np.all(np.isfinite(x)):
        return False
    bits = {2: 11, 4: 24, 8: 53}[x.real.dtype.itemsize]
    parts = np.abs(np.stack([x.real, x.imag])).astype(np.float64)
    return any(
        bool(np.all(parts * 2.0**g == np.rint(parts * 2.0**g))) and float(parts.sum()) * 2.0**g < 2.0**bits for g in (0, 2, 4, 8, 12)
    )


def exact_matmul(a: Any, b: Any) -> bool:
    """The same for products of matrices."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind in "bui" and b.dtype.kind in "bui":
        return True
    wide = [np.abs(x.real.astype(np.float64)) + np.abs(x.imag.astype(np.float64)) for x in (a, b)]
    if not all(np.all(np.isfinite(w)) and np.all(w * 16 == np.rint(w * 16)) for w in wide):
        return False
    bits = {2: 11, 4: 24, 8: 53}[np.result_type(a, b).type(0).real.dtype.itemsize]
    top = np.matmul(*wide)
    return top.size == 0 or float(top.max()) * 256 < 2.0**bits


def ordered(*xs: Any) -> bool:
    """No NaN, and not zeros of both signs: which of two equal ones a minimum or a sort gives is not said by NumPy."""
    parts = [p for x in map(np.asarray, xs) if x.dtype.kind in "fc" for p in (x.real, x.imag)]
    if any(np.any(np.isnan(p)) for p in parts):
        return False
    signs = [np.signbit(p[p == 0]) for p in parts]
    every = np.concatenate([s.ravel() for s in signs]) if signs else np.zeros(0, bool)
    return bool(np.all(every) or not np.any(every))


def sortable(x: Any) -> bool:
    """Not long arrays of float16: NumPy 2.4 sorts them wrongly where the processor has AVX-512, and so finds values of `unique` twice."""
    x = np.asarray(x)
    return ordered(x) and (x.dtype.char != "e" or x.size < 100)


def in_range(x: Any, dtype: Any) -> bool:
    """A float that an integer dtype does not hold: undefined in C, and NumPy's answer depends on the length of the array. Single integers
    that do not fit: NumPy treats its scalars as Python's, here they are arrays without dimensions (docs/getting-started.md)."""
    x, dtype = np.asarray(x), np.dtype(dtype)
    if dtype.kind in "iu" and x.dtype.kind in "iu" and x.ndim == 0:
        return np.iinfo(dtype).min <= int(x) <= np.iinfo(dtype).max
    if dtype.kind not in "iu" or x.dtype.kind not in "fc":
        return True
    info = np.iinfo(dtype)
    return bool(np.all(np.isfinite(x.real)) and np.all(np.trunc(x.real) >= float(info.min)) and np.all(np.trunc(x.real) < float(info.max)))


def unique(index: Any, size: int) -> bool:
    """No element is written twice."""
    flat = np.asarray(index).ravel() % max(size, 1)
    return len(set(flat.tolist())) == flat.size


def tame(x: Any) -> bool:
    """Complex numbers whose products are exact: NumPy rounds them once or twice, as the processor has it, and follows C's Annex G in part."""
    x = np.asarray(x)
    if x.dtype.kind != "c":
        return True
    parts = np.abs(np.stack([x.real, x.imag]))
    return bool(np.all(np.isfinite(parts)) and np.all(parts < 256) and np.all(parts * 16 == np.rint(parts * 16)))


CONDITIONS = {f.__name__: f for f in (exact_sum, exact_matmul, ordered, sortable, in_range, unique, tame)}

# --- running --------------------------------------------------------------------------------------------------------------------


@contextmanager
def bounded_memory(more: int = 1 << 28) -> Iterator[None]:
    """NumPy gets `more` bytes and then a MemoryError: a sum of a row and a column has 5e9 elements, and takes minutes to fill."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def step(names: dict[str, Any], code: str, condition: str | None) -> list[str] | None:
    """Runs a statement on NumPy's side. None: it is left out; else the names of the exception's classes, empty without one."""
    if condition is not None:
        try:
            with bounded_memory():
                if not eval(condition, {**names, **CONDITIONS, "np": np}):
                    return None
        except Exception:  # names of statements that are gone
            return None
    try:
        with bounded_memory():
            exec(code, names)
    except NameError:
        return None
    except Exception as e:
        raised = [k.__name__ for k in type(e).__mro__ if k is not object and k is not Exception and k is not BaseException]
        if "MemoryError" in raised:
            return None
        # Where the index and the value, or the shape and the dtype, are both wrong, either may be named.
        both = (
            {"IndexError", "ValueError"}
            if "] =" in code
            else {"TypeError", "ValueError"}
            if re.search(r"[-+*/&|%]= |out=", code)
            else set()
        )
        return [*raised, *both] if both & set(raised) else raised
    return []


def numpy_run(ops: list[Any]) -> tuple[NumPySide, list[tuple[str, list[str]]]]:
    side = NumPySide()
    names = {"s": side, "xp": np, "np": np, "values": values}
    kept = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for code, condition in ops:
            raised = step(names, code, condition)
            if raised is not None:
                kept.append((code, raised))
    return side, kept


def run(program: dict[str, Any], device: str) -> str | None:
    """What differs, or None."""
    first, statements = numpy_run(program["ops"])
    side = PardoSide(first, device)
    names = {"s": side, "xp": side.xp, "np": np, "values": values}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for code, raised in statements:
            try:
                if raised:
                    with side.raises(*raised):
                        exec(code, names)
                else:
                    exec(code, names)
            except Difference as e:
                return f"`{code}`: {e}"
            except Exception as e:
                return f"`{code}`: {type(e).__name__}: {e}"
    return None


def script(program: dict[str, Any], device: str) -> str:
    """A plain program that shows the same."""
    _, statements = numpy_run(program["ops"])
    lines = [(Path(__file__).parent / "sides.py").read_text(), "", "def program(s, xp):"]
    for code, raised in statements:
        if raised:
            lines += [f"    with s.raises({', '.join(map(repr, raised))}):", f"        {code}"]
        else:
            lines.append(f"    {code}")
    return "\n".join([*lines, "", "", f"run_both(program, {device!r})", ""])


# --- making ---------------------------------------------------------------------------------------------------------------------


def generate(rng: random.Random, device: str) -> dict[str, Any]:
    maker = Maker(rng, device, step)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        maker.fill(rng.randint(1, 40))
    return {"ops": maker.ops}

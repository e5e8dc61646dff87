# tests/sampling.py: which tests a short run takes: a share of each kind, chosen by a seed that replays it (tests/README.md).
from __future__ import annotations

import hashlib
import math
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

# Without a seed nothing is left out. `./dev test` takes the week of the last commit.
SEED = os.environ.get("PARDO_TEST_SEED", "")
# Shares by back end or marker, for example "opencl=0.1,slow=0.3"; what is not named is whole. What varies of a test is taken once at least;
# "least=0" says that all of it may be left out, "least.opencl=0.5" that it is taken so often on OpenCL.
KEEP = os.environ.get("PARDO_TEST_KEEP", "")
SHARES = {name: float(share) for name, _, share in (part.partition("=") for part in KEEP.split(",") if part)}

# Parameters over which a sample may choose, besides those that a test's marker `varied` names. All others say what is tested: each of their
# values stays in a sample.
VARIED = frozenset(
    [
        "axis",
        "bad",
        "case",
        "correction",
        "count",
        "dtype",
        "k",
        "keepdims",
        "left",
        "number",
        "right",
        "scalar",
        "shape",
        "shapes",
        "size",
        "sizes",
        "source",
        "target",
        "view",
    ]
)


def position(*key: Hashable, seed: str | None = None) -> float:
    """A number in [0, 1) that the seed and the key decide: the same in every process."""
    text = repr((SEED if seed is None else seed, *key))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest()) / 2**56


def one_of(choices: Sequence[T], *key: Hashable) -> T:
    """The choice that the seed makes for a key."""
    return choices[int(position(*key) * len(choices))]


def share_of(classes: Iterable[str], shares: Mapping[str, float] = SHARES) -> float:
    """How much of the tests of these back ends and markers is taken: the product of their shares."""
    return math.prod(shares.get(name, 1.0) for name in classes)


def least_of(classes: Collection[str], shares: Mapping[str, float] = SHARES) -> float:
    """How many tests of a stratum of these back ends and markers are taken at least: one, or with which probability one is."""
    if "slow" in classes:
        return 0.0
    return min(shares.get(name, 1.0) for name in ("least", *(f"least.{name}" for name in classes)))


def choose(
    strata: Mapping[Hashable, Sequence[str]], shares: Mapping[Hashable, float], seed: str, least: Mapping[Hashable, float] | None = None
) -> set[str]:
    """Names of the tests to take: of each stratum its share, rounded up; where `least` is below 1, rounded to either side by the seed."""
    taken: set[str] = set()
    for stratum, names in strata.items():
        wanted, floor = shares[stratum] * len(names), (least or {}).get(stratum, 1.0)
        count = math.ceil(wanted) if floor >= 1 else int(max(wanted, floor if wanted else 0.0) + position(stratum, seed=seed))
        taken.update(sorted(names, key=lambda name: position(name, seed=seed))[:count])
    return taken


def unit_filter(program: str, shares: Mapping[str, float]) -> str:
    """GoogleTest's filter of a sample: of tests with a parameter, in suites that match a pattern, a share of its values; perhaps none."""
    listed = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    strata: dict[Hashable, list[str]] = defaultdict(list)
    share: dict[Hashable, float] = {}
    suite = ""
    for line in listed.splitlines():
        name = line.partition("#")[0].strip()
        if not line.startswith(" "):
            suite = name
        elif "/" in name and (patterns := [pattern for pattern in shares if re.search(pattern, suite)]):
            stratum = suite + name.partition("/")[0]
            strata[stratum].append(suite + name)
            share[stratum] = shares[patterns[0]]
    names = {name for stratum in strata.values() for name in stratum}
    taken = choose(strata, share, SEED, dict.fromkeys(strata, 0.0))
    print(f"sample: {len(taken)} of {len(names)} tests of {' and '.join(shares)}, seed {SEED}", file=sys.stderr)
    return "-" + ":".join(sorted(names - taken)) if names != taken else "*"


if __name__ == "__main__":  # python tests/sampling.py PROGRAM SUITES=SHARE…
    print(unit_filter(sys.argv[1], {suites: float(share) for suites, _, share in (pair.partition("=") for pair in sys.argv[2:])}))

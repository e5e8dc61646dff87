# tests/fuzz/__main__.py: the driver: `./dev fuzz [NAME…] --minutes N`, or `python tests/fuzz NAME --programs N`.
from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzz import common


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev fuzz", description="Random programs against NumPy, plain Python and models.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(common.FUZZERS)}; default: all")
    parser.add_argument("--seed", type=int, help="of the first program; default: taken from the time")
    parser.add_argument("--minutes", type=float, help="how long each runs")
    parser.add_argument("--programs", type=int, help="how many each runs; default: 200, if --minutes is not given")
    parser.add_argument(
        "--device", default="cpu", help="a selection string; for arrays over several devices also two, as cuda:0+cuda:1; default: cpu"
    )
    parser.add_argument("--replay", metavar="SEEDS", help="run these seeds, by commas, in one process, and print the last program")
    parser.add_argument("--timeout", type=float, default=120, help="seconds after which a program that says nothing hangs")
    parser.add_argument("--failures", type=int, default=1, help="stop after so many; default: 1")
    parser.add_argument("--no-shrink", action="store_true", help="print the first program that fails as it is")
    parser.add_argument("--one-process", action="store_true", help="all programs in one process, whose memory is printed")
    parser.add_argument("--brief", action="store_true", help="one line for each failure")
    given = parser.parse_args()
    names = given.names or common.FUZZERS
    if unknown := [n for n in names if n not in common.FUZZERS]:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(common.FUZZERS)}")
    if given.replay:
        return int(common.replay(names[0], [int(s) for s in given.replay.split(",")], given.device, given.timeout))
    programs = given.programs if given.programs or given.minutes else 200
    bad = 0
    for name in names:
        seed = given.seed if given.seed is not None else int(time.time()) * 1000 % (1 << 40)
        start = time.monotonic()
        done, found = common.explore(
            name,
            seed,
            given.device,
            programs,
            given.minutes * 60 if given.minutes else None,
            given.timeout,
            not given.no_shrink,
            given.brief,
            given.failures,
            one_process=given.one_process,
        )
        bad += len(found)
        took = time.monotonic() - start
        print(f"fuzz {name}: {done} programs on {given.device} from seed {seed} in {took:.0f} s, {len(found)} failures", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())

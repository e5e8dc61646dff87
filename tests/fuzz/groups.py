# tests/fuzz/groups.py: random kernels over groups, with barriers, local memory and group functions, against the interpreter.
#
# Items write their own element of local memory and read those of others only with a barrier between, so that every program has one result.
# Barriers are where all items of a group come: in loops and branches that are uniform for the group.
from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from fuzz import kernels
from fuzz.kernel_maker import Tree
from fuzz.kernels import data, load, text_of

DTYPES = ["int64", "int64", "float64", "int32", "float32", "uint8"]
BARRIER = ["pp.group_barrier(item.get_group())", []]


def run(program: dict[str, Any], device: str) -> str | None:
    import pardo as pp

    function = load(program)
    kernel = pp.kernel(function)
    place = pp.NdRange(tuple(program["global"]), tuple(program["local"]))
    items = math.prod(program["global"])

    def arguments() -> list[Any]:
        return [data(program["seed"], [items], program["dtype"]), np.zeros(items, program["dtype"]), np.zeros(4, "int64")]

    shared = pp.LocalAccessor(math.prod(program["local"]), np.dtype(program["dtype"]))
    wanted = arguments()
    with np.errstate(all="ignore"):
        try:
            kernel[place].interpret(*wanted, shared)
        except (NameError, IndexError, pp.CompileError):
            return None  # a shrunk program
    given = [pp.asarray(a, device=device) for a in arguments()]
    try:
        kernel[place](*given, shared).wait()
    except pp.CompileError as e:
        return None if "PoCL, compiles that wrongly" in str(e) else f"CompileError: {e}"
    except Exception as e:
        return None if "may have no value" in str(e) else f"{type(e).__name__}: {e}"
    for name, a, b in zip(("x", "out", "count"), given, wanted, strict=True):
        got = pp.asnumpy(a)
        if not np.array_equal(got, b):
            at = int(np.argwhere(got != b)[0][0])
            return f"{name}[{at}] is {got[at]!r}, the interpreter makes {b[at]!r}; {int(np.sum(got != b))} of {b.size} differ"
    return None


def script(program: dict[str, Any], device: str) -> str:
    lines = [kernels.HEADER + text_of(program["tree"]), "", "", kernels.DATA_TEXT, "", "kernel = pp.kernel(program)"]
    lines += [
        f"place = pp.NdRange({tuple(program['global'])}, {tuple(program['local'])})",
        f"x = data({program['seed']}, [{math.prod(program['global'])}], {program['dtype']!r})",
    ]
    lines += ["out, count = np.zeros_like(x), np.zeros(4, 'int64')", f"shared = pp.LocalAccessor({math.prod(program['local'])}, x.dtype)"]
    lines += [
        f"given = [pp.asarray(a, device={device!r}) for a in (x, out, count)]",
        "kernel[place].interpret(x, out, count, shared)",
        "kernel[place](*given, shared).wait()",
    ]
    return "\n".join([*lines, "print(out, count)", "print(*given[1:])", ""])


def smaller(program: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Without one of the lines, but never without a barrier: what races has no result."""
    for candidate in kernels.smaller(program):
        if text_of(candidate["tree"]).count("group_barrier") == text_of(program["tree"]).count("group_barrier"):
            yield candidate
    for tree in without_steps(program["tree"]):
        yield {**program, "tree": tree}


def without_steps(tree: Tree) -> Iterator[Tree]:
    """Without a whole step, from `if True:` on, with its barriers."""
    for k, (line, inside) in enumerate(tree):
        if line == "if True:":
            yield tree[:k] + tree[k + 1 :]
        for better in without_steps(inside):
            yield [*tree[:k], [line, better], *tree[k + 1 :]]


def generate(rng: random.Random, device: str) -> dict[str, Any]:
    r = rng
    rank = r.choice([1, 1, 1, 2, 2, 3])
    local = [r.choice([1, 2, 3, 4, 5, 8]) for _ in range(rank)]
    if rank == 1:
        local = [r.choice([1, 2, 3, 7, 8, 13, 16, 31, 64])]
    shape = [n * r.choice([1, 1, 2, 3]) for n in local]
    size, dtype = math.prod(local), r.choice(DTYPES)
    maker = Maker(r, size, dtype)
    body: Tree = [
        ["li = item.get_local_linear_id()", []],
        ["gi = item.get_global_linear_id()", []],
        ["group = item.get_group()", []],
        [f"a = pp.local_array({size}, x.dtype)" if r.random() < 0.6 else "a = shared", []],
        ["b = pp.local_array(" + f"{size}, 'int64')", []],
        ["v = x[gi]", []],
        ["w = np.int64(gi)", []],
        ["a[li] = v", []],
        ["b[li] = w", []],
    ]
    body += maker.steps(r.randint(1, 6), 0)
    if r.random() < 0.2:
        body.append([f"if {maker.varying()}:", [["return", []]]])
    body += [["out[gi] = v", []], ["pp.atomic.add(count, 0, w % 1000)", []], ["pp.atomic.max(count, 1, w)", []]]
    tree = [["def program(item: pp.NdItem, x, out, count, shared):", body]]
    return {"tree": tree, "global": shape, "local": local, "dtype": dtype, "seed": r.randrange(1000)}


class Maker:
    """Makes steps: what each item does between barriers."""

    def __init__(self, rng: random.Random, size: int, dtype: str) -> None:
        self.r, self.size, self.dtype, self.count = rng, size, dtype, 0

    def steps(self, length: int, depth: int) -> Tree:
        return [["if True:", self.step(depth)] for _ in range(length)]

    def other(self) -> str:
        """The place of another item, or the own one."""
        r = self.r
        return r.choice(
            [
                f"(li + {r.randint(0, 9)}) % {self.size}",
                f"{self.size - 1} - li",
                f"(li * {r.choice([2, 3, 5])}) % {self.size}",
                "li",
                str(r.randrange(self.size)),
            ]
        )

    def varying(self) -> str:
        r = self.r
        return r.choice(
            [
                f"li % {r.randint(2, 4)} == {r.randint(0, 1)}",
                f"li < {r.randint(0, self.size)}",
                "v > x[0]",
                f"w % 3 == {r.randint(0, 2)}",
                f"gi >= {r.randint(0, 40)}",
            ]
        )

    def uniform(self) -> str:
        r = self.r
        return r.choice(
            [
                f"item.get_group_linear_id() % 2 == {r.randint(0, 1)}",
                "x[0] > x[1 % len(x)]",
                f"item.get_group_linear_id() < {r.randint(0, 3)}",
                "len(x) > 20",
            ]
        )

    def mix(self, a: str, b: str) -> str:
        """Two values of the dtype of x; floats stay exact."""
        r = self.r
        forms = [
            f"max({a}, {b})",
            f"min({a}, {b})",
            f"{a} + {b}",
            f"{a} - {b}" if self.dtype != "uint8" else f"{a} ^ {b}",
            f"({a} if {self.varying()} else {b})",
        ]
        if "int" in self.dtype:
            forms += [f"({a} * {b}) % {r.randint(2, 97)}", f"{a} & {b}", f"{a} // {r.randint(2, 5)}"]
        return r.choice(forms)

    def own(self) -> Tree:
        """What needs no other item."""
        r = self.r
        self.count += 1
        kind = r.random()
        if kind < 0.35:
            return [[f"v = {self.mix('v', 'x[gi]')}", []]]
        if kind < 0.6:
            return [
                [f"if {self.varying()}:", [[f"w = (w * {r.randint(2, 9)} + li) % 1009", []]]],
                ["else:", [[f"w += {r.randint(0, 5)}", []]]],
            ]
        if kind < 0.8:
            k = f"k{self.count}"
            leave = [[f"if {self.varying()} and {k} > 1:", [[r.choice(["break", "continue"]), []]]]] if r.random() < 0.5 else []
            return [
                [
                    f"for {k} in range({r.choice(['li % 5', '3', 'w % 4', str(r.randint(0, 6))])}):",
                    [*leave, [f"w = (w + {k} * {r.randint(1, 7)}) % 10007", []]],
                ]
            ]
        p = f"p{self.count}"
        return [
            [f"{p} = pp.private_array(4, 'int64')", []],
            ["for j in range(4):", [[f"{p}[j] = w + j * li", []]]],
            [f"w = {p}[li % 4] % 5003", []],
        ]

    def step(self, depth: int) -> Tree:
        r = self.r
        self.count += 1
        kind = r.random()
        if kind < 0.2:
            return self.own()
        if kind < 0.45:  # each item reads another one's, and then writes its own
            read = [[f"t = {self.mix('v', f'a[{self.other()}]')}", []], [f"u = b[{self.other()}]", []]]
            return [BARRIER, *read, BARRIER, ["v = t", []], ["w = (w + u) % 100003", []], ["a[li] = v", []], ["b[li] = w", []]]
        if kind < 0.6:
            call = r.choice([
                "w = pp.reduce_over_group(group, w, operator.add) % 100003", "v = pp.group_broadcast(group, v, 0)", "w = pp.inclusive_scan_over_group(group, w, operator.add) % 100003",
                "w = pp.exclusive_scan_over_group(group, w, operator.add, 0) % 100003", "v = pp.reduce_over_group(group, v, max)", "v = pp.reduce_over_group(group, v, min)",
                f"w += 1 if pp.any_of_group(group, {self.varying()}) else 2", f"w += 1 if pp.all_of_group(group, {self.varying()}) else 2",
            ])  # fmt: skip
            return [[call, []]]
        if depth < 2 and kind < 0.75:  # a uniform branch
            inner: Tree = [[f"if {self.uniform()}:", self.steps(r.randint(1, 2), depth + 1)]]
            if r.random() < 0.5:
                inner.append(["else:", self.steps(1, depth + 1)])
            return inner
        if depth < 2 and kind < 0.9:  # a uniform loop
            k = f"k{self.count}"
            line = r.choice([f"for {k} in range({r.randint(0, 4)}):", f"for {k} in range(item.get_group_linear_id() % 3):"])
            leave = [[f"if {k} > 1 and {self.uniform()}:", [["break", []]]]] if r.random() < 0.3 else []
            return [[line, [*leave, *self.steps(r.randint(1, 2), depth + 1)]]]
        s = f"s{self.count}"
        tree = [
            BARRIER,
            [f"u = b[li] + (b[li + {s}] if li + {s} < {self.size} else 0)", []],
            BARRIER,
            ["b[li] = u", []],
            [f"{s} //= 2", []],
        ]
        return [
            [f"{s} = {max(1, self.size // 2)}", []],
            [f"while {s} > 0:", tree],
            BARRIER,
            ["w = b[0] % 9973", []],
            BARRIER,
            ["b[li] = w", []],
        ]

# tests/fuzz/kernel_maker.py: makes random kernels and jit functions, as trees of lines, [line, [lines inside]].
#
# Locals keep one type, and integers of Python stay small: the language says so (docs/guide/language.md: Names, Numbers). What iterations of
# a `prange` add up is exact in every order.
from __future__ import annotations

import random
from typing import Any

DTYPES = ["float64"] * 4 + ["int64"] * 4 + ["float32", "int32", "uint8", "int8", "uint32", "int16"]
Tree = list[Any]


class Maker:
    def __init__(self, rng: random.Random) -> None:
        self.r = rng
        self.n = rng.choice([0, 1, 2, 3, 5, 8, 13, 20, 33])
        self.count = 0
        self.locals: dict[str, str] = {}  # name -> dtype, "int" and "float" for Python's
        self.frozen: set[str] = set()  # what a loop counts with, and what a prange reduces into
        self.arrays: dict[str, tuple[str, int]] = {}  # name -> dtype, rank
        self.written: set[str] = set()
        self.mine: str | None = None  # in parallel parts: the index that is this iteration's own
        self.helpers: list[tuple[str, str, int]] = []
        self.loops = 0

    def program(self) -> dict[str, Any]:
        r = self.r
        kernel = r.random() < 0.45
        names, given = [], []
        for k, name in enumerate(["x", "z", "w", "y", "u"]):
            dtype = r.choice(DTYPES)
            rank = 2 if name == "w" else 1
            self.arrays[name] = (dtype, rank)
            names.append(name)
            given.append([r.randrange(1000), [self.n] if rank == 1 else [self.n, 4], dtype])
            if k >= 3:
                self.written.add(name)
        names += ["p", "q"]
        given += [r.randint(1, 9), r.randint(-8, 8) / 4]
        self.locals |= {"p": "int", "q": "float"}
        self.frozen |= {"p", "q"}
        tree: Tree = []
        for _ in range(r.randint(0, 2)):
            tree.append(self.helper())
        if kernel:
            self.mine = "i"
            body = [["i = item.get_id(0)", []]]
            self.locals["i"] = "int"
            self.frozen.add("i")
            body += self.declare()
            if r.random() < 0.2:
                body.append([f"if {self.condition()}:", [["return", []]]])
            body += self.block(r.randint(2, 6), 0)
            tree.append([f"def program(item, {', '.join(names)}):", body])
        else:
            body = self.jit_body()
            tree.append([f"def program({', '.join(names)}):", body])
        return {
            "tree": tree,
            "names": names,
            "arguments": given,
            "items": max(self.n, 1) if kernel and self.n else (0 if kernel else None),
            "numpy": r.random() < 0.7,
        }

    def jit_body(self) -> Tree:
        r, body = self.r, self.declare()
        kept = dict(self.locals)
        for _ in range(r.randint(1, 4)):
            kind = r.random()
            if kind < 0.4:
                body += self.parallel()
            elif kind < 0.55:
                body += self.nested_function()
            elif kind < 0.65:
                body += self.matched()
            elif kind < 0.72:
                body += self.caught()
            else:
                body.append(self.serial_loop(0))
            self.locals = dict(kept)
        if r.random() < 0.8:
            body.append([f"return {', '.join([n for n in kept if n not in 'pq' or r.random() < 0.5] + ['0'])}", []])
        return body

    def declare(self) -> Tree:
        lines = []
        for _ in range(self.r.randint(1, 4)):
            self.count += 1
            name, dtype = f"a{self.count}", self.r.choice(["int", "float", *DTYPES])
            start = self.constant(dtype) if dtype in ("int", "float") else f"np.{dtype}({self.constant(dtype)})"
            lines.append([f"{name} = {start}", []])
            self.locals[name] = dtype
        return lines

    def helper(self) -> Any:
        """A function of two numbers: an expression, an early return, or a loop."""
        r = self.r
        self.count += 1
        name, dtype = f"helper{self.count}", r.choice(["float64", "int64", "int32"])
        outer, arrays, frozen = self.locals, self.arrays, self.frozen
        self.locals, self.arrays, self.frozen = {"a": dtype, "b": dtype}, {}, set()
        body: Tree = []
        if r.random() < 0.5:
            body.append([f"if {self.condition()}:", [[f"return {self.expression(dtype)}", []]]])
        if r.random() < 0.4:
            self.locals["k"] = "int"
            self.frozen.add("k")
            body.append([f"for k in range({r.randint(1, 5)}):", [[f"a = {self.expression(dtype)}", []]]])
            del self.locals["k"]
        body.append([f"return {self.expression(dtype)}", []])
        self.locals, self.arrays, self.frozen = outer, arrays, frozen
        self.helpers.append((name, dtype, 2))
        return [f"def {name}(a, b):", body]

    # expressions: every one has the dtype asked for, in NumPy's scalars and in the language

    def constant(self, dtype: str) -> str:
        r = self.r
        if dtype == "float" or dtype.startswith("float"):
            return str(r.randint(-8, 8) / 4)
        return str(r.randint(0 if dtype.startswith("u") else -6, 7))

    def whole(self, depth: int = 0) -> str:
        """A small integer of Python."""
        r = self.r
        names = [n for n, t in self.locals.items() if t == "int"]
        if depth > 1 or r.random() < 0.5:
            return r.choice(names) if names and r.random() < 0.7 else str(r.randint(-4, 7))
        a, b = self.whole(depth + 1), self.whole(depth + 1)
        return r.choice([f"({a} + {b})", f"({a} - {b})", f"({a} * {b}) % 17", f"({a}) % {r.randint(1, 9)}", f"({a}) // {r.choice([-3, 2, 5])}",
                         f"min({a}, {b})", f"max({a}, {b})", f"abs({a})", f"(({a}) & {r.randint(0, 15)})", f"({a} if {a} < {b} else {b})"])  # fmt: skip

    def index(self, size: str) -> str:
        """A position inside an array of so many, or now and then not."""
        r = self.r
        if r.random() < 0.012:
            return r.choice([size, f"{self.whole()} + 30"])
        if r.random() < 0.08:
            return "-1"
        if self.mine and r.random() < 0.5:
            return self.mine
        return f"({self.whole()}) % {size}"

    def element(self, dtype: str) -> str | None:
        """An element of an array that is not written elsewhere meanwhile."""
        found = [n for n, (t, _) in self.arrays.items() if t == dtype]
        if not found:
            return None
        name = self.r.choice(found)
        if self.mine and name in self.written:
            return f"{name}[{self.mine}]"
        if self.arrays[name][1] == 2:
            return f"{name}[{self.index(f'{name}.shape[0]')}, {self.index('4')}]"
        return f"{name}[{self.index(f'len({name})')}]"

    def given_element(self, dtype: str) -> str | None:
        """An element of an array that is only read."""
        arrays = self.arrays
        self.arrays = {n: t for n, t in arrays.items() if n not in self.written}
        element = self.element(dtype)
        self.arrays = arrays
        return element

    def expression(self, dtype: str, depth: int = 0) -> str:
        r = self.r
        if dtype == "int":
            return self.whole()
        names = [n for n, t in self.locals.items() if t == dtype]
        if depth > 2 or r.random() < 0.3:
            leaf = self.element(dtype) if r.random() < 0.6 else None
            if leaf is None:
                leaf = r.choice(names) if names and r.random() < 0.8 else self.typed(dtype)
            return leaf
        a = self.expression(dtype, depth + 1)
        kind = r.random()
        if kind < 0.12:
            b = self.constant(dtype)
        else:
            b = self.expression(dtype, depth + 1)
        integer = "int" in dtype
        forms = [f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"min({a}, {self.typed_again(b, dtype)})", f"max({a}, {self.typed_again(b, dtype)})",
                 f"({a} if {self.condition(depth + 1)} else {self.typed_again(b, dtype)})"]  # fmt: skip
        if integer:
            forms += [
                f"({a} // {b})",
                f"({a} % {b})",
                f"({a} & {b})",
                f"({a} | {b})",
                f"({a} ^ {b})",
                f"({a} >> {r.randint(0, 6)})",
                f"({a} << {r.randint(0, 3)})",
            ]
        else:
            forms += [f"({a} / {r.choice(['2', '4', '-8'])})", f"abs({a})", f"np.floor({a})", f"-({a})"]
        if dtype == "float64":
            forms += [f"np.float64({self.whole()})", f"math.sqrt(abs({a}))"]
        if dtype in ("int64", "int32", "float64"):
            forms += [f"{h}({a}, {self.typed_again(b, dtype)})" for h, t, _ in self.helpers if t == dtype]
        if dtype == "int64":
            forms += [f"np.int64({self.whole()})"]
        return r.choice(forms)

    def typed(self, dtype: str) -> str:
        return self.constant(dtype) if dtype == "float" else f"np.{dtype}({self.constant(dtype)})"

    def typed_again(self, text: str, dtype: str) -> str:
        """A constant with its dtype, where a choice would mix it with a weak one."""
        try:
            float(text)
        except ValueError:
            return text
        return text if dtype == "float" else f"np.{dtype}({text})"

    def condition(self, depth: int = 0) -> str:
        r = self.r
        dtype = r.choice([*self.locals.values(), "int"])
        a, b = self.expression(dtype, max(depth, 1)), self.expression(dtype, 2)
        text = f"{a} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {b}"
        if depth < 2 and r.random() < 0.2:
            return f"({text} {r.choice(['and', 'or'])} {self.condition(depth + 2)})"
        return f"not ({text})" if r.random() < 0.1 else text

    # statements

    def block(self, length: int, depth: int, leave: bool = False) -> Tree:
        return [self.statement(depth, leave) for _ in range(max(1, length))]

    def statement(self, depth: int, leave: bool = False) -> Any:
        r = self.r
        kind = r.random()
        if leave and kind < 0.08:
            return [f"if {self.condition()}:", [[r.choice(["break", "continue"]), []]]]
        if depth < 3 and r.random() < 0.12:
            return r.choice([self.walrus, self.comprehension, self.grown_list, self.small_set, self.cases, self.pair, self.row])(depth)
        if depth < 3 and kind < 0.25:
            return self.branch(depth, leave)
        if depth < 3 and kind < 0.45 and self.loops < 6:
            return self.serial_loop(depth)
        free = [n for n in self.locals if n not in self.frozen]
        if (self.mine and kind < 0.75) or not free:
            return self.store()
        if kind < 0.9 or self.mine:
            name = r.choice(free)
            if self.locals[name] == "int":
                return [f"{name} = ({self.whole()}) % {r.randint(2, 40)}", []]
            op = r.choice(["=", "=", "+=", "-=", "*="])
            return [f"{name} {op} {self.expression(self.locals[name])}", []]
        return self.store()

    def store(self) -> Any:
        r = self.r
        name = r.choice(sorted(self.written))
        dtype = self.arrays[name][0]
        at = self.mine or self.index(f"len({name})")
        if self.mine == "i" and r.random() < 0.01:  # of a kernel: out of range for each item, so that none meets another
            at = f"{self.mine} + len({name})"
        return [f"{name}[{at}] {r.choice(['=', '=', '+=', '-='])} {self.expression(dtype)}", []]

    def branch(self, depth: int, leave: bool) -> Any:
        # One node for the whole, so that a line that goes takes its `else` with it.
        r = self.r
        inner = [[f"if {self.condition()}:", self.block(r.randint(1, 3), depth + 1, leave)]]
        if r.random() < 0.3:
            inner.append([f"elif {self.condition()}:", self.block(r.randint(1, 2), depth + 1, leave)])
        if r.random() < 0.5:
            inner.append(["else:", self.block(r.randint(1, 2), depth + 1, leave)])
        return ["if True:", inner] if len(inner) > 1 else inner[0]

    # Each gives one node, so that what is left out goes as a whole.

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def within(self, depth: int, **names: str) -> Tree:
        """A block in which these names are known, and not assigned."""
        kept, frozen = dict(self.locals), set(self.frozen)
        self.locals |= names
        self.frozen |= set(names)
        body = self.block(self.r.randint(1, 2), depth + 1)
        self.locals, self.frozen = kept, frozen
        return body

    def walrus(self, depth: int) -> Any:
        name, dtype = self.fresh("n"), self.r.choice(["int64", "float64", "int"])
        return [f"if ({name} := {self.expression(dtype, 1)}) > {self.constant(dtype)}:", self.within(depth, **{name: dtype})]

    def comprehension(self, depth: int) -> Any:
        name, k, e, dtype = self.fresh("l"), self.fresh("k"), self.fresh("e"), self.r.choice(["int64", "float64"])
        self.locals[k] = "int"
        made = f"[{self.expression(dtype, 1)} for {k} in range({self.r.randint(1, 5)})]"
        del self.locals[k]
        return ["if True:", [[f"{name} = {made}", []], [f"for {e} in {name}:", self.within(depth, **{e: dtype})]]]

    def grown_list(self, depth: int) -> Any:
        name, k, e, dtype = self.fresh("l"), self.fresh("k"), self.fresh("e"), self.r.choice(["int64", "float64"])
        lines = [[f"{name} = [{self.expression(dtype, 2)}]", []]]
        lines.append([f"for {k} in range({self.r.randint(0, 6)}):", [[f"{name}.append({self.expression(dtype, 2)})", []]]])
        lines.append([f"{e} = {name}.pop()", []])
        return ["if True:", [*lines, [f"if len({name}) > {self.r.randint(0, 3)}:", self.within(depth, **{e: dtype})]]]

    def small_set(self, depth: int) -> Any:
        name = self.fresh("s")
        lines = [[f"{name} = {{{self.r.randint(0, 5)}, {self.r.randint(0, 5)}}}", []], [f"{name}.add({self.whole()})", []]]
        return ["if True:", [*lines, [f"if {self.whole()} in {name} or len({name}) == {self.r.randint(1, 3)}:", self.within(depth)]]]

    def cases(self, depth: int) -> Any:
        tests = [f"case {k}:" for k in range(self.r.randint(1, 2))] + ["case _:"]
        return [f"match ({self.whole()}) % 3:", [[test, self.block(1, depth + 1)] for test in tests]]

    def pair(self, depth: int) -> Any:
        name, a, b = self.fresh("t"), self.r.choice(["int64", "float64"]), self.r.choice(["int64", "int32"])
        made = [f"{name} = Pair({self.expression(a, 1)}, {self.expression(b, 1)})", []]
        return ["if True:", [made, *self.within(depth, **{f"{name}.a": a, f"{name}.b": b})]]

    def row(self, depth: int) -> Any:
        """A sum of a part of a row: of quarters, so it is exact; in serial code also a slice that is stored."""
        dtype, name = self.arrays["w"][0], self.fresh("r")
        if dtype in ("float64", "int64") and (self.mine or self.r.random() < 0.5):
            a = self.r.randint(0, 3)
            made = [f"{name} = np.sum(w[{self.index('w.shape[0]')}, {a}:{self.r.randint(a + 1, 4)}])", []]
            return ["if True:", [made, *self.within(depth, **{name: dtype})]]
        if self.mine:
            return self.store()
        target = self.r.choice(sorted(self.written))
        same = [n for n, (t, rank) in self.arrays.items() if t == self.arrays[target][0] and rank == 1]
        here, there = self.r.choice([("1:", ":-1"), (":", "::-1"), ("::2", "::2"), ("1:-1", "2:"), ("-3:", "-3:")])
        return [f"{target}[{here}] {self.r.choice(['=', '+='])} {self.r.choice(same)}[{there}] + {self.r.randint(0, 3)}", []]

    def serial_loop(self, depth: int) -> Any:
        r = self.r
        self.loops += 1
        self.count += 1
        k, kept = f"k{self.count}", dict(self.locals)
        kind = r.random()
        inside: Tree = []
        if kind < 0.55:
            low, high, step = r.choice(["", "1, ", "2, "]), r.choice([str(r.randint(1, 7)), "len(x)", "p", f"({self.whole()}) % 6"]), ""
            if r.random() < 0.25:
                low, step = low or "0, ", f", {r.choice([2, 3])}"
            elif r.random() < 0.1:
                low, high, step = f"{high}, ", "-1", ", -1"
            line = f"for {k} in range({low}{high}{step}):"
            self.locals[k] = "int"
        elif kind < 0.7:
            readable = [n for n in self.arrays if n not in self.written and self.arrays[n][1] == 1]
            name = r.choice(readable)
            line = f"for {k} in {name}:" if r.random() < 0.6 else f"for {k}e, {k} in enumerate({name}):"
            self.locals[k] = self.arrays[name][0]
            if "enumerate" in line:
                self.locals[f"{k}e"] = "int"
                self.frozen.add(f"{k}e")
        else:
            # A while loop that comes to an end: its counter is changed first of all.
            self.locals[k] = "int"
            inside = [[f"{k} -= 1", []]]
            self.frozen.add(k)
            body = inside + self.block(r.randint(1, 3), depth + 1, True)
            self.locals = kept
            more = f" and {self.condition()}" if r.random() < 0.3 else ""
            # The counter's first value and the loop are one node.
            return ["if True:", [[f"{k} = {r.randint(0, 6)}", []], [f"while {k} > 0{more}:", body]]]
        self.frozen.add(k)
        body = self.block(r.randint(1, 4), depth + 1, True)
        self.locals = kept
        return [line, body]

    def parallel(self) -> Tree:
        """A prange loop: writes at its own index, reductions into names from before."""
        r = self.r
        self.count += 1
        i, kept, frozen = f"i{self.count}", dict(self.locals), set(self.frozen)
        total = f"t{self.count}"
        reduces = r.random() < 0.6
        before: Tree = []
        dtype = r.choice(["float64", "int64", "int", "float"])
        op = r.choice(["+=", "-=", "min", "max"])
        if reduces:
            before = [[f"{total} = {self.constant(dtype) if dtype in ('int', 'float') else self.typed(dtype)}", []]]
        self.frozen |= set(self.locals) | {i}  # what is from before is read only
        self.locals[i] = "int"
        self.mine = i
        body = []
        for _ in range(r.randint(0, 2)):
            self.count += 1
            name, kind = f"b{self.count}", r.choice(["float64", "int64", "int"])
            body.append([f"{name} = {self.expression(kind)}", []])
            self.locals[name] = kind
        body += self.block(r.randint(1, 4), 1)
        if reduces:
            # Counters and elements that nothing has written, no square roots: their sums are exact in every order.
            term = {
                "int": self.whole(),
                "int64": self.expression("int64"),
                "float64": self.given_element("float64") or "0.25",
                "float": self.given_element("float64") or "0.5",
            }[dtype]
            body.append([f"{total} {op} {term}" if "=" in op else f"{total} = {op}({total}, {term})", []])
        self.mine, self.locals, self.frozen = None, kept, frozen
        first = f"for {i} in pp.prange({r.choice(['len(y)', 'len(y)', 'x.shape[0]', 'min(len(y), 5)'])}):"
        if not reduces:
            return [[first, body]]
        return [*before, [first, body], *self.keep(total, dtype)]

    def keep(self, total: str, dtype: str) -> Tree:
        """Uses the value of a reduction: adds it to a name that is returned."""
        names = [n for n, t in self.locals.items() if t == dtype and n not in self.frozen]
        if not names:
            return []
        name = self.r.choice(names)
        return [[f"{name} = ({name} + {total}) % 97", []]] if dtype == "int" else [[f"{name} = {name} + {total}", []]]

    def nested_function(self) -> Tree:
        """A function inside, with a loop in it; called at once, perhaps twice."""
        r = self.r
        self.count += 1
        name = f"inner{self.count}"
        lines = [[f"s = {self.constant('float')}", []]]
        loop = r.choice(["for j in range(len(x)):", "for j in pp.prange(len(x)):", "for j in range(c):", "for j in range(1, len(x)):"])
        lines.append([loop, [[f"s += {r.choice(['x[j] * 0.5', 'j * 0.25', 'z[j] + 0.0', 'x[j] * c'])}", []]]])
        lines.append(["return s", []])
        target = [n for n, t in self.locals.items() if t in ("float", "float64") and n not in self.frozen]
        calls = (
            [[f"{r.choice(target)} += {name}({self.r.randint(0, min(self.n, 4))})", []] for _ in range(r.randint(1, 2))]
            if target
            else [[f"{name}(0)", []]]
        )
        if self.r.random() < 0.3:  # names that other statements bind are known in loops
            calls.append(["import math as mathematics", []])
            calls.append(
                [
                    f"for j in {r.choice(['range', 'pp.prange'])}(len(y)):",
                    [["y[j] += mathematics.floor(2.5)", []]],
                ]
            )
        return [[f"def {name}(c):", lines], *calls]

    def matched(self) -> Tree:
        """`match` around loops; in a case that is not the first too."""
        r = self.r
        cases = [
            [f"case {k}:" if k < 2 else "case other:", self.parallel() if r.random() < 0.6 else [self.serial_loop(1)]] for k in range(3)
        ]
        return [[f"match p % {r.randint(1, 4)}:", cases]]

    def caught(self) -> Tree:
        """Loops in `try` and `except`; the exception has a name."""
        body = self.parallel() if self.r.random() < 0.5 else [self.serial_loop(1)]
        return [
            ["try:", [[f"{'raise ValueError(3)' if self.r.random() < 0.6 else 'pass'}", []]]],
            ["except ValueError as error:", [*body, ["q = q + error.args[0] - 3", []]]],
        ]

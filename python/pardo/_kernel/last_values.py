# python/pardo/_kernel/last_values.py: names that keep the last iteration's value behind a parallel loop: it runs after the others.
from __future__ import annotations

import ast
import copy
from typing import Any

from pardo._compiler import liveness
from pardo._kernel.parallel_loops import Scope, bounds_of, is_prange, iterations_of

PARTS = "$parts"
LOAD, STORE = ast.Load(), ast.Store()


def parts(*bounds: Any) -> tuple[int, int, int, bool]:
    """Start of a loop, where its last iteration is, the step, and whether it has one."""
    iterations = iterations_of(bounds)
    return iterations.start, iterations[-1] if iterations else iterations.start, iterations.step, bool(iterations)


def _asked(loop: ast.For, around: liveness.Around) -> set[str]:
    """Names that are read behind a loop, that each iteration gives a value, and that it does not reduce into."""
    names = liveness.bound([loop]) & around.behind - around.captured
    counters = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    certain = liveness.Flow(loop.body, counters, set()).end.certain or set()
    return names if not names & around.caught and names <= certain & liveness.bound(loop.body) | counters else set()


def _goes_on_early(statements: list[ast.stmt]) -> bool:
    """True for `continue` of the loop that these are the body of."""
    return any(
        isinstance(s, ast.Continue) or (not isinstance(s, (ast.For, ast.While)) and any(map(_goes_on_early, liveness.blocks(s))))
        for s in statements
    )


def put_behind(scope: Scope, body: list[ast.stmt], parameters: set[str]) -> dict[int, liveness.Around]:
    """Take the last iteration of loops whose last values are asked for out of them, and put it behind them; what is around each loop then,
    where nothing behind such a loop reads what that iteration gives."""
    found: dict[int, set[str]] = {}
    while True:
        around = liveness.around(body, parameters)
        every = [s for s in liveness.all_statements(body) if isinstance(s, ast.For) and is_prange(scope, s)]
        inside = {id(s) for loop in every for s in liveness.all_statements(loop.body)}
        for loop in every:
            if id(loop) in found or id(loop) in inside or _goes_on_early(loop.body):
                continue
            if names := _asked(loop, around[id(loop)]):
                break
        else:
            return around | {loop: around[loop]._replace(behind=around[loop].behind - names) for loop, names in found.items()}
        found[id(loop)] = names
        for block in [body, *(b for s in liveness.all_statements(body) for b in (liveness.blocks(s) if isinstance(s, ast.stmt) else ()))]:
            if loop in block:
                at = block.index(loop)
                block[at : at + 1] = _divided(loop)
                break


def _divided(loop: ast.For) -> list[ast.stmt]:
    name = f"{PARTS}{loop.lineno}_{loop.col_offset}"

    def part(k: int, context: ast.expr_context = LOAD) -> ast.expr:
        return ast.Name(f"{name}_{k}", context)

    targets = [part(k, STORE) for k in range(4)]
    first = ast.Assign([ast.Tuple(targets, STORE)], ast.Call(ast.Name(PARTS, LOAD), bounds_of(loop), []))
    own = copy.deepcopy(loop)
    once = ast.While(ast.Constant(True), [ast.Assign([own.target], part(1)), *own.body, ast.Break()], [])
    assert isinstance(loop.iter, ast.Call)
    loop.iter.args = [part(0), part(1), part(2)]
    made: list[ast.stmt] = [first, loop, ast.If(part(3), [once], [])]
    for s in made:
        for n in ast.walk(s):
            if isinstance(n, (ast.expr, ast.stmt)) and not hasattr(n, "lineno"):
                ast.copy_location(n, loop)
    return made

# python/pardo/_kernel/own_arrays.py: arrays that a jit function makes between its loops by NumPy's names: they lie where its arguments do.
from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Container, Iterable
from typing import Any

import numpy as np
from pardo._array import creation, interop, ranges
from pardo._base.arguments import HOST, default_queue, same_queue
from pardo._base.promotion import kind_of
from pardo._compiler import structs
from pardo._core import Array, Queue, _calls, _pull
from pardo._kernel.parallel_loops import Scope, called

QUEUE, QUEUE_OF, MADE_ON = "$queue", "$queue_of", "$made_on"

# NumPy's functions that make arrays, by identity, and ours that do the same on a queue.
_MAKERS: dict[int, Callable[..., Array]] = {
    id(getattr(np, name)): getattr(module, name)
    for module, names in (
        (creation, ("empty", "zeros", "ones", "full", "eye", "identity")),
        (ranges, ("arange", "linspace")),
        (interop, ("array", "asarray")),
    )
    for name in names
}
_MAKERS[id(np.ascontiguousarray)] = lambda *given, **said: interop.asarray(*given, **{"order": "C", **said})
_OF_VALUES = (np.array, np.asarray, np.ascontiguousarray)


class Several:
    """Takes the place of a queue where arguments have different ones."""

    def __init__(self, first: Any, second: Any, name: str) -> None:
        self.arrays, self.name = (first, second), name


def queue_of(name: str, arguments: Iterable[Any]) -> Queue | Several | None:
    """Where a function's own arrays go: to the queue of its arrays; None for NumPy's memory.

    That is where arrays are that are NumPy's, and all where there are none and the default device is the CPU. A function without
    arrays that another jit function calls makes its own where that one does.
    """
    around = ((*given, *keywords.values()) for given, keywords in _calls()[1:])
    for each in itertools.chain([arguments], around):
        found, host = _arrays_in(each)
        if isinstance(found, tuple):
            first, second = found
            return Several(first, second, name)
        if found is not None or host:
            return None if found is None else found.queue
    default = default_queue()
    return None if default == Queue.of(HOST) else default


def _arrays_in(arguments: Iterable[Any]) -> tuple[Any, bool]:
    """The array of pardo that others among arguments follow, or two on different queues; and whether NumPy's are among them."""
    found, most, host = None, -1, False
    for leaf in (leaf for a in arguments for leaf in structs.leaves(a)):
        if isinstance(leaf, Array):
            pull = _pull(leaf)
            if pull == most and found is not None and found.queue != leaf.queue:
                return (found, leaf), host
            if pull > most:
                found, most = leaf, pull
        else:
            host = host or isinstance(leaf, np.ndarray)
    return found, host


def made_on(queue: Queue | Several | None, maker: Any, *arguments: Any, **keywords: Any) -> Any:
    """What a function of NumPy makes, on a queue; what only NumPy can hold (objects, texts) stays NumPy's."""
    known = _MAKERS.get(id(maker))
    if queue is None or known is None or keywords.keys() & {"like", "device"} or not _is_held(maker, arguments, keywords):
        return maker(*arguments, **keywords)
    if isinstance(queue, Several):
        same_queue(*queue.arrays, f"{queue.name}: {maker.__name__}")
    return known(*arguments, **keywords, queue=queue)


def _is_held(maker: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether dtypes, as far as they are said, and values are such that devices have."""
    said = [a for a in (*arguments, *keywords.values()) if isinstance(a, (np.dtype, type, str)) and a not in ("C", "F", "K", "A")]
    try:
        if maker in _OF_VALUES and arguments and isinstance(arguments[0], (list, tuple, np.ndarray, str, bytes)):
            said.append(np.asarray(arguments[0]).dtype)
        kinds = [np.dtype(a) for a in said]
    except TypeError:  # ours says why
        return not any(isinstance(a, str) for a in said)
    return all(kind.names or kind_of(kind) in "biufc" for kind in kinds)


class OwnArrays(ast.NodeTransformer):
    """Lets calls of NumPy's functions that make arrays make them where a function's arguments are.

    `kept`: loops, by their identity, whose trees others need as they are: of these copies are changed.
    """

    def __init__(self, scope: Scope, kept: Container[int], compiled: str) -> None:
        self.scope, self.kept, self.compiled = scope, kept, compiled
        self.found = False

    def is_maker(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and id(called(self.scope, node)) in _MAKERS

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not self.is_maker(node):
            return node
        self.found = True
        load = ast.Load()
        made = ast.Call(ast.Name(MADE_ON, load), [ast.Name(QUEUE, load), node.func, *node.args], node.keywords)
        return ast.copy_location(made, node)

    def visit_For(self, node: ast.For) -> ast.AST:
        return self.visit_loop(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self.visit_loop(node)

    def visit_loop(self, node: ast.For | ast.While) -> ast.AST:
        if id(node) in self.kept:
            if not any(map(self.is_maker, ast.walk(node))):
                return node
            node = copy.deepcopy(node)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        own = any(isinstance(d, ast.Name) and d.id == self.compiled for d in node.decorator_list)
        return node if own else self.generic_visit(node)

    def put_into(self, body: list[ast.stmt], arguments: ast.arguments, name: str) -> list[ast.stmt]:
        """The statements, behind one that finds the queue if they make arrays."""
        body = [self.visit(s) for s in body]
        if not self.found:
            return body
        load = ast.Load()
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        values: list[ast.expr] = [ast.Name(a.arg, load) for a in every]
        if arguments.vararg:
            values.append(ast.Starred(ast.Name(arguments.vararg.arg, load), load))
        if arguments.kwarg:
            of_keywords = ast.Call(ast.Attribute(ast.Name(arguments.kwarg.arg, load), "values", load), [], [])
            values.append(ast.Starred(of_keywords, load))
        queue = ast.Call(ast.Name(QUEUE_OF, load), [ast.Constant(name), ast.Tuple(values, load)], [])
        found = ast.Assign([ast.Name(QUEUE, ast.Store())], queue)
        return [ast.copy_location(found, body[0]), *body]

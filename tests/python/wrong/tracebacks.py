# tests/python/wrong/tracebacks.py: calls that raise, each in its own way: tests/python/test_tracebacks.py counts whose frames are shown.
import numpy as np
import pardo as pp

x = pp.arange(6.0).reshape(2, 3)


@pp.func
def helper(v):
    return v + missing


@pp.kernel
def wrong_kernel(item: pp.Item, x):
    x[item.get_id(0)] = missing


@pp.kernel
def wrong_helper(item: pp.Item, x):
    x[item.get_id(0)] = helper(1.0)


@pp.kernel
def late_kernel(item: pp.Item, x, n):
    x[item.get_id(0) + n] = 1.0


@pp.jit
def wrong_loop(x):
    for i in pp.prange(x.shape[0]):
        x[i] = missing


@pp.jit
def late_loop(x, n):
    for i in pp.prange(x.shape[0]):
        x[i + n] = 1.0


@pp.jit
def wrong_between(x):
    for i in pp.prange(x.shape[0]):
        x[i] = 1.0
    return pp.sum(x, axis=5)


def failing():
    """An event and an array of work that will have failed, which nobody has been told of."""
    begin, y = pp.UserEvent(), pp.zeros(4)
    event = late_kernel[pp.Range(4), None, [begin]](y, 9)
    begin.set_complete()
    return event, y


def late():
    return failing()[1]


def failed():
    return failing()[0]


def callback(*values):
    raise KeyError("of the user")


def callback_that_calls(*values):
    return pp.sum(x, axis=9)


def row_by_row(values):
    for row in values:
        row[9]


def awaiting(what):
    async def program():
        await what()

    return program


class Mine(pp.random.Generator):
    def mine(self):
        return self.normal(size="large")


# Name -> a call, and how many frames are those of this file: that of the call, and of functions that it is given.
CALLS = {
    "kernel": (lambda: wrong_kernel[pp.Range(3)](x), 1),
    "helper of a kernel": (lambda: wrong_helper[pp.Range(3)](x), 1),
    "kernel by call_kernel": (lambda: pp.call_kernel(wrong_kernel, pp.Range(3), x), 1),
    "kernel without arguments": (lambda: late_kernel[pp.Range(3)](), 1),
    "kernel with a list": (lambda: late_kernel[pp.Range(3)](x, {}), 1),
    "kernel without a range": (lambda: late_kernel["wide"](x, 1), 1),
    "kernel shown": (lambda: wrong_kernel[pp.Range(3)].inspect(x), 1),
    "kernel in plain Python": (lambda: wrong_kernel[pp.Range(3)].interpret(x), 2),
    "options of a kernel": (lambda: pp.kernel(helper, fastmath="fast"), 1),
    "decorator with options": (lambda: pp.kernel(fastmath=True)(7), 1),
    "jit": (lambda: wrong_loop(x[0]), 1),
    "jit, late": (lambda: late_loop(pp.zeros(3), 9).wait(), 2),
    "jit, between its loops": (lambda: wrong_between(pp.zeros(3)), 2),
    "jit of a class": (lambda: pp.jit(Mine), 1),
    "function": (lambda: pp.concatenate([x, pp.zeros(3)]), 1),
    "function of C++": (lambda: pp.hypot(x, pp.zeros(4)), 1),
    "function read late": (lambda: pp.nanmedian(x, axis=4), 1),
    "function of a module": (lambda: pp.linalg.inv(x), 1),
    "special function": (lambda: pp.special.logsumexp(x, axis=4), 1),
    "keyword": (lambda: pp.sum(x, axes=1), 1),
    "dtype": (lambda: pp.zeros(3, dtype="float99"), 1),
    "method": (lambda: x.reshape(7), 1),
    "method of C++": (lambda: x._to_queue("there"), 1),
    "property": (lambda: setattr(x, "imag", 1.0), 1),
    "property of C++": (lambda: setattr(x, "shape", 7), 1),
    "operator": (lambda: x + pp.zeros(4), 1),
    "operator on a list": (lambda: x @ [[1.0], ["a"]], 1),
    "operator in place": (lambda: x.__iadd__(pp.zeros((3, 3))), 1),
    "index": (lambda: x[5], 1),
    "index of a wrong type": (lambda: x["a"], 1),
    "assignment": (lambda: x.__setitem__(0, pp.zeros(4)), 1),
    "assignment of a text": (lambda: x.__setitem__(0, "text"), 1),
    "class": (lambda: pp.Range("wide"), 1),
    "class of C++": (lambda: pp.Array("wide"), 1),
    "device": (lambda: pp.Device("nowhere"), 1),
    "queue": (lambda: pp.Queue("nowhere"), 1),
    "generator of random numbers": (lambda: pp.random.default_rng(1).normal(scale=-1.0), 1),
    "older random function": (lambda: pp.random.normal(scale=-1.0), 1),
    "subclass": (lambda: Mine(pp.random.Philox(1)).mine(), 2),
    "sparse array": (lambda: pp.sparse.csr_array(x) @ pp.zeros(9), 1),
    "series": (lambda: pp.polynomial.Chebyshev([1.0, 2.0]) + "a", 1),
    "method of a universal function": (lambda: pp.add.reduce(x, axis=7), 1),
    "keyword of a universal function": (lambda: pp.add(x, x, order="Q"), 1),
    "NumPy's function": (lambda: np.concatenate([x, pp.zeros(3)]), 1),
    "NumPy's universal function": (lambda: np.add(x, pp.zeros(4)), 1),
    "NumPy's function that is not there": (lambda: np.busday_count(x, x), 1),
    "text to read": (lambda: pp.loadtxt(["1 2", "3 a"]), 1),
    "file to read": (lambda: pp.load("/nowhere/x.npy"), 1),
    "missing name": (lambda: pp.trapz, 1),
    "missing name of a module": (lambda: pp.linalg.lu, 1),
    "context of a device": (lambda: pp.device_context("nowhere").__enter__(), 1),
    "error state": (lambda: pp.errstate(all="loud").__enter__(), 1),
    "mapped data": (lambda: pp.data("x").__enter__(), 1),
    "iteration": (lambda: list(pp.asarray(1.0)), 1),
    "iteration over rows": (lambda: row_by_row(x), 2),
    "first of events": (lambda: pp.wait_any([]), 1),
    "events in order": (lambda: list(pp.as_completed([pp.UserEvent()], timeout=0)), 1),
    "callback of apply_along_axis": (lambda: pp.apply_along_axis(callback, 0, x), 2),
    "callback of fromfunction": (lambda: pp.fromfunction(callback, (2, 2)), 2),
    "callback of piecewise": (lambda: pp.piecewise(x, [x > 1], [callback]), 2),
    "callback of ours": (lambda: pp.apply_along_axis(pp.linalg.inv, 0, x), 1),
    "callback that calls": (lambda: pp.apply_along_axis(callback_that_calls, 0, x), 2),
    "host task": (lambda: pp.Queue("cpu").host_task(callback).wait(), 2),
    "late, wait": (lambda: late().wait(), 1),
    "late, number": (lambda: float(late().sum()), 1),
    "late, text": (lambda: repr(late()), 1),
    "late, list": (lambda: late().tolist(), 1),
    "late, asnumpy": (lambda: pp.asnumpy(late()), 1),
    "late, function": (lambda: pp.unique(late()), 1),
    "late, all of them": (lambda: pp.wait_all([late()]), 1),
    "late, future": (lambda: late().as_future().result(), 1),
    "late, event": (lambda: failed().wait(), 1),
    "late, event's future": (lambda: failed().as_future().result(), 1),
}
AWAITED = {"array": (awaiting(late), 1), "event": (awaiting(failed), 1)}

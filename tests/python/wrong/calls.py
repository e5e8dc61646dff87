# tests/python/wrong/calls.py: calls that are wrong, each in its own way; calls.txt holds what users read. See test_wrong_calls.py.
import numpy as np
import pardo as pp
import pardo.compat.numba as numba

x, y = pp.arange(6.0).reshape(2, 3), pp.zeros((4, 5))


class Frame:
    """What a table of pandas' looks like."""

    columns = ("size", "name")
    dtypes = ("float64", "object")

    def __getitem__(self, name):
        return np.array([1.0, 2.0]) if name == "size" else np.array(["iron", "zinc"], object)

    def __array__(self, dtype=None, copy=None):
        return np.array([[1.0, "iron"], [2.0, "zinc"]], object)


def from_import(text):
    def run():
        exec(text, {})

    return run


CALLS = {
    # The name that was called, and not that of what computes inside.
    "concatenate": lambda: pp.concatenate([x, y]),
    "concat": lambda: pp.concat([x, y]),
    "stack": lambda: pp.stack([x, y]),
    "vstack": lambda: pp.vstack([x, y]),
    "nanmean": lambda: pp.nanmean(x, axis=2),
    "nansum": lambda: pp.nansum(x, axis=2),
    "nanargmax": lambda: pp.nanargmax(x, axis=2),
    "nanstd": lambda: pp.nanstd(x, axis=2),
    "amax": lambda: pp.amax(x, axis=2),
    "allclose": lambda: pp.allclose(x, y),
    "clip": lambda: pp.clip(x, y, 1.0),
    "divmod": lambda: pp.divmod(x, y),
    "logspace": lambda: pp.logspace(0, 1, -1),
    "vector_norm": lambda: pp.linalg.vector_norm(x, axis=(0, 0)),
    "logsumexp": lambda: pp.special.logsumexp(x, axis=2),
    "sparse.vstack": lambda: pp.sparse.vstack([x, pp.zeros(3)]),
    "gaussian_laplace": lambda: pp.ndimage.gaussian_laplace(x, 1.0, axis=3),
    "chebder": lambda: pp.polynomial.chebyshev.chebder(object()),
    "method": lambda: x.std(axis=2),
    "keyword": lambda: pp.concatenate([x], axes=0),
    "missing argument": lambda: pp.transpose(),
    "ragged": lambda: pp.asarray([[1.0], [1.0, 2.0]]),
    "keyword of Numba": lambda: pp.jit(nopython=True),
    "keyword of numba.cuda": lambda: pp.kernel(device=True),
    "keyword of PyTorch": lambda: pp.sum(x, dim=0),
    "keyword of a method": lambda: x.mean(0, keepdim=True),
    "text as an operand": lambda: pp.sin("a"),
    "None as an operand": lambda: pp.sum(None),
    "text as a matrix": lambda: pp.linalg.inv("a"),
    "set as an operand": lambda: pp.add({1, 2}, 1),
    "generator as an operand": lambda: pp.sum(i for i in range(3)),
    "device of a context": lambda: pp.device_context("nope").__enter__(),
    "device of a queue": lambda: pp.Queue("nope"),
    "device of a program": lambda: pp.Program("nope", "text"),
    "device that is misspelt": lambda: pp.zeros(3, device="cpuu"),
    "device that is not here": lambda: pp.zeros(3, device="accelerator"),
    "dtype": lambda: pp.full_like(x, 0.0, dtype="complex256"),
    # Names that are not there.
    "trapz": lambda: pp.trapz,
    "in1d": lambda: pp.in1d,
    "njit": lambda: pp.njit,
    "cuda": lambda: pp.cuda,
    "devices": lambda: pp.devices,
    "float": lambda: pp.float,
    "float_": lambda: pp.float_,
    "fftfreq": lambda: pp.fftfreq,
    "Tensor": lambda: pp.Tensor,
    "no_grad": lambda: pp.no_grad,
    "set_num_threads": lambda: pp.set_num_threads,
    "typed": lambda: pp.typed,
    "linalg.lu": lambda: pp.linalg.lu,
    "linalg.sqrtm": lambda: pp.linalg.sqrtm,
    "linalg.sum": lambda: pp.linalg.sum,
    "sparse.csr_matrix": lambda: pp.sparse.csr_matrix,
    "sparse.lil_matrix": lambda: pp.sparse.lil_matrix,
    "ndimage.label": lambda: pp.ndimage.label,
    "signal.welch": lambda: pp.signal.welch,
    "special.airy": lambda: pp.special.airy,
    "random.PCG64": lambda: pp.random.PCG64,
    "fft.fht": lambda: pp.fft.fht,
    "scipy.stats": lambda: pp.scipy.stats,
    "import cuda": from_import("from pardo import cuda"),
    "import lu": from_import("from pardo.linalg import lu"),
    "import jv": from_import("from pardo.special import jv"),
    "import butter": from_import("from pardo.scipy.signal import butter"),
    "import sinm": from_import("from pardo.scipy.linalg import sinm"),
    "import numba.cuda": from_import("from pardo.compat.numba import cuda"),
    "numba.cuda": lambda: numba.cuda,
    # Values that no array can be made of.
    "None": lambda: pp.array([1.0, None]),
    "None, nested": lambda: pp.asarray([[1.0, 2.0], [3.0, None]]),
    "integer": lambda: pp.array([1, 2**64]),
    "integer of a dtype": lambda: pp.asarray([1, 300], dtype="uint8"),
    "text": lambda: pp.asarray([1.0, "two"]),
    "text with a number": lambda: pp.asarray(["1.5", "2.5"]),
    "array of texts": lambda: pp.asarray(np.array(["iron"])),
    "text of a dtype": lambda: pp.asarray(["1.5", "two"], dtype="float64"),
    "object": lambda: pp.asarray([1.0, {}]),
    "array of objects": lambda: pp.asarray(np.array([[1.0, None]], object)),
    "table": lambda: pp.asarray(Frame()),
    "operand": lambda: x + [1.0, None, 2.0],
    # Sizes, and functions that give something else than numbers.
    "memory": lambda: pp.empty(2**50, dtype="uint8").wait(),
    "vectorize of a text": lambda: pp.vectorize(lambda v: "large" if v > 1 else "small")(x),
    "vectorize of a list": lambda: pp.vectorize(lambda v: [v, v])(x),
}

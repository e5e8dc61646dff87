# tests/unit/array/make_numpy_dtypes.py: writes numpy_dtypes.inc, the result dtypes that NumPy gives, for infer_test.cpp.
import pathlib
import re
import warnings

import numpy as np

warnings.simplefilter("ignore")
np.seterr(all="ignore")
CODES = "?bhilBHILefdFD"  # pardo's order; NumPy's characters for them on Linux
TEXT = {np.dtype(c): c for c in CODES}
WEAK = (True, 1, 1.0, 1j)
root = pathlib.Path(__file__).parents[3]
rows = re.findall(
    r"^OP\((\w+),\s*(\d),\s*(\w+),\s*\w+,\s*\w+,.*?,\s*(\w*),\s*\"[^\"]*\"\)$", (root / "src/graph/ops.def").read_text(), re.M
)


def code(function, *operands):
    try:
        return TEXT[np.asarray(function(*operands)).dtype]
    except TypeError:
        return "."


def arrays(*codes):
    return [np.ones(1, c) for c in codes]


lines = [
    f"// tests/unit/array/numpy_dtypes.inc: made by make_numpy_dtypes.py with NumPy {np.__version__}; do not edit.",
    "// clang-format off",
]
for name, arity, kind, numpy in rows:
    if kind != "elementwise" or not numpy:
        continue
    f = getattr(np, numpy)
    if arity == "1":
        lines.append(f'NUMPY1({name}, "{"".join(code(f, *arrays(c)) for c in CODES)}")')
        continue
    if numpy == "where":
        call = lambda a, b: np.where(np.ones(1, bool), a, b)
    elif numpy == "clip":
        call = lambda a, b: np.clip(a, b, b)
    else:
        call = f
    lines += [f"NUMPY{arity}({name}, '{c}', \"{''.join(code(call, *arrays(c, d)) for d in CODES)}\")" for c in CODES]
    lines += [f'WEAK{arity}({name}, {i}, "{"".join(code(call, np.ones(1, c), s) for c in CODES)}")' for i, s in enumerate(WEAK)]
(pathlib.Path(__file__).parent / "numpy_dtypes.inc").write_text("\n".join(lines) + "\n")

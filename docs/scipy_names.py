# docs/scipy_names.py: what there is of SciPy, by module: the tables of docs/guide/scipy.md, made from both packages as they are installed.
from __future__ import annotations

import importlib
import inspect
import pkgutil

# Where the functions of a module run; what is said of single ones below comes before.
DEVICES = {
    "linalg": "Kernels or cuSOLVER on GPUs, LAPACK on the CPU.",
    "fft": "ducc0 on the CPU, cuFFT on NVIDIA's GPUs, VkFFT on OpenCL devices.",
    "ndimage": "All devices: each is a kernel.",
    "signal": "All devices: each is a kernel, or Fourier transforms.",
    "special": "All devices: each is an elementwise operation, which fuses.",
    "sparse": "All devices.",
}
ON_THE_HOST = "the CPU; other devices on copies, which are counted"
SINGLE = {
    "linalg": dict.fromkeys(("eigvals", "solve_banded", "solveh_banded", "solve_toeplitz"), ON_THE_HOST)
    | {"eig": "the CPU, and NVIDIA's GPUs with cuSOLVER; others on copies, which are counted"},
    "fft": dict.fromkeys(("dct", "dctn", "dst", "dstn", "idct", "idctn", "idst", "idstn"), ON_THE_HOST),
}
# What differs from SciPy's function of the same name.
NOTES = {
    ("linalg", "eig"): "without `b` and left vectors; eigenvectors are complex always",
    ("linalg", "eigvals"): "without `b`",
    ("linalg", "qr"): "without pivoting",
    ("linalg", "solve"): "does not warn of matrices that are close to singular",
    ("linalg", "lstsq"): "one matrix at a time; all drivers give the result of gelsd",
    ("linalg", "inv"): "as `solve`",
    ("special", "factorial"): "`exact` of a Python integer only",
    ("special", "comb"): "`exact` of Python integers only",
    ("fft", "set_workers"): "has no effect: all cores take part",
}
# Names that are no functions for users.
INNER = {"test", "LinAlgError", "LinAlgWarning", "find_best_blas_type", "get_blas_funcs", "get_lapack_funcs"}


def public(module: str) -> dict[str, object]:
    """SciPy's functions and classes of a module."""
    theirs = importlib.import_module(f"scipy.{module}")
    found = {name: getattr(theirs, name) for name in theirs.__all__ if name not in INNER}
    return {name: f for name, f in found.items() if callable(f) and not (inspect.isclass(f) and issubclass(f, BaseException))}


def ours(module: str) -> list[str]:
    return [name for name in importlib.import_module(f"pardo.scipy.{module}").__all__ if name not in INNER]


def table(module: str) -> str:
    """One section of the page."""
    theirs, here = public(module), ours(module)
    both = sorted(set(here) & set(theirs), key=str.lower)
    lines = [f"### {module}", "", f"{DEVICES[module]} {len(both)} of SciPy's {len(theirs)} names.", ""]
    remarks = []
    for name in both:
        said = [text for text in (NOTES.get((module, name)), SINGLE.get(module, {}).get(name)) if text]
        remarks += [f"| `{name}` | {'; '.join(said)} |"] if said else []
    plain = [name for name in both if not any(row.startswith(f"| `{name}` ") for row in remarks)]
    lines += ["There: " + ", ".join(f"`{name}`" for name in plain) + ".", ""]
    if remarks:
        lines += ["| there, with a difference or not on all devices | |", "|---|---|", *remarks, ""]
    missing = sorted(set(theirs) - set(here), key=str.lower)
    if missing:
        lines += ["Not there: " + ", ".join(f"`{name}`" for name in missing) + ".", ""]
    more = sorted(set(here) - set(theirs))
    if more:
        lines += ["Beside SciPy's: " + ", ".join(f"`{name}`" for name in more) + ".", ""]
    return "\n".join(lines)


def tables() -> str:
    """All sections, and the modules that are not there."""
    import scipy

    packages = [module.name for module in pkgutil.iter_modules(scipy.__path__) if module.ispkg and not module.name.startswith("_")]
    others = sorted(set(packages) - set(DEVICES))
    text = [f"Compared with SciPy {scipy.__version__}.", "", *map(table, DEVICES)]
    text += ["### Modules that are not there", "", ", ".join(f"`scipy.{name}`" for name in others) + ".", ""]
    return "\n".join(text)

# python/pardo/sparse.py: sparse arrays, by SciPy's names.
"""Sparse arrays of two dimensions, by the names of `scipy.sparse`: compressed rows, compressed columns, and coordinates."""

from pardo._base import public_names as _public_names
from pardo._sparse.base import issparse, sparray
from pardo._sparse.compressed import csc_array, csr_array
from pardo._sparse.construction import (
    block_array,
    block_diag,
    diags_array,
    eye_array,
    hstack,
    kron,
    random_array,
    vstack,
)
from pardo._sparse.coordinates import coo_array
from pardo._sparse.memory import keep_kinds as _keep_kinds
from pardo._sparse.parts import find, tril, triu

__all__ = [
    "block_array",
    "block_diag",
    "coo_array",
    "csc_array",
    "csr_array",
    "diags_array",
    "eye_array",
    "find",
    "hstack",
    "issparse",
    "kron",
    "random_array",
    "sparray",
    "tril",
    "triu",
    "vstack",
]

_keep_kinds(csr_array, csc_array, coo_array)
_public_names.publish_module(globals())

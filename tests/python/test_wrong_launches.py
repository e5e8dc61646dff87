# tests/python/test_wrong_launches.py: what users read when a launch, its arguments or a kernel is wrong, word for word; launches.txt is
# written again with PARDO_TEST_REWRITE=1, and must be read then.
import os
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pardo as pp
import pytest

pytestmark = pytest.mark.once
pytest.importorskip("scipy")

FOLDER = Path(__file__).parent / "wrong"
GOLDEN = FOLDER / "launches.txt"

spec = spec_from_file_location("launches", FOLDER / "launches.py")
launches = module_from_spec(spec)
spec.loader.exec_module(launches)
PROGRAMS = launches.PROGRAMS


def message(program):
    """The exception that a program raises, with the file's folder left out."""
    with pytest.raises(Exception) as caught:
        program()
    return f"{caught.type.__name__}: {caught.value}".replace(str(FOLDER) + "/", "")


def golden():
    blocks = [b.strip("\n").partition("\n") for b in GOLDEN.read_text().split("\n\n") if b.strip()]
    return {name.strip("[]"): text for name, _, text in blocks}


@pytest.mark.skipif("PARDO_TEST_REWRITE" not in os.environ, reason="writes what the other tests compare with")
def test_rewrite():
    GOLDEN.write_text("\n\n".join(f"[{name}]\n{message(program)}" for name, program in PROGRAMS.items()) + "\n")


@pytest.mark.parametrize("name", PROGRAMS)
def test_message(name):
    assert message(PROGRAMS[name]) == golden()[name]


def test_names_of_numba_cuda_that_are_imported():
    cuda = pytest.importorskip("numba.cuda")

    @pp.kernel
    def indexed(item: pp.Item, x):
        x[cuda.grid(1)] = 1.0

    @pp.kernel
    def shared(item: pp.NdItem, x):
        own = cuda.shared.array(8, np.float64)
        x[0] = own[0]

    with pytest.raises(pp.CompileError, match=r"`cuda\.grid` is numba\.cuda's, and no part of kernels; CUDA's grid is item\.get_id\(0\)"):
        indexed[8](pp.zeros(8))
    with pytest.raises(pp.CompileError, match=r"`cuda\.shared\.array` is .*; CUDA's shared is pardo\.local_array\(shape, dtype\)"):
        shared[pp.NdRange(8, 4)](pp.zeros(8))

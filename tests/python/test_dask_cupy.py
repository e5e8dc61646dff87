# tests/python/test_dask_cupy.py: the tests that the installed Dask has of CuPy's arrays, with our names put in.
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

array = pytest.importorskip("dask.array")
pytestmark = [pytest.mark.once, pytest.mark.slow]
FILES = sorted(path.name for path in (Path(array.__file__).parent / "tests").glob("test_cupy_*.py"))

# What such a test asks for is another thing here. Each line is the beginning of its name, and why.
DIFFERENCES = {
    "test_asanyarray[like0-arr1]": "asks for an error: CuPy's arrays do not become NumPy's by themselves; those on the CPU do here",
    "test_asanyarray[like0-arr3]": "the same",
    "test_diagonal": "Dask makes an empty diagonal of CuPy's arrays by name, and of NumPy for all others",
    "test_unique_kwargs": "asks for an error: indices, inverses and counts are there",
    "test_index_with_int_dask_array_indexerror": "asks for an error in compute(), which says that here where the result is read",
    "test_cupy_unsupported": "asks for an error: permutation and choice are there",
}


@pytest.mark.skipif(not FILES, reason="this Dask comes without its tests")
@pytest.mark.parametrize("file", FILES)
def test_file(file, tmp_path):
    text = (Path(array.__file__).parent / "tests" / file).read_text()
    text = text.replace('importorskip("cupy")', 'importorskip("pardo")').replace('"cupy"', '"pardo"')
    text = text.replace("Version(cupy.__version__)", 'Version("13")').replace("dask.array.backends.register_cupy()", "")
    (tmp_path / file).write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    gpu: of Dask\n    flaky: of Dask\n")
    command = [sys.executable, "-m", "pytest", "-q", "-rf", "--tb=short", "-p", "no:cacheprovider", "-p", "no:xdist", file]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "COLUMNS": "300"}, capture_output=True, text=True, check=False)
    failed = re.findall(rf"^FAILED {file}::(\S+)", done.stdout, re.MULTILINE)
    wrong = [name for name in failed if not any(name.startswith(known) for known in DIFFERENCES)]
    assert not wrong, done.stdout[-5000:]
    assert done.returncode in (0, 1, 5), done.stdout[-5000:]  # 5: all of the file is skipped
    assert file == "test_cupy_sparse.py" or "passed" in done.stdout, done.stdout[-5000:]

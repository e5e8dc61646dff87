# tests/python/test_cython_calls.py: calls of regions of Cython that the core runs by itself: what they see, copy, and leave.
import threading

import numpy as np
import pardo as pp
import pytest

pytest.importorskip("Cython")
pytest.importorskip("setuptools")
from cython_regions import DEVICES, NEEDS_A_COMPILER, compiled

pytestmark = [pytest.mark.once, pytest.mark.slow, pytest.mark.filterwarnings("ignore"), NEEDS_A_COMPILER]


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("cython"), "calls.pyx")


@pytest.fixture(params=[*DEVICES, "null:1"])
def device(request):
    with pp.device_context(request.param):
        yield request.param


def floats(*shape):
    return np.random.default_rng(3).random(shape, np.float32)


def hits(module, number):
    return getattr(module, f"_pardo_region_{number}").hits


REGIONS = {"rows": 1, "chained": 3, "doubled": 5, "read_between": 7, "add": 8, "checked": 9}  # by their marks; blocks have numbers too
REGIONS |= {"sums": 13, "normalized": 14, "filled": 15, "of_memory": 16, "of_structs": 21, "of_structs_of_c": 22, "yields": 23}
REGIONS |= {"repeated": 17, "counted": 18, "with_statements": 24, "last_values": 25, "reduced_structs": 26}


def test_rows_wait_for_the_end_of_their_block(calls, device):
    X, D = floats(40, 2), np.zeros((40, 40), np.float32)
    calls.rows(X, D)
    before, run = pp.counters(), hits(calls, REGIONS["rows"])
    D[:] = 0
    calls.rows(X, D)
    after = pp.counters()
    assert np.array_equal(D, X[:, :1] - X[:, 1])
    assert hits(calls, REGIONS["rows"]) - run == 40
    if not pp.Device(device)._takes_host_memory:
        assert after["copied_bytes"] - before["copied_bytes"] == X.nbytes + D.nbytes
        assert after["copies"] - before["copies"] == 2


def test_a_result_that_is_read_is_there(calls, device):
    D = np.zeros((5, 3), np.float32)
    for _ in range(2):
        calls.chained(D, 4)
        assert D.tolist() == [[5 + i] * 3 for i in range(5)]
    D[:] = 1
    calls.doubled(D)
    assert D.tolist() == [[2.0**i] * 3 for i in range(5)]
    calls.read_between(D)
    assert D[:, 0].tolist() == [1, 2, 3, 4, 5]
    calls.owner_is_bound_again(D)
    assert D[:, 0].tolist() == [1, 2, 3, 4, 5]
    assert D[:4, 2].tolist() == [1, 2, 3, 4]


def test_numbers_bounds_and_places_may_change(calls, device):
    x, y = floats(100), floats(100)
    expected = x.copy()
    run = hits(calls, REGIONS["add"])
    for k in range(24):
        a, shift, at = np.float32(k / 4), k % 2, k % 5
        other = y[at :: 1 + k % 3 // 2][:45]  # what has gaps is copied by Python, where it is copied
        calls.add(x[at : at + 50], other, a, shift, 40)
        for i in range(shift, 40):
            expected[at + i] += a * other[i - shift]
    np.testing.assert_allclose(x, expected, rtol=1e-5)
    assert hits(calls, REGIONS["add"]) > run


def test_what_is_present_is_used_and_nothing_is_copied(calls, device):
    x, y = floats(64), floats(64)
    expected = x[:30].copy()
    own = not pp.Device(device)._takes_host_memory
    with pp.data(tofrom=(x,), to=(y,)):
        before = pp.counters()["copied_bytes"]
        for k in range(6):
            calls.add(x[:30], y[k:50], 2, 0, 30)
            expected += 2 * y[k : k + 30]
        assert pp.counters()["copied_bytes"] == before
        if own:
            assert not np.allclose(x[:30], expected)
            pp.update_from(x)
        np.testing.assert_allclose(x[:30], expected, rtol=1e-5)
        calls.add(x[::-1][:30], y, 2, 0, 30)
        if own:
            y[:] = 0  # which the device does not see
        calls.add(x[:30], y[:30], 0, 0, 30)
    assert not pp.is_present(x)
    calls.add(x[:30], y[:30], 1, 0, 30)  # the same shapes outside


def test_a_failure_leaves_what_is_on_the_host(calls, device):
    x, y, z = np.arange(3, dtype=np.float32), np.zeros(3, np.float32), np.arange(3, dtype=np.float32)
    for _ in range(2):
        calls.checked(x, y, z, 0)
    x[:], y[:] = 1, 5
    for _ in range(2):
        with pytest.raises(IndexError) as caught:
            calls.checked(x, y, z, 1)
        assert "calls.pyx" in str(caught.value) or "calls.pyx" in "".join(getattr(caught.value, "__notes__", []))
        if not pp.Device(device)._takes_host_memory:
            assert x.tolist() == [1, 1, 1]
            assert y.tolist() == [5, 5, 5]
            assert any("`y`" in note and "stays as it was on the host" in note for note in caught.value.__notes__)
    if not pp.Device(device)._takes_host_memory:
        with pytest.raises(IndexError), pp.data(tofrom=(x, y)):
            calls.checked(x, y, z, 1)
        assert x.tolist() == [1, 1, 1]
    x[:] = 1
    calls.checked(x, y, z, 0)
    assert y.tolist() == [0, 1, 2]


def test_explain_tells_of_the_last_call(calls):
    x, y = floats(40), floats(40)
    with pp.device_context("null:1"):
        for _ in range(3):
            calls.add(x, y, 1, 0, 40)
        region = getattr(calls, f"_pardo_region_{REGIONS['add']}")
        assert "x: tofrom" in region.explain()
        assert "160 bytes to the device, 160 back" in region.explain()
        with pp.data(tofrom=(x,), to=(y,)):
            for _ in range(3):
                calls.add(x, y, 1, 0, 40)
            assert "x: tofrom, given" not in region.explain()


def test_threads_and_the_switch_to_the_host(calls, monkeypatch):
    def work(k):
        x = np.zeros(2000, np.float32)
        for _ in range(50):
            calls.add(x, np.full(2000, k, np.float32), 1, 0, 2000)
        sums[k] = float(x.sum())

    sums = {}
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sums == {k: k * 50 * 2000.0 for k in range(4)}
    with pp.device_context("null:1"):
        monkeypatch.setenv("PARDO_OFFLOAD", "off")
        copies, run = pp.counters()["copies"], hits(calls, REGIONS["add"])
        for _ in range(3):
            work(1)
        assert pp.counters()["copies"] == copies
        assert hits(calls, REGIONS["add"]) - run >= 149


def test_types_that_cython_infers(calls, device):
    x = floats(5)
    assert calls.inferred(x) == 4
    assert x.tolist() == [3] * 5


def test_reductions_several_loops_and_fused_types_are_run_by_the_core(calls, device):
    x, y = floats(50), np.empty(50, np.float32)
    run = [hits(calls, REGIONS[name]) for name in ("sums", "normalized", "filled")]
    for k in range(4):
        total, product, count = calls.sums(x, k, 40)
        np.testing.assert_allclose([total, product], [x[:40].sum() + k, (x[:40] + 1).prod()], rtol=1e-5)
        assert count == 60
        before, expected = x.sum(), x / x.sum()
        assert np.isclose(calls.normalized(x, y), before, rtol=1e-5)
        np.testing.assert_allclose(y, expected, rtol=1e-5)
        np.testing.assert_allclose(x, expected[::-1], rtol=1e-5)
        for dtype in (np.int32, np.float32):
            z = np.zeros(5, dtype)
            assert calls.filled(z, dtype(k)) == 5 * k
            assert z.tolist() == [k] * 5
    assert [hits(calls, REGIONS[name]) for name in ("sums", "normalized", "filled")] == [r + n for r, n in zip(run, (3, 3, 6), strict=True)]


def test_memory_of_c_is_known_by_its_address(calls, device):
    run = hits(calls, REGIONS["of_memory"])
    for k in range(4):
        x, y = floats(3, 3) + k, np.zeros(9, np.float32)
        calls.of_memory(x, y, 8)
        assert np.array_equal(y[:8], x.ravel()[1:] * np.array([2, 4] * 4, np.float32))
        assert y[8] == 0
    assert hits(calls, REGIONS["of_memory"]) == run + 3


def test_what_a_region_does_beside_its_loops_is_done_again(calls, device):
    x, y = np.zeros(5, np.float32), np.zeros(9, np.float32)
    run = hits(calls, REGIONS["repeated"]), hits(calls, REGIONS["counted"])
    for times in (1, 3, 0, 2):
        x[:] = 0
        calls.repeated(x, times)
        assert x.tolist() == [times * (times + 1) / 2] * 5
    expected = np.zeros(9)
    for n in (2, 5, 0, 9):
        assert calls.counted(np.array([n, 0], np.int32), y) == n
        expected[:n] += 1
        assert y.tolist() == expected.tolist()
    nested = 0 if pp.Device(device)._takes_host_memory else 3  # else one program with its parallel loop
    assert (hits(calls, REGIONS["repeated"]), hits(calls, REGIONS["counted"])) == (run[0] + nested, run[1] + 3)
    for n in (4, 4):
        D = np.full((4, 3), -1, np.float32)
        calls.rows_or_nothing(D, n)
        assert D[:, 0].tolist() == [0, 1, 2, -1]


WEIGHTS = np.dtype([("w", "f4", (2, 3)), ("n", "i4")], align=True)
BODY = np.dtype([("kind", "i1"), ("own", WEIGHTS), ("mark", "i4")], align=True)


def test_structs_in_arrays(calls, device):
    run = hits(calls, REGIONS["of_structs"]), hits(calls, REGIONS["of_structs_of_c"])
    rng = np.random.default_rng(5)
    for k in range(4):
        bodies, y = np.zeros(12, BODY), np.zeros(6, np.float32)
        bodies["own"]["w"], bodies["own"]["n"], bodies["kind"] = rng.random((12, 2, 3)), k + 2, -k
        before = bodies.copy()
        some = bodies[6 * (k % 2) :][:6]  # adjacent: those with gaps are copied by Python, where they are copied
        calls.of_structs(some, y)
        before["mark"][6 * (k % 2) :][:6] = 1
        assert np.array_equal(bodies, before)
        expected = some["own"]["w"][np.arange(6), 1, np.arange(6) % 3] * (k + 2) - k
        np.testing.assert_allclose(y, expected, rtol=1e-6)
        calls.of_structs_of_c(bodies, y, 5)
        np.testing.assert_allclose(y[:5], expected[:5] + bodies["own"]["w"][:5, 0, 2], rtol=1e-6)
    with pp.data(tofrom=(bodies,)):
        for k in range(3):
            calls.of_structs(bodies[k::2][:4], y[:4])
    before["mark"] += [1, 1, 2, 1, 2, 1, 2, 1, 1, 0, 0, 0]
    assert np.array_equal(bodies, before)
    assert hits(calls, REGIONS["of_structs"]) - run[0] >= 5
    assert hits(calls, REGIONS["of_structs_of_c"]) - run[1] == 3


def test_reductions_behind_structs(calls, device):
    bodies = np.zeros(5, BODY)
    for k in range(3):
        bodies["own"]["n"] = np.arange(5) + k
        assert calls.reduced_structs(bodies, 0.5) == 10.5 + 5 * k
    assert hits(calls, REGIONS["reduced_structs"]) >= 2


def test_statements_beside_loops(calls, device):
    def expected(y, times):
        share = 0.25
        for k in range(times):
            y[k::2] += share * (k + 1)
            share /= 2 if k > 1 else 1
        return y

    run = hits(calls, REGIONS["with_statements"])
    for times in (1, 4, 0, 2):
        y = np.zeros((5, 3), np.float32)
        calls.with_statements(y, times, 4)
        assert np.array_equal(y, expected(np.zeros_like(y), times))
    assert hits(calls, REGIONS["with_statements"]) == run + (0 if pp.Device(device)._takes_host_memory else 3)
    before = y.copy()
    with pytest.raises(ZeroDivisionError):
        calls.with_statements(y, 1, 0)
    assert np.array_equal(y, before)
    with pp.data(tofrom=(y,)):
        calls.with_statements(y[1:], 2, 4)
    before[1:] += expected(np.zeros_like(before[1:]), 2)
    assert np.array_equal(y, before)


def test_last_values_beside_reductions(calls, device):
    run = hits(calls, REGIONS["last_values"])
    for n in (3, 5, 1, 4):
        x = floats(6)
        last, total, i = calls.last_values(x, n)
        assert (last, i) == (2 * (n - 1), n - 1)
        np.testing.assert_allclose(total, x[:n].sum(), rtol=1e-6)
    assert hits(calls, REGIONS["last_values"]) == run + 3


def test_generators_have_regions(calls, device):
    x, run = np.zeros(4, np.float32), hits(calls, REGIONS["yields"])
    for k in calls.yields(x, 4):
        assert x.tolist() == [k * (k + 1) / 2] * 4
    assert hits(calls, REGIONS["yields"]) == run + 3

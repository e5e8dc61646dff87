# tests/conformance/test_copies.py: copies of strided blocks and boxes within a device and to and from the host, and prefetch.
import numpy as np
import pardo as pp
import pytest

# Slices of a source of shape (6, 8, 10).
VIEWS = {
    "a box": (slice(1, 4), slice(2, 7), slice(3, 8)),
    "columns": (slice(None), slice(None), slice(2, 3)),
    "planes": (slice(0, 6, 2), slice(None), slice(None)),
    "steps": (slice(None, None, 3), slice(None, None, 2), slice(None, None, 2)),
    "backwards": (slice(None, None, -1), slice(None), slice(1, 9)),
    "rows backwards": (slice(None), slice(None, None, -2), slice(1, 9)),
}


@pytest.fixture(params=["in_order", "out_of_order"])
def queue(request, device):
    return pp.Queue(device, order=request.param)


def _source(queue, dtype=np.float32):
    host = np.arange(6 * 8 * 10).reshape(6, 8, 10).astype(dtype)
    return host, pp.asarray(host, queue=queue)


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex64"])
@pytest.mark.parametrize("view", VIEWS)
def test_strided_blocks(queue, view, dtype):
    host, x = _source(queue, dtype)
    part = host[VIEWS[view]]
    for step in (1, -1):
        inside = (slice(None, None, step), slice(None), slice(1, -1))
        expected = np.zeros((part.shape[0], part.shape[1], part.shape[2] + 2), dtype)
        y = pp.asarray(expected, queue=queue)
        queue.copy(y[inside], x[VIEWS[view]])
        expected[inside] = part
        np.testing.assert_array_equal(pp.asnumpy(y), expected)


@pytest.mark.parametrize("same_pitches", [False, True])
def test_boxes(queue, same_pitches):
    host, x = _source(queue)
    shape = host.shape if same_pitches else (4, 5, 7)
    y = pp.zeros(shape, "float32", queue=queue)
    pitches = tuple(4 * n for n in (shape[2], shape[1] * shape[2]))
    queue.copy_rect(y, x, region=(12, 4, 3), dst_origin=(4, 1, 1), src_origin=(20, 2, 3), dst_pitches=pitches, src_pitches=(40, 320)).wait()
    expected = np.zeros(shape, np.float32)
    expected[1:4, 1:5, 1:4] = host[3:6, 2:6, 5:8]
    np.testing.assert_array_equal(pp.asnumpy(y), expected)


def test_boxes_to_and_from_the_host(queue):
    host, x = _source(queue)
    packed = np.zeros((3, 4, 3), np.float32)
    queue.copy_rect(packed, x, region=(12, 4, 3), src_origin=(20, 2, 3), src_pitches=(40, 320)).wait()
    np.testing.assert_array_equal(packed, host[3:6, 2:6, 5:8])
    packed += 1000
    queue.copy_rect(x, packed, region=(12, 4, 3), dst_origin=(20, 2, 3), dst_pitches=(40, 320)).wait()
    host[3:6, 2:6, 5:8] = packed
    np.testing.assert_array_equal(pp.asnumpy(x), host)


def test_a_box_follows_what_writes_its_source(queue):
    x = pp.asarray(np.arange(1 << 16, dtype=np.float32), queue=queue)
    y = pp.zeros(1 << 8, "float32", queue=queue)
    gate = pp.UserEvent()
    x += 1
    event = queue.copy_rect(y, x, region=(4, 256), src_pitches=(1024,), depends=gate)
    x += 1
    assert not event.done()
    gate.set_complete()
    np.testing.assert_array_equal(pp.asnumpy(y), np.arange(1, (1 << 16) + 1, 256, dtype=np.float32))


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_prefetch_moves_no_bytes(queue, kind):
    values = np.arange(10_000, dtype=np.float32)
    try:
        x = pp.asarray(values, queue=queue, usm_type=kind)
    except pp.DeviceError:
        pytest.skip(f"no {kind} memory")
    x += 1
    queue.prefetch(x).wait()
    queue.prefetch(x[100:200]).wait()
    np.testing.assert_array_equal(pp.asnumpy(x), values + 1)

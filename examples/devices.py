# examples/devices.py: what devices this machine has, and the ways to choose one.
"""Lists platforms and devices, chooses by name and by aspects, and computes on each; runs on any machine."""

import numpy as np
import pardo as pp


def show():
    for platform in pp.get_platforms():
        print(f"{platform.name} ({platform.backend}, {platform.vendor} {platform.version})")
        for d in platform.devices:
            free = "?" if d.free_memory is None else f"{d.free_memory / 2**30:.1f}"
            print(f"  {d.id:10} {d.name}: {d.max_compute_units} units, {d.global_mem_size / 2**30:.1f} GiB, {free} free")
            print(f"  {'':10} {', '.join(d.aspects)}")


def choose():
    print("default:            ", pp.Device())
    print("a GPU, else the CPU:", pp.Device("gpu,cpu"))
    print("has float64:        ", pp.select_device(required="fp64"))
    try:
        pp.select_device(required=["accelerator", "fp64"])
    except pp.DeviceError as e:
        print("an accelerator:      none:", e)


def norm(points):
    """The same function for arrays of NumPy and of any device: it computes where the points are."""
    return (points**2).sum(axis=-1) ** 0.5


def main():
    show()
    choose()
    points = np.random.default_rng(0).normal(size=(1000, 3)).astype(np.float32)
    expected = norm(points)
    for d in pp.get_devices():
        result = norm(pp.asarray(points, device=d))
        assert np.allclose(pp.asnumpy(result), expected, rtol=1e-5)
        print(f"{d}: norms of {len(points)} points, as NumPy's")
    with pp.device_context("gpu,cpu") as d:
        roots = pp.sqrt(expected)  # NumPy in, NumPy out
        print(f"{d}: {type(roots).__module__}.{type(roots).__name__} of {roots.size} roots")


if __name__ == "__main__":
    main()

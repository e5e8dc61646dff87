# examples/fission.py: cuts the CPU into parts that work side by side without disturbing each other.
"""One thread of Python for each part; each part computes on its own cores. Runs on any machine."""

import concurrent.futures

import numpy as np
import pardo as pp


def heat(device, rows, steps=50):
    """Diffusion on a square plate, on one device; gives the temperature in the middle."""
    u = pp.asarray(np.pad(np.zeros((rows - 2, rows - 2), np.float32), 1, constant_values=1.0), device=device)
    for _ in range(steps):
        inner = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
        u[1:-1, 1:-1] = inner
    return device.id, float(u[1, 1])


def cut(cpu):
    """One part a core at most four; the whole device where it cannot be cut."""
    if not cpu.has_aspect("partitionable"):
        return [cpu]
    return cpu.create_sub_devices(max(1, cpu.max_compute_units // 4))


def main():
    cpu = pp.Device("cpu")
    parts = cut(cpu)
    print(f"{cpu}: {cpu.max_compute_units} cores, cut by {cpu.partition_properties} and {cpu.partition_affinity_domains}")
    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        for name, corner in pool.map(heat, parts, [256] * len(parts)):
            print(f"{name}: {corner:.4f}")


if __name__ == "__main__":
    main()

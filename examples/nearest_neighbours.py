# examples/nearest_neighbours.py: recognises handwritten digits by their five nearest neighbours, with NumPy and with pardo.
"""1797 real images of 64 pixels (from scikit-learn), all pairwise distances by broadcasting, leave-one-out accuracy."""

import statistics
import time

import numpy as np
import pardo as pp
from sklearn.datasets import load_digits

K = 5


def distances(rows, images):
    """Squared distances of every row to every image; nothing here is special to one library."""
    return ((rows[:, None, :] - images[None, :, :]) ** 2).sum(axis=-1)


def classify(xp, d, labels):
    """The label that most of the K nearest other images have."""
    d = xp.where(xp.eye(d.shape[0], dtype=bool), xp.inf, d)
    nearest = xp.argpartition(d, K, axis=1)[:, :K]
    votes = (labels[nearest][:, :, None] == xp.arange(10)).sum(axis=1)
    return votes.argmax(axis=1)


def with_numpy(images, labels):
    # In blocks of rows: at once, NumPy would need 3.3 GB for what it throws away.
    d = np.concatenate([distances(images[i : i + 128], images) for i in range(0, len(images), 128)])
    return d, classify(np, d, labels)


def with_pardo(images, labels):
    d = distances(images, images)
    return d.wait(), classify(pp, d, labels).wait()


def seconds(function, *arguments, repeat):
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = function(*arguments)
        times.append(time.perf_counter() - start)
    return statistics.median(times), times[0], result


def main():
    digits = load_digits()
    images, labels = digits.data, digits.target
    numpy_time, _, (numpy_d, numpy_labels) = seconds(with_numpy, images, labels, repeat=3)

    before = pp.counters()
    x, y = pp.asarray(images), pp.asarray(labels)
    pardo_time, first, (d, predicted) = seconds(with_pardo, x, y, repeat=7)
    after = pp.counters()

    accuracy = float((predicted == y).mean())
    numpy_accuracy = float((numpy_labels == labels).mean())
    ran, compiled, loaded = (after[name] - before[name] for name in ("launched", "compiled", "from_disk"))
    print(f"device                 {x.device}")
    print(f"images                 {images.shape[0]} of {images.shape[1]} pixels")
    print(f"accuracy               {100 * accuracy:.2f} % (NumPy {100 * numpy_accuracy:.2f} %)")
    print(f"largest difference     {np.abs(pp.asnumpy(d) - numpy_d).max():.3g}")
    print(f"NumPy                  {1e3 * numpy_time:.1f} ms")
    print(f"pardo                  {1e3 * pardo_time:.1f} ms, the first time {1e3 * first:.1f} ms")
    print(f"ratio                  {numpy_time / pardo_time:.1f}")
    print(f"kernels                {ran} ran in 7 runs, {compiled} compiled, {loaded} from the disk cache")


if __name__ == "__main__":
    main()

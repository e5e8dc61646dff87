# bench/growth.py: what a process keeps of what it has made and dropped: resident memory along a million submissions and many kernels.
"""Usage: python bench/growth.py [--device D] [--submissions N] [--kernels N]. Memory is printed after every tenth of each."""

import argparse
import gc
import linecache
import resource
import time
from collections.abc import Callable
from pathlib import Path

import pardo as pp

TEXT = """import pardo as pp
@pp.kernel
def k(item: pp.Item, y):
    i = item.get_id(0)
    y[i] = y[i] * {number}.0 + {shape}
"""


def resident() -> float:
    """MiB."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def along(name: str, count: int, step: Callable[[int], None], settle: Callable[[], object]) -> None:
    """Prints memory after a tenth of the steps (what is kept on purpose is there by then), and after every other tenth."""
    start, series = time.monotonic(), []
    for number in range(count):
        step(number)
        if (number + 1) % (count // 10) == 0:
            settle()
            series.append(resident())
    print(f"{name:<24} {count:>9} in {time.monotonic() - start:6.0f} s, MiB: {' '.join(f'{m:.0f}' for m in series)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python bench/growth.py", description="What a process keeps of what it has made and dropped.")
    parser.add_argument("--device", help="a selection string; default: the default device")
    parser.add_argument("--submissions", type=int, default=1_000_000)
    parser.add_argument("--kernels", type=int, default=100_000)
    options = parser.parse_args()
    if options.device:
        pp.set_default_device(options.device)
    y = pp.zeros(16)
    queue = y.queue
    out_of_order = pp.Queue(y.device, order="out_of_order")
    other = pp.zeros(16, queue=out_of_order)
    print(y.device, f"pardo {pp.__version__}, {resident():.0f} MiB at first")

    def submit(number: int) -> None:
        nonlocal y
        if number % 4 == 0:
            queue.fill(y, 1.0)
        elif number % 4 == 1:
            y = y * 2 + 1
        elif number % 4 == 2:
            out_of_order.fill(other, 2.0)
        else:
            queue.host_task(lambda: None, depends=y)

    along("submissions", options.submissions, submit, lambda: (y.wait(), queue.wait(), out_of_order.wait()))

    def kernel(number: int) -> None:
        """A kernel as `exec` makes one, with a program of its own: numbers in the text are part of it."""
        name = f"<kernel {number}>"
        text = TEXT.format(number=number, shape=" + ".join(f"y[i] * {1 << j}.0" for j in range(number % 5 + 1)))
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        space: dict = {}
        exec(compile(text, name, "exec"), space)
        space["k"][pp.Range(16)](other)
        del linecache.cache[name]

    along("distinct kernels", options.kernels, kernel, out_of_order.wait)


if __name__ == "__main__":
    main()

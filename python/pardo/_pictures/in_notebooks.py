# python/pardo/_pictures/in_notebooks.py: the small pictures that notebooks show of arrays, above their values.
from __future__ import annotations

import binascii
import html
from collections.abc import Callable, Sequence
from typing import Any

from pardo import _core
from pardo._array.interop import asarray, host_view
from pardo._core import Array, Queue
from pardo._kernel import environment
from pardo._pictures import making

MOST = 256  # pixels of the longer side
READ = 2**28  # bytes: of larger arrays a pixel is the element in its middle, and the others are not read


def of_array(x: Array) -> str:
    """HTML of a picture of an image whose values have been shown; nothing for one that was not computed for that."""
    return "" if x.pending else html_of([x], lambda found: found[0], x.nbytes)


def html_of(parts: Sequence[Array], made_of: Callable[[list[Array]], Any], nbytes: int) -> str:
    """HTML of a picture of an array of so many bytes that is made of parts. An error becomes a line of text: the values are there."""
    if environment.plainly():  # kernels would run as plain Python, and take minutes
        return ""
    try:
        found = [beside for part in parts if (beside := beside_other_work(part)) is not None]
        return _element(made_of(found), nbytes) if len(found) == len(parts) else ""
    except Exception as error:
        return f"<p>no picture: {html.escape(str(error) or type(error).__name__)}</p>"


def beside_other_work(x: Array) -> Array | None:
    """The array, so that a picture of it waits for no more than its values have waited for.

    What the host sees is shown as soon as it is computed, whatever else its queue has been given: that may wait for an event of a later
    cell. So its picture has a queue of its own. Other arrays come to the host in the order of their queue, and their pictures do too.
    None for memory that the host sees on a device which does not see the host's, while there is other work.
    """
    seen = host_view(x) if x.queue.order == "in_order" else None
    if seen is None:
        return x
    try:
        return asarray(seen, copy=False, queue=Queue(x.device, order="out_of_order"))
    except ValueError:
        return None if any(queue == hash(x.queue) for queue, *_ in _core._unfinished_work()) else x


def _element(x: Any, nbytes: int) -> str:
    """A picture of an array or of a `Split`: elements as squares, or means of them."""
    longest = max(x.shape[:2])
    size = making.size_of(min(longest, MOST), x.shape, "")
    data = making.png_of(x, size=size, interpolation="auto" if nbytes <= READ else "nearest", op_name="the picture in the notebook")
    rows, columns = size
    scale = max(1, MOST // longest)
    return (
        f'<div><img src="data:image/png;base64,{binascii.b2a_base64(data, newline=False).decode()}" '
        f'alt="picture of {rows} rows and {columns} columns" '
        f'width="{columns * scale}" height="{rows * scale}" style="image-rendering:pixelated"></div>'
    )

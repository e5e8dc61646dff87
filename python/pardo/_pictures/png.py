# python/pardo/_pictures/png.py: files of pictures: PNG, by zlib alone.
from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

KINDS = {3: 2, 4: 6}  # channels -> the format's number of their kind; numbers of a palette's colours are 3


def encoded(pixels: NDArray[np.uint8], palette: NDArray[np.uint8] | None = None) -> bytes:
    """The file of pixels: rows of 3 or 4 bytes each, or of numbers of the colours of a palette.

    https://www.w3.org/TR/png-3. Rows of colours are written as differences to the row above, which compress better; numbers as they are.
    """
    height, width = pixels.shape[:2]
    rows = np.empty((height, 1 + pixels[0].size), np.uint8)
    if palette is not None:
        rows[:, 0], rows[:, 1:] = 0, pixels
        kind, tables = 3, _chunk(b"PLTE", palette[:, :3].tobytes()) + _chunk(b"tRNS", palette[:, 3].tobytes())
    else:
        flat = pixels.reshape(height, -1)
        rows[:, 0], rows[0, 1:] = 2, flat[0]
        np.subtract(flat[1:], flat[:-1], out=rows[1:, 1:])
        kind, tables = KINDS[pixels.shape[2]], b""
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + tables + _chunk(b"IDAT", zlib.compress(rows.data, 6)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

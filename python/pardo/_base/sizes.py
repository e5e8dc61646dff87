# python/pardo/_base/sizes.py: sizes of memory for people.
from __future__ import annotations


def size_text(size: float) -> str:
    """ "512 bytes", "7.6 MiB", "16.0 TiB"."""
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024:
            return f"{size:.0f} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} EiB"


def with_bytes(size: int) -> str:
    """The number of bytes, and the same for people where it is large: "8000000 bytes (7.6 MiB)"."""
    return f"{size} bytes" if size < 2**20 else f"{size} bytes ({size_text(size)})"

# python/pardo/_pictures/colours.py: colours of values: tables, those of matplotlib where it is installed, and single colours.
"""Tables hold colours at equal distances, six hexadecimal digits each; between them are straight lines, within 2 of 255 of the originals.

- viridis, magma, inferno: Stéfan van der Walt and Nathaniel Smith, 2015, https://bids.github.io/colormap, CC0.
- coolwarm: computed by the formula of Kenneth Moreland, "Diverging Color Maps for Scientific Visualization", 2009, from its two ends.
- gray: from black to white.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVELS = 255  # of a map: the 256th number of a pixel says that there is no value
NONE = 255

TABLES = {
    "viridis": (
        "44015446085c471063481769481d6f482475472a7a46307e453781433d844142873f48893d4e8a3a538b38598c355e8d33638d31688e2e6d8e2c718e"
        "2a768e297b8e27808e25848e23898e218e8d20928c1f978b1e9c891fa18821a58524aa8328ae802eb37c35b7793dbc7446c06f50c46a5ac86465cb5e"
        "70cf577cd25089d54895d840a2da37b0dd2fbddf26cae11fd8e219e5e419f1e51dfde725"
    ),
    "magma": (
        "00000402020b0504160907200e0b2b140e361a104221114e29115a311165390f6e420f754a107952137c5a167e6219806a1c81721f81792282812581"
        "892881912b81992d80a1307eaa337db2357bba3878c23b75ca3e72d2426fd9466be04c67e75263ec5860f1605df4695cf7725cf97b5dfb8560fc8e64"
        "fd9869fea16efeaa74feb47bfebd82fec68afecf92fed89afde2a3fdebacfcf4b6fcfdbf"
    ),
    "inferno": (
        "00000402020c0504170a072210092d160b391e0c45260c512f0a5b380962400a67490b6a510e6c59106e61136e69166e71196e781c6d801f6c88226a"
        "902568982766a02a63a82e5fb0315bb73557bf3952c63d4dcc4248d34743d94d3ddf5337e45a31e9612bed6925f1711ff47918f78212f98b0bfa9407"
        "fb9d07fca60cfcb014fbba1ffac42af8cd37f6d746f4e156f2ea69f2f27df5f992fcffa4"
    ),
    "coolwarm": (
        "3b4cc0445acc4e68d75875e16282ea6c8ef1779af782a5fb8db0fe98b9ffa3c2feaec9fdb8d0f9c2d5f4ccd9eed5dbe6dddddde5d8d1ecd3c6f1ccb9"
        "f5c4adf7bba0f7b194f7a687f49a7bf18d6fec7f63e57058de614cd55042cb3e38c0282fb40426"
    ),
    "gray": "000000ffffff",
}
_HEX = re.compile(r"#([0-9a-fA-F]{6})([0-9a-fA-F]{2})?")


def palette_of(cmap: Any, bad: Any, op_name: str) -> NDArray[np.uint8]:
    """256 colours of red, green, blue and opacity: those of the levels, and one of what has no value."""
    colours = np.zeros((LEVELS + 1, 4), np.uint8)
    colours[:LEVELS] = _levels(cmap, op_name)
    missing = getattr(_named(cmap, op_name), "get_bad", None) if bad is None else None
    colours[NONE] = _bytes(missing()) if missing is not None else colour_of("none" if bad is None else bad, op_name)
    return colours


def _levels(cmap: Any, op_name: str) -> NDArray[np.uint8]:
    """The colours of a map at the middles of the levels' range, from its first one to its last one."""
    found = _named(cmap, op_name)
    if isinstance(found, str):
        name = found.removesuffix("_r")
        digits = np.frombuffer(bytes.fromhex(TABLES[name]), np.uint8).reshape(-1, 3)
        return _between(digits / 255.0)[:: -1 if found.endswith("_r") else 1]
    if callable(found):
        return _bytes(found(np.linspace(0.0, 1.0, LEVELS)))
    return _between(found)


def _named(cmap: Any, op_name: str) -> Any:
    """A name of a table, what colours numbers when it is called, or an array of colours."""
    if callable(cmap):
        return cmap
    if not isinstance(cmap, str):
        return _given(cmap, op_name)
    if cmap.removesuffix("_r") in TABLES:
        return cmap
    if cmap.removesuffix("_r") == "grey":
        return cmap.replace("grey", "gray")
    try:
        import matplotlib
    except ImportError:
        known = ", ".join(TABLES)
        raise ValueError(
            f"{op_name}: there is no colour map {cmap!r}; there are {known}, also with _r at the end, and matplotlib's if it is installed"
        ) from None
    try:
        return matplotlib.colormaps[cmap]
    except KeyError:
        known = ", ".join(TABLES)
        raise ValueError(f"{op_name}: neither pardo nor matplotlib has a colour map {cmap!r}; pardo has {known}") from None


def _given(cmap: Any, op_name: str) -> NDArray[np.float64]:
    try:
        colours = np.asarray(cmap, np.float64)
    except (TypeError, ValueError):
        colours = np.empty(0)
    if colours.ndim != 2 or colours.shape[1] not in (3, 4) or colours.shape[0] < 1:
        raise TypeError(
            f"{op_name}: cmap is a name, a colour map of matplotlib, or rows of 3 or 4 numbers from 0 to 1, not {type(cmap).__name__}"
        )
    if not ((colours >= 0) & (colours <= 1)).all():
        raise ValueError(f"{op_name}: colours of cmap are numbers from 0 to 1")
    return colours


def _between(colours: NDArray[np.float64]) -> NDArray[np.uint8]:
    """So many colours as there are levels: on straight lines between the given ones."""
    at = np.linspace(0.0, colours.shape[0] - 1.0, LEVELS)
    return _bytes(np.stack([np.interp(at, np.arange(colours.shape[0]), channel) for channel in colours.T], axis=-1))


def _bytes(colours: Any) -> NDArray[np.uint8]:
    """Numbers from 0 to 1 as bytes, with an opacity."""
    values = np.asarray(colours, np.float64)
    if values.shape[-1] == 3:
        values = np.concatenate([values, np.ones_like(values[..., :1])], axis=-1)
    return np.rint(np.clip(values, 0.0, 1.0) * 255.0).astype(np.uint8)


def colour_of(colour: Any, op_name: str) -> NDArray[np.uint8]:
    """One colour: '#rrggbb', '#rrggbbaa', 'none', 3 or 4 numbers from 0 to 1, or a name that matplotlib knows."""
    if isinstance(colour, str):
        if colour.lower() in ("none", "transparent"):
            return np.zeros(4, np.uint8)
        if found := _HEX.fullmatch(colour):
            return np.frombuffer(bytes.fromhex(found[1] + (found[2] or "ff")), np.uint8)
        try:
            from matplotlib.colors import to_rgba

            return _bytes(to_rgba(colour))
        except (ImportError, ValueError):
            raise ValueError(
                f"{op_name}: {colour!r} is no colour; one is '#rrggbb', '#rrggbbaa', 'none', or 3 or 4 numbers from 0 to 1"
            ) from None
    try:
        numbers = np.asarray(colour, np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.shape not in ((3,), (4,)) or not ((numbers >= 0) & (numbers <= 1)).all():
        raise ValueError(f"{op_name}: {colour!r} is no colour; one is '#rrggbb', '#rrggbbaa', 'none', or 3 or 4 numbers from 0 to 1")
    return _bytes(numbers)

# python/pardo/compat/dpctl/tensor.py: dpctl.tensor's names over arrays.
"""Arrays by dpctl's names: those of the array API standard, with ``sycl_queue=``."""

from __future__ import annotations

from typing import Any

import numpy as np
from pardo.compat import _arrays


class usm_ndarray(metaclass=_arrays.Constructor):  # noqa: N801 (dpctl's name)
    """The class of arrays; called, it makes one that is not initialised: ``usm_ndarray(shape, dtype=None, buffer="device")``."""

    @staticmethod
    def _make(shape: Any, dtype: Any = None, buffer: Any = "device", order: str = "C", buffer_ctor_kwargs: Any = None) -> Any:
        keywords = {k: v for k, v in (buffer_ctor_kwargs or {}).items() if k == "queue"}
        if not isinstance(buffer, str):
            raise TypeError("usm_ndarray: buffer is 'device', 'shared' or 'host'; for memory that is there use its method array()")
        return _arrays.namespace("empty")(shape, dtype=dtype, order=order, usm_type=buffer, sycl_queue=keywords.get("queue"))


dtype = np.dtype
_INSTEAD = {"to_numpy": "", "dldevice_to_sycl_device sycl_device_to_dldevice DLDeviceType": "use from_dlpack and __dlpack__"}


def __getattr__(name: str) -> Any:
    """Give pardo's function of that name."""
    return _arrays.served(__name__, globals(), name, _INSTEAD)


def __dir__() -> list[str]:
    """The names."""
    return _arrays.names(globals())

# python/pardo/_language/images.py: images and samplers, for kernels in Python and for those of text.
from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array import creation, interop
from pardo._base.arguments import queue_of_pickle
from pardo._base.promotion import kind_of
from pardo._base.public_names import publish_module
from pardo._core import Array, Device, Queue
from pardo._language import texels

__all__ = ["Image", "SampledImage", "Sampler"]

DTYPES = ("int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32")


class Sampler(_core._Sampler):
    """How kernels sample an image.

    Parameters
    ----------
    normalized_coords : bool, optional
        Coordinates go from 0 to 1 along each extent; else texels are counted: the middle of the first one is 0.5. Default: True.
    addressing_mode : {'clamp_to_edge', 'clamp', 'repeat', 'mirrored_repeat', 'none'}, optional
        What lies beyond the image: the texels at its edge; zeros; the image again; its mirror image; nothing, the kernel does not go
        there. The last two of the image again need `normalized_coords`.
    filter_mode : {'nearest', 'linear'}, optional
        The texel in which the coordinates are, or the values between the 2, 4 or 8 texels around: of images whose kernels read floats.

    See Also
    --------
    Image

    Notes
    -----
    Names and rules are those of OpenCL (its C language, 6.13.14, and its chapter 8). Kernels in Python compute coordinates and weights in
    float32 on all devices. The hardware behind a program's textures has weights of 8 bits after the point on NVIDIA's devices.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.Sampler(addressing_mode="repeat", filter_mode="linear")
    Sampler(normalized_coords=True, addressing_mode='repeat', filter_mode='linear')
    """

    __slots__ = ("_struct", "addressing_mode", "filter_mode", "normalized_coords")

    def __init__(self, normalized_coords: bool = True, addressing_mode: str = "clamp_to_edge", filter_mode: str = "nearest") -> None:
        if addressing_mode not in texels.ADDRESSING:
            raise ValueError(f"Sampler: addressing_mode is one of {', '.join(map(repr, texels.ADDRESSING))}, not {addressing_mode!r}")
        if filter_mode not in ("nearest", "linear"):
            raise ValueError(f"Sampler: filter_mode is 'nearest' or 'linear', not {filter_mode!r}")
        if addressing_mode.endswith("repeat") and not normalized_coords:
            raise ValueError(f"Sampler: addressing_mode {addressing_mode!r} needs normalized_coords=True")
        self.normalized_coords, self.addressing_mode, self.filter_mode = bool(normalized_coords), addressing_mode, filter_mode
        number, linear = texels.ADDRESSING.index(addressing_mode), filter_mode == "linear"
        super().__init__(self.normalized_coords, number, linear)
        self._struct: Any = None

    def _as_struct(self) -> Any:
        """What kernels see of it."""
        if self._struct is None:
            number, linear = texels.ADDRESSING.index(self.addressing_mode), self.filter_mode == "linear"
            self._struct = texels.sampler_struct(self.normalized_coords, number, linear)(0)
        return self._struct

    def __eq__(self, other: object) -> bool:
        return type(other) is Sampler and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash(self.__reduce__())

    def __reduce__(self) -> tuple[Any, ...]:
        return Sampler, (self.normalized_coords, self.addressing_mode, self.filter_mode)

    def __repr__(self) -> str:
        return (
            f"Sampler(normalized_coords={self.normalized_coords}, addressing_mode={self.addressing_mode!r}, "
            f"filter_mode={self.filter_mode!r})"
        )


class Image(_core._Image):
    """Texels of one, two or four channels, which kernels read and write by coordinates, and sample.

    Parameters
    ----------
    shape : int or tuple of int
        Of the array of its texels: width; height and width; or depth, height and width.
    dtype : DTypeLike, optional
        Of a channel: int8, int16, int32, uint8, uint16, uint32, float16 or float32. Default: float32.
    channels : {1, 2, 4}, optional
        Of a texel. Default: 4.
    normalized : bool, optional
        Channels of uint8 and uint16 stand for 0 to 1, and kernels read and write float32. Default: False.
    layers : bool, optional
        An array of images of one or two dimensions: the first of `shape` is their number. Default: False.
    device : Device or str, optional
        Where it is. Default: the default device.
    queue : Queue, optional
        Of its work, in place of `device`.

    Attributes
    ----------
    shape : tuple of int
        Extents, as of the array of its texels.
    width, height, depth : int
        Extents in texels; 1 where the image has no such dimension.
    ndim : int
        Dimensions of one image.
    layers : int or None
        How many images there are, of an array of them.
    dtype : numpy.dtype
        Of a channel.
    channels : int
        Of a texel.
    normalized : bool
        Whether channels stand for 0 to 1.
    nbytes : int
        Bytes of its texels.
    device : Device
        Where it is.
    queue : Queue
        Of its work.

    Raises
    ------
    TypeError
        There are no images of the dtype, or it cannot be normalized.
    ValueError
        The shape has an extent that is not positive, or too many; or there are no images of so many channels.

    See Also
    --------
    Sampler, Program, kernel

    Notes
    -----
    In kernels in Python, `image` being an argument and coordinates `at` those of OpenCL, ``x`` along the width first: ``x`` for one
    dimension, ``(x, y)``, ``(x, y, z)``, of arrays of images with the layer at the end:

    - ``image.read(at)`` gives the channels of a texel: one number, or a tuple; float32 of floats and normalized channels, else int32 or
      uint32. Integer coordinates inside of the image.
    - ``image.write(at, value)`` stores them, rounded to nearest, and bounded by what the channels hold.
    - ``image.sample(sampler, at)`` gives the channels at coordinates of float32, as the `Sampler` says; the layer is the nearest one.
    - ``image.width``, ``image.height``, ``image.depth``.

    These are computed from an array of the texels, so that all devices give the same up to the rounding of float32.

    Programs take it in the device's own form: ``image2d_t`` and its like in OpenCL C, with samplers as arguments of their own; in CUDA
    C++ a ``cudaSurfaceObject_t``, and as ``image.sampled(sampler)`` a ``cudaTextureObject_t``. That form is made when a program first
    takes the image, which then needs memory twice, and each of the two is brought up to date on the device when it is needed: a copy
    where kernels in Python and programs take turns. Threads that use one image at the same time have to agree who comes first.

    Indexing copies: ``image[...]`` and ``image[2:5, :4]`` give arrays of the texels, with the channels as last axis if there are several;
    assignment takes arrays, also of the host.

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> image = pp.Image.from_array(np.arange(6, dtype=np.float32).reshape(2, 3))
    >>> @pp.kernel
    ... def zoom(item: pp.Item, image, sampler, out):
    ...     i, j = item.get_id(0), item.get_id(1)
    ...     out[i, j] = image.sample(sampler, ((j + 0.5) / out.shape[1], (i + 0.5) / out.shape[0]))
    >>> out = pp.zeros((3, 5), dtype="float32")
    >>> zoom[pp.Range(3, 5)](image, pp.Sampler(filter_mode="linear"), out).wait()
    >>> out.round(2)
    array([[0. , 0.4, 1. , 1.6, 2. ],
           [1.5, 1.9, 2.5, 3.1, 3.5],
           [3. , 3.4, 4. , 4.6, 5. ]], dtype=float32)
    """

    __slots__ = ("_kind", "channels", "device", "dtype", "layers", "ndim", "normalized", "queue", "shape")

    def __init__(
        self,
        shape: int | Sequence[int],
        dtype: Any = np.float32,
        channels: int = 4,
        *,
        normalized: bool = False,
        layers: bool = False,
        device: Device | str | None = None,
        queue: Queue | None = None,
    ) -> None:
        extents = _extents(shape, layers)
        self.dtype = _dtype(dtype, normalized)
        if channels not in (1, 2, 4):
            raise ValueError(f"Image: channels are 1, 2 or 4, not {channels!r}")
        place: dict[str, Any] = {"queue": queue} if queue is not None else {"device": device}
        made = creation.zeros((*extents, channels), dtype=self.dtype, **place)
        self.shape, self.channels, self.normalized = extents, operator.index(channels), bool(normalized)
        self.layers, self.ndim = extents[0] if layers else None, len(extents) - bool(layers)
        self.device, self.queue = made.device, made.queue
        super().__init__(made, self.ndim, bool(layers), self.normalized)
        self._kind: Any = None

    @classmethod
    def from_array(
        cls,
        array: Any,
        channels: int = 1,
        *,
        normalized: bool = False,
        layers: bool = False,
        device: Device | str | None = None,
        queue: Queue | None = None,
    ) -> Image:
        """Make an image of an array's elements.

        Parameters
        ----------
        array : array_like
            NumPy's array or pardo's; of the shape of the image, followed by the channels if there are several.
        channels : {1, 2, 4}, optional
            Of a texel. Default: 1.
        normalized, layers, device, queue
            As of `Image`. Default of `queue`: that of pardo's array.

        Returns
        -------
        Image
            Its dtype is that of the array.

        Examples
        --------
        >>> import numpy as np
        >>> import pardo as pp
        >>> pp.Image.from_array(np.zeros((4, 6, 2), dtype=np.uint8), 2, normalized=True)
        <Image of 4 x 6 texels of 2 channels of uint8, normalized, on cpu:0>
        """
        values = array if type(array) is Array else np.asarray(array)
        shape = tuple(values.shape)
        if channels != 1:
            if not shape or shape[-1] != channels:
                raise ValueError(f"Image.from_array: the last axis of the array would be of {channels} channels; its shape is {shape}")
            shape = shape[:-1]
        if queue is None and device is None and type(array) is Array:
            queue = array.queue
        made = cls(shape, values.dtype, channels, normalized=normalized, layers=layers, device=device, queue=queue)
        made[...] = values
        return made

    @property
    def width(self) -> int:
        """Texels of a row."""
        return self.shape[-1]

    @property
    def height(self) -> int:
        """Rows of texels."""
        return self.shape[-2] if self.ndim > 1 else 1

    @property
    def depth(self) -> int:
        """Planes of texels."""
        return self.shape[-3] if self.ndim > 2 else 1

    @property
    def nbytes(self) -> int:
        """Bytes of its texels."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.channels * self.dtype.itemsize

    def sampled(self, sampler: Sampler) -> SampledImage:
        """Give the image with a sampler, which programs in CUDA C++ take as a ``cudaTextureObject_t``.

        Parameters
        ----------
        sampler : Sampler
            How it is sampled.

        Returns
        -------
        SampledImage
            The argument of a program.
        """
        return SampledImage(self, sampler)

    def _index(self, index: Any) -> tuple[Any, ...]:
        """Of the array of texels."""
        places = index if isinstance(index, tuple) else (index,)
        named = sum(p is not Ellipsis for p in places)
        if named > len(self.shape):
            raise IndexError(f"Image: {len(self.shape)} indices are expected at most, not {named}; channels are not indexed")
        if not all(p is Ellipsis or isinstance(p, (slice, int, np.integer)) for p in places):
            raise IndexError("Image: indices are integers and slices")
        if not any(p is Ellipsis for p in places):
            places = (*places, Ellipsis)
        return (*places, 0) if self.channels == 1 else (*places, slice(None))

    def __getitem__(self, index: Any) -> Array:
        """Copy texels to a new array."""
        copied: Array = self._texels(False)[self._index(index)].copy()
        return copied

    def __setitem__(self, index: Any, value: Any) -> None:
        """Copy texels from an array, or one number to all channels."""
        places = self._index(index)
        target = self._texels(True)
        if not isinstance(value, (Array, int, float, np.number)):
            value = interop.asarray(np.asarray(value), queue=self.queue)
        target[places] = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Copy the texels to a NumPy array."""
        if copy is False:
            raise ValueError("Image: texels come to the host as a copy only")
        values = interop.asnumpy(self[...])
        return values if dtype is None else values.astype(dtype, copy=False)

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Copy the texels to a NumPy array, of the shape of the image, followed by the channels if there are several."""
        return self.__array__()

    def __len__(self) -> int:
        return self.shape[0]

    def read(self, at: Any) -> Any:
        """Give the channels of a texel; in kernels.

        Parameters
        ----------
        at : int or tuple of int
            x along the width, y, z, and the layer of an array of images.

        Returns
        -------
        number or tuple
            One number, or a tuple of several channels.
        """
        raise TypeError("Image.read: is for kernels; the host copies texels with image[y, x]")

    def write(self, at: Any, value: Any) -> None:
        """Store the channels of a texel; in kernels.

        Parameters
        ----------
        at : int or tuple of int
            As of `read`.
        value : number or tuple
            As `read` gives them.
        """
        raise TypeError("Image.write: is for kernels; the host copies texels with image[y, x] = value")

    def sample(self, sampler: Sampler, at: Any) -> Any:
        """Give the channels at coordinates between the texels; in kernels.

        Parameters
        ----------
        sampler : Sampler
            An argument of the kernel too.
        at : float or tuple of float
            In the order of `read`; what they count says the sampler.

        Returns
        -------
        number or tuple
            As of `read`.
        """
        raise TypeError("Image.sample: is for kernels")

    def _as_struct(self) -> Any:
        """What kernels see of it."""
        if self._kind is None:
            self._kind = texels.image_struct(self.ndim, self.layers is not None, self.channels, self.dtype, self.normalized)
        return self._kind(self._texels(True))

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (self.to_numpy(), self.channels, self.normalized, self.layers is not None, self.device.id)

    def __copy__(self) -> Image:
        return Image.from_array(
            self.to_numpy(), self.channels, normalized=self.normalized, layers=self.layers is not None, queue=self.queue
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Image:
        return self.__copy__()

    def __repr__(self) -> str:
        text = f"{' x '.join(map(str, self.shape))} texels of {self.channels} channel{'s' * (self.channels > 1)} of {self.dtype}"
        return f"<Image of {text}{', normalized' * self.normalized}, on {self.device.id}>"


class SampledImage(_core._SampledImage):
    """An image with a sampler: what programs in CUDA C++ take as a ``cudaTextureObject_t``; made by `Image.sampled`.

    Parameters
    ----------
    image : Image
        What is sampled.
    sampler : Sampler
        How.

    Attributes
    ----------
    image : Image
        What is sampled.
    sampler : Sampler
        How.

    See Also
    --------
    Image, Sampler

    Examples
    --------
    >>> import pardo as pp
    >>> pp.Image((4, 4)).sampled(pp.Sampler()).sampler.filter_mode
    'nearest'
    """

    __slots__ = ("image", "sampler")

    def __init__(self, image: Image, sampler: Sampler) -> None:
        if not isinstance(image, Image):
            raise TypeError(f"SampledImage: an Image is expected, not {type(image).__name__}")
        if not isinstance(sampler, Sampler):
            raise TypeError(f"SampledImage: a Sampler is expected, not {type(sampler).__name__}")
        if sampler.filter_mode == "linear" and not (image.normalized or kind_of(image.dtype) == "f"):
            raise TypeError(f"SampledImage: there is nothing between integers: an image of {image.dtype} needs filter_mode='nearest'")
        super().__init__(image, sampler)
        self.image, self.sampler = image, sampler

    def __repr__(self) -> str:
        return f"<{self.image!r} with {self.sampler!r}>"


def _extents(shape: Any, layers: bool) -> tuple[int, ...]:
    try:
        extents = tuple(map(operator.index, shape if isinstance(shape, (tuple, list)) else (shape,)))
    except TypeError:
        raise TypeError(f"Image: shape: integers are expected, not {shape!r}") from None
    least, most = (2, 3) if layers else (1, 3)
    if not least <= len(extents) <= most:
        raise ValueError(f"Image: shape: {least} to {most} extents are expected{' with layers' if layers else ''}, not {len(extents)}")
    if min(extents) < 1:
        raise ValueError(f"Image: shape: extents are positive, not {extents}")
    return extents


def _dtype(given: Any, normalized: bool) -> np.dtype[Any]:
    dtype: np.dtype[Any] = np.dtype(given)
    if dtype.name not in DTYPES or not dtype.isnative:
        raise TypeError(f"Image: channels are of {', '.join(DTYPES)}, not {dtype}")
    if normalized and dtype.name not in ("uint8", "uint16"):
        raise TypeError(f"Image: channels of uint8 and uint16 can be normalized, those of {dtype} not")
    return dtype


def _remade(values: Any, channels: int, normalized: bool, layers: bool, device: str = "") -> Image:
    """An image from what `__reduce__` gave, on the device it came from if this process has it, else on the default device."""
    queue = queue_of_pickle(device) if device else None
    return Image.from_array(values, channels, normalized=normalized, layers=layers, queue=queue)


publish_module(globals(), "pardo")

# python/pardo/gl.py: memory of OpenGL as arrays, without a copy where a device can use it in place.
"""Buffers and textures of OpenGL whose elements are arrays and images between two of its commands; docs/guide/gl.md shows how."""

from pardo._base import public_names as _public_names
from pardo._gl.buffers import Buffer, BufferMap, empty
from pardo._gl.images import Image, ImageMap

__all__ = ["Buffer", "BufferMap", "Image", "ImageMap", "empty"]

_public_names.publish_module(globals())

# python/pardo/_gl/__init__.py: the package; nothing is exported here.
"""Buffers and textures of OpenGL as arrays and images."""

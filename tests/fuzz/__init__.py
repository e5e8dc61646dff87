# tests/fuzz/__init__.py: random programs against NumPy, plain Python and models; see README.md.

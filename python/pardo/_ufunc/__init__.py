# python/pardo/_ufunc/__init__.py: what universal functions can do besides being called.
"""The methods of `pardo.ufunc`, and what reduces, accumulates and writes in place by them."""

# python/pardo/_base/__init__.py: the package; nothing is exported here.
"""What every layer uses: reading of arguments, data types, texts of docstrings, and what the package says of itself."""

# python/pardo/_sparse/__init__.py: implements pardo.sparse.
"""Sparse arrays: their structure, kernels, and classes."""

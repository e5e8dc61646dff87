# python/pardo/_records/__init__.py
"""Structured arrays: arrays whose elements are records of several fields."""

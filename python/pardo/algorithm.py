# python/pardo/algorithm.py: what scans make possible: packing, splitting, runs of equal elements, lists of lists.
"""Elements by what a function says of them, in parallel and in their order."""

from pardo._base import public_names as _public_names
from pardo._generate.algorithms import copy_if, partition, remove_if, unique
from pardo._generate.lists import ListOfLists, ListOfListsBuilder

__all__ = ["ListOfLists", "ListOfListsBuilder", "copy_if", "partition", "remove_if", "unique"]

_public_names.publish_module(globals())

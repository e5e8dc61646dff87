# python/pardo/_random/kernels.py: the kernels behind random.Generator: each item draws one block of Philox, and uses all of it.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo._generate.templates import element, take
from pardo._kernel.kernel import kernel
from pardo._language.groups import permute_group_by_xor
from pardo._language.index_space import Item, NdItem
from pardo._random import counts, device

LOW = 0xFFFFFFFF
MOST = np.uint64(0xFFFFFFFFFFFFFFFF)


def words_of(block: Any, stream: Any, attempt: Any, key: Any) -> Any:
    """The four words of a block."""
    return device.philox((block, block >> np.uint64(32), stream, attempt), key)


def words(counter: Any, key: Any, dtype: Any) -> Any:
    return device.philox(counter, key)


def long_words(counter: Any, key: Any, dtype: Any) -> Any:
    """Two words of 64 bits, each of two neighbours, the lower first."""
    w = device.philox(counter, key)
    return joined(w[0], w[1]), joined(w[2], w[3])


def uniform(counter: Any, key: Any, dtype: Any) -> Any:
    return device.philox_uniform(counter, key, dtype)


def normal(counter: Any, key: Any, dtype: Any) -> Any:
    return device.philox_normal(counter, key, dtype)


def exponential(counter: Any, key: Any, dtype: Any) -> Any:
    values: tuple[Any, ...] = ()
    for u in device.philox_uniform(counter, key, dtype):
        values = (*values, -np.log1p(-u))
    return values


def joined(low: Any, high: Any) -> Any:
    return np.uint64(low) | (np.uint64(high) << np.uint64(32))


def put(out: Any, i: Any, values: Any) -> None:
    """Stores the values of the i-th block, as many as there is room for."""
    first = i * len(values)
    if first + len(values) <= out.shape[0]:
        for k, value in enumerate(values):
            out[first + k] = value.astype(out.dtype)
    else:
        for k, value in enumerate(values):
            if first + k < out.shape[0]:
                out[first + k] = value.astype(out.dtype)


@kernel
def random_fill(item: Item, first: Any, stream: Any, key: Any, draw: Any, out: Any) -> None:
    i = item.get_id(0)
    block = first + np.uint64(i)
    put(out, i, draw((block, block >> np.uint64(32), stream, 0), key, out.dtype))


def redrawn(product: Any, word: Any, count: Any, refused: Any) -> Any:
    return np.uint64(word) * count if product & LOW < refused else product


@kernel
def random_integers(item: Item, first: Any, stream: Any, key: Any, low: Any, count: Any, refused: Any, out: Any) -> None:
    """By one word each, for up to 2**32 different integers; `refused` is 2**32 % count."""
    i = item.get_id(0)
    block = first + np.uint64(i)
    w = words_of(block, stream, 0, key)
    a, b, c, d = np.uint64(w[0]) * count, np.uint64(w[1]) * count, np.uint64(w[2]) * count, np.uint64(w[3]) * count
    attempt = 0
    while min(a & LOW, b & LOW, c & LOW, d & LOW) < refused:
        attempt += 1
        w = words_of(block, stream, attempt, key)
        a, b = redrawn(a, w[0], count, refused), redrawn(b, w[1], count, refused)
        c, d = redrawn(c, w[2], count, refused), redrawn(d, w[3], count, refused)
    half = np.uint64(32)
    put(out, i, (low + (a >> half), low + (b >> half), low + (c >> half), low + (d >> half)))


def exchanged(group: Any, odd: Any, mask: Any, first: Any, second: Any) -> Any:
    """Two neighbours: the first gets both firsts, the one with `odd` both seconds."""
    other = permute_group_by_xor(group, first if odd else second, mask)
    return (other if odd else first), (second if odd else other)


@kernel
def random_integers_across(item: NdItem, first: Any, stream: Any, key: Any, low: Any, count: Any, refused: Any, out: Any) -> None:
    """The same, by groups of a multiple of four items: four neighbours exchange their words, and write neighbours.

    GPUs write sectors of 32 bytes; without that each item fills one by four stores, and they are written four times.
    """
    i = item.get_global_id(0)
    group = item.get_sub_group()
    rank = i % 4
    w = words_of(first + np.uint64(i), stream, 0, key)
    a, b = exchanged(group, i & 1, 1, w[0], w[1])
    c, d = exchanged(group, i & 1, 1, w[2], w[3])
    a, c = exchanged(group, i & 2, 2, a, c)
    b, d = exchanged(group, i & 2, 2, b, d)
    for k, word in enumerate((a, b, c, d)):  # words `rank` of the four blocks
        place = 4 * (i - rank + k) + rank
        product = np.uint64(word) * count
        attempt = 0
        while product & LOW < refused:
            attempt += 1
            v = words_of(first + np.uint64(i - rank + k), stream, attempt, key)
            product = np.uint64((v[0] if rank == 0 else v[1]) if rank < 2 else (v[2] if rank == 2 else v[3])) * count
        if place < out.shape[0]:
            out[place] = (low + (product >> np.uint64(32))).astype(out.dtype)


def scaled(word: Any, last: Any) -> Any:
    """word * (last + 1) >> 64, and whether that is one of the values which all are equally likely."""
    if last == MOST:
        return word, True
    count = last + np.uint64(1)
    half = np.uint64(32)
    a, b, c, d = word >> half, word & LOW, count >> half, count & LOW
    lowest = b * d
    left = a * d + (lowest >> half)
    right = b * c + (left & LOW)
    rest = (right << half) | (lowest & LOW)
    good = True
    if rest < count:  # seldom: without this there would be a division for each
        good = rest >= (MOST % count + np.uint64(1)) % count
    return a * c + (left >> half) + (right >> half), good


@kernel
def random_long_integers(item: Item, first: Any, stream: Any, key: Any, low: Any, last: Any, out: Any) -> None:
    """By two words each, for any number of different integers; `low` and `last - low` are numbers, or one for each element."""
    i = item.get_id(0)
    block = first + np.uint64(i)
    j = 2 * i
    k = min(j + 1, out.shape[0] - 1)
    m, n = element(last, j), element(last, k)
    w = words_of(block, stream, 0, key)
    a, good_a = scaled(joined(w[0], w[1]), m)
    b, good_b = scaled(joined(w[2], w[3]), n)
    attempt = 0
    while not (good_a and good_b):
        attempt += 1
        w = words_of(block, stream, attempt, key)
        if not good_a:
            a, good_a = scaled(joined(w[0], w[1]), m)
        if not good_b:
            b, good_b = scaled(joined(w[2], w[3]), n)
    put(out, i, (element(low, j) + a, element(low, k) + b))


@kernel
def random_each(item: Item, first: Any, stream: Any, key: Any, draw: Any, like: Any, parameters: Any, out: Any) -> None:
    """One element by an item, with a block of its own; `like` is a number of the dtype to compute in."""
    i = item.get_id(0)
    block = first + np.uint64(i)
    out[i] = draw((block, block >> np.uint64(32), stream), key, like.dtype, *take(parameters, i)).astype(out.dtype)


@kernel
def random_order(item: Item, first: Any, stream: Any, key: Any, n: Any, bits: Any, out: Any) -> None:
    """The first of n numbers in random order, by one block for all."""
    i = item.get_id(0)
    out[i] = np.int64(counts.place_in_order(words_of(first, stream, 0, key), np.uint64(i), n, bits))


@kernel
def random_multinomial(item: Item, first: Any, stream: Any, key: Any, like: Any, trials: Any, weights: Any, out: Any) -> None:
    """A row by an item: the counts of all but the last category are binomial, given those before."""
    row = item.get_id(0)
    left, rest = element(trials, row), like * 0 + 1
    last = out.shape[1] - 1
    share = row if weights.shape[0] > 1 else 0
    for j in range(last):
        block = first + np.uint64(row) * np.uint64(out.shape[1]) + np.uint64(j)
        p = np.where(rest > 0, np.minimum(np.maximum(weights[share, j] / rest, 0), 1), 0)
        count = counts.binomial((block, block >> np.uint64(32), stream), key, like.dtype, left, p)
        out[row, j] = count
        left -= count
        rest -= weights[share, j]
    out[row, last] = left


@kernel
def random_urn(item: Item, first: Any, stream: Any, key: Any, like: Any, colors: Any, total: Any, sample: Any, out: Any) -> None:
    """A row by an item: the counts of all but the last colour are hypergeometric, given those before."""
    row = item.get_id(0)
    left, rest = sample, total
    last = out.shape[1] - 1
    for j in range(last):
        block = first + np.uint64(row) * np.uint64(out.shape[1]) + np.uint64(j)
        rest -= colors[j]
        count = counts.hypergeometric((block, block >> np.uint64(32), stream), key, like.dtype, colors[j], rest, left)
        out[row, j] = count
        left -= count
    out[row, last] = left

# python/pardo/_random/counts.py: draws of discrete distributions, in kernels: each by blocks of its own, as those of draws.py.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo._random import device
from pardo._random.draws import LIMIT, NEXT, normal_of, standard_gamma, wide, words

MOST = 2.0**63 - 2.0**39  # of a float32 too that an int64 holds
FEW = 128  # steps of a search for a count whose mean is below 10


def deviance(a: Any, t: Any) -> Any:
    """a * ((1 + t) * log(1 + t) - t) - log(1 + t) / 2, without the difference where t is small."""
    log = np.log(t + 1)
    series = t * t * (1 / 2 - t * (1 / 6 - t * (1 / 12 - t * (1 / 20 - t / 30))))
    return a * np.where(abs(t) < 0.02, series, (1 + t) * log - t) - log / 2


def stirling(z: Any) -> Any:
    """log((z - 1)!) less (z - 1/2) * log(z) - z + log(2 * pi) / 2, within 1e-10 for z from 1 on: a polynomial that was fitted."""
    q = 1 / z
    tail = -0.0008898405852743806 + q * (0.0008966037318063061 + q * (-0.0004137468647638121 + q * 7.789172446727446e-05))
    tail = -1.0814504765032393e-06 + q * (0.0007954054851734383 + q * (4.0600907962156805e-05 + q * tail))
    return q * (1 / 12 + q * q * (-0.0027776993913532894 + q * tail))


def few_events(counter: Any, key: Any, dtype: Any, lam: Any, begin: Any) -> Any:
    """By search from 0 on."""
    w = words(counter, begin, key)
    u = wide(w[0], w[1], dtype)
    term = np.exp(-lam)
    total, count = term, 0.0
    while u > total and count < FEW:
        count += 1
        term = term * lam / count
        total = total + term
    return np.int64(count)


def many_events(counter: Any, key: Any, dtype: Any, lam: Any, begin: Any) -> Any:
    """By Hörmann's transformed rejection with squeeze (PTRS); counts are distances from the mean, so that none is rounded."""
    b = np.sqrt(lam) * 2.53 + 0.931
    a = b * 0.02483 - 0.059
    inverse, safe = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    whole = np.floor(lam)
    part = lam - whole
    level, scale = np.log(lam * (2 * np.pi)) / 2, 1 / lam
    d, good, attempt = part, False, begin
    while not good and attempt < begin + LIMIT:
        w = words(counter, attempt, key)
        u = wide(w[0], w[1], dtype) - 0.5
        v = wide(w[2], w[3], dtype)
        left = 0.5 - abs(u)
        d = np.floor((a * 2 / left + b) * u + part + 0.43)
        good = left >= 0.07 and v <= safe
        if not good and whole + d >= 0 and (left >= 0.013 or v <= left):
            t = (d + 1 - part) * scale
            square = left * left
            good = not np.log(v * inverse * square / (b * square + a)) > -deviance(lam, t) - level - stirling(lam * (1 + t))
        attempt += 1
    return np.int64(whole) + np.int64(d)


def poisson(counter: Any, key: Any, dtype: Any, lam: Any, begin: Any = 0) -> Any:
    count = np.int64(0)
    if lam >= 10:
        count = many_events(counter, key, dtype, np.minimum(lam, MOST), begin)
    else:
        count = few_events(counter, key, dtype, lam, begin)
    return count


def few_successes(counter: Any, key: Any, dtype: Any, n: Any, p: Any, begin: Any) -> Any:
    """By search from 0 on."""
    w = words(counter, begin, key)
    u = wide(w[0], w[1], dtype)
    odds = p / (1 - p)
    term = np.exp(np.log1p(-p) * n)
    scale = (n + 1) * odds
    total, count = term, 0.0
    while u > total and count < FEW and count < n:
        count += 1
        term = term * (scale / count - odds)
        total = total + term
    return np.int64(count)


def many_successes(counter: Any, key: Any, dtype: Any, n: Any, p: Any, begin: Any) -> Any:
    """By Hörmann's transformed rejection with squeeze (BTRS); counts are distances from the mean."""
    mean = n * p
    rest = n * (1 - p)
    root = np.sqrt(mean * (1 - p))
    b = root * 2.53 + 1.15
    a = b * 0.0248 + p * 0.01 - 0.0873
    alpha, safe = (2.83 + 5.1 / b) * root, 0.92 - 4.2 / b
    whole = np.floor(mean)
    part = mean - whole
    highest = likelihood(mean, rest, np.floor(part + p) + 1 - part)
    d, good, attempt = part, False, begin
    while not good and attempt < begin + LIMIT:
        w = words(counter, attempt, key)
        u = wide(w[0], w[1], dtype) - 0.5
        v = wide(w[2], w[3], dtype)
        left = 0.5 - abs(u)
        d = np.floor((a * 2 / left + b) * u + part + 0.5)
        good = left >= 0.07 and v <= safe
        if not good and whole + d >= 0 and whole + d <= n:
            square = left * left
            good = not np.log(v * alpha * square / (b * square + a)) > likelihood(mean, rest, d + 1 - part) - highest
        attempt += 1
    return np.int64(whole) + np.int64(d)


def likelihood(mean: Any, rest: Any, d: Any) -> Any:
    """Of so many successes more than the mean less 1, but for what does not depend on them."""
    s, t = d / mean, (2 - d) / rest
    return -deviance(mean, s) - stirling(mean * (1 + s)) - deviance(rest, t) - stirling(rest * (1 + t))


def binomial(counter: Any, key: Any, dtype: Any, n: Any, p: Any, begin: Any = 0) -> Any:
    """`n` is an int64; the rarer of both outcomes is counted."""
    trials = n.astype(dtype)
    rare = np.where(p > 0.5, 1 - p, p)
    count = np.int64(0)
    if trials * rare >= 10:
        count = many_successes(counter, key, dtype, trials, rare, begin)
    else:
        count = few_successes(counter, key, dtype, trials, rare, begin)
    count = min(max(count, np.int64(0)), n)
    return np.where(p > 0.5, n - count, count)


def negative_binomial(counter: Any, key: Any, dtype: Any, n: Any, p: Any) -> Any:
    return poisson(counter, key, dtype, standard_gamma(counter, key, dtype, n) * ((1 - p) / p), NEXT)


def noncentral_chisquare(counter: Any, key: Any, dtype: Any, df: Any, nonc: Any) -> Any:
    """With more than one degree of freedom the square of a normal draw is added, else the degrees are twice a Poisson draw more."""
    shape, square = df / 2, nonc * 0
    if df > 1:
        z = normal_of(words(counter, NEXT, key), dtype) + np.sqrt(nonc)
        shape, square = shape - 0.5, z * z
    else:
        shape = shape + poisson(counter, key, dtype, nonc / 2, NEXT).astype(dtype)
    return standard_gamma(counter, key, dtype, shape) * 2 + square


def noncentral_f(counter: Any, key: Any, dtype: Any, dfnum: Any, dfden: Any, nonc: Any) -> Any:
    over = noncentral_chisquare(counter, key, dtype, dfnum, nonc)
    return over * dfden / (standard_gamma(counter, key, dtype, dfden / 2, 2 * NEXT) * 2 * dfnum)


def geometric(counter: Any, key: Any, dtype: Any, p: Any) -> Any:
    """By inversion of the distribution function."""
    w = words(counter, 0, key)
    return counted(np.ceil(np.log(wide(w[0], w[1], dtype)) / np.log1p(-p)))


def counted(x: Any) -> Any:
    """At least 1, and no more than an int64 holds."""
    count = np.int64(1)
    if x >= MOST:
        count = np.int64(0x7FFFFFFFFFFFFFFF)
    elif x > 1:
        count = np.int64(x)
    return count


def logseries(counter: Any, key: Any, dtype: Any, p: Any) -> Any:
    """By Kemp's second accelerated generator."""
    w = words(counter, 0, key)
    v = wide(w[0], w[1], dtype)
    count = np.int64(1)
    if v < p:
        q = -np.expm1(np.log1p(-p) * wide(w[2], w[3], dtype))
        if v <= q * q:
            count = counted(np.floor(1 + np.log(v) / np.log(q)))
        elif v < q:
            count = np.int64(2)
    return count


def zipf(counter: Any, key: Any, dtype: Any, a: Any) -> Any:
    """By Devroye's rejection, of those below 2**63."""
    power = a - 1
    b = np.expm1(power * np.log(2.0))
    least = np.exp(power * -np.log(MOST))
    x, good, attempt = a, False, 0
    while not good and attempt < LIMIT:
        w = words(counter, attempt, key)
        u = wide(w[0], w[1], dtype)
        u = u * least + (1 - u)
        x = np.floor(np.exp(np.log(u) / -power))
        t = np.expm1(power * np.log1p(1 / x))
        good = not wide(w[2], w[3], dtype) * x * t / b > (t + 1) / (b + 1)
        attempt += 1
    return counted(x)


def some_of_urn(counter: Any, key: Any, dtype: Any, good: Any, total: Any, sample: Any, begin: Any) -> Any:
    """How many of the good ones are among the sample, one by one."""
    found = np.int64(0)
    for taken in range(sample):
        w = words(counter, begin + taken, key)
        if np.int64(wide(w[0], w[1], dtype) * (total - taken).astype(dtype)) < good - found:
            found += 1
    return found


def growth(z: Any, inverse: Any, d: Any) -> Any:
    """log((z + d - 1)! / (z - 1)!) less d * log(z), and less the difference of `stirling` to that of z."""
    return deviance(z, d * inverse) + stirling(z + d)


def many_of_urn(counter: Any, key: Any, dtype: Any, few: Any, total: Any, sample: Any, begin: Any) -> Any:
    """By Stadlober's ratio of uniforms (HRUA), as distances from the mode."""
    mode = (sample + 1) * (few + 1) // (total + 2)
    share = few.astype(dtype) / total.astype(dtype)
    size = sample.astype(dtype)
    variance = (total - sample).astype(dtype) * size * share * (1 - share) / (total - 1).astype(dtype)
    h = np.sqrt(variance + 0.5) * 1.7155277699214135 + 0.8989161620588988
    centre = (sample * few - mode * total).astype(dtype) / total.astype(dtype) + 0.5
    z1, z2, z3 = (mode + 1).astype(dtype), (few - mode + 1).astype(dtype), (sample - mode + 1).astype(dtype)
    z4 = (total - few - sample + mode + 1).astype(dtype)
    slope = np.log(z2 / z1 * (z3 / z4))
    level = stirling(z1) + stirling(z2) + stirling(z3) + stirling(z4)
    i1, i2, i3, i4 = 1 / z1, 1 / z2, 1 / z3, 1 / z4
    low, high = -mode.astype(dtype), (min(sample, few) - mode).astype(dtype)
    d, good, attempt = centre, False, begin
    while not good and attempt < begin + LIMIT:
        w = words(counter, attempt, key)
        u = wide(w[0], w[1], dtype)
        d = np.floor(centre + h * (wide(w[2], w[3], dtype) - 0.5) / u)
        if d >= low and d <= high:
            t = d * slope + level - growth(z1, i1, d) - growth(z2, i2, -d) - growth(z3, i3, -d) - growth(z4, i4, d)
            good = u * (4 - u) - 3 <= t or (u * (u - t) < 1 and not np.log(u) * 2 > t)
        attempt += 1
    return mode + np.int64(np.minimum(np.maximum(d, low), high))


def log_binomial(k: Any, n: Any, p: Any) -> Any:
    """The logarithm of the probability of k successes of n, for p in (0, 1)."""
    level = (n + 0.5) * np.log1p(1 / n) - 1 + stirling(n + 1) - np.log(n * p * (1 - p) * (2 * np.pi)) / 2
    return level + likelihood(n * p, n * (1 - p), k + 1 - n * p)


def search_of_urn(counter: Any, key: Any, dtype: Any, few: Any, total: Any, sample: Any, begin: Any) -> Any:
    """By search from the mode on, upward and downward in turns."""
    mode = (sample + 1) * (few + 1) // (total + 2)
    share = sample.astype(dtype) / total.astype(dtype)
    m, f, s = mode.astype(dtype), few.astype(dtype), sample.astype(dtype)
    rest = (total - few - sample).astype(dtype)  # not negative: both are at most half of all
    most = log_binomial(m, f, share) + log_binomial(s - m, rest + s, share) - log_binomial(s, total.astype(dtype), share)
    w = words(counter, begin, key)
    u = wide(w[0], w[1], dtype) - np.exp(most)
    above, below, d, found = np.exp(most), np.exp(most), 0.0, m * 0
    while u > 0 and d < FEW:
        up, down = m + d, m - d
        above = above * ((f - up) * (s - up) / ((up + 1) * (rest + up + 1)))
        below = below * (down * (rest + down) / ((f - down + 1) * (s - down + 1)))
        d += 1
        u = u - above
        found = np.where(u > 0, -d, d)
        u = np.where(u > 0, u - below, u)
    return np.int64(np.minimum(np.maximum(m + found, 0), np.minimum(f, s)))


def hypergeometric(counter: Any, key: Any, dtype: Any, good: Any, bad: Any, sample: Any, begin: Any = 0) -> Any:
    """All are int64."""
    total = good + bad
    few = min(good, bad)
    part = min(sample, total - sample)
    spread = few.astype(dtype) * part.astype(dtype) / total.astype(dtype) * (1 - part.astype(dtype) / total.astype(dtype))
    found = np.int64(0)
    if part > 10 and spread < 50:
        found = search_of_urn(counter, key, dtype, few, total, part, begin) if few > 0 else np.int64(0)
    elif part > 10:
        found = many_of_urn(counter, key, dtype, few, total, part, begin)
    else:
        found = some_of_urn(counter, key, dtype, few, total, part, begin)
    if good > bad:
        found = part - found
    if part < sample:
        found = good - found
    return found


# --- orders


def mixed(x: Any, key: Any) -> Any:
    """What a round of `place_in_order` adds to one half: the last steps of MurmurHash3, of 32 bits."""
    y = (x ^ key) * np.uint32(0x85EBCA6B)
    y = (y ^ (y >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return y ^ (y >> np.uint32(16))


PAIRS = tuple(range(6))
GOLDEN = 0x9E3779B9


def place_in_order(w: Any, i: Any, n: Any, bits: Any) -> Any:
    """Where the i-th of n comes, in an order that four words choose: by a Feistel network on `bits` bits, until one is below n."""
    low_bits = bits // 2
    high_bits = bits - low_bits
    low_mask = np.uint32((np.uint64(1) << low_bits) - np.uint64(1))
    high_mask = np.uint32((np.uint64(1) << high_bits) - np.uint64(1))
    x, found = i, False
    while not found:
        low, high = np.uint32(x) & low_mask, np.uint32(x >> low_bits)
        for pair in PAIRS:
            low = (low ^ mixed(high, w[2 * pair % 4] + np.uint32(2 * pair * GOLDEN & device.LOW))) & low_mask
            high = (high ^ mixed(low, w[(2 * pair + 1) % 4] + np.uint32((2 * pair + 1) * GOLDEN & device.LOW))) & high_mask
        x = (np.uint64(high) << low_bits) | np.uint64(low)
        found = x < n
    return x

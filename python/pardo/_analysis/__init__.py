# python/pardo/_analysis: quantiles, averages, functions that leave NaN out, histograms, sets, signals, windows, polynomials.
"""Functions that tell about samples and signals, made of operations and kernels; their files are read at first use (_names.py)."""

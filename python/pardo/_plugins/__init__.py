# python/pardo/_plugins: what other libraries are told of arrays, when the user has imported them.
"""What other libraries are told of arrays, when the user has imported them."""

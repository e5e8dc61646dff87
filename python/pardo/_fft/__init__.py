# python/pardo/_fft: Fourier transforms, cosine and sine transforms, and what goes with them.
"""What `pardo.fft` shows."""

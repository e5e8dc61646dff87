// tests/fake_cuda/cufft/fake_cufft.h: what tests may ask of the fake cuFFT, which computes by sums what the real one would.
#pragma once

extern "C" {

/// Plans made and not yet destroyed.
long fake_cufft_live();
/// Plans made so far.
long fake_cufft_made();
/// The next call of a function fails.
void fake_cufft_fail_next(const char* function);
}

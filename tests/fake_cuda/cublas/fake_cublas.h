// tests/fake_cuda/cublas/fake_cublas.h: what tests may ask of the fake cuBLAS, which computes nothing and looks after its handles.
#pragma once

extern "C" {

/// Handles made and not yet destroyed.
long fake_cublas_live();
/// Handles made so far.
long fake_cublas_made();
/// Products that ran on a handle's own stream with its own context current.
long fake_cublas_products();
/// The next call of a function fails.
void fake_cublas_fail_next(const char* function);
}

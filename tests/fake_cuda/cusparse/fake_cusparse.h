// tests/fake_cuda/cusparse/fake_cusparse.h: what tests may ask of the fake cuSPARSE, which computes by plain loops what the real one would.
#pragma once

extern "C" {

/// Handles and descriptions of matrices and vectors, made and not yet destroyed.
long fake_cusparse_live();
/// Products computed so far.
long fake_cusparse_products();
/// The next call of a function fails.
void fake_cusparse_fail_next(const char* function);
}

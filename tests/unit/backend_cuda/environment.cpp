// tests/unit/backend_cuda/environment.cpp: points the back end to the fake driver, cuBLAS and cuFFT before anything looks for one.
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

/// Settings of the test's own that are there already stay: death tests start this program anew with other ones.
const bool ready = [] {
    setenv("PARDO_CUDA_DRIVER", FAKE_CUDA_LIBRARY, 0);
    setenv("PARDO_CUBLAS", FAKE_CUBLAS_LIBRARY, 0);
    setenv("PARDO_CUFFT", FAKE_CUFFT_LIBRARY, 0);
    setenv("FAKE_CUDA_DEVICES", "2", 0);
    setenv("PARDO_CACHE", "off", 0);
    return true;
}();

}  // namespace

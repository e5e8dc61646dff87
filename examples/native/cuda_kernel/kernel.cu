// kernel.cu: a kernel of CUDA C++, compiled by nvcc, and its launch on a stream.
#include <cuda_runtime.h>

template <class T> __global__ void clamp_items(const T* x, T* y, long long n, T least, T greatest) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i < n) y[i] = x[i] < least ? least : x[i] > greatest ? greatest : x[i];
}

/// A cudaError_t.
int clamp_on(void* stream, const float* x, float* y, long long n, float least, float greatest) {
    if (n == 0) return 0;
    clamp_items<<<static_cast<unsigned>((n + 255) / 256), 256, 0, static_cast<cudaStream_t>(stream)>>>(x, y, n, least, greatest);
    return cudaGetLastError();
}

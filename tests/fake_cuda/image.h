// tests/fake_cuda/image.h: what a cubin or PTX text says of its kernels.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fake {

struct ImageKernel {
    std::string name;
    std::vector<std::size_t> param_bytes;
    int max_threads = 1024;
};
/// The kernels of an image; none when it is neither ELF nor PTX.
std::vector<ImageKernel> read_image(const void* image);

}  // namespace fake

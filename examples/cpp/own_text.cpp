// examples/cpp/own_text.cpp: a kernel of one's own, as text in the device's language, on arrays of pardo's; on the first device that takes
// text.
#include <cstdio>
#include <optional>
#include <string>

#include <pardo/array.h>
#include <pardo/device.h>
#include <pardo/error.h>
#include <pardo/ops.h>
#include <pardo/program.h>
#include <pardo/queue.h>

namespace {

constexpr const char* opencl = R"(
kernel void axpy(float a, global const float* x, global float* y) {
    const size_t i = get_global_id(0);
    y[i] += a * x[i];
})";
constexpr const char* cuda = R"(
extern "C" __global__ void axpy(float a, const float* x, float* y) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    y[i] += a * x[i];
})";

/// The first device that compiles one of the texts; no value: there is none.
std::optional<pardo::Program> compiled() {
    for (const pardo::Device& device : pardo::get_devices()) {
        for (const char* text : {opencl, cuda}) {
            try {
                return pardo::Program(device, text, text == cuda ? "cuda" : "opencl");
            } catch (const pardo::Error&) {
                continue;  // a device of another language, or of none
            }
        }
    }
    return std::nullopt;
}

}  // namespace

int main() {
    const std::optional<pardo::Program> program = compiled();
    if (!program) {
        std::printf("no device here takes text: see docs/install.md for OpenCL and CUDA\n");
        return 0;
    }
    const pardo::Queue queue = pardo::Queue::of(program->device());
    const pardo::Array x = pardo::arange(0, 1024, 1, pardo::DType::Float32, queue), y = pardo::ones({1024}, pardo::DType::Float32, queue);
    const pardo::Event done = program->launch("axpy", {2.0f, x, y}, {{1024}, {64}});
    done.wait();
    const pardo::Array wrong = y != 2 * x + 1;
    std::printf("%s, %s: %s; y ends with %g\n", program->device().id().c_str(), std::string(program->language()).c_str(),
                program->signature("axpy").c_str(), y[-1].item<double>());
    return pardo::any(wrong).item<bool>() ? 1 : 0;
}

// tests/gpu/driver_floor.cpp: what CUDA's driver itself takes for a launch with three pointers and three numbers, in µs; not a test.
// g++ -O2 -std=c++20 tests/gpu/driver_floor.cpp -ldl -o driver_floor && ./driver_floor
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr const char* ptx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing(.param .u64 a, .param .u64 b, .param .u64 c, .param .f64 x, .param .f64 y, .param .u64 n) { ret; }
)";

// As the driver declares them.
struct Attribute {
    int id;
    char padding[4];
    int value[16];
};
struct Config {
    unsigned grid[3], block[3], shared_bytes;
    void* stream;
    Attribute* attributes;
    unsigned count;
};
constexpr int programmatic_stream_serialization = 6;

void* driver = nullptr;

template <class... Arguments> void call(const char* name, Arguments... arguments) {
    auto* f = reinterpret_cast<int (*)(Arguments...)>(dlsym(driver, name));
    const int failed = f ? f(arguments...) : -1;
    if (failed == 0) return;
    std::fprintf(stderr, "%s: %d\n", name, failed);
    std::exit(1);
}

/// The least of forty rounds.
template <class F> double best_us(int calls, void* stream, F&& f) {
    double best = 1e9;
    for (int round = 0; round < 40; ++round) {
        call("cuStreamSynchronize", stream);
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i) f();
        best = std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / calls);
    }
    return best;
}

}  // namespace

int main() {
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    void *context = nullptr, *module = nullptr, *function = nullptr, *stream = nullptr;
    call("cuInit", 0u);
    call("cuDevicePrimaryCtxRetain", &context, 0);
    call("cuCtxSetCurrent", context);
    call("cuModuleLoadData", &module, ptx);
    call("cuModuleGetFunction", &function, module, "nothing");
    call("cuStreamCreate", &stream, 1u);
    const auto launch_ex = reinterpret_cast<int (*)(const Config*, void*, void**, void**)>(dlsym(driver, "cuLaunchKernelEx"));
    const auto synchronize = reinterpret_cast<int (*)(void*)>(dlsym(driver, "cuStreamSynchronize"));
    unsigned long long pointers[3] = {}, n = 16;
    double x = 2, y = 3;
    void* parameters[] = {&pointers[0], &pointers[1], &pointers[2], &x, &y, &n};
    Attribute overlap{programmatic_stream_serialization, {}, {1}};
    for (const unsigned attributes : {0u, 1u}) {
        const Config config{{1, 1, 1}, {256, 1, 1}, 0, stream, &overlap, attributes};
        const auto launch = [&] {
            if (const int failed = launch_ex(&config, function, parameters, nullptr)) {
                std::fprintf(stderr, "cuLaunchKernelEx: %d\n", failed);
                std::exit(1);
            }
        };
        const double handed_over = best_us(500, stream, launch);
        const double waited_for = best_us(200, stream, [&] {
            launch();
            synchronize(stream);
        });
        std::printf("%s: handed over %.2f us, waited for %.2f us\n", attributes ? "with overlap" : "plain", handed_over, waited_for);
    }
}

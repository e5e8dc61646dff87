// tests/unit/api/random_test.cpp: random numbers are those that Python's pardo.random.default_rng draws of the same seed, on every device.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include <pardo/ops.h>
#include <pardo/random.h>

#include "../message_of.h"
#include "values.h"

namespace pardo::random {
namespace {

std::vector<Device> devices() {
    std::vector<Device> all{Device("cpu")};
    for (const char* backend : {"opencl", "cuda"})
        for (const Device& device : get_devices(backend)) all.push_back(device);
    return all;
}

TEST(Random, TheNumbersOfPython) {
    for (const Device& device : devices()) {
        const Queue queue = Queue::of(device);
        const Generator r(7);
        const auto print = [](const Array& x) { return shown(x); };
        EXPECT_EQ(print(r.random(3, DType::Float64, queue)), "float64 (3,) [0.95459713 0.11417736 0.4069604 ]");
        EXPECT_EQ(print(r.integers(0, 10, 5, DType::Int64, queue)), "int64 (5,) [0 0 8 8 3]");
        EXPECT_EQ(print(r.random(5, DType::Float32, queue)), "float32 (5,) [0.28992862 0.9895934  0.6973708  0.54602313 0.3386129 ]");
        EXPECT_EQ(print(r.standard_normal(3, DType::Float64, queue)), "float64 (3,) [1.14158711 1.39387699 0.75446852]");
        EXPECT_LT(max(absolute(r.standard_normal(3, DType::Float32, queue) - array({0.14979005f, -0.05581137f, -0.19400889f}, queue)))
                      .item<float>(),
                  1e-6f);
        EXPECT_EQ(print(r.standard_exponential(3, DType::Float64, queue)), "float64 (3,) [0.83948933 0.01263929 1.41854786]");
        EXPECT_LT(max(absolute(r.standard_exponential(5, DType::Float32, queue) -
                               array({1.5746901f, 2.2713468f, 1.3624913f, 0.02152673f, 0.37427133f}, queue)))
                      .item<float>(),
                  1e-6f);
        EXPECT_EQ(print(r.integers(-5, 100, 5, DType::Int8, queue)), "int8 (5,) [-5 97 10 93 18]");
        EXPECT_EQ(print(r.integers(0, std::numeric_limits<std::uint64_t>::max(), 0, DType::UInt64, queue)), "uint64 (0,) []");
    }
}

TEST(Random, IntegersOfAllWidths) {
    for (const Device& device : devices()) {
        const Queue queue = Queue::of(device);
        const Generator r(std::uint64_t{1} << 63 | 5);
        EXPECT_EQ(shown(r.random(2, DType::Float64, queue)), "float64 (2,) [0.97070575 0.28959325]");
        const std::int64_t wide = std::int64_t{1} << 62, half = std::int64_t{1} << 61;
        EXPECT_EQ(sum(r.integers(-wide, wide + half, 1000003, DType::Int64, queue) % 1000).item<std::int64_t>(), 499548104);
        EXPECT_EQ(sum(r.integers(0, std::int64_t{3} << 30, 1000003, DType::Int64, queue) % 1000).item<std::int64_t>(), 499766666);
        for (const DType dtype : {DType::Int8, DType::Int16, DType::Int32, DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64}) {
            const Generator one(3), two(3);
            EXPECT_EQ(shown(one.integers(0, 100, {2, 3}, dtype, queue).astype(DType::Int64)), shown(two.integers(0, 100, {2, 3})))
                << dtype_name(dtype);
        }
    }
}

TEST(Random, WhatIsRefused) {
    const Generator r(1);
    EXPECT_EQ(message_of([&] { r.random(3, DType::Float16); }), "random: dtype float16 is not supported; it must be float32 or float64");
    EXPECT_EQ(message_of([&] { r.integers(0, 10, 3, DType::Float64); }),
              "integers: dtype float64 is not supported; it must be an integer dtype");
    EXPECT_EQ(message_of([&] { r.integers(5, 5, 3); }), "integers: low is not less than high; no integer lies between them");
    EXPECT_EQ(message_of([&] { r.integers(0, 257, 3, DType::UInt8); }), "integers: high is out of bounds for uint8");
    EXPECT_EQ(message_of([&] { r.integers(-1, 3, 3, DType::UInt8); }), "integers: low is out of bounds for uint8");
    EXPECT_EQ(max(r.integers(0, 256, 1000, DType::UInt8)).item<int>() > 200, true);
}

TEST(Random, CopiesShareTheStreamAndSeedsDiffer) {
    const Generator r(9), copy = r;
    const Array first = r.random(4), second = copy.random(4);
    const Generator again(9);
    EXPECT_EQ(shown(concat({first, second})), shown(again.random(8)));
    EXPECT_FALSE(all(Generator().random(4) == Generator().random(4)).item<bool>());
    std::vector<std::thread> threads;
    std::vector<Array> drawn(4);
    threads.reserve(drawn.size());
    for (Array& x : drawn) threads.emplace_back([&] { x = r.random(1000).wait(); });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(unique(concat(drawn), false, true).values.size(), 4000);
}

}  // namespace
}  // namespace pardo::random

// tests/unit/api/recorded_kernel_test.cpp: kernels written in C++, on every device: expressions, branches, loops, groups, atomics, and what
// is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include <pardo/ops.h>
#include <pardo/recorded_kernel.h>

#include "../message_of.h"
#include "values.h"

namespace pardo {
namespace {

/// The processor, the interpreter of kernels, and the devices of OpenCL and CUDA that there are.
std::vector<Device> devices() {
    std::vector<Device> all{Device("cpu")};
    for (const char* backend : {"opencl", "cuda"})
        for (const Device& device : get_devices(backend)) all.push_back(device);
    return all;
}

class RecordedKernels : public testing::TestWithParam<Device> {
protected:
    Queue queue_{Queue::of(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Devices, RecordedKernels, testing::ValuesIn(devices()), [](const auto& tested) {
    std::string name = tested.param.id();
    for (char& c : name)
        if (c == ':') c = '_';
    return name;
});

TEST_P(RecordedKernels, RunOnceForEachItem) {
    const auto twice = kernel([](Item i, In<float> x, Out<float> y) { y[i] = 2 * x[i]; });
    const Array x = array({1.f, 2.f, 3.f}, queue_), y = empty({3}, DType::Float32, queue_);
    twice(3, x, y).wait();
    EXPECT_EQ(shown(y), "float32 (3,) [2. 4. 6.]");
    twice({3}, y, y).wait();
    EXPECT_EQ(shown(y), "float32 (3,) [ 4.  8. 12.]");
    twice({2}, x + 1, y);  // what is recorded is computed first
    EXPECT_EQ(shown(y), "float32 (3,) [ 4.  6. 12.]");
}

TEST_P(RecordedKernels, OfSeveralDimensionsAndNumbers) {
    const auto f = kernel([](Item i, In<std::int32_t> x, Out<std::int32_t> y, Param<std::int32_t> a) {
        y[{i[1], i[0]}] = x[{i[0], i[1]}] * a + i.get_range(0) * 1000;
    });
    const Array x = reshape(arange(0, 6, 1, DType::Int32, queue_), {2, 3}), y = empty({3, 2}, DType::Int32, queue_);
    f({2, 3}, x, y, 10);
    EXPECT_EQ(shown(y), "int32 (3,2,) [[2000 2030]\n [2010 2040]\n [2020 2050]]");
}

TEST_P(RecordedKernels, BranchesAndLoops) {
    const auto f = kernel([](Item i, Out<std::int64_t> y) {
        Var<std::int64_t> steps = 0, n = i + 1;
        While([&] { return n > 1; },  // Collatz
              [&] {
                  If(
                      n % 2 == 0, [&] { n = floor_divide(n, 2); }, [&] { n = 3 * n + 1; });
                  steps += 1;
              });
        y[i] = steps;
    });
    const Array y = empty({7}, DType::Int64, queue_);
    f(7, y);
    EXPECT_EQ(shown(y), "int64 (7,) [ 0  1  7  2  5  8 16]");

    const auto g = kernel([](Item i, In<std::int32_t> x, InOut<std::int32_t> y) {
        Var<std::int32_t> sum = 0;
        For(0, x.extent(), [&](Value k) {
            If(x[k] < 0, [] { Continue(); });
            If(k > i, [] { Break(); });
            sum += x[k];
        });
        If(i == 3, [] { Return(); });
        y[i] += sum;
    });
    const Array x = array({1, -5, 2, 3}, queue_), z = full({4}, 100, DType::Int32, queue_).copy();
    g(4, x, z);
    EXPECT_EQ(shown(z), "int32 (4,) [101 101 103 100]");
}

TEST_P(RecordedKernels, FunctionsAreThoseOfArrays) {
    const auto f = kernel([](Item i, In<float> x, Out<float> y) {
        const Value v = x[i];
        y[i] = sqrt(v) + exp(-v) * where(v > 1, 2.f, 1.f) + maximum(v, 2) + hypot(v, 1) - absolute(v).as<float>();
    });
    const Array x = array({0.5f, 1.5f, 4.f}, queue_), y = empty({3}, DType::Float32, queue_);
    f(3, x, y);
    const Array expected = sqrt(x) + exp(-x) * where(x > 1, full({}, 2, DType::Float32, queue_), full({}, 1, DType::Float32, queue_)) +
                           maximum(x, 2) + hypot(x, 1) - absolute(x);
    EXPECT_LT(max(absolute(y - expected)).item<float>(), 2e-6f);
}

TEST_P(RecordedKernels, GroupsShareMemory) {
    const auto total = kernel([](NdItem item, In<std::int32_t> x, Out<std::int32_t> sums) {
        const InOut<std::int32_t> shared = local_memory<std::int32_t>({8});
        const Value k = item.get_local_id();
        shared[k] = x[item];
        item.barrier();
        for (int step = 4; step > 0; step /= 2) {  // of C++: four, two, one
            If(k < step, [&] { shared[k] += shared[k + step]; });
            item.barrier();
        }
        If(k == 0, [&] { sums[item.get_group_id()] = shared[0]; });
    });
    const Array x = arange(0, 24, 1, DType::Int32, queue_).copy(), sums = empty({3}, DType::Int32, queue_);
    total(NdRange{{24}, {8}}, x, sums);
    EXPECT_EQ(shown(sums), "int32 (3,) [ 28  92 156]");
}

TEST_P(RecordedKernels, AtomicsCount) {
    const auto count = kernel([](Item i, In<std::int32_t> x, InOut<std::int32_t> bins) { atomic_add(bins[x[i]], 1); });
    const Array bins = zeros({3}, DType::Int32, queue_).copy();
    count(6, array({0, 2, 2, 1, 2, 0}, queue_), bins);
    EXPECT_EQ(shown(bins), "int32 (3,) [2 1 3]");
}

TEST_P(RecordedKernels, PrivateMemoryIsOfAnItem) {
    const auto f = kernel([](Item i, Out<std::int32_t> y) {
        const auto mine = private_memory<std::int32_t>({4});
        For(0, 4, [&](Value k) { mine[k] = k * i; });
        y[i] = mine[1] + mine[3];
    });
    const Array y = empty({3}, DType::Int32, queue_);
    f(3, y);
    EXPECT_EQ(shown(y), "int32 (3,) [0 4 8]");
}

template <class T> class RecordedTypes : public testing::Test {};
using ElementTypes = testing::Types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                                    std::uint64_t, Half, BFloat16, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(RecordedTypes, ElementTypes);

TYPED_TEST(RecordedTypes, AreThoseOfArraysNumbersVariablesAndMemory) {
    using T = TypeParam;
    const auto f = kernel([](Item i, In<T> x, Param<T> a, InOut<T> y, Out<T> z) {
        Var<T> v = x[i];
        const auto mine = private_memory<T>({2});
        mine[0] = v;
        mine[1] = a;
        If(i == 0, [&] { v = a; });
        if constexpr (std::same_as<T, bool>) {
            y[i] = y[i] | mine[1];
        } else {
            y[i] = y[i] + mine[1];
        }
        z[i] = v;
    });
    const DType dtype = dtype_of<T>;
    const Array x = array({0, 1, 0}).astype(dtype), y = array({0, 0, 1}).astype(dtype), z = empty(3, dtype);
    f(3, x, array(1).astype(dtype).item<T>(), y, z);
    EXPECT_EQ(shown(y), shown(dtype == DType::Bool ? array({true, true, true}) : array({1, 1, 2}).astype(dtype)));
    EXPECT_EQ(shown(z), shown(array({1, 1, 0}).astype(dtype)));
}

TEST(RecordedKernel, ReadsWhereItIsWritten) {
    const auto f = kernel([](Item i, InOut<double> x) {
        const Value before = x[i];
        x[i] = 7;
        x[i] = before + x[i];
    });
    const Array x = array({1.0, 2.0});
    f(2, x);
    EXPECT_EQ(shown(x), "float64 (2,) [8. 9.]");
    EXPECT_EQ(f.text(), "t0 = x0[item.get_id()]\nx0[item.get_id()] = 7\nt1 = x0[item.get_id()]\nx0[item.get_id()] = t0 + t1\n");
}

TEST(RecordedKernel, LongExpressionsDoNotGrow) {
    const auto f = kernel([](Item i, InOut<double> x) {
        std::vector<Value> v{x[i]};
        for (int k = 0; k < 200; ++k) v.push_back(v.back() + v.back());
        x[i] = v.back();
    });
    const Array x = array({1.0});
    f(1, x);
    EXPECT_EQ(x.item<double>(), std::ldexp(1.0, 200));
}

TEST(RecordedKernel, SaysWhatIsWrong) {
    const auto twice = kernel([](Item i, In<float> x, Out<float> y) { y[i] = 2 * x[i]; }, {.name = "twice"});
    const Array x = array({1.f}), wide = array({1.0});
    EXPECT_EQ(message_of([&] { twice(1, wide, x); }), "twice: argument 0 must be an array of float32, not float64: astype converts it");
    EXPECT_EQ(message_of([&] { twice(1, x, Array()); }), "twice: argument 1 has no value: it was made without one, or moved from");
    EXPECT_NE(message_of([&] { twice({1, 1, 1, 1}, x, x); }).find("one to three dimensions"), std::string::npos);
    EXPECT_NE(message_of([&] { twice({1, 1}, x, x); }).find("say which one"), std::string::npos);
    const auto grouped = kernel([](NdItem i, Out<float> y) { y[i.get_local_id()] = 1; });
    EXPECT_NE(message_of([&] { grouped(1, x); }).find("an Item has no method `get_local_id`"), std::string::npos);
    const auto reads = kernel([](Item i, Out<float> y) { y[i] += 1; });
    EXPECT_NE(message_of([&] { reads(1, x); }), "nothing was thrown");
    const std::string outside = "kernel: what it is written with is used outside of the function that is recorded";
    EXPECT_EQ(message_of([] { (void)(Item() + 1); }), outside);
    EXPECT_EQ(message_of([] { kernel([](Item) { Break(); }); }), "Break: there is no loop around it");
    EXPECT_EQ(message_of([] {
                  kernel([](Item i, Out<float> y) {
                      std::vector<Value> kept;
                      For(0, 3, [&](Value k) { kept.push_back(k); });
                      y[i] = kept[0];
                  });
              }),
              "kernel: `k0` was made in a branch, a loop or a kernel that is over; a Var made before it keeps a number");
    EXPECT_EQ(message_of([] { kernel([](Item) { kernel([](Item) {}); }); }),
              "kernel: another one is being recorded; make kernels outside of each other");
    EXPECT_EQ(message_of([] { (void)(Item() + 1); }), outside);  // and what has thrown has left nothing behind
}

TEST(RecordedKernel, FindsIndicesOutOfBounds) {
    const auto f = kernel([](Item i, In<float> x, Out<float> y) { y[i] = x[i + 1]; }, {.checks = true});
    const Array x = array({1.f, 2.f}), y = empty({2}, DType::Float32);
    EXPECT_NE(message_of([&] { f(2, x, y).wait(); }).find("out of bounds"), std::string::npos);
    (void)y.failure();
}

template <class A>
concept Conditions = requires(A a, A b) {
    a ? 1 : 0;
    a&& b;
};

TEST(RecordedKernel, ConditionsOfCppDoNotCompile) {
    static_assert(!Conditions<Value> && !Conditions<ElementRef> && !Conditions<Item> && !Conditions<Var<bool>>);
    static_assert(!std::is_copy_assignable_v<Value>);
}

}  // namespace
}  // namespace pardo

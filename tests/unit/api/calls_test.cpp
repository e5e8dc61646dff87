// tests/unit/api/calls_test.cpp: lists, axes and single items as arguments; transforms, queues and events as a program of C++ calls them.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include <pardo/binding/library.h>
#include <pardo/fft.h>
#include <pardo/linalg.h>
#include <pardo/ops.h>
#include <pardo/profile.h>

#include "../message_of.h"
#include "values.h"

namespace pardo {
namespace {

TEST(Calls, AxesAreNoneOneOrSeveral) {
    const Array x = array({{1, 2, 3}, {4, 5, 6}});
    EXPECT_EQ(shown(sum(x)), "int64 () 21");
    EXPECT_EQ(shown(sum(x, {})), "int64 () 21");
    EXPECT_EQ(shown(sum(x, std::nullopt)), "int64 () 21");
    EXPECT_EQ(shown(sum(x, 0)), "int64 (3,) [5 7 9]");
    EXPECT_EQ(shown(sum(x, {0})), "int64 (3,) [5 7 9]");
    EXPECT_EQ(shown(sum(x, {{0}})), "int64 (3,) [5 7 9]");
    EXPECT_EQ(shown(sum(x, -1, true)), "int64 (2,1,) [[ 6]\n [15]]");
    EXPECT_EQ(shown(sum(x, {0, 1})), "int64 () 21");
    EXPECT_EQ(shown(sum(x, std::vector<std::int64_t>{1})), "int64 (2,) [ 6 15]");
    EXPECT_EQ(shown(sum(x, Extents{})), "int64 (2,3,) [[1 2 3]\n [4 5 6]]");
    EXPECT_EQ(shown(max(x, 1)), "int32 (2,) [3 6]");
    EXPECT_EQ(shown(argmax(x, 1)), "int64 (2,) [2 2]");
    EXPECT_EQ(shown(cumulative_sum(x, 1)), "int64 (2,3,) [[ 1  3  6]\n [ 4  9 15]]");
    EXPECT_EQ(shown(mean(x, 0)), "float64 (3,) [2.5 3.5 4.5]");
    EXPECT_EQ(shown(flip(x, 1)), "int32 (2,3,) [[3 2 1]\n [6 5 4]]");
    EXPECT_EQ(shown(roll(x, 1, 1)), "int32 (2,3,) [[3 1 2]\n [6 4 5]]");
    EXPECT_EQ(shown(squeeze(x[{Slice{0, 1}}], 0)), "int32 (3,) [1 2 3]");
    EXPECT_EQ(shown(expand_dims(x[0], 1)), "int32 (3,1,) [[1]\n [2]\n [3]]");
    EXPECT_EQ(shown(moveaxis(x, 0, 1)), shown(permute_dims(x, {1, 0})));
}

TEST(Calls, ListsOfArrays) {
    const Array x = array({1, 2}), y = array({3, 4});
    EXPECT_EQ(shown(concat({x, y})), "int32 (4,) [1 2 3 4]");
    EXPECT_EQ(shown(stack({x, y}, 1)), "int32 (2,2,) [[1 3]\n [2 4]]");
    EXPECT_EQ(broadcast_arrays({x, reshape(y, {2, 1})}).size(), 2u);
    const Array a = x + 1, b = a * 2;
    EXPECT_NE(explain({a, b}).find("add"), std::string::npos);
    force({a, b});
    EXPECT_FALSE(a.pending());
    EXPECT_FALSE(b.pending());
    const Array c = x + 3;
    force(c);
    EXPECT_FALSE(c.pending());
    const std::vector<Array> both{x, y};
    EXPECT_EQ(shown(concat(both)), "int32 (4,) [1 2 3 4]");
}

TEST(Calls, QueuesAndEvents) {
    const Queue queue(Device("cpu"), QueueOrder::OutOfOrder);
    const Array x = array({1.0, 2.0}, queue), y = x * 2, z = x * 3;
    const Event first = queue.submit({y});
    const Event second = queue.submit({z}, {first});
    queue.submit(y, second);
    queue.barrier({first, second}).wait();
    EXPECT_EQ(wait_any({first, second}), 0);
    EXPECT_TRUE(first.done());
    EXPECT_EQ(shown(z), "float64 (2,) [3. 6.]");
    EXPECT_EQ(Context({queue.device()}), Context(queue.device()));
}

TEST(Calls, FourierTransforms) {
    const Array x = array({1.0, 2.0, 0.0, 0.0});
    EXPECT_EQ(shown(fft::fft(x)), "complex128 (4,) [ 3.+0.j  1.-2.j -1.+0.j  1.+2.j]");
    EXPECT_EQ(shown(fft::ifft(fft::fft(x))), "complex128 (4,) [1.+0.j 2.+0.j 0.+0.j 0.+0.j]");
    EXPECT_EQ(shown(fft::rfft(x)), "complex128 (3,) [ 3.+0.j  1.-2.j -1.+0.j]");
    EXPECT_EQ(shown(fft::irfft(fft::rfft(x))), "float64 (4,) [1. 2. 0. 0.]");
    EXPECT_EQ(fft::fft(x, 2).shape().size(), 1u);
    EXPECT_EQ(shown(fft::fft(x, 2)), "complex128 (2,) [ 3.+0.j -1.+0.j]");
    EXPECT_EQ(shown(fft::fft(x, {}, 0, fft::Norm::Forward)), "complex128 (4,) [ 0.75+0.j   0.25-0.5j -0.25+0.j   0.25+0.5j]");
    EXPECT_EQ(fft::fft(array({1.0f})).dtype(), DType::Complex64);
    const Array m = reshape(x, {2, 2});
    EXPECT_EQ(shown(fft::fftn(m)), "complex128 (2,2,) [[ 3.+0.j -1.+0.j]\n [ 3.+0.j -1.+0.j]]");
    EXPECT_EQ(shown(fft::fftn(m, 0)), shown(fft::fft(m, {}, 0)));
    EXPECT_EQ(shown(real(fft::ifftn(fft::fftn(m)))), shown(m));
    EXPECT_EQ(shown(fft::rfftn(m)), "complex128 (2,2,) [[ 3.+0.j -1.+0.j]\n [ 3.+0.j -1.+0.j]]");
    const Array odd = reshape(arange(0, 15, 1), {3, 5});
    EXPECT_LT(max(absolute(fft::rfftn(odd) - fft::fftn(odd)[{all, slice(3)}])).item<double>(), 1e-13);
    EXPECT_LT(max(absolute(fft::irfftn(fft::rfftn(odd), {}, 5) - odd)).item<double>(), 1e-13);
    EXPECT_LT(max(absolute(fft::irfftn(fft::rfftn(odd, 0), 0, 3) - odd)).item<double>(), 1e-13);
    EXPECT_EQ(shown(fft::irfftn(fft::rfftn(m))), shown(m));
    EXPECT_NE(message_of([&] { fft::rfftn(x[0]); }).find("rfftn: at least 1 axis"), std::string::npos);
    EXPECT_EQ(shown(fft::fftfreq(4, 0.5)), "float64 (4,) [ 0.   0.5 -1.  -0.5]");
    EXPECT_EQ(shown(fft::fftfreq(5)), "float64 (5,) [ 0.   0.2  0.4 -0.4 -0.2]");
    EXPECT_EQ(shown(fft::rfftfreq(5)), "float64 (3,) [0.  0.2 0.4]");
    EXPECT_EQ(shown(fft::rfftfreq(2)), "float64 (2,) [0.  0.5]");
    EXPECT_EQ(message_of([] { fft::fftfreq(0); }), "fftfreq: there is at least one point, not 0");
    EXPECT_EQ(shown(fft::fftshift(arange(0, 5, 1))), "int64 (5,) [3 4 0 1 2]");
    EXPECT_EQ(shown(fft::ifftshift(fft::fftshift(odd))), shown(odd));
    EXPECT_EQ(shown(fft::fftshift(odd, 0)[{all, 0}]), "int64 (3,) [10  0  5]");
    EXPECT_EQ(message_of([&] { fft::rfft(x * std::complex<double>(0, 1)); }), "rfft: the input must be real, not complex128");
    EXPECT_NE(message_of([&] { fft::fft(x, 0); }).find("fft: Invalid number of FFT data points (0)"), std::string::npos);
}

TEST(Calls, ReductionsByName) {
    const Array x = array({1, 2, 3}), odd = x % 2 == 1;
    EXPECT_EQ(shown(reduce(Reduction::Sum, x, {}, false, DType::Float32, &odd)), "float32 () 4.0");
    EXPECT_EQ(shown(cumulative(Reduction::Prod, x)), "int64 (3,) [1 2 6]");
    EXPECT_FALSE(counters_now().empty());
}

TEST(Calls, LinearAlgebra) {
    if (!missing_libraries(Device()).empty()) GTEST_SKIP() << "no OpenBLAS";
    const Array a = array({{2.0, 0.0}, {0.0, 4.0}});
    EXPECT_EQ(shown(linalg::solve(a, array({2.0, 4.0}))), "float64 (2,) [1. 1.]");
    EXPECT_EQ(linalg::det(a).item<double>(), 8.0);
    EXPECT_EQ(shown(linalg::matrix_power(array({{1, 1}, {0, 1}}), 5)), "int32 (2,2,) [[1 5]\n [0 1]]");
    EXPECT_EQ(shown(linalg::matrix_power(a, -1)), "float64 (2,2,) [[0.5  0.  ]\n [0.   0.25]]");
    EXPECT_EQ(shown(linalg::matrix_power(a, 0)), "float64 (2,2,) [[1. 0.]\n [0. 1.]]");
    EXPECT_EQ(message_of([] { linalg::matrix_power(array({1}), 2); }),
              "matrix_power: an array of two or more dimensions is expected, not of 1");
    EXPECT_EQ(message_of([] { linalg::matrix_power(zeros({2, 3}), 2); }), "matrix_power: Last 2 dimensions of the array must be square");
    const Array b = array({{1.0, 0.0}, {0.0, 2.0}, {0.0, 0.0}}), flat = array({{1, 2}, {2, 4}});
    EXPECT_LT(max(absolute(linalg::pinv(b) - array({{1.0, 0.0, 0.0}, {0.0, 0.5, 0.0}}))).item<double>(), 1e-15);
    EXPECT_EQ(shown(linalg::pinv(zeros({0, 3}))), "float64 (3,0,) []");
    EXPECT_EQ(shown(linalg::matrix_rank(flat)), "int64 () 1");
    EXPECT_EQ(shown(linalg::matrix_rank(stack({b, zeros({3, 2})}))), "int64 (2,) [2 0]");
    EXPECT_EQ(linalg::matrix_norm(b, linalg::MatrixNorm::Nuclear).item<double>(), 3.0);
    EXPECT_EQ(shown(linalg::matrix_norm(b, linalg::MatrixNorm::Spectral, true)), "float64 (1,1,) [[2.]]");
}

TEST(Calls, LinearAlgebraWithoutALibrary) {
    const Array x = array({{3, -4}, {6, 8}});
    EXPECT_EQ(shown(linalg::vector_norm(x, 1)), "float64 (2,) [ 5. 10.]");
    EXPECT_EQ(shown(linalg::vector_norm(x, {}, false, 1)), "float64 () 21.0");
    EXPECT_EQ(shown(linalg::vector_norm(x, 0, true, INFINITY)), "float64 (1,2,) [[6. 8.]]");
    EXPECT_EQ(shown(linalg::vector_norm(x, 0, false, -INFINITY)), "float64 (2,) [3. 4.]");
    EXPECT_EQ(shown(linalg::vector_norm(array({0, 5, 0}), {}, false, 0)), "float64 () 1.0");
    EXPECT_NEAR(linalg::vector_norm(array({1.0, 2.0}), {}, false, 3).item<double>(), std::cbrt(9), 1e-15);
    EXPECT_EQ(linalg::vector_norm(array({std::complex<float>(3, 4)})).dtype(), DType::Float32);
    EXPECT_EQ(shown(linalg::matrix_norm(x)), "float64 () 11.180339887498949");
    EXPECT_EQ(shown(linalg::matrix_norm(x, linalg::MatrixNorm::Columns)), "float64 () 12.0");
    EXPECT_EQ(shown(linalg::matrix_norm(x, linalg::MatrixNorm::Rows, true)), "float64 (1,1,) [[14.]]");
    EXPECT_EQ(shown(linalg::trace(x)), "int64 () 11");
    EXPECT_EQ(shown(linalg::trace(stack({x, x * 2}), 1)), "int64 (2,) [-4 -8]");
    EXPECT_EQ(shown(linalg::outer(array({1, 2}), array({3, 4}))), "int32 (2,2,) [[3 4]\n [6 8]]");
    EXPECT_NE(message_of([&] { linalg::outer(x, x); }).find("outer: Input arrays must be one-dimensional"), std::string::npos);
}

}  // namespace
}  // namespace pardo

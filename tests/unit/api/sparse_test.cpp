// tests/unit/api/sparse_test.cpp: sparse products are those of the dense matrices, of every dtype and both index types, on every device.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include <pardo/ops.h>
#include <pardo/sparse.h>

#include "../message_of.h"
#include "values.h"

namespace pardo::sparse {
namespace {

std::vector<Device> devices() {
    std::vector<Device> all{Device("cpu")};
    for (const char* backend : {"opencl", "cuda"})
        for (const Device& device : get_devices(backend)) all.push_back(device);
    return all;
}

/// By whole arrays.
Array product(const Array& dense, const Array& x) { return sum(dense * x, 1); }

TEST(Sparse, ProductsOfEveryDtype) {
    for (const Device& device : devices()) {
        const Queue queue = Queue::of(device);
        const Array dense = reshape(array({2, 0, 0, 1, 0, 0, 0, 0, 0, 3, 0, 1}, queue), {3, 4});
        const Array x = array({1, 2, 3, 0}, queue), m = reshape(array({1, 0, 2, 1, 0, 3, 1, 1}, queue), {4, 2});
        for (int i = 0; i < dtype_count; ++i) {
            const DType dtype = static_cast<DType>(i);
            const bool compiles_slowly = device.info().backend == "opencl";
            if (!device.supports(dtype) || (compiles_slowly && itemsize(dtype) < 8 && dtype != DType::Bool)) continue;
            Csr a = from_dense(dense.astype(dtype));
            for (const DType index : {DType::Int64, DType::Int32}) {
                a = csr(a.data, a.indices.astype(index), a.indptr.astype(index), 3, 4);
                EXPECT_EQ(shown(to_dense(a)), shown(dense.astype(dtype)));
                EXPECT_EQ(shown(matmul(a, x.astype(dtype))), shown(product(dense, x).astype(dtype))) << dtype_name(dtype);
                const Array columns[] = {product(dense, m[{all, 0}]), product(dense, m[{all, 1}])};
                EXPECT_EQ(shown(matmul(a, m.astype(dtype))), shown(stack(columns, 1).astype(dtype))) << dtype_name(dtype);
            }
        }
    }
}

TEST(Sparse, RowsOfManyLengthsAreCutIntoParts) {
    const std::int64_t rows = 500, columns = 300;
    const Array place = arange(0, rows * columns, 1), row = floor_divide(place, columns);
    const Array value = remainder(place * 7919, 13) - 6, kept = (remainder(place * 104729, 97) < remainder(row, 90)) | (row == 17);
    const Array dense = reshape(where(kept, value, 0), {rows, columns});
    const Csr a = from_dense(dense);
    const Array x = remainder(arange(0, columns, 1) * 31, 17), m = stack({x, x + 1, 2 * x}, 1);
    EXPECT_GT(a.data.size(), 50000);
    for (const Device& device : devices()) {
        const Queue queue = Queue::of(device);
        const Csr there = csr(a.data.to_queue(queue), a.indices.to_queue(queue), a.indptr.to_queue(queue), rows, columns);
        const Array expected = sum(dense * x, 1), one = matmul(there, x.to_queue(queue)), all_of = matmul(there, m.to_queue(queue));
        EXPECT_TRUE(all(one.to_device(Device("cpu")) == expected).item<bool>());
        EXPECT_TRUE(all(all_of.to_device(Device("cpu")) == stack({expected, sum(dense * (x + 1), 1), 2 * expected}, 1)).item<bool>());
    }
}

TEST(Sparse, EntriesOfOnePlaceAddUpAndDtypesMeet) {
    const Csr a = csr(array({1, 2, 4}), array({1, 1, 0}), array({0, 2, 2, 3}), 3, 2);
    EXPECT_EQ(shown(to_dense(a)), "int32 (3,2,) [[0 3]\n [0 0]\n [4 0]]");
    EXPECT_EQ(shown(matmul(a, array({0.5, 10.0}))), "float64 (3,) [30.  0.  2.]");
    EXPECT_EQ(shown(matmul(a, zeros({2, 0}))), "float64 (3,0,) []");
    const Csr empty = from_dense(zeros({0, 5}));
    EXPECT_EQ(shown(matmul(empty, zeros(5))), "float64 (0,) []");
    EXPECT_EQ(shown(matmul(from_dense(zeros({2, 5})), ones(5))), "float64 (2,) [0. 0.]");
    EXPECT_EQ(shown(matmul(from_dense(zeros({2, 0})), ones(0))), "float64 (2,) [0. 0.]");
}

TEST(Sparse, WhatIsRefused) {
    const Array one = array({1.0}), places = array({0}), starts = array({0, 1});
    const Csr a = csr(one, places, starts, 1, 3);
    EXPECT_EQ(message_of([&] { matmul(a, ones(2)); }),
              "sparse.matmul: a matrix of 1 rows and 3 columns takes a vector or a matrix of 3 rows, not of 2");
    EXPECT_EQ(message_of([&] { csr(one, places, starts, 2, 3); }), "csr: indptr has one element more than there are rows: 3, not 2");
    EXPECT_EQ(message_of([&] { csr(one, array({0, 1}), starts, 1, 3); }), "csr: 1 elements, but 2 indices");
    EXPECT_EQ(message_of([&] { csr(one, array({0.0}), starts, 1, 3); }),
              "csr: indices and indptr are both int32 or both int64, not float64 and int32");
    EXPECT_EQ(message_of([&] { from_dense(one); }), "from_dense: a matrix has two dimensions, not 1");
    EXPECT_NE(message_of([&] { matmul(Csr{}, one); }).find("has no value"), std::string::npos);
    EXPECT_NE(message_of([&] { to_dense(Csr{}); }).find("has no value"), std::string::npos);
    EXPECT_NE(message_of([&] { matmul(a, Array()); }).find("has no value"), std::string::npos);
}

}  // namespace
}  // namespace pardo::sparse

// tests/unit/backend_cuda/cusparse_test.cpp: products of sparse matrices reach cuSPARSE as they are meant, and nothing of it stays.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "cusparse/fake_cusparse.h"
#include "lib/element_types.h"
#include "lib/routines.h"
#include "support.h"

namespace pardo::cuda {
namespace {

using lib::Real;
using test::device;

template <class T> lib::Memory memory_with(device::Queue* queue, DType dtype, const Shape& shape, const std::vector<T>& values) {
    lib::Memory m;
    m.dtype = dtype;
    m.shape = shape;
    m.strides = contiguous_strides(shape);
    m.buffer = queue->device()->allocate(std::max<std::size_t>(values.size() * sizeof(T), 1), MemoryKind::Device, queue);
    queue->write(m.buffer.get(), 0, values.data(), values.size() * sizeof(T));
    return m;
}

/// [[1, 0, 2], [0, 0, 0], [0, 3, 0], [4, 5, 6]]
const std::vector<std::int64_t> ptr = {0, 2, 2, 3, 6}, column = {0, 2, 1, 0, 1, 2};

template <class T, class Index> std::vector<T> product_on(device::Queue* queue, DType dtype, bool transposed, std::int64_t width) {
    const std::int64_t inner = transposed ? 4 : 3, outer = transposed ? 3 : 4;
    const auto shape = [&](std::int64_t rows) { return width ? Shape{rows, width} : Shape{rows}; };
    const auto count = [&](std::int64_t rows) { return static_cast<std::size_t>(rows * std::max<std::int64_t>(width, 1)); };
    const DType indices = sizeof(Index) == 4 ? DType::Int32 : DType::Int64;
    std::vector<T> numbers(count(inner));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = T(static_cast<Real<T>>(i + 1));
    const lib::Memory p = memory_with(queue, indices, Shape{5}, std::vector<Index>(ptr.begin(), ptr.end())),
                      c = memory_with(queue, indices, Shape{6}, std::vector<Index>(column.begin(), column.end())),
                      v = memory_with(queue, dtype, Shape{6}, std::vector<T>{1, 2, 3, 4, 5, 6}),
                      x = memory_with(queue, dtype, shape(inner), numbers),
                      out = memory_with(queue, dtype, shape(outer), std::vector<T>(count(outer), T(99)));
    EXPECT_EQ(lib::routines::sparse_product.describe(queue, p, c, v, x, out, transposed).name, "cuSPARSE");
    lib::routines::sparse_product(queue, p, c, v, x, out, transposed);
    queue->wait();
    std::vector<T> result(count(outer));
    queue->read(result.data(), out.buffer.get(), 0, result.size() * sizeof(T));
    return result;
}

template <class T, class Index> void check_products(device::Queue* queue, DType dtype) {
    using List = std::vector<T>;
    EXPECT_EQ((product_on<T, Index>(queue, dtype, false, 0)), (List{7, 0, 6, 32}));
    EXPECT_EQ((product_on<T, Index>(queue, dtype, true, 0)), (List{17, 29, 26}));
    EXPECT_EQ((product_on<T, Index>(queue, dtype, false, 2)), (List{11, 14, 0, 0, 9, 12, 49, 64}));
    EXPECT_EQ((product_on<T, Index>(queue, dtype, true, 2)), (List{29, 34, 50, 58, 44, 52}));
}

TEST(Cusparse, MultipliesMatricesAndTheirTransposes) {
    const Ref<device::Queue> queue = device()->create_queue(QueueOrder::InOrder, false);
    const long products = fake_cusparse_products();
    for (const DType dtype : {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128}) {
        lib::visit_element_type(dtype, [&]<class T>(std::type_identity<T>) {
            check_products<T, std::int32_t>(queue.get(), dtype);
            check_products<T, std::int64_t>(queue.get(), dtype);
        });
    }
    EXPECT_EQ(fake_cusparse_products(), products + 32);
}

TEST(Cusparse, NothingOutlivesAStream) {
    const long before = fake_cusparse_live();
    for (int i = 0; i < 4; ++i) {
        const Ref<device::Queue> queue = device(i % 2)->create_queue(i % 3 ? QueueOrder::InOrder : QueueOrder::OutOfOrder, false);
        (void)product_on<double, std::int32_t>(queue.get(), DType::Float64, false, 0);
        (void)product_on<double, std::int32_t>(queue.get(), DType::Float64, true, 3);
        EXPECT_GT(fake_cusparse_live(), before);  // handles of its streams
        EXPECT_LE(fake_cusparse_live(), before + 2);
    }
    EXPECT_EQ(fake_cusparse_live(), before);
}

TEST(Cusparse, WhatFailsIsToldAndNotKept) {
    const Ref<device::Queue> queue = device()->create_queue(QueueOrder::InOrder, false);
    for (const char* call : {"cusparseCreate", "cusparseSetStream", "cusparseCreateCsr", "cusparseCreateDnVec", "cusparseSpMV"}) {
        fake_cusparse_fail_next(call);
        try {
            (void)product_on<float, std::int64_t>(queue.get(), DType::Float32, false, 0);
            FAIL() << call;
        } catch (const Error& e) {
            EXPECT_EQ(std::string(e.what()), std::string("matmul: ") + call + " failed: CUSPARSE_STATUS_INTERNAL_ERROR");
        }
    }
    EXPECT_EQ(fake_cusparse_live(), 1);
    EXPECT_EQ((product_on<float, std::int64_t>(queue.get(), DType::Float32, false, 0)), (std::vector<float>{7, 0, 6, 32}));
}

TEST(Cusparse, OtherOperandsAreNotTaken) {
    const Ref<device::Queue> queue = device()->create_queue(QueueOrder::InOrder, false);
    const auto described = [](DType dtype, const Shape& shape) {
        lib::Memory m;
        m.dtype = dtype;
        m.shape = shape;
        m.strides = contiguous_strides(shape);
        return m;
    };
    const auto takes = [&](DType indices, DType value, DType x, std::int64_t entries, std::int64_t width) {
        return lib::routines::sparse_product.takes(queue.get(), described(indices, Shape{5}), described(indices, Shape{entries}),
                                                   described(value, Shape{entries}), described(x, Shape{3, width}),
                                                   described(x, Shape{4, width}), false);
    };
    EXPECT_TRUE(takes(DType::Int32, DType::Float32, DType::Float32, 6, 2));
    EXPECT_FALSE(takes(DType::Int32, DType::Float32, DType::Float64, 6, 2));
    EXPECT_FALSE(takes(DType::Int32, DType::Float16, DType::Float16, 6, 2));
    EXPECT_FALSE(takes(DType::Int32, DType::Int64, DType::Int64, 6, 2));
    EXPECT_FALSE(takes(DType::UInt32, DType::Float32, DType::Float32, 6, 2));
    EXPECT_FALSE(takes(DType::Int64, DType::Float32, DType::Float32, 0, 2));
    EXPECT_FALSE(takes(DType::Int64, DType::Float32, DType::Float32, 6, 0));
}

}  // namespace
}  // namespace pardo::cuda

// tests/unit/backend_cuda/cublas_test.cpp: handles of cuBLAS belong to their streams, and die with them.
#include <gtest/gtest.h>

#include <thread>

#include "cublas/fake_cublas.h"
#include "routines/routines.h"
#include "support.h"

namespace pardo::cuda {
namespace {

using test::device;

/// One product of 2 by 2 matrices on the queue.
void multiply(device::Queue* queue) {
    const auto matrix = [&] {
        routines::Memory m;
        m.buffer = queue->device()->allocate(32, MemoryKind::Device, queue);
        m.dtype = DType::Float64;
        m.shape = Shape{2, 2};
        m.strides = Strides{2, 1};
        return m;
    };
    const routines::Memory a = matrix(), b = matrix(), out = matrix();
    ASSERT_EQ(routines::matmul.describe(queue, a, b, out).name, "cuBLAS");
    routines::matmul(queue, a, b, out);
    queue->wait();
}

TEST(Cublas, HandlesDieWithTheirStreams) {
    const long before = fake_cublas_live();
    for (int i = 0; i < 20; ++i) {
        // Streams' addresses come again, on either device: a handle that outlived its stream would be found there.
        CudaDevice* d = device(i % 2);
        const Ref<device::Queue> queue = d->create_queue(i % 3 ? QueueOrder::InOrder : QueueOrder::OutOfOrder, false);
        const long products = fake_cublas_products();
        multiply(queue.get());
        multiply(queue.get());
        EXPECT_EQ(fake_cublas_products(), products + 2);
        EXPECT_GT(fake_cublas_live(), before);
    }
    EXPECT_EQ(fake_cublas_live(), before);
}

TEST(Cublas, OneHandleServesAStreamsProducts) {
    const Ref<device::Queue> queue = device()->create_queue(QueueOrder::InOrder, false);
    const long made = fake_cublas_made();
    for (int i = 0; i < 5; ++i) multiply(queue.get());
    EXPECT_EQ(fake_cublas_made(), made + 1);
}

TEST(Cublas, AHandleThatFailedHalfMadeIsNotKept) {
    const Ref<device::Queue> queue = device()->create_queue(QueueOrder::InOrder, false);
    for (const char* call : {"cublasCreate_v2", "cublasSetStream_v2"}) {
        const long live = fake_cublas_live();
        fake_cublas_fail_next(call);
        EXPECT_THROW(multiply(queue.get()), Error) << call;
        EXPECT_EQ(fake_cublas_live(), live) << call;
    }
    multiply(queue.get());
}

TEST(Cublas, StreamsOfTwoDevicesMultiplyAtTheSameTime) {
    std::vector<std::thread> threads;
    const long products = fake_cublas_products();
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([i] {
            const Ref<device::Queue> queue = device(i % 2)->create_queue(QueueOrder::InOrder, false);
            for (int k = 0; k < 50; ++k) multiply(queue.get());
        });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(fake_cublas_products(), products + 200);
}

}  // namespace
}  // namespace pardo::cuda

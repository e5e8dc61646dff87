// tests/unit/backend_cuda/strided_copies_test.cpp: copies of regions, and prefetch.
#include "../device/strided_copy_support.h"

#include <cstdlib>
#include <iostream>

#include "support.h"

namespace pardo::cuda {
namespace {

using device::Buffer;
using device::StridedCopy;
using device::test::expect_region;
using device::test::region_block;
using device::test::regions;
using test::device;

TEST(CudaBoxes, WithinADeviceAndBetweenKinds) {
    CudaDevice* d = device();
    for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
        const Ref<pardo::device::Queue> q = d->create_queue(order, false);
        const MemoryKind kinds[] = {MemoryKind::Device, MemoryKind::Host, MemoryKind::Shared};
        for (const MemoryKind to_kind : kinds) {
            for (const MemoryKind from_kind : kinds) {
                const Ref<Buffer> to = d->allocate(region_block, to_kind, q.get()), from = d->allocate(region_block, from_kind, q.get());
                for (const auto& region : regions()) {
                    if (rows_of(region.region) <= 100) expect_region(q.get(), to.get(), from.get(), region);
                }
            }
        }
    }
}

TEST(CudaBoxes, BetweenDevicesAndTheHost) {
    CudaDevice* d = device();
    pardo::device::Device* const others[] = {device(1), pardo::device::select("cpu")};
    for (pardo::device::Device* other : others) {
        SCOPED_TRACE(other->id());
        const Ref<Buffer> mine = d->allocate(region_block, MemoryKind::Device, d->queue());
        const Ref<Buffer> theirs = other->allocate(region_block, MemoryKind::Device, other->queue());
        for (const auto& region : regions()) {
            expect_region(d->queue(), mine.get(), theirs.get(), region);
            expect_region(d->queue(), theirs.get(), mine.get(), region);
        }
    }
}

TEST(CudaBoxes, AreOneCallOfTheDriver) {
    CudaDevice* d = device();
    const Ref<Buffer> a = d->allocate(region_block, MemoryKind::Device, d->queue()),
                      b = d->allocate(region_block, MemoryKind::Device, d->queue());
    const Ref<Buffer> far = device(1)->allocate(region_block, MemoryKind::Device, device(1)->queue());
    const auto calls = [] { return fake_cuda_calls("cuMemcpy3DAsync"); };
    const auto rows = [] { return fake_cuda_calls("cuMemcpyDtoDAsync"); };
    for (const auto& [name, region] : regions()) {
        SCOPED_TRACE(name);
        const long calls_before = calls(), rows_before = rows();
        d->queue()->copy_strided(a.get(), b.get(), region).wait();
        if (region.empty()) continue;
        const StridedCopy normal = normalized(region);
        const std::int64_t regular = rows_of(normal) > 1 ? regular_rows(normal) : 0;
        EXPECT_EQ(calls() - calls_before, regular ? rows_of(normal) / regular : 0);
        EXPECT_EQ(rows() - rows_before, regular ? 0 : rows_of(normal));
    }
    const long before = fake_cuda_calls("cuMemcpy3DPeerAsync");
    d->queue()->copy_strided(far.get(), b.get(), regions()[0].region).wait();
    EXPECT_EQ(fake_cuda_calls("cuMemcpy3DPeerAsync"), before + 1);
}

TEST(CudaBoxes, AFailureNamesTheCall) {
    CudaDevice* d = device();
    const Ref<Buffer> a = d->allocate(region_block, MemoryKind::Device, d->queue()),
                      b = d->allocate(region_block, MemoryKind::Device, d->queue());
    fake_cuda_fail_next("cuMemcpy3DAsync", 1, 0);
    try {
        d->queue()->copy_strided(a.get(), b.get(), regions()[0].region).wait();
        FAIL() << "nothing was thrown";
    } catch (const Error& e) {
        EXPECT_NE(e.message().find("cuMemcpy3DAsync failed: CUDA_ERROR_INVALID_VALUE"), std::string::npos) << e.message();
    }
    expect_region(d->queue(), a.get(), b.get(), regions()[0]);
}

/// A queue with shared memory of 4 KiB that has been prefetched.
void prefetch() {
    CudaDevice* d = device();
    const Ref<Buffer> b = d->allocate(4096, MemoryKind::Shared, d->queue());
    d->queue()->prefetch(b.get(), 128, 1000).wait();
}

TEST(CudaPrefetch, IsOfSharedMemoryAndWaitsItsTurn) {
    CudaDevice* d = device();
    const auto calls = [] { return fake_cuda_calls("cuMemPrefetchAsync_v2"); };
    const long before = calls();
    prefetch();
    EXPECT_EQ(calls(), before + 1);
    for (const MemoryKind kind : {MemoryKind::Device, MemoryKind::Host}) {
        const Ref<Buffer> b = d->allocate(4096, kind, d->queue());
        d->queue()->prefetch(b.get(), 0, 4096).wait();
    }
    EXPECT_EQ(calls(), before + 1);
    const Ref<Buffer> b = d->allocate(4096, MemoryKind::Shared, d->queue());
    Event event;
    {
        const test::Hold hold;
        event = d->queue()->prefetch(b.get(), 0, 4096);
        EXPECT_FALSE(event.done());
    }
    event.wait();
    fake_cuda_fail_next("cuMemPrefetchAsync_v2", 1, 0);
    EXPECT_THROW(d->queue()->prefetch(b.get(), 0, 4096).wait(), Error);
    d->queue()->prefetch(b.get(), 0, 4096).wait();
}

TEST(CudaPrefetchDeath, ByTheFirstFormWithOldDrivers) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto run = [] {
        prefetch();
        std::cerr << fake_cuda_calls("cuMemPrefetchAsync") << " and " << fake_cuda_calls("cuMemPrefetchAsync_v2") << '\n';
        std::exit(0);
    };
    setenv("FAKE_CUDA_VERSION", "12010", 1);
    EXPECT_EXIT(run(), testing::ExitedWithCode(0), "1 and 0");
    unsetenv("FAKE_CUDA_VERSION");
}

}  // namespace
}  // namespace pardo::cuda

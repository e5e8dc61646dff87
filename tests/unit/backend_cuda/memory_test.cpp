// tests/unit/backend_cuda/memory_test.cpp: kinds of memory, the cache in front of the driver, imports, limits.
#include <atomic>
#include <chrono>
#include <thread>

#include <pardo/binding/exchange.h>

#include "support.h"

namespace pardo::cuda {
namespace {

using namespace test;
using device::Buffer;

TEST(CudaMemory, FreedBlocksAreReusedWithoutTheDriver) {
    CudaDevice* d = device();
    void* first;
    {
        const Ref<Buffer> b = d->allocate(1 << 20, MemoryKind::Device, d->queue());
        first = b->data();
    }
    const long calls = fake_cuda_calls("cuMemAlloc");
    const Ref<Buffer> b = d->allocate(1 << 20, MemoryKind::Device, d->queue());
    EXPECT_EQ(b->data(), first);
    EXPECT_EQ(fake_cuda_calls("cuMemAlloc"), calls);
}

TEST(CudaMemory, SharedElementsBeginAtMultiplesOfTheirSize) {
    const Ref<Buffer> b = device()->allocate(1024, MemoryKind::Device, device()->queue());
    const auto share = [&](int offset, DType dtype) {
        const std::int64_t shape[] = {4}, strides[] = {1};
        (void)import_memory(
            static_cast<char*>(b->data()) + offset, dtype, shape, strides, MemoryKind::Device, false, [] {}, Queue::of(Device("cuda:0")),
            {}, "asarray");
    };
    EXPECT_NO_THROW(share(3, DType::Bool));
    EXPECT_NO_THROW(share(8, DType::Complex64));
    for (const DType dtype : {DType::Float16, DType::BFloat16, DType::Float32, DType::Complex64, DType::Complex128})
        EXPECT_THROW(share(itemsize(dtype) / 2, dtype), Error) << dtype_name(dtype);
}

TEST(CudaMemory, AllocationsHaveNamesForOtherProcesses) {
    CudaDevice* d = device();
    const Ref<Buffer> b = d->allocate(1000, MemoryKind::Device, d->queue());
    const auto address = reinterpret_cast<std::uintptr_t>(b->data());
    const device::ProcessBlock block = d->name_block(address), inside = d->name_block(address + 40);
    EXPECT_EQ(block.name.size(), sizeof(IpcHandle));
    EXPECT_EQ(inside.name, block.name);
    EXPECT_EQ(inside.offset, block.offset + 40);
    EXPECT_GE(block.bytes, block.offset + 1000);
    EXPECT_THROW((void)d->open_block(block.name), Error);  // its own
    EXPECT_THROW((void)d->open_block("short"), Error);
    EXPECT_THROW((void)d->name_block(16), Error);
    EXPECT_THROW((void)device::select("cpu")->name_block(address), Error);
    EXPECT_EQ(fake_cuda_live("opened memory"), 0);
}

TEST(CudaMemory, TrimGivesBack) {
    CudaDevice* d = device();
    d->queue()->wait();
    d->trim_memory();
    const long others = fake_cuda_live("managed memory");  // those of other devices and queues
    for (const MemoryKind kind : {MemoryKind::Device, MemoryKind::Host, MemoryKind::Shared}) (void)d->allocate(4 << 20, kind, d->queue());
    d->queue()->wait();
    d->trim_memory();
    EXPECT_EQ(d->memory_stats().cached, 0);
    EXPECT_EQ(fake_cuda_live("managed memory"), others);
}

TEST(CudaMemory, SaysHowMuchIsWantedAndFree) {
    CudaDevice* d = device();
    try {
        (void)d->allocate(std::size_t{3} << 30, MemoryKind::Device, d->queue());
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::Memory);
        EXPECT_NE(e.message().find("3221225472"), std::string::npos) << e.message();
        EXPECT_NE(e.message().find("cuda:0"), std::string::npos) << e.message();
    }
}

TEST(CudaMemory, TriesAgainWithoutTheCache) {
    CudaDevice* d = device();
    { const Ref<Buffer> large = d->allocate(std::size_t{700} << 20, MemoryKind::Device, d->queue()); }
    const Ref<Buffer> other = d->allocate(std::size_t{600} << 20, MemoryKind::Device, d->queue());
    EXPECT_TRUE(other);
    d->trim_memory();
}

TEST(CudaMemory, OutOfMemoryFromTheDriverIsAMemoryError) {
    CudaDevice* d = device();
    d->trim_memory();
    for (int i = 0; i < 8; ++i) {
        fake_cuda_fail_next("cuMemAlloc", 2, 0);
        try {
            (void)d->allocate(std::size_t{64} << 20, MemoryKind::Device, d->queue());
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ErrorCode::Memory);
        }
    }
    fake_cuda_forget_failures();
    EXPECT_TRUE(d->allocate(std::size_t{64} << 20, MemoryKind::Device, d->queue()));
}

TEST(CudaMemory, ImportedMemoryIsReleasedAfterItsLastUse) {
    CudaDevice* d = device();
    const ContextScope scope(*d);
    DevicePointer pointer = 0;
    ASSERT_EQ(driver().cuMemAlloc(&pointer, 4096), 0);
    bool released = false;
    {
        const Ref<Buffer> b = d->import(reinterpret_cast<void*>(pointer), 4096, MemoryKind::Device, [&] { released = true; });
        EXPECT_FALSE(b->host_visible());
        const int seven = 7;
        d->queue()->fill(b.get(), 0, 4096, &seven, 4);
        EXPECT_EQ(values_of(b.get()).size(), 1024u);
        d->queue()->wait();
    }
    EXPECT_TRUE(released);
    EXPECT_EQ(*static_cast<int*>(fake_cuda_host_address(pointer, 4)), 7);
    driver().cuMemFree(pointer);
}

TEST(CudaMemory, LentMemoryIsNotUsedAnewBeforeTheBorrowersWorkIsOver) {
    CudaDevice* d = device();
    d->queue()->wait();
    d->trim_memory();
    constexpr std::size_t bytes = std::size_t{3} << 20;
    void* lent = nullptr;
    fake_cuda_hold(1);  // what the borrower has submitted does not run yet
    {
        const Ref<Buffer> b = d->allocate(bytes, MemoryKind::Device, d->queue());
        lent = b->data();
        b->set_lent();
    }
    Ref<Buffer> other = d->allocate(bytes, MemoryKind::Device, d->queue());
    EXPECT_NE(other->data(), lent);
    fake_cuda_hold(0);
    d->foreign_work(0).wait();
    const Ref<Buffer> again = d->allocate(bytes, MemoryKind::Device, d->queue());
    EXPECT_EQ(again->data(), lent);
    // Once only: the next owner has lent it to nobody.
    const long fences = fake_cuda_calls("cuCtxRecordEvent");
    other = nullptr;
    EXPECT_EQ(fake_cuda_calls("cuCtxRecordEvent"), fences);
}

TEST(CudaMemory, LentMemoryOfOthersIsReleasedAfterTheBorrowersWork) {
    CudaDevice* d = device();
    const ContextScope scope(*d);
    DevicePointer pointer = 0;
    ASSERT_EQ(driver().cuMemAlloc(&pointer, 4096), 0);
    std::atomic<bool> released = false;
    fake_cuda_hold(1);
    {
        const Ref<Buffer> b = d->import(reinterpret_cast<void*>(pointer), 4096, MemoryKind::Device, [&] { released = true; });
        b->set_lent();
    }
    EXPECT_FALSE(released);
    fake_cuda_hold(0);
    d->foreign_work(0).wait();
    for (int i = 0; i < 10000 && !released; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(released);
    driver().cuMemFree(pointer);
}

TEST(CudaMemory, ARangeIsInOneAllocationOrNotTheDevices) {
    CudaDevice* d = device();
    const ContextScope scope(*d);
    DevicePointer a = 0, b = 0;
    ASSERT_EQ(driver().cuMemAlloc(&a, 4096), 0);
    ASSERT_EQ(driver().cuMemAlloc(&b, 4096), 0);
    EXPECT_TRUE(d->holds(a, 4096));
    EXPECT_TRUE(d->holds(a + 4095, 1));
    EXPECT_TRUE(d->holds(a + 8, 0));
    EXPECT_FALSE(d->holds(a, 4097));
    EXPECT_FALSE(d->holds(std::min(a, b), static_cast<std::size_t>(std::max(a, b) - std::min(a, b)) + 4096));
    EXPECT_FALSE(d->holds(a - 8, 16));
    EXPECT_FALSE(d->holds(0x1000, 8));
    driver().cuMemFree(a);
    driver().cuMemFree(b);
}

TEST(CudaMemory, LargeMemoryMayBePinnedWhereItIs) {
    CudaDevice* d = device();
    d->transfer().prefer_registration(true);
    const std::vector<float> values = ramp(std::size_t{20} << 20);
    for (const bool refused : {false, true}) {
        if (refused) fake_cuda_fail_next("cuMemHostRegister", 801, 0);
        const long before = fake_cuda_calls("cuMemHostRegister");
        const Ref<Buffer> b = buffer_of(values);
        EXPECT_TRUE(values_of(b.get()) == values);
        EXPECT_EQ(fake_cuda_calls("cuMemHostRegister"), before + 2);
        EXPECT_EQ(fake_cuda_live("registration"), 0);
    }
    d->transfer().prefer_registration(false);
}

TEST(CudaMemory, CopiesOfAnySizeAndPlaceAreWhole) {
    CudaDevice* d = device();
    constexpr std::size_t mib = std::size_t{1} << 20;
    std::vector<char> host(36 * mib + 4096);
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<char>(i * 7 + i / 251);
    for (const std::size_t bytes : {mib / 4 + 1, mib, 3 * mib + 5, 32 * mib, 36 * mib - 3}) {
        for (const std::size_t offset : {std::size_t{0}, std::size_t{13}, std::size_t{4096}}) {
            const Ref<Buffer> b = d->allocate(bytes, MemoryKind::Device, d->queue());
            d->queue()->write(b.get(), 0, host.data() + offset, bytes);
            std::vector<char> back(bytes + offset + 1, 1);
            d->queue()->read(back.data() + offset, b.get(), 0, bytes);
            EXPECT_EQ(std::memcmp(back.data() + offset, host.data() + offset, bytes), 0) << bytes << " bytes at " << offset;
            EXPECT_EQ(back.back(), 1);
        }
    }
}

TEST(CudaMemory, TheEnvironmentSaysHowCopiesAreCut) {
    const auto options = [](const char* text) {
        setenv("PARDO_CUDA_TRANSFER", text, 1);
        const TransferOptions o = TransferOptions::from_environment();
        unsetenv("PARDO_CUDA_TRANSFER");
        return o;
    };
    const TransferOptions some = options("register,threads=12,piece=512,populate=0,stream=0");
    EXPECT_TRUE(some.registers);
    EXPECT_EQ(some.threads, 12u);
    EXPECT_EQ(some.piece_bytes, std::size_t{512} << 10);
    EXPECT_FALSE(some.populates);
    EXPECT_FALSE(some.streams);
    EXPECT_TRUE(options("").populates);
    for (const char* wrong : {"registered", "threads=0", "threads=17", "threads=2x", "piece=1", "populate=", "stream=2"}) {
        EXPECT_THROW(options(wrong), Error) << wrong;
        unsetenv("PARDO_CUDA_TRANSFER");
    }
}

TEST(CudaMemory, PinnedMemoryIsCopiedDirectly) {
    CudaDevice* d = device();
    const std::size_t bytes = 8 << 20;
    const Ref<Buffer> pinned = d->allocate(bytes, MemoryKind::Host, d->queue()), b = d->allocate(bytes, MemoryKind::Device, d->queue());
    std::memset(pinned->data(), 5, bytes);
    const long before = fake_cuda_calls("cuMemcpyHtoDAsync");
    d->queue()->write(b.get(), 0, pinned->data(), bytes);
    EXPECT_EQ(fake_cuda_calls("cuMemcpyHtoDAsync"), before + 1);
    std::vector<char> back(bytes);
    d->queue()->read(back.data(), b.get(), 0, bytes);
    EXPECT_EQ(back, std::vector<char>(bytes, 5));
}

}  // namespace
}  // namespace pardo::cuda

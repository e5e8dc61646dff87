// tests/unit/array/transfer_test.cpp: host memory in and out, whatever its strides, and shared memory's rules.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <pardo/binding/exchange.h>
#include <pardo/error.h>
#include <pardo/ops.h>

#include "../message_of.h"
#include "array/record.h"
#include "support.h"

namespace pardo::arrays {
namespace {

std::vector<double> values(const Array& x) {
    std::vector<double> out(static_cast<std::size_t>(x.size()));
    x.copy_to(out.data());
    return out;
}

using V = std::vector<double>;
using S = std::vector<std::int64_t>;

TEST(Transfer, HostMemoryOfAnyStridesBecomesRowMajor) {
    const V data = {0, 1, 2, 3, 4, 5};
    const auto from = [&](S shape, S strides, std::size_t first = 0) {
        return values(from_host(data.data() + first, DType::Float64, shape, strides, null_queue()));
    };
    EXPECT_EQ(from({2, 3}, {24, 8}), data);
    EXPECT_EQ(from({3, 2}, {8, 24}), (V{0, 3, 1, 4, 2, 5}));
    EXPECT_EQ(from({6}, {-8}, 5), (V{5, 4, 3, 2, 1, 0}));
    EXPECT_EQ(from({2, 2}, {24, 16}), (V{0, 2, 3, 5}));
    EXPECT_EQ(from({2, 3}, {0, 8}), (V{0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(from({}, {}), (V{0}));
    EXPECT_EQ(from({0, 3}, {24, 8}), V{});
}

TEST(Transfer, UnalignedElements) {
    std::vector<char> raw(8 * 3 + 1);
    const V data = {1.5, -2, 3};
    std::memcpy(raw.data() + 1, data.data(), 24);
    const S shape = {3}, strides = {8}, back = {-8};
    EXPECT_EQ(values(from_host(raw.data() + 1, DType::Float64, shape, strides, null_queue())), data);
    EXPECT_EQ(values(from_host(raw.data() + 17, DType::Float64, shape, back, null_queue())), (V{3, -2, 1.5}));
    EXPECT_THROW(share_host(
                     raw.data() + 1, DType::Float64, shape, S{1}, false, [] {}, null_queue()),
                 Error);
}

TEST(Transfer, ViewsComeOutInTheirOwnOrder) {
    const Array x = reshape(array<double>({0, 1, 2, 3, 4, 5}, null_queue()), S{2, 3});
    EXPECT_EQ(values(permute_dims(x, S{1, 0})), (V{0, 3, 1, 4, 2, 5}));
    EXPECT_EQ(values(flip(x)), (V{5, 4, 3, 2, 1, 0}));
    EXPECT_EQ(values(broadcast_to(x[1], S{2, 3})), (V{3, 4, 5, 3, 4, 5}));
}

TEST(Transfer, Items) {
    const Array x = array({std::complex<float>(1, -2)}, null_queue());
    const Scalar z = x.item();
    EXPECT_EQ(z.dtype, DType::Complex64);
    EXPECT_EQ(z.c.im, -2.0);
    EXPECT_EQ(array<std::uint64_t>({~0ull}, null_queue()).item().u, ~0ull);
    EXPECT_EQ(full({}, Scalar(7), DType::Int8, null_queue()).item().i, 7);
    EXPECT_THROW(array<double>({1, 2}, null_queue()).item(), Error);
}

TEST(Transfer, SharedMemoryIsReleasedOnce) {
    V data = {1, 2, 3, 4};
    int released = 0;
    {
        const Array x = share_host(
            data.data() + 3, DType::Float64, S{4}, S{-1}, false, [&] { ++released; }, null_queue());
        EXPECT_EQ(values(x), (V{4, 3, 2, 1}));
        EXPECT_EQ(x.data(), data.data() + 3);
        const Array view = x[1];
        EXPECT_FALSE(view.pending());  // others may write the memory, so it was read at once
        EXPECT_EQ(released, 0);
    }
    EXPECT_EQ(released, 1);
}

TEST(Transfer, WritableExportsWaitForAllUses) {
    const Queue queue(Device("cpu"));
    std::atomic<int> done{0};
    const auto use = [&](const Array& x, device::Access access) {
        const device::BufferUse uses[] = {{x.node()->buffer.get(), access}};
        const auto nap = [&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            ++done;
        };
        queue.impl()->host_task(nap, uses, {"nap", {}}, 1e6);
    };
    const Array read = empty(S{100'000}, DType::Float64, queue);
    use(read, device::Access::Read);
    read.share_writable()();
    EXPECT_EQ(done, 1);
    const void* block = nullptr;
    {
        const Array dead = empty(S{100'000}, DType::Float64, queue);
        block = dead.data();
        use(dead, device::Access::Write);
    }
    const Array reused = empty(S{100'000}, DType::Float64, queue);
    EXPECT_EQ(reused.node()->buffer->data(), block);
    reused.share_writable()();
    EXPECT_EQ(done, 2);
}

TEST(Transfer, LentMemoryIsOthersUntilItIsGivenBack) {
    const Array x = ones(S{4}, DType::Float64, null_queue());
    x.force();
    EXPECT_TRUE(add(x, 1.0).pending());
    {
        std::optional<Loan> first = lend(x, true), second = lend(x, true);
        EXPECT_TRUE(x.externally_writable());
        first.reset();
        EXPECT_FALSE(add(x, 1.0).pending());
        const Loan moved = std::move(*second);
        EXPECT_TRUE(x.externally_writable());
    }
    EXPECT_FALSE(x.externally_writable());
    EXPECT_TRUE(add(x, 1.0).pending());
    const Array later = add(x, 1.0);
    EXPECT_FALSE(lend(x, true, true));  // it would have to be computed first
    EXPECT_TRUE(later.pending());
    {
        const std::optional<Loan> read = lend(x, false, true);
        ASSERT_TRUE(read);
        EXPECT_TRUE(x.externally_readable());
        EXPECT_FALSE(x.externally_writable());
    }
    EXPECT_FALSE(x.externally_readable());
    EXPECT_EQ(owned_bytes(x), 32);
    EXPECT_EQ(owned_bytes(broadcast_to(x, S{2, 4})), 0);
    share_for_good(x);
    EXPECT_TRUE(x.externally_writable());
}

TEST(Transfer, SharedMemoryStaysTheCallersOnAnError) {
    V data = {1};
    int released = 0;
    const auto share = [&](const S& shape, double* at) {
        share_host(
            at, DType::Float64, shape, S(shape.size(), 1), false, [&] { ++released; }, null_queue());
    };
    EXPECT_THROW(share(S(33, 1), data.data()), Error);
    EXPECT_THROW(share({std::int64_t{1} << 40, std::int64_t{1} << 30}, data.data()), Error);
    EXPECT_THROW(share({1}, reinterpret_cast<double*>(reinterpret_cast<char*>(data.data()) + 1)), Error);
    EXPECT_EQ(released, 0);
    share({1}, data.data());
    EXPECT_EQ(released, 1);
}

TEST(Transfer, ReadOnlyMemoryIsNotWritten) {
    V data = {1, 2};
    const Array x = share_host(
        data.data(), DType::Float64, S{2}, S{1}, true, [] {}, null_queue());
    EXPECT_FALSE(x.writeable());
    EXPECT_THROW(x.assign(Scalar(0.0)), Error);
    EXPECT_THROW(x.mutable_data(), Error);
}

TEST(Transfer, BorrowedMemoryIsRecordedOnUntilItIsGivenBack) {
    std::vector<double> data = {1, 2, 3, 4};
    int released = 0;
    const Queue queue(Device("cpu"));
    {
        const Array x = borrow_memory(
            "test", data.data(), DType::Float64, S{4}, false, [&] { ++released; }, queue);
        const Array later = add(x, 1.0), view = reshape(x, S{2, 2});
        EXPECT_TRUE(later.pending());  // no other code writes the memory
        store("test", x, multiply(x, 10.0));
        const Array last = add(x, 1.0);
        retire_memory(x, "it is over");
        EXPECT_EQ(data, (V{10, 20, 30, 40}));
        data.assign(4, 0);
        EXPECT_EQ(values(later), (V{2, 3, 4, 5}));  // readers were computed before
        EXPECT_EQ(values(last), (V{11, 21, 31, 41}));
        EXPECT_EQ(message_of([&] { (void)add(x, 1.0); }), "it is over");
        EXPECT_EQ(message_of([&] { (void)add(view, 1.0); }), "it is over");
        EXPECT_EQ(message_of([&] { store("test", x, later); }), "it is over");
        EXPECT_EQ(message_of([&] { x.wait(); }), "it is over");
        EXPECT_EQ(message_of([&] { values(x); }), "it is over");
        EXPECT_EQ(message_of([&] { (void)x[0].item(); }), "it is over");
        EXPECT_EQ(message_of([&] { (void)x.mutable_data(); }), "it is over");
        EXPECT_EQ(message_of([&] { retire_memory(x, "again"); }), "it is over");
        EXPECT_EQ(message_of([&] { (void)export_memory(x, {}, false); }), "it is over");
        EXPECT_EQ(data, (V{0, 0, 0, 0}));
        EXPECT_EQ(released, 0);
    }
    EXPECT_EQ(released, 1);
}

TEST(Transfer, GivingMemoryBackWaitsForWorkAndRaisesWhatFailed) {
    const Queue queue(Device("cpu"));
    std::atomic<int> done{0};
    const auto task = [&](const Array& x, bool fails) {
        const device::BufferUse uses[] = {{x.node()->buffer.get(), device::Access::Write}};
        const auto nap = [&done, fails] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            ++done;
            if (fails) throw Error(ErrorCode::Internal, "it failed");
        };
        queue.impl()->host_task(nap, uses, {"nap", {}}, 1e6);
    };
    const Array x = empty(S{1000}, DType::Float64, queue), y = empty(S{1000}, DType::Float64, queue);
    task(x, false);
    retire_memory(x, "over");
    EXPECT_EQ(done, 1);
    task(y, true);
    EXPECT_NE(message_of([&] { retire_memory(y, "over"); }).find("it failed"), std::string::npos);
    EXPECT_EQ(done, 2);
    EXPECT_EQ(message_of([&] { y.wait(); }), "over");
    try {
        queue.wait();
    } catch (const Error&) {  // what the queue was told by then
    }
}

TEST(Transfer, BlocksOfRetiredArraysAreUsedAgain) {
    const Queue queue(Device("cpu"));
    const void* block = nullptr;
    {
        const Array x = empty(S{100'000}, DType::Float64, queue);
        block = x.node()->buffer->data();
        retire_memory(x, "over");
    }
    const Array next = empty(S{100'000}, DType::Float64, queue);
    EXPECT_EQ(next.node()->buffer->data(), block);
    EXPECT_FALSE(next.node()->buffer->retired());
    EXPECT_TRUE(add(next, 1.0).pending());
    (void)values(next);
}

TEST(Transfer, HeldMemoryOutlivesItsArray) {
    std::function<void()> let_go;
    const double* first = nullptr;
    {
        const Array x = array<double>({1, 2, 3}, null_queue());
        let_go = x.hold();
        first = static_cast<const double*>(x.data());
    }
    EXPECT_EQ(first[2], 3);
    let_go();
}

TEST(Transfer, SizesBeyondMemoryAreRefused) {
    const S shape = {std::int64_t{1} << 40, std::int64_t{1} << 30};
    for (const DType t : {DType::Bool, DType::Complex128}) {
        try {
            zeros(shape, t, null_queue());
            FAIL();
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ErrorCode::Memory);
        }
    }
    EXPECT_THROW(zeros(S{-1}, DType::Float64, null_queue()), Error);
    EXPECT_THROW(zeros(S(33, 1), DType::Float64, null_queue()), Error);
}

}  // namespace
}  // namespace pardo::arrays

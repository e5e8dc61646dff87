// tests/unit/array/recorded_transfer_test.cpp: pending arrays that go to another queue: two nodes in two graphs.
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include <pardo/binding/plan.h>
#include <pardo/error.h>
#include <pardo/ops.h>

#include "array/record.h"
#include "base/counters.h"
#include "support.h"

namespace pardo::arrays {
namespace {

constexpr std::int64_t shape[] = {100};

class RecordedTransfer : public testing::Test {
protected:
    const Queue here = null_queue(), there{Device("null")};
    const Array x = empty(shape, DType::Float64, here);
};

std::uint64_t copies() { return counters.copies.load(); }

TEST_F(RecordedTransfer, IsPendingOnItsQueue) {
    const std::uint64_t before = copies();
    const Array value = add(x, 1), y = value.to_queue(there);
    EXPECT_TRUE(value.pending());
    EXPECT_TRUE(y.node()->is_transfer());
    EXPECT_EQ(y.queue(), there);
    EXPECT_EQ(y.node()->exported()->queue.get(), here.impl());
    EXPECT_EQ(copies(), before);
    y.force();
    EXPECT_FALSE(y.pending());
    EXPECT_EQ(y.node()->kind, Kind::Leaf);
    EXPECT_EQ(copies(), before + 1);
    EXPECT_EQ(state_of(there.impl()).transfers, 0);
}

TEST_F(RecordedTransfer, ArrivesBeforeItIsAnInput) {
    const Array y = add(x, 1).to_queue(there);
    const Array z = multiply(y, 2);
    EXPECT_FALSE(y.pending());
    EXPECT_TRUE(z.pending());
    EXPECT_EQ(z.node()->inputs[0].get(), y.node());
}

TEST_F(RecordedTransfer, DroppedItLeavesBothGraphs) {
    const std::int64_t before = state_of(here.impl()).pending_count;
    { const Array y = add(x, 1).to_queue(there); }
    EXPECT_EQ(state_of(here.impl()).pending_count, before);
    EXPECT_EQ(state_of(there.impl()).pending_count, 0);
    EXPECT_EQ(state_of(there.impl()).transfers, 0);
}

TEST_F(RecordedTransfer, AWriteOfItsInputComesAfterTheCopy) {
    const Array y = add(x, 1).to_queue(there);
    const std::uint64_t before = copies();
    x.assign(Scalar(0));
    EXPECT_EQ(copies(), before + 1);
    EXPECT_TRUE(y.pending());
    EXPECT_FALSE(y.node()->exported()->pending());
}

TEST_F(RecordedTransfer, EitherQueueSubmitsIt) {
    const Array y = add(x, 1).to_queue(there), z = add(x, 2).to_queue(there);
    const std::uint64_t before = copies();
    (void)here.submit({});
    EXPECT_EQ(copies(), before + 2);
    EXPECT_TRUE(y.pending());
    (void)there.submit({});
    EXPECT_EQ(copies(), before + 2);
    EXPECT_FALSE(y.pending());
    EXPECT_FALSE(z.pending());
}

TEST_F(RecordedTransfer, IsExplainedWhereItComesFrom) {
    const Array y = add(x, 1).to_queue(there);
    const std::string text = explain({y});
    EXPECT_NE(text.find("call to_device by copy to null"), std::string::npos) << text;
    EXPECT_TRUE(y.pending());
}

TEST_F(RecordedTransfer, FailsWithItsValue) {
    const Array value = add(x, 1), y = value.to_queue(there);
    {
        const std::lock_guard guard(state_of(here.impl()).lock);
        graph::fail(value.node(), std::make_shared<const Error>(ErrorCode::Memory, "add: no memory"));
    }
    EXPECT_TRUE(y.node()->is_transfer());
    EXPECT_THROW(y.force(), Error);
    EXPECT_EQ(y.node()->kind, Kind::Failed);
    EXPECT_THROW((void)multiply(y, 2), Error);
}

TEST_F(RecordedTransfer, TwoThreadsCross) {
    const auto go = [](const Queue& from, const Queue& to) {
        const Array a = empty(shape, DType::Float64, from);
        for (int k = 0; k < 300; ++k) {
            const Array y = add(a, k).to_queue(to);
            if (k % 3 == 0) (void)to.submit({});
            if (k % 5 == 0) (void)from.submit({});
            multiply(y, 2).force();
        }
    };
    std::thread one(go, here, there), other(go, there, here);
    one.join();
    other.join();
}

}  // namespace
}  // namespace pardo::arrays

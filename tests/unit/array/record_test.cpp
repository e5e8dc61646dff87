// tests/unit/array/record_test.cpp: what recording makes of operations: nodes, constants, cheaper forms, and the books that are kept of
// them.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <pardo/binding/rows.h>
#include <pardo/error.h>
#include <pardo/ops.h>

#include "../message_of.h"
#include "array/record.h"
#include "base/counters.h"
#include "support.h"

namespace pardo::arrays {
namespace {

graph::GraphState& books() { return state_of(null_queue().impl()); }

Op op_of(const Array& x) { return x.node()->op(); }

TEST(Record, OperationsArePendingAndListedUntilTheyDie) {
    const std::int64_t before = books().pending_count;
    const Array x = make({4});
    {
        const Array y = add(x, 1.0);
        EXPECT_TRUE(y.pending());
        EXPECT_FALSE(x.pending());
        EXPECT_EQ(books().pending_count, before + 2);  // the sum and its constant
        EXPECT_EQ(graph::reader_count(*x.node()->buffer), 1);
        EXPECT_EQ(x.node()->consumers, 1u);
        EXPECT_GE(books().pinned_bytes, 32);
    }
    EXPECT_EQ(books().pending_count, before);
    EXPECT_EQ(graph::reader_count(*x.node()->buffer), 0);
    EXPECT_EQ(x.node()->consumers, 0u);
}

TEST(Record, ReadersFollowAValueWhenItBecomesMemory) {
    const Array x = make({4});
    const Array y = sqrt(x), z = add(y, y);
    y.force();
    EXPECT_FALSE(y.pending());
    EXPECT_EQ(graph::reader_count(*x.node()->buffer), 0);
    EXPECT_EQ(graph::reader_count(*y.node()->buffer), z.pending() ? 2 : 0);
}

TEST(Record, AnEmptyHandleCostsNothing) {
    const std::uint64_t recorded = counters.recorded.load();
    Array x;
    const Array y = x;
    EXPECT_EQ(y.node(), nullptr);
    EXPECT_EQ(counters.recorded.load(), recorded);
    x = make({3});
    EXPECT_EQ(x.size(), 3);
}

TEST(Record, LongChainsDieWithoutRecursion) {
    Array x = make({4});
    for (int i = 0; i < 200000; ++i) x = add(x, 1.0);
    x = make({1});
    SUCCEED();
}

TEST(Record, WhenTooMuchIsHeldAllOfItIsHandedOver) {
    const Array x = make({8});
    std::vector<Array> held;
    const std::uint64_t flushed = counters.flushed.load(), before = counters.launched.load();
    for (int i = 0; i < 4200; ++i) held.push_back(add(x, i));
    EXPECT_GE(counters.flushed.load(), flushed + 1);
    EXPECT_LE(counters.launched.load(), before + 4200 / 8);
    EXPECT_FALSE(held[0].pending());
    EXPECT_LT(books().pending_count, 4096);
    const std::uint64_t launched = counters.launched.load();
    Array y = x;
    for (int i = 0; i < 40; ++i) y = add(y, 1.0);
    y.force();
    EXPECT_LE(counters.launched.load(), launched + 2);
}

TEST(Record, HeldConstantsDoNotMakeEveryOperationALaunch) {
    const Array x = make({8});
    std::vector<Array> held;
    for (int i = 0; i < 4200; ++i) held.push_back(full(x.shape(), Scalar(1.0), {}, null_queue()));
    const std::uint64_t launched = counters.launched.load();
    Array y = x;
    for (int i = 0; i < 40; ++i) y = add(y, 1.0);
    y.force();
    EXPECT_LE(counters.launched.load(), launched + 2);
}

TEST(Record, ALongChainIsCutByItself) {
    const Array x = make({8}), other = sqrt(x);
    const std::uint64_t flushed = counters.flushed.load();
    Array y = x;
    for (int i = 0; i < 300; ++i) y = add(y, 1.0);
    EXPECT_EQ(counters.flushed.load(), flushed + 1);
    EXPECT_TRUE(other.pending());
}

TEST(Record, ShapesBroadcastAsNumPys) {
    const Array a = make({3, 1, 5}), b = make({4, 1});
    EXPECT_EQ(to_string(add(a, b).shape()), "(3, 4, 5)");
    EXPECT_EQ(to_string(add(make({0}), make({1})).shape()), "(0,)");
    EXPECT_EQ(message_of([] { add(make({3}), make({4})); }), "add: operands could not be broadcast together with shapes (3,) (4,)");
}

TEST(Record, ErrorsNameWhatWasCalled) {
    const std::int64_t big = std::int64_t{1} << 40;
    EXPECT_EQ(message_of([&] { make({big, big}); }), "empty: shape (1099511627776, 1099511627776): more elements than fit into 64 bits");
    EXPECT_EQ(message_of([&] {
                  make({big, 1 << 22});
              }),
              "empty: array of shape (1099511627776, 4194304) and dtype float64 is larger than memory can be");
    EXPECT_EQ(message_of([&] { make({big, 1 << 18}); }).find("empty: cannot allocate 2305843009213693952 bytes on null:0 ("), 0u);
    const Array tall = broadcast_to(make({1, 1}), std::initializer_list<std::int64_t>{big, 1});
    const Array wide = broadcast_to(make({1, 1}), std::initializer_list<std::int64_t>{1, big});
    EXPECT_EQ(message_of([&] { add(tall, wide); }), "add: shape (1099511627776, 1099511627776): more elements than fit into 64 bits");
    const Array out = make({4}), matrix = make({2, 3});
    const Operand operands[] = {matrix, 1.0};
    EXPECT_EQ(message_of([&] { apply_out(static_cast<int>(Op::add), operands, out, nullptr); }),
              "add: operands could not be broadcast together with shapes (2, 3) (4,)");
    const Array small = make({4}, DType::Int8);
    EXPECT_EQ(message_of([&] { small.assign(Scalar(300)); }), "x[...] = value: Python integer 300 out of bounds for int8");
}

TEST(Record, ResultsWithoutDimensionsAreScalarValues) {
    const Array x = make({2}), zero_d = make({});
    EXPECT_TRUE(sum(x).is_scalar_value());
    EXPECT_TRUE(x[1].is_scalar_value());
    EXPECT_TRUE(add(zero_d, 1.0).is_scalar_value());
    EXPECT_FALSE(zero_d.is_scalar_value());
    EXPECT_FALSE(full({}, Scalar(1.0), {}, null_queue()).is_scalar_value());
    const IndexPart dots[] = {std::int64_t{1}, Ellipsis{}};
    EXPECT_FALSE(x[dots].is_scalar_value());
}

TEST(Record, PowersByPythonNumbersBecomeCheaper) {
    const Array f = make({2}, DType::Float32), i = make({2}, DType::Int32);
    EXPECT_EQ(op_of(power(f, 2)), Op::square);
    EXPECT_EQ(op_of(power(f, 0.5)), Op::sqrt);
    EXPECT_EQ(op_of(power(f, -1)), Op::reciprocal);
    EXPECT_EQ(op_of(power(f, 3)), Op::power);
    EXPECT_EQ(power(f, 2.0).dtype(), DType::Float32);
    EXPECT_EQ(op_of(power(i, 2)), Op::square);
    EXPECT_EQ(power(i, 2.0).dtype(), DType::Float64);
    EXPECT_EQ(message_of([&] { power(i, -2); }), "power: Integers to negative integer powers are not allowed.");
}

TEST(Record, CastsOfLosslessCastsStartFromTheSource) {
    const Array x = make({2}, DType::Float32);
    const Array wide = x.astype(DType::Float64), back = wide.astype(DType::Float32);
    EXPECT_NE(back.node(), x.node());  // a copy: either may be written
    EXPECT_EQ(back.node()->inputs[0].get(), x.node());
    const Array exact = make({2}, DType::Int64), rounded = exact.astype(DType::Float64), again = rounded.astype(DType::Int64);
    EXPECT_EQ(again.node()->inputs[0].get(), rounded.node());  // int64 -> float64 rounds
}

TEST(Record, ComparisonsWithNumbersBeyondTheDtypeAreKnown) {
    const Array x = make({2}, DType::UInt8);
    const Array below = less(x, 300), above = greater(-1, x);
    ASSERT_EQ(below.node()->kind, Kind::Constant);
    EXPECT_TRUE(below.node()->scalar().b);
    EXPECT_FALSE(above.node()->scalar().b);
    EXPECT_EQ(to_string(below.shape()), "(2,)");
    EXPECT_EQ(message_of([&] { add(x, 300); }), "add: Python integer 300 out of bounds for uint8");
}

TEST(Record, ClipTakesBoundsBeyondTheDtype) {
    const Array x = make({2}, DType::UInt8);
    const Array y = clip(x, -1, 300);
    EXPECT_EQ(y.dtype(), DType::UInt8);
    EXPECT_EQ(y.node()->inputs[1]->scalar().u, 0u);
    EXPECT_EQ(y.node()->inputs[2]->scalar().u, 255u);
}

TEST(Record, QueuesDoNotMix) {
    const Array x = make({2});
    const Queue other(Device("null"), QueueOrder::InOrder);
    const Array y = empty(std::initializer_list<std::int64_t>{2}, DType::Float64, other);
    const std::string message = message_of([&] { add(x, y); });
    EXPECT_EQ(message.find("add: operands are on different queues: <Queue 0x"), 0u) << message;
    EXPECT_EQ(y.to_queue(null_queue()).queue(), null_queue());
}

TEST(Record, InPlaceStaysLazyOnlyForMemoryOfItsOwn) {
    const int id = static_cast<int>(Op::add);
    Array mine = make({3});
    const Node* first = mine.node();
    apply_inplace(id, mine, 1.0);
    EXPECT_TRUE(mine.pending());
    apply_inplace(id, mine, 1.0);
    EXPECT_TRUE(mine.pending());
    EXPECT_NE(mine.node(), first);

    Array shared = make({3});
    const Array alias = shared;
    apply_inplace(id, shared, 1.0);
    EXPECT_EQ(shared.node(), alias.node());
    EXPECT_FALSE(shared.pending());

    Array base = make({3});
    const Slice tail{1, {}, {}};
    const IndexPart part[] = {tail};
    Array view = base[part];
    apply_inplace(id, view, 1.0);
    EXPECT_EQ(view.node()->buffer.get(), base.node()->buffer.get());

    Array total = sum(make({3}, DType::Int64));
    apply_inplace(id, total, 0.5);  // a number binds what comes out, in its dtype
    EXPECT_EQ(total.dtype(), DType::Float64);

    Array narrow = make({3}, DType::Int32);
    EXPECT_EQ(message_of([&] { apply_inplace(id, narrow, 0.5); }),
              "add: Cannot cast ufunc 'add' output from dtype('float64') to dtype('int32') with casting rule 'same_kind'");
    Array one = make({1});
    EXPECT_EQ(message_of([&] { apply_inplace(id, one, make({3})); }),
              "add: non-broadcastable output operand with shape (1,) doesn't match the broadcast shape (3,)");
}

TEST(Record, BroadcastViewsAreReadOnly) {
    const Array wide = broadcast_to(make({3}), std::initializer_list<std::int64_t>{2, 3});
    EXPECT_FALSE(wide.writeable());
    EXPECT_EQ(message_of([&] { wide.assign(Scalar(1.0)); }), "x[...] = value: assignment destination is read-only");
}

TEST(Record, WhatReadsForeignMemoryRunsAtOnce) {
    const Array x = make({3});
    const auto let_go = x.share_writable();
    EXPECT_FALSE(add(x, 1.0).pending());
    EXPECT_FALSE(add(x, make({3}, DType::Complex128)).pending());  // through a cast
    let_go();
}

TEST(Record, ThreadsMayShareAQueueAndItsValues) {
    const std::int64_t before = books().pending_count;
    {
        const Array x = make({8});
        const Array common = sqrt(x);
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                Array mine = common;
                for (int i = 0; i < 2000; ++i) {
                    mine = add(mine, multiply(common, x));
                    if (i % 97 == t) mine.force();
                    if (i % 50 == 0) mine = common;  // lets a chain die
                }
            });
        }
        for (std::thread& t : threads) t.join();
    }
    EXPECT_EQ(books().pending_count, before);
}

}  // namespace
}  // namespace pardo::arrays

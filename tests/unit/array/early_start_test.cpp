// tests/unit/array/early_start_test.cpp: work that starts when it is recorded, because it is worth it, by what is recorded alone.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <pardo/ops.h>

#include "array/record.h"
#include "base/counters.h"
#include "graph/call_cost.h"
#include "graph/record.h"
#include "support.h"

namespace pardo::arrays {
namespace {

TEST(EarlyStart, ACallStartsWithItsProducersOnceItCostsSomeLaunches) {
    const Array few = make({8, 300}), many = make({2000, 2000});
    const Array small = cumulative(Reduction::Sum, add(few, 1.0), 0);
    EXPECT_TRUE(small.pending());
    const Array terms = add(many, 1.0), large = cumulative(Reduction::Sum, terms, 0);
    EXPECT_FALSE(large.pending());
    EXPECT_FALSE(terms.pending());  // it is held
    EXPECT_TRUE(small.pending());   // others are left alone
}

TEST(EarlyStart, TheRowSaysWhatACallIsEstimatedToCost) {
    const Array x = cumulative(Reduction::Sum, add(make({8, 300}), 1.0), 0);
    const graph::CallEstimate estimate = graph::estimate_call(*x.node());
    EXPECT_EQ(estimate.row, graph::CallCost::elements);
    EXPECT_EQ(estimate.operations, 4800);
    EXPECT_FALSE(estimate.worth_starting());
    EXPECT_EQ(estimate.text(), "a pass over elements, 4.8e+03 operations, 2.4 us; starts when it is recorded from 200 us on");
}

TEST(EarlyStart, ReadingMuchMemoryIsWorthIt) {
    constexpr std::int64_t n = std::int64_t{1} << 25;  // 256 MiB each, which nobody touches
    std::vector<Array> leaves;
    for (int i = 0; i < 10; ++i) leaves.push_back(make({n}));
    const std::uint64_t flushed = counters.flushed.load();
    Array sum = leaves[0];
    for (int i = 1; i < 8; ++i) sum = add(sum, leaves[static_cast<std::size_t>(i)]);
    EXPECT_TRUE(sum.pending());  // 2 GiB, eight times the value
    EXPECT_EQ(counters.flushed.load(), flushed);
    sum = add(sum, leaves[8]);
    EXPECT_FALSE(sum.pending());
    EXPECT_EQ(counters.flushed.load(), flushed + 1);
    for (int i = 0; i < 20; ++i) sum = multiply(sum, 2.0);  // a chain over one large array is one group
    EXPECT_TRUE(sum.pending());
    EXPECT_EQ(counters.flushed.load(), flushed + 1);
}

TEST(EarlyStart, ACopyToAnotherQueueStartsTheSameWay) {
    const Queue other = Queue::of(Device("null:1"));
    const Array small = add(make({10}, DType::Float32), 1.0).to_queue(other),
                large = add(make({1 << 21}, DType::Float32), 1.0).to_queue(other);
    EXPECT_TRUE(small.pending());
    EXPECT_FALSE(large.pending());
    EXPECT_EQ(large.queue(), other);
}

}  // namespace
}  // namespace pardo::arrays

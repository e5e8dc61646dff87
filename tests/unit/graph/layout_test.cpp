// tests/unit/graph/layout_test.cpp: NumPy's order of axes, whose memory a view shows, and what must not be written.
#include <gtest/gtest.h>

#include <vector>

#include <pardo/binding/layout.h>
#include <pardo/error.h>
#include <pardo/ops.h>

#include "graph/axis_order.h"
#include "graph/node.h"

namespace pardo::graph {
namespace {

std::vector<int> order_of(const std::vector<std::vector<int>>& steps) {
    const auto sorted = axes_outermost_first(static_cast<int>(steps[0].size()), static_cast<int>(steps.size()),
                                             [&](int k, int d) { return steps[static_cast<std::size_t>(k)][static_cast<std::size_t>(d)]; });
    return {sorted.begin(), sorted.end()};
}

TEST(AxisOrder, IsThatOfNumPysIterator) {
    using Axes = std::vector<int>;
    EXPECT_EQ(order_of({{12, 4, 1}}), (Axes{0, 1, 2}));
    EXPECT_EQ(order_of({{1, 2, 6}}), (Axes{2, 1, 0}));
    EXPECT_EQ(order_of({{4, 8, 1}}), (Axes{1, 0, 2}));
    EXPECT_EQ(order_of({{1, 2, 6}, {12, 4, 1}}), (Axes{0, 1, 2})) << "row-major wins";
    EXPECT_EQ(order_of({{1, 2, 6}, {4, 8, 1}}), (Axes{1, 0, 2}));
    EXPECT_EQ(order_of({{0, 0, 0}, {1, 2, 6}}), (Axes{2, 1, 0})) << "what is repeated has no say";
    EXPECT_EQ(order_of({{0, 1}, {1, 0}}), (Axes{0, 1}));
}

Array matrix() { return zeros(std::initializer_list<std::int64_t>{2, 3}, DType::Float64, Queue::of(Device("null"))).copy(); }

TEST(Layout, KnowsWhatIsSurelyRowMajor) {
    const Array x = matrix();
    const std::int64_t swapped[] = {1, 0};
    EXPECT_TRUE(surely_row_major(x));
    EXPECT_TRUE(surely_row_major(x + x));
    const Array t = permute_dims(x, swapped);
    EXPECT_FALSE(surely_row_major(t));
    EXPECT_FALSE(surely_row_major(t + 1.0));
    EXPECT_TRUE(x.pending()) << "that computes nothing";
    const Array fresh = laid_out(matrix(), swapped);
    EXPECT_TRUE(is_column_major(fresh));
    EXPECT_TRUE(owns_data(fresh));
    EXPECT_EQ(axis_order(std::span(&fresh, 1)), (std::vector<std::int64_t>{1, 0}));
}

TEST(Layout, ViewsInheritThatTheyMustNotBeWritten) {
    Array x = matrix();
    const std::int64_t shape[] = {4, 2, 3}, flat[] = {6};
    for (const bool pending : {true, false}) {
        if (!pending) x.force();
        const Array repeated = broadcast_to(x, shape);
        EXPECT_FALSE(repeated.writeable());
        EXPECT_FALSE(repeated[0].writeable());
        EXPECT_THROW(repeated[0].assign(Scalar(1.0)), Error);
        EXPECT_TRUE(x.writeable());
    }
    const Array line = reshape(x, flat);
    EXPECT_EQ(base_of(line).node(), x.node());
    set_writeable(x, false);
    EXPECT_THROW(x.assign(Scalar(1.0)), Error);
    EXPECT_FALSE(reshape(x, flat).writeable());
    EXPECT_TRUE(line.writeable()) << "made before";
    set_writeable(x, true);
    x.assign(Scalar(1.0));
}

}  // namespace
}  // namespace pardo::graph

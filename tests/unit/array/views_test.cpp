// tests/unit/array/views_test.cpp: shapes, strides and offsets of views and index expressions, and their errors.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include <pardo/error.h>
#include <pardo/ops.h>

#include "../message_of.h"
#include "array/record.h"
#include "array/views/views.h"
#include "support.h"

namespace pardo::arrays {
namespace {

Array pending(std::initializer_list<std::int64_t> shape) { return sqrt(make(shape)); }

/// "shape strides +offset" of a view.
std::string text(const Array& x) {
    return to_string(x.shape()) + " " + to_string(x.strides()) + " +" + std::to_string(x.force().node()->offset);
}

using I = std::int64_t;
template <class... P> Array at(const Array& x, P... parts) {
    const IndexPart index[] = {IndexPart(parts)...};
    return x[index];
}
Slice slice(std::optional<I> start = {}, std::optional<I> stop = {}, std::optional<I> step = {}) { return {start, stop, step}; }

/// Every case must come out alike whether the base is memory already or becomes it later.
class Views : public testing::TestWithParam<bool> {
protected:
    Array base(std::initializer_list<std::int64_t> shape) { return GetParam() ? pending(shape) : make(shape); }
};
INSTANTIATE_TEST_SUITE_P(Bases, Views, testing::Bool(), [](const auto& info) { return info.param ? "Pending" : "Memory"; });

TEST_P(Views, BasicIndexing) {
    const Array x = base({4, 5, 6});
    EXPECT_EQ(text(at(x, I{1})), "(5, 6) (6, 1) +30");
    EXPECT_EQ(text(at(x, I{-1}, I{-5})), "(6,) (1,) +90");
    EXPECT_EQ(text(at(x, slice(1, 3))), "(2, 5, 6) (30, 6, 1) +30");
    EXPECT_EQ(text(at(x, slice({}, {}, -1))), "(4, 5, 6) (-30, 6, 1) +90");
    EXPECT_EQ(text(at(x, Ellipsis{}, slice({}, {}, 2))), "(4, 5, 3) (30, 6, 2) +0");
    EXPECT_EQ(text(at(x, slice(), I{2}, NewAxis{}, slice(5, 0, -2))), "(4, 1, 3) (30, 0, -2) +17");
    EXPECT_EQ(text(at(x, slice(10, 20))), "(0, 5, 6) (30, 6, 1) +0");
    EXPECT_EQ(text(at(x, slice(-100, 100, 1000))), "(1, 5, 6) (30, 6, 1) +0");
    EXPECT_EQ(text(at(x, I{0}, Ellipsis{}, I{3})), "(5,) (6,) +3");
}

TEST_P(Views, ViewsOfViews) {
    const Array x = base({4, 5, 6});
    const Array inner = at(x, slice(1, 4), slice({}, {}, 2));
    EXPECT_EQ(text(at(inner, slice({}, {}, -1), I{1})), "(3, 6) (-30, 1) +102");
    EXPECT_EQ(text(flip(inner, std::vector<I>{2})), "(3, 3, 6) (30, 12, -1) +35");
}

TEST_P(Views, Transposes) {
    const Array x = base({4, 5, 6});
    EXPECT_EQ(text(permute_dims(x, std::initializer_list<I>{2, 0, 1})), "(6, 4, 5) (1, 30, 6) +0");
    EXPECT_EQ(text(moveaxis(x, std::initializer_list<I>{0}, std::initializer_list<I>{-1})), "(5, 6, 4) (6, 1, 30) +0");
    EXPECT_EQ(text(moveaxis(x, std::initializer_list<I>{0, 1}, std::initializer_list<I>{1, 2})), "(6, 4, 5) (1, 30, 6) +0");
    EXPECT_EQ(text(diagonal(x, 1, 0, 1)), "(6, 4) (1, 36) +6");
    EXPECT_EQ(text(diagonal(x, -1, 0, 1)), "(6, 3) (1, 36) +30");
    EXPECT_EQ(text(diagonal(x, 9, 0, 1)).substr(0, 6), "(6, 0)");
}

TEST_P(Views, DimensionsOfOne) {
    const Array x = base({3, 1, 2});
    EXPECT_EQ(to_string(expand_dims(x, std::initializer_list<I>{0, -1}).shape()), "(1, 3, 1, 2, 1)");
    EXPECT_EQ(text(squeeze(x)), "(3, 2) (2, 1) +0");
    EXPECT_EQ(text(broadcast_to(x, std::initializer_list<I>{4, 3, 5, 2})), "(4, 3, 5, 2) (0, 2, 0, 1) +0");
}

TEST_P(Views, ReshapeIsAViewWhereStridesAllowIt) {
    const Array x = base({4, 6});
    const auto shape = [](std::vector<I> s) { return s; };
    EXPECT_EQ(text(reshape(x, shape({2, 2, 3, 2}))), "(2, 2, 3, 2) (12, 6, 2, 1) +0");
    EXPECT_EQ(text(reshape(x, shape({-1}))), "(24,) (1,) +0");
    EXPECT_EQ(reshape(x, shape({8, 3})).force().node()->buffer.get(), x.force().node()->buffer.get());
    const Array columns = at(x, slice(), slice({}, {}, 2));
    EXPECT_EQ(text(reshape(columns, shape({12}))), "(12,) (2,) +0");
    const Array turned = permute_dims(x, shape({1, 0}));
    EXPECT_EQ(text(reshape(turned, shape({2, 3, 4}))), "(2, 3, 4) (3, 1, 6) +0");
    EXPECT_NE(reshape(turned, shape({24})).node()->buffer.get(), x.node()->buffer.get());
    EXPECT_NE(message_of([&] { reshape(turned, shape({24}), false); }).find("unable to avoid creating a copy"), std::string::npos);
    EXPECT_EQ(message_of([&] { reshape(base({6}), shape({4})); }), "reshape: cannot reshape array of size 6 into shape (4,)");
    EXPECT_EQ(to_string(reshape(base({0, 3}), shape({3, 0})).shape()), "(3, 0)");
}

TEST_P(Views, MistakesAreNamedAsInNumPy) {
    const Array x = base({5});
    EXPECT_EQ(message_of([&] { x[10]; }), "x[...]: index 10 is out of bounds for axis 0 with size 5");
    EXPECT_EQ(message_of([&] { at(x, I{0}, I{0}); }), "x[...]: too many indices for array: array is 1-dimensional, but 2 were indexed");
    EXPECT_EQ(message_of([&] { at(x, Ellipsis{}, Ellipsis{}); }), "x[...]: an index can only have a single ellipsis ('...')");
    EXPECT_EQ(message_of([&] { at(x, slice({}, {}, 0)); }), "x[...]: slice step cannot be zero");
    EXPECT_EQ(message_of([&] { sum(x, std::vector<I>{2}); }), "sum: axis 2 is out of bounds for array of dimension 1");
    EXPECT_EQ(message_of([&] { sum(base({2, 2}), std::vector<I>{0, -2}); }), "sum: duplicate value in 'axis'");
    EXPECT_NE(message_of([&] { broadcast_to(x, std::initializer_list<I>{4}); }).find("(5,) and requested shape (4,)"), std::string::npos);
    EXPECT_NE(
        message_of([&] { reduce(Reduction::Max, base({0})); }).find("zero-size array to reduction operation maximum which has no identity"),
        std::string::npos);
    EXPECT_EQ(message_of([&] { argmax(base({0})); }), "argmax: attempt to get argmax of an empty sequence");
}

TEST_P(Views, AliasTheMemoryOfTheirBase) {
    const Array x = base({4, 6});
    const Array view = at(x, slice(1, 3));
    x.assign(Scalar(1.0));  // makes x memory, if it was not; the view must see the write
    EXPECT_EQ(view.force().node()->buffer.get(), x.node()->buffer.get());
    view.assign(Scalar(2.0));
    EXPECT_EQ(view.node()->buffer.get(), x.node()->buffer.get());
}

TEST_P(Views, WritesWaitForPendingReaders) {
    const Array x = base({4, 6});
    const Array reader = add(at(x, I{0}), 1.0), number = at(x, I{0}, I{0});
    x.assign(Scalar(1.0));
    EXPECT_FALSE(reader.pending());
    EXPECT_FALSE(number.pending());
    EXPECT_EQ(graph::reader_count(*x.node()->buffer), 0);
}

}  // namespace
}  // namespace pardo::arrays

// tests/unit/routines/test_gather.cpp: gather, scatter, take, take_along_axis, compress and put_mask against plain loops.
#include <numeric>

#include "array/calls/gather.h"
#include "support.h"

namespace pardo::test {

template <class T> class Gather : public ::testing::Test {};
TYPED_TEST_SUITE(Gather, Numbers);

template <class T> bool bits_equal(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
Longs random_indices(std::int64_t count, std::int64_t size) {
    Longs out(static_cast<std::size_t>(count));
    for (auto& i : out) i = static_cast<std::int64_t>(generator()() % static_cast<std::uint64_t>(2 * size)) - size;
    return out;
}
std::size_t wrapped(std::int64_t i, std::int64_t size) { return static_cast<std::size_t>(i < 0 ? i + size : i); }

TYPED_TEST(Gather, TakeAlongEveryAxis) {
    using T = TypeParam;
    const Longs shape = {6, 11, 5};
    const std::vector<T> host = random_values<T>(6 * 11 * 5);
    const Array x = make(host, shape);
    for (std::int64_t axis = 0; axis < 3; ++axis) {
        for (const std::int64_t count : {0, 1, 3, 17, 3000}) {
            const std::int64_t n = shape[static_cast<std::size_t>(axis)];
            const Longs index = random_indices(count, n);
            std::int64_t outer = 1, inner = 1;
            for (std::int64_t d = 0; d < 3; ++d) (d < axis ? outer : inner) *= d == axis ? 1 : shape[static_cast<std::size_t>(d)];
            std::vector<T> expected;
            for (std::int64_t o = 0; o < outer; ++o) {
                for (const auto i : index) {
                    for (std::int64_t j = 0; j < inner; ++j)
                        expected.push_back(host[(static_cast<std::size_t>(o * n) + wrapped(i, n)) * static_cast<std::size_t>(inner) +
                                                static_cast<std::size_t>(j)]);
                }
            }
            EXPECT_TRUE(bits_equal(values_of<T>(take(x, make(index), axis)), expected)) << axis << " " << count;
        }
    }
    const Longs flat = random_indices(100, 330);
    std::vector<T> expected;
    for (const auto i : flat) expected.push_back(host[wrapped(i, 330)]);
    EXPECT_TRUE(bits_equal(values_of<T>(take(x, make(flat, {10, 10}))), expected));
}

TYPED_TEST(Gather, SeveralIndicesOfABase) {
    using T = TypeParam;
    const std::vector<T> host = random_values<T>(7 * 5 * 9);
    const std::int64_t swap[] = {2, 0, 1};
    const Array x = permute_dims(make(host, {5, 9, 7}), swap);  // (7, 5, 9), strided
    const auto at = [&](std::size_t i, std::size_t j, std::size_t k) { return host[(j * 9 + k) * 7 + i]; };
    const Longs first = random_indices(4, 7), last = random_indices(6, 9);
    const int axes[] = {0, 2};
    const Array indices[] = {make(first, {4, 1}), make(last, {6})};
    std::vector<T> expected;
    for (const auto i : first) {
        for (const auto k : last) {
            for (std::size_t j = 0; j < 5; ++j) expected.push_back(at(wrapped(i, 7), j, wrapped(k, 9)));
        }
    }
    const Array got = arrays::gather(x, indices, axes);
    EXPECT_EQ(shape_of(got), (Longs{4, 6, 5}));
    EXPECT_TRUE(bits_equal(values_of<T>(got), expected));

    // The way back, into a view: last of duplicates wins.
    const std::vector<T> fresh = random_values<T>(4 * 6 * 5);
    std::vector<T> changed = host;
    std::size_t next = 0;
    for (const auto i : first) {
        for (const auto k : last) {
            for (std::size_t j = 0; j < 5; ++j) changed[(j * 9 + wrapped(k, 9)) * 7 + wrapped(i, 7)] = fresh[next++];
        }
    }
    const Array base = make(host, {5, 9, 7});
    arrays::scatter(permute_dims(base, swap), indices, axes, make(fresh, {4, 6, 5}));
    EXPECT_TRUE(bits_equal(values_of<T>(base), changed));
}

TYPED_TEST(Gather, ScatterKeepsTheLastOfDuplicates) {
    using T = TypeParam;
    const std::int64_t n = 1000, count = 65537;
    const Longs index = random_indices(count, n);
    const std::vector<T> fresh = random_values<T>(count);
    std::vector<T> expected(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < index.size(); ++i) expected[wrapped(index[i], n)] = fresh[i];
    const Array base = make(std::vector<T>(static_cast<std::size_t>(n)), {n});
    const int axes[] = {0};
    const Array indices[] = {make(index)};
    const Array before = multiply(base.astype(dtype_of<T>), Operand(make(std::vector<T>(1), {1})));  // a pending reader
    arrays::scatter(base, indices, axes, make(fresh, {count}));
    EXPECT_TRUE(bits_equal(values_of<T>(base), expected));
    for (const T v : values_of<T>(before)) EXPECT_TRUE(plain(v) == plain(T()));
    arrays::scatter(base, indices, axes, make(std::vector<T>{fresh[0]}, {1}));
    for (const auto i : index) expected[wrapped(i, n)] = fresh[0];
    EXPECT_TRUE(bits_equal(values_of<T>(base), expected));
}

TYPED_TEST(Gather, TakeAlongAxis) {
    using T = TypeParam;
    const std::vector<T> host = random_values<T>(4 * 50 * 3);
    const Array x = make(host, {4, 50, 3});
    const Longs index = random_indices(4 * 20 * 3, 50);
    const std::vector<T> got = values_of<T>(take_along_axis(x, make(index, {4, 20, 3}), 1));
    std::vector<T> expected(index.size());
    for (std::size_t o = 0; o < 4; ++o) {
        for (std::size_t i = 0; i < 20; ++i) {
            for (std::size_t j = 0; j < 3; ++j)
                expected[(o * 20 + i) * 3 + j] = host[(o * 50 + wrapped(index[(o * 20 + i) * 3 + j], 50)) * 3 + j];
        }
    }
    EXPECT_TRUE(bits_equal(got, expected));
    // Broadcast along another axis.
    EXPECT_EQ(shape_of(take_along_axis(x, make(random_indices(20, 50), {1, 20, 1}), 1)), (Longs{4, 20, 3}));
    const Longs rows = random_indices(5000, 600);
    const std::vector<T> line = random_values<T>(600);
    std::vector<T> want;
    for (const auto i : rows) want.push_back(line[wrapped(i, 600)]);
    EXPECT_TRUE(bits_equal(values_of<T>(take_along_axis(make(line, {600}), make(rows))), want));
}

TYPED_TEST(Gather, CompressAndPutMask) {
    using T = TypeParam;
    for (const std::int64_t n : {0, 1, 2, 3, 17, 64, 1000, 65537}) {
        for (const int density : {0, 3, 50, 97, 100}) {
            const std::vector<T> host = random_values<T>(n);
            std::vector<std::uint8_t> mask(static_cast<std::size_t>(n));
            for (auto& m : mask) m = static_cast<int>(generator()() % 100) < density;
            std::vector<T> expected;
            for (std::size_t i = 0; i < mask.size(); ++i) {
                if (mask[i]) expected.push_back(host[i]);
            }
            const Array m = make_mask(mask, {n});
            ASSERT_TRUE(bits_equal(values_of<T>(arrays::compress(make(host, {n}), m)), expected)) << n << " " << density;

            const std::vector<T> fresh = random_values<T>(static_cast<std::int64_t>(expected.size()));
            std::vector<T> changed = host;
            std::size_t next = 0;
            for (std::size_t i = 0; i < mask.size(); ++i) {
                if (mask[i]) changed[i] = fresh[next++];
            }
            const Array target = make(host, {n});
            arrays::put_mask(target, m, make(fresh, {static_cast<std::int64_t>(fresh.size())}));
            ASSERT_TRUE(bits_equal(values_of<T>(target), changed)) << n << " " << density;
        }
    }
    // Two dimensions, written through a transposed view.
    const std::vector<T> host = random_values<T>(15);
    const Array base = make(host, {5, 3});
    const std::int64_t swap[] = {1, 0};
    const Array view = permute_dims(base, swap);
    arrays::put_mask(view, make_mask({1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0}, {3, 5}), make(std::vector<T>{host[1]}, {1}));
    std::vector<T> changed = host;
    changed[0] = changed[4 * 3 + 1] = changed[2 * 3 + 2] = host[1];
    EXPECT_TRUE(bits_equal(values_of<T>(base), changed));
    EXPECT_TRUE(bits_equal(values_of<T>(arrays::compress(view, make_mask({0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, {3, 5}))),
                           {host[3], host[14]}));
}

TEST(Gather, AnotherDtypeIsCast) {
    const Array x = make<std::int32_t>({1, 2, 3}, {3});
    arrays::put_mask(x, make_mask({1, 0, 1}, {3}), make<double>({7.9, 8.1}, {2}));
    EXPECT_EQ(values_of<std::int32_t>(x), (std::vector<std::int32_t>{7, 2, 8}));
    const Array index[] = {make<std::uint8_t>({2, 0}, {2})};
    const int axes[] = {0};
    arrays::scatter(x, index, axes, make<double>({1.5}, {1}));
    EXPECT_EQ(values_of<std::int32_t>(x), (std::vector<std::int32_t>{1, 2, 1}));
}

TEST(Gather, OverlapIsReadBeforeItIsWritten) {
    const Array x = make(Longs{4, 3, 2, 1, 0});
    const Array index[] = {x};
    const int axes[] = {0};
    arrays::scatter(x, index, axes, flip(x));
    EXPECT_EQ(longs_of(x), (Longs{4, 3, 2, 1, 0}));
    const Array mask = make_mask({1, 0, 1, 1}, {4});
    arrays::put_mask(mask, mask, make_mask({0, 0, 1}, {3}));
    EXPECT_EQ(longs_of(mask.astype(DType::Int64)), (Longs{0, 0, 0, 1}));
}

TEST(Gather, Errors) {
    const Array x = make<double>({1, 2, 3, 4, 5}, {5});
    const IndexPart far[] = {make({7})};
    EXPECT_ERROR(x[far].wait(), Index, "x[...]: index 7 is out of bounds for axis 0 with size 5");
    const auto set_far = [&] {
        Array y = make<double>({1, 2, 3, 4, 5}, {5});
        y.set(far, make<double>({1}, {1}));
        y.wait();
    };
    EXPECT_ERROR(set_far(), Index, "x[...] = value: index 7 is out of bounds for axis 0 with size 5");
    EXPECT_ERROR(take(x, make({1, 7, -9}), 0).wait(), Index, "index 7 is out of bounds for axis 0 with size 5");
    EXPECT_ERROR(take(x, make({1, -6}), 0).wait(), Index, "index -6 is out of bounds for axis 0 with size 5");
    EXPECT_ERROR(take(x, x, 0), Type, "Cannot cast array data from dtype('float64') to dtype('int64') according to the rule 'safe'");
    EXPECT_ERROR(take(x, make({0}), 1), Axis, "axis 1 is out of bounds for array of dimension 1");
    EXPECT_ERROR(take(make<double>({}, {0}), make({0}), 0).wait(), Index, "index 0 is out of bounds for axis 0 with size 0");
    EXPECT_EQ(shape_of(take(make<double>({}, {0}), make({}), 0)), Longs{0});
    EXPECT_ERROR(take_along_axis(x, make({5})).wait(), Index, "index 5 is out of bounds for axis 0 with size 5");
    EXPECT_ERROR(take_along_axis(x, make(Longs{1}, {1, 1})), Value, "same number of dimensions");
    const Array two[] = {make({0, 1}), make({0, 1, 2})};
    const int axes[] = {0, 1};
    EXPECT_ERROR(arrays::gather(make<double>({1, 2, 3, 4}, {2, 2}), two, axes), Index,
                 "shape mismatch: indexing arrays could not be broadcast together with shapes (2,) (3,)");
    const Array one[] = {make({0, 1})};
    EXPECT_ERROR(arrays::scatter(x, one, std::span(axes, 1), make<double>({1, 2, 3}, {3})), Value,
                 "could not be broadcast to indexing result of shape (2,)");
    EXPECT_ERROR(arrays::put_mask(x, make_mask({1, 1, 0, 0, 0}, {5}), make<double>({1, 2, 3}, {3})), Value,
                 "cannot assign 3 input values to the 2 output values");
    double fixed[] = {1, 2};
    const std::int64_t shape[] = {2}, strides[] = {1};
    const Array locked = share_host(fixed, DType::Float64, shape, strides, true, nullptr);
    EXPECT_ERROR(arrays::put_mask(locked, make_mask({1, 0}, {2}), make<double>({3}, {1})), Value, "assignment destination is read-only");
}

}  // namespace pardo::test

// tests/unit/routines/test_matmul.cpp: matmul, vecdot and tensordot against plain loops.
#include "routines/cpu/openblas.h"
#include "support.h"

namespace pardo::test {

template <class T> class Matmul : public ::testing::Test {};
TYPED_TEST_SUITE(Matmul, Numbers);

/// a (m, k) times b (k, n); elements are small, so that every sum is exact.
template <class T> std::vector<T> product(const std::vector<T>& a, const std::vector<T>& b, std::size_t m, std::size_t k, std::size_t n) {
    std::vector<T> out(m * n);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            decltype(plain(T())) sum{};
            for (std::size_t l = 0; l < k; ++l) sum += plain(a[i * k + l]) * plain(b[l * n + j]);
            if constexpr (NarrowFloat<T>)
                out[i * n + j] = narrowed_to<T>(sum);
            else
                out[i * n + j] = static_cast<T>(sum);
        }
    }
    return out;
}
template <class T> void expect_same(const std::vector<T>& got, const std::vector<T>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_TRUE(plain(got[i]) == plain(want[i])) << i;
}
/// False when there is no OpenBLAS to load (PARDO_OPENBLAS names one); checks that the message then says what to install.
template <class T> bool has_library() {
    if constexpr (std::is_integral_v<T> || NarrowFloat<T>) return true;
    static const bool found = [] {
        try {
            matmul(make<T>({T(1)}, {1, 1}), make<T>({T(1)}, {1, 1})).wait();
            return true;
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ErrorCode::Import);
            EXPECT_NE(e.message().find("matmul: needs OpenBLAS; install it with `pip install scipy-openblas32`"), std::string::npos)
                << e.message();
            return false;
        }
    }();
    return found;
}
#define NEEDS_LIBRARY(T) \
    if (!has_library<T>()) GTEST_SKIP() << "no OpenBLAS: set PARDO_OPENBLAS"

Array transposed(const Array& x) {
    const std::int64_t swap[] = {1, 0};
    return permute_dims(x, swap);
}

TEST(OpenBlasThreads, AreAsManyAsBeforeAfterAProduct) {
    if (!has_library<double>()) GTEST_SKIP() << "no OpenBLAS: set PARDO_OPENBLAS";
    const routines::OpenBlas& library = routines::openblas("test");
    if (!library.set_threads) GTEST_SKIP() << "an OpenBLAS without threads";
    const int before = library.get_threads();
    library.set_threads(2);
    const std::vector<double> a = random_values<double>(200 * 200, false, 8);
    matmul(make(a, {200, 200}), make(a, {200, 200})).wait();
    EXPECT_EQ(library.get_threads(), 2);
    {
        const routines::BlasThreads outer(library, 1);
        const routines::BlasThreads inner(library, 2);
        EXPECT_EQ(library.get_threads(), 1);
    }
    EXPECT_EQ(library.get_threads(), 2);
    library.set_threads(before);
}

TYPED_TEST(Matmul, ShapesAndLayouts) {
    using T = TypeParam;
    NEEDS_LIBRARY(T);
    const std::int64_t sizes[][3] = {{1, 1, 1},    {2, 3, 4},      {17, 5, 33}, {1, 1000, 1}, {1, 70, 300},
                                     {300, 70, 1}, {130, 64, 700}, {3, 0, 2},   {0, 3, 2}};
    for (const auto& [m, k, n] : sizes) {
        const std::vector<T> a = random_values<T>(m * k, false, 8), b = random_values<T>(k * n, false, 8);
        const std::vector<T> want = product(a, b, static_cast<std::size_t>(m), static_cast<std::size_t>(k), static_cast<std::size_t>(n));
        const Array left = make(a, {m, k}), right = make(b, {k, n});
        expect_same(values_of<T>(matmul(left, right)), want);
        // The same operands from other layouts: column-major, and every second element of something larger.
        const Array left_t = transposed(transposed(left).copy()), right_t = transposed(transposed(right).copy());
        expect_same(values_of<T>(matmul(left_t, right)), want);
        expect_same(values_of<T>(matmul(left, right_t)), want);
        expect_same(values_of<T>(matmul(left_t, right_t)), want);
        const Array wide = repeat(left, 2, 1);
        const Slice all, second{{}, {}, 2};
        const IndexPart index[] = {all, second};
        expect_same(values_of<T>(matmul(wide[index], right)), want);
        expect_same(values_of<T>(matmul(flip(flip(left)), right)), want);
    }
}

TYPED_TEST(Matmul, VectorsAndStacks) {
    using T = TypeParam;
    NEEDS_LIBRARY(T);
    const std::vector<T> a = random_values<T>(6 * 20, false, 8), b = random_values<T>(20 * 5, false, 8), v = random_values<T>(20, false, 8);
    const Array left = make(a, {6, 20}), right = make(b, {20, 5}), vector = make(v, {20});
    expect_same(values_of<T>(matmul(left, vector)), product(a, v, 6, 20, 1));
    EXPECT_EQ(shape_of(matmul(left, vector)), Longs{6});
    expect_same(values_of<T>(matmul(vector, right)), product(v, b, 1, 20, 5));
    EXPECT_EQ(shape_of(matmul(vector, right)), Longs{5});
    expect_same(values_of<T>(matmul(vector, vector)), product(v, v, 1, 20, 1));
    EXPECT_EQ(matmul(vector, vector).ndim(), 0);

    const std::vector<T> stack = random_values<T>(3 * 1 * 6 * 20, false, 8), others = random_values<T>(4 * 20 * 5, false, 8);
    const Array got = matmul(make(stack, {3, 1, 6, 20}), make(others, {4, 20, 5}));
    EXPECT_EQ(shape_of(got), (Longs{3, 4, 6, 5}));
    std::vector<T> want;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
            const auto one = product(std::vector<T>(stack.begin() + i * 120, stack.begin() + (i + 1) * 120),
                                     std::vector<T>(others.begin() + j * 100, others.begin() + (j + 1) * 100), 6, 20, 5);
            want.insert(want.end(), one.begin(), one.end());
        }
    }
    expect_same(values_of<T>(got), want);
}

TYPED_TEST(Matmul, Vecdot) {
    using T = TypeParam;
    const std::vector<T> a = random_values<T>(3 * 20, false, 8), b = random_values<T>(3 * 20, false, 8);
    std::vector<T> conjugated = a;
    for (T& v : conjugated) {
        if constexpr (is_complex_type<T>) v = std::conj(v);
    }
    const std::vector<T> got = values_of<T>(vecdot(make(a, {3, 20}), make(b, {3, 20})));
    for (int i = 0; i < 3; ++i) {
        const auto one = product(std::vector<T>(conjugated.begin() + i * 20, conjugated.begin() + (i + 1) * 20),
                                 std::vector<T>(b.begin() + i * 20, b.begin() + (i + 1) * 20), 1, 20, 1);
        EXPECT_TRUE(plain(got[static_cast<std::size_t>(i)]) == plain(one[0]));
    }
}

TEST(Matmul, LargeEqualsPlainLoops) {
    NEEDS_LIBRARY(double);
    const std::vector<double> a = random_values<double>(700 * 300, false, 8), b = random_values<double>(300 * 900, false, 8);
    expect_same(values_of<double>(matmul(make(a, {700, 300}), make(b, {300, 900}))), product(a, b, 700, 300, 900));
}

TEST(Matmul, Bools) {
    const Array a = make_mask({1, 0, 0, 0}, {2, 2}), b = make_mask({0, 1, 1, 1}, {2, 2});
    EXPECT_EQ(matmul(a, b).dtype(), DType::Bool);
    EXPECT_EQ(longs_of(matmul(a, b).astype(DType::Int64)), (Longs{0, 1, 0, 0}));
}

TEST(Matmul, ForeignBoolsAreTrueWhateverTheirByte) {
    std::uint8_t a[] = {2, 0, 0, 2}, b[] = {0, 1, 4, 0};
    const auto shared = [](std::uint8_t* bytes) { return share_host(bytes, DType::Bool, Longs{2, 2}, Longs{2, 1}, true, [] {}); };
    const Array product = matmul(shared(a), shared(b));
    std::uint8_t bytes[4];
    std::memcpy(bytes, product.data(), sizeof bytes);
    EXPECT_EQ(std::vector<int>(bytes, bytes + 4), (std::vector<int>{0, 1, 1, 0}));
}

TEST(Matmul, NarrowProductsWrap) {
    const std::vector<std::uint16_t> a(6, 65535);
    EXPECT_EQ(values_of<std::uint16_t>(matmul(make(a, {2, 3}), make(a, {3, 2}))), (std::vector<std::uint16_t>(4, 3)));
    const std::vector<std::int16_t> b(6, -32768), c(6, 32767);
    EXPECT_EQ(values_of<std::int16_t>(matmul(make(b, {2, 3}), make(c, {3, 2}))), (std::vector<std::int16_t>(4, -32768)));
}

TEST(Matmul, Tensordot) {
    NEEDS_LIBRARY(double);
    const std::vector<double> a = random_values<double>(2 * 3 * 4, false, 8), b = random_values<double>(4 * 3 * 5, false, 8);
    const std::int64_t axes_a[] = {1, -1}, axes_b[] = {1, 0};
    const Array got = tensordot(make(a, {2, 3, 4}), make(b, {4, 3, 5}), axes_a, axes_b);
    EXPECT_EQ(shape_of(got), (Longs{2, 5}));
    std::vector<double> want;
    for (int i = 0; i < 2; ++i) {
        for (int l = 0; l < 5; ++l) {
            double sum = 0;
            for (int j = 0; j < 3; ++j) {
                for (int k = 0; k < 4; ++k)
                    sum += a[static_cast<std::size_t>((i * 3 + j) * 4 + k)] * b[static_cast<std::size_t>((k * 3 + j) * 5 + l)];
            }
            want.push_back(sum);
        }
    }
    expect_same(values_of<double>(got), want);
    EXPECT_EQ(shape_of(tensordot(make(a, {2, 3, 4}), make(b, {4, 3, 5}), {}, {})), (Longs{2, 3, 4, 4, 3, 5}));
    EXPECT_ERROR(tensordot(make(a, {2, 3, 4}), make(b, {4, 3, 5}), std::span(axes_a, 1), std::span(axes_b + 1, 1)), Value,
                 "shape-mismatch for sum");
}

TEST(Matmul, Errors) {
    const Array a = make<double>({1, 2, 3, 4, 5, 6}, {2, 3});
    EXPECT_ERROR(matmul(a, a), Value,
                 "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) (size 2 is "
                 "different from 3)");
    EXPECT_ERROR(matmul(sum(a), a), Value, "Input operand 0 does not have enough dimensions");
    EXPECT_ERROR(matmul(make<double>(std::vector<double>(12), {2, 2, 3}), make<double>(std::vector<double>(18), {3, 3, 2})), Value,
                 "broadcast");
}

}  // namespace pardo::test

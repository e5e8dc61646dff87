// tests/unit/plan/values_test.cpp: what planned kernels compute, on the CPU, against plain loops.
#include <algorithm>
#include <cmath>
#include <limits>

#include "support.h"

namespace pardo::test {
namespace {

double some(std::int64_t i) { return std::sin(static_cast<double>(i) * 1.7) * 3; }

class Values : public ::testing::Test {
protected:
    N array(Shape shape, double shift = 0) {
        return m.array<double>(shape, [&](std::int64_t i) { return some(i) + shift; });
    }
    static void near(const std::vector<double>& a, const std::vector<double>& b, double tolerance = 1e-12) {
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (a[i] == b[i]) continue;  // infinities too
            ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << "at " << i;
        }
    }
    /// Reduces over `axes` with a plain loop.
    static std::vector<double> reduced(const std::vector<double>& x, const Shape& shape, std::uint32_t axes, double start,
                                       const std::function<double(double, double)>& f) {
        Shape kept = shape;
        for (int d = 0; d < shape.size(); ++d) {
            if (axes >> d & 1) kept[d] = 1;
        }
        std::vector<double> out(static_cast<std::size_t>(element_count(kept)), start);
        const Strides to = contiguous_strides(kept);
        for (std::size_t i = 0; i < x.size(); ++i) {
            std::int64_t rest = static_cast<std::int64_t>(i), at = 0;
            for (int d = shape.size() - 1; d >= 0; --d) {
                if (!(axes >> d & 1)) at += rest % shape[d] * to[d];
                rest /= shape[d];
            }
            out[at] = f(out[at], x[i]);
        }
        return out;
    }
    Maker m{"cpu"};
};

TEST_F(Values, Elementwise) {
    for (const std::int64_t n : {0, 1, 7, 16, 1000, 100003}) {
        N a = array({n}), b = array({n}, 5);
        const auto got = m.values<double>(m.add(m.mul(a, b), m.constant(2.0)));
        for (std::int64_t i = 0; i < n; ++i) ASSERT_NEAR(got[i], some(i) * (some(i) + 5) + 2, 1e-12);
    }
}

TEST_F(Values, BroadcastAndTransposed) {
    N a = array({37, 1}), b = array({53});
    const auto got = m.values<double>(m.add(a, b));
    for (int i = 0; i < 37; ++i)
        for (int j = 0; j < 53; ++j) ASSERT_DOUBLE_EQ(got[i * 53 + j], some(i) + some(j));
    N c = array({40, 50}), d = array({50, 40});
    const auto mixed = m.values<double>(m.add(c, m.transpose(d)));
    for (int i = 0; i < 40; ++i)
        for (int j = 0; j < 50; ++j) ASSERT_DOUBLE_EQ(mixed[i * 50 + j], some(i * 50 + j) + some(j * 40 + i));
    N t = m.mul(m.transpose(d), m.constant(2.0));
    const auto k_order = m.values<double>(t);
    EXPECT_EQ(t->strides, (Strides{1, 40}));
    for (int i = 0; i < 40; ++i)
        for (int j = 0; j < 50; ++j) ASSERT_DOUBLE_EQ(k_order[i * 50 + j], 2 * some(j * 40 + i));
}

TEST_F(Values, ShortLastAxis) {
    N a = array({1000, 3}), c = array({3});
    const auto got = m.values<double>(m.mul(a, c));
    for (int i = 0; i < 1000; ++i)
        for (int j = 0; j < 3; ++j) ASSERT_DOUBLE_EQ(got[i * 3 + j], some(i * 3 + j) * some(j));
}

TEST_F(Values, ReversedAndStepped) {
    N a = array({1000});
    N back = m.slice(a, 0, 999, 500, -2);
    const auto got = m.values<double>(m.mul(back, m.constant(2.0)));
    for (int i = 0; i < 500; ++i) ASSERT_DOUBLE_EQ(got[i], 2 * some(999 - 2 * i));
}

TEST_F(Values, PendingViewsOfPendingValues) {
    N a = array({100, 80});
    N t = m.add(a, m.constant(1.0));
    N y = m.sub(m.slice(t, 0, 1, 99), m.slice(t, 0, 0, 99));
    N z = m.transpose(m.slice(y, 1, 79, 40, -2));
    t = y = nullptr;
    const auto got = m.values<double>(z);
    ASSERT_EQ(got.size(), 40u * 99);
    for (int j = 0; j < 40; ++j) {
        for (int i = 0; i < 99; ++i) {
            const int column = 79 - 2 * j;
            ASSERT_NEAR(got[j * 99 + i], some((i + 1) * 80 + column) - some(i * 80 + column), 1e-12);
        }
    }
}

TEST_F(Values, IndexAlongAnAxis) {
    const auto got = m.values<std::int64_t>(m.add(m.iota({30, 40}, 0), m.iota({30, 40}, 1)));
    for (int i = 0; i < 30; ++i)
        for (int j = 0; j < 40; ++j) ASSERT_EQ(got[i * 40 + j], i + j);
    N tail = m.slice(m.mul(m.iota({100}, 0), m.constant(Scalar(std::int64_t{3}))), 0, 10, 20, 4);
    const auto stepped = m.values<std::int64_t>(tail);
    for (int i = 0; i < 20; ++i) ASSERT_EQ(stepped[i], 3 * (10 + 4 * i));
}

TEST_F(Values, SumsOverAllAxesAndShapes) {
    const std::vector<Shape> shapes{{1},        {5},         {1000},         {100000},       {17, 3},         {3, 17},
                                    {2000, 3},  {100, 200},  {7, 5, 11},     {40, 30, 50},   {70000, 3},      {3, 40000},
                                    {600, 700}, {5000, 300}, {30, 50, 1000}, {2, 130, 4500}, {2, 3, 4, 5, 6}, {0, 5},
                                    {5, 0}};
    for (const Shape& shape : shapes) {
        N x = array(shape);
        std::vector<double> raw(static_cast<std::size_t>(x->size()));
        for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = some(static_cast<std::int64_t>(i));
        for (std::uint32_t axes = 1; axes < 1u << shape.size(); ++axes) {
            SCOPED_TRACE(to_string(shape) + " axes " + std::to_string(axes));
            near(m.values<double>(m.sum(x, axes)), reduced(raw, shape, axes, 0, [](double a, double b) { return a + b; }), 1e-9);
            const double inf = std::numeric_limits<double>::infinity();
            near(m.values<double>(m.reduce(ReduceOp::Max, m.mul(x, m.constant(2.0)), axes)),
                 reduced(raw, shape, axes, -inf, [](double a, double b) { return std::max(a, 2 * b); }));
        }
    }
}

TEST_F(Values, ArgMaxFindsTheFirst) {
    const std::vector<Shape> shapes{{1}, {1000}, {100000}, {300, 200}, {200, 300}, {50000, 3}, {3, 50000}, {20, 30, 40}};
    for (const Shape& shape : shapes) {
        N x = m.array<double>(shape, [](std::int64_t i) { return std::floor(some(i * 7) * 20); });
        for (std::uint32_t axes = 1; axes < 1u << shape.size(); ++axes) {
            SCOPED_TRACE(to_string(shape) + " axes " + std::to_string(axes));
            N r = m.reduce(ReduceOp::ArgMax, x, axes);
            const auto got = m.values<std::int64_t>(r);
            const Strides to = contiguous_strides(r->shape);
            std::vector<double> best(got.size(), -1e9);
            std::vector<std::int64_t> where(got.size(), 0);
            for (std::int64_t i = 0; i < x->size(); ++i) {
                std::int64_t rest = i, at = 0, position = 0, step = 1;
                for (int d = shape.size() - 1; d >= 0; --d) {
                    const std::int64_t index = rest % shape[d];
                    rest /= shape[d];
                    if (axes >> d & 1) {
                        position += index * step;
                        step *= shape[d];
                    } else {
                        at += index * to[d];
                    }
                }
                const double v = std::floor(some(i * 7) * 20);
                if (v > best[at]) {
                    best[at] = v;
                    where[at] = position;
                }
            }
            ASSERT_EQ(got, where);
        }
    }
}

TEST_F(Values, ArgMinPrefersTheFirstNaN) {
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    for (const std::int64_t n : {10, 1000, 100000}) {
        N x = m.array<double>({n}, [&](std::int64_t i) { return i == n / 2 || i == n - 2 ? nan : some(i); });
        EXPECT_EQ(m.values<std::int64_t>(m.reduce(ReduceOp::ArgMin, x, 1))[0], n / 2);
        EXPECT_EQ(m.values<std::int64_t>(m.reduce(ReduceOp::ArgMax, x, 1))[0], n / 2);
        N flat = m.array<double>({n}, [&](std::int64_t) { return -inf; });
        EXPECT_EQ(m.values<std::int64_t>(m.reduce(ReduceOp::ArgMax, flat, 1))[0], 0);
        N all = m.array<double>({n}, [&](std::int64_t) { return nan; });
        EXPECT_EQ(m.values<std::int64_t>(m.reduce(ReduceOp::ArgMin, all, 1))[0], 0);
    }
}

TEST_F(Values, AnyAndAll) {
    for (const std::int64_t n : {10, 100000}) {
        N x = m.array<double>({n}, [&](std::int64_t i) { return i == n - 1 ? 1.0 : 0.0; });
        EXPECT_TRUE(m.values<bool>(m.reduce(ReduceOp::Any, x, 1))[0]);
        EXPECT_FALSE(m.values<bool>(m.reduce(ReduceOp::All, x, 1))[0]);
    }
}

TEST_F(Values, Softmax) {
    for (const Shape& shape : {Shape{5, 7}, Shape{64, 1024}, Shape{3, 10000}, Shape{1000, 4}}) {
        for (const std::uint32_t axes : {2u, 1u}) {
            N x = array(shape);
            N e = m.exp(m.sub(x, m.reduce(ReduceOp::Max, x, axes)));
            N y = m.div(e, m.sum(e, axes));
            e = nullptr;
            const auto got = m.values<double>(y);
            std::vector<double> ex(got.size());
            for (std::size_t i = 0; i < ex.size(); ++i) ex[i] = std::exp(some(static_cast<std::int64_t>(i)));
            const auto total = reduced(ex, shape, axes, 0, [](double a, double b) { return a + b; });
            for (std::size_t i = 0; i < ex.size(); ++i) {
                const std::size_t at = axes == 2 ? i / shape[1] : i % shape[1];
                ASSERT_NEAR(got[i], ex[i] / total[at], 1e-13) << to_string(shape) << " axes " << axes << " at " << i;
            }
        }
    }
}

TEST_F(Values, NormalisedRowsWithHeldMean) {
    N x = array({300, 100});
    N mean = m.div(m.sum(x, 2), m.constant(100.0));
    N c = m.sub(x, mean);
    N var = m.div(m.sum(m.mul(c, c), 2), m.constant(100.0));
    const auto got = m.values<double>(m.div(c, m.sqrt(var)));
    EXPECT_EQ(mean->kind, Kind::Leaf);
    EXPECT_EQ(c->kind, Kind::Leaf);
    for (int i = 0; i < 300; ++i) {
        double s = 0, q = 0;
        for (int j = 0; j < 100; ++j) s += some(i * 100 + j);
        s /= 100;
        for (int j = 0; j < 100; ++j) q += (some(i * 100 + j) - s) * (some(i * 100 + j) - s);
        for (int j = 0; j < 100; ++j) ASSERT_NEAR(got[i * 100 + j], (some(i * 100 + j) - s) / std::sqrt(q / 100), 1e-11);
    }
}

TEST_F(Values, PairwiseDistance) {
    for (const std::int64_t k : {3, 64}) {
        N x = array({50, k}), y = array({60, k}, 1);
        N d = m.sub(m.expand(x, 1), m.expand(y, 0));
        const auto got = m.values<double>(m.sqrt(m.squeeze(m.sum(m.mul(d, d), 4), 4)));
        for (int i = 0; i < 50; ++i) {
            for (int j = 0; j < 60; ++j) {
                double s = 0;
                for (int c = 0; c < k; ++c) s += std::pow(some(i * k + c) - some(j * k + c) - 1, 2);
                ASSERT_NEAR(got[i * 60 + j], std::sqrt(s), 1e-11);
            }
        }
    }
}

TEST_F(Values, FullSumWithElementwiseConsumers) {
    N x = array({200000});
    N s = m.sum(x, 1);
    N y = m.div(m.sub(x, m.div(s, m.constant(200000.0))), m.constant(2.0));
    const auto got = m.values<double>(y);
    double total = 0;
    for (int i = 0; i < 200000; ++i) total += some(i);
    for (int i = 0; i < 200000; ++i) ASSERT_NEAR(got[i], (some(i) - total / 200000) / 2, 1e-10);
}

TEST_F(Values, FloatSumsStayExact) {
    N x = m.array<float>({10000000}, [](std::int64_t) { return 0.1f; });
    EXPECT_NEAR(m.values<float>(m.sum(x, 1))[0], 1e6, 1);
    N columns = m.array<float>({100000, 16}, [](std::int64_t) { return 0.1f; });
    for (const float v : m.values<float>(m.sum(columns, 1))) EXPECT_NEAR(v, 1e4, 0.01);
}

// A value of the first loop waits in the memory of an output of the second, which is written there and needed by another output.
TEST_F(Values, AValueThatWaitsInAnOutputIsReadBeforeThatIsWritten) {
    for (int order = 0; order < 6; ++order) {
        N x = array({6, 10}), y = array({6, 10}, 1);
        N p = m.sqrt(m.mul(x, x)), q = m.add(p, p), r = m.add(m.reduce(ReduceOp::Max, y, 2), y), s = m.sub(q, r);
        N roots[] = {q, r, s};
        std::rotate(roots, roots + order % 3, roots + 3);
        if (order >= 3) std::swap(roots[0], roots[1]);
        m.force({roots[0], roots[1], roots[2]});
        for (std::int64_t i = 0; i < 60; ++i) {
            double largest = -1e9;
            for (std::int64_t j = i / 10 * 10; j < i / 10 * 10 + 10; ++j) largest = std::max(largest, some(j) + 1);
            const double wanted = 2 * std::abs(some(i)), other = largest + some(i) + 1;
            ASSERT_NEAR(m.at<double>(q, i), wanted, 1e-12) << order;
            ASSERT_NEAR(m.at<double>(r, i), other, 1e-12) << order;
            ASSERT_NEAR(m.at<double>(s, i), wanted - other, 1e-12) << order;
        }
    }
}

TEST_F(Values, FusionOffGivesTheSame) {
    for (const bool on : {true, false}) {
        plan::set_fusion_enabled(on);
        N x = array({30, 40});
        N y = m.slice(m.transpose(m.sub(x, m.div(m.sum(x, 2), m.constant(40.0)))), 0, 39, 40, -1);
        const auto got = m.values<double>(y);
        plan::set_fusion_enabled(true);
        for (int j = 0; j < 40; ++j) {
            for (int i = 0; i < 30; ++i) {
                double s = 0;
                for (int c = 0; c < 40; ++c) s += some(i * 40 + c);
                ASSERT_NEAR(got[j * 30 + i], some(i * 40 + 39 - j) - s / 40, 1e-12);
            }
        }
    }
}

TEST_F(Values, StoreIntoViewsWithOverlapAndMask) {
    N x = array({1000});
    // x[1:] = x[:-1] * 2
    N to = m.slice(x, 0, 1, 999);
    plan::store(to.get(), m.mul(m.slice(x, 0, 0, 999), m.constant(2.0)).get(), nullptr);
    EXPECT_EQ(Maker::at<double>(x, 0), some(0));
    for (int i = 1; i < 1000; ++i) ASSERT_DOUBLE_EQ(Maker::at<double>(x, i), 2 * some(i - 1));
    // x[:] = where(x > 0) x + 1
    N y = array({1000});
    N positive = graph::make_elementwise(Op::greater, DType::Bool, {1000}, std::vector<Node*>{y.get(), m.constant(0.0).get()});
    plan::store(y.get(), m.add(y, m.constant(1.0)).get(), positive.get());
    for (int i = 0; i < 1000; ++i) ASSERT_DOUBLE_EQ(Maker::at<double>(y, i), some(i) > 0 ? some(i) + 1 : some(i));
    // A square transposed onto itself.
    N s = array({30, 30});
    plan::store(s.get(), m.transpose(s).get(), nullptr);
    for (int i = 0; i < 30; ++i)
        for (int j = 0; j < 30; ++j) ASSERT_DOUBLE_EQ(Maker::at<double>(s, i * 30 + j), some(j * 30 + i));
    // The same through a pending value: its leaf is the target itself, but read transposed.
    N p = array({30, 30});
    plan::store(p.get(), m.transpose(m.add(p, m.constant(1.0))).get(), nullptr);
    for (int i = 0; i < 30; ++i)
        for (int j = 0; j < 30; ++j) ASSERT_DOUBLE_EQ(Maker::at<double>(p, i * 30 + j), some(j * 30 + i) + 1);
    // Casts and broadcasts.
    N f = m.leaf({20, 10}, DType::Int32);
    plan::store(f.get(), m.array<double>({10}, [](std::int64_t i) { return i + 0.75; }).get(), nullptr);
    for (int i = 0; i < 200; ++i) ASSERT_EQ(Maker::at<std::int32_t>(f, i), i % 10);
}

TEST_F(Values, LateReadersSeeOldValues) {
    N x = array({1000});
    N y = m.add(x, m.constant(1.0)), z = m.sum(m.mul(y, y), 1), v = m.slice(m.mul(x, x), 0, 5, 10);
    plan::store(x.get(), m.mul(x, m.constant(0.0)).get(), nullptr);
    const auto got = m.values<double>(y);
    for (int i = 0; i < 1000; ++i) ASSERT_DOUBLE_EQ(got[i], some(i) + 1);
    EXPECT_NEAR(m.values<double>(v)[0], some(5) * some(5), 1e-12);
    EXPECT_GT(m.values<double>(z)[0], 0);
    EXPECT_EQ(Maker::at<double>(x, 3), 0);
}

TEST_F(Values, WorkOnForeignMemoryIsOverWhenItHasBeenForced) {
    constexpr std::int64_t size = 4'000'000;  // too much to run before the launch returns
    std::vector<double> theirs(size, 0.0);
    const Ref<device::Buffer> buffer = m.queue->device()->import(theirs.data(), size * sizeof(double), MemoryKind::Host, [] {});
    buffer->set_externally_writable();
    N x = graph::make_leaf(m.queue, DType::Float64, {size}, {1}, 0, buffer);
    N y = m.run([&] { return m.add(x, m.constant(1.0)); });
    std::fill(theirs.begin(), theirs.end(), 5.0);
    y->buffer->wait_for_read();
    const auto* got = static_cast<const double*>(y->buffer->data());
    EXPECT_EQ(std::count(got, got + size, 1.0), size);
    plan::store(x.get(), m.constant(7.0).get(), nullptr);
    EXPECT_EQ(std::count(theirs.begin(), theirs.end(), 7.0), size);
}

}  // namespace
}  // namespace pardo::test

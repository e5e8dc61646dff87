// tests/unit/backend_opencl/groups_test.cpp: kernels in groups: shared arrays, barriers under every control flow, dimensions, limits.
#include <algorithm>
#include <random>

#include "groups_support.h"

namespace pardo::opencl {
namespace {

std::vector<float> random_floats(std::size_t count) {
    std::mt19937 random(7);
    std::vector<float> v(count);
    for (float& x : v) x = static_cast<float>(random() % 64) - 32.f;  // sums are exact
    return v;
}

constexpr std::int64_t sizes[] = {1, 7, 64, 256};

/// out[g] = sum of the group's elements, by halves: barriers in a while loop.
ir::Kernel tree_sum(std::int64_t size) {
    ir::Builder m = in_groups("tree_sum", {size});
    const Value in = m.pointer("x", f32, Access::Read, true), out = m.pointer("out", f32, Access::Write, true),
                tile = m.array("tile", f32, size, Space::Group), l = m.local_dim(0);
    m.store(tile, l, m.load(in, m.dim(0)));
    m.barrier();
    const Value start[] = {m.i64(size)};
    m.while_loop(
        start, [&](std::span<const Value> c) { return m.gt(c[0], m.i64(1)); },
        [&](std::span<const Value> c) {
            const Value half = m.floor_div(m.add(c[0], m.i64(1)), m.i64(2));
            when(m, m.lt(l, m.sub(c[0], half)), [&] { m.store(tile, l, m.add(m.load(tile, l), m.load(tile, m.add(l, half)))); });
            m.barrier();
            return Values{half};
        });
    when(m, m.eq(l, m.i64(0)), [&] { m.store(out, m.group_dim(0), m.load(tile, m.i64(0))); });
    return m.finish();
}

TEST_F(Groups, SumByHalves) {
    on_each([](device::Device* d) {
        for (const std::int64_t size : sizes) {
            const std::int64_t groups = 37;
            std::vector<float> x = random_floats(static_cast<std::size_t>(size * groups)), out(groups, -1.f), expected(groups, 0.f);
            for (std::size_t i = 0; i < x.size(); ++i) expected[i / static_cast<std::size_t>(size)] += x[i];
            Arguments(d).array(x).array(out).run(tree_sum(size), {size * groups});
            EXPECT_EQ(out, expected) << size;
        }
    });
}

/// Running sums within a group: every step reads all, waits, writes all, waits; the loop's count is an argument.
TEST_F(Groups, RunningSums) {
    on_each([](device::Device* d) {
        for (const std::int64_t size : sizes) {
            ir::Builder m = in_groups("scan", {size});
            const Value x = m.pointer("x", f32, Access::ReadWrite, false), steps = m.scalar_param("steps", i64),
                        tile = m.array("tile", f32, size, Space::Group), l = m.local_dim(0);
            m.store(tile, l, m.load(x, m.dim(0)));
            m.barrier();
            const Value one[] = {m.i64(1)};
            m.for_loop(m.i64(0), steps, m.i64(1), one, [&](Value, std::span<const Value> c) {
                const Value before = m.if_else(
                    m.ge(l, c[0]), [&] { return Values{m.load(tile, m.sub(l, c[0]))}; }, [&] { return Values{m.constant(f32, 0.0)}; })[0];
                m.barrier();
                m.store(tile, l, m.add(m.load(tile, l), before));
                m.barrier();
                return Values{m.add(c[0], c[0])};
            });
            m.store(x, m.dim(0), m.load(tile, l));
            const ir::Kernel kernel = m.finish();
            std::vector<float> v = random_floats(static_cast<std::size_t>(size * 11)), expected = v;
            for (std::size_t i = 0; i < v.size(); ++i) {
                if (i % static_cast<std::size_t>(size)) expected[i] += expected[i - 1];
            }
            std::int64_t count = 0;
            while ((std::int64_t(1) << count) < size) ++count;
            Arguments(d).array(v).scalar(count).run(kernel, {size * 11});
            EXPECT_EQ(v, expected) << size;
        }
    });
}

TEST_F(Groups, TransposeByTiles) {
    on_each([](device::Device* d) {
        for (const std::int64_t t : {1, 7, 8, 16}) {
            ir::Builder m = in_groups("transpose", {t, t});
            const Value in = m.pointer("in", f32, Access::Read, true), out = m.pointer("out", f32, Access::Write, true),
                        tile = m.array("tile", f32, t * (t + 1), Space::Group);
            const Value y = m.local_dim(0), x = m.local_dim(1);
            m.store(tile, m.add(m.mul(y, m.i64(t + 1)), x), m.load(in, m.add(m.mul(m.dim(0), m.extent(1)), m.dim(1))));
            m.barrier();
            const Value row = m.add(m.mul(m.group_dim(1), m.i64(t)), y), column = m.add(m.mul(m.group_dim(0), m.i64(t)), x);
            m.store(out, m.add(m.mul(row, m.extent(0)), column), m.load(tile, m.add(m.mul(x, m.i64(t + 1)), y)));
            const ir::Kernel kernel = m.finish();
            const std::int64_t rows = 5 * t, columns = 3 * t;
            std::vector<float> a(static_cast<std::size_t>(rows * columns)), b(a.size(), -1.f), expected(a.size());
            std::iota(a.begin(), a.end(), 0.f);
            for (std::int64_t i = 0; i < rows; ++i) {
                for (std::int64_t j = 0; j < columns; ++j)
                    expected[static_cast<std::size_t>(j * rows + i)] = a[static_cast<std::size_t>(i * columns + j)];
            }
            Arguments(d).array(a).array(b).run(kernel, {rows, columns});
            EXPECT_EQ(b, expected) << t;
        }
    });
}

TEST_F(Groups, ProductByTiles) {
    on_each([](device::Device* d) {
        for (const std::int64_t t : {1, 7, 16}) {
            ir::Builder m = in_groups("matmul", {t, t});
            const Value a = m.pointer("a", f32, Access::Read, true), b = m.pointer("b", f32, Access::Read, true),
                        c = m.pointer("c", f32, Access::Write, true), n = m.scalar_param("n", i64),
                        ta = m.array("ta", f32, t * t, Space::Group), tb = m.array("tb", f32, t * t, Space::Group);
            const Value y = m.local_dim(0), x = m.local_dim(1), mine = m.add(m.mul(y, m.i64(t)), x), i = m.dim(0), j = m.dim(1);
            const Value zero[] = {m.constant(f32, 0.0)};
            const Values sum = m.for_loop(m.i64(0), n, m.i64(t), zero, [&](Value k, std::span<const Value> outer) {
                m.store(ta, mine, m.load(a, m.add(m.mul(i, n), m.add(k, x))));
                m.store(tb, mine, m.load(b, m.add(m.mul(m.add(k, y), m.extent(1)), j)));
                m.barrier();
                const Values s = m.for_loop(m.i64(0), m.i64(t), m.i64(1), outer, [&](Value q, std::span<const Value> inner) {
                    return Values{
                        m.add(inner[0], m.mul(m.load(ta, m.add(m.mul(y, m.i64(t)), q)), m.load(tb, m.add(m.mul(q, m.i64(t)), x))))};
                });
                m.barrier();
                return s;
            });
            m.store(c, m.add(m.mul(i, m.extent(1)), j), sum[0]);
            const ir::Kernel kernel = m.finish();
            const std::int64_t rows = 3 * t, inner = 4 * t, columns = 2 * t;
            std::vector<float> va = random_floats(static_cast<std::size_t>(rows * inner)),
                               vb = random_floats(static_cast<std::size_t>(inner * columns)),
                               vc(static_cast<std::size_t>(rows * columns), -1.f), expected(vc.size(), 0.f);
            for (std::int64_t r = 0; r < rows; ++r) {
                for (std::int64_t s = 0; s < columns; ++s) {
                    for (std::int64_t k = 0; k < inner; ++k)
                        expected[static_cast<std::size_t>(r * columns + s)] +=
                            va[static_cast<std::size_t>(r * inner + k)] * vb[static_cast<std::size_t>(k * columns + s)];
                }
            }
            Arguments(d).array(va).array(vb).array(vc).scalar(inner).run(kernel, {rows, columns});
            EXPECT_EQ(vc, expected) << t;
        }
    });
}

TEST_F(Groups, HistogramBySharedAtomics) {
    constexpr std::int64_t bins = 32;
    on_each([](device::Device* d) {
        for (const std::int64_t size : sizes) {
            ir::Builder m = in_groups("histogram", {size});
            const Value x = m.pointer("x", i32, Access::Read, true), out = m.pointer("bins", i32, Access::ReadWrite, true),
                        own = m.array("own", i32, bins, Space::Group), l = m.local_dim(0), one = m.constant(i32, 1.0);
            const auto each_bin = [&](const auto& f) {
                m.for_loop(l, m.i64(bins), m.i64(size), {}, [&](Value k, auto) {
                    f(k);
                    return Values();
                });
            };
            each_bin([&](Value k) { m.store(own, k, m.constant(i32, 0.0)); });
            m.barrier();
            m.atomic(AtomicOp::Add, own, m.cast(m.load(x, m.dim(0)), i64), one, ir::MemoryOrder::Relaxed, ir::MemoryScope::Group);
            m.barrier();
            each_bin([&](Value k) { m.atomic(AtomicOp::Add, out, k, m.load(own, k)); });
            const ir::Kernel kernel = m.finish();
            std::mt19937 random(3);
            std::vector<int> v(static_cast<std::size_t>(size * 100)), got(bins, 5), expected(bins, 5);
            for (int& e : v) ++expected[static_cast<std::size_t>(e = static_cast<int>(random() % bins))];
            Arguments(d).array(v).array(got).run(kernel, {size * 100});
            EXPECT_EQ(got, expected) << size;
        }
    });
}

/// Barriers under conditions and in loops that are the same for all items of a group, but not for all groups.
TEST_F(Groups, BarriersUnderUniformConditions) {
    on_each([](device::Device* d) {
        for (const std::int64_t size : sizes) {
            ir::Builder m = in_groups("rotate", {size});
            const Value x = m.pointer("x", i32, Access::ReadWrite, true), turns = m.pointer("turns", i64, Access::Read, true),
                        tile = m.array("tile", i32, size, Space::Group), l = m.local_dim(0), g = m.group_dim(0);
            m.store(tile, l, m.load(x, m.dim(0)));
            m.barrier();
            const auto shift = [&](std::int64_t by) {
                const Value v = m.load(tile, m.rem(m.add(l, m.i64(by)), m.i64(size)));
                m.barrier();
                m.store(tile, l, v);
                m.barrier();
            };
            repeat(m, m.i64(0), m.load(turns, g), [&](Value k) {
                m.if_else(
                    m.eq(m.rem(m.add(g, k), m.i64(2)), m.i64(0)),
                    [&] {
                        shift(1);
                        return Values();
                    },
                    [&] {
                        repeat(m, m.i64(0), m.rem(g, m.i64(3)), [&](Value) { shift(2); });
                        return Values();
                    });
            });
            m.store(x, m.dim(0), m.load(tile, l));
            const ir::Kernel kernel = m.finish();
            if (!takes_conditional_barriers(d)) {
                std::vector<int> v(static_cast<std::size_t>(size));
                std::vector<std::int64_t> counts(1);
                const std::string message = message_of([&] { Arguments(d).array(v).array(counts).run(kernel, {size}); });
                EXPECT_NE(message.find("rotate: a barrier is in an if"), std::string::npos) << message;
                continue;
            }
            const std::int64_t groups = 13;
            std::vector<int> v(static_cast<std::size_t>(size * groups));
            std::iota(v.begin(), v.end(), 0);
            std::vector<int> expected = v;
            std::vector<std::int64_t> counts;
            for (std::int64_t g_ = 0; g_ < groups; ++g_) {
                counts.push_back(g_ % 5);
                std::int64_t by = 0;
                for (std::int64_t k = 0; k < g_ % 5; ++k) by += (g_ + k) % 2 == 0 ? 1 : 2 * (g_ % 3);
                const auto begin = expected.begin() + g_ * size;
                std::rotate(begin, begin + by % size, begin + size);
            }
            Arguments(d).array(v).array(counts).run(kernel, {size * groups});
            EXPECT_EQ(v, expected) << size;
        }
    });
}

/// What is read before a barrier or an atomic operation is what was there before it, wherever it is used.
TEST_F(Groups, LoadsStayBeforeBarriersAndAtomics) {
    on_each([](device::Device* d) {
        constexpr std::int64_t size = 64;
        ir::Builder m = in_groups("reverse", {size});
        const Value x = m.pointer("x", i32, Access::ReadWrite, true), seen = m.pointer("seen", i32, Access::Write, true),
                    tile = m.array("tile", i32, size, Space::Group), l = m.local_dim(0);
        m.store(tile, l, m.load(x, m.dim(0)));
        m.barrier();
        const Value other = m.load(tile, m.sub(m.i64(size - 1), l));  // used once, behind a barrier
        m.barrier();
        m.store(tile, l, other);
        const Value before = m.load(x, m.dim(0));  // used once, behind an atomic operation
        m.atomic(AtomicOp::Add, x, m.dim(0), m.load(tile, l));
        m.store(seen, m.dim(0), before);
        const ir::Kernel kernel = m.finish();
        std::vector<int> v(size * 3), s(v.size(), -1), was, sum;
        std::iota(v.begin(), v.end(), 0);
        was = v;
        for (int i = 0; i < static_cast<int>(v.size()); ++i) sum.push_back(i + i / 64 * 64 + 63 - i % 64);
        Arguments(d).array(v).array(s).run(kernel, {static_cast<std::int64_t>(v.size())});
        EXPECT_EQ(s, was);
        EXPECT_EQ(v, sum);
    });
}

TEST_F(Groups, ItemsKnowWhereTheyAre) {
    const std::vector<std::vector<std::int64_t>> shapes = {
        {1}, {7}, {256}, {1, 64}, {64, 1}, {7, 3}, {1, 1, 1}, {4, 1, 8}, {2, 7, 3}, {128, 1, 2}, {100, 2, 1}, {65, 2, 2}, {2, 3, 2, 5}};
    on_each([&](device::Device* d) {
        for (const std::vector<std::int64_t>& size : shapes) {
            const int rank = static_cast<int>(size.size());
            ir::Builder m("where", rank, true);
            m.set_groups(size);
            const Value out = m.pointer("out", i64, Access::Write, true);
            std::vector<std::int64_t> extents;
            std::int64_t items = 1;
            Value flat = m.i64(0);
            for (int d_ = 0; d_ < rank; ++d_) {
                extents.push_back(size[static_cast<std::size_t>(d_)] * (2 + d_));
                items *= extents.back();
                flat = m.add(m.mul(flat, m.extent(d_)), m.dim(d_));
            }
            for (int d_ = 0; d_ < rank; ++d_) {
                const Value at = m.mul(m.add(m.mul(flat, m.i64(rank)), m.i64(d_)), m.i64(3));
                m.store(out, at, m.dim(d_));
                m.store(out, m.add(at, m.i64(1)), m.local_dim(d_));
                m.store(out, m.add(at, m.i64(2)), m.group_dim(d_));
            }
            std::vector<std::int64_t> got(static_cast<std::size_t>(items * rank * 3), -1), expected;
            for (std::int64_t i = 0; i < items; ++i) {
                std::vector<std::int64_t> index(size.size());
                std::int64_t left = i;
                for (std::size_t k = size.size(); k-- > 0; left /= extents[k]) index[k] = left % extents[k];
                for (std::size_t k = 0; k < size.size(); ++k)
                    expected.insert(expected.end(), {index[k], index[k] % size[k], index[k] / size[k]});
            }
            Arguments(d).array(got).run(m.finish(), extents);
            EXPECT_EQ(got, expected) << testing::PrintToString(size);
        }
    });
}

TEST_F(Groups, SharedArraysOfEveryDtype) {
    on_each([](device::Device* d) {
        for (const DType t :
             {DType::Bool, DType::Int8, DType::UInt16, i32, u64, DType::Float16, DType::BFloat16, f32, f64, DType::Complex64}) {
            if (!d->supports(t)) continue;
            constexpr std::int64_t size = 32;
            ir::Builder m = in_groups("shared", {size});
            const Value x = m.pointer("x", t, Access::ReadWrite, true), a = m.array("a", t, size, Space::Group),
                        b = m.array("b", t, size, Space::Group), l = m.local_dim(0);
            m.store(a, l, m.load(x, m.dim(0)));
            m.store(b, m.sub(m.i64(size - 1), l), m.load(x, m.dim(0)));
            m.barrier();
            m.store(x, m.dim(0), m.select(m.lt(l, m.i64(5)), m.load(a, l), m.load(b, l)));
            const auto bytes = static_cast<std::size_t>(itemsize(t));
            std::vector<std::uint8_t> v(size * bytes), expected;
            for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<std::uint8_t>(t == DType::Bool ? i % 3 == 0 : i % 100 + 1);
            expected = v;
            for (std::size_t i = 5; i < size; ++i) std::copy_n(&v[(size - 1 - i) * bytes], bytes, &expected[i * bytes]);
            Arguments(d).array(v).run(m.finish(), {size});
            EXPECT_EQ(v, expected) << dtype_name(t);
        }
    });
}

TEST_F(Groups, NamesMayBeWordsOfTheLanguage) {
    on_each([](device::Device* d) {
        for (const char* kernel_name : {"max", "item", "float", "main", "größe"}) {
            ir::Builder m = in_groups(kernel_name, {8});
            const char* names[] = {"float", "i0", "n0", "group", "at", "sqrt", "v0", "x", "x", "lambda", "größe", "half", "l0", "local"};
            Value sum = m.constant(f32, 0.0);
            const Value out = m.pointer("first", f32, Access::Write, true), tile = m.array("item", f32, 8, Space::Group),
                        own = m.array("kernel", f32, 8, Space::Private);
            for (const char* n : names) sum = m.add(sum, m.load(m.pointer(n, f32, Access::Read, true), m.dim(0)));
            sum = m.call(ir::Math::sqrt, sum);
            m.store(own, m.local_dim(0), sum);
            m.store(tile, m.local_dim(0), m.load(own, m.local_dim(0)));
            m.barrier();
            m.store(out, m.dim(0), m.load(tile, m.sub(m.i64(7), m.local_dim(0))));
            std::vector<float> ones(16, 14.f), got(16, 0.f);
            Arguments arguments(d);
            arguments.array(got);
            for (std::size_t k = 0; k < std::size(names); ++k) arguments.array(ones);
            arguments.run(m.finish(), {16});
            EXPECT_EQ(got, std::vector<float>(16, 14.f)) << kernel_name;
        }
    });
}

TEST_F(Groups, WhatADeviceCannotHoldIsSaidWithItsNumbers) {
    on_each([](device::Device* d) {
        const auto kernel = [](std::int64_t items, std::int64_t count) {
            ir::Builder m = in_groups("large", {items});
            const Value out = m.pointer("out", f32, Access::Write, true), tile = m.array("tile", f32, count, Space::Group);
            m.store(tile, m.local_dim(0), m.constant(f32, 1.0));
            m.barrier();
            m.store(out, m.dim(0), m.load(tile, m.i64(0)));
            return m.finish();
        };
        std::vector<float> out(1 << 16);
        const std::int64_t most = d->info().max_work_group_size;
        const auto run = [&](std::int64_t items, std::int64_t count, std::int64_t n) {
            return message_of([&] { Arguments(d).array(out).run(kernel(items, count), {n}); });
        };
        const std::string items = run(most + 1, most + 1, most + 1);
        EXPECT_NE(items.find("large: groups of " + std::to_string(most + 1)), std::string::npos) << items;
        EXPECT_NE(items.find("at most " + std::to_string(most)), std::string::npos) << items;
        const std::string bytes = run(16, std::int64_t(1) << 28, 16);
        EXPECT_NE(bytes.find("large: the arrays that a group shares take 1073741824 bytes"), std::string::npos) << bytes;
        const std::string extent = run(16, 16, 40);
        EXPECT_NE(extent.find("40 items are not a multiple"), std::string::npos) << extent;
        EXPECT_EQ(run(16, 16, 0), "nothing was thrown");
        EXPECT_EQ(run(16, 16, 64), "nothing was thrown");
        EXPECT_EQ(out[63], 1.f);
    });
}

}  // namespace
}  // namespace pardo::opencl

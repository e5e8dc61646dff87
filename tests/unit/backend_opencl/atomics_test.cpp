// tests/unit/backend_opencl/atomics_test.cpp: atomic operations of every dtype in every memory, arrays of the item's own, however items
// are laid over groups.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "groups_support.h"

namespace pardo::opencl {
namespace {

constexpr std::int64_t cells = 3, items = 512, group = 64;

/// What item i brings.
template <class T> T operand(std::int64_t i) {
    if constexpr (std::is_floating_point_v<T>) {
        if (i % 31 == 7) return std::numeric_limits<T>::quiet_NaN();
        return static_cast<T>(i * 37 % 101) - T(50);
    }
    return static_cast<T>(static_cast<std::int64_t>(static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u >> (64 - 8 * sizeof(T))));
}

template <class T> T applied(AtomicOp op, T a, T x) {
    if constexpr (std::is_floating_point_v<T>) {
        switch (op) {
            case AtomicOp::Add: return a + x;
            case AtomicOp::Sub: return a - x;
            case AtomicOp::Min: return std::fmin(a, x);
            case AtomicOp::Max: return std::fmax(a, x);
            default: return x;
        }
    } else {
        using U = std::make_unsigned_t<T>;
        const U u = static_cast<U>(a), v = static_cast<U>(x);
        switch (op) {
            case AtomicOp::Add: return static_cast<T>(u + v);
            case AtomicOp::Sub: return static_cast<T>(u - v);
            case AtomicOp::Min: return std::min(a, x);
            case AtomicOp::Max: return std::max(a, x);
            case AtomicOp::And: return a & x;
            case AtomicOp::Or: return a | x;
            case AtomicOp::Xor: return a ^ x;
            default: return x;
        }
    }
}

/// Sums of NaN are NaN and show nothing.
template <class T> T brought(AtomicOp op, std::int64_t i) {
    const T x = operand<T>(i);
    const bool sum = op == AtomicOp::Add || op == AtomicOp::Sub;
    return sum && x != x ? T(1) : x;
}

template <class T> T start_of(AtomicOp op) { return op == AtomicOp::And ? static_cast<T>(-1) : T(9); }

/// out[i % cells] op= x[i] for each of some operations on arrays of its own, by way of memory of the group or at once: one kernel, because
/// drivers take a tenth of a second and more for each.
ir::Kernel atomic_kernel(DType t, std::span<const AtomicOp> ops, bool shared, ir::MemoryOrder order, ir::MemoryScope scope) {
    ir::Builder m = in_groups("update", {group});
    const Value cell = m.rem(m.dim(0), m.i64(cells)), at = m.add(m.mul(m.group_dim(0), m.i64(cells)), m.local_dim(0));
    const Value mine = m.lt(m.local_dim(0), m.i64(cells));
    std::vector<Value> x, out, old, own;
    for (const AtomicOp op : ops) {
        const std::string name = ir::name(op);
        x.push_back(m.pointer("x_" + name, t, Access::Read, true));
        out.push_back(m.pointer("out_" + name, t, Access::ReadWrite, true));
        old.push_back(m.pointer("old_" + name, t, Access::Write, true));
        if (shared) own.push_back(m.array("own_" + name, t, cells, Space::Group));
    }
    const auto each = [&](const auto& f) {
        for (std::size_t k = 0; k < ops.size(); ++k) f(k);
    };
    if (shared) {
        when(m, mine, [&] { each([&](std::size_t k) { m.store(own[k], m.local_dim(0), m.load(out[k], at)); }); });
        m.barrier();
    }
    each([&](std::size_t k) {
        m.store(old[k], m.dim(0), m.atomic(ops[k], shared ? own[k] : out[k], cell, m.load(x[k], m.dim(0)), order, scope));
    });
    if (shared) {
        m.barrier();
        when(m, mine, [&] { each([&](std::size_t k) { m.store(out[k], at, m.load(own[k], m.local_dim(0))); }); });
    }
    return m.finish();
}

constexpr AtomicOp operations[] = {AtomicOp::Add, AtomicOp::Sub, AtomicOp::Min, AtomicOp::Max,
                                   AtomicOp::And, AtomicOp::Or,  AtomicOp::Xor, AtomicOp::Exchange};

/// For exchanges: each value that was brought comes out once, as an old one or as the last one.
template <class T> void expect_chain(std::vector<T> in, std::vector<T> out) {
    const auto bits = [](T a, T b) { return std::memcmp(&a, &b, sizeof(T)) < 0; };
    std::sort(in.begin(), in.end(), bits);
    std::sort(out.begin(), out.end(), bits);
    EXPECT_EQ(std::memcmp(in.data(), out.data(), in.size() * sizeof(T)), 0);
}

/// The arrays of an operation.
template <class T> struct Updated {
    Updated(AtomicOp which, bool shared)
        : op(which),
          in_groups(shared),
          before(static_cast<std::size_t>(shared ? cells * items / group : cells), start_of<T>(which)),
          out(before) {
        for (std::int64_t i = 0; i < items; ++i) x.push_back(brought<T>(op, i));
    }
    std::size_t place(std::int64_t i) const { return static_cast<std::size_t>((in_groups ? i / group * cells : 0) + i % cells); }

    void check() const {
        SCOPED_TRACE(ir::name(op));
        if (op == AtomicOp::Exchange) return check_exchanges();
        std::vector<T> expected = before;
        for (std::int64_t i = 0; i < items; ++i) {
            T& cell = expected[place(i)];
            cell = applied(op, cell, x[static_cast<std::size_t>(i)]);
        }
        EXPECT_EQ(out, expected);
        // Somebody was the first at each cell.
        for (std::int64_t c = 0; c < cells; ++c) {
            bool first = false;
            for (std::int64_t i = 0; i < (in_groups ? group : items); ++i)
                first |= place(i) == static_cast<std::size_t>(c) && old[static_cast<std::size_t>(i)] == before[0];
            EXPECT_TRUE(first) << c;
        }
    }
    void check_exchanges() const {
        for (std::size_t c = 0; c < out.size(); ++c) {
            std::vector<T> in{before[c]}, seen{out[c]};
            for (std::int64_t i = 0; i < items; ++i) {
                if (place(i) != c) continue;
                in.push_back(x[static_cast<std::size_t>(i)]);
                seen.push_back(old[static_cast<std::size_t>(i)]);
            }
            expect_chain(in, seen);
        }
    }

    AtomicOp op;
    bool in_groups;
    std::vector<T> x, before, out, old = std::vector<T>(items, T(77));
};

template <class T>
void check_operations(device::Device* d, std::span<const AtomicOp> ops, bool shared, ir::MemoryOrder order, ir::MemoryScope scope) {
    SCOPED_TRACE(std::string(dtype_name(dtype_of<T>)) + (shared ? " shared " : " global ") + ir::name(order) + " " + ir::name(scope));
    std::vector<Updated<T>> all;
    for (const AtomicOp op : ops) all.emplace_back(op, shared);
    Arguments arguments(d);
    for (Updated<T>& one : all) arguments.array(one.x).array(one.out).array(one.old);
    arguments.run(atomic_kernel(dtype_of<T>, ops, shared, order, scope), {items});
    for (const Updated<T>& one : all) one.check();
}

template <class T> void check_operation(device::Device* d, AtomicOp op, bool shared, ir::MemoryOrder order, ir::MemoryScope scope) {
    check_operations<T>(d, {&op, 1}, shared, order, scope);
}

template <class T> void check_all_operations(device::Device* d) {
    if (!d->supports(dtype_of<T>)) return;
    std::vector<AtomicOp> ops;
    std::ranges::copy_if(operations, std::back_inserter(ops), [](AtomicOp op) { return !ir::broken_atomic_rule(op, dtype_of<T>); });
    check_operations<T>(d, ops, false, ir::MemoryOrder::Relaxed, ir::MemoryScope::Device);
    check_operations<T>(d, ops, true, ir::MemoryOrder::Relaxed, ir::MemoryScope::Group);
}

TEST_F(Groups, AtomicsOf32Bits) {
    on_each([](device::Device* d) {
        check_all_operations<std::int32_t>(d);
        check_all_operations<std::uint32_t>(d);
        check_all_operations<float>(d);
    });
}

TEST_F(Groups, AtomicsOf64Bits) {
    on_each([](device::Device* d) {
        if (!d->info().has_atomic64) {
            std::vector<std::int64_t> x(items), out(cells), old(items);
            const std::string message = message_of([&] {
                constexpr AtomicOp add[] = {AtomicOp::Add};
                Arguments(d).array(x).array(out).array(old).run(
                    atomic_kernel(i64, add, false, ir::MemoryOrder::Relaxed, ir::MemoryScope::Device), {items});
            });
            EXPECT_NE(message.find("no atomics of 64 bits"), std::string::npos) << message;
            return;
        }
        check_all_operations<std::int64_t>(d);
        check_all_operations<std::uint64_t>(d);
        check_all_operations<double>(d);
    });
}

TEST_F(Groups, AtomicsOfEveryOrderAndScope) {
    on_each([](device::Device* d) {
        for (const ir::MemoryOrder order :
             {ir::MemoryOrder::Acquire, ir::MemoryOrder::Release, ir::MemoryOrder::AcqRel, ir::MemoryOrder::SeqCst}) {
            check_operation<std::int32_t>(d, AtomicOp::Add, false, order, ir::MemoryScope::Device);
            check_operation<float>(d, AtomicOp::Max, true, order, ir::MemoryScope::Group);
        }
        if (d->info().type == DeviceType::Cpu)
            check_operation<float>(d, AtomicOp::Add, false, ir::MemoryOrder::SeqCst, ir::MemoryScope::System);
    });
}

/// Each item adds by trying again until nobody came between; what it saw last is its place in the row.
template <class T> void check_compare_exchange(device::Device* d, bool shared) {
    if (!d->supports(dtype_of<T>) || (sizeof(T) == 8 && !d->info().has_atomic64)) return;
    const DType t = dtype_of<T>;
    SCOPED_TRACE(std::string(dtype_name(t)) + (shared ? " shared" : " global"));
    ir::Builder m = in_groups("tickets", {group});
    const Value out = m.pointer("out", t, Access::ReadWrite, true), ticket = m.pointer("ticket", t, Access::Write, true),
                own = m.array("own", t, 1, Space::Group), zero = m.i64(0);
    when(m, m.eq(m.local_dim(0), zero), [&] { m.store(own, zero, m.constant(t, 0.0)); });
    m.barrier();
    const Value initial[] = {m.constant(t, 0.0), m.boolean(false)};
    const Values last = m.while_loop(
        initial, [&](std::span<const Value> c) { return m.bit_not(c[1]); },
        [&](std::span<const Value> c) {
            const Value seen = m.compare_exchange(shared ? own : out, zero, c[0], m.add(c[0], m.constant(t, 1.0)));
            return Values{seen, m.eq(seen, c[0])};
        });
    m.store(ticket, m.dim(0), last[0]);
    const std::int64_t n = shared ? group : items;
    std::vector<T> count(1, T(0)), tickets(static_cast<std::size_t>(n), T(-1)), expected(tickets.size());
    std::iota(expected.begin(), expected.end(), T(0));
    Arguments(d).array(count).array(tickets).run(m.finish(), {n});
    std::sort(tickets.begin(), tickets.end());
    EXPECT_EQ(tickets, expected);
    EXPECT_EQ(count[0], static_cast<T>(shared ? 0 : n));
}

TEST_F(Groups, CompareAndExchange) {
    on_each([](device::Device* d) {
        for (const bool shared : {false, true}) {
            check_compare_exchange<std::int32_t>(d, shared);
            check_compare_exchange<std::uint32_t>(d, shared);
            check_compare_exchange<std::int64_t>(d, shared);
            check_compare_exchange<std::uint64_t>(d, shared);
            check_compare_exchange<float>(d, shared);
            check_compare_exchange<double>(d, shared);
        }
    });
}

/// Atomic operations on memory that nobody else sees are plain ones.
TEST_F(Groups, AtomicsOnPrivateArrays) {
    on_each([](device::Device* d) {
        for (const AtomicOp op : operations) {
            ir::Builder m("own", 1, true);
            const Value x = m.pointer("x", i32, Access::ReadWrite, true), own = m.array("own", i32, 4, Space::Private),
                        at = m.rem(m.dim(0), m.i64(4));
            m.store(own, at, m.constant(i32, 21.0));
            const Value old = m.atomic(op, own, at, m.load(x, m.dim(0)));
            const Value again = m.compare_exchange(own, at, m.constant(i32, 3.0), m.constant(i32, 100.0));
            m.store(x, m.dim(0), m.add(m.add(old, again), m.load(own, at)));
            std::vector<int> v(100), expected;
            std::iota(v.begin(), v.end(), -20);
            for (const int e : v) {
                const int now = applied(op, 21, e);
                expected.push_back(21 + now + (now == 3 ? 100 : now));
            }
            Arguments(d).array(v).run(m.finish(), {100});
            EXPECT_EQ(v, expected) << ir::name(op);
        }
    });
}

/// Items of plain ranges, however they are laid over groups: an array each, filled and read at places that depend on the item; shared
/// counters by atomics.
ir::Kernel mixed(int rank, bool lanes) {
    ir::Builder m("mixed", rank, lanes);
    const Value out = m.pointer("out", i32, Access::Write, true), bins = m.pointer("bins", i32, Access::ReadWrite, true),
                n = m.scalar_param("n", i64), own = m.array("own", i32, 8, Space::Private);
    Value flat = m.i64(0);
    for (int d = 0; d < rank; ++d) flat = m.add(m.mul(flat, m.extent(d)), m.dim(d));
    repeat(m, m.i64(0), m.i64(8), [&](Value k) { m.store(own, m.rem(m.add(k, flat), m.i64(8)), m.cast(m.mul(k, flat), i32)); });
    m.store(own, m.i64(3), m.constant(i32, 1000.0));
    Value sum = m.constant(i32, 0.0);
    if (lanes) {
        const Value zero[] = {sum};
        sum = m.for_loop(m.i64(0), n, m.i64(1), zero,
                         [&](Value k, std::span<const Value> c) { return Values{m.add(m.add(c[0], c[0]), m.load(own, k))}; })[0];
    } else {
        const ir::Reduction add[] = {{ir::Combine::Add, sum}};
        sum = m.for_lanes(m.i64(0), n, add, [&](Value k) {
            m.atomic(AtomicOp::Add, bins, m.i64(5), m.cast(k, i32));
            return Values{m.mul(m.load(own, k), m.cast(m.add(k, m.i64(1)), i32))};
        })[0];
    }
    m.store(out, flat, sum);
    m.atomic(AtomicOp::Add, bins, m.rem(flat, m.i64(5)), m.constant(i32, 1.0));
    return m.finish();
}

TEST_F(Groups, ArraysAndAtomicsInPlainRanges) {
    using emit::CGeometry;
    using emit::CMapping;
    const auto geometry = [](CMapping mapping, int size, int columns, int rows) {
        CGeometry g;
        g.mapping = mapping;
        g.group_size = size;
        g.columns = columns;
        g.rows = rows;
        return g.encode();
    };
    const device::ShapeClass layouts[] = {geometry(CMapping::Line, 32, 1, 1), geometry(CMapping::Line, 16, 4, 1),
                                          geometry(CMapping::Line, 8, 2, 2),  geometry(CMapping::Flat, 32, 4, 1),
                                          geometry(CMapping::Team, 16, 1, 1), geometry(CMapping::Range, 16, 1, 1),
                                          geometry(CMapping::Loop, 1, 1, 2),  0};
    on_each([&](device::Device* d) {
        for (const std::vector<std::int64_t>& extents : {std::vector<std::int64_t>{201}, {21, 37}, {3, 5, 70}}) {
            for (const bool lanes : {true, false}) {
                const ir::Kernel kernel = mixed(static_cast<int>(extents.size()), lanes);
                std::int64_t count = 1;
                for (const std::int64_t e : extents) count *= e;
                std::vector<int> expected, expected_bins(6, 0);
                for (std::int64_t i = 0; i < count; ++i) {
                    int own[8], sum = 0;
                    for (std::int64_t k = 0; k < 8; ++k) own[(k + i) % 8] = static_cast<int>(k * i);
                    own[3] = 1000;
                    for (int k = 0; k < 7; ++k) sum = lanes ? 2 * sum + own[k] : sum + own[k] * (k + 1);
                    expected.push_back(sum);
                    ++expected_bins[static_cast<std::size_t>(i % 5)];
                    if (!lanes) expected_bins[5] += 21;
                }
                for (const device::ShapeClass layout : layouts) {
                    const CMapping mapping = CGeometry::decode(layout).mapping;
                    if (extents.size() == 1 && CGeometry::decode(layout).rows > 1) continue;
                    if (layout && lanes == (mapping == CMapping::Team)) continue;
                    if (d->info().backend == "cuda" && (mapping == CMapping::Range || mapping == CMapping::Loop) && layout) continue;
                    std::vector<int> out(expected.size(), -1), bins(6, 0);
                    Arguments arguments(d);
                    arguments.array(out).array(bins).scalar(std::int64_t(7));
                    if (layout) {
                        arguments.run(kernel, extents, layout);
                    } else {
                        arguments.run(kernel, extents);
                    }
                    EXPECT_EQ(out, expected) << extents.size() << " " << lanes << " " << static_cast<int>(mapping);
                    EXPECT_EQ(bins, expected_bins) << extents.size() << " " << lanes << " " << static_cast<int>(mapping);
                }
            }
        }
    });
}

/// What an item keeps stays its own across barriers: arrays, values, counters of loops that end when shared memory says so.
TEST_F(Groups, ArraysOfTheItemLiveAcrossBarriers) {
    on_each([](device::Device* d) {
        for (const std::int64_t size : {1, 7, 64, 256}) {
            ir::Builder m = in_groups("relay", {size});
            const Value x = m.pointer("x", i32, Access::ReadWrite, true), tile = m.array("tile", i32, size, Space::Group),
                        done = m.array("done", i32, 1, Space::Group), own = m.array("own", i32, 5, Space::Private), l = m.local_dim(0),
                        zero = m.i64(0);
            repeat(m, zero, m.i64(5), [&](Value k) { m.store(own, k, m.constant(i32, 0.0)); });
            when(m, m.eq(l, zero), [&] { m.store(done, zero, m.constant(i32, 0.0)); });
            m.barrier();
            const Value initial[] = {m.load(x, m.dim(0)), m.constant(i32, 0.0), zero};
            const Values last = m.while_loop(
                initial, [&](std::span<const Value> c) { return m.lt(c[1], m.constant(i32, 10.0)); },
                [&](std::span<const Value> c) {
                    m.store(tile, l, c[0]);
                    m.barrier();
                    const Value next = m.load(tile, m.rem(m.add(l, m.i64(1)), m.i64(size)));
                    // Items that do not take this way meet the others at the next barrier.
                    when(m, m.eq(m.rem(m.add(l, c[2]), m.i64(3)), zero), [&] {
                        const Value at = m.rem(m.add(l, c[2]), m.i64(5));
                        m.store(own, at, m.add(m.load(own, at), next));
                    });
                    when(m, m.eq(l, m.i64(size - 1)), [&] { m.atomic(AtomicOp::Add, done, zero, m.constant(i32, 2.0)); });
                    m.barrier();
                    const Value count = m.load(done, zero);
                    m.barrier();
                    return Values{next, count, m.add(c[2], m.i64(1))};
                });
            Value sum = last[0];
            for (int k = 0; k < 5; ++k) sum = m.add(m.mul(sum, m.constant(i32, 3.0)), m.load(own, m.i64(k)));
            m.store(x, m.dim(0), sum);
            const std::int64_t groups = 9;
            std::vector<int> v(static_cast<std::size_t>(size * groups)), expected(v.size());
            std::iota(v.begin(), v.end(), 1);
            for (std::int64_t g = 0; g < groups; ++g) {
                for (std::int64_t l_ = 0; l_ < size; ++l_) {
                    std::uint32_t own_[5] = {}, result = 0;
                    for (std::int64_t k = 0; k < 5; ++k) {
                        result = static_cast<std::uint32_t>(v[static_cast<std::size_t>(g * size + (l_ + k + 1) % size)]);
                        if ((l_ + k) % 3 == 0) own_[(l_ + k) % 5] += result;
                    }
                    for (const std::uint32_t o : own_) result = result * 3 + o;
                    expected[static_cast<std::size_t>(g * size + l_)] = static_cast<int>(result);
                }
            }
            Arguments(d).array(v).run(m.finish(), {size * groups});
            EXPECT_EQ(v, expected) << size;
        }
    });
}

}  // namespace
}  // namespace pardo::opencl

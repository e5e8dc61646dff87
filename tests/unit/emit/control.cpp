// tests/unit/emit/control.cpp: branches and loops whose lanes go different ways, and those whose lanes go together.
#include "emit/analysis/lanes.h"
#include "emit/llvm/module.h"
#include "support.h"

namespace pardo::test {
namespace {

using ir::Access;
using ir::Builder;
using ir::Value;
using Values = Builder::Values;

TEST(Control, IfWithResultsAndStoresUnderMasks) {
    for (bool lanes : {true, false}) {
        Builder b("if", 1, lanes);
        const Value x = b.pointer("x", f64, Access::Read, true), o = b.pointer("o", f64, Access::Write, true),
                    side = b.pointer("side", f64, Access::Write, true);
        const Value i = b.dim(0), v = b.load(x, i);
        const Values r = b.if_else(
            b.gt(v, b.constant(f64, 0.0)),
            [&] {
                b.store(side, i, b.mul(v, v));
                const Values inner = b.if_else(
                    b.gt(v, b.constant(f64, 20.0)), [&] { return Values{b.call(ir::Math::sqrt, v)}; },
                    [&] {
                        b.store(side, i, b.neg(v));
                        return Values{b.constant(f64, 7.0)};
                    });
                return Values{b.add(inner[0], v), b.boolean(true)};
            },
            [&] {
                return Values{b.sub(v, b.constant(f64, 1.0)), b.eq(v, v)};
            });
        b.store(o, i, b.select(r[1], r[0], b.constant(f64, -5.0)));
        check(b.finish(), {interesting(f64, 133, 5), array(f64, 133), array(f64, 133)}, {133});
    }
}

TEST(Control, UniformConditionsStayBranches) {
    Builder b("branch", 2, true);
    const Value x = b.pointer("x", f64, Access::Read, true), o = b.pointer("o", f64, Access::Write, true),
                c = b.scalar_param("c", DType::Bool);
    const Value at = b.add(b.mul(b.dim(0), b.extent(1)), b.dim(1));
    const Values r = b.if_else(
        b.bit_and(c, b.lt(b.dim(0), b.i64(2))),
        [&] {
            return Values{b.load(x, at), b.i64(1), at};
        },
        [&] {
            return Values{b.constant(f64, 3.0), b.dim(0), b.add(at, b.i64(0))};
        });
    b.store(o, r[2], b.add(r[0], b.cast(r[1], f64)));
    check(b.finish(), {interesting(f64, 4 * 19, 5), array(f64, 4 * 19), scalar_of(true)}, {4, 19});
}

TEST(Control, WhileRunsUntilNoLaneIsActive) {
    for (bool lanes : {true, false}) {  // Collatz: trip counts differ wildly
        Builder b("collatz", 1, lanes);
        const Value o = b.pointer("o", DType::Int32, Access::Write, true), last = b.pointer("last", i64, Access::Write, true);
        const Value i = b.dim(0);
        const Value initial[] = {b.add(i, b.i64(1)), b.i64(0), b.i64(100)};
        const Values r = b.while_loop(
            initial, [&](std::span<const Value> c) { return b.gt(c[0], b.i64(1)); },
            [&](std::span<const Value> c) {
                const Value odd = b.eq(b.bit_and(c[0], b.i64(1)), b.i64(1));
                const Value next = b.select(odd, b.add(b.mul(c[0], b.i64(3)), b.i64(1)), b.shr(c[0], b.i64(1)));
                return Values{next, b.add(c[1], b.i64(1)), b.sub(c[2], c[1])};
            });
        b.store(o, i, b.cast(r[1], DType::Int32));
        b.store(last, i, r[2]);
        check(b.finish(), {array(DType::Int32, 107), array(i64, 107)}, {107});
    }
}

TEST(Control, UniformWhile) {
    Builder b("newton", 1, true);
    const Value x = b.pointer("x", f64, Access::Read, true), o = b.pointer("o", f64, Access::Write, true), n = b.scalar_param("n", i64);
    const Value i = b.dim(0), v = b.load(x, i);
    const Value initial[] = {b.i64(0), b.constant(f64, 1.0)};
    const Values r = b.while_loop(
        initial, [&](std::span<const Value> c) { return b.lt(c[0], n); },
        [&](std::span<const Value> c) {
            return Values{b.add(c[0], b.i64(1)), b.mul(b.add(c[1], b.div(v, c[1])), b.constant(f64, 0.5))};
        });
    b.store(o, i, r[1]);
    check(b.finish(), {interesting(f64, 45, 5), array(f64, 45), scalar_of(std::int64_t(5))}, {45});
}

TEST(Control, ForWithBoundsOfItsOwnInEachLane) {
    for (std::int64_t step : {1, 2, -1, -3})
        for (bool lanes : {true, false}) {
            Builder b("triangle", 1, lanes);
            const Value x = b.pointer("x", f64, Access::Read, true), from = b.pointer("from", i64, Access::Read, true),
                        o = b.pointer("o", f64, Access::Write, true), p = b.pointer("p", f64, Access::Write, true);
            const Value i = b.dim(0), n = b.extent(0), zero = b.constant(f64, 0.0);
            const Value low = step > 0 ? i : b.sub(n, b.i64(1)), high = step > 0 ? n : b.sub(i, b.i64(1));
            const Values affine = b.for_loop(low, high, b.i64(step), {&zero, 1},
                                             [&](Value j, std::span<const Value> c) { return Values{b.add(c[0], b.load(x, j))}; });
            const Value start = b.load(from, i);
            const Value initial[] = {zero, b.i64(0), b.i64(5)};
            const Values gathered = b.for_loop(start, n, b.i64(std::abs(step)), initial, [&](Value j, std::span<const Value> c) {
                return Values{b.add(c[0], b.mul(b.load(x, j), b.cast(c[2], f64))), b.add(c[1], b.i64(2)), b.add(c[2], b.i64(1))};
            });
            b.store(o, i, b.add(affine[0], gathered[0]));
            b.store(p, i, b.cast(gathered[1], f64));
            std::vector<double> x_values;
            std::vector<std::int64_t> starts;
            for (int k = 0; k < 53; ++k) {
                x_values.push_back(k * 0.5 - 7);
                starts.push_back(k * 29 % 60);
            }
            check(b.finish(), {array_of(x_values), array_of(starts), array(f64, 53), array(f64, 53)}, {53});
        }
}

TEST(Control, NestedLoopsWithCarriedIndices) {
    Builder b("nest", 2, true);
    const Value x = b.pointer("x", f64, Access::Read, true), o = b.pointer("o", f64, Access::Write, true), n = b.scalar_param("n", i64),
                step = b.scalar_param("step", i64);
    const Value at = b.add(b.mul(b.dim(0), b.extent(1)), b.dim(1));
    const Value initial[] = {b.constant(f64, 0.0), b.dim(1)};
    const Values r = b.for_loop(b.i64(0), n, step, initial, [&](Value k, std::span<const Value> c) {
        const Values inner = b.for_loop(k, b.i64(-1), b.i64(-1), c.first(1), [&](Value m, std::span<const Value> d) {
            return Values{b.add(d[0], b.load(x, b.add(b.mul(m, b.extent(1)), c[1])))};
        });
        return Values{inner[0], b.select(b.gt(c[1], b.i64(3)), b.sub(c[1], b.i64(1)), c[1])};
    });
    b.store(o, at, r[0]);
    std::vector<double> values;
    for (int k = 0; k < 40 * 23; ++k) values.push_back(k % 101 * 0.25);
    check(b.finish(), {array_of(values), array(f64, 3 * 23), scalar_of(std::int64_t(6)), scalar_of(std::int64_t(2))}, {3, 23});
}

TEST(Control, LoopsThatRunNeverGiveTheirInitialValues) {
    for (std::int64_t n : {-3, 0, 1}) {
        Builder b("never", 1, true);
        const Value o = b.pointer("o", f64, Access::Write, true), limit = b.scalar_param("n", i64);
        const Value initial[] = {b.constant(f64, 4.0), b.cast(b.dim(0), f64)};
        const Values r = b.for_loop(b.i64(0), limit, b.i64(1), initial, [&](Value, std::span<const Value> c) {
            return Values{b.add(c[0], c[1]), c[1]};
        });
        b.store(o, b.dim(0), r[0]);
        check(b.finish(), {array(f64, 21), scalar_of(n)}, {21});
    }
}

TEST(Control, LoopsThatWaitForTheirStoresAreScalar) {
    for (bool adds : {true, false}) {  // each item counts in a row of its own, h[i, k[j]] += 1, or only stores
        Builder b("counts", 1, true);
        const Value k = b.pointer("k", i64, Access::Read, true), h = b.pointer("h", f64, Access::ReadWrite, true);
        b.for_loop(b.i64(0), b.i64(40), b.i64(1), {}, [&](Value j, std::span<const Value>) {
            const Value place = b.load(k, b.add(b.mul(b.dim(0), b.i64(40)), j));
            const Value at = b.add(b.mul(b.dim(0), b.i64(5)), place), one = b.constant(f64, 1.0);
            b.store(h, at, adds ? b.add(b.load(h, at), one) : one);
            return Values();
        });
        const ir::Kernel kernel = b.finish();
        EXPECT_EQ(emit::analyse_lanes(kernel).item_lanes, !adds);
        EXPECT_EQ(emit::split_granularity(kernel), adds ? 1 : 64);
        std::vector<std::int64_t> places;
        for (int n = 0; n < 21 * 40; ++n) places.push_back(n * n % 5);
        check(kernel, {array_of(places), array(f64, 105)}, {21});
    }
}

TEST(Control, IfInsideWhileInsideIf) {
    for (bool lanes : {true, false}) {
        Builder b("deep", 1, lanes);
        const Value x = b.pointer("x", f64, Access::Read, true), o = b.pointer("o", f64, Access::ReadWrite, false);
        const Value i = b.dim(0), v = b.load(x, i), zero = b.constant(f64, 0.0);
        const Values r = b.if_else(
            b.ne(b.floor_div(v, b.constant(f64, 2.0)), b.constant(f64, 1.0)),
            [&] {
                const Value initial[] = {v, b.i64(0)};
                const Values loop = b.while_loop(
                    initial,
                    [&](std::span<const Value> c) { return b.bit_and(b.lt(b.abs(c[0]), b.constant(f64, 1000.0)), b.lt(c[1], b.i64(40))); },
                    [&](std::span<const Value> c) {
                        const Values inner = b.if_else(
                            b.lt(c[0], zero), [&] { return Values{b.mul(c[0], b.constant(f64, -1.5))}; },
                            [&] {
                                b.store(o, i, c[0]);
                                return Values{b.add(b.mul(c[0], b.constant(f64, 1.25)), b.load(x, b.rem(c[1], b.i64(5))))};
                            });
                        return Values{inner[0], b.add(c[1], b.i64(1))};
                    });
                return Values{b.add(loop[0], b.cast(loop[1], f64))};
            },
            [&] { return Values{zero}; });
        b.store(o, i, b.add(b.load(o, i), r[0]));
        std::vector<double> values;
        for (int k = 0; k < 91; ++k) values.push_back(std::sin(k * 1.7) * 20);
        check(b.finish(), {array_of(values), array(f64, 91)}, {91});
    }
}

TEST(Control, ComparisonsOfNeighboursWithWhatLanesShare) {
    using ir::Opcode;
    for (DType stored : {DType::Int8, DType::Int32, i64})  // 16 to 64 lanes, or 2 to 8
        for (std::int64_t limit : {std::int64_t(-5), std::int64_t(0), std::int64_t(1), std::int64_t(70), std::int64_t(140),
                                   std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min() + 1}) {
            Builder b("compare", 1, true);
            const Value o = b.pointer("o", stored, Access::Write, true), n = b.scalar_param("n", i64);
            const Value up = b.dim(0), down = b.sub(b.i64(100), up), twice = b.mul(up, b.i64(2));
            Value bits = b.constant(stored, 0.0), bit = b.constant(stored, 1.0);
            const auto add = [&](Value condition) {
                bits = b.bit_xor(b.mul(bits, b.constant(stored, 3.0)), b.select(condition, bit, b.constant(stored, 0.0)));
            };
            for (Opcode op : {Opcode::Eq, Opcode::Ne, Opcode::Lt, Opcode::Le, Opcode::Gt, Opcode::Ge}) {
                add(b.emit(op, DType::Bool, {up, n}));
                add(b.emit(op, DType::Bool, {n, up}));
                add(b.emit(op, DType::Bool, {down, n}));
                add(b.emit(op, DType::Bool, {twice, b.add(up, n)}));
                add(b.emit(op, DType::Bool, {b.mul(up, b.i64(7)), n}));
            }
            b.store(o, up, bits);
            check(b.finish(), {array(stored, 133), scalar_of(limit)}, {133});
        }
}

TEST(Control, LanesLeaveALoopWithWhatTheyHadInCommon) {
    for (bool inside : {false, true}) {
        Builder b("last", 1, true);
        const Value x = b.pointer("x", f64, Access::Read, true), o = b.pointer("o", f64, Access::Write, true),
                    counts = b.pointer("counts", i64, Access::Write, true), flags = b.pointer("flags", DType::Bool, Access::Write, true);
        const Value i = b.dim(0), v = b.load(x, i);
        const auto loops = [&] {
            // A number, a flag and an index of neighbours that all lanes in the loop agree on.
            const Value initial[] = {v, b.constant(f64, 1.0), b.boolean(false), i};
            const Values r = b.while_loop(
                initial,
                [&](std::span<const Value> c) { return b.bit_and(b.lt(c[1], b.constant(f64, 40.0)), b.gt(c[0], b.constant(f64, 1.0))); },
                [&](std::span<const Value> c) {
                    return Values{b.add(b.mul(c[0], b.constant(f64, 0.75)), b.mul(b.load(x, b.rem(c[3], b.i64(7))), b.constant(f64, 1e-3))),
                                  b.add(c[1], b.constant(f64, 1.5)), b.bit_not(c[2]), b.add(c[3], b.i64(2))};
                });
            const Value start[] = {b.i64(3), r[0]};
            const Values f =
                b.for_loop(b.rem(i, b.i64(5)), b.rem(b.mul(i, i), b.i64(11)), b.i64(1), start, [&](Value k, std::span<const Value> c) {
                    return Values{b.add(c[0], b.i64(4)), b.add(c[1], b.cast(b.mul(c[0], k), f64))};
                });
            b.store(o, i, b.add(r[1], f[1]));
            b.store(flags, i, r[2]);
            b.store(counts, i, b.add(b.mul(r[3], b.i64(100)), f[0]));
            return Values{};
        };
        if (inside)
            b.if_else(b.lt(v, b.constant(f64, 60.0)), loops, [] { return Values{}; });
        else
            loops();
        std::vector<double> values;
        for (int k = 0; k < 91; ++k) values.push_back(std::fabs(std::sin(k * 1.7)) * 100);
        check(b.finish(), {array_of(values), array(f64, 91), array(i64, 91), array(DType::Bool, 91)}, {91});
    }
}

TEST(Control, SidesThatStoreTheSameElements) {
    Builder b("sides", 1, true);
    const Value x = b.pointer("x", f64, Access::Read, true), o = b.pointer("o", f64, Access::ReadWrite, true),
                p = b.pointer("p", DType::Int8, Access::Write, true);
    const Value i = b.dim(0), v = b.load(x, i), other = b.sub(b.sub(b.extent(0), i), b.i64(1));
    const auto number = [&](double n) { return b.constant(f64, n); };
    const auto byte = [&](double n) { return b.constant(DType::Int8, n); };
    b.if_else(
        b.gt(v, number(30)),
        [&] {
            b.store(o, i, b.mul(v, v));
            b.store(p, other, byte(1));
            return Values{};
        },
        [&] {
            b.store(o, i, number(-1));
            b.if_else(
                b.gt(v, number(-30)),
                [&] {
                    b.store(p, other, byte(2));
                    return Values{};
                },
                [&] {
                    b.store(o, i, b.add(b.load(o, i), v));
                    b.store(p, other, b.cast(v, DType::Int8));
                    return Values{};
                });
            return Values{};
        });
    std::vector<double> values;
    for (int k = 0; k < 91; ++k) values.push_back(std::sin(k * 1.7) * 100);
    check(b.finish(), {array_of(values), array(f64, 91), array(DType::Int8, 91)}, {91});
}

}  // namespace
}  // namespace pardo::test

// tests/unit/emit/groups.cpp: kernels in groups: barriers in every kind of control flow, values that live across them, group arrays.
#include <pardo/error.h>

#include <functional>
#include <numeric>

#include "support.h"

namespace pardo::test {
namespace {

using ir::Access;
using ir::Builder;
using ir::Space;
using ir::Value;
using Values = Builder::Values;
using Sizes = std::vector<std::int64_t>;

Builder in_groups(const char* name, const Sizes& size) {
    Builder b(name, static_cast<int>(size.size()), true);
    b.set_groups(size);
    return b;
}

Argument counting(DType t, std::int64_t count, int modulus = 100) {
    Argument a = array(t, count);
    for (std::int64_t i = 0; i < count; ++i) {
        const double v = static_cast<double>(i * 7 % modulus);
        std::uint8_t* at = a.bytes.data() + i * itemsize(t);
        if (t == f32) {
            const auto f = static_cast<float>(v);
            std::memcpy(at, &f, 4);
        } else if (t == f64) {
            std::memcpy(at, &v, 8);
        } else if (is_narrow_float(t)) {
            const std::uint16_t bits = to_narrow(v, facts_of(t).exponent, facts_of(t).mantissa);
            std::memcpy(at, &bits, 2);
        } else if (t == DType::Bool) {
            *at = i % 3 == 0;
        } else {
            const auto n = static_cast<std::int64_t>(v);
            std::memcpy(at, &n, static_cast<std::size_t>(itemsize(t)));
        }
    }
    return a;
}

Value plus_one(Builder& b, Value v) {
    const DType t = b.type(v);
    return t == DType::Bool ? b.bit_not(v) : b.add(v, b.constant(t, 1.0));
}

Value half(Builder& b, Value v) { return b.shr(v, b.i64(1)); }

/// out[group] = the sum of the group's elements, by halves. The group's size must be a power of two.
ir::Kernel tree(DType t, std::int64_t items) {
    Builder b = in_groups("tree", {items});
    const Value x = b.pointer("x", t, Access::Read, true), o = b.pointer("o", t, Access::Write, true);
    const Value tile = b.array("tile", t, items, Space::Group), lid = b.local_dim(0);
    b.store(tile, lid, b.load(x, b.dim(0)));
    b.barrier();
    const Value start[] = {b.i64(items / 2)};
    b.while_loop(
        start, [&](std::span<const Value> c) { return b.gt(c[0], b.i64(0)); },
        [&](std::span<const Value> c) {
            b.if_else(
                b.lt(lid, c[0]),
                [&] {
                    b.store(tile, lid, b.add(b.load(tile, lid), b.load(tile, b.add(lid, c[0]))));
                    return Values{};
                },
                [] { return Values{}; });
            b.barrier();
            return Values{half(b, c[0])};
        });
    b.if_else(
        b.eq(lid, b.i64(0)),
        [&] {
            b.store(o, b.group_dim(0), b.load(tile, b.i64(0)));
            return Values{};
        },
        [] { return Values{}; });
    return b.finish();
}

TEST(Groups, TreeReduction) {
    for (DType t : {f32, f64, i32, DType::Int8, DType::Float16, DType::BFloat16, i64})
        for (std::int64_t items : {1, 2, 64, 256, 1024})
            check(tree(t, items), {counting(t, 3 * items), array(t, 3)}, {3 * items}, 0,
                  std::string(dtype_name(t)) + std::to_string(items));
}

TEST(Groups, InclusiveScan) {  // each item keeps its own sum across the barriers
    for (std::int64_t items : {1, 7, 64, 256}) {
        Builder b = in_groups("scan", {items});
        const Value x = b.pointer("x", f64, Access::Read, true), o = b.pointer("o", f64, Access::Write, true);
        const Value tile = b.array("tile", f64, items, Space::Group), lid = b.local_dim(0);
        const Value first = b.load(x, b.dim(0));
        b.store(tile, lid, first);
        const Value start[] = {b.i64(1), first};
        const Values end = b.while_loop(
            start, [&](std::span<const Value> c) { return b.lt(c[0], b.i64(items)); },
            [&](std::span<const Value> c) {
                b.barrier();
                const Values sum = b.if_else(
                    b.ge(lid, c[0]), [&] { return Values{b.add(c[1], b.load(tile, b.sub(lid, c[0])))}; }, [&] { return Values{c[1]}; });
                b.barrier();
                b.store(tile, lid, sum[0]);
                return Values{b.add(c[0], c[0]), sum[0]};
            });
        b.store(o, b.dim(0), end[1]);
        check(b.finish(), {counting(f64, 4 * items), array(f64, 4 * items)}, {4 * items}, 0, std::to_string(items));
    }
}

ir::Kernel transpose(DType t, std::int64_t rows, std::int64_t columns) {
    Builder b = in_groups("transpose", {rows, columns});
    const Value x = b.pointer("x", t, Access::Read, true), o = b.pointer("o", t, Access::Write, true);
    const Value tile = b.array("tile", t, rows * (columns + 1), Space::Group);
    const Value r = b.local_dim(0), c = b.local_dim(1), linear = b.add(b.mul(r, b.i64(columns)), c);
    b.store(tile, b.add(b.mul(r, b.i64(columns + 1)), c), b.load(x, b.add(b.mul(b.dim(0), b.extent(1)), b.dim(1))));
    b.barrier();
    const Value new_row = b.floor_div(linear, b.i64(rows)), new_column = b.rem(linear, b.i64(rows));
    const Value at = b.add(b.mul(b.add(b.mul(b.group_dim(1), b.i64(columns)), new_row), b.extent(0)),
                           b.add(b.mul(b.group_dim(0), b.i64(rows)), new_column));
    b.store(o, at, b.load(tile, b.add(b.mul(new_column, b.i64(columns + 1)), new_row)));
    return b.finish();
}

TEST(Groups, TransposeThroughAGroupArray) {
    for (DType t : {f32, DType::Int8, DType::Bool, DType::Complex64})
        for (auto [rows, columns] : {std::pair<std::int64_t, std::int64_t>{16, 16}, {5, 7}, {3, 1}, {1, 9}})
            check(transpose(t, rows, columns), {interesting(t, 6 * rows * columns, 4), array(t, 6 * rows * columns)},
                  {2 * rows, 3 * columns}, 0, std::string(dtype_name(t)) + std::to_string(columns));
}

ir::Kernel matmul(DType t, std::int64_t n, std::int64_t size) {
    Builder b = in_groups("matmul", {size, size});
    const Value x = b.pointer("x", t, Access::Read, true), y = b.pointer("y", t, Access::Read, true),
                o = b.pointer("o", t, Access::Write, true), width = b.scalar_param("n", i64);
    const Value left = b.array("left", t, size * size, Space::Group), right = b.array("right", t, size * size, Space::Group);
    const Value r = b.local_dim(0), c = b.local_dim(1), own = b.add(b.mul(r, b.i64(size)), c);
    const Value zero[] = {b.constant(t, 0.0)};
    const Values sum = b.for_loop(b.i64(0), width, b.i64(size), zero, [&](Value k, std::span<const Value> acc) {
        b.store(left, own, b.load(x, b.add(b.mul(b.dim(0), width), b.add(k, c))));
        b.store(right, own, b.load(y, b.add(b.mul(b.add(k, r), width), b.dim(1))));
        b.barrier();
        const Values part = b.for_loop(b.i64(0), b.i64(size), b.i64(1), acc, [&](Value e, std::span<const Value> inner) {
            return Values{
                b.add(inner[0], b.mul(b.load(left, b.add(b.mul(r, b.i64(size)), e)), b.load(right, b.add(b.mul(e, b.i64(size)), c))))};
        });
        b.barrier();
        return Values{part[0]};
    });
    b.store(o, b.add(b.mul(b.dim(0), width), b.dim(1)), sum[0]);
    (void)n;
    return b.finish();
}

TEST(Groups, TiledMatmul) {
    for (DType t : {f32, f64, i32})
        for (std::int64_t size : {16, 5}) {
            const std::int64_t n = 3 * size;
            check(matmul(t, n, size), {counting(t, n * n, 11), counting(t, n * n, 13), array(t, n * n), scalar_of(n)}, {n, n}, 0,
                  std::string(dtype_name(t)) + std::to_string(size));
        }
}

TEST(Groups, ThreeDimensions) {
    const Sizes size{4, 3, 5};
    Builder b = in_groups("volume", size);
    const Value x = b.pointer("x", f32, Access::Read, true), o = b.pointer("o", f32, Access::Write, true);
    const Value tile = b.array("tile", f32, 60, Space::Group);
    auto linear = [&](Value i, Value j, Value k) { return b.add(b.mul(b.add(b.mul(i, b.i64(3)), j), b.i64(5)), k); };
    const Value at = b.add(b.mul(b.add(b.mul(b.dim(0), b.extent(1)), b.dim(1)), b.extent(2)), b.dim(2));
    const Value own = linear(b.local_dim(0), b.local_dim(1), b.local_dim(2)), v = b.load(x, at);
    b.store(tile, own, v);
    b.barrier();
    const Value across = b.sub(b.i64(59), own);
    b.store(o, at, b.add(b.mul(v, b.constant(f32, 3.0)), b.load(tile, across)));
    check(b.finish(), {counting(f32, 60 * 12), array(f32, 60 * 12)}, {8, 6, 15});
}

/// How a test makes its group's items pass barriers; `step` exchanges values with a neighbour between two barriers.
struct Shape {
    const char* name;
    std::function<Values(Builder& b, Value trips, Value list, Values carried, const std::function<Values(Values, Value)>& step)> run;
};

const Shape shapes[] = {
    {"straight",
     [](Builder& b, Value, Value, Values c, const auto& step) {
         c = step(c, b.i64(1));
         c = step(c, b.i64(2));
         return step(c, b.i64(5));
     }},
    {"for by a parameter",
     [](Builder& b, Value trips, Value, Values c, const auto& step) {
         return b.for_loop(b.i64(0), trips, b.i64(1), c, [&](Value i, std::span<const Value> s) { return step({s.begin(), s.end()}, i); });
     }},
    {"for by a loaded value, downwards",
     [](Builder& b, Value, Value list, Values c, const auto& step) {
         return b.for_loop(b.load(list, b.group_dim(0)), b.i64(-1), b.i64(-1), c, [&](Value i, std::span<const Value> s) {
             return step({s.begin(), s.end()}, i);
         });
     }},
    {"nested",
     [](Builder& b, Value trips, Value list, Values c, const auto& step) {
         return b.for_loop(b.i64(0), trips, b.i64(2), c, [&](Value i, std::span<const Value> outer) {
             const Values first = step({outer.begin(), outer.end()}, i);
             return b.for_loop(i, b.load(list, b.i64(1)), b.i64(1), first, [&](Value j, std::span<const Value> s) {
                 return step({s.begin(), s.end()}, j);
             });
         });
     }},
    {"if",
     [](Builder& b, Value trips, Value list, Values c, const auto& step) {
         const Value odd = b.eq(b.bit_and(b.group_dim(0), b.i64(1)), b.i64(1));
         c = b.if_else(
             odd, [&] { return step(step(c, b.i64(1)), trips); },
             [&] {
                 Values other = c;
                 std::swap(other[0], other[1]);
                 return other;
             });
         return b.if_else(
             b.gt(b.load(list, b.i64(0)), b.i64(1)), [&] { return step(c, b.i64(3)); }, [&] { return step(c, b.i64(4)); });
     }},
    {"while with a counter",
     [](Builder& b, Value trips, Value, Values c, const auto& step) {
         Values all{b.i64(0)};
         all.insert(all.end(), c.begin(), c.end());
         Values end = b.while_loop(
             all, [&](std::span<const Value> s) { return b.lt(b.mul(s[0], s[0]), trips); },
             [&](std::span<const Value> s) {
                 Values next{b.add(s[0], b.i64(1))};
                 for (Value v : step({s.begin() + 1, s.end()}, s[0])) next.push_back(v);
                 return next;
             });
         return Values(end.begin() + 1, end.end());
     }},
    {"carried values that change places",
     [](Builder& b, Value trips, Value, Values c, const auto& step) {
         return b.for_loop(b.i64(0), trips, b.i64(1), c, [&](Value i, std::span<const Value> s) {
             const Values next = step({s.begin(), s.end()}, i);
             (void)next;
             return Values{s[1], s[0]};
         });
     }},
};

/// Two values of one dtype an item; `step` gives (what the neighbour had, own first + second).
ir::Kernel pairs(DType t, const Shape& shape, const Sizes& size) {
    Builder b = in_groups("pairs", size);
    const Value x = b.pointer("x", t, Access::Read, true), o = b.pointer("o", t, Access::Write, true),
                list = b.pointer("list", i64, Access::Read, true), trips = b.scalar_param("trips", i64);
    std::int64_t items = 1;
    Value own = b.i64(0), at = b.i64(0);
    for (std::size_t d = 0; d < size.size(); ++d) {
        items *= size[d];
        own = b.add(b.mul(own, b.i64(size[d])), b.local_dim(static_cast<int>(d)));
        at = b.add(b.mul(at, b.extent(static_cast<int>(d))), b.dim(static_cast<int>(d)));
    }
    const Value tile = b.array("tile", t, items, Space::Group);
    const Value v = b.load(x, at);
    b.barrier();  // first of all
    const auto step = [&](Values c, Value turn) {
        b.store(tile, own, c[0]);
        b.barrier();
        const Value next = b.rem(b.add(own, b.add(b.rem(turn, b.i64(3)), b.i64(1))), b.i64(items));
        const Value theirs = b.load(tile, next);
        b.barrier();
        const Value sum = t == DType::Bool ? b.bit_xor(c[0], c[1]) : b.add(c[0], c[1]);
        return Values{theirs, sum};
    };
    const Values end = shape.run(b, trips, list, {v, plus_one(b, v)}, step);
    b.store(o, at, t == DType::Bool ? b.bit_or(end[0], end[1]) : b.sub(end[0], b.add(end[1], v)));
    b.barrier();  // last of all
    return b.finish();
}

TEST(Groups, BarriersInEveryControlFlow) {
    const std::int64_t groups = 3;
    for (const Shape& shape : shapes)
        for (DType t : {f32, i64, DType::Int8, DType::Bool, DType::Float16, DType::BFloat16})
            for (const Sizes& size : {Sizes{1}, Sizes{7}, Sizes{6, 1}, Sizes{2, 3, 5}}) {
                if (t != f32 && size.size() != 3) continue;
                Sizes extents = size;
                extents[0] *= groups;
                std::int64_t items = 1;
                for (std::int64_t n : extents) items *= n;
                for (std::int64_t trips : {0, 5}) {
                    if (trips == 0 && t != f32) continue;
                    check(pairs(t, shape, size),
                          {counting(t, items, 10), array(t, items), array_of(std::vector<std::int64_t>{2, 4, 1}), scalar_of(trips)},
                          extents, 0,
                          std::string(shape.name) + " " + std::string(dtype_name(t)) + " " + std::to_string(items) + " trips " +
                              std::to_string(trips));
                }
                if (testing::Test::HasFailure()) return;
            }
}

TEST(Groups, LargeGroups) {
    for (std::int64_t items : {256, 1000, 1024})
        check(
            pairs(DType::Int64, shapes[3], {items}),
            {counting(i64, 2 * items, 10), array(i64, 2 * items), array_of(std::vector<std::int64_t>{2, 3, 1}), scalar_of(std::int64_t(3))},
            {2 * items});
}

TEST(Groups, SeveralDtypesLiveAcrossOneBarrier) {
    for (std::int64_t items : {1, 7, 64}) {
        Builder b = in_groups("many", {items});
        const Value x = b.pointer("x", f64, Access::Read, true), o = b.pointer("o", f64, Access::Write, true);
        const Value tile = b.array("tile", f64, items, Space::Group), lid = b.local_dim(0), v = b.load(x, b.dim(0));
        Values kept;
        for (DType t : {f32, DType::Int8, DType::Bool, DType::Float16, DType::BFloat16, i64, DType::UInt16, f64})
            kept.push_back(t == DType::Bool ? b.gt(v, b.constant(f64, 40.0)) : b.cast(b.mul(v, b.constant(f64, 0.5)), t));
        b.store(tile, lid, v);
        b.barrier();
        Value sum = b.load(tile, b.sub(b.i64(items - 1), lid));
        for (Value each : kept) sum = b.add(sum, b.cast(each, f64));
        b.store(o, b.dim(0), sum);
        check(b.finish(), {counting(f64, 3 * items), array(f64, 3 * items)}, {3 * items});
    }
}

TEST(Groups, UniformValuesOfLoopsWithoutBarriers) {  // made inside of a loop over items, wanted as a bound of the group's loop
    Builder b = in_groups("bound", {48});
    const Value x = b.pointer("x", i64, Access::Read, true), o = b.pointer("o", i64, Access::ReadWrite, true);
    const Value tile = b.array("tile", i64, 48, Space::Group), lid = b.local_dim(0);
    const Value start[] = {b.i64(0), b.mul(lid, b.i64(3))};
    const Values mixed = b.for_loop(b.i64(0), b.load(x, b.group_dim(0)), b.i64(1), start, [&](Value i, std::span<const Value> c) {
        return Values{b.add(c[0], b.load(x, i)), b.bit_xor(c[1], i)};
    });
    const Value own[] = {mixed[1]};
    const Values end = b.for_loop(b.i64(0), mixed[0], b.i64(1), own, [&](Value i, std::span<const Value> c) {
        b.store(tile, lid, c[0]);
        b.barrier();
        const Value other = b.load(tile, b.sub(b.i64(47), lid));
        b.barrier();
        return Values{b.add(other, i)};
    });
    b.store(o, b.dim(0), end[0]);
    check(b.finish(), {array_of(std::vector<std::int64_t>{3, 2, 1}), array(i64, 144)}, {144});
}

TEST(Groups, UniformLoadsSeeStoresOfThePartBefore) {
    Builder b = in_groups("broadcast", {20});
    const Value o = b.pointer("o", f32, Access::ReadWrite, false), tile = b.array("tile", f32, 1, Space::Group), lid = b.local_dim(0);
    auto write = [&](std::int64_t writer, double value) {
        b.if_else(
            b.eq(lid, b.i64(writer)),
            [&] {
                b.store(tile, b.i64(0), b.add(b.constant(f32, value), b.cast(b.group_dim(0), f32)));
                return Values{};
            },
            [] { return Values{}; });
        b.barrier();
        return b.load(tile, b.i64(0));
    };
    const Value first = write(3, 10.0);
    b.barrier();
    const Value second = write(19, 20.0);
    b.store(o, b.dim(0), b.add(b.mul(first, second), b.load(o, b.dim(0))));
    check(b.finish(),
          {
              counting(f32, 60),
          },
          {60});
}

TEST(Groups, PrivateArraysLiveAcrossBarriers) {
    for (DType t : {f32, DType::Int8, f64, DType::Bool, DType::Float16, DType::BFloat16})
        for (const Sizes& size : {Sizes{1}, Sizes{7}, Sizes{64}, Sizes{3, 5}, Sizes{4, 1}}) {
            Builder b = in_groups("private", size);
            const Value x = b.pointer("x", t, Access::Read, true), o = b.pointer("o", t, Access::Write, true);
            const int last = static_cast<int>(size.size()) - 1;
            const std::int64_t items = size.size() == 1 ? size[0] : size[0] * size[1];
            const Value at = last ? b.add(b.mul(b.dim(0), b.extent(1)), b.dim(1)) : b.dim(0);
            const Value own = last ? b.add(b.mul(b.local_dim(0), b.i64(size[1])), b.local_dim(1)) : b.local_dim(0);
            const Value mine = b.array("mine", t, 4, Space::Private), tile = b.array("tile", t, items, Space::Group);
            const Value v = b.load(x, at);
            b.for_loop(b.i64(0), b.i64(4), b.i64(1), {}, [&](Value k, std::span<const Value>) {
                b.store(mine, k, t == DType::Bool ? b.bit_xor(v, b.eq(k, b.i64(2))) : b.add(v, b.cast(k, t)));
                return Values{};
            });
            b.store(tile, own, v);
            b.barrier();
            const Value theirs = b.load(tile, b.sub(b.i64(items - 1), own));
            const Value chosen = b.rem(own, b.i64(4));
            b.store(mine, chosen, theirs);
            b.if_else(
                b.lt(own, b.i64(3)),
                [&] {
                    b.store(mine, b.i64(1), theirs);
                    return Values{};
                },
                [] { return Values{}; });
            b.barrier();
            Value sum = theirs;
            for (int k = 0; k < 4; ++k) {
                const Value each = b.load(mine, b.i64(k));
                sum = t == DType::Bool ? b.bit_xor(sum, each) : b.add(sum, each);
            }
            sum =
                t == DType::Bool ? b.bit_or(sum, b.load(mine, b.sub(b.i64(3), chosen))) : b.sub(sum, b.load(mine, b.sub(b.i64(3), chosen)));
            b.store(o, at, sum);
            Sizes extents = size;
            extents[0] *= 3;
            check(b.finish(), {counting(t, 3 * items, 20), array(t, 3 * items)}, extents, 0,
                  std::string(dtype_name(t)) + std::to_string(items));
        }
}

TEST(Groups, GuardsOnTheItemsIndex) {
    using Guard = std::function<Value(Builder&, Value index, Value limit)>;
    const std::pair<const char*, Guard> guards[] = {
        {"<", [](Builder& b, Value i, Value n) { return b.lt(i, n); }},
        {"<=", [](Builder& b, Value i, Value n) { return b.le(i, n); }},
        {">", [](Builder& b, Value i, Value n) { return b.gt(i, n); }},
        {">=", [](Builder& b, Value i, Value n) { return b.ge(i, n); }},
        {"==", [](Builder& b, Value i, Value n) { return b.eq(i, n); }},
        {"turned <", [](Builder& b, Value i, Value n) { return b.lt(n, i); }},
        {"turned >=", [](Builder& b, Value i, Value n) { return b.ge(n, i); }},
        {"between", [](Builder& b, Value i, Value n) { return b.bit_and(b.ge(i, b.sub(n, b.i64(9))), b.lt(i, n)); }},
        {"of rows too", [](Builder& b, Value i, Value n) { return b.bit_and(b.lt(i, n), b.lt(b.local_dim(0), b.i64(2))); }},
        {"odd ones", [](Builder& b, Value i, Value n) { return b.bit_and(b.lt(i, n), b.eq(b.bit_and(i, b.i64(1)), b.i64(1))); }},
        {"by row", [](Builder& b, Value i, Value n) { return b.lt(i, b.mul(n, b.local_dim(0))); }},
        {"steps of two", [](Builder& b, Value i, Value n) { return b.lt(b.mul(i, b.i64(2)), n); }},
    };
    for (const auto& [what, guard] : guards)
        for (const Sizes& size : {Sizes{3, 37}, Sizes{3, 1}, Sizes{1, 64}})
            for (bool of_range : {false, true}) {
                Builder b = in_groups("guard", size);
                const Value o = b.pointer("o", f32, Access::ReadWrite, true), n = b.scalar_param("n", i64);
                const Value at = b.add(b.mul(b.dim(0), b.extent(1)), b.dim(1));
                b.barrier();
                b.if_else(
                    guard(b, of_range ? b.dim(1) : b.local_dim(1), n),
                    [&] {
                        b.store(o, at, b.add(b.load(o, at), b.cast(b.dim(1), f32)));
                        return Values{};
                    },
                    [] { return Values{}; });
                b.barrier();
                const ir::Kernel kernel = b.finish();
                for (std::int64_t limit : {std::int64_t(-1), std::int64_t(0), std::int64_t(1), std::int64_t(16), std::int64_t(17),
                                           std::int64_t(37), std::int64_t(50), INT64_MAX, INT64_MIN}) {
                    std::vector<Argument> native{counting(f32, size[0] * size[1] * 4), scalar_of(limit)}, reference = native;
                    interpret(kernel, reference, {2 * size[0], 2 * size[1]});
                    static Compiled code;
                    if (limit == -1) code = compile(kernel, 64);
                    run_native(code, native, {2 * size[0], 2 * size[1]});
                    expect_same(native, reference, 0, std::string(what) + " " + std::to_string(limit) + (of_range ? " of range" : ""));
                }
            }
}

TEST(Groups, WithoutBarriers) {
    Builder b = in_groups("plain", {2, 24});
    const Value x = b.pointer("x", f64, Access::Read, true), o = b.pointer("o", f64, Access::Write, true);
    const Value at = b.add(b.mul(b.dim(0), b.extent(1)), b.dim(1)), v = b.load(x, at);
    const ir::Reduction sum[] = {{ir::Combine::Add, v}};
    const Values r =
        b.for_lanes(b.i64(0), b.add(b.local_dim(1), b.i64(1)), sum, [&](Value k) { return Values{b.mul(b.cast(k, f64), b.load(x, k))}; });
    b.store(o, at, b.add(r[0], b.cast(b.add(b.group_dim(0), b.mul(b.group_dim(1), b.i64(100))), f64)));
    check(b.finish(), {counting(f64, 4 * 72), array(f64, 4 * 72)}, {4, 72});
}

TEST(Groups, PartsOfARange) {
    const ir::Kernel kernel = tree(i32, 64);
    std::vector<Argument> reference{counting(i32, 640), array(i32, 10)}, native = reference;
    interpret(kernel, reference, {640});
    const Compiled code = compile(kernel, 64);
    run_native(code, native, {640}, {0}, {192});
    run_native(code, native, {640}, {192}, {192});
    run_native(code, native, {640}, {192}, {640});
    expect_same(native, reference, 0, "parts");
    const std::vector<std::int32_t> x = values<std::int32_t>(native[0]), sums = values<std::int32_t>(native[1]);
    for (std::size_t g = 0; g < sums.size(); ++g)
        EXPECT_EQ(sums[g], std::accumulate(x.begin() + static_cast<std::ptrdiff_t>(64 * g),
                                           x.begin() + static_cast<std::ptrdiff_t>(64 * g + 64), 0));
}

TEST(Groups, RefusesBarriersOnDifferentWays) {
    auto compile_error = [](const ir::Kernel& kernel) -> std::string {
        try {
            compile(kernel, 64);
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ErrorCode::Compile);
            return e.message();
        }
        return "";
    };
    const char* text = ": items of one group may take different branches around a barrier; put it where all of them come";
    auto barrier = [](Builder& b) {
        b.barrier();
        return Values{};
    };
    {
        Builder b = in_groups("if", {8});
        b.if_else(
            b.lt(b.local_dim(0), b.i64(3)), [&] { return barrier(b); }, [] { return Values{}; });
        EXPECT_EQ(compile_error(b.finish()), std::string("if") + text);
    }
    {
        Builder b = in_groups("for", {8});
        b.for_loop(b.i64(0), b.dim(0), b.i64(1), {}, [&](Value, std::span<const Value>) { return barrier(b); });
        EXPECT_EQ(compile_error(b.finish()), std::string("for") + text);
    }
    {
        Builder b = in_groups("while", {8});
        const std::uint32_t file = b.add_file("k.py");
        const Value x = b.pointer("x", i64, Access::Read, true);
        b.set_span({file, 12, 3, 9});
        b.while_loop(
            {}, [&](std::span<const Value>) { return b.gt(b.load(x, b.dim(0)), b.i64(2)); },
            [&](std::span<const Value>) { return barrier(b); });
        EXPECT_EQ(compile_error(b.finish()), std::string("while") + text + " (k.py:12)");
    }
    {
        Builder b = in_groups("big", {1024});
        const Value tile = b.array("tile", f64, 1024 * 40, Space::Group), o = b.pointer("o", f64, Access::Write, true);
        b.store(tile, b.local_dim(0), b.constant(f64, 1.0));
        b.barrier();
        b.store(o, b.dim(0), b.load(tile, b.local_dim(0)));
        const std::string message = compile_error(b.finish());
        EXPECT_NE(message.find("327680 bytes"), std::string::npos) << message;
        EXPECT_NE(message.find("262144"), std::string::npos) << message;
    }
}

}  // namespace
}  // namespace pardo::test

// tests/unit/emit/analysis.cpp: what emitters find out about a kernel before they write a line of it; nothing is compiled or run.
#include <gtest/gtest.h>

#include "emit/analysis/adjacent_stores.h"
#include "emit/analysis/indices.h"
#include "emit/analysis/loads.h"
#include "emit/analysis/packed_key.h"
#include "emit/analysis/shared_values.h"
#include "emit/analysis/sines.h"
#include "emit/analysis/uses.h"
#include "ir/rules.h"
#include "support.h"

namespace pardo::test {
namespace {

using ir::Access;
using ir::Builder;
using ir::Math;
using ir::Value;

/// A kernel over one dimension with an array to read, one to write, and one for both that may overlap others.
class Analysis : public testing::Test {
protected:
    Builder m{"k", 1, true};
    const Value x = m.pointer("x", f32, Access::Read, true), out = m.pointer("out", f32, Access::Write, true),
                both = m.pointer("both", f32, Access::ReadWrite, false), n = m.scalar_param("n", i64), i = m.dim(0);

    /// The n-th instruction of this kind in the order of instructions.
    static ir::InstrId instruction(const ir::Kernel& kernel, ir::Opcode op, int number) {
        for (ir::InstrId id = 0; id < kernel.instrs.size(); ++id)
            if (kernel.instrs[id].op == op && number-- == 0) return id;
        ADD_FAILURE() << ir::name(op);
        return 0;
    }
    /// A loop over the lanes of [0, n).
    Value sum(const std::function<Value(Value)>& term) {
        const ir::Reduction sums{ir::Combine::Add, m.constant(f32, 0.0)};
        return m.for_lanes(m.i64(0), n, {&sums, 1}, [&](Value k) { return Builder::Values{term(k)}; })[0];
    }
};

TEST_F(Analysis, uses_are_counted_and_have_a_place) {
    const Value a = m.load(x, i), b = m.add(a, a);
    m.store(out, i, b);
    m.if_else(
        m.gt(b, m.constant(f32, 0.0)),
        [&] {
            m.store(both, i, a);
            return Builder::Values{};
        },
        [] { return Builder::Values{}; });
    const ir::Kernel kernel = m.finish();
    const emit::Uses uses = emit::uses_of(kernel);
    EXPECT_EQ(uses.count[a], 3);
    EXPECT_EQ(uses.home[a], ~0u);
    EXPECT_EQ(uses.used_in[a], kernel.instrs[instruction(kernel, ir::Opcode::If, 0)].regions[0]);
    EXPECT_EQ(uses.user[a], instruction(kernel, ir::Opcode::Store, 1));
    EXPECT_EQ(uses.count[b], 2);
    EXPECT_EQ(uses.count[n], 0);
    EXPECT_FALSE(uses.once_nearby(a));
    EXPECT_TRUE(uses.once_nearby(kernel.instrs[instruction(kernel, ir::Opcode::Gt, 0)].results[0]));
}

TEST_F(Analysis, a_value_used_in_another_region_is_not_nearby) {
    const Value a = m.load(x, i);
    m.if_else(
        m.gt(n, i),
        [&] {
            m.store(out, i, a);
            return Builder::Values{};
        },
        [] { return Builder::Values{}; });
    const emit::Uses uses = emit::uses_of(m.finish());
    EXPECT_EQ(uses.count[a], 1);
    EXPECT_FALSE(uses.once_nearby(a));
}

TEST_F(Analysis, indices_are_made_of_indices_alone) {
    const Value places = m.pointer("places", i64, Access::Read, true);
    const Value sums = m.add(m.mul(i, n), m.i64(3)), read = m.load(places, i), mixed = m.add(read, i), shifted = m.shl(i, n);
    Value counter = ir::no_value, carried = ir::no_value;
    const Value initial[] = {i};
    const auto last = m.for_loop(m.i64(0), n, m.i64(1), initial, [&](Value k, std::span<const Value> values) {
        counter = m.sub(k, n);
        carried = values[0];
        return Builder::Values{m.add(carried, counter)};
    });
    m.store(out, m.add(m.add(sums, mixed), m.add(shifted, last[0])), m.constant(f32, 1.0));
    const std::vector<bool> indices = emit::index_values(m.finish());
    EXPECT_TRUE(indices[sums] && indices[i] && indices[n] && indices[counter]);
    EXPECT_FALSE(indices[read] || indices[mixed] || indices[shifted] || indices[carried] || indices[last[0]]);
}

TEST_F(Analysis, loads_stay_before_what_changes_memory) {
    const Value safe = m.load(x, i), early = m.load(both, i), late = m.load(both, n);
    m.store(both, m.i64(0), m.add(late, m.constant(f32, 1.0)));
    m.store(out, i, m.add(safe, m.neg(early)));
    const ir::Kernel kernel = m.finish();
    const std::vector<bool> fixed = emit::fixed_loads(kernel, emit::uses_of(kernel));
    EXPECT_FALSE(fixed[safe]);  // nothing writes what is read and alone
    EXPECT_TRUE(fixed[early]);
    EXPECT_FALSE(fixed[late]);  // moves to the store itself
}

TEST_F(Analysis, a_loop_evaluates_its_bound_again) {
    const Value sizes = m.pointer("sizes", i64, Access::ReadWrite, false), lower = m.load(sizes, m.i64(0)), upper = m.load(sizes, m.i64(1));
    m.for_loop(lower, upper, m.i64(1), {}, [&](Value k, std::span<const Value>) {
        m.store(sizes, k, k);
        return Builder::Values{};
    });
    const ir::Kernel kernel = m.finish();
    const std::vector<bool> fixed = emit::fixed_loads(kernel, emit::uses_of(kernel));
    EXPECT_TRUE(fixed[upper]);
    EXPECT_FALSE(fixed[lower]);
}

TEST_F(Analysis, loads_come_early_where_functions_follow) {
    const Value a = m.load(x, i), b = m.load(x, m.add(i, m.i64(1)));
    m.store(out, i, m.div(a, b));
    m.store(out, n, m.load(x, n));
    const ir::Kernel kernel = m.finish();
    const ir::InstrId first = kernel.values[a].def, second = kernel.values[b].def;
    EXPECT_EQ(emit::early_loads(kernel, 4), (std::vector{first, second}));  // not the one after a store
    EXPECT_EQ(emit::early_loads(kernel, 33), std::vector<ir::InstrId>());   // too many registers
}

TEST_F(Analysis, no_load_comes_early_that_needs_another_one_or_hides_nothing) {
    const Value places = m.pointer("places", i64, Access::Read, true), place = m.load(places, i), a = m.load(x, place);
    m.store(out, i, m.call(Math::exp, a));
    const ir::Kernel kernel = m.finish();
    EXPECT_EQ(emit::early_loads(kernel, 2), std::vector{kernel.values[place].def});
    Builder plain("plain", 1, true);
    const Value from = plain.pointer("x", f32, Access::Read, true), to = plain.pointer("out", f32, Access::Write, true);
    plain.store(to, plain.dim(0), plain.add(plain.load(from, plain.dim(0)), plain.constant(f32, 1.0)));
    EXPECT_TRUE(emit::early_loads(plain.finish(), 2).empty());
}

TEST_F(Analysis, a_sine_and_a_later_cosine_of_one_number_are_a_pair) {
    const Value a = m.load(x, i), b = m.neg(a), cosine = m.call(Math::cos, a), sine = m.call(Math::sin, a), other = m.call(Math::sin, b);
    m.store(out, i, m.add(m.mul(cosine, sine), other));
    const ir::Kernel kernel = m.finish();
    EXPECT_EQ(emit::paired_sines(kernel, emit::uses_of(kernel)), (std::map<Value, Value>{{cosine, sine}}));
}

TEST_F(Analysis, no_pairs_where_nobody_uses_one_or_lanes_share_values) {
    const Value a = m.load(x, i), sine = m.call(Math::sin, a);
    m.call(Math::cos, a);
    m.store(out, i, sine);
    const ir::Kernel unused = m.finish();
    EXPECT_TRUE(emit::paired_sines(unused, emit::uses_of(unused)).empty());
    Builder lanes("lanes", 1, false);
    const Value from = lanes.pointer("x", f32, Access::Read, true), to = lanes.pointer("out", f32, Access::Write, true);
    const Value b = lanes.load(from, lanes.dim(0)), both = lanes.add(lanes.call(Math::sin, b), lanes.call(Math::cos, b));
    const ir::Reduction sums{ir::Combine::Add, both};
    const auto total =
        lanes.for_lanes(lanes.i64(0), lanes.i64(9), {&sums, 1}, [&](Value k) { return Builder::Values{lanes.load(from, k)}; });
    lanes.store(to, lanes.dim(0), total[0]);
    const ir::Kernel looped = lanes.finish();
    EXPECT_TRUE(emit::paired_sines(looped, emit::uses_of(looped)).empty());
}

/// Runs of the stores that a kernel with some other things between them has.
std::vector<std::size_t> runs_of(DType dtype, std::initializer_list<int> places, bool reads = false) {
    Builder m("k", 1, true);
    const Value out = m.pointer("out", dtype, Access::ReadWrite, true), begin = m.mul(m.dim(0), m.i64(8));
    for (const int place : places) {
        const Value value = reads ? m.load(out, m.dim(0)) : m.cast(m.add(m.dim(0), m.i64(place + 100)), dtype);
        m.store(out, m.add(begin, m.i64(place)), value);
    }
    const ir::Kernel kernel = m.finish();
    const emit::AdjacentStores stores = emit::adjacent_stores(kernel);
    std::vector<std::size_t> lengths;
    std::size_t earlier = 0;
    for (const auto& [last, run] : stores.runs) {
        lengths.push_back(run.size());
        earlier += run.size() - 1;
        EXPECT_EQ(run.back(), last);
        EXPECT_FALSE(stores.earlier[last]);
    }
    EXPECT_EQ(earlier, static_cast<std::size_t>(std::ranges::count(stores.earlier, true)));
    return lengths;
}

TEST(AdjacentStores, are_as_many_as_one_access_writes) {
    using Lengths = std::vector<std::size_t>;
    EXPECT_EQ(runs_of(f32, {0, 1, 2, 3}), Lengths({4}));
    EXPECT_EQ(runs_of(f32, {0, 1, 2, 3, 4, 5, 6}), Lengths({4, 2}));
    EXPECT_EQ(runs_of(f64, {0, 1, 2, 3}), Lengths({2, 2}));
    EXPECT_EQ(runs_of(DType::Int16, {0, 1, 2, 3}), Lengths());
    EXPECT_EQ(runs_of(f32, {0, 2, 3, 1}), Lengths({2}));
    EXPECT_EQ(runs_of(f32, {3, 2, 1, 0}), Lengths());
    EXPECT_EQ(runs_of(f32, {0, 1, 2, 3}, true), Lengths());
}

TEST_F(Analysis, a_later_loop_finds_what_an_earlier_one_has_computed) {
    Value first = ir::no_value, second = ir::no_value, third = ir::no_value;
    const Value total = sum([&](Value k) { return first = m.call(Math::exp, m.load(x, k)); });
    const Value squares = sum([&](Value k) {
        second = m.call(Math::exp, m.load(x, k));
        return m.mul(second, second);
    });
    const Value others = sum([&](Value k) { return third = m.call(Math::exp, m.load(x, m.add(k, m.i64(1)))); });
    m.store(out, i, m.add(m.add(total, squares), others));
    const ir::Kernel kernel = m.finish();
    const emit::SharedValues values = emit::shared_values(kernel, emit::uses_of(kernel));
    EXPECT_EQ(values.arrays, std::vector{f32});
    EXPECT_EQ(values.kept[first], 0);
    EXPECT_EQ(values.found[second], 0);
    EXPECT_EQ(values.found[third], emit::SharedValues::none);
    EXPECT_TRUE(values.idle[kernel.values[kernel.instrs[kernel.values[second].def].operands[0]].def]);  // its load
    EXPECT_FALSE(values.idle[kernel.values[first].def]);
}

TEST_F(Analysis, nothing_is_found_that_may_have_changed_or_needs_too_many_arrays) {
    sum([&](Value k) { return m.load(both, k); });
    const Value again = sum([&](Value k) { return m.load(both, k); });
    m.store(out, i, again);
    const ir::Kernel written = m.finish();
    EXPECT_TRUE(emit::shared_values(written, emit::uses_of(written)).arrays.empty());

    Builder many("many", 1, false);
    std::vector<Value> from;
    for (const char* name : {"a", "b", "c", "d", "e"}) from.push_back(many.pointer(name, f32, Access::Read, true));
    const Value to = many.pointer("out", f32, Access::Write, true);
    const ir::Reduction sums{ir::Combine::Add, many.constant(f32, 0.0)};
    const std::vector<ir::Reduction> all(from.size(), sums);
    for (int loop = 0; loop < 2; ++loop) {
        const auto totals = many.for_lanes(many.i64(0), many.extent(0), all, [&](Value k) {
            Builder::Values terms;
            for (const Value pointer : from) terms.push_back(many.load(pointer, k));
            return terms;
        });
        for (const Value total : totals) many.store(to, many.dim(0), total);
    }
    const ir::Kernel wide = many.finish();
    EXPECT_EQ(emit::shared_values(wide, emit::uses_of(wide)).arrays.size(), 3u);
}

/// The key that is found where a loop looks for the greatest of `of(index)`.
Value key_of(const std::function<Value(Builder&, Value key, Value index)>& of, bool& is_key) {
    Builder m("k", 1, false);
    const Value x = m.pointer("x", DType::UInt32, Access::Read, true), out = m.pointer("out", DType::UInt64, Access::Write, true);
    const ir::Reduction greatest{ir::Combine::Max, m.constant(DType::UInt64, 0.0)};
    Value key = ir::no_value;
    const auto found = m.for_lanes(m.i64(0), m.extent(0), {&greatest, 1}, [&](Value k) {
        key = m.load(x, k);
        return Builder::Values{of(m, key, k)};
    });
    m.store(out, m.dim(0), found[0]);
    const ir::Kernel kernel = m.finish();
    const auto loop = std::ranges::find_if(kernel.instrs, ir::is_lanes_loop);
    const Value packed = emit::packed_key(kernel, emit::uses_of(kernel), *loop);
    is_key = packed == key;
    return packed;
}

TEST(PackedKey, is_found_where_the_place_counts_the_iterations) {
    const auto shifted = [](Builder& m, Value key) { return m.shl(m.cast(key, DType::UInt64), m.constant(DType::UInt64, 32.0)); };
    const auto low = [](Builder& m, Value place) { return m.cast(m.bit_not(m.cast(place, DType::UInt32)), DType::UInt64); };
    bool is_key = false;
    key_of([&](Builder& m, Value key, Value k) { return m.bit_or(shifted(m, key), low(m, k)); }, is_key);
    EXPECT_TRUE(is_key);
    key_of([&](Builder& m, Value key, Value k) { return m.bit_or(low(m, k), shifted(m, key)); }, is_key);
    EXPECT_TRUE(is_key);
    key_of([&](Builder& m, Value key, Value k) { return m.bit_or(shifted(m, key), low(m, m.sub(k, m.extent(0)))); }, is_key);
    EXPECT_TRUE(is_key);
    // By an equal key a later place would win.
    EXPECT_EQ(key_of([&](Builder& m, Value key, Value k) { return m.bit_or(shifted(m, key), low(m, m.sub(m.extent(0), k))); }, is_key),
              ir::no_value);
    EXPECT_EQ(key_of([&](Builder& m, Value key, Value) { return shifted(m, key); }, is_key), ir::no_value);
}

}  // namespace
}  // namespace pardo::test

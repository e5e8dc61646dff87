// tests/unit/plan/order_test.cpp: the order of writes and recorded reads (docs/design/ordering.md), and what a known plan is taken for.
#include <pardo/error.h>

#include "plan/plan.h"
#include "support.h"

namespace pardo::test {
namespace {

class Order : public ::testing::Test {
protected:
    void SetUp() override { launches(); }
    std::vector<null::Record> launches() {
        std::vector<null::Record> kept;
        for (null::Record& r : null::take_records(m.queue->device())) {
            if (r.kind == "launch") kept.push_back(std::move(r));
        }
        return kept;
    }
    std::vector<std::string> names() {
        std::vector<std::string> all;
        for (const null::Record& r : launches()) all.push_back(r.name);
        return all;
    }
    /// Whether a store of `value`, which nobody else holds, needs a temporary.
    bool copies(const N& target, N value) const {
        const auto before = counters.copies.load();
        plan::store(target.get(), value.get(), nullptr, After::Dropped, 1);
        return counters.copies.load() != before;
    }
    static std::uint64_t address(const N& leaf) { return reinterpret_cast<std::uint64_t>(leaf->buffer->data()); }
    using Names = std::vector<std::string>;
    Maker m{"null"};
};

TEST_F(Order, PendingViewsBecomeMemoryWithTheirBase) {
    N a = m.leaf({10, 20});
    N x = m.mul(a, a), v = m.slice(x, 0, 1, 4, 2), w = m.transpose(v);
    N reader = m.add(w, m.constant(1.0));
    v = nullptr;
    m.force({x});
    EXPECT_EQ(w->kind, Kind::Leaf);
    EXPECT_EQ(w->buffer.get(), x->buffer.get());
    EXPECT_EQ(w->strides, (Strides{1, 40}));
    EXPECT_EQ(w->offset, 20);
    EXPECT_TRUE(reader->pending());
    EXPECT_EQ(graph::reader_count(*x->buffer), 1);
    EXPECT_EQ(graph::reader_count(*a->buffer), 0);
}

TEST_F(Order, AStoreComputesWhatReadsItsTargetThroughViews) {
    N a = m.leaf({1000});
    N x = m.mul(a, a), v = m.slice(x, 0, 0, 1000), z = m.add(v, m.constant(1.0));
    m.force({x});
    launches();
    plan::store(x.get(), m.op(Op::negative, {v}).get(), nullptr, After::Dropped, 0);
    EXPECT_EQ(z->kind, Kind::Leaf);
    const auto all = launches();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].name, "add_f64");
    EXPECT_EQ(all[1].name, "negative_f64");
    EXPECT_EQ(graph::reader_count(*x->buffer), 0);
}

TEST_F(Order, OnlyWhatDependsOnTheTargetIsComputed) {
    N x = m.leaf({1000}), a = m.leaf({1000});
    std::vector<N> others;
    for (int i = 0; i < 100; ++i) others.push_back(m.add(a, m.constant(1.0 * i)));
    N inner = m.sqrt(x), z = m.exp(inner), last = m.add(z, a);
    inner = nullptr;
    plan::store(x.get(), m.constant(0.0, {1000}).get(), nullptr, After::Dropped, 0);
    EXPECT_EQ(z->kind, Kind::Leaf);
    for (const N& other : others) EXPECT_TRUE(other->pending());
    EXPECT_EQ(names(), (Names{"sqrt_exp_add_f64", "fill_f64"}));
}

TEST_F(Order, TheWriteIsLaunchedLast) {
    N x = m.leaf({10000000}), a = m.leaf({10000000});
    N total = m.sum(m.mul(x, a), 1);
    N held = m.sub(x, total);  // held: gets memory of its own, from the old elements
    plan::store(x.get(), m.add(held, a).get(), nullptr, After::Dropped, 0);
    EXPECT_EQ(held->kind, Kind::Leaf);
    const auto all = launches();
    ASSERT_GE(all.size(), 2u);
    for (std::size_t i = 0; i + 1 < all.size(); ++i) EXPECT_LT(all[i].bytes_written, 1000000) << all[i].ir;
    EXPECT_EQ(std::count(all.back().args.begin(), all.back().args.end(), address(x)), 1);
}

TEST_F(Order, AStoreThatFindsNoMemoryChangesNothing) {
    device::Device* device = m.queue->device();
    N x = m.leaf({1000}), a = m.leaf({1000});
    N held = m.mul(x, a);
    device->trim_memory();
    device->set_memory_limit(std::max<std::int64_t>(device->memory_stats().in_use, 1));
    EXPECT_THROW(plan::store(x.get(), m.add(held, a).get(), nullptr, After::Dropped, 0), Error);
    device->set_memory_limit(0);
    EXPECT_TRUE(held->pending());
    EXPECT_TRUE(launches().empty());
    m.force({held});
    EXPECT_EQ(held->kind, Kind::Leaf);
}

TEST_F(Order, AReaderThatCannotBeComputedFailsAloneWithAllThatDependOnIt) {
    device::Device* device = m.queue->device();
    N x = m.leaf({1000}), a = m.leaf({1000});
    N large = m.add(m.expand(x, 1), m.expand(a, 0)), user = m.sqrt(large), view = m.slice(large, 0, 1, 2);
    N small = m.sum(x, 1), apart = m.exp(a);
    device->trim_memory();
    device->set_memory_limit(device->memory_stats().in_use + 65536);
    plan::store(x.get(), m.constant(0.0, {1000}).get(), nullptr, After::Dropped, 0);
    device->set_memory_limit(0);
    EXPECT_EQ(large->kind, Kind::Failed);
    EXPECT_EQ(user->kind, Kind::Failed);
    EXPECT_EQ(view->kind, Kind::Failed);
    EXPECT_EQ(small->kind, Kind::Leaf);
    EXPECT_TRUE(apart->pending());
    EXPECT_NE(apart->kind, Kind::Failed);
    EXPECT_EQ(graph::reader_count(*x->buffer), 0);
    for (const N& failed : {large, user, view}) {
        for (int i = 0; i < 2; ++i) {
            EXPECT_THROW(m.force({failed}), Error);
            EXPECT_THROW(m.add(failed, a), Error);
            EXPECT_THROW(m.transpose(failed), Error);
            EXPECT_THROW(m.sum(failed, 1), Error);
        }
    }
    EXPECT_EQ(graph::reader_count(*a->buffer), 1);  // `apart`: what could not be recorded left nothing behind
    const std::int64_t pending = graph::state_of(m.queue).pending_count;
    large = user = view = nullptr;
    EXPECT_EQ(graph::state_of(m.queue).pending_count, pending);
}

TEST_F(Order, APlanIsKnownByHowEachLeafLiesToTheTarget) {
    std::vector<N> many;
    for (int i = 0; i < 40; ++i) many.push_back(m.leaf({999}));
    const auto value = [&](const N& last) {
        N total = many[0];
        for (std::size_t i = 1; i < many.size(); ++i) total = m.add(total, many[i]);
        return m.add(total, last);
    };
    N x = m.leaf({1000}), y = m.leaf({1000});
    const N to = m.slice(y, 0, 1, 999);
    EXPECT_FALSE(copies(to, value(m.slice(x, 0, 0, 999))));
    EXPECT_TRUE(copies(to, value(m.slice(y, 0, 0, 999))));
    EXPECT_FALSE(copies(to, value(to)));
    EXPECT_FALSE(copies(to, value(m.slice(x, 0, 0, 999))));
}

TEST_F(Order, InterleavedElementsAreApart) {
    N x = m.leaf({1000});
    const N even = m.slice(x, 0, 0, 500, 2), odd = m.slice(x, 0, 1, 500, 2);
    EXPECT_FALSE(copies(even, m.sqrt(odd)));
    EXPECT_FALSE(copies(m.slice(x, 0, 0, 400), m.sqrt(m.slice(x, 0, 600, 400))));
    EXPECT_TRUE(copies(even, m.sqrt(m.slice(x, 0, 0, 500))));
}

TEST_F(Order, BuffersOverOneMemoryAreOneMemory) {
    std::vector<double> memory(1001);
    const auto import = [&](std::int64_t first, std::int64_t count) {
        auto buffer =
            m.queue->device()->import(memory.data() + first, static_cast<std::size_t>(count) * sizeof(double), MemoryKind::Host, [] {});
        return graph::make_leaf(m.queue, DType::Float64, {count}, {1}, 0, buffer);
    };
    N a = import(0, 1000), b = import(1, 1000), c = import(0, 1000), end = import(1000, 1);
    EXPECT_TRUE(copies(b, m.sqrt(a)));
    EXPECT_FALSE(copies(c, m.sqrt(a)));
    EXPECT_FALSE(copies(a, m.sqrt(end)));
}

TEST_F(Order, AFullCacheOfPlansLetsOneGo) {
    plan::PlanCache cache;
    const auto key = [](std::size_t i) {
        return std::vector<std::uint8_t>{static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i >> 8)};
    };
    const auto hash = [](std::size_t i) { return static_cast<std::uint64_t>(i % 7) << 60 | i % 5; };  // many meet
    const auto add = [&](std::size_t i) {
        const Ref<plan::Plan> plan(new plan::Plan);
        plan->key = key(i);
        plan->hash = hash(i);
        return cache.add(plan).get();
    };
    const std::size_t most = plan::PlanCache::most_plans;
    std::vector<const plan::Plan*> plans;
    for (std::size_t i = 0; i < most; ++i) {
        plans.push_back(add(i));
    }
    EXPECT_TRUE(add(0) == plans[0]);  // who comes second gets the first one's
    for (std::size_t i = 0; i < most; i += 3) EXPECT_TRUE(cache.find(key(i), hash(i)).get() == plans[i]);
    const Ref<const plan::Plan> running = plans[1];
    for (std::size_t i = most; i < most + most / 2; ++i) {
        plans.push_back(add(i));
        EXPECT_EQ(cache.size(), most);
        EXPECT_TRUE(cache.find(key(i), hash(i)).get() == plans[i]);
    }
    // Each new one took the place of another. One that is running goes too, and lives as long as it runs.
    std::size_t left = 0;
    for (std::size_t i = 0; i < most; ++i) left += cache.find(key(i), hash(i)) ? 1 : 0;
    EXPECT_EQ(left, most / 2);
    EXPECT_FALSE(cache.find(key(1), hash(1)));
    EXPECT_EQ(running->use_count(), 1u);
}

}  // namespace
}  // namespace pardo::test

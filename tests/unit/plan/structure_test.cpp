// tests/unit/plan/structure_test.cpp: which kernels a graph becomes, on the null device.
#include <pardo/binding/plan.h>
#include <pardo/error.h>

#include "support.h"

namespace pardo::test {
namespace {

class Structure : public ::testing::Test {
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
    using Names = std::vector<std::string>;
    Maker m{"null"};
};

TEST_F(Structure, AnElementwiseChainIsOneKernel) {
    N a = m.leaf({1000}), b = m.leaf({1000});
    N y = m.add(m.mul(a, b), m.constant(2.0));
    m.force({y});
    const auto all = launches();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].name, "multiply_add_f64");
    EXPECT_EQ(all[0].extents, std::vector<std::int64_t>{1000});
    EXPECT_EQ(all[0].bytes_read, 16000);
    EXPECT_EQ(all[0].bytes_written, 8000);
    EXPECT_EQ(all[0].operations, 2000);
    EXPECT_EQ(y->kind, Kind::Leaf);
}

TEST_F(Structure, ContiguousDimsAreMerged) {
    N a = m.leaf({10, 20, 30}), b = m.leaf({10, 20, 30});
    m.run([&] { return m.add(a, b); });
    const auto all = launches();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].extents, std::vector<std::int64_t>{6000});
}

TEST_F(Structure, SoftmaxIsOneKernelAndComputesExpOnce) {
    N x = m.leaf({4096, 1024});
    N e = m.exp(m.sub(x, m.reduce(ReduceOp::Max, x, 2)));
    N y = m.div(e, m.sum(e, 2));
    e = nullptr;
    m.force({y});
    const auto all = launches();
    ASSERT_EQ(all.size(), 1u) << m.explain(y);
    EXPECT_EQ(all[0].extents, std::vector<std::int64_t>{4096});
    const std::string& ir = all[0].ir;
    EXPECT_EQ(ir.find("call exp"), ir.rfind("call exp")) << ir;
    EXPECT_EQ(all[0].operations, 4 * 4096 * 1024);  // subtract, exp, sum, divide; a maximum is a choice
}

TEST_F(Structure, ASumOfAllElementsIsSplitOverBlocks) {
    N a = m.leaf({10000000}), b = m.leaf({10000000});
    m.run([&] { return m.sum(m.add(m.mul(a, b), a), 1); });
    EXPECT_EQ(names(), (Names{"multiply_add_sum_f64_b", "sum_f64_c"}));
}

TEST_F(Structure, ASmallSumIsNotSplitAndTakesItsConsumers) {
    N a = m.leaf({1000});
    N mean = m.div(m.sum(a, 1), m.constant(1000.0));
    m.run([&] { return m.sub(a, mean); });
    EXPECT_EQ(launches().size(), 1u);
}

TEST_F(Structure, VarianceOfRowsIsOneKernel) {
    N x = m.leaf({1000, 100});
    N mean = m.div(m.sum(x, 2), m.constant(100.0));
    N c = m.sub(x, mean);
    N var = m.div(m.sum(m.mul(c, c), 2), m.constant(100.0));
    N y = m.div(c, m.sqrt(var));
    mean = c = var = nullptr;
    m.force({y});
    EXPECT_EQ(launches().size(), 1u);
}

TEST_F(Structure, NormOfTriplesIsWrittenOut) {
    N x = m.leaf({2000000, 3});
    m.run([&] { return m.sqrt(m.squeeze(m.sum(m.mul(x, x), 2), 2)); });
    const auto all = launches();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].extents, std::vector<std::int64_t>{2000000});
    EXPECT_EQ(all[0].ir.find("for"), std::string::npos) << all[0].ir;
}

TEST_F(Structure, PairwiseDistanceIsOneKernel) {
    N x = m.leaf({3000, 3});
    N d = m.sub(m.expand(x, 1), m.expand(x, 0));
    m.run([&] { return m.sqrt(m.squeeze(m.sum(m.mul(d, d), 4), 4)); });
    const auto all = launches();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].extents, (std::vector<std::int64_t>{3000, 3000}));
}

TEST_F(Structure, SeveralOutputsOfOneShapeShareAKernel) {
    N a = m.leaf({1000}), b = m.leaf({1000});
    N t = m.exp(a);
    N x = m.add(t, b), y = m.sub(t, b);
    t = nullptr;
    m.force({x, y});
    EXPECT_EQ(launches().size(), 1u);
}

TEST_F(Structure, EveryHeldNodeOnTheWayIsMaterialised) {
    N a = m.leaf({1000});
    N x = m.mul(a, a), y = m.add(x, a);
    m.force({y});
    EXPECT_EQ(x->kind, Kind::Leaf);
    EXPECT_EQ(launches().size(), 1u);
}

TEST_F(Structure, ConstantsThatAreHeldStayPending) {
    N a = m.leaf({1000}), c = m.constant(1.0, {1000});
    m.run([&] { return m.add(a, c); });
    EXPECT_EQ(c->kind, Kind::Constant);
    m.force({c});
    EXPECT_EQ(names(), (Names{"add_f64", "fill_f64"}));
}

TEST_F(Structure, ViewsOfHeldValuesShareTheirMemory) {
    N a = m.leaf({100, 100});
    N x = m.mul(a, a), v = m.transpose(x);
    m.force({v});
    EXPECT_EQ(launches().size(), 1u);
    EXPECT_EQ(x->kind, Kind::Leaf);
    EXPECT_EQ(v->buffer.get(), x->buffer.get());
    EXPECT_EQ(v->strides, (Strides{1, 100}));
}

TEST_F(Structure, ASmallViewOfAnUnheldValueIsComputedAlone) {
    N a = m.leaf({1000});
    N v = m.slice(m.mul(a, a), 0, 10, 5);
    m.force({v});
    const auto all = launches();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].extents, std::vector<std::int64_t>{5});
}

TEST_F(Structure, ShiftedReadsOfCheapValuesAreRecomputed) {
    N a = m.leaf({1000});
    N t = m.add(a, a);
    N y = m.sub(m.slice(t, 0, 1, 999), m.slice(t, 0, 0, 999));
    t = nullptr;
    m.force({y});
    EXPECT_EQ(launches().size(), 1u);
}

TEST_F(Structure, ShiftedReadsOfExpensiveValuesCut) {
    N a = m.leaf({1000});
    N t = m.exp(a);
    N y = m.sub(m.slice(t, 0, 1, 999), m.slice(t, 0, 0, 999));
    t = nullptr;
    EXPECT_NE(m.explain(y).find("different index spaces"), std::string::npos) << m.explain(y);
    m.force({y});
    EXPECT_EQ(launches().size(), 2u);
}

TEST_F(Structure, SweepsThatAreRecordedTogetherDoNotGrow) {
    N u = m.leaf({1000});
    for (int i = 0; i < 8; ++i) {
        const std::int64_t n = u->shape[0] - 2;
        u = m.mul(m.add(m.slice(u, 0, 0, n), m.slice(u, 0, 2, n)), m.constant(0.5));
    }
    m.force({u});
    std::size_t longest = 0;
    for (const auto& r : launches()) longest = std::max(longest, r.ir.size());
    EXPECT_LT(longest, 6000u);
}

TEST_F(Structure, TheSecondIterationCompilesNothing) {
    N x = m.leaf({1000}), a = m.leaf({1000});
    std::uint64_t compiled = 0;
    for (int i = 0; i < 5; ++i) {
        x = m.add(m.mul(x, a), m.constant(static_cast<double>(i)));
        m.force({x});
        if (i == 0) compiled = counters.compiled.load();
    }
    EXPECT_EQ(counters.compiled.load(), compiled);
    EXPECT_EQ(launches().size(), 5u);
}

TEST_F(Structure, OtherSizesAndOffsetsCompileNothing) {
    N x = m.leaf({1000}), a = m.leaf({1000});
    m.run([&] { return m.add(m.slice(x, 0, 1, 900), m.slice(a, 0, 3, 900)); });
    const auto compiled = counters.compiled.load();
    m.run([&] { return m.add(m.slice(x, 0, 2, 800), m.slice(a, 0, 7, 800)); });
    EXPECT_EQ(counters.compiled.load(), compiled);
}

TEST_F(Structure, LongChainsAreCutIntoKernelsOfBoundedSize) {
    N a = m.leaf({1000}), x = a;
    for (int i = 0; i < 2000; ++i) x = m.add(x, a);
    m.force({x});
    const auto all = launches();
    EXPECT_GE(all.size(), 4u);
    EXPECT_LE(all.size(), 16u);
}

TEST_F(Structure, ManyInputsAreCut) {
    N x = m.leaf({1000});
    for (int i = 0; i < 200; ++i) x = m.add(x, m.leaf({1000}));
    m.force({x});
    const auto all = launches();
    EXPECT_GE(all.size(), 4u);
    for (const auto& r : all) EXPECT_LE(r.args.size(), 64u);
}

TEST_F(Structure, EmptyArraysLaunchNothing) {
    N a = m.leaf({0, 5});
    N y = m.add(a, a);
    m.force({y});
    EXPECT_EQ(y->kind, Kind::Leaf);
    EXPECT_TRUE(launches().empty());
    N s = m.sum(a, 1);  // five zeros
    m.force({s});
    EXPECT_EQ(launches().size(), 1u);
}

TEST_F(Structure, FusionOffRunsEachNodeAlone) {
    plan::set_fusion_enabled(false);
    N a = m.leaf({1000});
    m.run([&] { return m.sqrt(m.add(m.mul(a, a), m.constant(1.0))); });
    plan::set_fusion_enabled(true);
    EXPECT_EQ(names(), (Names{"multiply_f64", "add_f64", "sqrt_f64"}));
}

TEST_F(Structure, FusionOffLeavesTheCastsOfReductionsInThem) {
    plan::set_fusion_enabled(false);
    N a = m.leaf({1000});
    m.run([&] {
        N total = m.add(a, a);
        graph::Node* const in[] = {total.get()};
        return m.sum(graph::make_elementwise(Op::cast, DType::Int64, {1000}, in), 1);
    });
    plan::set_fusion_enabled(true);
    EXPECT_EQ(names().size(), 2u);
}

TEST_F(Structure, ScratchOfAChainOfKernelsIsReused) {
    N a = m.leaf({1000});
    N x = a;
    plan::set_fusion_enabled(false);
    const auto before = m.queue->device()->memory_stats().in_use;
    for (int i = 0; i < 20; ++i) x = m.add(x, a);
    m.force({x});
    plan::set_fusion_enabled(true);
    EXPECT_LE(m.queue->device()->memory_stats().in_use, before + 20 * 8192 + 65536);
}

TEST_F(Structure, ChainOfReductionsBecomesKernelsOfOneShape) {
    N y = m.leaf({4, 100});
    for (int i = 0; i < 60; ++i) y = m.div(y, m.sum(y, 2));
    const auto compiled = counters.compiled.load();
    m.force({y});
    const auto all = launches();
    EXPECT_GE(all.size(), 10u);
    EXPECT_LE(all.size(), 12u);
    EXPECT_LE(counters.compiled.load() - compiled, 3u);
}

TEST_F(Structure, AForceThatFindsNoMemoryKeepsNone) {
    device::Device* device = m.queue->device();
    N a = m.leaf({1000});
    N y = m.sqrt(m.add(a, m.constant(1.0))), z = m.sum(y, 1);  // two results
    const std::int64_t before = device->memory_stats().in_use;
    device->set_memory_limit(before + 8000);
    std::string message;
    try {
        m.force({y, z});
    } catch (const Error& e) {
        message = e.message();
    }
    device->set_memory_limit(0);
    EXPECT_EQ(message.rfind("add_sqrt_sum_f64: cannot allocate 8 bytes on null:", 0), 0u) << message;
    EXPECT_EQ(device->memory_stats().in_use, before);
    EXPECT_TRUE(y->pending());
    m.force({y, z});
    EXPECT_FALSE(y->pending());
}

TEST_F(Structure, StoreFusesWhatReadsTheSameElements) {
    N x = m.leaf({1000}), a = m.leaf({1000});
    const auto copies = counters.copies.load();
    N v = m.add(m.mul(x, a), a);
    plan::store(x.get(), v.get(), nullptr, After::Dropped, 1);
    EXPECT_TRUE(v->pending());
    v = nullptr;
    EXPECT_EQ(counters.copies.load(), copies);
    const auto all = launches();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].bytes_written, 8000);
    EXPECT_EQ(graph::reader_count(*x->buffer), 0);
}

TEST_F(Structure, StoreOfWhatIsPerhapsDroppedKeepsWhatCouldNotBeComputedAgain) {
    N x = m.leaf({1000}), a = m.leaf({1000});
    N other = m.mul(a, a), own = m.mul(x, a);
    plan::store(x.get(), other.get(), nullptr, After::PerhapsDropped, 1);
    EXPECT_TRUE(other->pending());
    EXPECT_EQ(own->kind, Kind::Leaf);  // read x before it was written
    own = m.mul(x, a);
    plan::store(x.get(), own.get(), nullptr, After::PerhapsDropped, 1);
    EXPECT_EQ(own->kind, Kind::Leaf);
    // Held by two: the reference that is dropped is not the last.
    const std::vector<N> held{other};
    plan::store(x.get(), other.get(), nullptr, After::PerhapsDropped, 1);
    EXPECT_EQ(other->kind, Kind::Leaf);
}

TEST_F(Structure, WhatReadsAnIntermediateValueIsComputedAlong) {
    N a = m.leaf({1000}), b = m.leaf({1000});
    N call, put;
    {
        N discounted = m.exp(m.mul(a, b));
        call = m.sub(a, discounted);
        put = m.add(m.sub(call, a), discounted);
    }
    m.force({call});
    EXPECT_EQ(put->kind, Kind::Leaf);
    const auto all = launches();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].bytes_written, 16000);
    // Nothing is spared when the intermediate value is held, or when the reader is larger than what it spares, or reads nothing of it.
    N held = m.exp(a), x = m.sub(held, b), y = m.add(held, b);
    m.force({x});
    EXPECT_TRUE(y->pending());
    N wide, narrow;
    {
        N row = m.exp(a);
        narrow = m.sub(row, b);
        wide = m.add(m.expand(row, 0), m.leaf({50, 1000}));
    }
    m.force({narrow});
    EXPECT_TRUE(wide->pending());
    N p = m.exp(a), q = m.sqrt(a);
    m.force({p});
    EXPECT_TRUE(q->pending());
}

TEST_F(Structure, StoreThroughATemporaryWhereItOverlaps) {
    N x = m.leaf({1000});
    N to = m.slice(x, 0, 1, 999);
    const auto copies = counters.copies.load();
    plan::store(to.get(), m.mul(m.slice(x, 0, 0, 999), m.constant(2.0)).get(), nullptr);
    EXPECT_EQ(counters.copies.load(), copies + 1);
    EXPECT_EQ(launches().size(), 2u);
    // Odd from even elements: no overlap.
    N odd = m.slice(x, 0, 1, 500, 2);
    plan::store(odd.get(), m.mul(m.slice(x, 0, 0, 500, 2), m.constant(2.0)).get(), nullptr);
    EXPECT_EQ(counters.copies.load(), copies + 1);
}

TEST_F(Structure, StoreForcesPendingReadersFirst) {
    N x = m.leaf({1000});
    N y = m.sqrt(m.add(x, m.constant(1.0)));
    plan::store(x.get(), m.constant(0.0).get(), nullptr);
    EXPECT_EQ(y->kind, Kind::Leaf);
    EXPECT_EQ(names(), (Names{"add_sqrt_f64", "fill_f64"}));
}

TEST_F(Structure, ExplainComputesNothing) {
    N x = m.leaf({100, 200});
    N y = m.div(x, m.sum(x, 2));
    const std::string text = m.explain(y);
    EXPECT_NE(text.find("1 group, 1 kernel"), std::string::npos) << text;
    EXPECT_TRUE(launches().empty());
    EXPECT_TRUE(y->pending());
}

TEST_F(Structure, ExplainGivesStepsThatShareTheirValues) {
    N y = m.sqrt(m.leaf({1000}));
    N z = m.mul(m.slice(y, 0, 0, 500, 2), m.constant(2.0));
    Node* roots[] = {y.get(), z.get()};
    std::vector<PlanStep> steps;
    plan::explain(roots, &steps);
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[0].operations, (Names{"sqrt"}));
    EXPECT_EQ(steps[1].operations, (Names{"multiply"}));
    ASSERT_EQ(steps[0].writes.size(), 1u);
    ASSERT_EQ(steps[1].reads.size(), 1u);
    EXPECT_EQ(steps[1].reads[0].id, steps[0].writes[0].id);
    EXPECT_EQ(steps[1].writes[0].why, "asked for");
    EXPECT_EQ(steps[1].writes[0].shape, std::vector<std::int64_t>{500});
}

}  // namespace
}  // namespace pardo::test

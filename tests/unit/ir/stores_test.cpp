// tests/unit/ir/stores_test.cpp: which stores of a branch's two sides become one behind it.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness.h"
#include "ir/builder.h"
#include "ir/rules.h"

namespace pardo::ir::test {
namespace {

class Stores : public testing::Test {
protected:
    Builder m{"k", 1, true};
    Value x = m.pointer("x", F64, Access::Read, true), y = m.pointer("y", F64, Access::ReadWrite, true);
    Value i = m.dim(0), n = m.scalar_param("n", DType::Int64);
    Value f(double v) { return m.constant(F64, v); }
    Value above(double v) { return m.gt(m.load(x, i), f(v)); }

    using Body = std::function<void()>;
    void branch(Value condition, const Body& yes, const Body& no) {
        const auto region = [](const Body& body) {
            return [&body] {
                body();
                return Builder::Values{};
            };
        };
        m.if_else(condition, region(yes), region(no));
    }
};

int stores(const Kernel& kernel) {
    return static_cast<int>(
        std::count_if(kernel.instrs.begin(), kernel.instrs.end(), [](const Instr& in) { return in.op == Opcode::Store; }));
}

/// Stores that stand in the kernel's body itself.
int outer_stores(const Kernel& kernel) {
    return static_cast<int>(
        std::count_if(kernel.body.body.begin(), kernel.body.body.end(), [&](InstrId id) { return kernel.instrs[id].op == Opcode::Store; }));
}

TEST_F(Stores, ToOneElementBecomeOne) {
    branch(
        above(0), [&] { m.store(y, m.add(i, m.mul(n, n)), f(1)); }, [&] { m.store(y, m.add(i, m.mul(n, n)), f(2)); });
    const Kernel joined = join_stores(m.finish());
    EXPECT_EQ(stores(joined), 1);
    EXPECT_EQ(outer_stores(joined), 1);
}

TEST_F(Stores, OfABranchOfThreeSides) {
    branch(
        above(1), [&] { m.store(y, i, f(1)); },
        [&] {
            branch(
                above(0), [&] { m.store(y, i, f(2)); }, [&] { m.store(y, i, f(3)); });
        });
    const Kernel joined = join_stores(m.finish());
    EXPECT_EQ(stores(joined), 1);
    EXPECT_EQ(outer_stores(joined), 1);
}

TEST_F(Stores, SeveralKeepTheirOrder) {
    const Value z = m.pointer("z", F64, Access::Write, true);
    const auto side = [&](double v) {
        return [&, v] {
            m.store(y, i, f(v));
            m.store(z, i, f(v + 1));
        };
    };
    branch(above(0), side(1), side(5));
    const Kernel joined = join_stores(m.finish());
    ASSERT_EQ(outer_stores(joined), 2);
    std::vector<std::string> order;
    for (InstrId id : joined.body.body)
        if (joined.instrs[id].op == Opcode::Store)
            order.push_back(joined.params[joined.instrs[joined.values[joined.instrs[id].operands[0]].def].index()].name);
    EXPECT_EQ(order, (std::vector<std::string>{"y", "z"}));
}

TEST_F(Stores, ToOtherElementsStay) {
    branch(
        above(0), [&] { m.store(y, i, f(1)); }, [&] { m.store(y, m.add(i, n), f(2)); });
    EXPECT_EQ(outer_stores(join_stores(m.finish())), 0);
}

TEST_F(Stores, BeforeALoadStay) {
    branch(
        above(0),
        [&] {
            m.store(y, i, f(1));
            m.store(y, n, m.load(y, i));
        },
        [&] { m.store(y, i, f(2)); });
    EXPECT_EQ(outer_stores(join_stores(m.finish())), 0);
}

TEST_F(Stores, WhoseIndexIsReadStay) {
    const Value places = m.pointer("places", DType::Int64, Access::ReadWrite, true);
    branch(
        above(0), [&] { m.store(y, m.load(places, i), f(1)); }, [&] { m.store(y, m.load(places, i), f(2)); });
    EXPECT_EQ(outer_stores(join_stores(m.finish())), 0);
}

TEST_F(Stores, OfOneSideStay) {
    branch(
        above(0), [&] { m.store(y, i, f(1)); }, [] {});
    EXPECT_EQ(outer_stores(join_stores(m.finish())), 0);
}

TEST(StoresOfGroups, InBranchesWithBarriersStay) {
    Builder m("k", 1, true);
    const std::int64_t size[] = {64};
    m.set_groups(size);
    const Value y = m.pointer("y", F64, Access::Write, true), n = m.scalar_param("n", DType::Int64), i = m.dim(0);
    const auto side = [&](double v) {
        return [&, v] {
            m.barrier();
            m.store(y, i, m.constant(F64, v));
            return Builder::Values{};
        };
    };
    m.if_else(m.gt(n, m.i64(3)), side(1), side(2));
    EXPECT_EQ(outer_stores(join_stores(m.finish())), 0);
}

}  // namespace
}  // namespace pardo::ir::test

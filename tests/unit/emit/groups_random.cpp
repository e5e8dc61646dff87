// tests/unit/emit/groups_random.cpp: random kernels in groups, compared with the interpreter: barriers among all kinds of control flow.
#include <functional>
#include <random>

#include "support.h"

namespace pardo::test {
namespace {

using ir::Access;
using ir::Builder;
using ir::Space;
using ir::Value;
using Values = Builder::Values;

constexpr DType dtypes[] = {i64, f32, DType::Int16, DType::Int32, i64};

/// Writes one kernel. Items write only their own elements and read others' only between two barriers, so that no order is left open.
class Writer {
public:
    Writer(unsigned seed, const std::vector<std::int64_t>& size) : random_(seed), b_("random", static_cast<int>(size.size()), true) {
        b_.set_groups(size);
        x_ = b_.pointer("x", i64, Access::Read, true);
        o_ = b_.pointer("o", i64, Access::ReadWrite, true);
        n_ = b_.scalar_param("n", i64);
        own_ = b_.i64(0);
        at_ = b_.i64(0);
        for (std::size_t d = 0; d < size.size(); ++d) {
            items_ *= size[d];
            own_ = b_.add(b_.mul(own_, b_.i64(size[d])), b_.local_dim(static_cast<int>(d)));
            at_ = b_.add(b_.mul(at_, b_.extent(static_cast<int>(d))), b_.dim(static_cast<int>(d)));
            values_.push_back(b_.local_dim(static_cast<int>(d)));
            uniform_.push_back(b_.group_dim(static_cast<int>(d)));
        }
        tile_ = b_.array("tile", i64, items_, Space::Group);
        sum_ = b_.array("sum", i64, 1, Space::Group);
        mine_ = b_.array("mine", i64, 3, Space::Private);
        for (int k = 0; k < 3; ++k) b_.store(mine_, b_.i64(k), b_.add(own_, b_.i64(k)));
        values_.push_back(b_.load(x_, at_));
        values_.push_back(own_);
        uniform_.push_back(n_);
        uniform_.push_back(b_.i64(3));
    }

    ir::Kernel run() {
        block(3, true);
        Value total = b_.i64(0);
        for (Value v : values_) total = b_.bit_xor(b_.mul(total, b_.i64(31)), whole(v));
        b_.store(o_, at_, b_.add(total, b_.load(o_, at_)));
        return b_.finish();
    }

private:
    int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
    Value pick() { return values_[static_cast<std::size_t>(below(static_cast<int>(values_.size())))]; }
    Value same() { return uniform_[static_cast<std::size_t>(below(static_cast<int>(uniform_.size())))]; }
    /// As a small int64.
    Value whole(Value v) { return b_.bit_and(b_.cast(b_.type(v) == f32 ? b_.fmin(b_.fmax(v, f(-1e6)), f(1e6)) : v, i64), b_.i64(0xFFFFF)); }
    Value f(double v) { return b_.constant(f32, v); }
    Value small(Value v, int n) { return b_.rem(whole(v), b_.i64(n)); }

    /// Statements; `together`: all items of the group come here.
    void block(int depth, bool together) {
        const std::size_t values = values_.size(), uniform = uniform_.size();
        const int count = 2 + below(4);
        for (int k = 0; k < count; ++k) statement(depth, together);
        if (depth < 3) {
            values_.resize(values);
            uniform_.resize(uniform);
        }
    }

    Values ends(std::size_t count) {
        Values out;
        for (std::size_t k = 0; k < count; ++k) out.push_back(b_.cast(k % 2 ? whole(pick()) : pick(), i64));
        return out;
    }

    void statement(int depth, bool together) {
        switch (below(depth > 0 ? 12 : 7)) {
            case 0: return values_.push_back(b_.add(whole(pick()), whole(pick())));
            case 1: {
                const DType t = dtypes[below(5)];
                const Value v = b_.cast(whole(pick()), t);
                return values_.push_back(b_.add(v, b_.mul(b_.cast(whole(pick()), t), b_.constant(t, 3.0))));
            }
            case 2: return values_.push_back(b_.select(b_.lt(whole(pick()), whole(pick())), whole(pick()), own_));
            case 3: return uniform_.push_back(b_.add(same(), b_.load(x_, small(same(), 5))));
            case 4:
                b_.store(mine_, below(2) ? b_.i64(below(3)) : small(pick(), 3), whole(pick()));
                return values_.push_back(b_.load(mine_, below(2) ? b_.i64(below(3)) : small(pick(), 3)));
            case 5:
            case 6: return together ? exchange() : values_.push_back(b_.bit_xor(whole(pick()), b_.i64(below(99))));
            case 7: return branch(depth, together && below(2));
            case 8: return branch(depth, false);
            case 9:
            case 10: return loop(depth, together);
            default: return rounds(depth, together);
        }
    }

    void exchange() {
        b_.barrier();
        b_.store(tile_, own_, whole(pick()));
        if (below(2))
            b_.if_else(
                b_.eq(own_, b_.i64(0)),
                [&] {
                    b_.store(sum_, b_.i64(0), b_.i64(below(9)));
                    return Values{};
                },
                [] { return Values{}; });
        else
            b_.if_else(
                b_.eq(own_, b_.i64(items_ - 1)),
                [&] {
                    b_.store(sum_, b_.i64(0), whole(pick()));
                    return Values{};
                },
                [] { return Values{}; });
        b_.barrier();
        b_.atomic(ir::AtomicOp::Add, sum_, b_.i64(0), whole(pick()));
        if (below(2)) b_.atomic(ir::AtomicOp::Add, sum_, b_.i64(0), b_.i64(5));
        values_.push_back(b_.load(tile_, b_.rem(b_.add(own_, b_.i64(below(50))), b_.i64(items_))));
        if (below(2)) uniform_.push_back(b_.load(tile_, b_.rem(whole(same()), b_.i64(items_))));
        b_.barrier();
        if (below(2))
            uniform_.push_back(b_.load(sum_, b_.i64(0)));
        else
            values_.push_back(b_.load(sum_, b_.i64(0)));
    }

    void branch(int depth, bool together) {
        const Value condition = b_.lt(together ? small(same(), 7) : small(pick(), 7), b_.i64(3));
        auto side = [&] {
            const auto values = values_, uniform = uniform_;
            for (int k = below(3); k >= 0; --k) statement(depth - 1, together);
            Values out = ends(2);
            out.push_back(b_.add(same(), b_.i64(below(5))));
            values_ = values;
            uniform_ = uniform;
            return out;
        };
        const Values out = b_.if_else(condition, side, side);
        keep(out, together);
    }

    /// The last value came from uniform ones.
    void keep(const Values& out, bool together) {
        values_.insert(values_.end(), out.begin(), out.end() - 1);
        (together ? uniform_ : values_).push_back(out.back());
    }

    void loop(int depth, bool together) {
        Values start = ends(2);
        start.push_back(same());
        const Value trips = small(together || below(2) ? same() : pick(), 4);
        const bool alike = together;
        const Values out =
            b_.for_loop(b_.i64(0), trips, b_.i64(1), start, [&](Value i, std::span<const Value> c) { return body(depth, alike, i, c); });
        keep(out, alike);
    }

    Values body(int depth, bool together, Value i, std::span<const Value> c) {
        const auto values = values_, uniform = uniform_;
        values_.insert(values_.end(), c.begin(), c.begin() + 2);
        (together ? uniform_ : values_).push_back(c[2]);
        (together ? uniform_ : values_).push_back(i);
        for (int k = below(3); k >= 0; --k) statement(depth - 1, together);
        Values out = below(3) ? ends(2) : Values{c[1], c[0]};
        out.push_back(b_.bit_and(b_.add(c[2], same()), b_.i64(0xFFFF)));
        values_ = values;
        uniform_ = uniform;
        return out;
    }

    void rounds(int depth, bool together) {
        Values start = ends(2);
        start.push_back(same());
        start.push_back(b_.i64(0));
        Values out = b_.while_loop(
            start,
            [&](std::span<const Value> c) {
                if (together && below(2)) b_.barrier();
                const Value limit = small(together ? c[2] : c[0], 5);
                return b_.lt(c[3], b_.min(limit, b_.i64(4)));
            },
            [&](std::span<const Value> c) {
                Values next = body(depth, together, c[3], c.first(3));
                next.push_back(b_.add(c[3], b_.i64(1)));
                return next;
            });
        out.pop_back();
        keep(out, together);
    }

    std::mt19937 random_;
    Builder b_;
    Value x_, o_, n_, own_, at_, tile_, sum_, mine_;
    std::int64_t items_ = 1;
    Values values_, uniform_;
};

TEST(Groups, RandomPrograms) {
    const std::vector<std::int64_t> sizes[] = {{1}, {7}, {16}, {40}, {5, 1}, {3, 9}, {2, 3, 4}};
    const char* from = std::getenv("PARDO_TEST_SEED");  // more of them by hand
    const unsigned first = from ? static_cast<unsigned>(std::atoi(from)) : 0;
    for (unsigned seed = first; seed < first + 42; ++seed) {
        const auto& size = sizes[seed % std::size(sizes)];
        const ir::Kernel kernel = Writer(seed, size).run();
        std::vector<std::int64_t> extents = size;
        extents[0] *= 2;
        extents.back() *= 2;
        std::int64_t items = 1;
        for (std::int64_t n : extents) items *= n;
        std::vector<std::int64_t> x(static_cast<std::size_t>(std::max<std::int64_t>(items, 5)));
        for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<std::int64_t>(k * 37 % 23);
        std::vector<Argument> reference{array_of(x), array(i64, items), scalar_of(std::int64_t(2))}, native = reference;
        interpret(kernel, reference, extents);
        run_native(compile(kernel, widths[seed % 3]), native, extents);
        expect_same(native, reference, 0, "seed " + std::to_string(seed));
        if (testing::Test::HasFailure()) {
            if (from) ADD_FAILURE() << ir::print(kernel);
            return;
        }
    }
}

}  // namespace
}  // namespace pardo::test

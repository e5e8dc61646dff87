// tests/unit/backend_opencl/barriers_test.cpp: barriers under random uniform control flow, against a run of all items in step: drivers for
// processors cut kernels at barriers, and are known to do it wrong.
#include <array>
#include <cstdlib>
#include <random>

#include "groups_support.h"

namespace pardo::opencl {
namespace {

constexpr std::int64_t groups = 6;

/// A statement. Each item has a value `v` and an array of 3 of its own; the group has a tile.
struct Step {
    enum Kind { Shift, Mix, Keep, Divergent, Count, Branch, Loop } kind;
    std::int64_t number = 0;
    std::vector<Step> first, second;
};

std::vector<Step> random_steps(std::mt19937& random, int depth, bool branches) {
    std::vector<Step> steps;
    for (unsigned n = 1 + random() % 4; n > 0; --n) {
        Step s{static_cast<Step::Kind>(random() % (depth > 0 ? 7 : 5)), static_cast<std::int64_t>(random() % 5 + 1), {}, {}};
        if (s.kind == Step::Branch && !branches) s.kind = Step::Loop;
        if (s.kind >= Step::Branch) s.first = random_steps(random, depth - 1, branches);
        if (s.kind == Step::Branch && random() % 2) s.second = random_steps(random, depth - 1, branches);
        steps.push_back(std::move(s));
    }
    return steps;
}

/// The kernel. Trip counts and conditions come from `numbers`, of which each group has four.
class Writer {
public:
    Writer(std::int64_t size) : m_(in_groups("random", {size})), size_(size) {
        x_ = m_.pointer("x", u32, Access::ReadWrite, true);
        numbers_ = m_.pointer("numbers", i64, Access::Read, true);
        tile_ = m_.array("tile", u32, size, Space::Group);
        total_ = m_.array("total", u32, 1, Space::Group);
        own_ = m_.array("own", u32, 3, Space::Private);
        l_ = m_.local_dim(0);
        for (int k = 0; k < 3; ++k) m_.store(own_, m_.i64(k), m_.constant(u32, k));
    }
    ir::Kernel finish(const std::vector<Step>& steps) {
        Value v = write(steps, m_.load(x_, m_.dim(0)), m_.i64(0));
        for (int k = 0; k < 3; ++k) v = m_.add(m_.mul(v, number(31)), m_.load(own_, m_.i64(k)));
        m_.store(x_, m_.dim(0), v);
        return m_.finish();
    }

private:
    Value number(std::int64_t n) { return m_.constant(u32, static_cast<double>(n)); }
    Value uniform(std::int64_t n) { return m_.load(numbers_, m_.add(m_.mul(m_.group_dim(0), m_.i64(4)), m_.i64(n % 4))); }
    Value write(const std::vector<Step>& steps, Value v, Value k) {
        for (const Step& s : steps) v = write(s, v, k);
        return v;
    }
    Value write(const Step& s, Value v, Value k) {
        switch (s.kind) {
            case Step::Shift: {
                m_.store(tile_, l_, v);
                m_.barrier();
                const Value next = m_.load(tile_, m_.rem(m_.add(m_.add(l_, m_.i64(s.number)), k), m_.i64(size_)));
                m_.barrier();
                return next;
            }
            case Step::Mix: return m_.add(m_.mul(v, number(s.number)), m_.cast(m_.add(l_, k), u32));
            case Step::Keep: {
                const Value at = m_.rem(m_.add(l_, k), m_.i64(3)), kept = m_.load(own_, at);
                m_.store(own_, at, v);
                return m_.bit_xor(v, kept);
            }
            case Step::Divergent:
                return m_.if_else(
                    m_.eq(m_.rem(m_.cast(v, i64), m_.i64(s.number + 1)), m_.i64(0)),
                    [&] {
                        m_.store(own_, m_.rem(l_, m_.i64(3)), v);
                        return Values{m_.add(v, number(s.number))};
                    },
                    [&] { return Values{v}; })[0];
            case Step::Count: {
                when(m_, m_.eq(l_, m_.i64(0)), [&] { m_.store(total_, m_.i64(0), number(0)); });
                m_.barrier();
                m_.atomic(AtomicOp::Add, total_, m_.i64(0), v, ir::MemoryOrder::Relaxed, ir::MemoryScope::Group);
                m_.barrier();
                const Value sum = m_.load(total_, m_.i64(0));
                m_.barrier();
                return m_.add(v, sum);
            }
            case Step::Branch:
                return m_.if_else(
                    m_.gt(m_.add(uniform(s.number), k), m_.i64(1)), [&] { return Values{write(s.first, v, k)}; },
                    [&] { return Values{write(s.second, v, k)}; })[0];
            default: {
                const Value initial[] = {v};
                return m_.for_loop(m_.i64(0), uniform(s.number), m_.i64(1), initial, [&](Value inner, std::span<const Value> c) {
                    return Values{write(s.first, c[0], m_.add(k, inner))};
                })[0];
            }
        }
    }

    ir::Builder m_;
    std::int64_t size_;
    Value x_, numbers_, tile_, total_, own_, l_;
};

/// One group, all items step by step.
class Reference {
public:
    Reference(std::vector<std::uint32_t> v, const std::int64_t* numbers) : v_(std::move(v)), own_(v_.size()), numbers_(numbers) {
        for (auto& o : own_) o = {0, 1, 2};
    }
    std::vector<std::uint32_t> finish(const std::vector<Step>& steps) {
        run(steps, 0);
        for (std::size_t l = 0; l < v_.size(); ++l) {
            for (const std::uint32_t o : own_[l]) v_[l] = v_[l] * 31 + o;
        }
        return v_;
    }

private:
    void run(const std::vector<Step>& steps, std::int64_t k) {
        for (const Step& s : steps) run(s, k);
    }
    void run(const Step& s, std::int64_t k) {
        const auto size = static_cast<std::int64_t>(v_.size());
        const std::vector<std::uint32_t> before = v_;
        std::uint32_t sum = 0;
        for (const std::uint32_t v : v_) sum += v;
        if (s.kind == Step::Branch) return run(numbers_[s.number % 4] + k > 1 ? s.first : s.second, k);
        if (s.kind == Step::Loop) {
            for (std::int64_t inner = 0; inner < numbers_[s.number % 4]; ++inner) run(s.first, k + inner);
            return;
        }
        for (std::int64_t l = 0; l < size; ++l) {
            std::uint32_t& v = v_[static_cast<std::size_t>(l)];
            auto& own = own_[static_cast<std::size_t>(l)];
            switch (s.kind) {
                case Step::Shift: v = before[static_cast<std::size_t>((l + s.number + k) % size)]; break;
                case Step::Mix: v = v * static_cast<std::uint32_t>(s.number) + static_cast<std::uint32_t>(l + k); break;
                case Step::Keep: {
                    std::uint32_t& kept = own[static_cast<std::size_t>((l + k) % 3)];
                    const std::uint32_t mixed = v ^ kept;
                    kept = v;
                    v = mixed;
                    break;
                }
                case Step::Divergent:
                    if (v % static_cast<std::uint32_t>(s.number + 1) != 0) break;
                    own[static_cast<std::size_t>(l % 3)] = v;
                    v += static_cast<std::uint32_t>(s.number);
                    break;
                default: v += sum; break;
            }
        }
    }

    std::vector<std::uint32_t> v_;
    std::vector<std::array<std::uint32_t, 3>> own_;
    const std::int64_t* numbers_;
};

TEST_F(Groups, BarriersUnderRandomUniformControlFlow) {
    const char* wanted = std::getenv("PARDO_TEST_ROUNDS");  // more of them, to look for mistakes of drivers
    const int rounds = wanted ? std::atoi(wanted) : 6;
    on_each([&](device::Device* d) {
        const bool branches = takes_conditional_barriers(d);
        for (int round = 0; round < (branches ? 2 : 1) * rounds; ++round) {
            std::mt19937 random(static_cast<unsigned>(round));
            const std::int64_t sizes[] = {1, 7, 16, 64, 100};
            const std::int64_t size = sizes[round % 5];
            const std::vector<Step> steps = random_steps(random, branches ? 3 : 2, branches);
            std::vector<std::uint32_t> x(static_cast<std::size_t>(size * groups)), expected;
            for (std::uint32_t& v : x) v = static_cast<std::uint32_t>(random());
            std::vector<std::int64_t> numbers(static_cast<std::size_t>(groups * 4));
            for (std::int64_t& n : numbers) n = static_cast<std::int64_t>(random() % 4);
            for (std::int64_t g = 0; g < groups; ++g) {
                const auto part =
                    Reference({x.begin() + g * size, x.begin() + (g + 1) * size}, &numbers[static_cast<std::size_t>(g * 4)]).finish(steps);
                expected.insert(expected.end(), part.begin(), part.end());
            }
            const ir::Kernel kernel = Writer(size).finish(steps);
            Arguments(d).array(x).array(numbers).run(kernel, {size * groups});
            EXPECT_EQ(x == expected, true) << "round " << round << ", groups of " << size << "\n" << ir::print(kernel);
        }
    });
}

}  // namespace
}  // namespace pardo::opencl

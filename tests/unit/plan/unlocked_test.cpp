// tests/unit/plan/unlocked_test.cpp: what other threads may do while one compiles, and what becomes of its force.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <pardo/binding/rows.h>
#include <pardo/ops.h>

#include "backend/null/null.h"
#include "base/counters.h"
#include "graph/node.h"
#include "plan/force.h"
#include "plan/plan.h"

namespace pardo::test {
namespace {

constexpr std::int64_t shape[] = {100};
constexpr std::chrono::seconds patience{20};

/// Something that one thread waits for and another one says.
class Signal {
public:
    void set() {
        const std::lock_guard lock(mutex_);
        set_ = true;
        changed_.notify_all();
    }
    bool wait(std::chrono::milliseconds limit = patience) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, limit, [this] { return set_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool set_ = false;
};

std::uint64_t of(const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); }

/// On the null device; each test has expressions of its own, for plans are kept as long as the process.
class UnlockedTest : public testing::Test {
protected:
    ~UnlockedTest() override { null::on_compile(device, {}); }
    Array values(const Queue& queue) const { return full(shape, 1.5, {}, queue).force(); }
    /// Runs `f` on a thread that stops in its first compilation until `meanwhile` is over; gives how many compilations it had.
    template <class F, class G> int while_compiling(F f, G meanwhile) {
        Signal entered, go_on;
        std::atomic<int> compilations{0};
        std::thread::id compiler;
        std::thread thread;
        null::on_compile(device, [&](const ir::Kernel&) {
            if (std::this_thread::get_id() != compiler) return;
            if (++compilations > 1) return;
            entered.set();
            EXPECT_TRUE(go_on.wait());
        });
        Signal known;
        thread = std::thread([&] {
            EXPECT_TRUE(known.wait());
            f();
        });
        compiler = thread.get_id();
        known.set();
        EXPECT_TRUE(entered.wait());
        meanwhile();
        go_on.set();
        thread.join();
        return compilations;
    }
    device::Device* const device = device::select("null:0");
    const Queue queue = Queue(Device(device));
};

TEST_F(UnlockedTest, TwoThreadsCompileAtOnce) {
    const Array x = values(queue), a = exp(x) + 1.0, b = sin(x) * 2.0;
    Signal first, second;
    std::atomic<int> inside{0};
    null::on_compile(device,
                     [&](const ir::Kernel&) { EXPECT_TRUE(++inside == 1 ? (first.set(), second.wait()) : (second.set(), first.wait())); });
    std::thread one([&] { a.force(); }), two([&] { b.force(); });
    one.join();
    two.join();
    EXPECT_EQ(inside, 2);
    EXPECT_FALSE(a.pending() || b.pending());
}

TEST_F(UnlockedTest, OthersRecordAndComputeMeanwhile) {
    const Array x = values(queue), slow = tan(x) + 1.0;
    (x + 7.0).force();  // known from here on
    const int compilations = while_compiling([&] { slow.force(); },
                                             [&] {
                                                 const Array y = x + 7.0;
                                                 y.force();
                                                 EXPECT_FALSE(y.pending());
                                                 EXPECT_TRUE(slow.pending());
                                             });
    EXPECT_EQ(compilations, 1);
    EXPECT_FALSE(slow.pending());
}

TEST_F(UnlockedTest, WhatAnotherThreadComputesIsNotComputedAgain) {
    const Array x = values(queue), y = log(x) + 3.0;
    (void)null::take_records(device);
    while_compiling([&] { y.force(); }, [&] { y.force(); });
    EXPECT_EQ(null::take_records(device).size(), 1u);
}

TEST_F(UnlockedTest, AWriteMeanwhileComesAfterTheRead) {
    const Array x = values(queue), y = cosh(x) + 3.0;
    (void)null::take_records(device);
    while_compiling([&] { y.force(); },
                    [&] {
                        x.assign(Scalar(2.0));
                        EXPECT_FALSE(y.pending());
                    });
    EXPECT_EQ(null::take_records(device).size(), 2u);
}

TEST_F(UnlockedTest, AnUpdateInPlaceIsOneStep) {
    Array x = values(queue);
    const Array held = x, y = values(queue);
    const std::uint64_t recorded = of(counters.recorded);
    const int add = static_cast<int>(graph::Op::add);
    // The other one's write computes this one's sum first; it is stale then, and made again.
    while_compiling([&] { apply_inplace(add, x, y); }, [&] { held.assign(Scalar(2.0)); });
    EXPECT_EQ(of(counters.recorded) - recorded, 3u);
    const std::uint64_t again = of(counters.recorded);
    null::on_compile(device, {});
    const int subtract = static_cast<int>(graph::Op::subtract);
    apply_inplace(subtract, x, y);  // nobody comes between: recorded once
    EXPECT_EQ(of(counters.recorded) - again, 1u);
}

/// A temporary is gone once the update is recorded, which cannot be recorded again: others wait.
TEST_F(UnlockedTest, AnUpdateInPlaceByATemporaryIsOneStep) {
    Array x = values(queue);
    const Array held = x, y = values(queue);
    Signal written;
    std::thread writer;
    while_compiling([&] { x *= arcsinh(y) + 2.0; },
                    [&] {
                        writer = std::thread([&] {
                            held.assign(Scalar(2.0));
                            written.set();
                        });
                        EXPECT_FALSE(written.wait(std::chrono::milliseconds(200)));
                    });
    EXPECT_TRUE(written.wait());
    writer.join();
}

TEST_F(UnlockedTest, OverlapsAreCopiedOnceAndCompiledUnlocked) {
    const Array x = values(queue), other = values(queue);
    const auto part = [&](std::int64_t from, std::int64_t to) { return x[std::initializer_list<IndexPart>{Slice{from, to, {}}}]; };
    const Array value = sinh(part(0, 99)) + 1.0;
    const std::uint64_t copies = of(counters.copies);
    (void)null::take_records(device);
    while_compiling([&] { part(1, 100).assign(value); }, [&] { EXPECT_EQ((other + other).ndim(), 1); });
    EXPECT_EQ(of(counters.copies) - copies, 1u);
    EXPECT_EQ(null::take_records(device).size(), 2u);
}

TEST_F(UnlockedTest, AFailureIsRaisedOnceAndTheValueStays) {
    const Array x = values(queue), y = expm1(x) + 3.0;
    int compilations = 0;
    null::on_compile(device, [&](const ir::Kernel&) {
        ++compilations;
        throw Error(ErrorCode::Compile, "the compiler gives up");
    });
    const std::uint64_t compiled = of(counters.compiled);
    try {
        y.force();
        ADD_FAILURE() << "nothing is raised";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::Compile);
        EXPECT_EQ(e.message(), "the compiler gives up");
    }
    EXPECT_EQ(compilations, 1);
    EXPECT_EQ(of(counters.compiled), compiled);
    EXPECT_TRUE(y.pending());
    EXPECT_THROW(x.assign(y), Error);
    EXPECT_EQ(compilations, 2);
    x.assign(Scalar(1.0));  // y is a reader: it fails, and its write goes on
    null::on_compile(device, {});
    EXPECT_THROW(y.force(), Error);
    x.assign(Scalar(1.0));
}

TEST_F(UnlockedTest, AFailureForWhatAnotherThreadComputedIsNone) {
    const Array x = values(queue), y = log1p(x) + 3.0;
    Signal entered, go_on;
    std::atomic<bool> raised{false};
    const std::thread::id here = std::this_thread::get_id();
    null::on_compile(device, [&](const ir::Kernel&) {
        if (std::this_thread::get_id() == here) return;
        entered.set();
        EXPECT_TRUE(go_on.wait());
        throw Error(ErrorCode::Compile, "the compiler gives up");
    });
    std::thread thread([&] {
        try {
            y.force();
        } catch (const Error&) {
            raised = true;
        }
    });
    EXPECT_TRUE(entered.wait());
    y.force();
    go_on.set();
    thread.join();
    EXPECT_FALSE(raised);
}

TEST_F(UnlockedTest, TheQueueMayLiveByTheValueAlone) {
    Array y = exp2(values(Queue(Device(device)))) + 3.0;
    while_compiling(
        [&] {
            const Array mine = std::move(y);
            mine.force();
        },
        [] {});
}

TEST_F(UnlockedTest, AHolderOfMoreLocksKeepsThem) {
    const Array x = values(queue), y = arctan(x) + 3.0;
    bool tried = true;
    null::on_compile(device,
                     [&](const ir::Kernel&) { std::thread([&] { tried = graph::state_of(queue.impl()).lock.try_lock(); }).join(); });
    {
        const std::lock_guard guard(graph::state_of(queue.impl()).lock);
        y.force();
    }
    EXPECT_FALSE(tried);
}

TEST_F(UnlockedTest, QueuesOfADevicePlanOnce) {
    const auto compute = [](const Queue& queue) { (sqrt(full(shape, 2.0, {}, queue)) - 4.0).force(); };
    compute(queue);
    const std::uint64_t planned = of(counters.planned), compiled = of(counters.compiled);
    for (int i = 0; i < 3; ++i) compute(Queue(Device(device)));
    EXPECT_EQ(of(counters.planned), planned);
    EXPECT_EQ(of(counters.compiled), compiled);
}

/// Sums in place by many threads, each by programs of its own: nothing is lost, whoever compiles when.
TEST(UnlockedOnCpu, UpdatesByManyThreadsAreAllThere) {
    const Queue queue(Device("cpu"));
    Array x = zeros(shape, {}, queue).force();
    const Array held = x;  // so that each update is a store
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            Array mine = held;
            Array step = ones(shape, {}, queue);
            for (int i = 0; i < 12; ++i) {
                step = (t % 2 ? step * 1.0 : 1.0 * step) + 0.0;  // another program each time
                if (i % 3 == 0) step = full(shape, 1.0, {}, queue) + step - 1.0;
                apply_inplace(static_cast<int>(graph::Op::add), mine, step);
            }
        });
    }
    for (std::thread& t : threads) t.join();
    const auto* data = static_cast<const double*>(x.data());
    for (int i = 0; i < shape[0]; ++i) ASSERT_EQ(data[i], 48.0) << i;
}

}  // namespace
}  // namespace pardo::test

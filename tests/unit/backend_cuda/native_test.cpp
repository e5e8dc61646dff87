// tests/unit/backend_cuda/native_test.cpp: turns of native code, and streams and events of other code.
#include <atomic>
#include <optional>
#include <thread>

#include "../message_of.h"
#include "backend/cuda/queue.h"
#include "support.h"

namespace pardo::cuda {
namespace {

using namespace test;
using device::Buffer;
using device::BufferUse;
using device::NativeTurn;

/// A stream as another library makes it.
struct ForeignStream {
    StreamHandle handle = nullptr;
    explicit ForeignStream(CudaDevice* d = device()) {
        const ContextScope scope(*d);
        EXPECT_EQ(driver().cuStreamCreate(&handle, stream_non_blocking), 0);
    }
    ~ForeignStream() { EXPECT_EQ(driver().cuStreamDestroy(handle), 0); }
};

device::NativeCode fills(Buffer* b, float value) {
    return [b, value](NativeTurn& turn) {
        unsigned word = 0;
        std::memcpy(&word, &value, sizeof word);
        EXPECT_EQ(driver().cuMemsetD32Async(address_of(b, 0), word, b->bytes() / 4, static_cast<StreamHandle>(turn.stream)), 0);
    };
}

class Turns : public ::testing::TestWithParam<std::tuple<QueueOrder, bool>> {
protected:
    Ref<device::Queue> queue() {
        const auto [order, profiling] = GetParam();
        return device()->create_queue(order, profiling);
    }
    static std::vector<float> same(float value) { return std::vector<float>(1000, value); }
};

TEST_P(Turns, ComeBetweenCommandsThatUseTheSameMemory) {
    const Ref<device::Queue> q = queue();
    const Ref<Buffer> b = buffer_of(same(0)), copy = buffer_of(same(0));
    const BufferUse uses[] = {{b.get(), device::Access::Write}};
    const float two = 2;
    for (int round = 0; round < 50; ++round) {
        q->fill(b.get(), 0, b->bytes(), &two, 4);
        q->native_task(fills(b.get(), 3), uses, {"fills", {}}, 0);
        q->copy(copy.get(), 0, b.get(), 0, b->bytes());
        q->native_task(fills(b.get(), 4), uses, {"fills", {}}, 0);
        q->wait();
        ASSERT_EQ(values_of(copy.get()), same(3));
        ASSERT_EQ(values_of(b.get()), same(4));
    }
}

TEST_P(Turns, WaitForUserEvents) {
    const Ref<device::Queue> q = queue();
    const Ref<Buffer> b = buffer_of(same(0));
    const BufferUse uses[] = {{b.get(), device::Access::Write}};
    const UserEvent ready;
    const Event before = ready.event();
    const Event event = q->native_task(fills(b.get(), 5), uses, {"fills", {}}, 0, {&before, 1});
    EXPECT_FALSE(event.done());
    ready.set_complete();
    event.wait();
    EXPECT_EQ(values_of(b.get()), same(5));
}

TEST_P(Turns, MaySubmit) {
    const Ref<device::Queue> q = queue();
    const Ref<Buffer> b = buffer_of(same(0)), other = buffer_of(same(0));
    const BufferUse uses[] = {{b.get(), device::Access::Write}};
    const float six = 6;
    Event inner;
    const Event outer = q->native_task(
        [&](NativeTurn& turn) {
            inner = q->fill(other.get(), 0, other->bytes(), &six, 4);
            fills(b.get(), 7)(turn);
        },
        uses, {"fills", {}}, 0);
    outer.wait();
    inner.wait();
    EXPECT_EQ(values_of(b.get()), same(7));
    EXPECT_EQ(values_of(other.get()), same(6));
}

TEST_P(Turns, EndWithAnEventOfTheirOwn) {
    const Ref<device::Queue> q = queue();
    const Ref<Buffer> b = buffer_of(same(0));
    const ForeignStream side;
    const Event event = q->native_task(
        [&](NativeTurn& turn) {
            NativeTurn other;
            other.stream = side.handle;
            fills(b.get(), 8)(other);
            EventHandle done = nullptr;
            EXPECT_EQ(driver().cuEventCreate(&done, event_disable_timing), 0);
            EXPECT_EQ(driver().cuEventRecord(done, side.handle), 0);
            turn.done = done;  // taken over
        },
        std::span<const BufferUse>(), {"aside", {}}, 0);
    event.wait();
    EXPECT_EQ(values_of(b.get()), same(8));
}

TEST_P(Turns, FailWithWhatTheyThrow) {
    const Ref<device::Queue> q = queue();
    const Ref<Buffer> b = buffer_of(same(0));
    const BufferUse uses[] = {{b.get(), device::Access::Write}};
    const Event event =
        q->native_task([](NativeTurn&) { throw Error(ErrorCode::Value, "it does not fit"); }, uses, {"refuses", {"model.py:7"}}, 0);
    EXPECT_NE(message_of([&] { event.wait(); }).find("it does not fit (in kernel refuses, at model.py:7)"), std::string::npos);
    q->native_task(fills(b.get(), 9), uses, {"fills", {}}, 0).wait();
    EXPECT_EQ(values_of(b.get()), same(9));
}

TEST_P(Turns, OfManyThreads) {
    const Ref<device::Queue> q = queue();
    const Ref<Buffer> sum = buffer_of({0}), one = buffer_of({1});
    std::atomic<int> calls{0};
    const BufferUse uses[] = {{sum.get(), device::Access::ReadWrite}};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 100; ++i) q->native_task([&](NativeTurn&) { ++calls; }, uses, {"counts", {}}, 0);
        });
    }
    for (std::thread& t : threads) t.join();
    q->wait();
    EXPECT_EQ(calls, 400);
}

INSTANTIATE_TEST_SUITE_P(Queues, Turns,
                         ::testing::Combine(::testing::Values(QueueOrder::InOrder, QueueOrder::OutOfOrder), ::testing::Bool()),
                         [](const auto& info) {
                             return std::string(std::get<0>(info.param) == QueueOrder::InOrder ? "InOrder" : "OutOfOrder") +
                                    (std::get<1>(info.param) ? "Profiling" : "");
                         });

TEST(Foreign, StreamsAreQueues) {
    NEEDS_NVRTC();
    fake_cuda_on_launch("axpy", run_axpy);
    CudaDevice* d = device();
    const ForeignStream stream;
    std::atomic<int> gone{0};
    {
        const Ref<device::Queue> q = d->adopt_queue(stream.handle, std::shared_ptr<void>(nullptr, [&](void*) { ++gone; }));
        EXPECT_EQ(q->native_queue(), stream.handle);
        EXPECT_EQ(q->order(), QueueOrder::InOrder);
        const Ref<Buffer> x = buffer_of(ramp(1000)), y = buffer_of(std::vector<float>(1000, 0));
        const Ref<device::Program> program = d->compile_source(axpy);
        std::vector<float> expected = ramp(1000);
        for (float& v : expected) v *= 3;
        Event first, second;
        {
            const Hold hold;
            first = launch_axpy(q.get(), program.get(), x.get(), y.get(), 1);
            second = launch_axpy(q.get(), program.get(), x.get(), y.get(), 2);
            EXPECT_FALSE(first.done());
        }
        second.wait();
        EXPECT_TRUE(first.done());
        EXPECT_EQ(values_of(y.get()), expected);
        EXPECT_EQ(gone, 0);
    }
    EXPECT_EQ(gone, 1);
}

TEST(Foreign, TheLegacyStreamIsAQueue) {
    CudaDevice* d = device();
    const Ref<device::Queue> q = d->adopt_queue(nullptr, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(q->native_queue()), 1u);
    const Ref<Buffer> b = buffer_of({0, 0});
    const float two = 2;
    q->fill(b.get(), 0, 8, &two, 4).wait();
    EXPECT_EQ(values_of(b.get()), std::vector<float>({2, 2}));
}

TEST(Foreign, StreamsOfOtherDevicesAreRefused) {
    device(1)->context();
    const ForeignStream stream(device(1));
    const std::string why = message_of([&] { (void)device()->adopt_queue(stream.handle, nullptr); });
    EXPECT_NE(why.find("the stream is of another device or context than cuda:0"), std::string::npos) << why;
}

TEST(Foreign, EventsAreWaitedFor) {
    CudaDevice* d = device();
    const ForeignStream stream;
    const Ref<Buffer> b = buffer_of({0}), copy = buffer_of({0});
    const Ref<device::Queue> q = d->create_queue(QueueOrder::OutOfOrder, false);
    Event event;
    std::optional<Hold> hold(std::in_place);
    {
        const ContextScope scope(*d);
        NativeTurn turn;
        turn.stream = stream.handle;
        fills(b.get(), 3)(turn);
        EventHandle done = nullptr;
        ASSERT_EQ(driver().cuEventCreate(&done, event_disable_timing), 0);
        ASSERT_EQ(driver().cuEventRecord(done, stream.handle), 0);
        event = d->marker_queue()->native_task([&](NativeTurn& t) { d->await_native(t, done); }, {}, {"waits", {}}, 0);
        ASSERT_EQ(driver().cuEventDestroy(done), 0);  // nobody needs it any more
    }
    const Event copied = q->copy(copy.get(), 0, b.get(), 0, 4, {&event, 1});
    EXPECT_FALSE(event.done());
    EXPECT_FALSE(copied.done());
    hold.reset();
    copied.wait();
    EXPECT_EQ(values_of(copy.get()), std::vector<float>({3}));
}

TEST(Foreign, MarkersTellOfOurEvents) {
    CudaDevice* d = device();
    const Ref<device::Queue> q = d->create_queue(QueueOrder::InOrder, false);
    const Ref<Buffer> b = buffer_of({0});
    const float two = 2;
    EventHandle marker = nullptr;
    {
        const Hold hold;
        const Event filled = q->fill(b.get(), 0, 4, &two, 4);
        d->marker_queue()->native_task([&](NativeTurn& t) { marker = static_cast<EventHandle>(d->native_marker(t)); }, {}, {"marks", {}}, 0,
                                       {&filled, 1});
        ASSERT_NE(marker, nullptr);
        EXPECT_EQ(driver().cuEventQuery(marker), result::not_ready);
    }
    const ContextScope scope(*d);
    EXPECT_EQ(driver().cuEventSynchronize(marker), 0);
    EXPECT_EQ(driver().cuEventDestroy(marker), 0);
    EXPECT_EQ(values_of(b.get()), std::vector<float>({2}));
}

TEST(Foreign, MarkersOfWhatIsCompleteWaitForNothing) {
    CudaDevice* d = device();
    const Hold hold;
    EventHandle marker = nullptr;
    d->marker_queue()->native_task([&](NativeTurn& t) { marker = static_cast<EventHandle>(d->native_marker(t)); }, {}, {"marks", {}}, 0);
    ASSERT_NE(marker, nullptr);
    EXPECT_EQ(driver().cuEventQuery(marker), 0);
    const ContextScope scope(*d);
    EXPECT_EQ(driver().cuEventDestroy(marker), 0);
}

}  // namespace
}  // namespace pardo::cuda

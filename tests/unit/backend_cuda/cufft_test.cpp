// tests/unit/backend_cuda/cufft_test.cpp: transforms by cuFFT have the layouts that they are to have, and their plans are few.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "backend/cpu/cpu.h"
#include "cufft/fake_cufft.h"
#include "routines/routines.h"
#include "support.h"

namespace pardo::cuda {
namespace {

using test::device;

routines::Memory memory_on(device::Queue* queue, DType dtype, const Shape& shape, std::int64_t offset = 0) {
    routines::Memory m;
    m.dtype = dtype;
    m.shape = shape;
    m.strides = contiguous_strides(shape);
    m.offset = offset;
    m.buffer = queue->device()->allocate(static_cast<std::size_t>(m.nbytes() + offset * itemsize(dtype)), MemoryKind::Device, queue);
    return m;
}

struct Case {
    Transform transform;
    DType dtype;  // of the complex side
    Shape shape;  // of the logical signal
    std::vector<int> axes;
    std::int64_t offset = 0;  // of the input: elements
};

/// The numbers that a transform gives on a queue.
std::vector<double> result_on(device::Queue* queue, const Case& c, bool forward) {
    Shape half = c.shape;
    half[c.axes.back()] = half[c.axes.back()] / 2 + 1;
    const bool real_in = c.transform == Transform::RealToComplex, real_out = c.transform == Transform::ComplexToReal;
    const routines::Memory x = memory_on(queue, real_in ? real_of(c.dtype) : c.dtype, real_out ? half : c.shape, c.offset);
    const routines::Memory out = memory_on(queue, real_out ? real_of(c.dtype) : c.dtype, real_in ? half : c.shape);
    const bool narrow = c.dtype == DType::Complex64;
    const auto count = static_cast<std::size_t>(x.nbytes()) / (narrow ? 4 : 8),
               given = static_cast<std::size_t>(out.nbytes()) / (narrow ? 4 : 8);
    std::vector<float> single(std::max(count, given));
    std::vector<double> numbers(std::max(count, given));
    for (std::size_t i = 0; i < count; ++i) single[i] = static_cast<float>(numbers[i] = static_cast<double>(i * 7 % 11) - 4);
    void* host = narrow ? static_cast<void*>(single.data()) : numbers.data();
    queue->write(x.buffer.get(), static_cast<std::size_t>(c.offset * itemsize(x.dtype)), host, static_cast<std::size_t>(x.nbytes()));
    Fourier what;
    what.transform = c.transform;
    what.forward = forward;
    routines::fft(queue, x, out, what, c.axes);
    queue->wait();
    queue->read(host, out.buffer.get(), 0, static_cast<std::size_t>(out.nbytes()));
    if (narrow) std::ranges::copy(single, numbers.begin());
    numbers.resize(given);
    return numbers;
}

TEST(Cufft, ComputesWhatTheCpuComputes) {
    const Ref<device::Queue> queue = device()->create_queue(QueueOrder::InOrder, false);
    const Ref<device::Queue> host = cpu::whole_cpu()->create_queue(QueueOrder::InOrder, false);
    ASSERT_TRUE(routines::fft_in_parts(queue.get(), Transform::Complex));
    ASSERT_FALSE(routines::fft_in_parts(host.get(), Transform::Complex));
    const std::vector<std::vector<int>> axes = {{0},    {1},       {2},    {1, 2}, {0, 1, 2},    {0, 1},
                                                {2, 0}, {2, 1, 0}, {0, 2}, {3},    {0, 1, 2, 3}, {3, 1}};
    for (const Transform transform : {Transform::Complex, Transform::RealToComplex, Transform::ComplexToReal}) {
        for (const DType dtype : {DType::Complex64, DType::Complex128}) {
            for (const std::vector<int>& along : axes) {
                const bool four = std::ranges::max(along) == 3;
                const Case c{transform, dtype, four ? Shape{2, 3, 2, 4} : Shape{3, 4, 5}, along};
                for (const bool forward : {true, false}) {
                    // Half spectra of several axes must be those of real signals: along one axis any half is one.
                    if (transform == Transform::ComplexToReal && (forward || along.size() > 1)) continue;
                    if (transform == Transform::RealToComplex && !forward) continue;
                    const std::vector<double> mine = result_on(queue.get(), c, forward), theirs = result_on(host.get(), c, forward);
                    ASSERT_EQ(mine.size(), theirs.size());
                    for (std::size_t i = 0; i < mine.size(); ++i)
                        ASSERT_NEAR(mine[i], theirs[i], dtype == DType::Complex64 ? 1e-3 : 1e-10)
                            << "transform " << static_cast<int>(transform) << ", " << along.size() << " axes from " << along[0] << ", "
                            << i;
                }
            }
        }
    }
}

TEST(Cufft, TakesPartsOfRealNumbers) {
    const Ref<device::Queue> queue = device()->create_queue(QueueOrder::InOrder, false);
    for (const DType dtype : {DType::Complex64, DType::Complex128}) {
        for (const Transform transform : {Transform::Complex, Transform::RealToComplex, Transform::ComplexToReal}) {
            const Case whole{transform, dtype, Shape{2, 6}, {1}}, part{transform, dtype, Shape{2, 6}, {1}, 3};
            const bool forward = transform != Transform::ComplexToReal;
            EXPECT_EQ(result_on(queue.get(), part, forward), result_on(queue.get(), whole, forward)) << static_cast<int>(transform);
        }
    }
}

TEST(Cufft, PlansAreFewAndDieWithTheirStreams) {
    const long before = fake_cufft_live();
    {
        const Ref<device::Queue> queue = device(1)->create_queue(QueueOrder::InOrder, false);
        const long made = fake_cufft_made();
        for (int i = 0; i < 3; ++i) (void)result_on(queue.get(), {Transform::Complex, DType::Complex64, Shape{4, 8}, {1}}, true);
        EXPECT_EQ(fake_cufft_made(), made + 1);
        for (std::int64_t n = 1; n < 20; ++n) (void)result_on(queue.get(), {Transform::Complex, DType::Complex64, Shape{n}, {0}}, true);
        EXPECT_LE(fake_cufft_live(), before + 16);
    }
    EXPECT_EQ(fake_cufft_live(), before);
}

TEST(Cufft, PlansOfLargeTransformsStayBesideEachOther) {
    const Ref<device::Queue> queue = device(1)->create_queue(QueueOrder::InOrder, false);
    const auto both = [&] {
        (void)result_on(queue.get(), {Transform::Complex, DType::Complex64, Shape{512}, {0}}, true);
        (void)result_on(queue.get(), {Transform::Complex, DType::Complex64, Shape{1, 480}, {1}}, true);
    };
    both();
    const long made = fake_cufft_made();
    both();
    EXPECT_EQ(fake_cufft_made(), made);
}

TEST(Cufft, APlanThatFailedIsNotKept) {
    const Ref<device::Queue> queue = device()->create_queue(QueueOrder::InOrder, false);
    const long live = fake_cufft_live();
    const Case c{Transform::RealToComplex, DType::Complex128, Shape{6}, {0}};
    fake_cufft_fail_next("cufftMakePlanMany64");
    EXPECT_THROW((void)result_on(queue.get(), c, true), Error);
    EXPECT_EQ(fake_cufft_live(), live);
    EXPECT_EQ(result_on(queue.get(), c, true).size(), 8u);
}

}  // namespace
}  // namespace pardo::cuda

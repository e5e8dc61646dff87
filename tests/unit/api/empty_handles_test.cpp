// tests/unit/api/empty_handles_test.cpp: handles without a value: whatever asks for one throws an Error that says so; nothing crashes.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <pardo/fft.h>
#include <pardo/linalg.h>
#include <pardo/ops.h>
#include <pardo/program.h>

#include "../message_of.h"

namespace pardo {
namespace {

const std::string why = "no value: it was made without one, or moved from";

struct Case {
    const char* text;
    std::function<void(const Array& none, const Array& x)> call;
};
#define CALL(...)                                       \
    Case {                                              \
#__VA_ARGS__, [](const Array& none, const Array& x) { \
            (void)none; \
            (void)x; \
            (void)(__VA_ARGS__); \
        } \
    }

TEST(EmptyArrays, AreAnErrorWhereverTheyAreGiven) {
    double memory[4] = {};
    static const Array mask = array({true, false});
    static double* const host = memory;
    const Case cases[] = {
        CALL(none.dtype()),
        CALL(none.ndim()),
        CALL(none.shape()),
        CALL(none.size()),
        CALL(none.nbytes()),
        CALL(none.queue()),
        CALL(none.device()),
        CALL(none.is_scalar_value()),
        CALL(none.pending()),
        CALL(none.force()),
        CALL(none.force_to_wait()),
        CALL(none.wait()),
        CALL(none.accept()),
        CALL(none.event()),
        CALL(none.writes()),
        CALL(none.strides()),
        CALL(none.data()),
        CALL(none.mutable_data()),
        CALL(none.writeable()),
        CALL(none.address()),
        CALL(none.externally_writable()),
        CALL(none.externally_readable()),
        CALL(none.is_contiguous()),
        CALL(none.memory_kind()),
        CALL(none.hold()),
        CALL(none.share_writable()),
        CALL(none[0]),
        CALL(none[Slice{}]),
        CALL(none[{Slice{}, 0}]),
        CALL(none.at(0)),
        CALL(x[none]),
        CALL(none.set({0}, 1.0)),
        CALL(none.set({0}, x)),
        CALL(x.set({0}, none)),
        CALL(x.set({none}, 1.0)),
        CALL(none.assign(1.0)),
        CALL(none.assign(x)),
        CALL(x.assign(none)),
        CALL(none.astype(DType::Int8)),
        CALL(none.copy()),
        CALL(none.to_queue(Queue())),
        CALL(none.to_device(Device())),
        CALL(none.item()),
        CALL(none.item<int>()),
        CALL(none.copy_to(host)),
        CALL(none.to_vector<double>()),
        CALL(none.span<double>()),
        CALL(none.begin() == none.end()),
        CALL(*none.begin()),
        CALL(reinterpret(none, DType::Int8, {1})),
        CALL(strided(none, DType::Int8, {1}, {1}, 0)),
        CALL(in_memory(none, MemoryKind::Host)),
        CALL(explain({x, none})),
        CALL(force({x, none})),
        CALL(fail_where(none, mask, ErrorCode::Value, "")),
        CALL(fail_where(x, none, ErrorCode::Value, "")),
        CALL(none + 1),
        CALL(1 - none),
        CALL(x * none),
        CALL(-none),
        CALL(none == x),
        CALL(where(none, x, x)),
        CALL([&] {
            Array y;
            y += 1;
        }()),
        CALL([&] {
            Array y = x.copy();
            y += none;
        }()),
        CALL(sum(none)),
        CALL(argmax(none)),
        CALL(cumsum(none)),
        CALL(reduce(Reduction::Sum, x, {}, false, {}, &none)),
        CALL(mean(none)),
        CALL(var(none)),
        CALL(stddev(none)),
        CALL(mean(x, {}, false, {}, &none)),
        CALL(tril(none)),
        CALL(triu(none)),
        CALL(reshape(none, {1})),
        CALL(permute_dims(none, {0})),
        CALL(broadcast_to(none, {1})),
        CALL(expand_dims(none, 0)),
        CALL(squeeze(none)),
        CALL(flip(none)),
        CALL(moveaxis(none, 0, 0)),
        CALL(part_view(none, 0)),
        CALL(diagonal(none)),
        CALL(sliding_windows(none, 1, 0)),
        CALL(as_strided(none, {1}, {1})),
        CALL(broadcast_arrays({x, none})),
        CALL(bitcast(none, DType::Int64)),
        CALL(concat({x, none})),
        CALL(stack({x, none})),
        CALL(roll(none, 1)),
        CALL(repeat(none, 2)),
        CALL(repeat(x, none)),
        CALL(tile(none, {2})),
        CALL(diff(none)),
        CALL(diff(x, 1, -1, &none)),
        CALL(sort(none)),
        CALL(argsort(none)),
        CALL(partition(none, 0)),
        CALL(argpartition(none, 0)),
        CALL(ranked(none, 0)),
        CALL(top_k(none, 1)),
        CALL(searchsorted(none, x)),
        CALL(searchsorted(x, none)),
        CALL(searchsorted(x, x, false, &none)),
        CALL(nonzero(none)),
        CALL(take(none, x)),
        CALL(take(x, none)),
        CALL(take_along_axis(none, x)),
        CALL(take_along_axis(x, none)),
        CALL(matmul(none, x)),
        CALL(matmul(x, none)),
        CALL(vecdot(none, x)),
        CALL(vecdot(x, none)),
        CALL(tensordot(none, x, {0}, {0})),
        CALL(tensordot(x, none, {0}, {0})),
        CALL(unique(none)),
        CALL(fft::fft(none)),
        CALL(fft::irfft(none)),
        CALL(fft::fftn(none)),
        CALL(linalg::solve(none, x)),
        CALL(linalg::solve(reshape(x, {1, 2}), none)),
        CALL(linalg::inv(none)),
        CALL(linalg::det(none)),
        CALL(linalg::slogdet(none)),
        CALL(linalg::cholesky(none)),
        CALL(linalg::qr(none)),
        CALL(linalg::svd(none)),
        CALL(linalg::svdvals(none)),
        CALL(linalg::eigh(none)),
        CALL(linalg::eigvalsh(none)),
        CALL(linalg::eig(none)),
        CALL(linalg::eigvals(none)),
        CALL(linalg::lstsq(none, x)),
        CALL(linalg::lu_factor(none)),
        CALL(linalg::lu_solve(none, x, x)),
        CALL(linalg::solve_triangular(none, x)),
        CALL(linalg::solve_banded(0, 0, none, x)),
        CALL(linalg::solveh_banded(none, x)),
        CALL(linalg::solve_toeplitz(none, x)),
        CALL(linalg::eigh_subset(none, false, 0, 0, false)),
        CALL(linalg::has_device_code("solve", none)),
        CALL(linalg::vector_norm(none)),
        CALL(linalg::matrix_norm(none)),
        CALL(linalg::trace(none)),
        CALL(linalg::outer(none, x)),
        CALL(linalg::outer(x, none)),
        CALL(linalg::matrix_power(none, 2)),
        CALL(linalg::matrix_rank(none)),
        CALL(linalg::pinv(none)),
        CALL(fft::rfftn(none)),
        CALL(fft::irfftn(none)),
        CALL(fft::fftshift(none)),
        CALL(fft::ifftshift(none)),
        CALL(Queue().submit({none})),
        CALL(Queue().copy(x, none)),
        CALL(Queue().copy(none, x)),
        CALL(Queue().copy_rect(x, none, {})),
        CALL(Queue().fill(none, 1.0)),
        CALL(Queue().prefetch(none)),
        CALL(Image(none, 1, false, false)),
    };
    const Array none, x = array({1.0, 2.0}).force();
    for (const Case& c : cases) {
        const std::string message = message_of([&] { c.call(none, x); });
        EXPECT_NE(message.find(why), std::string::npos) << c.text << ": " << message;
    }
    EXPECT_TRUE(none.failure().has_value());
}

TEST(EmptyHandles, OfOtherKindsAreComplete) {
    EXPECT_TRUE(Event().done());
    Event().wait();
    EXPECT_NE(message_of([] { (void)Event().profiling(); }), "");
    EXPECT_EQ(Queue(), Queue::of(Device()));
    UserEvent one;
    const UserEvent two = std::move(one);  // NOLINT(performance-move-const-arg): that it copies is tested
    EXPECT_FALSE(one.event().done());      // NOLINT(bugprone-use-after-move): moves copy
    EXPECT_TRUE(two.set_complete());
    EXPECT_TRUE(one.event().done());
    Context first({Device("cpu")});
    const Context second = std::move(first);       // NOLINT(performance-move-const-arg)
    EXPECT_EQ(first.devices(), second.devices());  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace pardo

// src/routines/cpu/fft/ducc.cpp: what is taken of ducc0, in one precision and for one instruction set: cmake/ducc.cmake compiles this file
// for each.
#define DUCC0_NO_LOWLEVEL_THREADING  // threads are ours
#include <algorithm>
#include <complex>

#include "routines/cpu/fft/job.h"

// clang-format off: ducc0's headers do not include all that they use
#include "ducc0/infra/simd.h"
#include "ducc0/infra/threading.h"
// clang-format on

namespace DUCC0_NAMESPACE {

using Real = PARDO_FFT_REAL;

// Vectors of the processor's width and of half of it, for a few lines and for lines of which more do not fit into a core's cache.
namespace detail_simd {
#if !defined(DUCC0_NO_SIMD) && defined(__AVX2__)
template <> constexpr inline bool simd_exists<Real, native_simd<Real>::size() / 4> = false;
#endif
}  // namespace detail_simd

// The functions that src/ducc0/infra/threading.cc defines there, as far as transforms use them.
namespace detail_threading {
namespace {

thread_local const pardo::routines::FftJob* current = nullptr;  // on the thread that shares its work out

struct Current {
    explicit Current(const pardo::routines::FftJob* job) : before(std::exchange(current, job)) {}
    ~Current() { current = before; }
    const pardo::routines::FftJob* before;
};

/// One part of several: a range, once.
class Part final : public Scheduler {
public:
    Part(std::size_t number, std::size_t parts, Range range) : number_(number), parts_(parts), range_(range) {}
    std::size_t num_threads() const override { return parts_; }
    std::size_t thread_num() const override { return number_; }
    Range getNext() override { return std::exchange(range_, Range()); }

private:
    std::size_t number_, parts_;
    Range range_;
};

void share(std::size_t count, std::size_t parts, const std::function<void(Scheduler&)>& f) {
    const auto part = [&](std::size_t i) {
        Part own(i, parts, Range(count * i / parts, count * (i + 1) / parts));
        f(own);
    };
    if (parts == 1) return part(0);
    current->run(parts, [&](std::size_t i) {
        const Current none(nullptr);  // what is inside of a part is not shared out again
        part(i);
    });
}

}  // namespace

std::size_t adjust_nthreads(std::size_t wanted) { return current ? std::min(std::max<std::size_t>(wanted, 1), current->threads) : 1; }
void execStatic(std::size_t count, std::size_t threads, std::size_t, std::function<void(Scheduler&)> f) {
    share(count, std::clamp<std::size_t>(count, 1, adjust_nthreads(threads)), f);
}
void execParallel(std::size_t threads, std::function<void(Scheduler&)> f) {
    const std::size_t parts = adjust_nthreads(threads);
    share(parts, parts, f);
}
void execParallel(std::size_t low, std::size_t high, std::size_t threads, std::function<void(std::size_t, std::size_t)> f) {
    share(high - low, adjust_nthreads(threads), [&](Scheduler& part) {
        const Range range = part.getNext();
        f(low + range.lo, low + range.hi);
    });
}

}  // namespace detail_threading
}  // namespace DUCC0_NAMESPACE

#include "ducc0/fft/fftnd_impl.h"

namespace DUCC0_NAMESPACE::detail_fft {
namespace {

/// Plans are kept where the library keeps them.
template <class Plan> std::shared_ptr<Plan> kept(std::size_t length, bool vectorized) {
    static constexpr char type = 0;
    return std::static_pointer_cast<Plan>(pardo::routines::find_plan({&type, length, vectorized}, [&]() -> pardo::routines::FftPlan {
        auto plan = std::make_shared<Plan>(length, vectorized);
        const std::size_t bytes = plan->footprint();
        return {std::move(plan), bytes};
    }));
}
#define PARDO_KEPT(Plan) \
    template <> std::shared_ptr<Plan> get_plan<Plan>(std::size_t length, bool vectorized) { return kept<Plan>(length, vectorized); }
PARDO_KEPT(pocketfft_c<Real>)
PARDO_KEPT(pocketfft_r<Real>)
PARDO_KEPT(T_dct1<Real>)
PARDO_KEPT(T_dst1<Real>)
PARDO_KEPT(T_dcst23<Real>)
PARDO_KEPT(T_dcst4<Real>)
#undef PARDO_KEPT

using Complex = std::complex<Real>;
using pardo::routines::FftJob;

template <class T> cfmav<T> input(const FftJob& job) { return {static_cast<const T*>(job.in), job.in_shape, job.in_strides}; }
template <class T> vfmav<T> output(const FftJob& job) { return {static_cast<T*>(job.out), job.out_shape, job.out_strides}; }

/// Roots of unity of a long line, as sums of two angles.
class LineRoots {
public:
    LineRoots(std::size_t length, bool) : roots_(length) {}
    std::size_t footprint() const { return roots_.footprint(); }
    /// Multiplies line[j], j < count, by the root number `step` * j, or by its conjugate.
    void rotate(Complex* line, std::size_t count, std::size_t step, bool conjugate) const {
        constexpr std::size_t near = 64;
        double re[near], im[near];
        for (std::size_t j = 0; j < std::min(near, count); ++j) {
            const std::complex<double> root = roots_[step * j];
            re[j] = root.real();
            im[j] = root.imag();
        }
        auto* numbers = reinterpret_cast<Real*>(line);
        for (std::size_t first = 0; first < count; first += near, numbers += 2 * near) {
            const std::complex<double> far = roots_[step * first];
            const double far_re = far.real(), far_im = far.imag(), sign = conjugate ? -1 : 1;
            for (std::size_t j = 0; j < std::min(near, count - first); ++j) {
                const Real c = static_cast<Real>(re[j] * far_re - im[j] * far_im),
                           s = static_cast<Real>(sign * (re[j] * far_im + im[j] * far_re));
                const Real x = numbers[2 * j], y = numbers[2 * j + 1];
                numbers[2 * j] = x * c - y * s;
                numbers[2 * j + 1] = x * s + y * c;
            }
        }
    }

private:
    UnityRoots<double, std::complex<double>> roots_;
};

/// The two lengths of a matrix that a long line is taken for, the shorter one first.
std::pair<std::size_t, std::size_t> matrix_of(std::size_t length) {
    std::vector<std::size_t> factors = util1d::prime_factors(length);
    std::ranges::sort(factors, std::greater<>());
    std::size_t high = 1, wide = 1;
    for (const std::size_t factor : factors) (wide > high ? high : wide) *= factor;
    return std::minmax(high, wide);
}

/// A long line of complex numbers, as a matrix: its columns, roots of unity, its rows (D. H. Bailey, "FFTs in external or hierarchical
/// memory", 1990). ducc0 does the same one step after the other; here what a thread turns is still in its cache when its rows come.
void transform_line(const cfmav<Complex>& in, const vfmav<Complex>& out, const FftJob& job) {
    const std::size_t length = in.shape(0);
    const auto [high, wide] = matrix_of(length);
    const bool forward = job.what.forward;
    const Real scale = static_cast<Real>(job.what.factor);
    if (high < 16) return c2c(in, out, {0}, forward, scale, job.threads);
    const auto step = [](std::size_t count, std::ptrdiff_t stride) { return static_cast<std::ptrdiff_t>(count) * stride; };
    const cfmav<Complex> matrix(in.data(), {high, wide}, {step(wide, in.stride(0)), in.stride(0)});
    const vfmav<Complex> turned(out.data(), {high, wide}, {out.stride(0), step(high, out.stride(0))});
    const vfmav<Complex> between(vfmav<Complex>::build_noncritical({high, wide}, UNINITIALIZED));
    c2c(matrix, between, {0}, forward, Real(1), job.threads);
    const auto roots = kept<LineRoots>(length, false);
    constexpr std::size_t rows = 16;
    job.run((high + rows - 1) / rows, [&, wide = wide, high = high](std::size_t part) {
        const detail_threading::Current none(nullptr);
        const std::size_t first = part * rows, count = std::min(rows, high - first);
        Complex* from = between.data() + step(first, between.stride(0));
        for (std::size_t i = 0; i < count; ++i) roots->rotate(from + step(i, between.stride(0)), wide, first + i, forward);
        const cfmav<Complex> lines(from, {count, wide}, between.stride());
        const vfmav<Complex> columns(turned.data() + step(first, turned.stride(0)), {count, wide}, turned.stride());
        c2c(lines, columns, {1}, forward, scale, 1);
    });
}

/// Few long lines of complex numbers: one after the other by all threads, where ducc0 would give each thread lines.
bool by_lines(const FftJob& job) {
    constexpr std::size_t long_line = 131072;  // from there on threads share one line
    if (job.axes.size() > 1) return false;
    const std::size_t length = job.in_shape[job.axes[0]];
    std::size_t lines = 1;
    for (std::size_t d = 0; d < job.in_shape.size(); ++d) lines *= d == job.axes[0] ? 1 : job.in_shape[d];
    return length >= long_line && (lines == 1 || (job.threads > 1 && lines < job.threads * native_simd<Real>::size()));
}

void complex_lines(const FftJob& job) {
    const std::size_t axis = job.axes[0], rank = job.in_shape.size();
    std::vector<std::size_t> index(rank, 0);
    std::ptrdiff_t from = 0, to = 0;
    for (;;) {
        const cfmav<Complex> in(static_cast<const Complex*>(job.in) + from, {job.in_shape[axis]}, {job.in_strides[axis]});
        const vfmav<Complex> out(static_cast<Complex*>(job.out) + to, {job.out_shape[axis]}, {job.out_strides[axis]});
        transform_line(in, out, job);
        std::size_t d = rank;
        while (d-- > 0) {
            if (d == axis) continue;
            from += job.in_strides[d];
            to += job.out_strides[d];
            if (++index[d] < job.in_shape[d]) break;
            from -= job.in_strides[d] * static_cast<std::ptrdiff_t>(index[d]);
            to -= job.out_strides[d] * static_cast<std::ptrdiff_t>(index[d]);
            index[d] = 0;
        }
        if (d == static_cast<std::size_t>(-1)) return;
    }
}

void compute(const FftJob& job) {
    const auto& [transform, forward, factor, type, orthogonal] = job.what;
    const Real scale = static_cast<Real>(factor);
    using pardo::Transform;
    switch (transform) {
        case Transform::Complex:
            if (by_lines(job)) return complex_lines(job);
            return c2c(input<Complex>(job), output<Complex>(job), job.axes, forward, scale, job.threads);
        case Transform::RealToComplex: return r2c(input<Real>(job), output<Complex>(job), job.axes, forward, scale, job.threads);
        case Transform::ComplexToReal: return c2r(input<Complex>(job), output<Real>(job), job.axes, forward, scale, job.threads);
        case Transform::Cosine: return dct(input<Real>(job), output<Real>(job), job.axes, type, scale, orthogonal, job.threads);
        case Transform::Sine: return dst(input<Real>(job), output<Real>(job), job.axes, type, scale, orthogonal, job.threads);
    }
}

}  // namespace
}  // namespace DUCC0_NAMESPACE::detail_fft

extern "C" void PARDO_FFT_NAME(const pardo::routines::FftJob& job) {
    const DUCC0_NAMESPACE::detail_threading::Current here(&job);
    DUCC0_NAMESPACE::detail_fft::compute(job);
}

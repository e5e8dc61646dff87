// src/routines/cpu/small_matrices.cpp: stacks of small real matrices, a group of them at once: each lane of a vector works on one.
#include <cmath>

#include "routines/cpu/lapack/scaled_product.h"
#include "routines/cpu/lapack/stack.h"

namespace pardo::routines {

namespace {

template <class T> struct Lanes;
template <> struct Lanes<float> {
    using Values = float __attribute__((vector_size(64)));
    using Index = std::int32_t __attribute__((vector_size(64)));
};
template <> struct Lanes<double> {
    using Values = double __attribute__((vector_size(64)));
    using Index = std::int64_t __attribute__((vector_size(64)));
};
/// Matrices of a group: as many as the widest registers have lanes. Narrower ones take a vector in parts.
template <class T> inline constexpr int group = 64 / static_cast<int>(sizeof(T));

/// The memory that a group is computed in. Element (i, j) of all its matrices is one vector, a[i * n + j].
template <class T> struct Group {
    using V = typename Lanes<T>::Values;
    int n, k;    // a is of (n, n), b of (n, k)
    V *a, *b;    // LU factorization: the upper factor, and b with the lower one taken away; Cholesky: the factor
    V* row;      // of n + k
    V* signs;    // of the permutations
    bool upper;  // Cholesky
};

// Functions for each instruction set are made of these, so they are always inlined, and vectors are passed by address.
#define PARDO_LANES template <class T> [[gnu::always_inline]] inline void

/// A power of two by which pivots of so few digits are multiplied, and what is divided by them: their inverses would be infinite.
PARDO_LANES find_scale(const typename Lanes<T>::Values& x, typename Lanes<T>::Values& scale) {
    using V = typename Lanes<T>::Values;
    constexpr T few = std::numeric_limits<T>::min(), up = 2 / std::numeric_limits<T>::epsilon();
    const V size = x < T(0) ? -x : x;
    scale = size < few ? V{} + up : V{} + T(1);
}

/// LU factorization with partial pivoting; all that is done to the rows of a is done to those of b.
PARDO_LANES eliminate(const Group<T>& g) {
    using V = typename Lanes<T>::Values;
    using I = typename Lanes<T>::Index;
    const int n = g.n, k = g.k;
    V *a = g.a, *b = g.b, *row = g.row, *row_of_b = g.row + n;
    *g.signs = V{} + T(1);
    for (int p = 0; p < n; ++p) {
        V best = a[p * n + p];
        best = best < T(0) ? -best : best;
        I place = I{} + p;
        for (int i = p + 1; i < n; ++i) {
            V x = a[i * n + p];
            x = x < T(0) ? -x : x;
            const I larger = x > best;
            best = larger ? x : best;
            place = larger ? I{} + i : place;
        }
        *g.signs = place != p ? -*g.signs : *g.signs;
        for (int l = 0; l < group<T>; ++l) {
            const T *from = reinterpret_cast<const T*>(a + place[l] * n) + l, *from_b = reinterpret_cast<const T*>(b + place[l] * k) + l;
            for (int j = p; j < n; ++j) reinterpret_cast<T*>(row + j)[l] = from[j * group<T>];
            for (int j = 0; j < k; ++j) reinterpret_cast<T*>(row_of_b + j)[l] = from_b[j * group<T>];
        }
        V up;
        find_scale<T>(row[p], up);
        const V inverse = row[p] == T(0) ? V{} : T(1) / (row[p] * up);
        for (int i = p + 1; i < n; ++i) {
            const I moved = place == i;
            const V factor = (moved ? a[p * n + p] : a[i * n + p]) * up * inverse;
            for (int j = p + 1; j < n; ++j) a[i * n + j] = (moved ? a[p * n + j] : a[i * n + j]) - factor * row[j];
            for (int j = 0; j < k; ++j) b[i * k + j] = (moved ? b[p * k + j] : b[i * k + j]) - factor * row_of_b[j];
        }
        for (int j = p; j < n; ++j) a[p * n + j] = row[j];
        for (int j = 0; j < k; ++j) b[p * k + j] = row_of_b[j];
    }
}

/// After that: the solutions, in the place of b.
PARDO_LANES substitute(const Group<T>& g) {
    using V = typename Lanes<T>::Values;
    const int n = g.n, k = g.k;
    for (int i = n - 1; i >= 0; --i) {
        for (int p = i + 1; p < n; ++p) {
            const V factor = g.a[i * n + p];
            for (int j = 0; j < k; ++j) g.b[i * k + j] -= factor * g.b[p * k + j];
        }
        V up;
        find_scale<T>(g.a[i * n + i], up);
        const V inverse = T(1) / (g.a[i * n + i] * up);
        for (int j = 0; j < k; ++j) g.b[i * k + j] = g.b[i * k + j] * up * inverse;
    }
}

/// Cholesky factorization, of one triangle; what is not positive definite gets a diagonal element that is not positive.
PARDO_LANES factorize(const Group<T>& g) {
    using V = typename Lanes<T>::Values;
    // Element (i, j) of the lower factor.
    const int n = g.n, down = g.upper ? 1 : n, across = g.upper ? n : 1;
    for (int j = 0; j < n; ++j) {
        V* pivot = g.a + j * (n + 1);
        const V square = *pivot;
        V root;
        for (int l = 0; l < group<T>; ++l) root[l] = std::sqrt(square[l]);
        *pivot = square > T(0) ? root : square <= T(0) ? V{} : square;  // NaN stays
        const V inverse = T(1) / root;
        for (int i = j + 1; i < n; ++i) {
            g.a[i * down + j * across] *= inverse;
            g.a[j * down + i * across] = V{};
        }
        for (int c = j + 1; c < n; ++c) {
            const V factor = g.a[c * down + j * across];
            for (int i = c; i < n; ++i) g.a[i * down + c * across] -= factor * g.a[i * down + j * across];
        }
    }
}

enum class Work : std::uint8_t { Eliminate, Solve, Factorize };
PARDO_LANES compute_lanes(Work work, const Group<T>& g) {
    if (work == Work::Factorize) return factorize(g);
    eliminate(g);
    if (work == Work::Solve) substitute(g);
}
#undef PARDO_LANES

template <class T> void compute_portable(Work work, const Group<T>& g) { compute_lanes(work, g); }
#if defined(__x86_64__)
template <class T> PARDO_TARGET_AVX2 void compute_avx2(Work work, const Group<T>& g) { compute_lanes(work, g); }
template <class T> PARDO_TARGET_AVX512 void compute_avx512(Work work, const Group<T>& g) { compute_lanes(work, g); }
#endif
template <class T> void compute_group(Work work, const Group<T>& g) {
#if defined(__x86_64__)
    if (host_simd() == Simd::Avx512) return compute_avx512(work, g);
    if (host_simd() == Simd::Avx2) return compute_avx2(work, g);
#endif
    compute_portable(work, g);
}

/// What the workers below share: a group of matrices comes in, and goes out.
template <class T> class SmallWorker {
public:
    /// `k`: columns of b.
    SmallWorker(const StackTask& task, Workspace& workspace, int k) : task_(task) {
        using V = typename Lanes<T>::Values;
        const int n = rows_of(task.in[0]);
        group_ = {n, k, nullptr, nullptr, nullptr, nullptr, task.options.upper};
        group_.a = workspace.take<V>(static_cast<std::int64_t>(n) * n);
        group_.b = workspace.take<V>(static_cast<std::int64_t>(n) * k);
        group_.row = workspace.take<V>(n + k);
        group_.signs = workspace.take<V>(1);
        count_ = task.in[0].size() / (static_cast<std::int64_t>(n) * n);
    }
    double flops() const { return (2. / 3 * group_.n + 2. * group_.k) * group_.n * group_.n; }
    int extent() const { return group_.n; }
    static constexpr int together = group<T>;

protected:
    using V = typename Lanes<T>::Values;
    /// How many matrices of the group there are.
    int present(std::int64_t first) const { return static_cast<int>(std::min<std::int64_t>(group<T>, count_ - first)); }
    /// The first of the group's matrices for which `fails(lane)`, or null.
    template <class F> const char* first_failure(std::int64_t& index, const char* reason, F&& fails) const {
        for (int l = 0; l < present(index); ++l) {
            if (!fails(l)) continue;
            index += l;
            return reason;
        }
        return nullptr;
    }
    bool is_singular(int l) const {
        for (int i = 0; i < group_.n; ++i) {
            if (group_.a[i * (group_.n + 1)][l] == T(0)) return true;
        }
        return false;
    }
    /// Lanes without a matrix get the last one.
    void load(const Memory& stack, std::int64_t first, V* to, int elements) const {
        for (int l = 0; l < group<T>; ++l) {
            const T* from = StackTask::part<T>(stack, first + std::min(l, present(first) - 1), elements);
            T* lane = reinterpret_cast<T*>(to) + l;
            for (int e = 0; e < elements; ++e) lane[e * group<T>] = from[e];
        }
    }
    void store(const V* from, const Memory& stack, std::int64_t first, int elements) const {
        for (int l = 0; l < present(first); ++l) {
            T* to = StackTask::part<T>(stack, first + l, elements);
            const T* lane = reinterpret_cast<const T*>(from) + l;
            for (int e = 0; e < elements; ++e) to[e] = lane[e * group<T>];
        }
    }

    const StackTask& task_;
    Group<T> group_;
    std::int64_t count_ = 0;
};

template <class T> class SmallSolving : public SmallWorker<T> {
    using Base = SmallWorker<T>;
    using Base::group_, Base::task_;

public:
    SmallSolving(const StackTask& task, Workspace& workspace) : Base(task, workspace, columns_of(task.in[1])) {}
    const char* operator()(std::int64_t& index) const {
        Base::load(task_.in[0], index, group_.a, group_.n * group_.n);
        Base::load(task_.in[1], index, group_.b, group_.n * group_.k);
        compute_group(Work::Solve, group_);
        Base::store(group_.b, task_.out[0], index, group_.n * group_.k);
        return Base::first_failure(index, "Singular matrix", [this](int l) { return Base::is_singular(l); });
    }
};

template <class T> class SmallInverting : public SmallWorker<T> {
    using Base = SmallWorker<T>;
    using Base::group_, Base::task_;

public:
    SmallInverting(const StackTask& task, Workspace& workspace) : Base(task, workspace, rows_of(task.in[0])) {}
    const char* operator()(std::int64_t& index) const {
        const int n = group_.n;
        Base::load(task_.in[0], index, group_.a, n * n);
        for (int e = 0; e < n * n; ++e) group_.b[e] = typename Base::V{} + T(e % (n + 1) == 0);
        compute_group(Work::Solve, group_);
        const auto singular = [this](int l) { return Base::is_singular(l); };
        for (int l = 0; l < group<T> && task_.options.nan_where_singular; ++l) {
            for (int e = 0; singular(l) && e < n * n; ++e) group_.b[e][l] = std::numeric_limits<T>::quiet_NaN();
        }
        Base::store(group_.b, task_.out[0], index, n * n);
        return task_.options.nan_where_singular ? nullptr : Base::first_failure(index, "Singular matrix", singular);
    }
};

template <class T> class SmallDeterminant : public SmallWorker<T> {
    using Base = SmallWorker<T>;
    using Base::group_, Base::task_;

public:
    SmallDeterminant(const StackTask& task, Workspace& workspace) : Base(task, workspace, 0) {}
    const char* operator()(std::int64_t& index) const {
        Base::load(task_.in[0], index, group_.a, group_.n * group_.n);
        compute_group(Work::Eliminate, group_);
        for (int l = 0; l < Base::present(index); ++l) {
            T* first = StackTask::part<T>(task_.out[0], index + l, 1);
            if (task_.out.size() == 1) {
                *first = determinant(l);
                continue;
            }
            T sign = (*group_.signs)[l], logarithm = 0;
            for (int i = 0; i < group_.n; ++i) {
                const T x = group_.a[i * (group_.n + 1)][l];
                logarithm += std::log(std::abs(x));
                sign = x < 0 ? -sign : x == 0 ? T(0) : sign;
            }
            *first = sign;
            *StackTask::part<T>(task_.out[1], index + l, 1) = logarithm;
        }
        return nullptr;
    }

private:
    T determinant(int l) const {
        using Limits = std::numeric_limits<T>;
        T product = (*group_.signs)[l], smallest = Limits::max(), largest = 0;
        for (int i = 0; i < group_.n; ++i) {
            product *= group_.a[i * (group_.n + 1)][l];
            smallest = std::min(smallest, std::abs(product));
            largest = std::max(largest, std::abs(product));
        }
        if (smallest >= Limits::min() && largest <= Limits::max()) return product;
        ScaledProduct<T> scaled;
        for (int i = 0; i < group_.n; ++i) scaled.multiply(group_.a[i * (group_.n + 1)][l]);
        return (*group_.signs)[l] * scaled.value();
    }
};

template <class T> class SmallCholesky : public SmallWorker<T> {
    using Base = SmallWorker<T>;
    using Base::group_, Base::task_;

public:
    SmallCholesky(const StackTask& task, Workspace& workspace) : Base(task, workspace, 0) {}
    const char* operator()(std::int64_t& index) const {
        Base::load(task_.in[0], index, group_.a, group_.n * group_.n);
        compute_group(Work::Factorize, group_);
        Base::store(group_.a, task_.out[0], index, group_.n * group_.n);
        return Base::first_failure(index, "Matrix is not positive definite", [this](int l) {
            for (int i = 0; i < group_.n; ++i) {
                if (group_.a[i * (group_.n + 1)][l] == T(0)) return true;
            }
            return false;
        });
    }
};

/// From this size on BLAS on one matrix is faster.
constexpr std::int64_t largest_extent = 32;

bool takes_small(device::Queue*, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory>) {
    const int rank = in[0].shape.size();
    if (is_complex(in[0].dtype) || options.finite || in[0].shape[rank - 1] > largest_extent) return false;
    if (in.size() > 1 && in[1].shape[in[1].shape.size() - 1] > largest_extent) return false;
    const std::int64_t matrix = in[0].shape[rank - 1] * in[0].shape[rank - 2];
    return in[0].size() >= matrix * 64 / itemsize(in[0].dtype);  // a whole group
}

const Registered small_solve(routines::solve, {"lanes", DeviceKinds::Processor, on_real_stack<SmallSolving>, takes_small, 0.5});
const Registered small_inv(routines::inv, {"lanes", DeviceKinds::Processor, on_real_stack<SmallInverting>, takes_small, 0.5});
const Registered small_det(routines::det, {"lanes", DeviceKinds::Processor, on_real_stack<SmallDeterminant>, takes_small, 0.5});
const Registered small_cholesky(routines::cholesky, {"lanes", DeviceKinds::Processor, on_real_stack<SmallCholesky>, takes_small, 0.5});

}  // namespace

}  // namespace pardo::routines

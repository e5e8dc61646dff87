// src/routines/cpu/lapack/solve.cpp: linear systems, inverses and determinants, by the LU factorization.
#include <cmath>
#include <limits>
#include <optional>

#include "routines/cpu/lapack/scaled_product.h"
#include "routines/cpu/lapack/stack.h"

namespace pardo::routines {

namespace {

constexpr const char* singular = "Singular matrix";

/// The LU factorization of one matrix after the other. LAPACK sees matrices column by column, so what it factorizes is the transposed.
template <class T> class Factorization {
public:
    Factorization(const StackTask& task, Workspace& workspace)
        : task_(task), f_(task.lapack->get<T>()), n_(rows_of(task.in[0])), pivots_(workspace.take<int>(n_)) {}
    /// Into `lu`; false when a pivot is zero.
    bool factorize(const T* a, T* lu) const {
        copy_matrix(task_.device, a, lu, static_cast<std::int64_t>(n_) * n_);
        int info = 0;
        f_.getrf(&n_, &n_, lu, &n_, pivots_, &info);
        return info == 0;
    }

protected:
    /// aᵀ = P L U, so Uᵀ y = b, Lᵀ z = y, x = P z, in the place of b, which has rows of k. The columns are shared out among the device's
    /// threads, if they are not busy with other matrices. `unit`: b is the unit matrix.
    void solve_rows(const T* lu, T* x, int k, bool unit) const {
        constexpr int least = 96;  // narrower ones take longer
        const int threads = cpu::thread_count(task_.device);
        const int blocks = std::max(std::min(k / least, unit ? 4 * threads : threads), 1);  // of unit matrices the last ones are short work
        const std::optional<BlasThreads> alone =
            blocks > 1 ? std::optional<BlasThreads>(std::in_place, *task_.lapack->blas, 1) : std::nullopt;
        for_each_part(task_.device, blocks, 0.1 * n_ * n_ * k * flop<T>, [=, this](std::int64_t block) {
            const auto first = static_cast<int>(block * k / blocks), last = static_cast<int>((block + 1) * k / blocks);
            solve_columns(lu, x, k, first, last, unit ? first : 0);
        });
    }

    const StackTask& task_;
    const LapackFunctions<T>& f_;
    int n_;
    int* pivots_;

private:
    /// For the columns from `first` to `last`; the rows above `zeros` are zero.
    void solve_columns(const T* lu, T* x, int k, int first, int last, int zeros) const {
        const auto one = blas_one<T>();
        const std::int64_t row = k, diagonal = n_ + 1;
        f_.trsm(BlasOrder::RowMajor, BlasSide::Left, BlasTriangle::Lower, BlasTranspose::No, BlasDiagonal::Any, n_ - zeros, last - first,
                one, lu + zeros * diagonal, n_, x + zeros * row + first, k);
        f_.trsm(BlasOrder::RowMajor, BlasSide::Left, BlasTriangle::Upper, BlasTranspose::No, BlasDiagonal::Ones, n_, last - first, one, lu,
                n_, x + first, k);
        for (int i = n_ - 1; i >= 0; --i) {
            const int other = pivots_[i] - 1;
            if (other != i) std::swap_ranges(x + i * row + first, x + i * row + last, x + other * row + first);
        }
    }
};

template <class T> class Solving : Factorization<T> {
    using Base = Factorization<T>;
    using Base::task_, Base::f_, Base::n_, Base::pivots_;

public:
    Solving(const StackTask& task, Workspace& workspace)
        : Base(task, workspace), k_(columns_of(task.in[1])), lu_(workspace.take<T>(static_cast<std::int64_t>(n_) * n_)) {}
    double flops() const { return (2. / 3 * n_ + 2. * k_) * n_ * n_ * flop<T>; }
    int extent() const { return n_; }

    const char* operator()(std::int64_t index) const {
        const std::int64_t size = static_cast<std::int64_t>(n_) * k_;
        T* x = StackTask::part<T>(task_.out[0], index, size);
        if (!Base::factorize(StackTask::part<T>(task_.in[0], index, static_cast<std::int64_t>(n_) * n_), lu_)) return singular;
        copy_matrix(task_.device, StackTask::part<T>(task_.in[1], index, size), x, size);
        int info = 0;
        if (k_ == 1)
            f_.getrs("T", &n_, &k_, lu_, &n_, pivots_, x, &n_, &info, 1);
        else
            Base::solve_rows(lu_, x, k_, false);
        return nullptr;
    }

private:
    int k_;
    T* lu_;
};

template <class T> class Inverting : Factorization<T> {
    using Base = Factorization<T>;
    using Base::task_, Base::n_;

public:
    Inverting(const StackTask& task, Workspace& workspace)
        : Base(task, workspace), lu_(workspace.take<T>(static_cast<std::int64_t>(n_) * n_)) {}
    double flops() const { return 2. * n_ * n_ * n_ * flop<T>; }
    int extent() const { return n_; }

    const char* operator()(std::int64_t index) const {
        const std::int64_t size = static_cast<std::int64_t>(n_) * n_;
        T* out = StackTask::part<T>(task_.out[0], index, size);
        if (!Base::factorize(StackTask::part<T>(task_.in[0], index, size), lu_)) {
            std::fill_n(out, size, T(std::numeric_limits<Real<T>>::quiet_NaN()));
            return task_.options.nan_where_singular ? nullptr : singular;
        }
        cpu::parallel_for(task_.device, n_, static_cast<double>(size) * 0.1,
                          [=, n = std::int64_t{n_}](std::int64_t begin, std::int64_t end) {
                              std::fill(out + begin * n, out + end * n, T(0));
                              for (std::int64_t i = begin; i < end; ++i) out[i * (n + 1)] = T(1);
                          });
        Base::solve_rows(lu_, out, n_, true);
        return nullptr;
    }

private:
    T* lu_;
};

template <class T> class Determinant : Factorization<T> {
    using Base = Factorization<T>;
    using Base::task_, Base::n_, Base::pivots_;

public:
    Determinant(const StackTask& task, Workspace& workspace)
        : Base(task, workspace), lu_(workspace.take<T>(static_cast<std::int64_t>(n_) * n_)) {}
    double flops() const { return 2. / 3 * n_ * n_ * n_ * flop<T>; }
    int extent() const { return n_; }

    const char* operator()(std::int64_t index) const {
        const bool regular = Base::factorize(StackTask::part<T>(task_.in[0], index, static_cast<std::int64_t>(n_) * n_), lu_);
        T sign = T(1);
        for (int i = 0; i < n_; ++i) {
            if (pivots_[i] != i + 1) sign = -sign;
        }
        T* first = StackTask::part<T>(task_.out[0], index, 1);
        if (task_.out.size() == 1) {
            ScaledProduct<T> product;
            for (int i = 0; regular && i < n_; ++i) product.multiply(diagonal(i));
            *first = regular ? sign * product.value() : T(0);
            return nullptr;
        }
        Real<T> logarithm = 0;
        for (int i = 0; regular && i < n_; ++i) {
            const Real<T> size = std::abs(diagonal(i));
            logarithm += std::log(size);
            if constexpr (is_complex_number<T>)
                sign *= diagonal(i) / size;
            else if (diagonal(i) < 0)
                sign = -sign;
        }
        *first = regular ? sign : T(0);
        *StackTask::part<Real<T>>(task_.out[1], index, 1) = regular ? logarithm : -std::numeric_limits<Real<T>>::infinity();
        return nullptr;
    }

private:
    T diagonal(int i) const { return lu_[static_cast<std::int64_t>(i) * (n_ + 1)]; }
    T* lu_;
};

const Registered solve_here(routines::solve, {"LAPACK", DeviceKinds::Processor, on_stack<Solving>});
const Registered inv_here(routines::inv, {"LAPACK", DeviceKinds::Processor, on_stack<Inverting>});
const Registered det_here(routines::det, {"LAPACK", DeviceKinds::Processor, on_stack<Determinant>});

}  // namespace

}  // namespace pardo::routines

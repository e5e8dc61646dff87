// src/lib/cpu/lapack/solve.cpp: linear systems, inverses and determinants, by the LU factorization.
#include <cmath>

#include "lib/cpu/lapack/scaled_product.h"
#include "lib/cpu/lapack/stack.h"

namespace pardo::lib {

namespace {

constexpr const char* singular = "Singular matrix";

/// Floating-point operations of a complex multiplication and addition, against those of a real one.
template <class T> constexpr double flop = is_complex_number<T> ? 4 : 1;

/// The LU factorization of one matrix after the other. LAPACK sees matrices column by column, so what it factorizes is the transposed.
template <class T> class Factorization {
public:
    Factorization(const StackTask& task, Workspace& workspace)
        : device_(task.device), f_(task.lapack->get<T>()), n_(rows_of(task.in[0])), pivots_(workspace.take<int>(n_)) {}
    /// Into `lu`; false when a pivot is zero.
    bool factorize(const T* a, T* lu) const {
        copy_matrix(device_, a, lu, static_cast<std::int64_t>(n_) * n_);
        int info = 0;
        f_.getrf(&n_, &n_, lu, &n_, pivots_, &info);
        return info == 0;
    }

protected:
    device::Device* device_;
    const LapackFunctions<T>& f_;
    int n_;
    int* pivots_;
};

template <class T> class Solving : Factorization<T> {
    using Base = Factorization<T>;
    using Base::device_, Base::f_, Base::n_, Base::pivots_;

public:
    Solving(const StackTask& task, Workspace& workspace)
        : Base(task, workspace), task_(task), k_(columns_of(task.in[1])), lu_(workspace.take<T>(static_cast<std::int64_t>(n_) * n_)) {}
    double flops() const { return (2. / 3 * n_ + 2. * k_) * n_ * n_ * flop<T>; }
    int extent() const { return n_; }

    const char* operator()(std::int64_t index) const {
        const std::int64_t size = static_cast<std::int64_t>(n_) * k_;
        T* x = StackTask::part<T>(task_.out[0], index, size);
        if (!Base::factorize(StackTask::part<T>(task_.in[0], index, static_cast<std::int64_t>(n_) * n_), lu_)) return singular;
        copy_matrix(device_, StackTask::part<T>(task_.in[1], index, size), x, size);
        k_ == 1 ? solve_column(x) : solve_rows(x);
        return nullptr;
    }

private:
    void solve_column(T* x) const {
        int info = 0;
        f_.getrs("T", &n_, &k_, lu_, &n_, pivots_, x, &n_, &info, 1);
    }
    /// aᵀ = P L U, so Uᵀ y = b, Lᵀ z = y, x = P z; all on the rows of b.
    void solve_rows(T* x) const {
        const auto one = blas_one<T>();
        f_.trsm(BlasOrder::RowMajor, BlasSide::Left, BlasTriangle::Lower, BlasTranspose::No, BlasDiagonal::Any, n_, k_, one, lu_, n_, x,
                k_);
        f_.trsm(BlasOrder::RowMajor, BlasSide::Left, BlasTriangle::Upper, BlasTranspose::No, BlasDiagonal::Ones, n_, k_, one, lu_, n_, x,
                k_);
        for (int i = n_ - 1; i >= 0; --i) {
            T *row = x + static_cast<std::int64_t>(i) * k_, *other = x + static_cast<std::int64_t>(pivots_[i] - 1) * k_;
            if (row != other) std::swap_ranges(row, row + k_, other);
        }
    }

    const StackTask& task_;
    int k_;
    T* lu_;
};

template <class T> class Inverting : Factorization<T> {
    using Base = Factorization<T>;
    using Base::f_, Base::n_, Base::pivots_;

public:
    Inverting(const StackTask& task, Workspace& workspace) : Base(task, workspace), task_(task) {
        T size;
        const int ask = -1;
        int info = 0;
        f_.getri(&n_, nullptr, &n_, nullptr, &size, &ask, &info);
        work_size_ = workspace_size(size);
        work_ = workspace.take<T>(work_size_);
    }
    double flops() const { return 2. * n_ * n_ * n_ * flop<T>; }
    int extent() const { return n_; }

    const char* operator()(std::int64_t index) const {
        const std::int64_t size = static_cast<std::int64_t>(n_) * n_;
        T* out = StackTask::part<T>(task_.out[0], index, size);
        if (!Base::factorize(StackTask::part<T>(task_.in[0], index, size), out)) {
            std::fill_n(out, size, T(std::numeric_limits<Real<T>>::quiet_NaN()));
            return task_.options.nan_where_singular ? nullptr : singular;
        }
        int info = 0;
        f_.getri(&n_, out, &n_, pivots_, work_, &work_size_, &info);
        return nullptr;
    }

private:
    const StackTask& task_;
    int work_size_ = 0;
    T* work_ = nullptr;
};

template <class T> class Determinant : Factorization<T> {
    using Base = Factorization<T>;
    using Base::n_, Base::pivots_;

public:
    Determinant(const StackTask& task, Workspace& workspace)
        : Base(task, workspace), task_(task), lu_(workspace.take<T>(static_cast<std::int64_t>(n_) * n_)) {}
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
    const StackTask& task_;
    T* lu_;
};

const Registered solve_here(routines::solve, {"LAPACK", Place::Host, on_stack<Solving>});
const Registered inv_here(routines::inv, {"LAPACK", Place::Host, on_stack<Inverting>});
const Registered det_here(routines::det, {"LAPACK", Place::Host, on_stack<Determinant>});

}  // namespace

}  // namespace pardo::lib

// src/routines/cpu/lapack/triangular.cpp: LU factorizations that are kept, and systems with triangular matrices.
#include <numeric>

#include "routines/cpu/lapack/stack.h"

namespace pardo::routines {

namespace {

/// How a matrix is taken, in CBLAS's terms. There is no code for a conjugate matrix that is not transposed.
BlasTranspose transpose_of(const MatrixOptions& options) {
    return !options.transposed ? BlasTranspose::No : options.conjugated ? BlasTranspose::Conjugate : BlasTranspose::Yes;
}

template <class T> class LuFactoring {
public:
    LuFactoring(const StackTask& task, Workspace& workspace)
        : task_(task),
          m_(rows_of(task.in[0])),
          n_(columns_of(task.in[0])),
          k_(std::min(m_, n_)),
          a_(workspace.take<T>(static_cast<std::int64_t>(m_) * n_)) {}
    double flops() const { return flop<T> * k_ * k_ * (std::max(m_, n_) - k_ / 3.); }
    int extent() const { return std::max(m_, n_); }

    const char* operator()(std::int64_t index) const {
        const std::int64_t size = static_cast<std::int64_t>(m_) * n_;
        transpose(task_.device, StackTask::part<T>(task_.in[0], index, size), n_, a_, m_, m_, n_);
        int* pivots = StackTask::part<int>(task_.out[1], index, k_);
        int info = 0;  // a pivot of zero is no failure: the factors are there
        task_.lapack->get<T>().getrf(&m_, &n_, a_, &m_, pivots, &info);
        transpose(task_.device, a_, m_, StackTask::part<T>(task_.out[0], index, size), n_, n_, m_);
        for (int i = 0; i < k_; ++i) --pivots[i];
        if (!task_.out[2]) return nullptr;
        std::vector<std::int64_t> rows(static_cast<std::size_t>(m_));  // of a, in the order of the factor's
        std::iota(rows.begin(), rows.end(), 0);
        for (int i = 0; i < k_; ++i) std::swap(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(pivots[i])]);
        auto* places = StackTask::part<std::int64_t>(task_.out[2], index, m_);
        for (std::int64_t i = 0; i < m_; ++i) places[rows[static_cast<std::size_t>(i)]] = i;
        return nullptr;
    }

private:
    const StackTask& task_;
    int m_, n_, k_;
    T* a_;
};

/// Systems with one triangle of a matrix, on the rows of b.
template <class T> class TriangularSystem {
public:
    TriangularSystem(const StackTask& task, const T* a, int n, int k) : f_(task.lapack->get<T>()), a_(a), n_(n), k_(k) {}
    void solve(BlasTriangle triangle, BlasTranspose how, BlasDiagonal diagonal, T* x) const {
        f_.trsm(BlasOrder::RowMajor, BlasSide::Left, triangle, how, diagonal, n_, k_, blas_one<T>(), a_, n_, x, k_);
    }

private:
    const LapackFunctions<T>& f_;
    const T* a_;
    int n_, k_;
};

template <class T> class LuSolving {
public:
    LuSolving(const StackTask& task, Workspace&) : task_(task), n_(rows_of(task.in[0])), k_(columns_of(task.in[2])) {}
    double flops() const { return 2 * flop<T> * n_ * n_ * k_; }
    int extent() const { return n_; }

    const char* operator()(std::int64_t index) const {
        const std::int64_t size = static_cast<std::int64_t>(n_) * k_;
        const T* lu = StackTask::part<T>(task_.in[0], index, static_cast<std::int64_t>(n_) * n_);
        const int* pivots = StackTask::part<int>(task_.in[1], index, n_);
        if (std::any_of(pivots, pivots + n_, [this](int p) { return p < 0 || p >= n_; })) return "A row of the exchanges is out of bounds";
        T* x = StackTask::part<T>(task_.out[0], index, size);
        copy_matrix(task_.device, StackTask::part<T>(task_.in[2], index, size), x, size);
        const TriangularSystem<T> of(task_, lu, n_, k_);
        const BlasTranspose how = transpose_of(task_.options);
        const auto exchange = [=, this](int i) {
            if (pivots[i] == i) return;
            T* row = x + static_cast<std::int64_t>(i) * k_;
            std::swap_ranges(row, row + k_, x + static_cast<std::int64_t>(pivots[i]) * k_);
        };
        if (how == BlasTranspose::No) {
            for (int i = 0; i < n_; ++i) exchange(i);
            of.solve(BlasTriangle::Lower, how, BlasDiagonal::Ones, x);
            of.solve(BlasTriangle::Upper, how, BlasDiagonal::Any, x);
        } else {
            of.solve(BlasTriangle::Upper, how, BlasDiagonal::Any, x);
            of.solve(BlasTriangle::Lower, how, BlasDiagonal::Ones, x);
            for (int i = n_ - 1; i >= 0; --i) exchange(i);
        }
        return nullptr;
    }

private:
    const StackTask& task_;
    int n_, k_;
};

template <class T> class TriangularSolving {
public:
    TriangularSolving(const StackTask& task, Workspace&) : task_(task), n_(rows_of(task.in[0])), k_(columns_of(task.in[1])) {}
    double flops() const { return flop<T> * n_ * n_ * k_; }
    int extent() const { return n_; }

    const char* operator()(std::int64_t index) const {
        const std::int64_t size = static_cast<std::int64_t>(n_) * k_;
        const T* a = StackTask::part<T>(task_.in[0], index, static_cast<std::int64_t>(n_) * n_);
        T* x = StackTask::part<T>(task_.out[0], index, size);
        const MatrixOptions& options = task_.options;
        for (std::int64_t i = 0; i < n_ && !options.unit_diagonal; ++i) {
            if (a[i * (n_ + 1)] == T(0)) return "Singular matrix";
        }
        copy_matrix(task_.device, StackTask::part<T>(task_.in[1], index, size), x, size);
        TriangularSystem<T>(task_, a, n_, k_)
            .solve(options.upper ? BlasTriangle::Upper : BlasTriangle::Lower, transpose_of(options),
                   options.unit_diagonal ? BlasDiagonal::Ones : BlasDiagonal::Any, x);
        return nullptr;
    }

private:
    const StackTask& task_;
    int n_, k_;
};

const Registered lu_factor_here(routines::lu_factor, {"LAPACK", DeviceKinds::Processor, on_stack<LuFactoring>});
const Registered lu_solve_here(routines::lu_solve, {"LAPACK", DeviceKinds::Processor, on_stack<LuSolving>});
const Registered triangular_solve_here(routines::triangular_solve, {"LAPACK", DeviceKinds::Processor, on_stack<TriangularSolving>});

}  // namespace

}  // namespace pardo::routines

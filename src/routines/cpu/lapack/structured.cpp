// src/routines/cpu/lapack/structured.cpp: systems with banded and with Toeplitz matrices.
#include "routines/cpu/lapack/stack.h"

namespace pardo::routines {

namespace {

/// Diagonals as rows, and right-hand sides, both column by column as LAPACK has them.
template <class T> class Banded {
public:
    /// `extra`: rows that LAPACK needs above the diagonals.
    Banded(const StackTask& task, Workspace& workspace, int extra)
        : task_(task),
          diagonals_(rows_of(task.in[0])),
          n_(columns_of(task.in[0])),
          k_(columns_of(task.in[1])),
          extra_(extra),
          leading_(extra + diagonals_),
          a_(workspace.take<T>(static_cast<std::int64_t>(leading_) * n_)),
          b_(workspace.take<T>(static_cast<std::int64_t>(n_) * k_)) {}
    double flops() const { return flop<T> * n_ * diagonals_ * (diagonals_ + 2. * k_); }
    int extent() const { return 0; }  // OpenBLAS's threads have nothing to do here

protected:
    void load(std::int64_t index) const {
        const std::int64_t of_a = static_cast<std::int64_t>(diagonals_) * n_, of_b = static_cast<std::int64_t>(n_) * k_;
        transpose(task_.device, StackTask::part<T>(task_.in[0], index, of_a), n_, a_ + extra_, leading_, diagonals_, n_);
        transpose(task_.device, StackTask::part<T>(task_.in[1], index, of_b), k_, b_, n_, n_, k_);
    }
    void store(std::int64_t index) const {
        transpose(task_.device, b_, n_, StackTask::part<T>(task_.out[0], index, static_cast<std::int64_t>(n_) * k_), k_, k_, n_);
    }

    const StackTask& task_;
    int diagonals_, n_, k_, extra_, leading_;
    T *a_, *b_;
};

template <class T> class BandedSolving : public Banded<T> {
    using Base = Banded<T>;
    using Base::task_, Base::n_, Base::k_, Base::a_, Base::b_, Base::leading_;

public:
    BandedSolving(const StackTask& task, Workspace& workspace)
        : Base(task, workspace, task.options.below), pivots_(workspace.take<int>(n_)) {}
    const char* operator()(std::int64_t index) const {
        Base::load(index);
        int info = 0;
        task_.lapack->template get<T>().gbsv(&n_, &task_.options.below, &task_.options.above, &k_, a_, &leading_, pivots_, b_, &n_, &info);
        if (info != 0) return "Singular matrix";
        Base::store(index);
        return nullptr;
    }

private:
    int* pivots_;
};

template <class T> class BandedCholeskySolving : public Banded<T> {
    using Base = Banded<T>;
    using Base::task_, Base::n_, Base::k_, Base::a_, Base::b_, Base::leading_;

public:
    BandedCholeskySolving(const StackTask& task, Workspace& workspace) : Base(task, workspace, 0) {}
    const char* operator()(std::int64_t index) const {
        Base::load(index);
        const int beside = leading_ - 1;
        int info = 0;
        task_.lapack->template get<T>().pbsv(task_.options.upper ? "U" : "L", &n_, &beside, &k_, a_, &leading_, b_, &n_, &info, 1);
        if (info != 0) return "Matrix is not positive definite";
        Base::store(index);
        return nullptr;
    }
};

/// Levinson's recursion (G. H. Golub, C. F. Van Loan: Matrix Computations, 4.7, for matrices that are not symmetric): solutions of the
/// leading systems of one more equation each, with the help of the solutions for the first and the last unit vector.
template <class T> class ToeplitzSolving {
public:
    ToeplitzSolving(const StackTask& task, Workspace& workspace)
        : task_(task),
          n_(rows_of(task.in[1])),
          k_(columns_of(task.in[1])),
          forward_(workspace.take<T>(n_)),
          backward_(workspace.take<T>(n_)) {}
    double flops() const { return flop<T> * n_ * n_ * (4. + 4. * k_); }
    int extent() const { return 0; }

    const char* operator()(std::int64_t index) const {
        constexpr const char* failed = "Singular principal minor";
        const std::int64_t n = n_, k = k_;
        const T* a = StackTask::part<T>(task_.in[0], index, 2 * n - 1) + (n - 1);  // a[i - j] is element (i, j)
        const T* b = StackTask::part<T>(task_.in[1], index, n * k);
        T* x = StackTask::part<T>(task_.out[0], index, n * k);
        if (a[0] == T(0)) return failed;
        forward_[0] = backward_[0] = T(1) / a[0];
        for (std::int64_t j = 0; j < k; ++j) x[j] = b[j] / a[0];
        for (std::int64_t m = 1; m < n; ++m) {
            // forward: of the first unit vector, backward: of the last one; what they miss in the new equation.
            T below = 0, above = 0;
            for (std::int64_t i = 0; i < m; ++i) {
                below += a[m - i] * forward_[i];
                above += a[-(i + 1)] * backward_[i];
            }
            const T scale = T(1) - below * above;
            if (scale == T(0)) return failed;
            T last = 0;  // backward, one place further down
            for (std::int64_t i = 0; i <= m; ++i) {
                const T f = i < m ? forward_[i] : T(0), next = i < m ? backward_[i] : T(0);
                forward_[i] = (f - below * last) / scale;
                backward_[i] = (last - above * f) / scale;
                last = next;
            }
            for (std::int64_t j = 0; j < k; ++j) {
                T missing = b[m * k + j];
                for (std::int64_t i = 0; i < m; ++i) missing -= a[m - i] * x[i * k + j];
                x[m * k + j] = T(0);
                for (std::int64_t i = 0; i <= m; ++i) x[i * k + j] += missing * backward_[i];
            }
        }
        return nullptr;
    }

private:
    const StackTask& task_;
    int n_, k_;
    T *forward_, *backward_;
};

const Registered banded_here(routines::banded_solve, {"LAPACK", DeviceKinds::Processor, on_stack<BandedSolving>});
const Registered banded_cholesky_here(routines::banded_cholesky_solve, {"LAPACK", DeviceKinds::Processor, on_stack<BandedCholeskySolving>});
const Registered toeplitz_here(routines::toeplitz_solve, {"Levinson", DeviceKinds::Processor, on_stack<ToeplitzSolving>});

}  // namespace

}  // namespace pardo::routines

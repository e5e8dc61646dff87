// src/routines/cpu/lapack/lstsq.cpp: least squares by singular values.
#include "routines/cpu/lapack/stack.h"

namespace pardo::routines {

namespace {

template <class T> class LeastSquares {
public:
    LeastSquares(const StackTask& task, Workspace& workspace)
        : task_(task), m_(rows_of(task.in[0])), n_(columns_of(task.in[0])), k_(columns_of(task.in[1])), longer_(std::max(m_, n_)) {
        T size;
        Real<T> reals;
        int integers = 0, rank = 0;
        work_size_ = -1;
        (void)compute(nullptr, rank, &size, &reals, &integers);
        work_size_ = workspace_size(size);
        a_ = workspace.take<T>(static_cast<std::int64_t>(m_) * n_);
        b_ = workspace.take<T>(static_cast<std::int64_t>(longer_) * k_);
        work_ = workspace.take<T>(work_size_);
        integers_ = workspace.take<int>(integers);
        if constexpr (is_complex_number<T>) reals_ = workspace.take<Real<T>>(workspace_size(reals));
    }
    double flops() const { return flop<T> * 4 * m_ * n_ * std::min(m_, n_) + 2. * m_ * n_ * k_; }
    int extent() const { return longer_; }

    const char* operator()(std::int64_t index) const {
        const std::int64_t of_a = static_cast<std::int64_t>(m_) * n_, of_b = static_cast<std::int64_t>(m_) * k_;
        transpose(task_.device, StackTask::part<T>(task_.in[0], index, of_a), n_, a_, m_, m_, n_);
        transpose(task_.device, StackTask::part<T>(task_.in[1], index, of_b), k_, b_, longer_, m_, k_);
        int rank = 0;
        auto* values = StackTask::part<Real<T>>(task_.out[3], index, std::min(m_, n_));
        if (compute(values, rank, work_, reals_, integers_) != 0) return "SVD did not converge in Linear Least Squares";
        transpose(task_.device, b_, longer_, StackTask::part<T>(task_.out[0], index, static_cast<std::int64_t>(n_) * k_), k_, k_, n_);
        auto* residuals = StackTask::part<Real<T>>(task_.out[1], index, k_);
        for (int j = 0; j < k_; ++j) {
            residuals[j] = 0;
            for (int i = n_; i < m_; ++i) residuals[j] += std::norm(b_[static_cast<std::int64_t>(j) * longer_ + i]);
        }
        *StackTask::part<std::int64_t>(task_.out[2], index, 1) = rank;
        return nullptr;
    }

private:
    int compute(Real<T>* values, int& rank, T* work, [[maybe_unused]] Real<T>* reals, int* integers) const {
        const auto& f = task_.lapack->get<T>();
        const auto rcond = static_cast<Real<T>>(task_.options.rcond);
        int info = 0;
        if constexpr (is_complex_number<T>)
            f.gelsd(&m_, &n_, &k_, a_, &m_, b_, &longer_, values, &rcond, &rank, work, &work_size_, reals, integers, &info);
        else
            f.gelsd(&m_, &n_, &k_, a_, &m_, b_, &longer_, values, &rcond, &rank, work, &work_size_, integers, &info);
        return info;
    }

    const StackTask& task_;
    int m_, n_, k_, longer_, work_size_ = 0;
    T *a_ = nullptr, *b_ = nullptr, *work_ = nullptr;
    Real<T>* reals_ = nullptr;
    int* integers_ = nullptr;
};

const Registered lstsq_here(routines::lstsq, {"LAPACK", DeviceKinds::Processor, on_stack<LeastSquares>});

}  // namespace

}  // namespace pardo::routines

// src/routines/cpu/lapack/svd.cpp: the singular value decomposition.
#include "routines/cpu/lapack/stack.h"

namespace pardo::routines {

namespace {

/// What is A row by row is Aᵀ column by column. Aᵀ = U' S V'ᴴ makes A = (V'ᴴ)ᵀ S U'ᵀ: LAPACK's U' and V'ᴴ, as they lie in memory, are Vh
/// and U.
template <class T> class SingularValues {
public:
    static constexpr int worth_threads = 400;

    SingularValues(const StackTask& task, Workspace& workspace)
        : task_(task),
          m_(rows_of(task.in[0])),
          n_(columns_of(task.in[0])),
          k_(std::min(m_, n_)),
          vectors_(static_cast<bool>(task.out[0])),
          u_columns_(vectors_ ? columns_of(task.out[0]) : 1),
          v_rows_(vectors_ ? rows_of(task.out[2]) : 1) {
        T size;
        work_size_ = -1;
        (void)compute(nullptr, nullptr, nullptr, nullptr, &size);
        work_size_ = workspace_size(size);
        a_ = workspace.take<T>(static_cast<std::int64_t>(m_) * n_);
        work_ = workspace.take<T>(work_size_);
        integers_ = workspace.take<int>(8 * static_cast<std::int64_t>(k_));
        if constexpr (is_complex_number<T>) {
            const std::int64_t k = k_, larger = std::max(m_, n_);
            reals_ = workspace.take<Real<T>>(vectors_ ? std::max(5 * k * k + 5 * k, 2 * larger * k + 2 * k * k + k) : 7 * k);
        }
    }
    double flops() const { return flop<T> * (vectors_ ? 20 : 3) * m_ * n_ * k_; }
    int extent() const { return std::max(m_, n_); }

    const char* operator()(std::int64_t index) const {
        const std::int64_t size = static_cast<std::int64_t>(m_) * n_;
        copy_matrix(task_.device, StackTask::part<T>(task_.in[0], index, size), a_, size);
        auto* values = StackTask::part<Real<T>>(task_.out[1], index, k_);
        T *u = nullptr, *vh = nullptr;
        if (vectors_) {
            u = StackTask::part<T>(task_.out[0], index, static_cast<std::int64_t>(m_) * u_columns_);
            vh = StackTask::part<T>(task_.out[2], index, static_cast<std::int64_t>(n_) * v_rows_);
        }
        return compute(a_, values, u, vh, work_) == 0 ? nullptr : "SVD did not converge";
    }

private:
    int compute(T* a, Real<T>* values, T* u, T* vh, T* work) const {
        const auto& f = task_.lapack->get<T>();
        const char* job = !vectors_ ? "N" : u_columns_ == m_ && v_rows_ == n_ ? "A" : "S";
        int info = 0;
        if constexpr (is_complex_number<T>)
            f.gesdd(job, &n_, &m_, a, &n_, values, vh, &n_, u, &u_columns_, work, &work_size_, reals_, integers_, &info, 1);
        else
            f.gesdd(job, &n_, &m_, a, &n_, values, vh, &n_, u, &u_columns_, work, &work_size_, integers_, &info, 1);
        return info;
    }

    const StackTask& task_;
    int m_, n_, k_;
    bool vectors_;
    int u_columns_, v_rows_, work_size_ = 0;
    T *a_ = nullptr, *work_ = nullptr;
    Real<T>* reals_ = nullptr;
    int* integers_ = nullptr;
};

const Registered svd_here(routines::svd, {"LAPACK", DeviceKinds::Processor, on_stack<SingularValues>});

}  // namespace

}  // namespace pardo::routines

// src/routines/cpu/lapack/eigh.cpp: eigenvalues and eigenvectors of hermitian matrices.
#include "routines/cpu/lapack/stack.h"

namespace pardo::routines {

namespace {

template <class T> class HermitianEigen {
public:
    HermitianEigen(const StackTask& task, Workspace& workspace)
        : task_(task), n_(rows_of(task.in[0])), vectors_(static_cast<bool>(task.out[1])) {
        T size;
        Real<T> reals;
        int integers;
        work_size_ = reals_size_ = integers_size_ = -1;
        (void)compute(nullptr, nullptr, &size, &reals, &integers);
        work_size_ = workspace_size(size);
        integers_size_ = integers;
        if (!vectors_) a_ = workspace.take<T>(static_cast<std::int64_t>(n_) * n_);
        work_ = workspace.take<T>(work_size_);
        integers_ = workspace.take<int>(integers_size_);
        if constexpr (is_complex_number<T>) {
            reals_size_ = workspace_size(reals);
            reals_ = workspace.take<Real<T>>(reals_size_);
        }
    }
    double flops() const { return flop<T> * (vectors_ ? 9 : 4. / 3) * n_ * n_ * n_; }
    int extent() const { return n_; }

    const char* operator()(std::int64_t index) const {
        const std::int64_t size = static_cast<std::int64_t>(n_) * n_;
        T* a = vectors_ ? StackTask::part<T>(task_.out[1], index, size) : a_;
        transpose(task_.device, StackTask::part<T>(task_.in[0], index, size), n_, a, n_, n_, n_);
        if (compute(a, StackTask::part<Real<T>>(task_.out[0], index, n_), work_, reals_, integers_) != 0)
            return "Eigenvalues did not converge";
        if (vectors_) transpose_in_place(task_.device, a, n_);
        return nullptr;
    }

private:
    int compute(T* a, Real<T>* values, T* work, [[maybe_unused]] Real<T>* reals, int* integers) const {
        const auto& f = task_.lapack->get<T>();
        const char *job = vectors_ ? "V" : "N", *triangle = task_.options.upper ? "U" : "L";
        int info = 0;
        if constexpr (is_complex_number<T>)
            f.syevd(job, triangle, &n_, a, &n_, values, work, &work_size_, reals, &reals_size_, integers, &integers_size_, &info, 1, 1);
        else
            f.syevd(job, triangle, &n_, a, &n_, values, work, &work_size_, integers, &integers_size_, &info, 1, 1);
        return info;
    }

    const StackTask& task_;
    int n_;
    bool vectors_;
    int work_size_ = 0, reals_size_ = 0, integers_size_ = 0;
    T *a_ = nullptr, *work_ = nullptr;
    Real<T>* reals_ = nullptr;
    int* integers_ = nullptr;
};

const Registered eigh_here(routines::eigh, {"LAPACK", DeviceKinds::Processor, on_stack<HermitianEigen>});

}  // namespace

}  // namespace pardo::routines

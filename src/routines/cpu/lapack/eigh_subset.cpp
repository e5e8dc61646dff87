// src/routines/cpu/lapack/eigh_subset.cpp: some of the eigenvalues of hermitian matrices, and their eigenvectors.
#include "routines/cpu/lapack/stack.h"

namespace pardo::routines {

namespace {

template <class T> class HermitianSubset {
public:
    HermitianSubset(const StackTask& task, Workspace& workspace)
        : task_(task),
          n_(rows_of(task.in[0])),
          first_(task.options.first + 1),
          last_(task.options.last + 1),
          vectors_(static_cast<bool>(task.out[1])) {
        T size;
        Real<T> reals;
        int integers;
        work_size_ = reals_size_ = integers_size_ = -1;
        (void)compute(&size, &reals, &integers);
        work_size_ = workspace_size(size);
        integers_size_ = integers;
        a_ = workspace.take<T>(static_cast<std::int64_t>(n_) * n_);
        values_ = workspace.take<Real<T>>(n_);
        z_ = workspace.take<T>(vectors_ ? static_cast<std::int64_t>(n_) * count() : 1);
        support_ = workspace.take<int>(2 * static_cast<std::int64_t>(n_));
        work_ = workspace.take<T>(work_size_);
        integers_ = workspace.take<int>(integers_size_);
        if constexpr (is_complex_number<T>) {
            reals_size_ = workspace_size(reals);
            reals_ = workspace.take<Real<T>>(reals_size_);
        }
    }
    double flops() const { return flop<T> * (4. / 3 * n_ + (vectors_ ? 4. * count() : 0)) * n_ * n_; }
    int extent() const { return n_; }

    const char* operator()(std::int64_t index) const {
        const std::int64_t size = static_cast<std::int64_t>(n_) * n_, wanted = count();
        transpose(task_.device, StackTask::part<T>(task_.in[0], index, size), n_, a_, n_, n_, n_);
        if (compute(work_, reals_, integers_) != 0) return "Eigenvalues did not converge";
        std::copy_n(values_, wanted, StackTask::part<Real<T>>(task_.out[0], index, wanted));
        if (vectors_) transpose(task_.device, z_, n_, StackTask::part<T>(task_.out[1], index, n_ * wanted), wanted, count(), n_);
        return nullptr;
    }

private:
    int count() const { return last_ - first_ + 1; }
    int compute(T* work, [[maybe_unused]] Real<T>* reals, int* integers) const {
        const auto& f = task_.lapack->get<T>();
        const char *job = vectors_ ? "V" : "N", *triangle = task_.options.upper ? "U" : "L";
        const Real<T> none = 0;
        int found = 0, info = 0;
        if constexpr (is_complex_number<T>)
            f.syevr(job, "I", triangle, &n_, a_, &n_, &none, &none, &first_, &last_, &none, &found, values_, z_, &n_, support_, work,
                    &work_size_, reals, &reals_size_, integers, &integers_size_, &info, 1, 1, 1);
        else
            f.syevr(job, "I", triangle, &n_, a_, &n_, &none, &none, &first_, &last_, &none, &found, values_, z_, &n_, support_, work,
                    &work_size_, integers, &integers_size_, &info, 1, 1, 1);
        return info;
    }

    const StackTask& task_;
    int n_, first_, last_;
    bool vectors_;
    int work_size_ = 0, reals_size_ = 0, integers_size_ = 0;
    T *a_ = nullptr, *z_ = nullptr, *work_ = nullptr;
    Real<T>*values_ = nullptr, *reals_ = nullptr;
    int *support_ = nullptr, *integers_ = nullptr;
};

/// Not all of them.
bool wants_some(device::Queue*, const MatrixOptions& options, std::span<const Memory>, std::span<const Memory>) {
    return options.last >= 0;
}

const Registered eigh_subset_here(routines::eigh, {"LAPACK's syevr", DeviceKinds::Processor, on_stack<HermitianSubset>, wants_some, 0.5});

}  // namespace

}  // namespace pardo::routines

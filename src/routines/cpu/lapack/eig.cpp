// src/routines/cpu/lapack/eig.cpp: eigenvalues and eigenvectors of matrices of any kind.
#include "routines/cpu/lapack/stack.h"

namespace pardo::routines {

namespace {

template <class T> class Eigen {
    using Complex = std::complex<Real<T>>;

public:
    static constexpr int worth_threads = 768;

    Eigen(const StackTask& task, Workspace& workspace) : task_(task), n_(rows_of(task.in[0])), vectors_(static_cast<bool>(task.out[1])) {
        T size;
        Real<T> reals;
        work_size_ = -1;
        (void)compute(&size, &reals);
        work_size_ = workspace_size(size);
        const std::int64_t all = static_cast<std::int64_t>(n_) * n_;
        a_ = workspace.take<T>(all);
        values_ = workspace.take<T>(2 * static_cast<std::int64_t>(n_));
        if (vectors_) v_ = workspace.take<T>(all);
        work_ = workspace.take<T>(work_size_);
        if constexpr (is_complex_number<T>) reals_ = workspace.take<Real<T>>(2 * static_cast<std::int64_t>(n_));
    }
    double flops() const { return flop<T> * (vectors_ ? 25 : 10) * n_ * n_ * n_; }
    int extent() const { return n_; }

    const char* operator()(std::int64_t index) const {
        const std::int64_t size = static_cast<std::int64_t>(n_) * n_;
        const T* a = StackTask::part<T>(task_.in[0], index, size);
        transpose(task_.device, a, n_, a_, n_, n_, n_);
        if (compute(work_, reals_) != 0) return "Eigenvalues did not converge";
        store(StackTask::part<Complex>(task_.out[0], index, n_), vectors_ ? StackTask::part<Complex>(task_.out[1], index, size) : nullptr);
        return nullptr;
    }

private:
    int compute(T* work, [[maybe_unused]] Real<T>* reals) const {
        const auto& f = task_.lapack->get<T>();
        const char* job = vectors_ ? "V" : "N";
        int info = 0;
        if constexpr (is_complex_number<T>)
            f.geev("N", job, &n_, a_, &n_, values_, nullptr, &n_, v_, &n_, work, &work_size_, reals, &info, 1, 1);
        else
            f.geev("N", job, &n_, a_, &n_, values_, values_ + n_, nullptr, &n_, v_, &n_, work, &work_size_, &info, 1, 1);
        return info;
    }
    /// A pair of conjugate eigenvalues of a real matrix has one complex eigenvector, in two columns, and its conjugate.
    void store(Complex* values, Complex* vectors) const {
        const std::int64_t n = n_;
        if constexpr (is_complex_number<T>) {
            std::copy_n(values_, n, values);
            if (vectors) transpose(task_.device, v_, n, vectors, n, n_, n_);
        } else {
            for (std::int64_t j = 0; j < n; ++j) values[j] = {values_[j], values_[n + j]};
            if (!vectors) return;
            cpu::parallel_for(task_.device, n, static_cast<double>(n * n) * 2, [=, this](std::int64_t begin, std::int64_t end) {
                for (std::int64_t j = 0; j < n;) {
                    const bool pair = values_[n + j] != 0 && j + 1 < n;
                    for (std::int64_t i = begin; i < end; ++i) {
                        const T re = v_[j * n + i], im = pair ? v_[(j + 1) * n + i] : T(0);
                        vectors[i * n + j] = {re, im};
                        if (pair) vectors[i * n + j + 1] = {re, -im};
                    }
                    j += pair ? 2 : 1;
                }
            });
        }
    }

    const StackTask& task_;
    int n_;
    bool vectors_;
    int work_size_ = 0;
    T *a_ = nullptr, *values_ = nullptr, *v_ = nullptr, *work_ = nullptr;
    Real<T>* reals_ = nullptr;
};

const Registered eig_here(routines::eig, {"LAPACK", DeviceKinds::Processor, on_stack<Eigen>});

}  // namespace

}  // namespace pardo::routines

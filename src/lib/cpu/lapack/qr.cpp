// src/lib/cpu/lapack/qr.cpp: the QR factorization.
#include "lib/cpu/lapack/stack.h"

namespace pardo::lib {

namespace {

/// What is A row by row is Aᵀ column by column. Aᵀ = L Q' makes A = Q'ᵀ Lᵀ: LAPACK's L and Q', as they lie in memory, are R and Q. The
/// reflectors are those of A's own factorization, their factors the conjugate ones.
template <class T> class Orthogonal {
public:
    Orthogonal(const StackTask& task, Workspace& workspace)
        : task_(task),
          f_(task.lapack->get<T>()),
          m_(rows_of(task.in[0])),
          n_(columns_of(task.in[0])),
          k_(std::min(m_, n_)),
          q_columns_(task.options.raw || !task.out[0] ? 0 : columns_of(task.out[0])) {
        const int ask = -1;
        int info = 0;
        T size;
        f_.gelqf(&n_, &m_, nullptr, &n_, nullptr, &size, &ask, &info);
        work_size_ = workspace_size(size);
        if (q_columns_ > 0) {
            f_.orglq(&q_columns_, &m_, &k_, nullptr, &q_columns_, nullptr, &size, &ask, &info);
            work_size_ = std::max(work_size_, workspace_size(size));
        }
        a_ = task.options.raw ? nullptr : workspace.take<T>(static_cast<std::int64_t>(m_) * n_);
        factors_ = workspace.take<T>(k_);
        work_ = workspace.take<T>(work_size_);
    }
    double flops() const { return 4 * flop<T> / 3 * m_ * n_ * std::max(k_, q_columns_); }
    int extent() const { return std::max(m_, n_); }

    const char* operator()(std::int64_t index) const {
        const std::int64_t size = static_cast<std::int64_t>(m_) * n_;
        T* a = task_.options.raw ? StackTask::part<T>(task_.out[0], index, size) : a_;
        T* factors = task_.options.raw ? StackTask::part<T>(task_.out[1], index, k_) : factors_;
        copy_matrix(task_.device, StackTask::part<T>(task_.in[0], index, size), a, size);
        int info = 0;
        f_.gelqf(&n_, &m_, a, &n_, factors, work_, &work_size_, &info);
        if (task_.options.raw) {
            if constexpr (is_complex_number<T>) std::transform(factors, factors + k_, factors, [](T x) { return std::conj(x); });
            return nullptr;
        }
        store_triangle(a, StackTask::part<T>(task_.out[1], index, static_cast<std::int64_t>(rows_of(task_.out[1])) * n_));
        if (q_columns_ > 0) make_q(a, StackTask::part<T>(task_.out[0], index, static_cast<std::int64_t>(m_) * q_columns_));
        return nullptr;
    }

private:
    void store_triangle(const T* a, T* r) const {
        const std::int64_t rows = rows_of(task_.out[1]), n = n_;
        cpu::parallel_for(task_.device, rows, static_cast<double>(rows * n) * 0.3, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t zeros = std::min(i, n);
                std::fill_n(r + i * n, zeros, T(0));
                std::copy(a + i * n + zeros, a + (i + 1) * n, r + i * n + zeros);
            }
        });
    }
    void make_q(const T* a, T* q) const {
        cpu::parallel_for(task_.device, m_, static_cast<double>(m_) * k_ * 0.3, [=, this](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) std::copy_n(a + i * n_, k_, q + i * q_columns_);
        });
        int info = 0;
        f_.orglq(&q_columns_, &m_, &k_, q, &q_columns_, factors_, work_, &work_size_, &info);
    }

    const StackTask& task_;
    const LapackFunctions<T>& f_;
    int m_, n_, k_, q_columns_, work_size_ = 0;
    T *a_ = nullptr, *factors_ = nullptr, *work_ = nullptr;
};

const Registered qr_here(routines::qr, {"LAPACK", Place::Processor, on_stack<Orthogonal>});

}  // namespace

}  // namespace pardo::lib

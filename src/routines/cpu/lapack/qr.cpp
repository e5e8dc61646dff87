// src/routines/cpu/lapack/qr.cpp: the QR factorization.
#include "routines/cpu/lapack/stack.h"

namespace pardo::routines {

namespace {

/// What is A row by row is Aᵀ column by column. Aᵀ = L Q' makes A = Q'ᵀ Lᵀ: LAPACK's L and Q', as they lie in memory, are R and Q. The
/// reflectors are those of A's own factorization, their factors the conjugate ones.
///
/// Q' comes from blocks of reflectors with their triangular factors (R. Schreiber, C. Van Loan, "A storage-efficient WY representation for
/// products of Householder transformations", 1989), which LAPACK makes by recursion: nearly all of the work is products of matrices. Its
/// older function, which works by columns within a block, makes what mode "raw" asks for.
template <class T> class Orthogonal {
public:
    static constexpr int worth_threads = 384;

    Orthogonal(const StackTask& task, Workspace& workspace)
        : task_(task),
          f_(task.lapack->get<T>()),
          m_(rows_of(task.in[0])),
          n_(columns_of(task.in[0])),
          k_(std::min(m_, n_)),
          block_(std::max(1, std::min(k_, 64))),
          q_columns_(task.options.raw || !task.out[0] ? 0 : columns_of(task.out[0])) {
        if (task.options.raw) {
            const int ask = -1;
            int info = 0;
            T size;
            f_.gelqf(&n_, &m_, nullptr, &n_, nullptr, &size, &ask, &info);
            work_size_ = workspace_size(size);
        } else {
            work_size_ = block_ * std::max({m_, n_, q_columns_});
            a_ = workspace.take<T>(static_cast<std::int64_t>(m_) * n_);
            factors_ = workspace.take<T>(static_cast<std::int64_t>(block_) * k_);
        }
        work_ = workspace.take<T>(work_size_);
    }
    double flops() const { return 4 * flop<T> / 3 * m_ * n_ * std::max(k_, q_columns_); }
    int extent() const { return std::max(m_, n_); }

    const char* operator()(std::int64_t index) const {
        const std::int64_t size = static_cast<std::int64_t>(m_) * n_;
        const T* from = StackTask::part<T>(task_.in[0], index, size);
        int info = 0;
        if (task_.options.raw) {
            T *a = StackTask::part<T>(task_.out[0], index, size), *factors = StackTask::part<T>(task_.out[1], index, k_);
            copy_matrix(task_.device, from, a, size);
            f_.gelqf(&n_, &m_, a, &n_, factors, work_, &work_size_, &info);
            if constexpr (is_complex_number<T>) std::transform(factors, factors + k_, factors, [](T x) { return std::conj(x); });
            return nullptr;
        }
        copy_matrix(task_.device, from, a_, size);
        if (k_ > 0) f_.gelqt(&n_, &m_, &block_, a_, &n_, factors_, &block_, work_, &info);
        store_triangle(a_, StackTask::part<T>(task_.out[1], index, static_cast<std::int64_t>(rows_of(task_.out[1])) * n_));
        if (q_columns_ > 0) make_q(StackTask::part<T>(task_.out[0], index, static_cast<std::int64_t>(m_) * q_columns_));
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
    /// The unit matrix times the blocks, the last one first. Rows before a block's are not reached by it yet.
    void make_q(T* q) const {
        const std::int64_t step = q_columns_;
        cpu::parallel_for(task_.device, m_, static_cast<double>(m_) * q_columns_ * 0.3, [=](std::int64_t begin, std::int64_t end) {
            std::fill(q + begin * step, q + end * step, T(0));
            for (std::int64_t i = begin; i < std::min(end, step); ++i) q[i * step + i] = T(1);
        });
        for (int i = k_ > 0 ? (k_ - 1) / block_ * block_ : -1; i >= 0; i -= block_) {
            const int width = std::min(block_, k_ - i), rows = q_columns_ - i, columns = m_ - i;
            f_.larfb("R", is_complex_number<T> ? "C" : "T", "F", "R", &rows, &columns, &width, a_ + static_cast<std::int64_t>(i) * (n_ + 1),
                     &n_, factors_ + static_cast<std::int64_t>(i) * block_, &block_, q + i * (step + 1), &q_columns_, work_, &rows, 1, 1, 1,
                     1);
        }
    }

    const StackTask& task_;
    const LapackFunctions<T>& f_;
    int m_, n_, k_, block_, q_columns_, work_size_ = 0;
    T *a_ = nullptr, *factors_ = nullptr, *work_ = nullptr;
};

const Registered qr_here(routines::qr, {"LAPACK", DeviceKinds::Processor, on_stack<Orthogonal>});

}  // namespace

}  // namespace pardo::routines

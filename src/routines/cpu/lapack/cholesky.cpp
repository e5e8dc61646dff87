// src/routines/cpu/lapack/cholesky.cpp: the Cholesky factorization.
#include "routines/cpu/lapack/stack.h"

namespace pardo::routines {

namespace {

/// What is a lower triangle row by row is an upper one column by column, of the transposed matrix, whose factor is the transposed one.
template <class T> class Cholesky {
public:
    Cholesky(const StackTask& task, Workspace&) : task_(task), n_(rows_of(task.in[0])) {}
    double flops() const { return flop<T> / 3 * n_ * n_ * n_; }
    int extent() const { return n_; }

    const char* operator()(std::int64_t index) const {
        const std::int64_t size = static_cast<std::int64_t>(n_) * n_;
        const T* a = StackTask::part<T>(task_.in[0], index, size);
        T* out = StackTask::part<T>(task_.out[0], index, size);
        const bool upper = task_.options.upper;
        cpu::parallel_for(task_.device, n_, static_cast<double>(size) * 0.3, [=, n = n_](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t first = upper ? i : 0, last = upper ? n : i + 1;
                std::fill(out + i * n, out + i * n + first, T(0));
                std::copy(a + i * n + first, a + i * n + last, out + i * n + first);
                std::fill(out + i * n + last, out + (i + 1) * n, T(0));
            }
        });
        int info = 0;
        task_.lapack->get<T>().potrf(upper ? "L" : "U", &n_, out, &n_, &info, 1);
        return info == 0 ? nullptr : "Matrix is not positive definite";
    }

private:
    const StackTask& task_;
    int n_;
};

const Registered cholesky_here(routines::cholesky, {"LAPACK", DeviceKinds::Processor, on_stack<Cholesky>});

}  // namespace

}  // namespace pardo::routines

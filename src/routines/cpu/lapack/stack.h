// src/routines/cpu/lapack/stack.h: a routine on each matrix of a stack: threads, workspace, the first failure.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "routines/cpu/lapack/lapack.h"
#include "routines/cpu/task.h"
#include "routines/routines.h"

namespace pardo::routines {

/// Workspace that is handed out piece by piece. Without memory it only counts: a worker is made once to learn what it needs.
class Workspace {
public:
    explicit Workspace(char* memory = nullptr) : memory_(memory) {}
    template <class T> T* take(std::int64_t count) {
        T* piece = memory_ ? reinterpret_cast<T*>(memory_ + used_) : nullptr;
        used_ += (count * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64;
        return piece;
    }
    std::int64_t used() const { return used_; }

private:
    char* memory_;
    std::int64_t used_ = 0;
};

/// The operands of a routine, and what it is asked for.
struct StackTask {
    device::Device* device;
    const Lapack* lapack;
    MatrixOptions options;
    std::vector<Memory> in, out;

    /// Matrix `index` of a stack of matrices, vectors or numbers with `elements` elements each.
    template <class T> static T* part(const Memory& stack, std::int64_t index, std::int64_t elements) {
        return reinterpret_cast<T*>(stack.address()) + index * elements;
    }
};
/// The extents of the matrices of a stack.
inline int rows_of(const Memory& stack) { return static_cast<int>(stack.shape[stack.shape.size() - 2]); }
inline int columns_of(const Memory& stack) { return static_cast<int>(stack.shape[stack.shape.size() - 1]); }

/// Whether the operands' elements of matrix `index` are numbers.
template <class T> bool is_finite(const StackTask& task, std::int64_t index) {
    return std::ranges::all_of(task.in, [&](const Memory& stack) {
        if (stack.dtype != task.in[0].dtype) return true;
        const std::int64_t size = static_cast<std::int64_t>(rows_of(stack)) * columns_of(stack);
        const T* first = StackTask::part<T>(stack, index, size);
        return std::all_of(first, first + size, [](T x) { return std::isfinite(std::real(x)) && std::isfinite(std::imag(x)); });
    });
}

/// Does the work on a matrix of the stack, or on a group of them from that one on; gives what has failed, or null, and at which matrix.
using MatrixWork = std::function<const char*(std::int64_t& index)>;
/// Makes one with a workspace of its own, for one thread.
using MakeMatrixWork = std::function<MatrixWork(const StackTask&, Workspace&)>;
/// What is known of the work on one matrix, or of that on a group.
struct MatrixCost {
    double flops;             // for one matrix
    int extent;               // its larger dimension
    std::int64_t workspace;   // bytes
    int together = 1;         // matrices of a group
    int worth_threads = 256;  // the extent from which on OpenBLAS's threads are worth it for one matrix
};
/// Submits it for all matrices.
void submit_stack(device::Queue* queue, StackTask task, const MatrixCost& cost, const MakeMatrixWork& make);

/// Submits a Worker<T>: it has a constructor (const StackTask&, Workspace&), `const char* operator()(index)`, `double flops() const`,
/// `int extent() const`, `int together` if it takes groups, and `int worth_threads` if that is not the usual number.
template <class T, template <class> class Worker> static void submit_worker(device::Queue* queue, StackTask task) {
    Workspace counted;
    MatrixCost cost{};
    {
        const Worker<T> model(task, counted);
        cost = {model.flops(), model.extent(), counted.used()};
        if constexpr (requires { Worker<T>::together; }) cost.together = Worker<T>::together;
        if constexpr (requires { Worker<T>::worth_threads; }) cost.worth_threads = Worker<T>::worth_threads;
    }
    submit_stack(queue, std::move(task), cost, [](const StackTask& t, Workspace& workspace) -> MatrixWork {
        auto worker = std::make_shared<Worker<T>>(t, workspace);
        return [worker, &t](std::int64_t& index) -> const char* {
            if (t.options.finite && !is_finite<T>(t, index)) return "Array must not contain infs or NaNs";
            return (*worker)(index);
        };
    });
}

/// An implementation of a MatrixRoutine by workers, which are types of one file, as this function is then.
template <template <class> class Worker>
static void on_stack(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const StackTask task{processor_of(queue), &lapack(options.op_name), options, {in.begin(), in.end()}, {out.begin(), out.end()}};
    visit_element_type(in[0].dtype, [&]<class T>(std::type_identity<T>) { submit_worker<T, Worker>(queue, task); });
}
/// The same for real matrices only.
template <template <class> class Worker>
static void on_real_stack(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const StackTask task{processor_of(queue), &lapack(options.op_name), options, {in.begin(), in.end()}, {out.begin(), out.end()}};
    in[0].dtype == DType::Float32 ? submit_worker<float, Worker>(queue, task) : submit_worker<double, Worker>(queue, task);
}

/// Copies memory; all threads do when it is long and this is the only part that runs.
void copy_bytes(device::Device* device, const void* from, void* to, std::int64_t bytes);
template <class T> void copy_matrix(device::Device* device, const T* from, T* to, std::int64_t elements) {
    copy_bytes(device, from, to, elements * static_cast<std::int64_t>(sizeof(T)));
}

/// to[j, i] = from[i, j] for i < rows, j < columns; steps are those of rows in memory. The threads as above.
template <class T>
void transpose(device::Device* device, const T* from, std::int64_t from_step, T* to, std::int64_t to_step, int rows, int columns) {
    constexpr int block = 16;
    const std::int64_t bands = (rows + block - 1) / block;
    cpu::parallel_for(device, bands, static_cast<double>(rows) * columns, [=](std::int64_t begin, std::int64_t end) {
        for (int i = static_cast<int>(begin) * block; i < std::min<std::int64_t>(end * block, rows); i += block) {
            const int last = std::min(i + block, rows);
            for (int j = 0; j < columns; ++j) {
                for (int k = i; k < last; ++k) to[j * to_step + k] = from[k * from_step + j];
            }
        }
    });
}

/// A square matrix and its transpose change places.
template <class T> void transpose_in_place(device::Device* device, T* a, int n) {
    constexpr int block = 16;
    const std::int64_t bands = (n + block - 1) / block;
    const auto swap_blocks = [=](std::int64_t band) {
        const int i = static_cast<int>(band) * block, last = std::min(i + block, n);
        for (int j = 0; j < last; ++j) {
            for (int k = std::max(i, j + 1); k < last; ++k)
                std::swap(a[static_cast<std::int64_t>(j) * n + k], a[static_cast<std::int64_t>(k) * n + j]);
        }
    };
    // The first bands are the short ones.
    cpu::parallel_for(device, (bands + 1) / 2, static_cast<double>(n) * n, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t band = begin; band < end; ++band) {
            swap_blocks(band);
            if (bands - 1 - band != band) swap_blocks(bands - 1 - band);
        }
    });
}

/// The size of a workspace, as LAPACK's functions give it: in a number that may be less precise than an integer.
template <class T> int workspace_size(const T& answer) {
    const double size = static_cast<double>(std::real(answer)) * (1 + 1e-6) + 1;
    if (size > std::numeric_limits<int>::max())
        throw Error(ErrorCode::Memory, "linalg: the workspace has more than 2147483647 elements, which LAPACK cannot count");
    return static_cast<int>(size);
}

}  // namespace pardo::routines

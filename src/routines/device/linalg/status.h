// src/routines/device/linalg/status.h: matrices that kernels cannot work on: the first one of a stack is told late.
// This folder: linear algebra on devices that compile text.
#pragma once

#include "device/memory/status_buffer.h"
#include "routines/device/task.h"

namespace pardo::routines {

/// Failures of single matrices, which kernels note by note_failure of kernels/small_matrices.h, and the errors made of them.
class MatrixStatus {
public:
    /// `reason`: what a matrix has that is noted as 1. Take device::current_location() for the line of the call now.
    MatrixStatus(device::Queue* queue, const MatrixOptions& options, const char* reason, const Memory& stack);
    /// The kernels' argument.
    DeviceArg arg() const { return {words_.get(), device::Access::ReadWrite}; }
    /// Notes matrices with elements that are not finite: those are told as such, or as what fails for the reason above.
    void look_through(const Memory& stack, bool as_reason = false) const;
    /// For the one launch that notes; empty where `settle` does it.
    std::function<void()> check() const;
    /// After that launch: where the host does not see the words a task of it looks, and what reads the results waits for that.
    void settle(std::span<const Memory> results) const;
    /// In place of both, after several launches, or after a library that has left a number (Int32) for each matrix, 0 where all went well.
    void finish(std::span<const Memory> results, const Memory& info = {}) const;
    /// Stacks of so many matrices can be told apart.
    static constexpr std::int64_t most_matrices = (std::int64_t{1} << 30) - 1;

private:
    device::Queue* queue_;
    device::StatusBuffer block_;
    Ref<device::Buffer> words_;
    const char* op_name_;
    device::StatusBuffer::Reader report_;
};

/// The batch of a stack of matrices, and how many there are.
Shape stack_batch(const Memory& stack);
inline std::int64_t matrices_of(const Memory& stack) { return element_count(stack_batch(stack)); }

/// What implementations take: as many matrices as can be told apart; of them those of up to 32 rows and columns.
bool takes_stack(device::Queue*, const MatrixOptions&, std::span<const Memory> in, std::span<const Memory>);
bool takes_small_stack(device::Queue*, const MatrixOptions&, std::span<const Memory> in, std::span<const Memory>);

/// Results of matrices with a NaN, of whose numbers (Int32) a library has left one each, become NaN, and the numbers say so.
void keep_nan(device::Queue* queue, const char* op_name, const Memory& a, const Memory& info, std::span<const Memory> results);
/// Ones on the diagonals of x, or the signs of those of `like`, of the same shape, and zeros elsewhere; zeros outside of a triangle of each
/// matrix.
void make_unit(device::Queue* queue, const char* op_name, const Memory& x, const Memory& like = {});
void keep_triangle(device::Queue* queue, const char* op_name, const Memory& x, bool upper);

}  // namespace pardo::routines

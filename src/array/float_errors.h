// src/array/float_errors.h: divisions by zero, overflow, underflow and invalid operations of what is recorded.
#pragma once

#include <cstdint>
#include <span>

#include <pardo/array.h>

#include "graph/node.h"

namespace pardo::arrays {

/// Whether the program asks for them at all; see pardo/binding/hooks.h.
bool float_errors_wanted() noexcept;
/// While it lives nothing is noted on this thread: for operations that the library records on its own.
class NoFloatErrors {
public:
    NoFloatErrors() noexcept;
    ~NoFloatErrors();
    NoFloatErrors(const NoFloatErrors&) = delete;

private:
    bool outer_;
};
/// What `compute` gives, an operation on these operands in dtype `loop`, and notes what it signals.
Array note_float_errors(graph::Op op, std::span<const Operand> operands, DType loop, Array (*compute)(const void*), const void* context);
template <class F> Array note_float_errors(graph::Op op, std::span<const Operand> operands, DType loop, const F& compute) {
    return note_float_errors(
        op, operands, loop, [](const void* f) { return (*static_cast<const F*>(f))(); }, &compute);
}
/// The same of a sum or product along axes.
Array note_float_errors_of_fold(const Array& x, const Array& folded, std::uint32_t axes, bool keepdims);

}  // namespace pardo::arrays

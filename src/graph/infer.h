// src/graph/infer.h: which dtype an operation computes in, and which it gives.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "graph/node.h"

namespace pardo::graph {

/// An operand of an operation that is to be recorded: a node, or a number.
struct Input {
    Node* node;            // null: a number
    const Scalar* number;  // null: a node
    DType dtype;           // of either
    bool weak;             // a number of Python

    Input() = default;  // not initialized
    explicit Input(Node* n) : node(n), number(nullptr), dtype(n->dtype), weak(false) {}
    explicit Input(const Scalar& s) : node(nullptr), number(&s), dtype(s.dtype), weak(s.weak) {}
};

/// dtype of row `op` on operands with these dtypes: the dtype inputs are cast to (`where`: all but the first, which is cast to Bool), and
/// the result's. Throws Type as NumPy's UFuncTypeError does.
struct Inferred {
    DType loop, result;
};
Inferred infer(Op op, std::span<const Input> operands, std::optional<DType> dtype);
/// `t`, or what takes its place on a device without float64: for dtypes that were not asked for.
DType default_on(const device::Queue* queue, DType t);
/// What infer gives, on a queue's device: what was not asked to be float64 is float32 where there is no float64. A scalar of NumPy asks for
/// what it is, and is refused later.
Inferred infer_on(const device::Queue* queue, Op op, std::span<const Input> operands, std::optional<DType> dtype);
/// Throws as NumPy does when a number cannot be stored as a `t`: integers out of bounds, NaN and infinity as integers, complex as real.
void check_number(const char* op_name, const Scalar& value, DType t);
/// Throws Type unless `from` may be cast to `to` under same_kind: results going into out= and in-place operators.
void check_output_cast(const char* op_name, DType from, DType to);
/// Bytes of an array; throws Memory as "<op_name>: …" when int64 cannot count them.
std::int64_t byte_count(DType dtype, std::span<const std::int64_t> shape, const char* op_name = "array");

}  // namespace pardo::graph

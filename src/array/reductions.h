// src/array/reductions.h: rows of reductions.def, as those read them who reduce and accumulate.
#pragma once

#include <pardo/ops.h>

#include "graph/node.h"

namespace pardo::arrays {

enum class ResultDType : std::uint8_t { WIDE, SAME, BOOL, INT64 };
enum class Identity : std::uint8_t { ZERO, ONE, NONE };

/// One row REDUCTION; reductions.def says what the columns mean.
struct ReductionRow {
    const char* name;
    const char* cumulative;  // what is called when its steps are asked for: "cumulative_sum"
    graph::ReduceOp fold;
    Array (*element)(const Array& x, DType t);
    ResultDType dtype;
    Identity identity;
};
const ReductionRow& row_of(Reduction op) noexcept;
/// Of the result where the caller names none.
DType result_dtype(const ReductionRow& row, DType x) noexcept;

}  // namespace pardo::arrays

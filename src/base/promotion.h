// src/base/promotion.h: the dtype that several dtypes promote to.
#pragma once

#include <span>

#include <pardo/dtype.h>

namespace pardo {

/// As NumPy's result_type: the order does not matter, and integers of both signs beside a float do not widen it.
DType promote_all(std::span<const DType> dtypes);

}  // namespace pardo

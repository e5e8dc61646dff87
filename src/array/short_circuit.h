// src/array/short_circuit.h: reductions of arrays in memory that end before the last element.
#pragma once

#include <optional>

#include <pardo/array.h>

#include "graph/node.h"

namespace pardo::arrays {

/// The reduction of all elements, if they are in memory and the library has code that ends as soon as the result is known: any and all of
/// bools, their number, places of extreme bools and narrow integers. Any other one is a kernel's, as are these on devices.
std::optional<Array> reduced_early(graph::ReduceOp op, const Array& x);

}  // namespace pardo::arrays

// src/lib/cpu/routines.h: the CPU's routines, by file; what each does stands in lib/routines.h.
// This folder: loops that the CPU's threads share, compiled with the library.
#pragma once

#include "lib/routines.h"

namespace pardo::lib {

// scan.cpp
void cpu_cumulative(device::Queue* queue, Reduction op, const Memory& x, const Memory& out, Lines lines, bool initial);

// sort/sort.cpp, sort/select.cpp
void cpu_sort(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines, bool descending);
void cpu_partition(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines,
                   std::span<const std::int64_t> kth);
void cpu_top_k(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines, std::int64_t k,
               bool largest);

// search.cpp
void cpu_searchsorted(device::Queue* queue, const Memory& sorted, const Memory& values, const Memory& out, bool right);
std::int64_t cpu_count_runs(device::Queue* queue, const Memory& sorted, bool equal_nan, const Memory& blocks);
void cpu_fill_runs(device::Queue* queue, const Memory& sorted, const Memory& order, bool equal_nan, const Memory& blocks,
                   const Memory& values, const Memory& indices, const Memory& inverse, const Memory& counts);

// mask.cpp
std::int64_t cpu_count_mask(device::Queue* queue, const Memory& mask, const Memory& blocks);
void cpu_nonzero(device::Queue* queue, const Memory& mask, const Memory& blocks, std::span<const Memory> out);
void cpu_compress(device::Queue* queue, const Memory& x, const Memory& mask, const Memory& blocks, const Memory& out);
void cpu_put_mask(device::Queue* queue, const Memory& x, const Memory& mask, const Memory& blocks, const Memory& value);

// gather.cpp
void cpu_gather(device::Queue* queue, const Memory& base, std::span<const Memory> indices, const GatherPlan& plan, const Memory& out);
void cpu_scatter(device::Queue* queue, const Memory& base, std::span<const Memory> indices, const GatherPlan& plan, const Memory& value);
void cpu_take_along_axis(device::Queue* queue, const Memory& x, const Memory& indices, const Memory& out, Lines lines, std::int64_t count,
                         const Bounds& bounds);

// matmul.cpp
void cpu_matmul(device::Queue* queue, const Memory& a, const Memory& b, const Memory& out);
bool cpu_matmul_strides_ok(DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride);

}  // namespace pardo::lib

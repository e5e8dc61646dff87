// src/lib/device/routines.h: the routines of devices that compile text (OpenCL, CUDA), one file a subject.
// This folder: the host's part of each; the texts of kernels stand in kernels/.
#pragma once

#include "lib/routines.h"

namespace pardo::lib {

// scan.cpp
void device_cumulative(device::Queue* queue, Reduction op, const Memory& x, const Memory& out, Lines lines, bool initial);
/// Running sums of int64, in place.
void device_running_sum(device::Queue* queue, const char* name, const Memory& counts);

// sort.cpp
void device_sort(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines, bool descending);
void device_partition(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines,
                      std::span<const std::int64_t> kth);
void device_top_k(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines, std::int64_t k,
                  bool largest);

// search.cpp
void device_searchsorted(device::Queue* queue, const Memory& sorted, const Memory& values, const Memory& out, bool right);

// mask.cpp
std::int64_t device_count_mask(device::Queue* queue, const Memory& mask, const Memory& blocks);
void device_nonzero(device::Queue* queue, const Memory& mask, const Memory& blocks, std::span<const Memory> out);
void device_compress(device::Queue* queue, const Memory& x, const Memory& mask, const Memory& blocks, const Memory& out);
void device_put_mask(device::Queue* queue, const Memory& x, const Memory& mask, const Memory& blocks, const Memory& value);
std::int64_t device_count_runs(device::Queue* queue, const Memory& sorted, bool equal_nan, const Memory& blocks);
void device_fill_runs(device::Queue* queue, const Memory& sorted, const Memory& order, bool equal_nan, const Memory& blocks,
                      const Memory& values, const Memory& indices, const Memory& inverse, const Memory& counts);

// gather.cpp
void device_gather(device::Queue* queue, const Memory& base, std::span<const Memory> indices, const GatherPlan& plan, const Memory& out);
void device_scatter(device::Queue* queue, const Memory& base, std::span<const Memory> indices, const GatherPlan& plan, const Memory& value);
void device_take_along_axis(device::Queue* queue, const Memory& x, const Memory& indices, const Memory& out, Lines lines,
                            std::int64_t count, const Bounds& bounds);

// matmul.cpp
void device_matmul(device::Queue* queue, const Memory& a, const Memory& b, const Memory& out);
bool device_matmul_strides_ok(DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride);

/// The table of all of them.
const Routines& device_routines();

}  // namespace pardo::lib

// src/lib/device/matmul.cpp: matrix products on devices that compile text.
#include "lib/device/task.h"

namespace pardo::lib {

namespace {

/// Results an item computes: ROWS x COLUMNS of kernels/matmul.h.
struct TileShape {
    int rows, columns;
};

/// As much as registers allow; less where that would leave processors idle.
TileShape choose_tile(const device::Device* device, DType dtype, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
    const int size = itemsize(dtype);
    constexpr TileShape shapes[] = {{8, 4}, {4, 4}, {2, 2}, {1, 1}};
    const std::int64_t enough = device->info().max_compute_units;
    for (const TileShape shape : shapes) {
        if (shape.rows * shape.columns * size > 128) continue;
        const std::int64_t tiles = batch * divide_up(rows, 16 * shape.rows) * divide_up(columns, 16 * shape.columns);
        if (shape.rows == 1 || tiles >= enough) return shape;
    }
    return {1, 1};
}

/// The two last axes of a stack of matrices, and the strides of the others.
struct Stack {
    std::int64_t row_step, column_step;
    DeviceStrides batch;

    Stack(device::Queue* queue, const Memory& x)
        : row_step(x.strides[x.strides.size() - 2]),
          column_step(x.strides[x.strides.size() - 1]),
          batch(queue, head(x.shape), head(x.strides)) {}
    static Extents head(const Extents& all) { return all.first(all.size() - 2); }
};

void device_matmul(device::Queue* queue, const Memory& a, const Memory& b, const Memory& out) {
    const int rank = out.shape.size();
    const std::int64_t rows = out.shape[rank - 2], columns = out.shape[rank - 1], depth = a.shape[rank - 1];
    const std::int64_t batch = out.size() / (rows * columns);
    const TileShape tile = choose_tile(queue->device(), out.dtype, batch, rows, columns);
    const Stack left(queue, a), right(queue, b);
    DeviceArgs args;
    for (const DeviceArg& arg :
         {reads(a), reads(b), writes(out), DeviceArg(rows), DeviceArg(columns), DeviceArg(depth), DeviceArg(left.row_step),
          DeviceArg(left.column_step), DeviceArg(right.row_step), DeviceArg(right.column_step)})
        args.push_back(arg);
    args.append(left.batch.args.begin(), left.batch.args.end());
    args.append(right.batch.args.begin(), right.batch.args.end());
    const std::int64_t groups = batch * divide_up(rows, 16 * tile.rows) * divide_up(columns, 16 * tile.columns);
    launch_kernel(queue, "matmul",
                  Variant(KernelId::Matmul, out.dtype,
                          {{"ROWS", tile.rows}, {"COLUMNS", tile.columns}, {"A_RANK", left.batch.rank}, {"B_RANK", right.batch.rank}}),
                  groups, args);
}

const Registered by_kernels(routines::matmul, {"kernels", Place::Text, device_matmul});
const Registered any_strides(routines::matmul_takes, {"any strides", Place::Text, [](device::Queue*, const Memory&) { return true; }});
const Registered no_library(routines::matmul_ready, {"kernels", Place::Text, [](device::Queue*, DType) {}});

}  // namespace

}  // namespace pardo::lib

// src/routines/device/matmul.cpp: matrix products on devices that compile text.
#include <algorithm>
#include <bit>

#include "routines/device/task.h"

namespace pardo::routines {

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

/// What the kernels of products have in common.
struct Product {
    std::int64_t rows, columns, depth, batch;
    Stack left, right;

    Product(device::Queue* queue, const Memory& a, const Memory& b, const Memory& out)
        : rows(out.shape[out.shape.size() - 2]),
          columns(out.shape.back()),
          depth(a.shape.back()),
          batch(out.size() / (rows * columns)),
          left(queue, a),
          right(queue, b) {}
    /// The sizes and strides, after what comes first.
    DeviceArgs args(std::initializer_list<DeviceArg> first) const {
        DeviceArgs all(first);
        for (const std::int64_t number : {rows, columns, depth, left.row_step, left.column_step, right.row_step, right.column_step})
            all.push_back(number);
        all.append(left.batch.args.begin(), left.batch.args.end());
        all.append(right.batch.args.begin(), right.batch.args.end());
        return all;
    }
};

void device_matmul(device::Queue* queue, const Memory& a, const Memory& b, const Memory& out) {
    const Product product(queue, a, b, out);
    const TileShape tile = choose_tile(queue->device(), out.dtype, product.batch, product.rows, product.columns);
    const std::int64_t groups = product.batch * divide_up(product.rows, 16 * tile.rows) * divide_up(product.columns, 16 * tile.columns);
    launch_kernel(
        queue, "matmul",
        Variant(
            KernelId::Matmul, out.dtype,
            {{"ROWS", tile.rows}, {"COLUMNS", tile.columns}, {"A_RANK", product.left.batch.rank}, {"B_RANK", product.right.batch.rank}}),
        groups, product.args({reads(a), reads(b), writes(out)}));
}

/// Of matrices this small each has a few items, which read it once; libraries give each as many as a large one has.
constexpr std::int64_t small_edge = 16, least_stack = 256;

std::int64_t longest_edge(const Memory& a, const Memory& out) {
    return std::max({out.shape[out.shape.size() - 2], out.shape.back(), a.shape.back()});
}

bool is_stack_of_small(device::Queue* queue, const Memory& a, const Memory&, const Memory& out) {
    constexpr std::int64_t shared_elements = 2 * 4 * device_group * 5 / 4;  // of the smallest edge, whose lines are longer by a quarter
    const std::int64_t size = out.size(), element = is_complex(out.dtype) ? itemsize(out.dtype) : 8;
    return shared_elements * element <= queue->device()->info().local_mem_size && size > 0 && a.size() > 0 &&
           longest_edge(a, out) <= small_edge && size >= least_stack * out.shape.back() * out.shape[out.shape.size() - 2];
}

void small_matmul(device::Queue* queue, const Memory& a, const Memory& b, const Memory& out) {
    const Product product(queue, a, b, out);
    const int edge = std::max(4, static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(longest_edge(a, out)))));
    launch_kernel(queue, "matmul",
                  Variant(KernelId::MatmulSmall, out.dtype,
                          {{"EDGE", edge}, {"A_RANK", product.left.batch.rank}, {"B_RANK", product.right.batch.rank}}),
                  divide_up(product.batch, 4 * device_group / (edge * edge)),
                  product.args({reads(a), reads(b), writes(out), product.batch}));
}

const Registered by_kernels(routines::matmul, {"kernels", DeviceKinds::Text, device_matmul});
const Registered of_small(routines::matmul, {"small", DeviceKinds::Text, small_matmul, is_stack_of_small, 0.05});
const Registered any_strides(routines::matmul_takes,
                             {"any strides", DeviceKinds::Text, [](device::Queue*, const Memory&) { return true; }});
const Registered no_library(routines::matmul_ready, {"kernels", DeviceKinds::Text, [](device::Queue*, DType) {}});

}  // namespace

}  // namespace pardo::routines

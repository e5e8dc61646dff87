// src/lib/linalg/sparse_product.cpp: products of sparse matrices, where a library computes them.
#include "graph/call.h"
#include "lib/operand.h"

namespace pardo {

namespace {

struct SparseProductCall final : graph::Call {
    SparseProductCall(const graph::ResultType& type, bool turned) : Call("matmul"), result(type), transposed(turned) {}
    void run(std::span<const Array> inputs, std::span<Array> results) const override {
        const lib::Memory ptr = lib::contiguous_memory(inputs[0]), column = lib::contiguous_memory(inputs[1]),
                          value = lib::contiguous_memory(inputs[2]), x = lib::contiguous_memory(inputs[3]);
        device::Queue* queue = inputs[3].node()->queue.get();
        const lib::Output out = lib::make_output(name, queue, result.dtype, result.shape, lib::kind_of(value, x));
        lib::routines::sparse_product(queue, ptr, column, value, x, out.memory, transposed);
        results[0] = out.array;
    }
    graph::ImplementationChoice implementation(std::span<const graph::CallInput> inputs) const override {
        const auto part = [&](std::size_t i) { return lib::described(inputs[i].node->dtype, inputs[i].node->shape); };
        return lib::routines::sparse_product.describe(inputs[3].node->queue.get(), part(0), part(1), part(2), part(3),
                                                      lib::described(result.dtype, result.shape), transposed);
    }
    graph::ResultType result;
    bool transposed;
};

}  // namespace

std::optional<Array> sparse_product(const Array& ptr, const Array& column, const Array& value, const Array& x, std::int64_t rows,
                                    bool transposed) {
    graph::ResultType result{x.dtype(), lib::shape_of(x)};
    result.shape[0] = rows;
    const auto described = [](const Array& a) { return lib::described(a.dtype(), lib::shape_of(a)); };
    device::Queue* queue = lib::queue_of("matmul", ptr, column, value, x);
    if (!lib::routines::sparse_product.takes(queue, described(ptr), described(column), described(value), described(x),
                                             lib::described(result.dtype, result.shape), transposed))
        return std::nullopt;
    const Array inputs[] = {ptr, column, value, x};
    return graph::record(Ref<graph::Call>(new SparseProductCall(result, transposed)), inputs, result);
}

}  // namespace pardo

// tests/unit/plan/support.h: graphs made of nodes, on the null device (structure) and on the CPU (values).
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "backend/null/null.h"
#include "base/counters.h"
#include "plan/force.h"

namespace pardo::test {

using graph::Kind;
using graph::Node;
using graph::Op;
using graph::ReduceOp;
using N = Ref<Node>;

/// Makes nodes on one queue.
struct Maker {
    device::Queue* queue;
    explicit Maker(const char* device) : queue(device::select(device)->queue()) {}

    N leaf(Shape shape, DType dtype = DType::Float64) const {
        Strides strides = contiguous_strides(shape);
        auto buffer =
            queue->device()->allocate(static_cast<std::size_t>(element_count(shape) * itemsize(dtype)), MemoryKind::Device, queue);
        return graph::make_leaf(queue, dtype, shape, strides, 0, buffer);
    }
    template <class T> N array(Shape shape, const std::function<T(std::int64_t)>& value) const {
        N n = leaf(shape, dtype_of<T>);
        T* data = static_cast<T*>(n->buffer->data());
        for (std::int64_t i = 0; i < n->size(); ++i) data[i] = value(i);
        return n;
    }
    N constant(Scalar value, Shape shape = {}) const {
        value.weak = false;
        return graph::make_constant(queue, value, shape);
    }
    N iota(Shape shape, int axis) const { return graph::make_iota(queue, shape, axis); }
    static N op(Op op, std::initializer_list<N> in) {
        std::vector<Node*> raw;
        Shape shape;
        DType dtype = DType::Float64;
        for (const N& n : in) {
            raw.push_back(n.get());
            shape = broadcast("test", shape, n->shape);
            dtype = n->dtype;
        }
        return graph::make_elementwise(op, dtype, shape, raw);
    }
    static N add(N a, N b) { return op(Op::add, {a, b}); }
    static N sub(N a, N b) { return op(Op::subtract, {a, b}); }
    static N mul(N a, N b) { return op(Op::multiply, {a, b}); }
    static N div(N a, N b) { return op(Op::divide, {a, b}); }
    static N exp(N a) { return op(Op::exp, {a}); }
    static N sqrt(N a) { return op(Op::sqrt, {a}); }
    static N reduce(ReduceOp r, N a, std::uint32_t axes) {
        const bool logic = r == ReduceOp::Any || r == ReduceOp::All;
        const bool arg = r == ReduceOp::ArgMax || r == ReduceOp::ArgMin;
        return graph::make_reduce(r, a.get(), axes, logic ? DType::Bool : a->dtype, logic ? DType::Bool : arg ? DType::Int64 : a->dtype);
    }
    static N sum(N a, std::uint32_t axes) { return reduce(ReduceOp::Sum, a, axes); }
    /// Removes the reduced dims (size one).
    static N squeeze(N a, std::uint32_t axes) {
        graph::ViewMap map;
        Shape shape;
        map.offsets.assign(a->shape.size(), 0);
        for (int d = 0; d < a->shape.size(); ++d) {
            if (axes >> d & 1) continue;
            map.terms.push_back({d, shape.size(), 1});
            shape.push_back(a->shape[d]);
        }
        return graph::make_view(a.get(), shape, map);
    }
    /// a[start:stop:step] along one axis.
    static N slice(N a, int axis, std::int64_t start, std::int64_t count, std::int64_t step = 1) {
        graph::ViewMap map;
        Shape shape = a->shape;
        shape[axis] = count;
        map.offsets.assign(a->shape.size(), 0);
        map.offsets[axis] = start;
        for (int d = 0; d < a->shape.size(); ++d) map.terms.push_back({d, d, d == axis ? step : 1});
        return graph::make_view(a.get(), shape, map);
    }
    static N transpose(N a) {
        graph::ViewMap map;
        map.offsets.assign(2, 0);
        map.terms.push_back({0, 1, 1});
        map.terms.push_back({1, 0, 1});
        return graph::make_view(a.get(), {a->shape[1], a->shape[0]}, map);
    }
    /// Puts a dim of size one at `axis`.
    static N expand(N a, int axis) {
        graph::ViewMap map;
        Shape shape = a->shape;
        shape.insert(axis, 1);
        map.offsets.assign(a->shape.size(), 0);
        for (int d = 0; d < a->shape.size(); ++d) map.terms.push_back({d, d < axis ? d : d + 1, 1});
        return graph::make_view(a.get(), shape, map);
    }
    static void force(std::initializer_list<N> nodes) {
        std::vector<Node*> raw;
        for (const N& n : nodes) raw.push_back(n.get());
        plan::force(raw);
    }
    /// Forces what `make` gives: its temporaries are gone by then, as after a statement of Python.
    static N run(const std::function<N()>& make) {
        N n = make();
        force({n});
        return n;
    }
    static std::string explain(const N& n) {
        Node* raw[] = {n.get()};
        return plan::explain(raw);
    }
    /// Element of a forced CPU node, by its row-major position.
    template <class T> static T at(const N& n, std::int64_t position) {
        std::int64_t offset = n->offset;
        for (int d = n->shape.size() - 1; d >= 0; --d) {
            offset += position % n->shape[d] * n->strides[d];
            position /= n->shape[d];
        }
        n->buffer->wait_for_read();
        return static_cast<const T*>(n->buffer->data())[offset];
    }
    template <class T> static std::vector<T> values(const N& n) {
        force({n});
        std::vector<T> all;
        for (std::int64_t i = 0; i < n->size(); ++i) all.push_back(at<T>(n, i));
        return all;
    }
};

}  // namespace pardo::test

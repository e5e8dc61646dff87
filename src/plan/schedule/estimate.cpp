// src/plan/schedule/estimate.cpp: what a scheduled kernel is called, what it costs, and which of its stores bypass the caches.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "graph/recipes.h"
#include "graph/reductions.h"
#include "graph/rows.h"
#include "plan/schedule/schedule.h"
#include "plan/tuning.h"

namespace pardo::plan {

using graph::Kind;
using graph::Node;
using Stage = KernelPlan::Stage;

namespace {

constexpr double scalar_factor = 8;  // without lanes
constexpr std::size_t name_length = 40;

/// Arithmetic on floating-point numbers that one element of a node takes. Complex numbers count as their parts are computed with.
int operations_of(const Node* n) {
    if (!is_inexact(n->dtype) || !is_inexact(graph::loop_dtype(*n))) return 0;
    const bool complex = is_complex(graph::loop_dtype(*n));
    switch (n->op()) {
        case graph::Op::add:
        case graph::Op::subtract: return complex ? 2 : 1;
        case graph::Op::multiply:
        case graph::Op::square: return complex ? 6 : 1;
        case graph::Op::divide:
        case graph::Op::reciprocal: return complex ? 11 : 1;
        case graph::Op::absolute: return complex ? 4 : 0;
        // What moves, chooses, rounds, or touches the sign alone.
        case graph::Op::positive:
        case graph::Op::negative:
        case graph::Op::sign:
        case graph::Op::copysign:
        case graph::Op::nextafter:
        case graph::Op::maximum:
        case graph::Op::minimum:
        case graph::Op::fmax:
        case graph::Op::fmin:
        case graph::Op::clip:
        case graph::Op::heaviside:
        case graph::Op::floor:
        case graph::Op::ceil:
        case graph::Op::trunc:
        case graph::Op::rint:
        case graph::Op::round:
        case graph::Op::real:
        case graph::Op::imag:
        case graph::Op::conjugate:
        case graph::Op::where:
        case graph::Op::cast:
        case graph::Op::from_parts:
        case graph::Op::bitcast: return 0;
        default: return 1;
    }
}

int operations_of(graph::ReduceOp op, DType dtype) {
    if (!is_inexact(dtype)) return 0;
    if (op == graph::ReduceOp::Sum) return is_complex(dtype) ? 2 : 1;
    if (op == graph::ReduceOp::Prod) return is_complex(dtype) ? 6 : 1;
    return 0;
}

constexpr const char* dtype_names[] = {"b1",  "i8",  "i16", "i32", "i64", "u8",   "u16", "u32",
                                       "u64", "f16", "f32", "f64", "c64", "c128", "bf16"};
static_assert(std::size(dtype_names) == dtype_count);

}  // namespace

std::int64_t bytes_moved(const KernelPlan::Traffic& traffic, std::int64_t bytes, const Subgraph& subgraph) {
    if (traffic.leaf == no_node) return bytes;
    return std::min(bytes, static_cast<std::int64_t>(subgraph.nodes[traffic.leaf]->buffer->bytes()));
}

std::vector<int> LoopScheduler::computed(const KernelPlan& kernel) const {
    const Group& group = planner_.groups()[kernel.group];
    const std::vector<bool> in = needed(kernel);
    std::vector<int> found;
    for (std::size_t i = 0; i < group.values.size(); ++i) {
        const bool reduced = group.values[i].kind == FusedValue::Kind::Reduced;
        if (reduced ? !kernel.reductions.empty() : in[i]) found.push_back(static_cast<int>(i));
    }
    return found;
}

const char* LoopScheduler::operation(const FusedValue& fused) const {
    switch (fused.kind) {
        case FusedValue::Kind::Op: return graph::name(planner_.node(fused.node)->op());
        case FusedValue::Kind::Reduced: return graph::fold_name(planner_.node(fused.node)->reduce().op);
        case FusedValue::Kind::Iota: return "index";
        case FusedValue::Kind::Cast: return "cast";
        case FusedValue::Kind::Blend: return "where";
        case FusedValue::Kind::Load:
        case FusedValue::Kind::Scalar:
        case FusedValue::Kind::Old: break;
    }
    return nullptr;
}

std::string LoopScheduler::make_name(const KernelPlan& kernel) const {
    const Group& group = planner_.groups()[kernel.group];
    std::string name;
    std::vector<std::string_view> used;
    const auto append = [&](std::string_view part) {
        if (std::find(used.begin(), used.end(), part) != used.end()) return;
        if (name.size() + part.size() + 1 > name_length) return;
        used.push_back(part);
        if (!name.empty()) name += '_';
        name += part;
    };
    DType dtype = DType::Float64;
    for (const int at : computed(kernel)) {
        if (const char* part = operation(group.values[at])) append(part);
        dtype = group.values[at].dtype;
    }
    for (const Store& s : kernel.stores) dtype = kernel.accesses[s.access].dtype;
    if (name.empty()) name = !kernel.stores.empty() && group.loads == 0 ? "fill" : "copy";
    name += '_';
    name += dtype_names[static_cast<int>(dtype)];
    if (kernel.stage == Stage::Blocks) name += "_b";
    if (kernel.stage == Stage::Combine) name += "_c";
    return name;
}

Size LoopScheduler::operations(const KernelPlan& kernel, const std::vector<bool>& in) const {
    const Group& group = planner_.groups()[kernel.group];
    Size count = 0;
    for (std::size_t i = 0; i < group.values.size(); ++i) {
        const FusedValue& fused = group.values[i];
        if (!in[i] || fused.kind != FusedValue::Kind::Op) continue;
        Size elements = 1;  // a value is needed once for each index that it depends on
        for (int d = 0; d < kernel.extents.size(); ++d) elements *= kernel.loop_dims[i] >> d & 1 ? kernel.extents[d] : 1;
        count += elements * operations_of(planner_.node(fused.node));
    }
    for (const Reduction& r : kernel.reductions) {
        const Node* n = planner_.node(r.node);
        count += kernel.elements() * operations_of(n->reduce().op, reduction_dtype(n));
    }
    return count;
}

void LoopScheduler::estimate(KernelPlan& kernel) const {
    const Group& group = planner_.groups()[kernel.group];
    // Each buffer counts once; several accesses to one count together.
    std::vector<const void*> memories;
    for (const MemoryAccess& access : kernel.accesses) {
        if (access.kind == MemoryAccess::Kind::Index) continue;
        Size bytes = itemsize(access.dtype);
        for (int d = 0; d < kernel.extents.size(); ++d) {
            if (access.steps.dims[d] != 0 || kernel.extents[d] == 0) bytes *= kernel.extents[d];
        }
        const void* memory = &access;
        NodeId leaf = no_node;
        if (access.kind == MemoryAccess::Kind::Memory) {
            const Node* n = planner_.node(access.node);
            memory = n;
            if (n->kind == Kind::Leaf) {
                memory = n->buffer.get();
                leaf = n->index;
            }
        }
        const bool read = access.mode != ir::Access::Write, written = access.mode != ir::Access::Read;
        std::size_t at = 0;
        while (at < memories.size() && (memories[at] != memory || kernel.traffic[at].written != written)) ++at;
        if (at == memories.size()) {
            memories.push_back(memory);
            kernel.traffic.push_back({bytes, leaf, read, written});
        } else {
            kernel.traffic[at].bytes += bytes;
            kernel.traffic[at].read |= read;
        }
    }
    const bool vectors = kernel.lanes || kernel.strategy == Strategy::InnerLanes || kernel.strategy == Strategy::Rows;
    // A vector holds more of narrow integers than of others, and what a round of the loop costs is theirs together.
    const auto share = [&](DType t) { return vectors && !is_inexact(t) && itemsize(t) < 4 ? itemsize(t) / 8.0 : 1.0; };
    double narrowest = 1;
    for (const MemoryAccess& access : kernel.accesses) narrowest = std::min(narrowest, share(access.dtype));
    double operations = narrowest;
    const std::vector<bool> in = needed(kernel);
    kernel.operations = this->operations(kernel, in);
    for (std::size_t i = 0; i < group.values.size(); ++i) {
        const FusedValue& fused = group.values[i];
        if (!in[i]) continue;
        const bool inside = kernel.range == kernel.extents.size() || (kernel.loop_dims[i] >> kernel.inner()) != 0;
        if (inside)
            operations += (fused.kind == FusedValue::Kind::Op ? graph::op_cost(planner_.node(fused.node)->op()) : 1) * share(fused.dtype);
    }
    for (const Reduction& r : kernel.reductions) operations += share(reduction_dtype(planner_.node(r.node)));
    kernel.element_cost = operations * (vectors ? 1 : scalar_factor);
}

void LoopScheduler::finish(KernelPlan& kernel) {
    find_keeps(kernel);
    const int last = kernel.extents.size() - 1;
    for (const Store& s : kernel.stores) {
        MemoryAccess& access = kernel.accesses[s.access];
        if (access.mode != ir::Access::Write || s.level != Level::Full || kernel.elements() * itemsize(access.dtype) <= streamed_bytes)
            continue;
        access.streaming = last >= 0 && access.steps.dims[last] == 1;
    }
    estimate(kernel);
    kernel.name = make_name(kernel);
}

}  // namespace pardo::plan

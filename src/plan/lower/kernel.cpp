// src/plan/lower/kernel.cpp: parameters and values of a kernel: how each fused value becomes IR.
#include "plan/lower/kernel.h"

#include <cstdlib>

#include "graph/recipes.h"
#include "plan/lower/kernel_builder.h"

namespace pardo::plan {

using graph::Kind;
using graph::Node;
using ir::no_value;

namespace {

constexpr std::int64_t max_vector_step = 4;  // as far as the emitters have vector accesses

std::string numbered(const char* prefix, int number) {
    std::string name = prefix;
    name += std::to_string(number);
    return name;
}

}  // namespace

LoweredKernel lower_kernel(const Planner& planner, const KernelPlan& plan) { return KernelBuilder(planner, plan).run(); }

KernelBuilder::KernelBuilder(const Planner& planner, const KernelPlan& plan)
    : planner_(planner),
      plan_(plan),
      group_(planner.groups()[plan.group]),
      m_(plan.name, plan.range, plan.lanes),
      base_(plan.accesses.size(), no_value),
      offsets_(plan.accesses.size(), no_value),
      extent_(plan.extents.size(), no_value),
      var_(plan.extents.size(), no_value),
      memo_(group_.values.size(), no_value) {}

LoweredKernel KernelBuilder::run() {
    declare_pointers();
    declare_steps();
    declare_extents();
    declare_scalars();
    for (int d = 0; d < plan_.range; ++d) var_[d] = m_.dim(d);
    if (!plan_.unrolled) {
        item();
    } else {
        for (std::int64_t u = 0; u < plan_.extents[plan_.range].pinned(); ++u) {
            var_[plan_.range] = m_.i64(u);
            const std::size_t before = mark();
            item();
            forget(before);
        }
    }
    return {m_.finish(), std::move(arguments_)};
}

void KernelBuilder::declare_pointers() {
    pointers_.assign(plan_.accesses.size(), no_value);
    int inputs = 0, outputs = 0;
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i) {
        const MemoryAccess& a = plan_.accesses[i];
        if (a.kind == MemoryAccess::Kind::Index) continue;
        const bool read = a.mode == ir::Access::Read;
        std::string name = numbered(read ? "in" : "out", read ? inputs++ : outputs++);
        pointers_[i] = m_.pointer(std::move(name), a.dtype, a.mode, true, a.streaming);
        const Size offset = a.steps.offset * itemsize(a.dtype);
        if (a.kind == MemoryAccess::Kind::Partial) {
            arguments_.push_back({Argument::Kind::Partial, static_cast<std::uint32_t>(a.partial), offset});
        } else if (planner_.is_store(a.node)) {
            arguments_.push_back({Argument::Kind::Leaf, planner_.subgraph().target_id, offset});
        } else {
            const bool leaf = planner_.node(a.node)->kind == Kind::Leaf;
            arguments_.push_back({leaf ? Argument::Kind::Leaf : Argument::Kind::Stored, a.node, offset});
        }
    }
}

ir::Value KernelBuilder::number(std::string name, Size value) {
    arguments_.push_back({Argument::Kind::Number, 0, value});
    return m_.scalar_param(std::move(name), DType::Int64);
}

void KernelBuilder::declare_steps() {
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i) {
        const MemoryAccess& a = plan_.accesses[i];
        for (int d = 0; d < plan_.extents.size(); ++d) {
            const Size step = a.steps.dims[d];
            if (step == 0 || step == 1 || step_of(d, step) != no_value) continue;
            // Small steps are part of the program: lanes then take whole vectors and shuffle, which is several times faster than gathers.
            const bool small = abs(step) <= max_vector_step;
            steps_.push_back({d, step, small ? m_.i64(step.pinned()) : number(numbered("s", static_cast<int>(steps_.size())), step)});
        }
        if (a.kind == MemoryAccess::Kind::Index && a.steps.offset != 0)
            offsets_[i] = number(numbered("o", static_cast<int>(i)), a.steps.offset);
    }
}

ir::Value KernelBuilder::step_of(int dim, Size step) const {
    for (const Step& known : steps_) {
        if (known.dim == dim && known.step == step) return known.value;
    }
    return no_value;
}

void KernelBuilder::declare_extents() {
    for (int d = plan_.inner(); d < plan_.extents.size(); ++d) {
        if (plan_.strategy != Strategy::Unrolled) extent_[d] = number(numbered("n", d), plan_.extents[d]);
    }
    for (const KernelPlan::Block& b : plan_.blocks) block_lengths_.push_back(number(numbered("block", b.dim), b.length));
}

void KernelBuilder::declare_scalars() {
    for (std::size_t i = 0; i < group_.values.size(); ++i) {
        const FusedValue& fused = group_.values[i];
        if (fused.kind != FusedValue::Kind::Scalar) continue;
        memo_[i] = m_.scalar_param(numbered("c", static_cast<int>(i)), fused.dtype);  // never forgotten: not in made_
        arguments_.push_back({Argument::Kind::Constant, fused.node, 0});
    }
}

void KernelBuilder::remember(int fused, Value value) {
    memo_[fused] = value;
    made_.push_back(fused);
}

void KernelBuilder::forget(std::size_t mark) {
    while (made_.size() > mark) {
        memo_[made_.back()] = no_value;
        made_.pop_back();
    }
}

ir::Value KernelBuilder::index_of(int access) {
    const Steps& steps = plan_.accesses[access].steps;
    Value index = base_[access];
    for (int d = plan_.range; d < plan_.extents.size(); ++d) {
        const Size step = steps.dims[d];
        if (step == 0) continue;
        const Value term = step == 1 ? var_[d] : m_.mul(var_[d], step_of(d, step));
        index = m_.add(index, term);
    }
    return index;
}

ir::Value KernelBuilder::load(int access) { return m_.load(pointers_[access], index_of(access)); }

ir::Value KernelBuilder::get(int fused) {
    if (memo_[fused] != no_value) return memo_[fused];
    const Value value = compute(fused);
    remember(fused, value);
    return value;
}

ir::Value KernelBuilder::compute(int at) {
    const FusedValue& fused = group_.values[at];
    for (const KernelPlan::Spill& spill : plan_.spills) {
        if (spill.fused == at && spill.to == loop_) return load(spill.access);
    }
    switch (fused.kind) {
        case FusedValue::Kind::Load:
        case FusedValue::Kind::Old: return load(plan_.access_of[at]);
        case FusedValue::Kind::Iota: return index_of(plan_.access_of[at]);
        case FusedValue::Kind::Cast: return m_.cast(get(fused.in[0]), fused.dtype);
        case FusedValue::Kind::Blend: {
            const Value where = get(fused.in[0]), value = get(fused.in[1]), old = get(fused.in[2]);
            return m_.select(where, value, old);
        }
        case FusedValue::Kind::Op: {
            const Node* n = planner_.node(fused.node);
            Value operands[3];
            for (int k = 0; k < n->arity; ++k) operands[k] = get(fused.in[k]);
            return graph::build_recipe(m_, n->op(), graph::loop_dtype(*n), n->dtype, {operands, static_cast<std::size_t>(n->arity)});
        }
        case FusedValue::Kind::Scalar:
        case FusedValue::Kind::Reduced: break;
    }
    throw Error(ErrorCode::Internal, "force: kernel " + plan_.name + " uses a value before it is there");
}

void KernelBuilder::hoist(const std::vector<bool>& in, int loop) {
    std::uint32_t bound = 0;
    for (int d = 0; d < plan_.extents.size(); ++d) {
        if (var_[d] != no_value) bound |= 1u << d;
    }
    for (std::size_t i = 0; i < group_.values.size(); ++i) {
        const FusedValue& fused = group_.values[i];
        if (!in[i] || memo_[i] != no_value || fused.ready > loop || fused.kind == FusedValue::Kind::Reduced) continue;
        if ((plan_.loop_dims[i] & ~bound) == 0) get(static_cast<int>(i));
    }
}

}  // namespace pardo::plan

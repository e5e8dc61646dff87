// src/plan/group/values.cpp: each node at each map under which a group reads it, down to loads, constants and other members.
#include <algorithm>

#include "graph/recipes.h"
#include "plan/group/planner.h"

namespace pardo::plan {

using graph::Kind;
using graph::Node;

namespace {

constexpr std::size_t group_values = 512;  // values in one kernel
constexpr int group_loads = 48;            // distinct accesses in one kernel

}  // namespace

int Planner::fail(const char* reason) {
    reason_ = reason;
    return -1;
}

int Planner::find(const Group& group, NodeId id, const Map& map) const {
    const auto found = group.by_node.find(id);
    if (found == group.by_node.end()) return -1;
    for (const int at : found->second) {
        if (group.values[at].map == map) return at;
    }
    return -1;
}

int Planner::add(Attempt& attempt, FusedValue fused) {
    Group& group = groups_[attempt.group];
    if (attempt.bounded && group.values.size() >= group_values) return fail("too many operations for one kernel");
    for (const int in : fused.in) {
        if (in < 0) continue;
        const FusedValue& operand = group.values[in];
        fused.dims |= operand.dims;
        fused.ready = std::max(fused.ready, operand.ready);
        fused.cost = std::min(cost_cap, fused.cost + operand.cost);
    }
    const int at = static_cast<int>(group.values.size());
    if (!is_store(fused.node)) group.by_node[fused.node].push_back(at);
    group.values.push_back(std::move(fused));
    return at;
}

int Planner::load(Attempt& attempt, NodeId id, const Map& map) {
    if (attempt.bounded && groups_[attempt.group].loads >= group_loads) return fail("too many buffers for one kernel");
    FusedValue fused{.kind = FusedValue::Kind::Load, .dtype = node(id)->dtype, .node = id, .map = map};
    fused.dims = used_dims(map);
    fused.cost = 1;
    ++groups_[attempt.group].loads;
    return add(attempt, std::move(fused));
}

int Planner::instance(Attempt& attempt, NodeId id, const Map& map) {
    const Node* n = subgraph_.nodes[id];
    const NodeInfo& f = info_[id];
    if (n->kind == Kind::Constant) {
        const Map none{};
        const int known = find(groups_[attempt.group], id, none);
        return known >= 0 ? known : add(attempt, FusedValue{.kind = FusedValue::Kind::Scalar, .dtype = n->dtype, .node = id, .map = none});
    }
    if (f.materialized && id != attempt.placing && f.group == attempt.group) {
        return map == f.map ? f.fused : fail("read at other positions than it is computed at");
    }
    if (const int known = find(groups_[attempt.group], id, map); known >= 0) return known;
    if (subgraph_.in_memory(n)) return load(attempt, id, map);
    if (n->kind == Kind::Iota) {
        FusedValue fused{.kind = FusedValue::Kind::Iota, .dtype = n->dtype, .node = id, .map = map};
        const int axis = n->axis();
        for (int d = 0; d < map.dims(); ++d) {
            if (map.coefficient(axis, d) != 0) fused.dims |= 1u << d;
        }
        return add(attempt, std::move(fused));
    }
    if (f.materialized && id != attempt.placing) {
        if (reaches(f.group, attempt.group)) return fail("its inputs need results of the other kernel first");
        attempt.needs.push_back(f.group);
        attempt.reads.push_back(id);
        return load(attempt, id, map);
    }
    if (n->kind == Kind::View && n->view().part < 0)
        return instance(attempt, input(id, 0), through_view(map, n->view(), shape(input(id, 0))));
    return operation(attempt, id, map);
}

int Planner::operation(Attempt& attempt, NodeId id, const Map& map) {
    const Node* n = subgraph_.nodes[id];
    FusedValue fused{.kind = FusedValue::Kind::Op, .dtype = n->dtype, .node = id, .map = map};
    for (int k = 0; k < n->arity; ++k) {
        const NodeId in = input(id, k);
        fused.in[k] = instance(attempt, in, broadcast_input(map, shape(id), shape(in)));
        if (fused.in[k] < 0) return -1;
    }
    fused.cost = graph::op_cost(n->op());
    return add(attempt, std::move(fused));
}

int Planner::store_expression(Attempt& attempt, const Map& map) {
    const NodeId self = store_id();
    const Sizes& to = shape(self);
    const auto read = [&](NodeId id) { return instance(attempt, id, broadcast_input(map, to, shape(id))); };
    int value = read(subgraph_.value_id);
    if (value < 0) return -1;
    const DType dtype = subgraph_.target->dtype;
    if (groups_[attempt.group].values[value].dtype != dtype) {
        value = add(attempt,
                    FusedValue{.kind = FusedValue::Kind::Cast, .dtype = dtype, .node = self, .map = map, .in = {value, -1, -1}, .cost = 1});
        if (value < 0) return -1;
    }
    if (subgraph_.where_id == no_node) return value;
    const int where = read(subgraph_.where_id);
    if (where < 0) return -1;
    FusedValue old{.kind = FusedValue::Kind::Old, .dtype = dtype, .node = self, .map = map};
    old.dims = used_dims(map);
    const int before = add(attempt, std::move(old));
    if (before < 0) return -1;
    return add(
        attempt,
        FusedValue{.kind = FusedValue::Kind::Blend, .dtype = dtype, .node = self, .map = map, .in = {where, value, before}, .cost = 1});
}

}  // namespace pardo::plan

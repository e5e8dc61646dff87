// src/plan/group/values.cpp: each node at each map under which a group reads it, down to loads, constants and other members.
#include <algorithm>

#include "graph/recipes.h"
#include "plan/group/planner.h"

namespace pardo::plan {

using graph::Kind;
using graph::Node;

namespace {

constexpr std::size_t group_insts = 512;  // values in one kernel
constexpr int group_loads = 48;           // distinct accesses in one kernel
constexpr double cost_cap = 1e9;

}  // namespace

int Planner::fail(const char* reason) {
    reason_ = reason;
    return -1;
}

int Planner::find(const Group& group, NodeId id, const Map& map) const {
    const auto found = group.by_node.find(id);
    if (found == group.by_node.end()) return -1;
    for (const int at : found->second) {
        if (group.insts[at].map == map) return at;
    }
    return -1;
}

int Planner::add(Attempt& attempt, Inst inst) {
    Group& group = groups_[attempt.group];
    if (attempt.bounded && group.insts.size() >= group_insts) return fail("too many operations for one kernel");
    for (const int in : inst.in) {
        if (in < 0) continue;
        const Inst& operand = group.insts[in];
        inst.dims |= operand.dims;
        inst.ready = std::max(inst.ready, operand.ready);
        inst.cost = std::min(cost_cap, inst.cost + operand.cost);
    }
    const int at = static_cast<int>(group.insts.size());
    if (!is_store(inst.node)) group.by_node[inst.node].push_back(at);
    group.insts.push_back(std::move(inst));
    return at;
}

int Planner::load(Attempt& attempt, NodeId id, const Map& map) {
    if (attempt.bounded && groups_[attempt.group].loads >= group_loads) return fail("too many buffers for one kernel");
    Inst inst{.kind = Inst::Kind::Load, .dtype = node(id)->dtype, .node = id, .map = map};
    inst.dims = used_dims(map);
    inst.cost = 1;
    ++groups_[attempt.group].loads;
    return add(attempt, std::move(inst));
}

int Planner::instance(Attempt& attempt, NodeId id, const Map& map) {
    const Node* n = walk_.nodes[id];
    const Fact& f = facts_[id];
    if (n->kind == Kind::Constant) {
        const Map none{};
        const int known = find(groups_[attempt.group], id, none);
        return known >= 0 ? known : add(attempt, Inst{.kind = Inst::Kind::Scalar, .dtype = n->dtype, .node = id, .map = none});
    }
    if (f.anchor && id != attempt.placing && f.group == attempt.group) {
        return map == f.map ? f.inst : fail("read at other positions than it is computed at");
    }
    if (const int known = find(groups_[attempt.group], id, map); known >= 0) return known;
    if (walk_.in_memory(n)) return load(attempt, id, map);
    if (n->kind == Kind::Iota) {
        Inst inst{.kind = Inst::Kind::Iota, .dtype = n->dtype, .node = id, .map = map};
        const int axis = static_cast<int>(n->axes);
        for (int d = 0; d < map.dims(); ++d) {
            if (map.coefficient(axis, d) != 0) inst.dims |= 1u << d;
        }
        return add(attempt, std::move(inst));
    }
    if (f.anchor && id != attempt.placing) {
        if (reaches(f.group, attempt.group)) return fail("its inputs need results of the other kernel first");
        attempt.needs.push_back(f.group);
        attempt.reads.push_back(id);
        return load(attempt, id, map);
    }
    if (n->kind == Kind::View && n->view->part < 0)
        return instance(attempt, input(id, 0), through_view(map, *n->view, shape(input(id, 0))));
    return operation(attempt, id, map);
}

int Planner::operation(Attempt& attempt, NodeId id, const Map& map) {
    const Node* n = walk_.nodes[id];
    Inst inst{.kind = Inst::Kind::Op, .dtype = n->dtype, .node = id, .map = map};
    for (int k = 0; k < n->arity; ++k) {
        const NodeId in = input(id, k);
        inst.in[k] = instance(attempt, in, broadcast_input(map, shape(id), shape(in)));
        if (inst.in[k] < 0) return -1;
    }
    inst.cost = graph::op_cost(n->op);
    return add(attempt, std::move(inst));
}

int Planner::store_expression(Attempt& attempt, const Map& map) {
    const NodeId self = store_id();
    const Sizes& to = shape(self);
    const auto read = [&](NodeId id) { return instance(attempt, id, broadcast_input(map, to, shape(id))); };
    int value = read(walk_.value_id);
    if (value < 0) return -1;
    const DType dtype = walk_.target->dtype;
    if (groups_[attempt.group].insts[value].dtype != dtype) {
        value = add(attempt, Inst{.kind = Inst::Kind::Cast, .dtype = dtype, .node = self, .map = map, .in = {value, -1, -1}, .cost = 1});
        if (value < 0) return -1;
    }
    if (walk_.where_id == no_node) return value;
    const int where = read(walk_.where_id);
    if (where < 0) return -1;
    Inst old{.kind = Inst::Kind::Old, .dtype = dtype, .node = self, .map = map};
    old.dims = used_dims(map);
    const int before = add(attempt, std::move(old));
    if (before < 0) return -1;
    return add(attempt, Inst{.kind = Inst::Kind::Blend, .dtype = dtype, .node = self, .map = map, .in = {where, value, before}, .cost = 1});
}

}  // namespace pardo::plan

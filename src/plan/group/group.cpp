// src/plan/group/group.cpp: gives every materialization point a group: an earlier one where index spaces and dependencies allow it, else a
// new one.
#include <algorithm>
#include <functional>

#include "plan/force.h"
#include "plan/group/planner.h"

namespace pardo::plan {

using graph::Kind;
using graph::Node;

namespace {

constexpr int group_outputs = 14;
constexpr int recent_groups = 8;  // groups that a materialization point which needs none of them is offered to
constexpr std::int64_t row_extent = 64, row_count = 16, row_total = 1 << 20;

}  // namespace

const char* name(Strategy strategy) {
    constexpr const char* names[] = {"elementwise", "written-out reduction", "lanes along the reduced axis", "lanes across the kept axis",
                                     "row after row"};
    return names[static_cast<int>(strategy)];
}

Size count_over(const Sizes& domain, std::uint32_t dims) {
    Size count = 1;
    for (int d = 0; d < domain.size(); ++d) {
        if (dims >> d & 1) count *= domain[d];
    }
    return count;
}

Planner::Planner(const Subgraph& subgraph, device::Execution execution)
    : subgraph_(subgraph),
      tuning_(tuning_of(execution)),
      info_(subgraph.nodes.size() + 1),
      fuse_(fusion_enabled()),
      seen_(subgraph.nodes.size() + 1, 0) {
    for (const Node* node : subgraph.nodes) shapes_.push_back(given(node->shape));
    if (subgraph.target) shapes_.push_back(given(subgraph.target->shape));
    if (!subgraph.computed) return;
    for (NodeId id = 0; id < subgraph.nodes.size(); ++id) {
        if (subgraph.computed->contains(subgraph.nodes[id])) info_[id].strides = contiguous_strides(shape(id));
    }
}

void Planner::run() {
    choose_required();
    choose_materialization_points();
    for (NodeId id = 0; id < subgraph_.nodes.size(); ++id) {
        if (info_[id].materialized) place(id);
    }
    if (subgraph_.target) {
        info_[store_id()].materialized = true;
        info_[store_id()].why = "written to";
        place(store_id());
    }
    for (NodeInfo& f : info_) f.stored |= f.materialized && f.required;
    sort_groups();
}

std::vector<int> Planner::candidates(NodeId id) const {
    std::vector<int> found;
    std::vector<NodeId> stack;
    const std::uint32_t mark = ++seen_mark_;
    const auto push = [&](NodeId below) {
        if (seen_[below] == mark) return;
        seen_[below] = mark;
        if (info_[below].materialized) {
            found.push_back(info_[below].group);
        } else {
            stack.push_back(below);
        }
    };
    if (is_store(id)) {
        push(subgraph_.value_id);
        if (subgraph_.where_id != no_node) push(subgraph_.where_id);
    } else {
        for (int k = 0; k < arity(id); ++k) push(input(id, k));
    }
    while (!stack.empty()) {
        const NodeId at = stack.back();
        stack.pop_back();
        for (int k = 0; k < arity(at); ++k) push(input(at, k));
    }
    std::sort(found.begin(), found.end(), std::greater<>());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    const int last = static_cast<int>(groups_.size()) - 1;
    for (int g = last; g >= 0 && g > last - recent_groups; --g) {
        if (std::find(found.begin(), found.end(), g) == found.end()) found.push_back(g);
    }
    return found;
}

void Planner::place(NodeId id) {
    const char* cut = "";
    if (!groups_.empty()) {
        cut = "fusion is off";
        if (fuse_) {
            const std::vector<int> groups = candidates(id);
            for (std::size_t i = 0; i < groups.size(); ++i) {
                if (build(groups[i], id, true)) return;
                if (i == 0) cut = reason_;
            }
        }
    }
    const int fresh = static_cast<int>(groups_.size());
    Group& group = groups_.emplace_back();
    group.cut = cut;
    const bool reduce = !is_store(id) && subgraph_.nodes[id]->kind == Kind::Reduce;
    group.domain = shape(reduce ? input(id, 0) : id);
    if (!build(fresh, id, false)) throw Error(ErrorCode::Internal, std::string("force: planning failed: ") + reason_);
}

bool Planner::build(int group, NodeId id, bool bounded) {
    Attempt attempt;
    attempt.group = group;
    attempt.bounded = bounded;
    attempt.placing = id;
    attempt.values = groups_[group].values.size();
    attempt.loads = groups_[group].loads;
    attempt.reduced = groups_[group].reduced;
    if (bounded && info_[id].required) {
        int outputs = 0;
        for (const NodeId member : groups_[group].members) outputs += info_[member].required;
        if (outputs >= group_outputs) return fail("too many buffers for one kernel") >= 0;
    }
    const bool reduce = !is_store(id) && subgraph_.nodes[id]->kind == Kind::Reduce;
    const bool placed = reduce ? place_reduce(attempt, id) : place_elementwise(attempt, id);
    if (placed) {
        commit(attempt, id);
        return true;
    }
    roll_back(attempt);
    return false;
}

void Planner::roll_back(Attempt& attempt) {
    Group& group = groups_[attempt.group];
    while (group.values.size() > attempt.values) {
        const NodeId id = group.values.back().node;
        if (!is_store(id)) group.by_node[id].pop_back();
        group.values.pop_back();
    }
    group.loads = attempt.loads;
    attempt.needs.clear();
    attempt.reads.clear();
}

void Planner::commit(Attempt& attempt, NodeId id) {
    Group& group = groups_[attempt.group];
    NodeInfo& f = info_[id];
    f.group = attempt.group;
    f.fused = attempt.fused;
    f.level = attempt.level;
    f.map = attempt.map;
    for (const NodeId read : attempt.reads) {
        info_[read].stored = true;
    }
    for (const int need : attempt.needs) {
        if (std::find(group.needs.begin(), group.needs.end(), need) == group.needs.end()) group.needs.push_back(need);
    }
    group.members.push_back(id);
    const bool reduce = group.values[f.fused].kind == FusedValue::Kind::Reduced;
    if (reduce && !group.reduces) {
        group.reduces = true;
        group.reduced = attempt.reduced;
        choose_strategy(group);
    }
}

bool Planner::place_reduce(Attempt& attempt, NodeId id) {
    const Node* n = subgraph_.nodes[id];
    const NodeId in = input(id, 0);
    const Group& group = groups_[attempt.group];
    Map map;
    if (!align(shape(in), group.domain, ~0u, map)) return fail("different index spaces") >= 0;
    std::uint32_t reduced = 0;
    for (int r = 0; r < map.rank(); ++r) {
        if (!(n->reduce().axes >> r & 1)) continue;
        for (int d = 0; d < map.dims(); ++d) {
            if (map.coefficient(r, d) != 0) reduced |= 1u << d;
        }
    }
    if (group.reduces && group.reduced != reduced) return fail("reduces along other axes") >= 0;
    const int operand = instance(attempt, in, map);
    if (operand < 0) return false;
    if (groups_[attempt.group].split && groups_[attempt.group].values[operand].ready > 0) {
        return fail("needs the result of a reduction that is split over blocks") >= 0;
    }
    if (attempt.bounded && groups_[attempt.group].values[operand].ready >= group_loops) {
        return fail("too many reductions on top of each other for one kernel") >= 0;
    }
    const bool arg = n->reduce().op == graph::ReduceOp::ArgMin || n->reduce().op == graph::ReduceOp::ArgMax;
    if (arg && groups_[attempt.group].strategy == Strategy::Rows) return fail("reduces in another order") >= 0;
    for (int r = 0; r < map.rank(); ++r) {
        if (n->reduce().axes >> r & 1) map.clear_row(r);
    }
    FusedValue fused{.kind = FusedValue::Kind::Reduced, .dtype = n->dtype, .node = id, .map = map, .in = {operand, -1, -1}};
    attempt.fused = add(attempt, std::move(fused));
    if (attempt.fused < 0) return false;
    FusedValue& made = groups_[attempt.group].values[attempt.fused];
    made.dims = used_dims(map);
    made.ready += 1;
    made.cost = 0;
    attempt.level = Level::Outer;
    attempt.map = map;
    attempt.reduced = reduced;
    return true;
}

bool Planner::place_elementwise(Attempt& attempt, NodeId id) {
    if (place_at(attempt, id, Level::Full)) return true;
    const Group& group = groups_[attempt.group];
    if (!group.reduces || group.reduced == 0) return false;
    const char* reason = reason_;
    roll_back(attempt);
    if (place_at(attempt, id, Level::Outer)) return true;
    if (reason[0]) reason_ = reason;
    return false;
}

bool Planner::place_at(Attempt& attempt, NodeId id, Level level) {
    const bool kept = level == Level::Outer;
    {
        const Group& group = groups_[attempt.group];
        if (!align(shape(id), group.domain, kept ? ~group.reduced : ~0u, attempt.map)) return fail("different index spaces") >= 0;
    }
    const Map map = attempt.map;
    if (is_store(id)) {
        attempt.fused = store_expression(attempt, map);
    } else if (subgraph_.nodes[id]->kind == Kind::View && subgraph_.nodes[id]->view().part < 0) {
        attempt.fused = instance(attempt, input(id, 0), through_view(map, subgraph_.nodes[id]->view(), shape(input(id, 0))));
    } else {
        attempt.fused = instance(attempt, id, map);
    }
    if (attempt.fused < 0) return false;
    const Group& group = groups_[attempt.group];
    const int ready = group.values[attempt.fused].ready;
    if (kept && ready == 0) return fail("independent of the reduction") >= 0;
    if (!kept && group.split && ready > 0) return fail("needs the result of a reduction that is split over blocks") >= 0;
    attempt.level = level;
    return true;
}

bool Planner::reaches(int from, int to) const {
    if (from == to) return true;
    std::vector<int> stack{from};
    std::vector<bool> seen(groups_.size(), false);
    seen[from] = true;
    while (!stack.empty()) {
        const int at = stack.back();
        stack.pop_back();
        for (const int need : groups_[at].needs) {
            if (need == to) return true;
            if (!seen[need]) {
                seen[need] = true;
                stack.push_back(need);
            }
        }
    }
    return false;
}

bool Planner::has_arg(const Group& group) const {
    return std::any_of(group.values.begin(), group.values.end(), [&](const FusedValue& fused) {
        if (fused.kind != FusedValue::Kind::Reduced) return false;
        const graph::ReduceOp op = node(fused.node)->reduce().op;
        return op == graph::ReduceOp::ArgMin || op == graph::ReduceOp::ArgMax;
    });
}

void Planner::choose_strategy(Group& group) const {
    const Size reduced = count_over(group.domain, group.reduced), kept = count_over(group.domain, ~group.reduced);
    // Each load votes, by its size, for the dim along which it is contiguous.
    Size along = 0, across = 0;
    Size innermost = 1, row = 1;  // extents of the reduced and of the kept dim that got votes
    for (const FusedValue& fused : group.values) {
        if (fused.kind != FusedValue::Kind::Load) continue;
        const bool in_memory = node(fused.node)->in_memory();
        const Steps steps = steps_of(fused.map, in_memory ? strides(fused.node) : contiguous_strides(shape(fused.node)));
        int best = -1;
        Size size = 1;
        for (int d = 0; d < group.domain.size(); ++d) {
            if (group.domain[d] == 1 || steps.dims[d] == 0) continue;
            size *= group.domain[d];
            if (best < 0 || abs(steps.dims[d]) <= abs(steps.dims[best])) best = d;
        }
        if (best < 0) continue;
        if (group.reduced >> best & 1) {
            along += size;
            innermost = max(innermost, group.domain[best]);
        } else {
            across += size;
            row = max(row, group.domain[best]);
        }
    }
    if (along == 0 && across == 0) {
        along = 1;
        innermost = reduced;
    }
    if (group.reduced == 0 || (reduced <= tuning_.unroll_count && kept >= tuning_.unroll_kept && reduced > 0)) {
        group.strategy = Strategy::Unrolled;
    } else if (kept == 1 || (along >= across && (innermost >= tuning_.lanes_extent || kept < tuning_.lanes_kept))) {
        group.strategy = Strategy::InnerLanes;
        group.split = kept < tuning_.split_items && reduced >= tuning_.split_count;
    } else if (tuning_.rows && row >= row_extent && reduced >= row_count && reduced * kept >= row_total && !has_arg(group)) {
        group.strategy = Strategy::Rows;
        group.split = true;
    } else {
        group.strategy = Strategy::OuterLanes;
        group.split = reduced >= tuning_.column_rows ||
                      (kept < tuning_.column_items && reduced >= tuning_.column_split_rows && reduced * kept >= tuning_.column_split_total);
    }
    if (kept == 0) group.split = false;
}

void Planner::sort_groups() {
    const int count = static_cast<int>(groups_.size());
    std::vector<std::uint8_t> state(count, 0);
    std::vector<std::pair<int, std::size_t>> stack;
    for (int g = 0; g < count; ++g) {
        if (state[g]) continue;
        state[g] = 1;
        stack.push_back({g, 0});
        while (!stack.empty()) {
            auto& [at, next] = stack.back();
            if (next == groups_[at].needs.size()) {
                order_.push_back(at);
                stack.pop_back();
                continue;
            }
            const int need = groups_[at].needs[next++];
            if (!state[need]) {
                state[need] = 1;
                stack.push_back({need, 0});
            }
        }
    }
}

}  // namespace pardo::plan

// src/plan/schedule/schedule.cpp: a group as one or two loop nests: order and merging of dims, memory accesses, what runs in which loop.
#include "plan/schedule/schedule.h"

#include <algorithm>
#include <cmath>

#include "graph/axis_order.h"

namespace pardo::plan {

using graph::Node;
using graph::ReduceOp;

namespace {

constexpr std::int64_t block_rows = 256, row_tile = 2048;
constexpr std::int64_t tile_elements = 16384, tile_rows = 32, tile_step = 4;
constexpr std::int64_t unrolled_extent = 4;  // a shorter innermost kept dim is written out, and leaves the lanes to the next one

using Stage = KernelPlan::Stage;

int votes_for_outer(const KernelPlan& kernel, int a, int b) {
    int votes = 0;
    for (const MemoryAccess& access : kernel.accesses) {
        if (access.kind == MemoryAccess::Kind::Index) continue;
        const Size sa = abs(access.steps.dims[a]), sb = abs(access.steps.dims[b]);
        if (sa == 0 || sb == 0 || sa == sb) continue;
        const int weight = access.mode == ir::Access::Read ? 1 : kernel.strategy == Strategy::Elementwise ? 100 : 2;
        votes += sa > sb ? weight : -weight;
    }
    return votes;
}

/// Row-major steps over some dims of a group's domain; zero for the other ones.
Sizes steps_over(const Group& group, std::uint32_t dims) {
    Sizes steps(group.domain.size(), 0);
    Size step = 1;
    for (int d = group.domain.size() - 1; d >= 0; --d) {
        if (group.domain[d] == 1 || !(dims >> d & 1)) continue;
        steps[d] = step;
        step *= group.domain[d];
    }
    return steps;
}

/// Positions of extrema are row-major, as NumPy's.
bool is_position(const Node* node) { return node->kind == graph::Kind::Reduce && is_arg(node->reduce().op); }

bool mergeable(const KernelPlan& kernel, int outer, int inner, Size inner_extent) {
    for (const MemoryAccess& access : kernel.accesses) {
        if (access.steps.dims[outer] != access.steps.dims[inner] * inner_extent) return false;
    }
    return true;
}

}  // namespace

int KernelPlan::loops() const {
    int count = 0;
    for (const Reduction& r : reductions) count = std::max(count, r.loop + 1);
    for (const Store& s : stores) {
        if (s.level == Level::Full) count = std::max(count, s.loop + 1);
    }
    return count;
}

Size KernelPlan::elements() const {
    Size count = 1;
    for (const Size extent : extents) count *= extent;
    for (const Block& b : blocks) count /= max(1, extents[b.counter]);
    return count;
}

bool is_arg(ReduceOp op) { return op == ReduceOp::ArgMin || op == ReduceOp::ArgMax; }

DType reduction_dtype(const Node* node) {
    if (is_arg(node->reduce().op)) {
        const DType dtype = node->inputs[0]->dtype;
        return dtype == DType::Bool ? DType::UInt8 : dtype;
    }
    if (node->reduce().op == ReduceOp::Any || node->reduce().op == ReduceOp::All) return DType::Bool;
    if (node->reduce().accumulate == DType::Bool && (node->reduce().op == ReduceOp::Min || node->reduce().op == ReduceOp::Max))
        return DType::UInt8;
    return node->reduce().accumulate;
}

std::vector<bool> closure(const Group& group, const std::vector<int>& targets, const std::vector<int>& leaves) {
    std::vector<bool> in(group.values.size(), false);
    for (const int t : targets) in[t] = true;
    for (int i = static_cast<int>(group.values.size()) - 1; i >= 0; --i) {
        if (!in[i] || group.values[i].kind == FusedValue::Kind::Reduced) continue;
        if (std::find(leaves.begin(), leaves.end(), i) != leaves.end()) continue;
        for (const int operand : group.values[i].in) {
            if (operand >= 0) in[operand] = true;
        }
    }
    return in;
}

std::vector<bool> LoopScheduler::needed(const KernelPlan& kernel) const {
    const Group& group = planner_.groups()[kernel.group];
    std::vector<int> targets;
    for (const Store& s : kernel.stores) targets.push_back(s.fused);
    if (kernel.stage != Stage::Combine) {
        for (const Reduction& r : kernel.reductions) targets.push_back(group.values[r.fused].in[0]);
    }
    return closure(group, targets);
}

bool LoopScheduler::run() {
    for (const int g : planner_.order()) {
        Group& group = planner_.groups()[g];
        choose_layouts(group);
        std::vector<Stage> stages{Stage::Whole};
        if (group.split) stages = {Stage::Blocks, Stage::Combine};
        partial_of_.clear();
        for (const Stage stage : stages) {
            KernelPlan kernel = draft(g, stage);
            add_loads(kernel);
            if (!resolve_target(kernel)) return false;
            std::vector<Dim> dims;
            for (int d = 0; d < group.domain.size(); ++d) {
                if (group.domain[d] == 1) continue;
                const bool reduced = group.reduced >> d & 1;
                if (stage != Stage::Combine || !reduced) dims.push_back({group.domain[d], reduced, 1u << d});
            }
            if (stage == Stage::Combine) dims.push_back({blocks_, true, 0});
            make_loops(kernel, dims);
            arrange(kernel);
            if (stage == Stage::Blocks) group.strategy == Strategy::Rows ? split_rows(kernel) : split_blocks(kernel);
            if (kernel.strategy == Strategy::Elementwise) tile(kernel);
            finish(kernel);
            if (!kernel.stores.empty() || !kernel.reductions.empty()) kernels_.push_back(std::move(kernel));
        }
    }
    return true;
}

void LoopScheduler::choose_layouts(const Group& group) {
    // NumPy's K order: fresh outputs take the order of dims that the inputs have; where these differ, row-major wins.
    const int dims = group.domain.size();
    std::vector<Steps> loads;
    for (const FusedValue& fused : group.values) {
        if (fused.kind == FusedValue::Kind::Load) loads.push_back(steps_of(fused.map, planner_.strides(fused.node)));
    }
    const auto step = [&](int k, int d) { return group.domain[d] == 1 ? Size(0) : abs(loads[static_cast<std::size_t>(k)].dims[d]); };
    const SmallVector<int, 8> order = graph::axes_outermost_first(dims, static_cast<int>(loads.size()), step);
    const bool plain = std::is_sorted(order.begin(), order.end());
    for (const NodeId id : group.members) {
        NodeInfo& f = planner_.info(id);
        if (planner_.is_store(id)) {
            f.strides = given(planner_.subgraph().target->strides);
            continue;
        }
        f.strides = contiguous_strides(planner_.shape(id));
        if (plain || is_position(planner_.node(id))) continue;
        Size step = 1;
        for (int i = dims - 1; i >= 0; --i) {
            for (int r = 0; r < f.map.rank(); ++r) {
                if (f.map.coefficient(r, order[i]) == 0) continue;
                f.strides[r] = step;
                step *= planner_.shape(id)[r];
            }
        }
    }
}

KernelPlan LoopScheduler::draft(int g, Stage stage) {
    const Group& group = planner_.groups()[g];
    KernelPlan kernel;
    kernel.group = g;
    kernel.stage = stage;
    kernel.strategy = group.strategy;
    if (stage == Stage::Combine && group.strategy == Strategy::Rows) kernel.strategy = Strategy::OuterLanes;
    if (stage == Stage::Combine && group.strategy == Strategy::OuterLanes) {
        const bool few = count_over(group.domain, ~group.reduced) < planner_.tuning().combined_columns;
        if (few) kernel.strategy = Strategy::InnerLanes;
    }
    kernel.access_of.assign(group.values.size(), -1);
    if (stage == Stage::Blocks) make_partials(group);
    for (const NodeId id : group.members) {
        const FusedValue& fused = group.values[planner_.info(id).fused];
        if (fused.kind == FusedValue::Kind::Reduced && fused.node == id) add_reduction(kernel, id);
        add_store(kernel, id);
    }
    return kernel;
}

void LoopScheduler::make_partials(const Group& group) {
    for (const NodeId id : group.members) {
        const FusedValue& fused = group.values[planner_.info(id).fused];
        if (fused.kind != FusedValue::Kind::Reduced || fused.node != id) continue;  // a view of one has its value, and no part in it
        const Node* n = planner_.node(id);
        std::array<int, 2> own{static_cast<int>(partials_.size()), -1};
        partials_.push_back({reduction_dtype(n), 0});
        if (is_arg(n->reduce().op)) {
            own[1] = static_cast<int>(partials_.size());
            partials_.push_back({DType::Int64, 0});
        }
        partial_of_.push_back({id, own});
    }
}

void LoopScheduler::add_reduction(KernelPlan& kernel, NodeId id) {
    const Group& group = planner_.groups()[kernel.group];
    const NodeInfo& f = planner_.info(id);
    const bool combines = kernel.stage == Stage::Combine;
    Reduction r{.node = id, .fused = f.fused, .loop = combines ? 0 : group.values[f.fused].ready - 1};
    if (is_arg(planner_.node(id)->reduce().op) && !combines) {
        // Positions count the reduced elements in row-major order.
        MemoryAccess position{.kind = MemoryAccess::Kind::Index, .dtype = DType::Int64, .node = id};
        position.steps.dims = steps_over(group, group.reduced);
        r.position = add_access(kernel, std::move(position));
    }
    for (const auto& [owner, own] : partial_of_) {
        if (owner != id) continue;
        for (int k = 0; k < 2; ++k) {
            if (own[k] >= 0) r.partial[k] = add_access(kernel, partial_access(kernel, own[k]));
        }
    }
    kernel.reductions.push_back(r);
}

MemoryAccess LoopScheduler::partial_access(const KernelPlan& kernel, int number) const {
    const Group& group = planner_.groups()[kernel.group];
    MemoryAccess partial{.kind = MemoryAccess::Kind::Partial, .dtype = partials_[number].dtype, .partial = number};
    partial.steps.dims = steps_over(group, ~group.reduced);
    if (kernel.stage == Stage::Combine) {
        // With lanes along the reduced axis the results of one element's blocks are adjacent, else block after block.
        const bool along = group.strategy == Strategy::InnerLanes;
        for (Size& step : partial.steps.dims) step *= along ? blocks_ : 1;
        partial.steps.dims.push_back(along ? 1 : count_over(group.domain, ~group.reduced));
    } else {
        partial.mode = group.strategy == Strategy::Rows ? ir::Access::ReadWrite : ir::Access::Write;
    }
    return partial;
}

void LoopScheduler::add_store(KernelPlan& kernel, NodeId id) {
    const NodeInfo& f = planner_.info(id);
    if (!f.stored && !planner_.is_store(id)) return;
    if (kernel.stage == Stage::Blocks && f.level == Level::Outer) return;
    if (kernel.stage == Stage::Combine && f.level == Level::Full) return;
    const FusedValue& fused = planner_.groups()[kernel.group].values[f.fused];
    const bool reduced = fused.kind == FusedValue::Kind::Reduced && fused.node == id;
    MemoryAccess out{.mode = ir::Access::Write, .dtype = planner_.node(id)->dtype, .node = id};
    out.steps = steps_of(f.map, f.strides);
    if (planner_.is_store(id)) out.steps.offset = 0;
    const int access = add_access(kernel, std::move(out));
    kernel.stores.push_back(
        {.node = id, .fused = f.fused, .access = access, .loop = reduced ? fused.ready - 1 : fused.ready, .level = f.level});
}

int LoopScheduler::add_access(KernelPlan& kernel, MemoryAccess access) const {
    access.steps.dims.resize(planner_.groups()[kernel.group].domain.size() + (kernel.stage == Stage::Combine ? 1 : 0), 0);
    kernel.accesses.push_back(std::move(access));
    return static_cast<int>(kernel.accesses.size()) - 1;
}

void LoopScheduler::add_loads(KernelPlan& kernel) {
    const Group& group = planner_.groups()[kernel.group];
    const std::vector<bool> in = needed(kernel);
    for (int i = 0; i < static_cast<int>(group.values.size()); ++i) {
        const FusedValue& fused = group.values[i];
        if (!in[i]) continue;
        MemoryAccess access{.dtype = fused.dtype, .node = fused.node};
        if (fused.kind == FusedValue::Kind::Load) {
            access.steps = steps_of(fused.map, planner_.strides(fused.node));
        } else if (fused.kind == FusedValue::Kind::Iota) {
            access.kind = MemoryAccess::Kind::Index;
            const int axis = planner_.node(fused.node)->axis();
            for (int d = 0; d < fused.map.dims(); ++d) access.steps.dims.push_back(fused.map.coefficient(axis, d));
            access.steps.offset = fused.map.offset(axis);
        } else {
            continue;
        }
        kernel.access_of[i] = add_access(kernel, std::move(access));
    }
}

bool LoopScheduler::resolve_target(KernelPlan& kernel) {
    const Subgraph& subgraph = planner_.subgraph();
    if (!subgraph.target) return true;
    int target = -1;
    for (const Store& s : kernel.stores) {
        if (planner_.is_store(s.node)) target = s.access;
    }
    if (target < 0) return true;
    const Group& group = planner_.groups()[kernel.group];
    for (int i = 0; i < static_cast<int>(group.values.size()); ++i) {
        const FusedValue& fused = group.values[i];
        if (fused.kind == FusedValue::Kind::Old) {
            kernel.access_of[i] = target;
            kernel.accesses[target].mode = ir::Access::ReadWrite;
        }
        if (fused.kind != FusedValue::Kind::Load || kernel.access_of[i] < 0 || planner_.is_store(fused.node)) continue;
        const std::uint8_t flags = subgraph.flags[fused.node];
        if (!(flags & (Subgraph::Same | Subgraph::Overlaps))) continue;
        if ((flags & Subgraph::Overlaps) || !(kernel.accesses[kernel.access_of[i]].steps == kernel.accesses[target].steps)) return false;
        kernel.access_of[i] = target;  // one pointer for both; the load's own access stays unused
        kernel.accesses[target].mode = ir::Access::ReadWrite;
    }
    // Drop accesses that nothing uses any more.
    std::vector<int> place(kernel.accesses.size(), -1);
    std::vector<MemoryAccess> used;
    const auto keep = [&](int& at) {
        if (at < 0) return;
        if (place[at] < 0) {
            place[at] = static_cast<int>(used.size());
            used.push_back(kernel.accesses[at]);
        }
        at = place[at];
    };
    for (Reduction& r : kernel.reductions) {
        keep(r.position);
        keep(r.partial[0]);
        keep(r.partial[1]);
    }
    for (Store& s : kernel.stores) keep(s.access);
    for (int& at : kernel.access_of) keep(at);
    kernel.accesses = std::move(used);
    return true;
}

/// One loop a dim: those that are kept, the kernel's range, before those that are reduced.
void LoopScheduler::make_loops(KernelPlan& kernel, const std::vector<Dim>& dims) const {
    // Columns of the accesses' steps: domain dims; in Combine the last one counts blocks.
    const int columns = kernel.accesses.empty() ? 0 : kernel.accesses[0].steps.dims.size();
    SmallVector<int, 8> column_of;
    std::vector<std::uint32_t> members;
    // Nothing to reduce: then no loop around nothing runs either, however long.
    const bool nothing = std::any_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.reduced && dim.extent == 0; });
    for (const bool reduced : {false, true}) {
        for (const Dim& dim : dims) {
            if (dim.reduced != reduced) continue;
            int column = columns - 1;
            for (int d = 0; d < 32; ++d) {
                if (dim.member == 1u << d) column = d;
            }
            column_of.push_back(column);
            members.push_back(dim.member);
            kernel.extents.push_back(reduced && nothing ? Size(0) : dim.extent);
        }
        if (!reduced) kernel.range = kernel.extents.size();
    }
    for (MemoryAccess& access : kernel.accesses) {
        Sizes steps;
        for (const int column : column_of) steps.push_back(access.steps.dims[column]);
        access.steps.dims = std::move(steps);
    }
    const Group& group = planner_.groups()[kernel.group];
    kernel.loop_dims.assign(group.values.size(), 0);
    for (std::size_t i = 0; i < group.values.size(); ++i) {
        for (std::size_t l = 0; l < members.size(); ++l) {
            if (group.values[i].dims & members[l]) kernel.loop_dims[i] |= 1u << l;
        }
    }
}

/// Orders and merges loops, and says what runs across lanes.
void LoopScheduler::arrange(KernelPlan& kernel) const {
    using Kind = ScheduleStep::Kind;
    SmallVector<int, 8> order;
    for (int l = 0; l < kernel.extents.size(); ++l) order.push_back(l);
    const auto sort = [&](int first, int end) {
        for (int i = first + 1; i < end; ++i) {
            for (int k = i; k > first && votes_for_outer(kernel, order[k], order[k - 1]) > 0; --k) std::swap(order[k], order[k - 1]);
        }
    };
    const bool fixed = std::any_of(kernel.reductions.begin(), kernel.reductions.end(), [](const Reduction& r) { return r.by_position(); });
    sort(0, kernel.range);
    if (!fixed) sort(kernel.range, order.size());
    if (!std::is_sorted(order.begin(), order.end())) apply(kernel, {.kind = Kind::Reorder, .order = order});
    const auto merge = [&](int first, const auto& end) {
        for (int at = first; at + 1 < end();) {
            if (mergeable(kernel, at, at + 1, kernel.extents[at + 1])) {
                apply(kernel, {.kind = Kind::Merge, .at = at});
            } else {
                ++at;
            }
        }
    };
    merge(0, [&] { return kernel.range; });
    merge(kernel.range, [&] { return kernel.extents.size(); });
    const bool rows = kernel.strategy == Strategy::Rows;
    const int kept = kernel.range, last = kept - 1;
    if (rows) {
        apply(kernel, {.kind = Kind::Inside, .at = last});
    } else if (kept > 0 && kernel.strategy != Strategy::InnerLanes) {
        const bool short_last = kept >= 2 && kernel.extents[last] <= unrolled_extent && kernel.extents[last - 1] >= 8;
        if (short_last && kernel.stage == Stage::Whole) apply(kernel, {.kind = Kind::Unroll, .at = last});
        apply(kernel, {.kind = Kind::Lanes, .at = kernel.range - 1});
    }
    if (kept == 0 && !rows) apply(kernel, {.kind = Kind::Single});
    if (kernel.strategy == Strategy::InnerLanes && kernel.inner() < kernel.extents.size())
        apply(kernel, {.kind = Kind::Lanes, .at = kernel.extents.size() - 1});
}

void LoopScheduler::split_blocks(KernelPlan& kernel) {
    const Group& group = planner_.groups()[kernel.group];
    const Tuning& tuning = planner_.tuning();
    const bool along = group.strategy == Strategy::InnerLanes;
    const int first = kernel.inner();
    Size reduced = 1, kept = 1;
    for (int d = 0; d < kernel.extents.size(); ++d) (d < first ? kept : reduced) *= kernel.extents[d];
    int blocked = first;
    for (int d = first; d < kernel.extents.size(); ++d) {
        if (kernel.extents[d] > kernel.extents[blocked]) blocked = d;
    }
    const Size extent = kernel.extents[blocked], rest = reduced / extent, elements = tuning.block_elements;
    const Size large = (reduced / tuning.most_blocks + elements - 1) / elements;
    const Size rows = max(max(tuning.column_block_rows, elements / kept), reduced * kept / tuning.column_most_items);
    const Size wanted = along ? elements * max(large, 1) : rows;
    const int counter = along ? kernel.range : kernel.range - 1;
    apply(kernel, {.kind = ScheduleStep::Kind::Split, .at = blocked, .counter = counter, .length = min(max(wanted / rest, 1), extent)});
    blocks_ = kernel.extents[counter];
    for (MemoryAccess& access : kernel.accesses) {
        if (access.kind != MemoryAccess::Kind::Partial) continue;
        for (Size& step : access.steps.dims) step *= along ? blocks_ : 1;
        access.steps.dims[kernel.blocks[0].counter] = along ? 1 : kept;
    }
    for (const auto& [owner, own] : partial_of_) {
        for (const int p : own) {
            if (p >= 0) partials_[p].count = kept * blocks_;
        }
    }
}

void LoopScheduler::split_rows(KernelPlan& kernel) {
    // Range: blocks of rows, outer kept dims, tiles of a row. Inner: reduced dims, then the row.
    Size kept = 1, rest = 1;
    const int row = kernel.extents.size() - 1;
    int blocked = kernel.range;
    for (int d = kernel.range; d < row; ++d) {
        if (kernel.extents[d] > kernel.extents[blocked]) blocked = d;
    }
    for (int d = 0; d < kernel.extents.size(); ++d) {
        if (d < kernel.range || d == row) kept *= kernel.extents[d];
        if (d >= kernel.range && d < row && d != blocked) rest *= kernel.extents[d];
    }
    using Kind = ScheduleStep::Kind;
    const std::int64_t tile = row_tile / static_cast<std::int64_t>(kernel.reductions.size());
    apply(kernel, {.kind = Kind::Split, .at = row, .counter = kernel.range, .length = tile});
    const int block = blocked + 1;
    const Size length = min(max(Size(block_rows) / rest, 1), kernel.extents[block]);
    apply(kernel, {.kind = Kind::Split, .at = block, .counter = 0, .length = length});
    blocks_ = kernel.extents[0];
    for (MemoryAccess& access : kernel.accesses) {
        if (access.kind == MemoryAccess::Kind::Partial) access.steps.dims[0] = kept;
    }
    for (const auto& [owner, own] : partial_of_) partials_[own[0]].count = kept * blocks_;
}

void LoopScheduler::tile(KernelPlan& kernel) const {
    // An input that lies across the lanes is read in cache lines along another dim: a short serial loop over that one uses them up.
    if (kernel.unrolled || kernel.range < 2 || kernel.elements() < tile_elements) return;
    const int lanes = kernel.range - 1;
    int along = -1;
    for (const MemoryAccess& access : kernel.accesses) {
        if (access.kind != MemoryAccess::Kind::Memory || abs(access.steps.dims[lanes]) < tile_step) continue;
        for (int d = 0; d < lanes; ++d) {
            if (abs(access.steps.dims[d]) == 1 && kernel.extents[d] >= tile_rows) along = d;
        }
    }
    if (along < 0) return;
    apply(kernel, {.kind = ScheduleStep::Kind::Tile, .at = along, .length = tile_rows});
}

void LoopScheduler::find_keeps(KernelPlan& kernel) {
    // Softmax: exp is computed for the sum, kept in the output's row, and scaled there.
    if (kernel.stage != Stage::Whole || kernel.loops() < 2 || kernel.unrolled) return;
    if (kernel.strategy != Strategy::InnerLanes && kernel.strategy != Strategy::OuterLanes) return;
    const Group& group = planner_.groups()[kernel.group];
    std::vector<std::vector<bool>> in;
    for (int loop = 0; loop < kernel.loops(); ++loop) {
        std::vector<int> targets;
        for (const Reduction& r : kernel.reductions) {
            if (r.loop == loop) targets.push_back(group.values[r.fused].in[0]);
        }
        for (const Store& s : kernel.stores) {
            if (s.level == Level::Full && s.loop == loop) targets.push_back(s.fused);
        }
        in.push_back(closure(group, targets));
    }
    std::uint32_t wide = 0;
    for (int d = 0; d < group.domain.size(); ++d) {
        if (group.domain[d] != 1) wide |= 1u << d;
    }
    for (const Store& s : kernel.stores) {
        if (s.level != Level::Full || planner_.is_store(s.node)) continue;
        // An output of an earlier loop is read back where it is needed again.
        for (int to = s.loop + 1; to < kernel.loops(); ++to) {
            if (in[to][s.fused] && group.values[s.fused].kind == FusedValue::Kind::Op) {
                kernel.spills.push_back({.fused = s.fused, .access = s.access, .from = s.loop, .to = to, .write = false});
                kernel.accesses[s.access].mode = ir::Access::ReadWrite;
            }
        }
        // The most expensive value that this loop shares with an earlier one waits in the output's memory.
        int best = -1, from = 0;
        for (int i = 0; i < static_cast<int>(group.values.size()); ++i) {
            const FusedValue& fused = group.values[i];
            if (fused.kind != FusedValue::Kind::Op || fused.dtype != kernel.accesses[s.access].dtype || fused.dims != wide || i == s.fused)
                continue;
            if (fused.cost < planner_.tuning().worth_spilling || !in[s.loop][i] || (best >= 0 && fused.cost <= group.values[best].cost))
                continue;
            for (int loop = 0; loop < s.loop; ++loop) {
                if (!in[loop][i]) continue;
                best = i;
                from = loop;
                break;
            }
        }
        const bool taken = std::any_of(kernel.spills.begin(), kernel.spills.end(), [&](const KernelPlan::Spill& k) {
            return k.access == s.access || (k.fused == best && k.to == s.loop);
        });
        if (best < 0 || taken) continue;
        for (int to = from + 1; to <= s.loop; ++to) {
            if (in[to][best]) kernel.spills.push_back({.fused = best, .access = s.access, .from = from, .to = to, .write = true});
        }
        kernel.accesses[s.access].mode = ir::Access::ReadWrite;
    }
}

}  // namespace pardo::plan

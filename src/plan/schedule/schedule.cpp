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
bool is_position(const Node* node) { return node->kind == graph::Kind::Reduce && is_arg(node->reduce); }

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
    if (is_arg(node->reduce)) {
        const DType dtype = node->inputs[0]->dtype;
        return dtype == DType::Bool ? DType::UInt8 : dtype;
    }
    if (node->reduce == ReduceOp::Any || node->reduce == ReduceOp::All) return DType::Bool;
    if (node->accumulate == DType::Bool && (node->reduce == ReduceOp::Min || node->reduce == ReduceOp::Max)) return DType::UInt8;
    return node->accumulate;
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
            arrange(kernel, dims);
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
    kernel.strategy = group.strategy == Strategy::Rows && stage == Stage::Combine ? Strategy::OuterLanes : group.strategy;
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
        if (group.values[planner_.info(id).fused].kind != FusedValue::Kind::Reduced) continue;
        const Node* n = planner_.node(id);
        std::array<int, 2> own{static_cast<int>(partials_.size()), -1};
        partials_.push_back({reduction_dtype(n), 0});
        if (is_arg(n->reduce)) {
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
    if (is_arg(planner_.node(id)->reduce) && !combines) {
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
            const int axis = static_cast<int>(planner_.node(fused.node)->axes);
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

void LoopScheduler::arrange(KernelPlan& kernel, const std::vector<Dim>& dims) {
    // Columns of the accesses' steps: domain dims; in Combine the last one counts blocks.
    const int columns = kernel.accesses.empty() ? 0 : kernel.accesses[0].steps.dims.size();
    struct Loop {
        Dim dim;
        int column;
    };
    std::vector<Loop> kept, reduced;
    for (const Dim& dim : dims) {
        int column = columns - 1;
        for (int d = 0; d < 32; ++d) {
            if (dim.members == 1u << d) column = d;
        }
        (dim.reduced ? reduced : kept).push_back({dim, column});
    }
    const bool fixed = std::any_of(kernel.reductions.begin(), kernel.reductions.end(), [](const Reduction& r) { return r.by_position(); });
    const auto order = [&](std::vector<Loop>& loops) {
        for (std::size_t i = 1; i < loops.size(); ++i) {
            for (std::size_t k = i; k > 0 && votes_for_outer(kernel, loops[k].column, loops[k - 1].column) > 0; --k) {
                std::swap(loops[k], loops[k - 1]);
            }
        }
    };
    const auto merge = [&](std::vector<Loop>& loops) {
        std::vector<Loop> merged;
        for (const Loop& loop : loops) {
            if (!merged.empty() && mergeable(kernel, merged.back().column, loop.column, loop.dim.extent)) {
                merged.back().column = loop.column;
                merged.back().dim.extent *= loop.dim.extent;
                merged.back().dim.members |= loop.dim.members;
            } else {
                merged.push_back(loop);
            }
        }
        loops = std::move(merged);
    };
    // Nothing to reduce: then no loop around nothing runs either, however long.
    const auto ends = [](const Loop& loop) { return loop.dim.extent == 0; };
    if (std::any_of(reduced.begin(), reduced.end(), ends)) {
        for (Loop& loop : reduced) loop.dim.extent = 0;
    }
    order(kept);
    if (!fixed) order(reduced);
    merge(kept);
    merge(reduced);
    const bool rows = kernel.strategy == Strategy::Rows;
    kernel.lanes = kernel.strategy != Strategy::InnerLanes && !rows && !kept.empty();
    const std::size_t last = kept.empty() ? 0 : kept.size() - 1;
    kernel.unrolled = kernel.lanes && kept.size() >= 2 && kept[last].dim.extent <= unrolled_extent && kept[last - 1].dim.extent >= 8 &&
                      kernel.stage == Stage::Whole;
    std::vector<Loop> loops = kept;
    kernel.range = static_cast<int>(kept.size()) - kernel.unrolled;
    if (rows) {
        reduced.push_back(kept.back());
        loops.pop_back();
        --kernel.range;
    }
    if (loops.empty() && !rows) {  // one item
        loops.push_back({{1, false, 0}, -1});
        kernel.range = 1;
    }
    loops.insert(loops.end(), reduced.begin(), reduced.end());
    for (const Loop& loop : loops) kernel.extents.push_back(loop.dim.extent);
    for (MemoryAccess& access : kernel.accesses) {
        Sizes steps;
        for (const Loop& loop : loops) steps.push_back(loop.column < 0 ? 0 : access.steps.dims[loop.column]);
        access.steps.dims = std::move(steps);
    }
    const Group& group = planner_.groups()[kernel.group];
    kernel.loop_dims.assign(group.values.size(), 0);
    for (std::size_t i = 0; i < group.values.size(); ++i) {
        for (std::size_t l = 0; l < loops.size(); ++l) {
            if (group.values[i].dims & loops[l].dim.members) kernel.loop_dims[i] |= 1u << l;
        }
    }
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
    const Size wanted = along ? elements * max(large, 1) : max(tuning.column_block_rows, elements / kept);
    blocks_ = add_block(kernel, along ? kernel.range : kernel.range - 1, blocked, min(max(wanted / rest, 1), extent));
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
    add_block(kernel, kernel.range, row, row_tile / static_cast<std::int64_t>(kernel.reductions.size()));
    blocks_ = add_block(kernel, 0, blocked + 1, min(max(Size(block_rows) / rest, 1), kernel.extents[blocked + 1]));
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
    // The dim moves after the range; what is left of it there counts blocks.
    const Size extent = kernel.extents[along];
    kernel.extents.push_back(extent);
    kernel.extents[along] = (extent + tile_rows - 1) / tile_rows;
    const int inner = kernel.extents.size() - 1;
    for (MemoryAccess& access : kernel.accesses) {
        access.steps.dims.push_back(access.steps.dims[along]);
        access.steps.dims[along] = 0;
    }
    for (std::uint32_t& mask : kernel.loop_dims) {
        if (mask >> along & 1) mask = (mask & ~(1u << along)) | 1u << inner;
    }
    kernel.blocks.push_back({along, inner, tile_rows});
}

Size LoopScheduler::add_block(KernelPlan& kernel, int at, int dim, Size length) const {
    const Size count = (kernel.extents[dim] + length - 1) / length;
    kernel.extents.insert(at, count);
    ++kernel.range;
    for (KernelPlan::Block& b : kernel.blocks) {
        b.counter += b.counter >= at;
        b.dim += b.dim >= at;
    }
    kernel.blocks.push_back({at, dim + (dim >= at), length});
    for (MemoryAccess& access : kernel.accesses) access.steps.dims.insert(at, 0);
    for (std::uint32_t& mask : kernel.loop_dims) {
        const std::uint32_t low = (1u << at) - 1;
        mask = (mask & low) | (mask & ~low) << 1;
    }
    return count;
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

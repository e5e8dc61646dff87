// src/plan/group/materialization.cpp: which values get memory, and which are worth a place of their own in a group instead of being
// computed where they are read.
#include <algorithm>
#include <numeric>
#include <utility>

#include "graph/recipes.h"
#include "plan/force.h"
#include "plan/group/planner.h"

namespace pardo::plan {

using graph::Kind;
using graph::Node;

namespace {

// In units of one addition, for one element.
constexpr double worth_storing = 7;   // recomputing costs more than a write and the reads
constexpr double worth_hoisting = 4;  // a division; cheaper values are recomputed for each element they are broadcast to
constexpr std::int64_t broadcast_ratio = 4, broadcast_size = 4096;
constexpr int inlined_operations = 256, inlined_loads = 32;  // longer expressions are cut here

bool cheap_source(const Node* node) { return node->kind == Kind::Constant || node->kind == Kind::Iota; }

/// A view that gets memory, where its elements were if what it shows had row-major memory.
struct ShownPart {
    NodeId view, source;
    Sizes shape, strides;
    Strides factors;  // of which the strides are multiples for all sizes
    Size offset = 0;
};
std::int64_t factor_of(Size size) { return size.literal() ? size.value() : 1; }
ShownPart shown_part(const Subgraph& subgraph, NodeId view) {
    const Node* node = subgraph.nodes[view];
    const int rank = node->shape.size();
    if (node->kind != Kind::View) {
        ShownPart whole{view, view, given(node->shape), {}, Strides(rank, 1)};
        whole.strides = contiguous_strides(whole.shape);
        return whole;
    }
    const ShownPart base = shown_part(subgraph, node->inputs[0]->index);
    const graph::ViewMap& map = node->view();  // as its place()
    ShownPart part{view, base.source, given(node->shape), Sizes(rank, 0), Strides(rank, 0), base.offset};
    for (int d = 0; d < map.offsets.size(); ++d) part.offset += Size::given(map.offsets[d]) * base.strides[d];
    for (const graph::ViewMap::Term& term : map.terms) {
        const Size step = Size::given(term.step);
        part.strides[term.source] += step * base.strides[term.base_dim];
        std::int64_t& factor = part.factors[term.source];
        factor = std::gcd(factor, factor_of(step) * base.factors[term.base_dim]);
    }
    if (map.part < 0) return part;
    for (int d = 0; d < rank; ++d) part.strides[d] *= 2, part.factors[d] *= 2;  // complex elements are pairs in memory
    part.offset = part.offset * 2 + map.part;
    return part;
}

/// The bytes from the first element to behind the last; empty where there are none.
struct Bytes {
    Size begin, end;
};
Bytes bytes_of(const ShownPart& part, Size item) {
    Size low = part.offset * item, high = low;
    for (int d = 0; d < part.shape.size(); ++d) {
        if (part.shape[d] == 0) return {0, 0};
        (part.strides[d] < 0 ? low : high) += (part.shape[d] - 1) * part.strides[d] * item;
    }
    return {low, high + item};
}

/// True when elements of both lie on one grid at places that never meet: x[0::2] and x[1::2]. What it finds for these sizes alone, no plan
/// is adapted by.
bool interleaved(const ShownPart& a, std::int64_t a_item, const ShownPart& b, std::int64_t b_item) {
    std::int64_t step = 0, known = 0, factor = 0;  // known: of strides that are the same for all sizes
    bool all_known = true;
    for (const auto& [part, item] : {std::pair(&a, a_item), std::pair(&b, b_item)}) {
        for (int d = 0; d < part->shape.size(); ++d) {
            if (part->shape[d] <= 1) continue;
            const Size stride = part->strides[d];
            step = std::gcd(step, stride.value() * item);
            factor = std::gcd(factor, part->factors[d] * item);
            if (stride.literal()) known = std::gcd(known, stride.value() * item);
            all_known = all_known && stride.literal();
        }
    }
    const Size between = b.offset * b_item - a.offset * a_item;
    const auto never_meet = [&](std::int64_t grid) {
        if (grid == 0) return false;
        std::int64_t apart = between.value() % grid;
        if (apart < 0) apart += grid;
        return apart >= a_item && grid - apart >= b_item;
    };
    if (between.literal() && never_meet(factor)) return true;
    const bool decided = (all_known && between.literal()) || (known > 0 && known < a_item + b_item);
    if (Trace* const trace = Trace::current(); trace && !decided) trace->give_up();
    return never_meet(step);
}

/// True when two parts show an element that is the same one: a write through one is seen through the other.
bool meet(const Subgraph& subgraph, const ShownPart& a, const ShownPart& b) {
    if (a.view == b.view || a.source != b.source) return false;
    const std::int64_t a_item = itemsize(subgraph.nodes[a.view]->dtype), b_item = itemsize(subgraph.nodes[b.view]->dtype);
    const Bytes x = bytes_of(a, a_item), y = bytes_of(b, b_item);
    return x.begin < y.end && y.begin < x.end && !interleaved(a, a_item, b, b_item);
}

}  // namespace

void Planner::choose_required() {
    const int count = static_cast<int>(subgraph_.nodes.size());
    std::vector<bool> read_elsewhere(count, false);  // than by reductions
    for (int i = 0; i < count && !fuse_; ++i) {
        if (subgraph_.nodes[i]->kind == Kind::Reduce) continue;
        for (int k = 0; k < arity(i); ++k) read_elsewhere[input(i, k)] = true;
    }
    // A cast is part of the reductions that alone read it, also where nothing else is fused: sums of bools are computed in int64.
    const auto alone = [&](int i) {
        const Node* node = subgraph_.nodes[i];
        if (node->kind == Kind::Elementwise) return node->op() != graph::Op::cast || read_elsewhere[i];
        return node->kind == Kind::Reduce;
    };
    for (int i = 0; i < count; ++i) {
        const Node* node = subgraph_.nodes[i];
        if (subgraph_.in_memory(node)) continue;
        NodeInfo& f = info_[i];
        const std::uint8_t flags = subgraph_.flags[i];
        if (flags & Subgraph::Root) {
            f.required = true;
            f.why = "asked for";
        } else if (flags & Subgraph::Held) {
            const Node* base = node;
            while (base->kind == Kind::View) base = base->inputs[0].get();
            if (cheap_source(base)) continue;
            f.required = true;
            f.why = "held by the program";
        } else if (!fuse_ && alone(i)) {
            f.required = true;
            f.why = "fusion is off";
        }
    }
    // A required view shares its base's memory when the program holds the base or another view of the same elements (writes through one are
    // seen through the other), or when the view shows as much as the base or more.
    std::vector<NodeId> views;
    for (int i = 0; i < count; ++i) {
        if (subgraph_.nodes[i]->kind == Kind::View && info_[i].required) views.push_back(static_cast<NodeId>(i));
    }
    std::vector<ShownPart> parts;
    for (std::size_t k = 0; k < views.size() && views.size() > 1; ++k) parts.push_back(shown_part(subgraph_, views[k]));
    const auto bytes_in = [&](NodeId id) { return size(id) * itemsize(subgraph_.nodes[id]->dtype); };
    const auto meets_another = [&](NodeId view) {
        const auto own = std::find_if(parts.begin(), parts.end(), [&](const ShownPart& p) { return p.view == view; });
        return own != parts.end() && std::any_of(parts.begin(), parts.end(), [&](const ShownPart& p) { return meet(subgraph_, *own, p); });
    };
    for (int i = count - 1; i >= 0; --i) {
        const Node* node = subgraph_.nodes[i];
        if (node->kind != Kind::View || !info_[i].required) continue;
        const NodeId below = input(i, 0);
        const Node* base = subgraph_.nodes[below];
        if (info_[below].required || subgraph_.in_memory(base)) continue;
        NodeId source = below;
        const auto is_shared = [&] { return info_[source].required || (subgraph_.flags[source] & Subgraph::Held); };
        bool shared = is_shared() || meets_another(static_cast<NodeId>(i));
        while (subgraph_.nodes[source]->kind == Kind::View) {
            source = input(source, 0);
            shared |= is_shared();
        }
        if (!shared && (cheap_source(subgraph_.nodes[source]) || bytes_in(static_cast<NodeId>(i)) < bytes_in(below))) continue;
        info_[below].required = true;
        info_[below].why = "base of a view that is kept";
    }
    for (int i = 0; i < count; ++i) {
        const Node* node = subgraph_.nodes[i];
        if (node->kind != Kind::View || !info_[i].required) continue;
        const NodeId below = input(i, 0);
        info_[i].alias = info_[below].required || subgraph_.in_memory(subgraph_.nodes[below]);
    }
}

void Planner::choose_materialization_points() {
    const int count = static_cast<int>(subgraph_.nodes.size());
    // How often, and by how large a consumer, each value is read: views pass on what is read through them.
    std::vector<Size> readers_size(count, 0);
    std::vector<int> positions(count, 0);
    std::vector<bool> direct(count, false);
    for (int i = count - 1; i >= 0; --i) {
        const Node* node = subgraph_.nodes[i];
        positions[i] += direct[i];
        const Size size = this->size(i);
        for (int k = 0; k < arity(i); ++k) {
            const NodeId in = input(i, k);
            if (node->kind == Kind::View) {
                positions[in] += std::max(1, positions[i]);
                readers_size[in] = max(max(readers_size[in], readers_size[i]), size);
            } else {
                direct[in] = true;
                const Size reader = node->kind == Kind::Reduce ? this->size(in) : size;
                readers_size[in] = max(readers_size[in], reader);
            }
        }
    }
    for (int i = 0; i < count; ++i) {
        const Node* node = subgraph_.nodes[i];
        NodeInfo& f = info_[i];
        f.cost = 0;
        for (int k = 0; k < arity(i); ++k) {
            const NodeInfo& in = info_[input(i, k)];
            f.cost = std::min(cost_cap, f.cost + (in.materialized ? 1 : in.cost));
            f.loads += in.materialized ? 1 : in.loads;
            f.operations += in.materialized ? 0 : in.operations;
            f.reductions = std::max(f.reductions, in.reductions);
            f.reduced = max(f.reduced, in.reduced);
        }
        if (subgraph_.in_memory(node)) {
            f.cost = f.loads = 1;
            continue;
        }
        switch (node->kind) {
            case Kind::Call:
            case Kind::Leaf:
            case Kind::Transfer:
            case Kind::Failed: break;  // no pending node has one of the last two as input
            case Kind::Constant: f.materialized = f.required; break;
            case Kind::Iota:
                f.cost = 1;
                f.materialized = f.required;
                break;
            case Kind::View: f.materialized = f.required && !f.alias; break;
            case Kind::Reduce:
                f.materialized = true;
                f.reductions += 1;
                f.reduced = max(f.reduced, size(input(i, 0)));
                break;
            case Kind::Elementwise: {
                f.cost += graph::op_cost(node->op());
                f.operations += 1;
                const Size size = this->size(i);
                f.materialized = f.required || f.operations >= inlined_operations || f.loads >= inlined_loads;
                if (f.reductions >= group_loops && size >= f.reduced) {
                    if (!f.materialized) f.why = "on top of many reductions";
                    f.materialized = true;
                    f.reductions = 0;
                    f.reduced = 0;
                }
                if (f.materialized) break;
                f.why = "read at several positions, and too expensive to compute each time";
                f.materialized = positions[i] >= 2 && (positions[i] - 1) * f.cost > worth_storing;
                if (f.materialized) break;
                f.why = "broadcast, and too expensive to compute for each element";
                f.materialized =
                    f.cost - f.loads >= worth_hoisting && readers_size[i] >= broadcast_size && readers_size[i] / broadcast_ratio >= size;
                break;
            }
        }
    }
}

}  // namespace pardo::plan

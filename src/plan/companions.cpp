// src/plan/companions.cpp: finds companions by one pass over the pending nodes; most walks have none, and see that at once.
#include "plan/companions.h"

#include <algorithm>

#include "plan/force.h"

namespace pardo::plan {

using graph::Kind;
using graph::Node;

namespace {

std::int64_t bytes_of(const Node* node) { return node->size() * itemsize(node->dtype); }

/// A value of the walk that only pending nodes keep, some of them outside.
bool read_outside(const Walk& walk, const Node* node) {
    return node->arity > 0 && node->kind != Kind::Leaf && node->consumers > walk.uses[node->index] && node->use_count() == node->consumers;
}

/// What the node, outside of the walk, would spare if it were computed along: the largest value that need not be written. -1: it needs
/// something that is not there.
std::int64_t spared_by(const Walk& walk, const Node* node, std::uint32_t mark, const std::vector<std::int64_t>& found) {
    std::int64_t spared = 0;
    for (int i = 0; i < node->arity; ++i) {
        const Node* in = node->inputs[i].get();
        if (walk.contains(in)) {
            if (read_outside(walk, in)) spared = std::max(spared, bytes_of(in));
        } else if (in->mark == mark) {
            spared = std::max(spared, found[in->index]);
        } else if (in->kind != Kind::Leaf && in->arity > 0) {
            return -1;
        }
    }
    return spared;
}

}  // namespace

void collect_with_companions(Walk& walk, std::span<Node* const> roots, std::vector<Ref<Node>>& kept) {
    walk.collect(roots);
    if (!fusion_enabled()) return;
    const bool any = std::any_of(walk.nodes.begin(), walk.nodes.end(), [&](const Node* n) { return read_outside(walk, n); });
    if (!any) return;

    const std::uint32_t mark = fresh_mark();
    std::vector<std::int64_t> found;  // by index of the nodes that carry the mark: bytes spared
    // Inputs are recorded before their users, so one pass meets them in order.
    for (Node* n = graph::state_of(walk.nodes.front()->queue.get()).first; n; n = n->next) {
        if (n->arity == 0 || walk.contains(n)) continue;
        const std::int64_t spared = spared_by(walk, n, mark, found);
        if (spared < 0) continue;
        n->mark = mark;
        n->index = static_cast<std::uint32_t>(found.size());
        found.push_back(spared);
        if (spared == 0 || spared < bytes_of(n)) continue;
        if (Ref<Node> held = graph::if_held(n)) kept.push_back(std::move(held));
    }
    if (kept.empty()) return;
    std::vector<Node*> all(roots.begin(), roots.end());
    for (const Ref<Node>& companion : kept) all.push_back(companion.get());
    walk.collect(all);
}

}  // namespace pardo::plan

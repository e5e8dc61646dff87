// src/plan/group/sibling_outputs.cpp: finds sibling outputs among the users of a subgraph's values; most subgraphs have none, and see that
// at once.
#include "plan/group/sibling_outputs.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "plan/force.h"

namespace pardo::plan {

using graph::Kind;
using graph::Node;

namespace {

std::int64_t bytes_of(const Node* node) { return node->size() * itemsize(node->dtype); }

/// A value of the subgraph that only pending nodes keep, some of them outside.
bool read_outside(const Subgraph& subgraph, const Node* node) {
    return node->arity > 0 && !subgraph.in_memory(node) && node->consumers > subgraph.uses[node->index] &&
           node->use_count() == node->consumers;
}

/// Pending nodes outside of the subgraph that use values of it, or each other, inputs before users.
std::vector<Node*> descendants(const Subgraph& subgraph, const std::vector<Node*>& values, std::uint32_t mark) {
    std::vector<Node*> found;
    const auto add = [&](const Node* value) {
        for (const Link* use = value->users.next; use != &value->users; use = use->next) {
            Node* user = static_cast<const graph::Use*>(use)->user;
            if (user->mark == mark || subgraph.contains(user) || user->kind == Kind::Call) continue;  // a call reads memory in any case
            user->mark = mark;
            found.push_back(user);
        }
    };
    for (const Node* value : values) add(value);
    for (std::size_t i = 0; i < found.size(); ++i) add(found[i]);
    std::stable_sort(found.begin(), found.end(), [](const Node* a, const Node* b) { return a->depth < b->depth; });
    return found;
}

/// What the node, outside of the subgraph, would spare if it were computed along: the largest value that need not be written.
std::int64_t spared_by(const Subgraph& subgraph, const Node* node, std::uint32_t mark, const std::vector<std::int64_t>& spared) {
    std::int64_t most = 0;
    for (int i = 0; i < node->arity; ++i) {
        const Node* in = node->inputs[i].get();
        if (subgraph.contains(in)) {
            if (read_outside(subgraph, in)) most = std::max(most, bytes_of(in));
        } else if (in->mark == mark) {
            most = std::max(most, spared[in->index]);
        }
    }
    return most;
}

/// Which nodes outside of a subgraph need calls that are still to be computed: no sibling outputs, for such a call may need what is being
/// computed, and forcing it would begin again from here.
class CallSearch {
public:
    explicit CallSearch(const Subgraph& subgraph) : subgraph_(subgraph) {}
    bool needs_call(Node* node) {  // no deeper than graphs are, whose depth is bounded
        if (node->arity == 0 || subgraph_.contains(node)) return false;
        if (node->kind == Kind::Call) return true;
        const auto [known, fresh] = known_.try_emplace(node, false);
        if (!fresh) return known->second;
        for (int i = 0; i < node->arity; ++i) {
            if (needs_call(node->inputs[i].get())) return known_[node] = true;
        }
        return false;
    }

private:
    const Subgraph& subgraph_;
    std::unordered_map<const Node*, bool> known_;
};

}  // namespace

void collect_with_siblings(Subgraph& subgraph, std::span<Node* const> roots, std::vector<Ref<Node>>& kept) {
    subgraph.collect(roots);
    if ((subgraph.calls && !subgraph.computed) || !fusion_enabled()) return;  // calls come first, and then it is another subgraph
    std::vector<Node*> values;
    std::copy_if(subgraph.nodes.begin(), subgraph.nodes.end(), std::back_inserter(values),
                 [&](const Node* n) { return read_outside(subgraph, n); });
    if (values.empty()) return;

    const std::uint32_t mark = fresh_mark();
    CallSearch calls(subgraph);
    std::vector<std::int64_t> spared;  // by index of the nodes that carry the mark
    for (Node* n : descendants(subgraph, values, mark)) {
        const std::int64_t bytes = spared_by(subgraph, n, mark, spared);
        n->index = static_cast<std::uint32_t>(spared.size());
        spared.push_back(bytes);
        if (bytes < bytes_of(n) || calls.needs_call(n)) continue;
        if (Ref<Node> held = graph::if_held(n)) kept.push_back(std::move(held));
    }
    if (kept.empty()) return;
    std::vector<Node*> all(roots.begin(), roots.end());
    for (const Ref<Node>& sibling : kept) all.push_back(sibling.get());
    subgraph.collect(all);
}

}  // namespace pardo::plan

// src/plan/force.cpp: decides what runs now: walks the graph, finds or makes its plan, allocates, launches, materialises.
#include "plan/force.h"

#include <cstring>

#include "base/counters.h"
#include "base/env.h"
#include "base/hash.h"
#include "plan/companions.h"
#include "plan/execute.h"
#include "plan/plan.h"

namespace pardo::plan {

using graph::Kind;
using graph::Node;

namespace {

std::atomic<int> fusion{-1};  // -1: not asked yet

/// Vectors of one thread that keep their memory from force to force.
struct Workspace {
    Walk walk;
    Execution execution;
};

/// The thread's workspace, or a fresh one when that is in use already (memory that is let go may run foreign code, which may force).
class Borrowed {
public:
    Borrowed() {
        if (!busy_) {
            busy_ = mine_ = true;
        } else {
            own_ = std::make_unique<Workspace>();
            ++nested_;
        }
    }
    ~Borrowed() {
        if (!mine_) return;
        shared().walk.clear();
        busy_ = false;
    }
    Borrowed(const Borrowed&) = delete;
    Workspace& operator*() { return mine_ ? shared() : *own_; }
    Workspace* operator->() { return &**this; }
    /// Changes when somebody forces while this thread is forcing already.
    static unsigned nested() { return nested_; }

private:
    static Workspace& shared() {
        thread_local Workspace workspace;
        return workspace;
    }
    static thread_local bool busy_;
    static thread_local unsigned nested_;
    bool mine_ = false;
    std::unique_ptr<Workspace> own_;
};
thread_local bool Borrowed::busy_ = false;
thread_local unsigned Borrowed::nested_ = 0;

const Plan& plan_for(Walk& walk, device::Queue* queue) {
    walk.write_key();
    PlanCache& cache = PlanCache::of(queue);
    const std::uint64_t hash = hash128(walk.key.data(), walk.key.size()).lo;
    if (const Plan* known = cache.find(walk.key, hash)) return *known;
    return *cache.add(walk.key, hash, make_plan(walk, queue->device(), cache));
}

/// Nodes outside `walk` that are held and depend on `buffer`.
std::vector<Ref<Node>> dependents(graph::GraphState& state, const device::Buffer* buffer, const Walk* walk) {
    std::vector<Ref<Node>> found;
    const std::uint32_t mark = fresh_mark();
    // Inputs are recorded before their users, so one pass meets them in order.
    std::vector<const Node*> marked;
    for (Node* n = state.first; n; n = n->next) {
        if (walk && walk->contains(n)) continue;
        bool depends = false;
        for (int i = 0; i < n->arity && !depends; ++i) {
            const Node* in = n->inputs[i].get();
            depends = in->kind == Kind::Leaf ? in->buffer.get() == buffer : in->mark == mark;
        }
        if (!depends) continue;
        n->mark = mark;
        if (Ref<Node> held = graph::if_held(n)) found.push_back(std::move(held));
    }
    return found;
}

void force_all(const std::vector<Ref<Node>>& nodes) {
    if (nodes.empty()) return;
    std::vector<Node*> roots;
    roots.reserve(nodes.size());
    for (const Ref<Node>& n : nodes) roots.push_back(n.get());
    force(roots);
}

int readers_inside(const Walk& walk, const device::Buffer* buffer) {
    int count = 0;
    for (const Node* n : walk.nodes) {
        for (int i = 0; i < n->arity; ++i) {
            const Node* in = n->inputs[i].get();
            count += in->kind == Kind::Leaf && in->buffer.get() == buffer;
        }
    }
    return count;
}

}  // namespace

bool fusion_enabled() {
    int known = fusion.load(std::memory_order_relaxed);
    if (known < 0) {
        known = env_flag("PARDO_FUSION", true);
        fusion.store(known, std::memory_order_relaxed);
    }
    return known != 0;
}

void set_fusion_enabled(bool on) { fusion.store(on, std::memory_order_relaxed); }

void force(std::span<Node* const> roots) {
    device::Queue* queue = nullptr;
    for (Node* root : roots) {
        if (root->kind != Kind::Leaf) queue = root->queue.get();
    }
    if (!queue) return;
    counters.forced.fetch_add(1, std::memory_order_relaxed);
    Borrowed work;
    std::vector<Ref<Node>> companions;
    while (true) {
        companions.clear();
        collect_with_companions(work->walk, roots, companions);
        const Plan& plan = plan_for(work->walk, queue);
        const unsigned before = Borrowed::nested();
        work->execution.allocate(plan, work->walk, queue);
        if (before != Borrowed::nested()) continue;  // letting cached memory go ran foreign code that forced: the graph is another one
        work->execution.run(plan, work->walk, queue);
        return;
    }
}

void force_readers(device::Queue* queue, device::Buffer* buffer) {
    if (buffer->pending_readers == 0) return;
    force_all(dependents(graph::state_of(queue), buffer, nullptr));
}

void store(Node* target, Node* value, Node* where, After after, int references) {
    device::Queue* queue = target->queue.get();
    bool again = false;
    {
        Borrowed work;
        Walk& walk = work->walk;
        device::Buffer* buffer = target->buffer.get();
        walk.collect_store(target, value, where, after, references);
        if (buffer->pending_readers > readers_inside(walk, buffer)) {
            force_all(dependents(graph::state_of(queue), buffer, &walk));
            walk.collect_store(target, value, where, after, references);  // what was forced may have computed a part of this
        }
        if (target->size() == 0) return;
        counters.forced.fetch_add(1, std::memory_order_relaxed);
        const Plan& plan = plan_for(walk, queue);
        if (!plan.needs_temporary) {
            const unsigned before = Borrowed::nested();
            work->execution.allocate(plan, work->walk, queue);
            if (before == Borrowed::nested()) return work->execution.run(plan, walk, queue);
            again = true;
        }
    }
    if (again) return store(target, value, where, after, references);
    // The value reads what would be overwritten: it gets memory of its own first.
    counters.copies.fetch_add(1, std::memory_order_relaxed);
    Node* roots[2];
    std::size_t count = 0;
    Ref<Node> temporary, condition;
    if (value->pending()) {
        roots[count++] = value;
    } else {
        Node* const inputs[] = {value};
        temporary = graph::make_elementwise(graph::Op::cast, value->dtype, value->shape, inputs);
        roots[count++] = value = temporary.get();
    }
    if (where) {
        Node* const inputs[] = {where};
        if (!where->pending()) condition = graph::make_elementwise(graph::Op::cast, where->dtype, where->shape, inputs);
        roots[count++] = where = condition ? condition.get() : where;
    }
    force({roots, count});
    store(target, value, where);
}

}  // namespace pardo::plan

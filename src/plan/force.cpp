// src/plan/force.cpp: decides what runs now: walks the graph, finds or makes its plan, allocates, launches, materialises.
#include "plan/force.h"

#include <algorithm>
#include <cstring>

#include "base/counters.h"
#include "base/env.h"
#include "base/hash.h"
#include "graph/overlap.h"
#include "plan/calls.h"
#include "plan/execute.h"
#include "plan/group/companions.h"
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

/// The plan for a walk, kept by its cache while this lives: what is let go on the way may force, and make others.
class PlanInUse {
public:
    PlanInUse(Walk& walk, device::Queue* queue) {
        walk.write_key();
        PlanCache& cache = PlanCache::of(queue);
        const std::uint64_t hash = hash128(walk.key.data(), walk.key.size()).lo;
        plan_ = cache.find(walk.key, hash);
        if (!plan_) plan_ = cache.add(walk.key, hash, make_plan(walk, queue->device(), cache));
        ++plan_->running;
    }
    ~PlanInUse() { --plan_->running; }
    PlanInUse(const PlanInUse&) = delete;
    const Plan& operator*() const { return *plan_; }
    const Plan* operator->() const { return plan_; }

private:
    Plan* plan_;
};

/// Nodes outside `walk` that are held and depend on what `buffer` holds: by its readers, and their users.
std::vector<Ref<Node>> dependents(const device::Buffer* buffer, const Walk* walk) {
    std::vector<Ref<Node>> found;
    const std::uint32_t mark = fresh_mark();
    std::vector<const Link*> lists{&buffer->readers};
    for (std::size_t i = 0; i < lists.size(); ++i) {
        for (const Link* use = lists[i]->next; use != lists[i]; use = use->next) {
            Node* user = static_cast<const graph::Use*>(use)->user;
            if (user->mark == mark || (walk && walk->contains(user))) continue;
            user->mark = mark;
            lists.push_back(&user->users);
            if (Ref<Node> held = graph::if_held(user)) found.push_back(std::move(held));
        }
    }
    return found;
}

#ifndef NDEBUG
/// What still reads the target after it was written is let go by the caller. Used nevertheless, it would see the new values.
void poison_readers(const Node* target) {
    std::vector<Node*> left;
    for (const Link* use = target->buffer->readers.next; use != &target->buffer->readers; use = use->next) {
        Node* user = static_cast<const graph::Use*>(use)->user;
        for (int i = 0; i < user->arity; ++i) {
            const Node* in = user->inputs[i].get();
            if (in->kind == Kind::Leaf && graph::may_overlap(*in, *target)) left.push_back(user);
        }
    }
    if (left.empty()) return;
    const auto error =
        std::make_shared<const Error>(ErrorCode::Internal, "force: a value that was not computed before its input was written");
    for (Node* user : left) graph::fail(user, error);
}
#endif

enum class Stored : std::uint8_t {
    Done,
    Again,     // the graph has changed meanwhile, or will when `calls` have been run
    Overlaps,  // the value reads what would be overwritten
};

/// One try of store().
Stored try_store(Node* target, Node* value, Node* where, After after, int references, std::vector<Ref<Node>>& calls) {
    Borrowed work;
    Walk& walk = work->walk;
    walk.collect_store(target, value, where, after, references);
    if (walk.calls) {
        calls = calls_of(walk);
        return Stored::Again;
    }
    if (walk.read_outside(target->buffer.get())) {
        settle(dependents(target->buffer.get(), &walk));
        walk.collect_store(target, value, where, after, references);  // what was forced may have computed a part of this
    }
    if (target->size() == 0) return Stored::Done;
    counters.forced.fetch_add(1, std::memory_order_relaxed);
    device::Queue* queue = target->queue.get();
    const PlanInUse plan(walk, queue);
    if (plan->needs_temporary) return Stored::Overlaps;
    const unsigned before = Borrowed::nested();
    work->execution.allocate(*plan, walk, queue);
    if (before != Borrowed::nested()) return Stored::Again;
    work->execution.run(*plan, walk, queue);
#ifndef NDEBUG
    poison_readers(target);
#endif
    return Stored::Done;
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
        if (root->kind == Kind::Failed) throw Error(*root->error);
        if (root->kind != Kind::Leaf) queue = root->queue.get();
    }
    if (!queue) return;
    counters.forced.fetch_add(1, std::memory_order_relaxed);
    if (roots.size() == 1 && run_if_ready(roots[0])) return;
    std::vector<Ref<Node>> companions, calls;
    while (true) {
        run(calls);
        if (!calls.empty() && std::ranges::none_of(roots, [](const Node* root) { return root->pending(); })) return;
        Borrowed work;
        companions.clear();
        collect_with_companions(work->walk, roots, companions);
        if (work->walk.calls) {
            calls = calls_of(work->walk);
            continue;
        }
        const PlanInUse plan(work->walk, queue);
        const unsigned before = Borrowed::nested();
        work->execution.allocate(*plan, work->walk, queue);
        if (before != Borrowed::nested()) continue;  // letting cached memory go ran foreign code that forced: the graph is another one
        work->execution.run(*plan, work->walk, queue);
        return;
    }
}

std::shared_ptr<const Error> settle(const std::vector<Ref<Node>>& nodes) {
    if (nodes.empty()) return nullptr;
    std::vector<Node*> roots;
    roots.reserve(nodes.size());
    for (const Ref<Node>& n : nodes) roots.push_back(n.get());
    std::shared_ptr<const Error> first;
    const auto attempt = [&](std::span<Node* const> some) {
        try {
            force(some);
            return true;
        } catch (const Error& e) {
            if (some.size() > 1) return false;
            const auto error = std::make_shared<const Error>(e);
            graph::fail(some[0], error);
            if (!first) first = error;
            return true;
        }
    };
    if (attempt(roots)) return first;
    for (Node* root : roots) {
        if (root->kind != Kind::Failed) attempt({&root, 1});
    }
    return first;
}

void force_readers(device::Buffer* buffer) {
    if (buffer->readers.empty()) return;
    settle(dependents(buffer, nullptr));
}

void store(Node* target, Node* value, Node* where, After after, int references) {
    std::vector<Ref<Node>> calls;
    for (Stored stored = Stored::Again; stored != Stored::Overlaps;) {
        run(calls);
        calls.clear();
        stored = try_store(target, value, where, after, references, calls);
        if (stored == Stored::Done) return;
    }
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

// src/plan/force.cpp: decides what runs now: subgraphs the graph, finds or makes its plan, allocates, launches, materialises.
#include "plan/force.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/counters.h"
#include "base/env.h"
#include "base/hash.h"
#include "device/pending_program.h"
#include "graph/overlap.h"
#include "plan/calls.h"
#include "plan/capture.h"
#include "plan/execute.h"
#include "plan/group/sibling_outputs.h"
#include "plan/plan.h"
#include "plan/unlocked.h"

namespace pardo::plan {

using graph::Kind;
using graph::Node;

namespace {

std::atomic<int> fusion{-1};  // -1: not asked yet

/// Vectors of one thread that keep their memory from force to force.
struct Workspace {
    Subgraph subgraph;
    PlanRunner runner;
};

/// What a thread forces with.
struct ThreadState {
    Workspace workspace;
    bool busy = false;
    unsigned nested = 0;
};

/// The thread's workspace, or a fresh one when that is in use already (memory that is let go may run foreign code, which may force).
class Borrowed {
public:
    Borrowed() : thread_(of_thread()) {
        if (!thread_.busy) {
            thread_.busy = true;
            work_ = &thread_.workspace;
        } else {
            own_ = std::make_unique<Workspace>();
            work_ = own_.get();
            ++thread_.nested;
        }
    }
    ~Borrowed() {
        if (own_) return;
        work_->subgraph.clear();
        thread_.busy = false;
    }
    Borrowed(const Borrowed&) = delete;
    Workspace* operator->() { return work_; }
    /// Changes when there is another force while this thread is forcing already.
    unsigned nested() const { return thread_.nested; }

private:
    static ThreadState& of_thread() {
        thread_local ThreadState state;  // NOLINT(clang-diagnostic-exit-time-destructors): each thread has its own
        return state;
    }
    ThreadState& thread_;
    Workspace* work_;
    std::unique_ptr<Workspace> own_;
};

bool adapted_plans_are_checked() {
    static const bool on = env_flag("PARDO_CHECK_PLANS", false);
    return on;
}

/// The plan for a subgraph: a finished one, kept while this lives, or a draft of which programs are missing.
class PlanSearch {
public:
    PlanSearch(Subgraph& subgraph, device::Queue* queue) : queue_(queue) {
        subgraph.write_key();
        const std::uint64_t hash = hash128(subgraph.key.data(), subgraph.key.size()).lo;
        RecentPlans::Entry& recent = RecentPlans::of(queue).at(hash);
        if (recent.plan && recent.plan->is(subgraph.key, hash)) {
            use(recent);
            return;
        }
        PlanCache& cache = PlanCache::of(queue->device());
        own_ = cache.find(subgraph.key, hash);
        if (!own_) {
            PlanClass kind = subgraph.plan_class();
            if (kind.complete) own_ = cache.adapt(subgraph, hash, kind, queue->device());
            if (!own_) {
                draft_.emplace(subgraph, hash, std::move(kind), queue->device());
                if (!draft_->complete()) return;
                compile();
            } else if (adapted_plans_are_checked()) {
                check_adapted(subgraph, hash);
            }
        }
        plan_ = own_.get();
        if (recent.running > 0) return;
        recent.plan = std::move(own_);
        use(recent);
    }
    ~PlanSearch() {
        if (running_) --*running_;
    }
    PlanSearch(const PlanSearch&) = delete;
    /// False when programs are missing.
    explicit operator bool() const { return plan_ != nullptr; }
    const Plan& operator*() const { return *plan_; }
    const Plan* operator->() const { return plan_; }
    /// Compiles what is missing under the lock that the caller holds.
    void compile() {
        own_ = draft_->compile(queue_->device(), PlanCache::of(queue_->device()));
        plan_ = own_.get();
    }
    /// Compiles it without the lock; the nodes of the subgraph may be others afterwards. A compile error is ignored if another thread has
    /// computed the nodes meanwhile, which `wanted` tells.
    template <class F> void compile_unlocked(F&& wanted) {
        const Ref<device::Queue> queue(queue_);
        try {
            const Unlocked stretch(graph::state_of(queue_).lock);
            compile();
        } catch (const Error&) {
            if (wanted()) throw;
        }
    }

private:
    /// Plans the subgraph itself, and throws Internal where what was made of another plan is not the same.
    void check_adapted(const Subgraph& subgraph, std::uint64_t hash) const {
        Draft draft(subgraph, hash, subgraph.plan_class(), queue_->device());
        if (!same(*own_, *draft.finished(queue_->device())))
            throw Error(ErrorCode::Internal, "force: a plan that was made of one for other sizes is not what the planner makes");
    }
    void use(RecentPlans::Entry& recent) {
        plan_ = recent.plan.get();
        plan_->note_use();
        ++*(running_ = &recent.running);
    }
    device::Queue* queue_;
    const Plan* plan_ = nullptr;
    int* running_ = nullptr;
    Ref<const Plan> own_;
    std::optional<Draft> draft_;
};

/// Compiles what a search has not found, with the lock free, on behalf of `nodes`: they stay alive, and are the caller's to look at again.
void compile_for(PlanSearch& search, std::span<Node* const> nodes) {
    const std::vector<Ref<Node>> kept(nodes.begin(), nodes.end());
    const auto pending = [&] { return std::count_if(kept.begin(), kept.end(), [](const Ref<Node>& n) { return n && n->pending(); }); };
    search.compile_unlocked([&, before = pending()] { return pending() == before; });
}

/// The queue of those that are not computed; null when all are. Throws the error of one that failed.
device::Queue* pending_queue(std::span<Node* const> roots) {
    device::Queue* queue = nullptr;
    for (const Node* root : roots) {
        if (root->kind == Kind::Failed) throw Error(*root->error());
        if (root->kind != Kind::Leaf) queue = root->queue.get();
    }
    return queue;
}

bool may_unlock(Compile compile) {
    return compile == Compile::Unlocked && device::held_locks().count == 1 && !device::CompileLater::here();
}

/// Nodes outside `subgraph` that are held and depend on what `buffer` holds: by its readers, and their users.
std::vector<Ref<Node>> dependents(const device::Buffer* buffer, const Subgraph* subgraph) {
    std::vector<Ref<Node>> found;
    const std::uint32_t mark = fresh_mark();
    std::vector<const Link*> lists{&buffer->readers};
    for (std::size_t i = 0; i < lists.size(); ++i) {
        for (const Link* use = lists[i]->next; use != lists[i]; use = use->next) {
            Node* user = static_cast<const graph::Use*>(use)->user;
            if (user->mark == mark || (subgraph && subgraph->contains(user))) continue;
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

/// Where leaves are known to have failed: what is held, or asked for, and does not need them. One launch would fail for all.
std::vector<Ref<Node>> unharmed(const Subgraph& subgraph) {
    std::vector<Ref<Node>> found;
    const auto failed = [&](NodeId id) {
        const Node& leaf = *subgraph.nodes[id];
        return leaf.buffer->written() && leaf.buffer->has_failed(graph::view_of(leaf));
    };
    if (std::none_of(subgraph.leaves.begin(), subgraph.leaves.end(), failed)) return found;
    std::vector<bool> harmed(subgraph.nodes.size());
    for (const NodeId id : subgraph.leaves) harmed[id] = failed(id);
    for (std::size_t i = 0; i < subgraph.nodes.size(); ++i) {  // inputs before users
        Node* node = subgraph.nodes[i];
        if (!node->pending()) continue;
        for (int k = 0; k < node->arity; ++k)
            harmed[i] = harmed[i] || (subgraph.contains(node->inputs[k].get()) && harmed[node->inputs[k]->index]);
        if (!harmed[i] && (subgraph.flags[i] & (Subgraph::Root | Subgraph::Held))) found.emplace_back(node);
    }
    return found;
}

/// Computes those by themselves; false when there are none, or they cannot be computed. The subgraph is to be collected again.
bool force_unharmed(const Subgraph& subgraph);

enum class Stored : std::uint8_t {
    Done,
    Again,     // the graph has changed meanwhile, or will when `calls` have been run
    Unlocked,  // nothing is stored, and the lock was free meanwhile
    Overlaps,  // the value reads what would be overwritten
};

/// One try of store().
Stored try_store(Node* target, Node* value, Node* where, After after, int references, Compile compile, std::vector<Ref<Node>>& calls) {
    Borrowed work;
    Subgraph& subgraph = work->subgraph;
    subgraph.collect_store(target, value, where, after, references);
    if (subgraph.calls) {
        calls = calls_of(subgraph);
        return Stored::Again;
    }
    device::Buffer* buffer = target->buffer.get();
    if (subgraph.read_outside(buffer)) {
        const unsigned before = Unlocked::count();
        const Ref<Node> kept(target);  // others may rebind its handle while the lock is free
        force_each(dependents(buffer, &subgraph), compile);
        if (before != Unlocked::count()) return Stored::Unlocked;
        subgraph.collect_store(target, value, where, after, references);  // what was forced may have computed a part of this
    }
    if (target->size() == 0) return Stored::Done;
    if (force_unharmed(subgraph)) return Stored::Again;
    device::Queue* queue = target->queue.get();
    if (Capture* const capture = Capture::of(queue)) [[unlikely]]
        return capture->take(subgraph, queue) ? Stored::Done : Stored::Overlaps;
    PlanSearch plan(subgraph, queue);
    if (!plan && may_unlock(compile)) {
        Node* const kept[] = {target, value, where};
        subgraph.clear();
        compile_for(plan, {kept, where ? 3u : 2u});
        return Stored::Unlocked;
    }
    counters.forced.fetch_add(1, std::memory_order_relaxed);
    if (!plan) plan.compile();
    if (plan->needs_temporary) return Stored::Overlaps;
    const unsigned before = work.nested();
    work->runner.allocate(*plan, subgraph, queue);
    if (before != work.nested()) return Stored::Again;
    work->runner.run(*plan, subgraph, queue);
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

namespace {

/// As force. False when it has compiled without the lock and is not to `go_on` then: nothing is computed. `alone`: without siblings.
bool force_unless_changed(std::span<Node* const> roots, Compile compile, bool go_on, bool alone = false) {
    device::Queue* queue = pending_queue(roots);
    if (!queue) return true;
    counters.forced.fetch_add(1, std::memory_order_relaxed);
    if (roots.size() == 1 && run_if_ready(roots[0])) return true;
    std::vector<Ref<Node>> siblings, calls;
    while (true) {
        if (!calls.empty()) {
            run(calls, go_on ? compile : Compile::Locked);
            if (!pending_queue(roots)) return true;
        }
        Borrowed work;
        siblings.clear();
        alone ? work->subgraph.collect(roots) : collect_with_siblings(work->subgraph, roots, siblings);
        if (work->subgraph.calls) {
            calls = calls_of(work->subgraph);
            continue;
        }
        if (!alone && force_unharmed(work->subgraph)) continue;
        if (Capture* const capture = Capture::of(queue)) [[unlikely]] {
            (void)capture->take(work->subgraph, queue);
            return true;
        }
        PlanSearch plan(work->subgraph, queue);
        if (!plan && may_unlock(compile)) {
            siblings.clear();  // nothing of the graph is kept, so that others plan as if this thread were not there
            calls.clear();
            work->subgraph.clear();
            compile_for(plan, roots);
            if (!go_on) return false;
            if (!pending_queue(roots)) return true;
            continue;
        }
        if (!plan) plan.compile();
        const unsigned before = work.nested();
        work->runner.allocate(*plan, work->subgraph, queue);
        if (before != work.nested()) continue;  // letting cached memory go ran foreign code that forced: the graph is another one
        work->runner.run(*plan, work->subgraph, queue);
        return true;
    }
}

}  // namespace

namespace {

bool force_unharmed(const Subgraph& subgraph) {
    const std::vector<Ref<Node>> kept = unharmed(subgraph);
    std::vector<Node*> nodes;
    nodes.reserve(kept.size());
    for (const Ref<Node>& node : kept) nodes.push_back(node.get());
    try {
        if (!nodes.empty()) (void)force_unless_changed(nodes, Compile::Locked, true, true);
    } catch (const Error&) {
        return false;  // for want of memory; whoever asks for them hears of it
    }
    return !nodes.empty();
}

}  // namespace

void force(std::span<Node* const> roots, Compile compile) { (void)force_unless_changed(roots, compile, true); }

std::shared_ptr<const Error> force_each(const std::vector<Ref<Node>>& nodes, Compile compile) {
    if (nodes.empty()) return nullptr;
    std::vector<Node*> roots;
    roots.reserve(nodes.size());
    for (const Ref<Node>& n : nodes) roots.push_back(n.get());
    std::shared_ptr<const Error> first;
    const auto attempt = [&](std::span<Node* const> some) {
        try {
            force(some, compile);
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

void force_readers(device::Buffer* buffer, Compile compile) {
    while (!buffer->readers.empty()) {
        const unsigned before = Unlocked::count();
        force_each(dependents(buffer, nullptr), compile);
        if (before == Unlocked::count()) return;
    }
}

bool store(Node* target, Node* value, Node* where, After after, int references, Compile compile) {
    std::vector<Ref<Node>> calls;
    for (Stored stored = Stored::Again; stored != Stored::Overlaps;) {
        run(calls, Compile::Locked);
        calls.clear();
        stored = try_store(target, value, where, after, references, compile, calls);
        if (stored == Stored::Done) return true;
        if (stored == Stored::Unlocked) return false;
    }
    // The value reads what would be overwritten: it gets memory of its own first.
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
    const bool ours = temporary || condition;
    if (!force_unless_changed({roots, count}, ours ? Compile::Locked : compile, false)) return false;
    count_copy(value->size() * itemsize(value->dtype));
    return store(target, value, where);
}

}  // namespace pardo::plan

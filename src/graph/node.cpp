// src/graph/node.cpp: makes, links, materialises and destroys nodes.
#include "graph/node.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include <pardo/error.h>

#include "base/counters.h"
#include "base/fork.h"
#include "graph/call.h"

namespace pardo::graph {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// The sanitizers see each node's own life.
void* take_block() { return ::operator new(sizeof(Node)); }
void give_block(void* block) { ::operator delete(block); }
#else
struct Block {
    Block* next;
};

/// Blocks that no thread's own list wants.
class SharedBlocks {
public:
    /// Adds a chain of blocks.
    void add(Block* first, Block* last) {
        std::lock_guard guard(mutex);
        last->next = first_;
        first_ = first;
    }
    /// The whole list, or null.
    Block* take_all() {
        std::lock_guard guard(mutex);
        return std::exchange(first_, nullptr);
    }
    HeldMutex mutex;

private:
    Block* first_ = nullptr;
};

SharedBlocks& shared_blocks() {
    static auto* const blocks = new SharedBlocks;  // outlives every thread
    return *blocks;
}
[[maybe_unused]] const SharedBlocks& blocks_at_start = shared_blocks();  // see at_fork

constexpr int local_limit = 8192;

/// The calling thread's free blocks. Trivial, so that nodes which die after the thread's destructors still find it.
struct LocalBlocks {
    Block* first;
    int count;
    bool closed;
};
thread_local LocalBlocks local{};

void hand_over() {
    if (!local.first) return;
    Block* last = local.first;
    while (last->next) last = last->next;
    shared_blocks().add(std::exchange(local.first, nullptr), last);
    local.count = 0;
}

struct LocalCloser {
    ~LocalCloser() {
        hand_over();
        local.closed = true;
    }
};
thread_local LocalCloser closer;  // NOLINT(clang-diagnostic-exit-time-destructors): each thread has its own

void* refill() {
    [[maybe_unused]] LocalCloser* registered = &closer;  // makes the destructor run at the end of this thread
    local.first = shared_blocks().take_all();
    local.count = 0;
    for (Block* b = local.first; b; b = b->next) ++local.count;
    if (!local.first) return ::operator new(sizeof(Node));
    Block* block = local.first;
    local.first = block->next;
    --local.count;
    return block;
}

void* take_block() {
    Block* block = local.first;
    if (!block) return refill();
    local.first = block->next;
    --local.count;
    return block;
}

void give_block(void* memory) {
    Block* block = static_cast<Block*>(memory);
    if (local.closed) return shared_blocks().add(block, block);
    block->next = local.first;
    local.first = block;
    if (++local.count > local_limit) hand_over();
}
#endif

template <class... T> Node* allocate_node(T... detail) { return new (take_block()) Node(std::move(detail)...); }

void link(GraphState& state, Node* node) {
    node->previous = state.last;
    (state.last ? state.last->next : state.first) = node;
    state.last = node;
    ++state.pending_count;
}

void unlink(GraphState& state, Node* node) {
    (node->previous ? node->previous->next : state.first) = node->next;
    (node->next ? node->next->previous : state.last) = node->previous;
    node->previous = node->next = nullptr;
    --state.pending_count;
}

void add_reader(GraphState& state, device::Buffer* buffer, Use& use) {
    if (buffer->readers.empty()) state.pinned_bytes += static_cast<std::int64_t>(buffer->bytes());
    buffer->readers.append(use);
}

void attach(GraphState& state, Node* node, int slot, Node* input) {
    Use& use = node->uses[slot];
    use.user = node;
    node->inputs[slot] = input;
    node->depth = std::max(node->depth, input->depth + 1);
    ++input->consumers;
    node->reordered |= input->reordered;
    if (input->kind == Kind::Leaf) {
        add_reader(state, input->buffer.get(), use);
    } else {
        input->users.append(use);
    }
}

/// Takes a pending node out of the list and of its inputs' books; the inputs themselves stay.
void detach(GraphState& state, Node* node) {
    unlink(state, node);
    if (node->kind == Kind::Transfer) --state.transfers;
    if (const auto* const of = std::get_if<Node::CallResult>(&node->detail)) of->call->results[of->number] = nullptr;
    for (int i = 0; i < node->arity; ++i) {
        Node* input = node->inputs[i].get();
        --input->consumers;
        node->uses[i].remove();
        if (input->kind != Kind::Leaf || !input->buffer->readers.empty()) continue;
        state.pinned_bytes -= static_cast<std::int64_t>(input->buffer->bytes());
    }
}

/// True while the node is in its queue's list.
bool listed(const Node* node) { return node->kind != Kind::Leaf && node->kind != Kind::Failed; }

/// Where a view of a Leaf has its elements.
void place_view(const Node& leaf, const ViewMap& map, int rank, Strides& strides, std::int64_t& offset) {
    strides.assign(rank, 0);
    offset = leaf.offset;
    map.place(leaf.strides, strides, offset);
}

/// True when some axis takes longer steps in memory than one before it.
bool leaves_row_major(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
    std::int64_t outer = INT64_MAX;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        const std::int64_t step = std::abs(strides[d]);
        if (shape[d] == 1 || step == 0) continue;
        if (step > outer) return true;
        outer = step;
    }
    return false;
}

/// True when the view's axes are not in the order of the base's.
bool permutes(const ViewMap& map) {
    for (int k = 1; k < map.terms.size(); ++k) {
        const ViewMap::Term &before = map.terms[k - 1], &term = map.terms[k];
        if (term.source <= before.source || term.base_dim < before.base_dim) return true;
    }
    return false;
}

/// The node that owns the memory of a Leaf.
Node* owner_of(Node* leaf) { return leaf->base ? leaf->base.get() : leaf; }

void become_leaf(Node* node) {
    const bool holds = node->kind == Kind::View || node->kind == Kind::Call || node->kind == Kind::Transfer;
    node->reordered = leaves_row_major(node->shape, node->strides);
    std::atomic_ref<Kind>(node->kind).store(Kind::Leaf, std::memory_order_release);
    node->depth = 0;
    if (holds) node->detail = {};
    node->arity = 0;
}

/// The users of a node that has become a Leaf: views of it become Leaves over the same memory, all others readers of its buffer.
void settle_users(GraphState& state, Node* leaf) {
    if (leaf->users.empty()) return;
    const Ref<Node> alive(leaf);  // its views let it go
    while (!leaf->users.empty()) {
        Use& use = static_cast<Use&>(*leaf->users.next);
        use.remove();
        Node* user = use.user;
        if (user->kind != Kind::View) {
            add_reader(state, leaf->buffer.get(), use);
            continue;
        }
        unlink(state, user);
        --leaf->consumers;
        const auto& shown = std::get<Node::View>(user->detail);
        place_view(*leaf, *shown.map, user->shape.size(), user->strides, user->offset);
        user->buffer = leaf->buffer;
        if (!shown.owns) user->base = owner_of(leaf);
        const Ref<Node> input = std::move(user->inputs[0]);
        become_leaf(user);
        settle_users(state, user);  // may end the user, if only its views hold it
    }
}

/// Every array passes here: a device without float64 is never given any.
void require_supported(const device::Queue* queue, DType dtype) {
    if (dtype != DType::Float64 && dtype != DType::Complex128) return;
    const DeviceInfo& info = queue->device()->info();
    if (info.has_fp64) return;
    const std::string wide(dtype_name(dtype)), narrow = dtype == DType::Float64 ? "float32" : "complex64";
    throw Error(ErrorCode::Type, wide + " is not supported by device " + queue->device()->id() + " (" + info.name +
                                     "), which has no fp64: ask for " + narrow + " (dtype=" + narrow + ", x.astype(" + narrow +
                                     ")), or use another device");
}

/// Of a value that cannot be computed with.
[[noreturn, gnu::cold]] void refuse_input(const Node& input) {
    if (input.kind == Kind::Failed) throw Error(*input.error());
    assert(false);  // whoever records has let its operands arrive
    throw Error(ErrorCode::Internal, "record: an operand that has not arrived from another queue");
}

template <class T>
Ref<Node> make_pending(Ref<device::Queue> queue, Kind kind, T detail, DType dtype, Shape&& shape, std::span<Node* const> inputs) {
    require_supported(queue.get(), dtype);
    for (const Node* input : inputs) {
        if (input->kind >= Kind::Transfer) [[unlikely]]
            refuse_input(*input);
    }
    GraphState& state = state_of(queue.get());
    Ref<Node> node = allocate_node(std::move(detail));
    assert(static_cast<std::size_t>(kind) == node->detail.index());
    node->dtype = dtype;
    node->shape = std::move(shape);
    node->queue = std::move(queue);
    for (Node* input : inputs) attach(state, node.get(), node->arity++, input);
    node->kind = kind;
    link(state, node.get());
    // Constants next to an operation, views and the far side of a transfer are not operations of their own.
    if (kind != Kind::Constant && kind != Kind::View && kind != Kind::Transfer) counters.recorded.fetch_add(1, std::memory_order_relaxed);
    return node;
}

/// Nodes that wait to be torn down by the outermost destroy of this thread: a long chain dies in a loop, not in recursion.
struct Doomed {
    Node* first;
    bool draining;
};
thread_local Doomed doomed{};

/// The graphs of all live queues, for fork().
struct Graphs {
    std::mutex mutex;
    std::vector<GraphState*> list;
    std::vector<GraphState*> held;  // while the process forks
};

void let_go(Graphs& all) {
    for (GraphState* state : all.held) state->lock.unlock();
    all.held.clear();
    all.mutex.unlock();
}

/// Takes the locks of all graphs, or none and tries again: a thread that holds one may be waiting for another, or be about to end a queue.
/// A thread that runs a task takes those that are free: the holders of the others may be waiting for that task.
void hold_graphs(Graphs& all) {
    for (;;) {
        all.mutex.lock();
        for (GraphState* state : all.list) {
            if (state->lock.try_lock()) all.held.push_back(state);
        }
        if (all.held.size() == all.list.size() || device::inside_task()) return;
        let_go(all);
        // Nothing is held yet, and a holder may have to get the caller's language's lock back before it can let go.
        forking_here() = false;
        {
            const device::Blocking blocking;
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        forking_here() = true;
    }
}

/// The locks know their holder by a thread id that is another one in the child.
void renew_graphs(Graphs& all) {
    for (GraphState* state : all.list) new (&state->lock) GraphLock;
    device::held_locks().count -= static_cast<int>(all.held.size());
    all.held.clear();
    all.mutex.unlock();
}

Graphs& graphs() {
    static Graphs* const instance = [] {
        auto* made = new Graphs;  // never destroyed: queues may outlive main
        at_fork(ForkStage::Graphs, {[made] { hold_graphs(*made); }, [made] { let_go(*made); }, [made] { renew_graphs(*made); }});
        return made;
    }();
    return *instance;
}
[[maybe_unused]] const Graphs& graphs_at_start = graphs();  // see at_fork

}  // namespace

GraphState::~GraphState() {
    std::lock_guard guard(graphs().mutex);
    std::erase(graphs().list, this);
}

GraphState& make_state(device::Queue* queue) {
    std::lock_guard guard(graphs().mutex);
    if (!queue->attachment) {
        graphs().list.reserve(graphs().list.size() + 1);
        auto made = std::make_unique<GraphState>();
        graphs().list.push_back(made.get());
        queue->attachment = std::move(made);
        queue->attached.store(queue->attachment.get(), std::memory_order_release);
    }
    return static_cast<GraphState&>(*queue->attachment);
}

int reader_count(const device::Buffer& buffer) {
    int count = 0;
    for (const Link* use = buffer.readers.next; use != &buffer.readers; use = use->next) ++count;
    return count;
}

void ViewMap::place(const Strides& base, Strides& strides, std::int64_t& offset) const {
    for (int d = 0; d < offsets.size(); ++d) offset += offsets[d] * base[d];
    for (const Term& term : terms) strides[term.source] += term.step * base[term.base_dim];
    if (part < 0) return;
    for (std::int64_t& stride : strides) stride *= 2;  // complex elements are pairs in memory
    offset = 2 * offset + part;
}

void Node::destroy(Node* self) {
    if (self->pending()) {
        GraphState& state = state_of(self->queue.get());
        std::lock_guard guard(state.lock);
        if (listed(self)) detach(state, self);  // a planner may have got it first
    }
    self->next = doomed.first;
    doomed.first = self;
    if (doomed.draining) return;
    doomed.draining = true;
    while (Node* node = doomed.first) {
        doomed.first = node->next;
        node->~Node();
        give_block(node);
    }
    doomed.draining = false;
}

Ref<Node> make_leaf(Ref<device::Queue> queue, DType dtype, Shape shape, Strides strides, std::int64_t offset, Ref<device::Buffer> buffer) {
    require_supported(queue.get(), dtype);
    Ref<Node> node = allocate_node();
    node->dtype = dtype;
    node->shape = std::move(shape);
    node->queue = std::move(queue);
    node->strides = std::move(strides);
    node->offset = offset;
    node->buffer = std::move(buffer);
    node->reordered = leaves_row_major(node->shape, node->strides);
    return node;
}

Ref<Node> make_leaf_view(Node* leaf, DType dtype, Shape shape, Strides strides, std::int64_t offset) {
    Ref<Node> node = make_leaf(leaf->queue, dtype, std::move(shape), std::move(strides), offset, leaf->buffer);
    node->read_only = leaf->read_only;
    node->base = owner_of(leaf);
    return node;
}

Ref<Node> make_constant(Ref<device::Queue> queue, const Scalar& value, Shape shape) {
    Scalar own = value;
    own.weak = false;
    return make_pending(std::move(queue), Kind::Constant, own, value.dtype, std::move(shape), {});
}

Ref<Node> make_iota(Ref<device::Queue> queue, Shape shape, int axis) {
    return make_pending(std::move(queue), Kind::Iota, Node::Iota{axis}, DType::Int64, std::move(shape), {});
}

Ref<Node> make_elementwise(Op op, DType dtype, Shape shape, std::span<Node* const> inputs) {
    return make_pending(inputs[0]->queue, Kind::Elementwise, op, dtype, std::move(shape), inputs);
}

Ref<Node> make_view(Node* input, Shape shape, ViewMap map) {
    if (input->kind != Kind::Leaf) {
        Node* const inputs[] = {input};
        const DType dtype = map.part < 0 ? input->dtype : real_of(input->dtype);
        const bool reordered = permutes(map);
        Node::View view{std::make_unique<ViewMap>(std::move(map))};
        Ref<Node> node = make_pending(input->queue, Kind::View, std::move(view), dtype, std::move(shape), inputs);
        node->read_only = input->read_only;
        node->reordered |= reordered;
        return node;
    }
    Strides strides;
    std::int64_t offset;
    place_view(*input, map, shape.size(), strides, offset);
    return make_leaf_view(input, map.part < 0 ? input->dtype : real_of(input->dtype), std::move(shape), std::move(strides), offset);
}

Ref<Node> make_reduce(ReduceOp op, Node* input, std::uint32_t axes, DType accumulate, DType result) {
    Shape shape = input->shape;
    for (int d = 0; d < shape.size(); ++d) {
        if (axes >> d & 1) shape[d] = 1;
    }
    Node* const inputs[] = {input};
    return make_pending(input->queue, Kind::Reduce, Node::Reduce{op, axes, accumulate}, result, std::move(shape), inputs);
}

void make_call(const Ref<Call>& call, std::span<Node* const> inputs, std::span<const ResultType> types, Ref<Node>* results) {
    for (std::size_t k = 0; k < types.size(); ++k) {
        Node::CallResult result{call, static_cast<std::uint8_t>(k)};
        Ref<Node> node = make_pending(inputs[0]->queue, Kind::Call, std::move(result), types[k].dtype, Shape(types[k].shape), inputs);
        node->strides = contiguous_strides(node->shape);
        call->results[k] = node.get();
        results[k] = std::move(node);
    }
}

Ref<Node> make_transfer(Ref<device::Queue> queue, Ref<Node> exported) {
    GraphState& state = state_of(queue.get());
    const DType dtype = exported->dtype;
    Shape shape = exported->shape;
    Ref<Node> node = make_pending(std::move(queue), Kind::Transfer, Node::Transfer{std::move(exported)}, dtype, std::move(shape), {});
    ++state.transfers;
    return node;
}

void materialize(Node* node, Ref<device::Buffer> buffer, Strides strides, std::int64_t offset) {
    GraphState& state = state_of(node->queue.get());
    detach(state, node);
    node->buffer = std::move(buffer);
    node->strides = std::move(strides);
    node->offset = offset;
    const Ref<Node> inputs[] = {std::move(node->inputs[0]), std::move(node->inputs[1]), std::move(node->inputs[2])};
    become_leaf(node);
    settle_users(state, node);  // may end the node, if only its views hold it
}

void fail(Node* node, std::shared_ptr<const Error> error) {
    const std::shared_ptr<const Error> shared = std::move(error);  // by all that depend on the node
    GraphState& state = state_of(node->queue.get());
    std::vector<Ref<Node>> released;  // at the end: until then what is failed stays where it is
    std::vector<Node::Detail> kept;   // of the same
    std::vector<Node*> failing{node};
    while (!failing.empty()) {
        Node* one = failing.back();
        failing.pop_back();
        if (!listed(one)) continue;
        for (const Link* use = one->users.next; use != &one->users; use = use->next) failing.push_back(static_cast<const Use*>(use)->user);
        detach(state, one);
        std::atomic_ref<Kind>(one->kind).store(Kind::Failed, std::memory_order_release);
        kept.push_back(std::exchange(one->detail, Node::Failed{shared}));
        one->depth = 0;
        one->arity = 0;
        for (Ref<Node>& input : one->inputs) {
            if (input) released.push_back(std::move(input));
        }
    }
}

}  // namespace pardo::graph

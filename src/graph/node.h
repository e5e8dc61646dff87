// src/graph/node.h: the value that has been recorded, and the graph that pending ones form.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <variant>

#include <pardo/dtype.h>
#include <pardo/error.h>

#include "base/list.h"
#include "base/ref.h"
#include "base/shape.h"
#include "device/device.h"
#include "device/signature.h"
#include "device/waiting.h"

namespace pardo::graph {

/// What a node is. All but Leaf and Failed are pending; materialising turns a node into a Leaf, in place, and lets its inputs go.
/// The states and what moves a node between them: docs/design/ordering.md.
enum class Kind : std::uint8_t {
    Leaf,         // buffer + offset + strides
    Constant,     // one value in every element
    Iota,         // the index along an axis, Int64
    Elementwise,  // a row of ops.def on 1 to 3 inputs; inputs are broadcast to `shape` by NumPy's rule (missing and one-sized dims)
    View,         // affine view of a pending input. Never of a Leaf: it becomes one when its input does
    Reduce,       // one of ReduceOp over axes of input 0; shape keeps reduced dims as 1
    Call,         // a result of an operation that is not one fused loop: graph/call.h
    Transfer,     // a value of another queue. Never an input: it arrives before
    Failed,       // there is no value and never will be: its error is raised at each use
};

/// Rows of ops.def by position.
enum class Op : std::uint16_t {
#define OP(name, arity, kind, dtypes, result, cost, identity, recipe, numpy, doc) name,
#include "graph/ops.def"
#undef OP
};

enum class ReduceOp : std::uint8_t { Sum, Prod, Min, Max, Any, All, ArgMin, ArgMax };

/// base index[d] = sum over terms t with t.base_dim == d of step * index[source], plus offset[d].
struct ViewMap {
    struct Term {
        std::int32_t base_dim, source;
        std::int64_t step;
    };
    SmallVector<Term, 4> terms;
    SmallVector<std::int64_t, 4> offsets;  // one for each base dimension
    int part = -1;                         // of complex elements: 0 the real, 1 the imaginary one; -1: whole elements

    /// Where the view's elements are: adds to strides that are 0, and to the base's offset, which becomes the view's.
    void place(const Strides& base, Strides& strides, std::int64_t& offset) const;
};

struct Call;

/// A pending node's use of one input: a link in the list of the input's users or, if the input is a Leaf, of its buffer's readers.
struct Use : Link {
    struct Node* user = nullptr;
};

/// A value. Fields are guarded by the queue's graph lock once the node is shared.
struct Node : RefCounted<Node> {
    struct Iota {
        int axis;
    };
    struct View {
        std::unique_ptr<ViewMap> map;
        bool owns = false;  // shows all of a value of its own, in another order of axes
    };
    struct Reduce {
        ReduceOp op;
        std::uint32_t axes;  // bit set over input dims
        DType accumulate;    // dtype of the accumulator
    };
    struct CallResult {
        Ref<Call> call;
        std::uint8_t number;  // among the call's results
    };
    struct Transfer {
        Ref<Node> exported;  // the other queue's
    };
    struct Failed {
        std::shared_ptr<const Error> error;
    };
    /// What a node of its kind says beside its inputs, in the order of Kind.
    using Detail = std::variant<std::monostate, Scalar, Iota, Op, View, Reduce, CallResult, Transfer, Failed>;

    Node() = default;
    template <class T> explicit Node(T own) : detail(std::in_place_type<T>, std::move(own)) {}

    Kind kind = Kind::Leaf;
    DType dtype = DType::Float64;
    std::uint8_t arity = 0;
    bool scalar_value = false;    // 0-d result with value semantics
    bool read_only = false;       // must not be written by this handle's users; views of it inherit that
    bool reordered = false;       // the axes may lie in memory in another order than row-major; false: they do not
    std::uint32_t consumers = 0;  // pending nodes that have this one as an input; use_count() beyond it: the program holds the value
    Shape shape;
    Ref<device::Queue> queue;

    // Where the value is in memory: of a Leaf. A Call knows the strides that it will have.
    Ref<device::Buffer> buffer;
    Strides strides;          // elements
    std::int64_t offset = 0;  // elements from the buffer's start
    Ref<Node> base;           // the Leaf whose memory this one shows; null: its own

    // How a pending value is made.
    Detail detail;  // a Leaf keeps what it was made by, if that holds nothing
    Ref<Node> inputs[3];
    Use uses[3];  // one for each input
    Link users;   // uses of this node while it is pending, oldest first

    // The queue's list of pending nodes (GraphState).
    std::uint32_t depth = 0;  // operations between this pending node and memory, at most; 0 for a Leaf
    Node* previous = nullptr;
    Node* next = nullptr;

    // Scratch of one planning pass; meaningless outside it.
    std::uint32_t mark = 0, index = 0;

    /// True of failed nodes too. May be asked without the lock: once false it stays so, and the Leaf fields are there.
    bool pending() const { return std::atomic_ref<Kind>(const_cast<Kind&>(kind)).load(std::memory_order_acquire) != Kind::Leaf; }
    /// True of what is to arrive before anything reads it (plan/transfer.h). May be asked without the lock: once false it stays so.
    bool is_transfer() const { return std::atomic_ref<Kind>(const_cast<Kind&>(kind)).load(std::memory_order_acquire) == Kind::Transfer; }
    /// Whether a plan finds the value in memory: a leaf, or a call, which is computed before its users are planned.
    bool in_memory() const { return kind == Kind::Leaf || kind == Kind::Call; }
    std::int64_t size() const { return element_count(shape); }

    /// Of a Constant. As those below: throws std::bad_variant_access for other kinds.
    const Scalar& scalar() const { return std::get<Scalar>(detail); }
    /// Of an Iota.
    int axis() const { return std::get<Iota>(detail).axis; }
    /// Of an Elementwise; of a View of parts of complex elements, how they are computed where they are only read.
    Op op() const {
        const View* const shown = std::get_if<View>(&detail);
        return shown ? (shown->map->part == 1 ? Op::imag : Op::real) : std::get<Op>(detail);
    }
    /// Of a View.
    const ViewMap& view() const { return *std::get<View>(detail).map; }
    /// Of a Reduce.
    const Reduce& reduce() const { return std::get<Reduce>(detail); }
    /// Of a Call.
    const Ref<Call>& call() const { return std::get<CallResult>(detail).call; }
    /// Of a Transfer.
    const Ref<Node>& exported() const { return std::get<Transfer>(detail).exported; }
    /// Of a Failed.
    const std::shared_ptr<const Error>& error() const { return std::get<Failed>(detail).error; }

    static void destroy(Node* self);  // unlinks, releases inputs without deep recursion, returns the memory to a free list
};

/// A reference to a node that something besides pending nodes holds; null if nothing does, or if the node is being destroyed.
inline Ref<Node> if_held(Node* node) {
    if (node->use_count() <= node->consumers || !node->try_retain()) return nullptr;
    Ref<Node> held(node);
    node->release();
    return held;
}

/// A queue's graph lock. A thread that has to wait for it releases the caller's language's lock: its holder may wait for work that needs
/// that. No thread waits for work while it holds one: what it has to wait for is waited for when it releases its last one; see
/// device/waiting.h.
class GraphLock {
public:
    void lock() {
        while (!mutex_.try_lock()) {
            const device::Blocking blocking;  // not with the lock: whoever waits for the other language's one may never come back
            mutex_.lock();
            mutex_.unlock();
        }
        note();
    }
    bool try_lock() {
        if (!mutex_.try_lock()) return false;
        note();
        return true;
    }
    /// Calls f() if the lock is free, without a note of who holds it: for what waits for nothing, takes no other lock and throws nothing.
    template <class F> bool try_briefly(F&& f) noexcept {
        if (!mutex_.try_lock()) return false;
        f();
        mutex_.unlock();
        return true;
    }
    void unlock() noexcept {
        device::HeldLocks& here = *holder_;
        --depth_;
        mutex_.unlock();
        if (--here.count == 0 && here.owed) wait_for_owed(here);
    }

private:
    void note() {
        if (depth_++ == 0) holder_ = &device::held_locks();
        ++holder_->count;
    }
    std::recursive_mutex mutex_;
    int depth_ = 0;
    device::HeldLocks* holder_ = nullptr;  // the thread that has it
};

/// The graph side of a queue: its lock, and its pending nodes, oldest first.
/// A listed node whose use_count() is 0 waits for the lock to be unlinked by its destroyer: pass over it, and keep others only by
/// try_retain().
struct GraphState : device::Queue::Attachment {
    GraphState() = default;
    ~GraphState() override;
    GraphLock lock;
    Node* first = nullptr;
    Node* last = nullptr;
    std::int64_t pending_count = 0, transfers = 0;  // of the first, those that are transfers
    std::int64_t pinned_bytes =
        0;  // of buffers that only pending nodes keep alive, estimated from above: bytes of their distinct leaf inputs
    std::shared_ptr<void> plans;  // src/plan's: those that this queue has used lately
    void* capture = nullptr;      // src/plan's Capture, which takes all that is forced; null: it runs
};
GraphState& make_state(device::Queue* queue);
inline GraphState& state_of(device::Queue* queue) {
    if (auto* const made = queue->attached.load(std::memory_order_acquire)) [[likely]]
        return static_cast<GraphState&>(*made);
    return make_state(queue);
}
/// Uses of a buffer by pending nodes. Caller holds the graph lock.
int reader_count(const device::Buffer& buffer);

/// The elements of a Leaf, as work uses them; points to its shape.
inline device::View view_of(const Node& leaf) {
    const std::int64_t size = itemsize(leaf.dtype);
    return {leaf.offset * size, size, leaf.shape, leaf.strides, 0};
}

/// What launches take for a value of their signature: a Leaf or a Constant, memory alone, or a number.
class Bound {
public:
    explicit Bound(const Node& node) : node_(&node), number_(std::get_if<Scalar>(&node.detail)) {}
    explicit Bound(device::Buffer* memory) : memory_(memory) {}
    explicit Bound(const Scalar& number) : number_(&number) {}

    device::Buffer* buffer() const { return node_ ? node_->buffer.get() : memory_; }
    std::int64_t first() const { return node_ ? node_->offset * itemsize(node_->dtype) : 0; }
    std::int64_t extent(int d) const { return node_->shape[d]; }
    std::int64_t stride(int d) const { return node_->strides[d]; }
    device::View view() const { return node_ ? view_of(*node_) : device::View(); }
    const Scalar& number() const { return *number_; }

private:
    const Node* node_ = nullptr;
    device::Buffer* memory_ = nullptr;
    const Scalar* number_ = nullptr;
};

/// dtype and shape of one result of a call.
struct ResultType {
    DType dtype;
    Shape shape;
};

// Making nodes. Callers hold the graph lock; results are linked into the pending list (but for Leaf) and counted.
Ref<Node> make_leaf(Ref<device::Queue> queue, DType dtype, Shape shape, Strides strides, std::int64_t offset, Ref<device::Buffer> buffer);
/// A Leaf that shows memory of another one: read-only if that is.
Ref<Node> make_leaf_view(Node* leaf, DType dtype, Shape shape, Strides strides, std::int64_t offset);
Ref<Node> make_constant(Ref<device::Queue> queue, const Scalar& value, Shape shape);  // value.dtype is the node's
Ref<Node> make_iota(Ref<device::Queue> queue, Shape shape, int axis);
Ref<Node> make_elementwise(Op op, DType dtype, Shape shape, std::span<Node* const> inputs);
/// A Leaf when the input is one (shares its buffer), else a View.
Ref<Node> make_view(Node* input, Shape shape, ViewMap map);
Ref<Node> make_reduce(ReduceOp op, Node* input, std::uint32_t axes, DType accumulate, DType result);
/// The pending results of `call`, one for each type, into `results`.
void make_call(const Ref<Call>& call, std::span<Node* const> inputs, std::span<const ResultType> types, Ref<Node>* results);
/// What `exported`, a call of another queue, computes into memory of this queue's device. That queue's lock is not needed.
Ref<Node> make_transfer(Ref<device::Queue> queue, Ref<Node> exported);
/// Turns a pending node into a Leaf over `buffer`, and with it the pending views of it; for src/plan.
void materialize(Node* node, Ref<device::Buffer> buffer, Strides strides, std::int64_t offset);
/// Turns a pending node and all pending ones that depend on it into failed ones, which raise `error` at each use; for src/plan.
void fail(Node* node, std::shared_ptr<const Error> error);

}  // namespace pardo::graph

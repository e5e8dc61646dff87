// include/pardo/array.h: the n-dimensional array: a handle to memory, or to a value that has been recorded and not yet computed.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <pardo/dtype.h>
#include <pardo/export.h>
#include <pardo/memory.h>
#include <pardo/queue.h>

namespace pardo {

namespace graph {
struct Node;
}
class Array;

using Extents = std::span<const std::int64_t>;

/// One part of an index expression `x[…]`.
struct Slice {
    std::optional<std::int64_t> start, stop, step;
};
struct NewAxis {};
struct Ellipsis {};
using IndexPart = std::variant<std::int64_t, Slice, NewAxis, Ellipsis, bool, Array>;  // Array: integers or a mask; bool: x[True]

/// What becomes of a value once it has been stored: one that is not read again gets no memory of its own.
enum class After : std::uint8_t {
    Kept,
    PerhapsDropped,  // most likely dropped; when it is read again after all, it may be computed again
    Dropped,
};

/// A handle; copying it is cheap and shares the value. All functions of ops.h take and give it.
class PARDO_API Array {
public:
    /// An empty handle: valid only to assign to, copy or destroy.
    Array() noexcept = default;
    explicit Array(graph::Node* node) noexcept;  // internal; takes a new reference
    struct Adopt {};
    Array(graph::Node* node, Adopt) noexcept : node_(node) {}  // internal; takes over the caller's reference
    Array(const Array&) noexcept;
    Array(Array&&) noexcept;
    Array& operator=(Array) noexcept;
    ~Array();

    // Facts; none of these computes anything.
    DType dtype() const noexcept;
    int ndim() const noexcept;
    Extents shape() const noexcept;
    std::int64_t size() const noexcept;  // elements
    std::int64_t nbytes() const noexcept;
    Queue queue() const;
    /// It remembers a queue that the user made: Queue::of(x.device()) is x.queue().
    Device device() const;
    /// True for 0-d results of operations (sums, x[i]): they behave as NumPy's scalars, so `t += 1` binds a new value.
    bool is_scalar_value() const noexcept;
    /// True while the value is recorded and not computed.
    bool pending() const noexcept;

    // Computing.
    /// Hands the computation over, if that has not happened; does not wait.
    const Array& force() const;
    /// The same for a caller that waits for it next: this thread may compute some of it.
    const Array& force_to_wait() const;
    /// Forces, waits, raises late failures.
    const Array& wait() const;
    /// Waits; the failure that reading the elements raises, which counts as acknowledged; nothing where they are whole.
    std::optional<Error> failure() const;
    /// Waits, and makes failed elements readable as they are: nothing is said of their values. Throws what failed where there is no memory.
    const Array& accept() const;
    /// Event of the last write to this array's elements.
    Event event() const;
    /// Those writes that are not over, and those that have failed.
    std::vector<Event> writes() const;

    // Memory; these force, and data() and friends wait.
    /// In elements. Known without waiting, after force().
    Extents strides() const;
    /// Address of the first element, host-readable on the CPU; valid while some handle to this memory lives.
    const void* data() const;
    void* mutable_data() const;  // throws Value when read-only; marks nothing: see share_writable
    bool writeable() const;
    /// Address of the first element as kernels of the device see it; does not wait.
    std::uint64_t address() const;
    /// True when other code may write the memory: what uses it is waited for.
    bool externally_writable() const;
    /// True while other code may read the memory: what writes it is waited for.
    bool externally_readable() const;
    bool is_contiguous() const;  // row-major
    MemoryKind memory_kind() const;
    /// Keeps the memory alive, for exports: call the returned function to release it. Until then other code may read it: what writes it
    /// is over when it returns.
    std::function<void()> hold() const;
    /// As hold; and from now on other code may write: operations on this memory are over when they return. Waits for those under way.
    std::function<void()> share_writable() const;

    // Views and copies.
    Array operator[](std::span<const IndexPart> index) const;
    Array operator[](std::int64_t i) const;
    // x[index] = value, and x[...] = value; from a temporary, or from std::move(value), it becomes one kernel.
    void set(std::span<const IndexPart> index, const Array& value, After after = After::Kept) const;
    void set(std::span<const IndexPart> index, Array&& value) const { set(index, value, After::Dropped); }
    void set(std::span<const IndexPart> index, const Scalar& value) const;
    void assign(const Array& value, After after = After::Kept) const;
    void assign(Array&& value) const { assign(value, After::Dropped); }
    void assign(const Scalar& value) const;
    Array astype(DType dtype, bool copy = true) const;
    Array copy() const;
    Array to_queue(const Queue& queue) const;     // this array when it is already there, else a copy
    Array to_device(const Device& device) const;  // to the canonical queue, or the one that the device remembers

    // Values.
    /// The one value of an array of size 1 (else Value error); waits.
    Scalar item() const;
    /// Copies all values, row-major, into host memory of nbytes(); waits.
    void copy_to(void* host) const;

    graph::Node* node() const noexcept { return node_; }

private:
    graph::Node* node_ = nullptr;
};

/// Either an array or a plain number, as operators take them.
class PARDO_API Operand {
public:
    Operand(const Array& a) : array_(&a) {}
    Operand(Array&& a) : array_(&a), expiring_(&a) {}  // the operation takes the handle, so that nothing is kept for it
    Operand(const Scalar& s) : scalar_(s) {}
    Operand(bool v) : scalar_(v) {}
    Operand(int v) : scalar_(v) {}
    Operand(std::int64_t v) : scalar_(v) {}
    Operand(double v) : scalar_(v) {}
    Operand(std::complex<double> v) : scalar_(v) {}
    const Array* array() const { return array_; }
    const Scalar& scalar() const { return scalar_; }
    /// The handle that the operation may take; null for others.
    Array* expiring() const { return expiring_; }

private:
    const Array* array_ = nullptr;
    Array* expiring_ = nullptr;
    Scalar scalar_;
};

// In from the host.
/// Copies host memory (strides in bytes, any alignment) to a new array. Throws Buffer for what cannot be a range of memory.
PARDO_API Array from_host(const void* data, DType dtype, Extents shape, Extents strides_bytes, const Queue& queue = Queue(),
                          MemoryKind kind = MemoryKind::Device, const char* op_name = "asarray");
/// Says of a fresh copy that it stands for values without a place of their own, which follow the arrays that they meet: it has no part in
/// the kind of memory of results.
PARDO_API Array note_following(Array copy);
/// The bytes of a contiguous array from `offset` on as elements of another dtype, row-major, on the same memory. Throws Value where they do
/// not suffice or `offset` is no multiple of the element size.
PARDO_API Array reinterpret(const Array& bytes, DType dtype, Extents shape, std::int64_t offset = 0);
/// A part of an array of adjacent bytes as elements of another dtype: the first one `offset` bytes in, strides in bytes. Throws Value where
/// they are not multiples of the element size, or leave the memory.
PARDO_API Array strided(const Array& bytes, DType dtype, Extents shape, Extents strides_bytes, std::int64_t offset);
/// x in memory of a kind: itself when it is there already, else a copy. Hands the computation over.
PARDO_API Array in_memory(const Array& x, MemoryKind kind);
/// Shares host memory on a CPU device (strides in elements); `release` is called when the last use is over, and not
/// at all when this throws: Buffer for what cannot be a range of memory.
PARDO_API Array share_host(void* data, DType dtype, Extents shape, Extents strides, bool read_only, std::function<void()> release,
                           const Queue& queue = Queue(), const char* op_name = "asarray");
/// A new array from a C++ range.
template <class T> Array array(std::span<const T> values, const Queue& queue = Queue()) {
    const std::int64_t shape[] = {static_cast<std::int64_t>(values.size())}, strides[] = {sizeof(T)};
    return from_host(values.data(), dtype_of<T>, shape, strides, queue);
}
template <class T> Array array(std::initializer_list<T> values, const Queue& queue = Queue()) {
    return array(std::span<const T>(values.begin(), values.size()), queue);
}

// How the plan looks.
/// Text: groups, kernels, bytes read and written, and why each cut was made; computes nothing.
PARDO_API std::string explain(std::span<const Array> roots);
/// Forces several arrays together, so that common work is done once.
PARDO_API void force(std::span<const Array> roots);
/// What reads `values` fails with this error, and the caller's line, if an element of `wrong`, an array of bools, is true. Does not wait.
PARDO_API void fail_where(const Array& values, const Array& wrong, ErrorCode code, std::string message);

/// Process-wide counts: recorded, forced, planned, flushed, launched, compiled, from_disk, from_pack, bytes_read, bytes_written, copies,
/// fallbacks.
struct CounterValue {
    const char* name;
    std::uint64_t value;
};
PARDO_API std::vector<CounterValue> counters_now();

/// Called when work is handed over asynchronously, to name the user's line in late failures; may return null. It is called often: a hook
/// that gives the same string again need not make it again.
PARDO_API void set_location_hook(std::shared_ptr<const std::string> (*hook)());

}  // namespace pardo

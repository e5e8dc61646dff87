// include/pardo/array.h: the n-dimensional array: a handle to memory, or to a value that has been recorded and not yet computed.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>
#include <version>
#ifdef __cpp_lib_mdspan
#include <array>
#include <mdspan>
#endif

#include <pardo/dtype.h>
#include <pardo/error.h>
#include <pardo/export.h>
#include <pardo/extents.h>
#include <pardo/memory.h>
#include <pardo/queue.h>

/// Arrays and kernels on every device of a machine.
namespace pardo {

namespace graph {
struct Node;
}
class Array;
class IndexPart;

/// Part of an index: x[Slice{0, 2}] is NumPy's x[0:2].
struct Slice {
    std::optional<std::int64_t> start{}, stop{}, step{};  ///< without a value: as where the word of Python is left out
};
/// The same by Python's words: slice(2) is [:2], slice(0, 2) is [0:2], slice({}, {}, -1) is [::-1].
constexpr Slice slice(std::optional<std::int64_t> stop) { return {{}, stop, {}}; }
/// From `start` to before `stop`, every `step`-th position.
constexpr Slice slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop, std::optional<std::int64_t> step = {}) {
    return {start, stop, step};
}
struct NewAxis {};   ///< an axis of extent 1 in an index: NumPy's None
struct Ellipsis {};  ///< all axes that an index does not name
/// @cond
// The reduction of ops.h; in an index, where the word stands for all positions of an axis: x[{slice(0, 2), all}] is NumPy's x[0:2, :].
PARDO_API Array all(const Array& x, const Axes& axes, bool keepdims);
/// @endcond

/// What becomes of a value once it has been stored: one that is not read again gets no memory of its own.
enum class After : std::uint8_t {
    Kept,
    PerhapsDropped,  ///< most likely dropped; when it is read again after all, it may be computed again
    Dropped,
};

/// A handle; copying it is cheap and shares the value. All functions of ops.h take and give it.
class PARDO_API Array {
public:
    /// An empty handle, to be assigned to: it has no value, and what asks for one is a Value error.
    Array() noexcept = default;
    explicit Array(graph::Node* node) noexcept;  ///< internal; takes a new reference
    struct Adopt {};
    Array(graph::Node* node, Adopt) noexcept : node_(node) {}  ///< internal; takes over the caller's reference
    Array(const Array&) noexcept;
    Array(Array&&) noexcept;
    Array& operator=(Array) noexcept;
    ~Array();

    // Facts; none of these computes anything.
    DType dtype() const;          ///< of its elements
    int ndim() const;             ///< how many dimensions
    Extents shape() const;        ///< extents along the dimensions; valid as long as the array is
    std::int64_t size() const;    ///< elements
    std::int64_t nbytes() const;  ///< bytes of all elements
    Queue queue() const;          ///< where operations on it run
    /// It remembers a queue that the user made: Queue::of(x.device()) is x.queue().
    Device device() const;
    /// True for 0-d results of operations (sums, x[i]): they behave as NumPy's scalars, so `t += 1` binds a new value.
    bool is_scalar_value() const;
    /// True while the value is recorded and not computed.
    bool pending() const;

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
    void* mutable_data() const;  ///< throws Value when read-only; marks nothing: see share_writable
    bool writeable() const;      ///< false of arrays that refuse writes
    /// Address of the first element as kernels of the device see it; does not wait.
    std::uint64_t address() const;
    /// True when other code may write the memory: what uses it is waited for.
    bool externally_writable() const;
    /// True while other code may read the memory: what writes it is waited for.
    bool externally_readable() const;
    bool is_contiguous() const;      ///< row-major
    MemoryKind memory_kind() const;  ///< where its memory lies
    /// Keeps the memory alive, for exports: call the returned function to release it. Until then other code may read it: what writes it
    /// is over when it returns.
    std::function<void()> hold() const;
    /// As hold; and from now on other code may write: operations on this memory are over when they return. Waits for those under way.
    std::function<void()> share_writable() const;

    // Views and copies.
    /// x[{1, Slice{0, 2}, Ellipsis{}}]: NumPy's x[1, 0:2, ...].
    Array operator[](std::span<const IndexPart> index) const;
    Array operator[](std::initializer_list<IndexPart> index) const;  ///< the same from parts in braces
    Array operator[](const IndexPart& part) const;                   ///< with one part: a slice, an array of integers, a mask
    /// The part at a position of the first axis, negative ones counted from the end.
    template <Integer T> Array operator[](T i) const { return element(clamped(i)); }
    /// The same with parts as arguments: x.at(Slice{0, 2}, 3).
    template <class... Part> Array at(Part&&... parts) const;
    /// x[index] = value. From a temporary, or from std::move(value), it becomes one kernel.
    void set(ListOf<IndexPart> index, const Array& value, After after = After::Kept) const;
    void set(ListOf<IndexPart> index, Array&& value) const;
    void set(ListOf<IndexPart> index, const Scalar& value) const;
    /// x[...] = value.
    void assign(const Array& value, After after = After::Kept) const;
    void assign(Array&& value) const { assign(value, After::Dropped); }
    void assign(const Scalar& value) const;
    /// The values in another dtype, converted as NumPy does; `copy` false: itself where it has that dtype.
    Array astype(DType dtype, bool copy = true) const;
    Array copy() const;                           ///< an array of its own
    Array to_queue(const Queue& queue) const;     ///< this array when it is already there, else a copy
    Array to_device(const Device& device) const;  ///< to the canonical queue, or the one that the device remembers

    // Values.
    /// The one value of an array of size 1 (else Value error); waits.
    Scalar item() const;
    /// The same as a C++ type, converted as astype does.
    template <Element T> T item() const { return item().as<T>(); }
    /// Copies all values, row-major, into host memory of nbytes(); waits.
    void copy_to(void* host) const;
    /// All values, row-major, converted as astype does; waits.
    template <Element T> std::vector<T> to_vector() const;
    /// The elements where they are, in memory that the host reads: valid while some handle to it lives; waits. Throws Type where T is not
    /// their type, and Buffer where they are not contiguous, or the host does not see them.
    template <Element T> std::span<const T> span() const;
#ifdef __cpp_lib_mdspan
    /// The same of an array of `Rank` dimensions, whatever its strides.
    template <Element T, std::size_t Rank> std::mdspan<const T, std::dextents<std::int64_t, Rank>, std::layout_stride> mdspan() const {
        require_elements("mdspan", dtype_of<T>, static_cast<int>(Rank));
        const T* first = static_cast<const T*>(data());
        std::array<std::int64_t, Rank> extents{}, steps{};
        std::ranges::copy(shape(), extents.begin());
        std::ranges::copy(strides(), steps.begin());
        return {first, std::layout_stride::mapping(std::dextents<std::int64_t, Rank>(extents), steps)};
    }
#endif

    class Parts;
    /// Iterates over x[0], x[1], …, as NumPy does: for (const Array& row : x). Throws Type of an array without dimensions.
    Parts begin() const;
    /// After the last part.
    Parts end() const;

    /// Internal: unchecked; null in an empty handle.
    graph::Node* node() const noexcept { return node_; }

private:
    friend class IndexPart;
    /// An index that no int64 holds is out of bounds of every array.
    template <Integer T> static std::int64_t clamped(T i) {
        if constexpr (std::is_unsigned_v<T>)
            return static_cast<std::int64_t>(std::min<std::uint64_t>(i, std::numeric_limits<std::int64_t>::max()));
        return static_cast<std::int64_t>(i);
    }
    Array element(std::int64_t i) const;
    /// Throws Type unless the elements are of this dtype, and Value of another number of dimensions (-1: any).
    void require_elements(const char* op_name, DType dtype, int dimensions) const;
    std::int64_t parts() const;
    graph::Node* node_ = nullptr;
};

/// The iterator over the parts along the first axis.
class Array::Parts {
public:
    using difference_type = std::int64_t;
    using value_type = Array;
    Parts() = default;
    Parts(const Array& of, std::int64_t at) : of_(of), at_(at) {}
    Array operator*() const { return of_[at_]; }
    Parts& operator++() {
        ++at_;
        return *this;
    }
    Parts operator++(int) { return std::exchange(*this, Parts(of_, at_ + 1)); }
    friend bool operator==(const Parts& a, const Parts& b) { return a.at_ == b.at_; }

private:
    Array of_;
    std::int64_t at_ = 0;
};
inline Array::Parts Array::begin() const { return {*this, 0}; }
inline Array::Parts Array::end() const { return {*this, parts()}; }

// clang-format off
template <class T>
concept OtherIndexPart = OneOf<std::remove_cvref_t<T>, Slice, NewAxis, Ellipsis, bool, Array>;
// clang-format on
/// One part of an index: an integer, a Slice, `all`, NewAxis, Ellipsis, an array of integers or a mask; a bool is NumPy's x[True], and
/// floats are none.
class IndexPart : public std::variant<std::int64_t, Slice, NewAxis, Ellipsis, bool, Array> {
public:
    template <Integer T> IndexPart(T i) : variant(Array::clamped(i)) {}  ///< a position
    // The concept leaves an IndexPart out.
    /// Any other part but `all`.
    template <OtherIndexPart T> IndexPart(T&& part) : variant(std::forward<T>(part)) {}  // NOLINT(bugprone-forwarding-reference-overload)
    /// `all`; any other function is a Type error.
    template <std::same_as<Array (*)(const Array&, const Axes&, bool)> Function> IndexPart(Function every) : variant(Slice{}) {
        if (every != &all) throw Error(ErrorCode::Type, "x[...]: of functions only `all` is an index: every position of an axis");
    }
};

inline Array Array::operator[](std::initializer_list<IndexPart> index) const { return (*this)[std::span(index.begin(), index.size())]; }
inline Array Array::operator[](const IndexPart& part) const { return (*this)[std::span(&part, 1)]; }
template <class... Part> Array Array::at(Part&&... parts) const { return (*this)[{IndexPart(std::forward<Part>(parts))...}]; }
inline void Array::set(ListOf<IndexPart> index, Array&& value) const { set(index, value, After::Dropped); }
template <Element T> std::vector<T> Array::to_vector() const {
    const auto count = static_cast<std::size_t>(size());
    if constexpr (std::same_as<T, bool>) {  // whose vector has no bools in memory
        const auto values = std::make_unique<bool[]>(count);
        astype(DType::Bool, false).copy_to(values.get());
        return std::vector<bool>(values.get(), values.get() + count);
    } else {
        std::vector<T> values(count);
        astype(dtype_of<T>, false).copy_to(values.data());
        return values;
    }
}

template <Element T> std::span<const T> Array::span() const {
    require_elements("span", dtype_of<T>, -1);
    const void* const first = data();
    if (!is_contiguous()) throw Error(ErrorCode::Buffer, "span: the elements are not contiguous: copy() has them so");
    return {static_cast<const T*>(first), static_cast<std::size_t>(size())};
}

/// The values as NumPy prints them, of large arrays the first and last ones; waits.
PARDO_API std::ostream& operator<<(std::ostream& stream, const Array& x);

/// Either an array or a plain number, as operators take them.
class PARDO_API Operand {
public:
    Operand(const Array& a) : array_(&a) {}            ///< an array
    Operand(Array&& a) : array_(&a), expiring_(&a) {}  ///< the operation takes the handle, so that nothing is kept for it
    Operand(const Scalar& s) : scalar_(s) {}           ///< a number of a dtype
    template <Number T> Operand(T v) : scalar_(v) {}   ///< a plain number
    const Array* array() const { return array_; }      ///< null where it is a number
    const Scalar& scalar() const { return scalar_; }   ///< the number; meaningless where the operand is an array
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

// From values of C++, whose type gives the dtype: array({1.0, 2.0}), array({{1, 2}, {3, 4}}), array(vector), array(2.5).
template <class R>
concept Elements = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && Element<std::ranges::range_value_t<R>>;
/// Any other range: of bools, which a vector of them has not in memory, a view, a list.
template <class R>
concept OtherElements = std::ranges::input_range<R> && !Elements<R> && Element<std::ranges::range_value_t<R>>;
template <class T>
concept ElementNumber = Number<T> && Element<T>;
/// One dimension, from a span.
template <Element T> Array array(std::span<const T> values, const Queue& queue = Queue()) {
    return from_host(values.data(), dtype_of<T>, static_cast<std::int64_t>(values.size()), std::int64_t{sizeof(T)}, queue,
                     MemoryKind::Device, "array");
}
/// The same from a vector, a std::array, or any other contiguous range.
template <Elements R> Array array(const R& values, const Queue& queue = Queue()) {
    return array(std::span<const std::ranges::range_value_t<R>>(values), queue);
}
/// The same from values in braces.
template <Element T> Array array(std::initializer_list<T> values, const Queue& queue = Queue()) {
    return array(std::span<const T>(values.begin(), values.size()), queue);
}
/// Two dimensions, from rows of one length.
template <Element T> Array array(std::initializer_list<std::initializer_list<T>> rows, const Queue& queue = Queue()) {
    const std::size_t length = rows.size() ? rows.begin()->size() : 0;
    const auto values = std::make_unique<T[]>(rows.size() * length);
    T* end = values.get();
    for (const auto& row : rows) {
        if (row.size() != length) throw Error(ErrorCode::Value, "array: rows are of different lengths");
        end = std::copy(row.begin(), row.end(), end);
    }
    const std::int64_t bytes = sizeof(T), columns = static_cast<std::int64_t>(length);
    return from_host(values.get(), dtype_of<T>, {static_cast<std::int64_t>(rows.size()), columns}, {columns * bytes, bytes}, queue,
                     MemoryKind::Device, "array");
}
/// Without dimensions, from a number.
template <ElementNumber T> Array array(T value, const Queue& queue = Queue()) {
    return from_host(&value, dtype_of<T>, {}, {}, queue, MemoryKind::Device, "array");
}
/// From any range that is read once: std::views::iota(0, 5), a std::list, a std::vector<bool>.
template <OtherElements R> Array array(R&& values, const Queue& queue = Queue()) {
    using T = std::ranges::range_value_t<R>;
    if constexpr (std::same_as<T, bool>) {
        std::vector<std::uint8_t> bools;
        std::ranges::copy(values, std::back_inserter(bools));
        return from_host(bools.data(), DType::Bool, static_cast<std::int64_t>(bools.size()), 1, queue, MemoryKind::Device, "array");
    } else {
        std::vector<T> kept;
        std::ranges::copy(values, std::back_inserter(kept));
        return array(std::span<const T>(kept), queue);
    }
}

// How the plan looks.
/// Text: groups, kernels, bytes read and written, and why each cut was made; computes nothing.
PARDO_API std::string explain(ListOf<Array> roots);
/// Forces several arrays together, so that common work is done once.
PARDO_API void force(ListOf<Array> roots);
/// What reads `values` fails with this error, and the caller's line, if an element of `wrong`, an array of bools, is true. Does not wait.
PARDO_API void fail_where(const Array& values, const Array& wrong, ErrorCode code, std::string message);

}  // namespace pardo

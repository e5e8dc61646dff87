// include/pardo/ops.h: the operations on arrays, by NumPy's names. Recorded unless a comment says "runs at once".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <pardo/array.h>

namespace pardo {

// Elementwise: one function a row of src/graph/ops.def (copied here by the build).
#define PARDO_DECLARE_elementwise_1(name) PARDO_API Array name(const Operand& a);
#define PARDO_DECLARE_elementwise_2(name) PARDO_API Array name(const Operand& a, const Operand& b);
#define PARDO_DECLARE_elementwise_3(name) PARDO_API Array name(const Operand& a, const Operand& b, const Operand& c);
#define PARDO_DECLARE_special_1 PARDO_DECLARE_elementwise_1
#define PARDO_DECLARE_special_2 PARDO_DECLARE_elementwise_2
#define PARDO_DECLARE_special_3 PARDO_DECLARE_elementwise_3
#define PARDO_DECLARE_conversion_1(name)
#define PARDO_DECLARE_conversion_2(name)
#define PARDO_DECLARE_conversion_3(name)
#define OP(name, arity, kind, dtypes, result, cost, identity, recipe, numpy, doc) PARDO_DECLARE_##kind##_##arity(name)
#include <pardo/detail/ops.def>
#undef OP
#undef PARDO_DECLARE_elementwise_1
#undef PARDO_DECLARE_elementwise_2
#undef PARDO_DECLARE_elementwise_3
#undef PARDO_DECLARE_special_1
#undef PARDO_DECLARE_special_2
#undef PARDO_DECLARE_special_3
#undef PARDO_DECLARE_conversion_1
#undef PARDO_DECLARE_conversion_2
#undef PARDO_DECLARE_conversion_3

/// One row of ops.def, for bindings, documentation and tests.
struct OpInfo {
    const char* name;  // "hypot"
    int arity;
    const char* numpy;     // "hypot"; "" when NumPy has none
    const char* dtypes;    // "FLOAT"
    const char* result;    // "PROMOTED"
    const char* identity;  // "ZERO"
    const char* doc;
};
/// The rows that are public functions, in order; the position is the operation's id.
PARDO_API std::span<const OpInfo> op_table();
/// Records row `id`. `dtype` as NumPy's keyword: the loop's dtype, inputs are cast to it (same_kind).
PARDO_API Array apply(int id, std::span<const Operand> operands, std::optional<DType> dtype = {});
/// Row `id` into `out` (runs at once), only where `where` is true if given. NumPy's rules: broadcast to out, same_kind cast.
PARDO_API void apply_out(int id, std::span<const Operand> operands, const Array& out, const Array* where = nullptr,
                         std::optional<DType> dtype = {});
/// The bits of the elements as another dtype of their size, neither complex: what frexp and ldexp are made of.
PARDO_API Array bitcast(const Array& x, DType dtype);
/// `x op= y`: as apply_out into x; may instead rebind a handle that shares memory with no other, so that it stays lazy.
PARDO_API void apply_inplace(int id, Array& x, const Operand& y);

/// What row `id` computes in for operands of these dtypes, and what it gives; `dtype` as for apply.
struct LoopTypes {
    DType loop, result;
};
PARDO_API LoopTypes loop_of(int id, std::span<const DType> operands, std::optional<DType> dtype = {});

// Operators. From temporaries the operation takes the handle, so that intermediate values of an expression are not held.
#define PARDO_OPERATOR(symbol, name)                                                            \
    inline Array operator symbol(const Array& a, const Operand& b) { return name(a, b); }       \
    inline Array operator symbol(Array&& a, const Operand& b) { return name(std::move(a), b); } \
    inline Array operator symbol(double a, const Array& b) { return name(a, b); }               \
    inline Array operator symbol(double a, Array&& b) { return name(a, std::move(b)); }
PARDO_OPERATOR(+, add)
PARDO_OPERATOR(-, subtract)
PARDO_OPERATOR(*, multiply)
PARDO_OPERATOR(/, divide)
#undef PARDO_OPERATOR
inline Array operator-(const Array& a) { return negative(a); }
inline Array operator-(Array&& a) { return negative(std::move(a)); }

// Creation. Without a dtype: float64, or float32 on a device that has no float64. `op_name` is for messages.
PARDO_API Array full(Extents shape, const Scalar& value, std::optional<DType> dtype = {}, const Queue& queue = Queue(),
                     const char* op_name = "full");
PARDO_API Array zeros(Extents shape, std::optional<DType> dtype = {}, const Queue& queue = Queue());
PARDO_API Array ones(Extents shape, std::optional<DType> dtype = {}, const Queue& queue = Queue());
PARDO_API Array empty(Extents shape, std::optional<DType> dtype = {}, const Queue& queue = Queue(), MemoryKind kind = MemoryKind::Device,
                      const char* op_name = "empty");
PARDO_API Array arange(const Scalar& start, const Scalar& stop, const Scalar& step, std::optional<DType> dtype = {},
                       const Queue& queue = Queue());
PARDO_API Array linspace(const Scalar& start, const Scalar& stop, std::int64_t num, bool endpoint = true, std::optional<DType> dtype = {},
                         const Queue& queue = Queue());
PARDO_API Array eye(std::int64_t rows, std::int64_t columns, std::int64_t k = 0, std::optional<DType> dtype = {},
                    const Queue& queue = Queue());
PARDO_API Array tril(const Array& x, std::int64_t k = 0);
PARDO_API Array triu(const Array& x, std::int64_t k = 0);
/// Values of the index along one axis of a shape, Int64.
PARDO_API Array iota(Extents shape, int axis, const Queue& queue = Queue(), const char* op_name = "iota");

// Reductions, positions and scans: one function a row of src/graph/reductions.def (copied here by the build). Axes empty and `all`: every
// axis. `where`: only those elements take part.
enum class Reduction : std::uint8_t {
#define REDUCTION(id, name, keywords, method, fold, element, dtype, identity, doc, gives) id,
#include <pardo/detail/reductions.def>
};
PARDO_API Array reduce(Reduction op, const Array& x, const std::optional<std::vector<std::int64_t>>& axes = {}, bool keepdims = false,
                       std::optional<DType> dtype = {}, const Array* where = nullptr, std::optional<Scalar> initial = {});
/// Inclusive scan along an axis; without one, of the flattened array.
PARDO_API Array cumulative(Reduction op, const Array& x, std::optional<std::int64_t> axis = {}, std::optional<DType> dtype = {},
                           bool include_initial = false);
#define REDUCTION(id, name, keywords, method, fold, element, dtype, identity, doc, gives)                                 \
    inline Array name(const Array& x, const std::optional<std::vector<std::int64_t>>& axes = {}, bool keepdims = false) { \
        return reduce(Reduction::id, x, axes, keepdims);                                                                  \
    }
#define POSITION(name, method, fold, doc, gives) \
    PARDO_API Array name(const Array& x, std::optional<std::int64_t> axis = {}, bool keepdims = false);
#define SCAN(id, name, keywords, method, doc)                                                                 \
    inline Array name(const Array& x, std::optional<std::int64_t> axis = {}, std::optional<DType> dtype = {}, \
                      bool include_initial = false) {                                                         \
        return cumulative(Reduction::id, x, axis, dtype, include_initial);                                    \
    }
#include <pardo/detail/reductions.def>

/// One row of reductions.def, for bindings, documentation and tests.
struct ReductionInfo {
    const char* kind;  // "REDUCTION", "POSITION" or "SCAN"
    const char* name;  // "sum"
    int id;            // of reductions and scans: the Reduction
    const char* keywords;
    bool method;
    const char* fold;  // "sum"; "argmin"
    const char* doc;
    const char* gives;
};
PARDO_API std::span<const ReductionInfo> reduction_table();

// Elements of x taken together by row `id`, a function of two, one after the other; x is of a dtype that the row computes in and gives.
// Where the row has an identity (or ANY_ORDER), in blocks that are taken together then.
/// The axis stays, with extent 1. `initial` (without dimensions) comes first; elements where `where` (of x's shape) is false take no part.
PARDO_API Array fold(int id, const Array& x, std::int64_t axis, const Array* initial = nullptr, const Array* where = nullptr);
/// All that is on the way.
PARDO_API Array fold_steps(int id, const Array& x, std::int64_t axis);
/// Of x from starts[s] to before stops[s], and of x[starts[s]] in any case; both Int64, within the axis.
PARDO_API Array fold_segments(int id, const Array& x, std::int64_t axis, const Array& starts, const Array& stops);
/// What ufunc.at writes: row `id`, applied at each index in order. `old`: the elements that are there (equal for equal indices); `values`:
/// the second operands in the dtype that is computed in, null for functions of one; keys[0]: the indices, sorted; keys[1]: where each was.
PARDO_API Array fold_places(int id, const Array& old, const Array* values, const Array& keys, DType loop);
/// Whether accumulate_at takes the target: row-major, on a device that has code for the row and the dtype.
PARDO_API bool accumulates_at(int id, const Array& target);
/// Writes target[places[k]] = row(target[places[k]], values[k]) for each k; places index the target as if it had one dimension, values are
/// as many or one. Asynchronous: unless `inside`, places out of bounds are found later, and nothing is written then. Of many places that
/// name few elements, parts are taken together on their own: floats differ by rounding from one step after the other, but not from run to
/// run.
PARDO_API void accumulate_at(int id, const Array& target, const Array& places, const Array& values, bool inside = false);

PARDO_API Array mean(const Array& x, const std::optional<std::vector<std::int64_t>>& axes = {}, bool keepdims = false,
                     std::optional<DType> dtype = {}, const Array* where = nullptr);
PARDO_API Array var(const Array& x, const std::optional<std::vector<std::int64_t>>& axes = {}, double correction = 0, bool keepdims = false,
                    std::optional<DType> dtype = {}, const Array* where = nullptr);
PARDO_API Array stddev(const Array& x, const std::optional<std::vector<std::int64_t>>& axes = {}, double correction = 0,
                       bool keepdims = false, std::optional<DType> dtype = {}, const Array* where = nullptr);

// Views. reshape copies when strides cannot express the result (copy=false: Value error instead; copy=true: always).
PARDO_API Array reshape(const Array& x, Extents shape, std::optional<bool> copy = {});
PARDO_API Array permute_dims(const Array& x, Extents axes);
PARDO_API Array broadcast_to(const Array& x, Extents shape);
PARDO_API Array expand_dims(const Array& x, Extents axes);
PARDO_API Array squeeze(const Array& x, const std::optional<std::vector<std::int64_t>>& axes = {});
PARDO_API Array flip(const Array& x, const std::optional<std::vector<std::int64_t>>& axes = {});
PARDO_API Array moveaxis(const Array& x, Extents from, Extents to);
/// The real (0) or imaginary (1) parts of complex elements where they are, so that writing to them writes to x; real x itself.
PARDO_API Array part_view(const Array& x, int which);
PARDO_API Array diagonal(const Array& x, std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1);
/// All windows of x of some extents along `axes`: x's axes, shortened, then those of the window. Read-only. Forces x.
PARDO_API Array sliding_windows(const Array& x, Extents window, Extents axes);
/// The memory of x, from its first element on, in another shape and with other strides, counted in elements. Throws Value where that would
/// leave the memory. Forces.
PARDO_API Array as_strided(const Array& x, Extents shape, Extents strides);
PARDO_API std::vector<Array> broadcast_arrays(std::span<const Array> arrays);

// New arrays from old.
PARDO_API Array concat(std::span<const Array> arrays, std::optional<std::int64_t> axis = 0);
PARDO_API Array stack(std::span<const Array> arrays, std::int64_t axis = 0);
PARDO_API Array roll(const Array& x, Extents shift, const std::optional<std::vector<std::int64_t>>& axes = {});
PARDO_API Array repeat(const Array& x, std::int64_t count, std::optional<std::int64_t> axis = {});
PARDO_API Array repeat(const Array& x, const Array& counts, std::optional<std::int64_t> axis = {});
PARDO_API Array tile(const Array& x, Extents repetitions);
PARDO_API Array diff(const Array& x, std::int64_t n = 1, std::int64_t axis = -1, const Array* prepend = nullptr,
                     const Array* append = nullptr);

// Library routines (src/routines): handed over at once, asynchronous on their queue; those that return a data-dependent shape wait.
/// Of libraries that routines would call on a device and that are not there: what was found, what to install, where they were looked for.
PARDO_API std::vector<std::string> missing_libraries(const Device& device);
PARDO_API Array sort(const Array& x, std::int64_t axis = -1, bool descending = false, bool stable = true);
PARDO_API Array argsort(const Array& x, std::int64_t axis = -1, bool descending = false, bool stable = true);
PARDO_API Array partition(const Array& x, Extents kth, std::int64_t axis = -1);
PARDO_API Array argpartition(const Array& x, Extents kth, std::int64_t axis = -1);
/// What sorting would put at the positions `kth` (ascending, distinct, not negative) of an axis, whose extent becomes their number.
PARDO_API Array ranked(const Array& x, Extents kth, std::int64_t axis = -1);
/// The k largest (or smallest) along an axis, sorted: values and indices.
PARDO_API std::pair<Array, Array> top_k(const Array& x, std::int64_t k, std::int64_t axis = -1, bool largest = true);
PARDO_API Array searchsorted(const Array& sorted, const Array& values, bool right = false, const Array* sorter = nullptr);
PARDO_API std::vector<Array> nonzero(const Array& x);
PARDO_API Array take(const Array& x, const Array& indices, std::optional<std::int64_t> axis = {});
PARDO_API Array take_along_axis(const Array& x, const Array& indices, std::int64_t axis = -1);
PARDO_API Array matmul(const Array& a, const Array& b);
PARDO_API Array vecdot(const Array& a, const Array& b, std::int64_t axis = -1);
PARDO_API Array tensordot(const Array& a, const Array& b, Extents axes_a, Extents axes_b);
/// What a Fourier transform computes.
enum class Transform : std::uint8_t {
    Complex,
    RealToComplex,  // the half along the last of the axes that tells the other half
    ComplexToReal,  // from such a half
    Cosine,
    Sine,
};
struct Fourier {
    Transform transform = Transform::Complex;
    bool forward = true;      // the sign of the exponent is negative; of ComplexToReal it is that of what is undone
    double factor = 1;        // of the result
    int type = 0;             // 1 to 4, of cosine and sine transforms
    bool orthogonal = false;  // and whether their first or last terms are scaled so that the transform is orthogonal
};
/// Transforms along axes that differ, of these lengths: x is cut off or filled up with zeros. `op_name` is of static life.
PARDO_API Array fft(const Array& x, const Fourier& what, Extents lengths, Extents axes, const char* op_name = "fft");
/// Whether the queue's device computes transforms; else the CPU does, on copies.
PARDO_API bool has_fft(const Queue& queue);
/// Sorted distinct values; first indices, inverse (x's shape) and counts, empty handles if `values_only`. `equal_nan`: all NaNs are one
/// value (NumPy's default).
struct Unique {
    Array values, indices, inverse, counts;
};
PARDO_API Unique unique(const Array& x, bool equal_nan = false, bool values_only = false);
/// Where OpenBLAS is to be found (the Python layer knows the wheel's folder).
PARDO_API void set_openblas_path(std::string_view path);
/// For how long threads of OpenBLAS without work look for some before they sleep: OPENBLAS_THREAD_TIMEOUT, 2 to the power of this cycles.
inline constexpr const char* openblas_thread_timeout = "14";
/// The same for each OpenBLAS that the process has loaded already, NumPy's for instance: their threads are ended, and come again with the
/// next product. No thread may be in one of them. The number of those where that was possible.
PARDO_API int shorten_openblas_timeouts();
/// Products of a matrix and a vector may be computed by the OpenBLAS that NumPy has loaded, whose threads are awake after NumPy's own.
/// Whether it is there: that of NumPy's wheels is known, unless PARDO_OPENBLAS names one for all products.
PARDO_API bool use_openblas_of_numpy();

}  // namespace pardo

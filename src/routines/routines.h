// src/routines/routines.h: the routines that are not one fused loop, on memory: what each computes, independent of its implementations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <pardo/fft.h>
#include <pardo/ops.h>

#include "base/text.h"
#include "device/device.h"
#include "graph/node.h"
#include "routines/memory.h"
#include "routines/registry.h"

namespace pardo::routines {

/// Index arrays (Int64, contiguous) whose values are to be in [-size, size). They are looked through before anything is read or written by
/// them; if one value is not, nothing is, and the work fails with "<op_name>: index 7 is out of bounds for axis 0 with size 5".
struct Bounds {
    const char* op_name = "";  // of static life
    struct Row {
        Memory indices;
        std::int64_t size;
        int axis;  // for the message
    };
    std::vector<Row> rows;  // none: all are known to be right
};
/// Throws that.
[[noreturn]] void fail_bounds(const Bounds& bounds, const Bounds::Row& row, std::int64_t index);

/// One Routines::gather: result = (outer…, count, inner…), row-major; the base's indexed axes are `steps`, its other ones outer or inner.
struct GatherPlan {
    Shape outer, inner;                    // extents of axes that are not indexed, before and after the indices in the result
    Strides outer_strides, inner_strides;  // of the base, elements
    std::int64_t count = 0;                // index positions
    SmallVector<std::int64_t, 4> steps;    // the base's strides along the indexed axes, elements
    SmallVector<std::int64_t, 4> sizes;    // and its extents along them
    Bounds bounds;
};

/// What a routine of linear algebra is asked for; each reads what it has a use for.
struct MatrixOptions {
    const char* op_name = "";         // what the user called; of static life
    bool upper = false;               // cholesky: the factor, and the triangle that is read; eigh: the triangle
    bool raw = false;                 // qr: the reflectors and their factors in place of Q and R
    bool nan_where_singular = false;  // inv: in place of an error
    bool finite = false;              // elements that are infinite or NaN are an error
    bool unit_diagonal = false;       // triangular_solve: the diagonal is not read, and all ones
    bool transposed = false;          // lu_solve, triangular_solve: of the transposed matrix,
    bool conjugated = false;          // and of the conjugate one
    double rcond = 0;                 // lstsq: smaller singular values, as a share of the largest one, count as zero
    int first = 0, last = -1;         // eigh: the eigenvalues that are wanted; all of them by default
    int below = 0, above = 0;         // banded_solve: diagonals
};

/// Stacks of matrices, (batch…, rows, columns), of vectors, (batch…, n), and of numbers, (batch…); the batch shapes of all operands are
/// equal, and no extent is zero. Their dtype is float32, float64, complex64 or complex128, and the real one of that for results which are
/// real. A result that is not wanted is absent. Work on a matrix that cannot be done fails with ErrorCode::Matrix:
/// "<op_name>: Singular matrix (matrix 3 of the stack) (at model.py:42)".
using MatrixRoutine =
    Routine<void(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out)>;
/// Throws that; `place` is the line of the call.
[[noreturn]] void fail_matrix(const char* op_name, const char* reason, const Shape& batch, std::int64_t index, const Text& place);

/// What is asked of all elements of row-major memory, of bools or of integers of one or two bytes.
enum class Question : std::uint8_t {
    Any,    // of bools: whether one is true
    All,    // whether all are
    Count,  // how many are
    Least,  // where the first of the least ones is: of bools the first false one
    Most,   // where the first of the greatest ones is: of bools the first true one
};

// The fields of what routines take.
void field(Fields& f, DType& value);
void field(Fields& f, graph::ReduceOp& value);
void field(Fields& f, graph::Op& value);
void field(Fields& f, Question& value);
void field(Fields& f, Transform& value);
void field(Fields& f, Lines& value);
void field(Fields& f, Fourier& value);
void field(Fields& f, Bounds::Row& value);
void field(Fields& f, Bounds& value);
void field(Fields& f, GatherPlan& value);
void field(Fields& f, MatrixOptions& value);

/// The routines. All submit to `queue` and return at once unless they return a count. Inputs are contiguous unless a line says otherwise;
/// outputs are fresh and contiguous, or are written through the plan. Shapes and dtypes have been checked.

/// Running `op` (at most Max) along the lines of x; with `initial`, out's lines are one longer and start with op's identity. One dtype.
inline constinit Routine<void(device::Queue* queue, graph::ReduceOp op, const Memory& x, const Memory& out, Lines lines, bool initial)>
    cumulative("cumulative");
/// Sorted values of the lines into `values`, their positions (Int64) into `indices`; either may be absent. Stable, NaN last in
/// ascending order.
inline constinit Routine<void(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines,
                              bool descending)>
    sort("sort");
/// As sort, but only such that the positions `kth` (ascending) of each line hold what sorting would put there.
inline constinit Routine<void(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines,
                              std::span<const std::int64_t> kth)>
    partition("partition");
/// What sorting would put at the positions `kth` (ascending, distinct) of each line; out is (outer, kth, inner).
inline constinit Routine<void(device::Queue* queue, const Memory& x, const Memory& out, Lines lines, std::span<const std::int64_t> kth)>
    ranked("ranked");
/// The k first elements of each sorted line, in order; values and indices are (outer, k, inner).
inline constinit Routine<void(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines,
                              std::int64_t k, bool largest)>
    top_k("top_k");
/// Where `values` go in the sorted 1-d array; out is Int64, both operands have one dtype.
inline constinit Routine<void(device::Queue* queue, const Memory& sorted, const Memory& values, const Memory& out, bool right)>
    searchsorted("searchsorted");
/// Number of true elements. Waits. `blocks` (Int64, mask_blocks(size) + 1 of them) receives how many are true before each block.
inline constinit Routine<std::int64_t(device::Queue* queue, const Memory& mask, const Memory& blocks)> count_mask("count_mask");
/// The answer to a question about x, a Bool or an Int64. Ends as soon as it is known.
inline constinit Routine<void(device::Queue* queue, const Memory& x, const Memory& out, Question question)> look_through("look_through");
/// One Int64 array a dimension of the mask's shape, after count_mask.
inline constinit Routine<void(device::Queue* queue, const Memory& mask, const Memory& blocks, std::span<const Memory> out)> nonzero(
    "nonzero");
inline constinit Routine<void(device::Queue* queue, const Memory& x, const Memory& mask, const Memory& blocks, const Memory& out)> compress(
    "compress");
/// x: any strides. value: 1-d, as many elements as the mask has true ones.
inline constinit Routine<void(device::Queue* queue, const Memory& x, const Memory& mask, const Memory& blocks, const Memory& value)>
    put_mask("put_mask", true);
/// base: any strides, see GatherPlan; indices: Int64, plan.count elements each.
inline constinit Routine<void(device::Queue* queue, const Memory& base, std::span<const Memory> indices, const GatherPlan& plan,
                              const Memory& out)>
    gather("gather");
/// value: of the size and order that gather's result has, or of size one.
inline constinit Routine<void(device::Queue* queue, const Memory& base, std::span<const Memory> indices, const GatherPlan& plan,
                              const Memory& value)>
    scatter("scatter", true);
/// target[places[k]] = op(target[places[k]], values[k]) for each k; target and values have one dtype, values as many elements as places or
/// one. In the order of k where few elements are named, and where the target is long; else parts of it, whose number depends on the two
/// sizes alone, are taken together on their own and then one after the other. `bounds`: none, or of the places.
inline constinit Routine<void(device::Queue* queue, graph::Op op, const Memory& target, const Memory& places, const Memory& values,
                              const Bounds& bounds)>
    accumulate_at("accumulate_at", true);
/// out[o, j, i] = x[o, indices[o, j, i], i]; `lines` are those of x, `count` is the length of the indices' lines.
inline constinit Routine<void(device::Queue* queue, const Memory& x, const Memory& indices, const Memory& out, Lines lines,
                              std::int64_t count, const Bounds& bounds)>
    take_along_axis("take_along_axis");
/// marks[x[i] - low] = true for all i, of integers; the other marks stay.
inline constinit Routine<void(device::Queue* queue, const Memory& x, std::int64_t low, const Memory& marks)> mark_values("mark_values");
/// Number of runs of equal elements in a sorted 1-d array. Waits. `blocks` (Int64, mask_blocks(size) + 1) receives how many start
/// before each block.
inline constinit Routine<std::int64_t(device::Queue* queue, const Memory& sorted, bool equal_nan, const Memory& blocks)> count_runs(
    "count_runs");
/// The runs: their values, and if `order` (the sorting permutation) is there, first positions, counts, and each element's run.
inline constinit Routine<void(device::Queue* queue, const Memory& sorted, const Memory& order, bool equal_nan, const Memory& blocks,
                              const Memory& values, const Memory& indices, const Memory& inverse, const Memory& counts)>
    fill_runs("fill_runs");
/// out = a @ b for stacks of matrices: all three (batch…, rows, columns) with equal batch shapes. a, b: any strides that
/// matmul_takes says so of.
inline constinit Routine<void(device::Queue* queue, const Memory& a, const Memory& b, const Memory& out)> matmul("matmul");
/// out = the transform of x along axes that differ; at least one. x: any strides, unless fft_in_parts says so. Both have elements.
inline constinit Routine<void(device::Queue* queue, const Memory& x, const Memory& out, const Fourier& what, std::span<const int> axes)>
    fft("fft");
/// True when fft has no factors, half spectra in their usual direction only and ComplexToReal along one axis, and wants x contiguous: other
/// operations do the rest.
inline constinit Routine<bool(device::Queue* queue, Transform transform)> fft_in_parts("fft_in_parts");
/// Applies where a large transform along one axis is faster on a copy in which that is the last one.
inline constinit Routine<bool(device::Queue* queue)> fft_wants_lines("fft_wants_lines");
/// True when matmul takes an operand (…, rows, columns) with its strides.
inline constinit Routine<bool(device::Queue* queue, const Memory& operand)> matmul_takes("matmul_takes");
/// Throws Import where a product of this dtype needs a library that is not installed: told when it is recorded.
inline constinit Routine<void(device::Queue* queue, DType dtype)> matmul_ready("matmul_ready");

/// Throws Import as "<op_name>: …" where the routines below need a library that is not installed.
inline constinit Routine<void(device::Queue* queue, const char* op_name)> matrices_ready("matrices_ready");
/// a of (n, n), b of (n, k): x with a x = b.
inline constinit MatrixRoutine solve("solve");
/// a of (n, n): its inverse.
inline constinit MatrixRoutine inv("inv");
/// a of (n, n): sign and logarithm of the absolute value of its determinant; or, as a single result, the determinant.
inline constinit MatrixRoutine det("det");
/// a of (n, n), hermitian: the triangular factor, with zeros in its other triangle.
inline constinit MatrixRoutine cholesky("cholesky");
/// a of (m, n): Q of (m, k) and R of (k, n), where k is min(m, n), or m, with zeros below its diagonal. Q may be absent. Raw:
/// Householder vectors below the diagonal of R, as LAPACK's geqrf has them, of (m, n), and their factors of (min(m, n)).
inline constinit MatrixRoutine qr("qr");
/// a of (m, n): U of (m, k), singular values of (min(m, n)), in descending order, Vh of (k', n); k and k' both min(m, n), or m and n. U and
/// Vh may both be absent.
inline constinit MatrixRoutine svd("svd");
/// a of (n, n), hermitian: eigenvalues in ascending order, eigenvectors as columns. These may be absent.
inline constinit MatrixRoutine eigh("eigh");
/// a of (n, n): eigenvalues and eigenvectors as columns, complex. These may be absent.
inline constinit MatrixRoutine eig("eig");
/// a of (m, n), b of (m, k): the least squares solution of (n, k) of least norm, the sums of squared residuals of (k), which hold where m >
/// n and the rank is n, the rank (Int64, no dimensions), the singular values of (min(m, n)).
inline constinit MatrixRoutine lstsq("lstsq");
/// a of (m, n): both triangular factors of (m, n), without the ones of the lower one's diagonal; the row that each of the first min(m, n)
/// rows was exchanged with, in order (Int32); where each row of a has gone in the lower factor (Int64, (m)).
inline constinit MatrixRoutine lu_factor("lu_factor");
/// What lu_factor gives for square matrices, factors and exchanges, b of (n, k): x with a x = b.
inline constinit MatrixRoutine lu_solve("lu_solve");
/// a of (n, n), of which one triangle is read, b of (n, k): x with a x = b.
inline constinit MatrixRoutine triangular_solve("triangular_solve");
/// Diagonals as rows, (below + 1 + above, n), the uppermost one first, b of (n, k): x with a x = b.
inline constinit MatrixRoutine banded_solve("banded_solve");
/// The same for hermitian, positive definite matrices, of which one triangle is given: `upper`, or the lower one.
inline constinit MatrixRoutine banded_cholesky_solve("banded_cholesky_solve");
/// Elements of (1, 2 n - 1), from the last one of the first row to the last one of the first column, b of (n, k): x with a x = b.
inline constinit MatrixRoutine toeplitz_solve("toeplitz_solve");

/// Elements that one entry of `blocks` stands for.
inline constexpr std::int64_t mask_block = 16384;
constexpr std::int64_t mask_blocks(std::int64_t size) { return (size + mask_block - 1) / mask_block; }

}  // namespace pardo::routines

// include/pardo/linalg.h: linear algebra, by the names of numpy.linalg. Recorded. Stacks of matrices are arrays of (…, rows, columns).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <pardo/array.h>
#include <pardo/export.h>
#include <pardo/extents.h>

/// All compute in float32, float64, complex64 or complex128: integers and bools in float64 (float32 on a device that has no float64).
/// float16 and bfloat16 are Type errors. What is not square, or not a matrix, is a Matrix error at once; what the values of a matrix forbid
/// is one later, at the use of the result, and tells where the matrix is in the stack. `op_name`, of static life, is named by errors.
namespace pardo::linalg {

/// x with a x = b; b of one dimension is a vector, else matrices, which are broadcast against those of a.
PARDO_API Array solve(const Array& a, const Array& b, const char* op_name = "solve");
/// Inverses; of NaN where a matrix is singular, if that is asked for.
PARDO_API Array inv(const Array& a, bool nan_where_singular = false, const char* op_name = "inv");
/// Determinants.
PARDO_API Array det(const Array& a, const char* op_name = "det");
/// Signs of the determinants, and logarithms of their absolute values.
PARDO_API std::pair<Array, Array> slogdet(const Array& a, const char* op_name = "slogdet");

/// The factor, from the triangle that it lies in; the other one is not read.
PARDO_API Array cholesky(const Array& a, bool upper = false, bool finite = false, const char* op_name = "cholesky");

/// What qr gives.
enum class QrMode : std::uint8_t {
    Reduced,   ///< Q and R, with min(rows, columns) columns and rows
    Complete,  ///< Q is square
    R,         ///< R alone; the first handle is empty
    Raw,       ///< what LAPACK's geqrf gives: the reflectors, transposed, and their factors
};
/// Q with orthonormal columns and R, an upper triangle, with a = Q R.
PARDO_API std::pair<Array, Array> qr(const Array& a, QrMode mode = QrMode::Reduced, const char* op_name = "qr");

/// The result of svd.
struct Svd {
    Array u;   ///< left singular vectors, as columns
    Array s;   ///< singular values, in descending order
    Array vh;  ///< right singular vectors, as rows
};
/// u, the singular values in descending order, and vh: a = u diag(s) vh.
PARDO_API Svd svd(const Array& a, bool full_matrices = true, const char* op_name = "svd");
/// Singular values, in descending order.
PARDO_API Array svdvals(const Array& a, const char* op_name = "svdvals");

/// Eigenvalues in ascending order, and eigenvectors as columns, of hermitian matrices of which one triangle is read.
PARDO_API std::pair<Array, Array> eigh(const Array& a, bool upper = false, const char* op_name = "eigh");
/// The eigenvalues alone.
PARDO_API Array eigvalsh(const Array& a, bool upper = false, const char* op_name = "eigvalsh");
/// The same of matrices of any kind; always complex.
PARDO_API std::pair<Array, Array> eig(const Array& a, const char* op_name = "eig");
/// The eigenvalues alone; always complex.
PARDO_API Array eigvals(const Array& a, const char* op_name = "eigvals");

/// The result of lstsq.
struct LeastSquares {
    Array x;          ///< the solutions
    Array residuals;  ///< sums of squares, of (k); they hold where a has more rows than columns and full rank
    Array rank;       ///< int64, without dimensions
    Array s;          ///< singular values of a
};
/// Least squares solutions for one matrix a of (m, n) and b of (m, k).
PARDO_API LeastSquares lstsq(const Array& a, const Array& b, std::optional<double> rcond = {}, const char* op_name = "lstsq");

// Made of others. Integers and bools are taken as floats where the result is one.
/// Of vectors along axes that are taken together, all where none are named: sum(abs(x) ** ord) ** (1 / ord); of order infinity the largest
/// absolute value, of -infinity the smallest, of 0 how many are not 0.
PARDO_API Array vector_norm(const Array& x, const Axes& axes = {}, bool keepdims = false, double ord = 2);
/// Which norm of a matrix.
enum class MatrixNorm : std::uint8_t {
    Frobenius,  ///< root of the sum of squares
    Nuclear,    ///< sum of the singular values
    Spectral,   ///< the largest of them
    Columns,    ///< largest sum of absolute values of a column: NumPy's order 1
    Rows,       ///< of a row: NumPy's order infinity
};
/// Norms of the matrices over the last two axes.
PARDO_API Array matrix_norm(const Array& x, MatrixNorm kind = MatrixNorm::Frobenius, bool keepdims = false);
/// Sums of the diagonals of the last two axes.
PARDO_API Array trace(const Array& x, std::int64_t offset = 0);
/// Of two vectors: x1[i] x2[j].
PARDO_API Array outer(const Array& x1, const Array& x2);
/// Products of a matrix with itself; of its inverse where n is negative.
PARDO_API Array matrix_power(const Array& a, std::int64_t n);
/// How many singular values are above `rtol` times the largest one, int64; without `rtol` above max(rows, columns) epsilons.
PARDO_API Array matrix_rank(const Array& a, std::optional<double> rtol = {});
/// Pseudo-inverses: singular values up to `rtol` times the largest one count as 0; without `rtol` up to max(rows, columns) epsilons.
PARDO_API Array pinv(const Array& a, std::optional<double> rtol = {});

// By the names of scipy.linalg. `finite`: elements that are infinite or NaN are a Matrix error, when the result is used.

/// The result of lu_factor.
struct Lu {
    Array lu;      ///< both factors, of the shape of a
    Array pivots;  ///< int32: the row that each row was exchanged with, in order
    Array places;  ///< int64: where each row of a has gone in the lower factor
};
/// A lower factor with ones on its diagonal, an upper one, and the exchanges of rows.
PARDO_API Lu lu_factor(const Array& a, bool finite = false, const char* op_name = "lu_factor");
/// As a matrix is taken in a system.
enum class Taken : std::uint8_t { AsIs, Transposed, Adjoint };
/// x with a x = b, from lu_factor's result.
PARDO_API Array lu_solve(const Array& lu, const Array& pivots, const Array& b, Taken taken = Taken::AsIs, bool finite = false,
                         const char* op_name = "lu_solve");
/// x with a x = b for triangles a; the other triangle is not read, nor the diagonal if it is taken for ones.
PARDO_API Array solve_triangular(const Array& a, const Array& b, bool upper = true, Taken taken = Taken::AsIs, bool unit_diagonal = false,
                                 bool finite = false, const char* op_name = "solve_triangular");
/// Diagonals are rows of ab, of (below + 1 + above, n), the uppermost first; elements that are outside of the matrix are not read.
PARDO_API Array solve_banded(std::int64_t below, std::int64_t above, const Array& ab, const Array& b, bool finite = false,
                             const char* op_name = "solve_banded");
/// The same for hermitian, positive definite matrices, of which the upper or the lower diagonals are given.
PARDO_API Array solveh_banded(const Array& ab, const Array& b, bool upper = true, bool finite = false,
                              const char* op_name = "solveh_banded");
/// a[i, j] = elements[n - 1 + i - j], of (2 n - 1).
PARDO_API Array solve_toeplitz(const Array& elements, const Array& b, bool finite = false, const char* op_name = "solve_toeplitz");
/// Eigenvalues first to last, counted from 0, of hermitian matrices, and their eigenvectors; all where last is -1. Without `vectors` the
/// second handle is empty.
PARDO_API std::pair<Array, Array> eigh_subset(const Array& a, bool upper, int first, int last, bool vectors, bool finite = false,
                                              const char* op_name = "eigh");

/// True when the device, not the host, has code for a routine ("solve", "qr": the names of src/routines/routines.h), which may want another
/// way to a result than LAPACK takes.
PARDO_API bool has_device_code(std::string_view routine, const Array& x);

}  // namespace pardo::linalg

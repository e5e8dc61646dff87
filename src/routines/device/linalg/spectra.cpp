// src/routines/device/linalg/spectra.cpp: singular values, eigenvalues of hermitian matrices and least squares on devices that compile
// text.
#include <bit>
#include <limits>
#include <optional>

#include "routines/device/linalg/orthogonal.h"

namespace pardo::routines {

namespace {

using Form = OrthogonalRows::Form;

/// A = Q X, and J X has orthogonal rows, as long as the singular values are: U is Q Jᴴ. QR factorization of (J X)ᵀ makes Vh of its rows,
/// and of those that are zero too. Matrices with more columns than rows are transposed.
void svd_by_rotations(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const BlockSteps steps(queue, options.op_name);
    const MatrixStatus status(queue, options, "SVD did not converge", in[0]);
    if (options.finite) status.look_through(in[0]);
    const Block given(in[0]);
    const bool tall = given.rows >= given.columns, vectors = static_cast<bool>(out[0]);
    Block a = tall ? given : given.transposed();
    const std::int64_t n = a.columns;
    std::optional<Reflections> q;
    if (a.rows > n) {
        const Block copy(scratch_matrices(queue, in[0].dtype, a.count, a.rows, n));
        steps.copy_rows(a, copy);
        a = copy;
        q.emplace(steps, a);
    }
    OrthogonalRows found(steps, a.part(0, 0, n, n), q ? Form::Upper : Form::Matrix, vectors, status);
    found.order_by_length(out[1]);
    if (vectors) {
        const Memory &of_u = tall ? out[0] : out[2], &of_v = tall ? out[2] : out[0];
        const Block u = tall ? Block(of_u) : Block(of_u).transposed(), v = tall ? Block(of_v) : Block(of_v).transposed();
        make_unit(queue, options.op_name, of_u);
        found.columns(u.part(0, 0, n, n));
        if (q) q->apply(u);
        const Memory rows = scratch_matrices(queue, in[0].dtype, a.count, n, n);
        found.rows(Block(rows));
        const Reflections right(steps, Block(rows).transposed());
        make_unit(queue, options.op_name, of_v, rows);
        right.apply(v.transposed());
    }
    status.finish(out, found.info());
}

/// A + c I has no negative eigenvalues, so the rows of J (A + c I) are orthogonal where Jᴴ has its vectors, which are those of A.
void eigh_by_rotations(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const BlockSteps steps(queue, options.op_name);
    const MatrixStatus status(queue, options, "Eigenvalues did not converge", in[0]);
    if (options.finite) status.look_through(in[0]);
    OrthogonalRows found(steps, Block(in[0]), options.upper ? Form::HermitianByUpper : Form::HermitianByLower, true, status);
    found.order_by_eigenvalue(options.last < 0 ? 0 : options.first, out[0]);
    if (out[1]) found.columns(Block(out[1]));
    status.finish(out, found.info());
}

/// aᴴ b.
Memory adjoint_product(const BlockSteps& steps, Memory a, const Memory& b, const Memory& out = {}) {
    if (is_complex(a.dtype)) {
        const Memory conjugated = scratch_like(steps.queue(), a);
        steps.copy_rows(Block(a), Block(conjugated), true);
        a = conjugated;
    }
    const int rank = a.shape.size();
    std::swap(a.shape[rank - 1], a.shape[rank - 2]);
    std::swap(a.strides[rank - 1], a.strides[rank - 2]);
    Memory made = out ? out : scratch_matrices(steps.queue(), a.dtype, 1, a.shape[rank - 2], b.shape.back());
    if (!out) {
        made.shape = {a.shape[rank - 2], b.shape.back()};
        made.strides = {b.shape.back(), 1};
    }
    routines::matmul(steps.queue(), a, b, made);
    return made;
}

/// By singular values, those of R where there are more equations than unknowns.
void lstsq_by_factors(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const BlockSteps steps(queue, options.op_name);
    const Memory &a = in[0], &b = in[1];
    const DType dtype = a.dtype;
    const std::int64_t m = a.shape[0], n = a.shape[1], k = b.shape[1], fewer = std::min(m, n);
    const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
        Memory made = device_scratch(queue, dtype, rows * columns);
        made.shape = {rows, columns};
        made.strides = {columns, 1};
        return made;
    };
    Memory square = a, right = b;
    if (m > n) {
        const Memory qr[] = {matrix(m, n), matrix(n, n)};
        routines::qr(queue, options, in.first(1), qr);
        square = qr[1];
        right = adjoint_product(steps, qr[0], b);
    }
    const Memory svd[] = {matrix(square.shape[0], fewer), out[3], matrix(fewer, n)};
    routines::svd(queue, options, std::span(&square, 1), svd);
    const Memory parts = adjoint_product(steps, svd[0], right);
    const double least = options.rcond >= 0                 ? options.rcond
                         : real_of(dtype) == DType::Float32 ? std::numeric_limits<float>::epsilon()
                                                            : std::numeric_limits<double>::epsilon();
    const std::int64_t bits = real_of(dtype) == DType::Float32 ? std::int64_t{std::bit_cast<std::uint32_t>(static_cast<float>(least))}
                                                               : std::bit_cast<std::int64_t>(least);
    launch_kernel(queue, options.op_name, Variant(KernelId::DivideRows, dtype), groups_for(fewer * k),
                  {updates(parts), reads(out[3]), writes(out[2]), fewer, k, bits});
    adjoint_product(steps, svd[2], parts, out[0]);
    if (m <= n) return;
    const Memory image = matrix(m, k);
    routines::matmul(queue, a, out[0], image);
    launch_kernel(queue, options.op_name, Variant(KernelId::Residuals, dtype, {{"TEAM_BITS", 8}}), k,
                  {reads(b), reads(image), writes(out[1]), m, k});
}

const Registered small_svd(routines::svd, {"small kernels", DeviceKinds::Text, svd_by_rotations, takes_small_stack, 0.05});
const Registered any_svd(routines::svd, {"rotations", DeviceKinds::Text, svd_by_rotations, takes_stack, 0.5});
const Registered small_eigh(routines::eigh, {"small kernels", DeviceKinds::Text, eigh_by_rotations, takes_small_stack, 0.05});
const Registered any_eigh(routines::eigh, {"rotations", DeviceKinds::Text, eigh_by_rotations, takes_stack, 0.5});
const Registered any_lstsq(routines::lstsq, {"factors", DeviceKinds::Text, lstsq_by_factors, nullptr, 0.5});

}  // namespace

}  // namespace pardo::routines

// src/routines/cuda/cusolver.cpp: factorizations by NVIDIA's cuSOLVER where it is installed. What is A row by row is Aᵀ column by column.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "device/queue/queue.h"
#include "routines/cuda/cusolver.h"
#include "routines/device/linalg/blocks.h"
#include "routines/routines.h"

namespace pardo::routines {
namespace {

using nvidia::check;
using nvidia::MatrixFunctions;
using nvidia::Solver;
using nvidia::SolverState;
using nvidia::Taken;
using nvidia::Triangle;
using nvidia::Vectors;

/// The operands of a routine by value: it may run later. `info` has a number for each matrix: what has failed.
template <class T> struct DeviceStack {
    MatrixOptions options;
    const Solver* library;
    std::vector<T*> in;
    std::vector<void*> out;
    std::vector<Shape> in_shapes, out_shapes;
    int* info;
    std::int64_t count;

    int rows(const Shape& shape) const { return static_cast<int>(shape[shape.size() - 2]); }
    int columns(const Shape& shape) const { return static_cast<int>(shape.back()); }
    T* result(std::size_t k) const { return static_cast<T*>(out[k]); }
    Real<T>* real_result(std::size_t k) const { return static_cast<Real<T>*>(out[k]); }
};

/// Pieces of a stream's workspace: sizes are added up first, then the memory is there.
class DevicePieces {
public:
    template <class T> std::size_t add(std::int64_t elements) {
        const std::size_t at = bytes_;
        bytes_ += (static_cast<std::size_t>(std::max<std::int64_t>(elements, 1)) * sizeof(T) + 255) / 256 * 256;
        return at;
    }
    void allocate(SolverState& state) { memory_ = state.workspace(bytes_); }
    template <class T> T* get(std::size_t at) const { return reinterpret_cast<T*>(memory_ + at); }

private:
    char* memory_ = nullptr;
    std::size_t bytes_ = 0;
};

void copy_on_device(const SolverState& state, const char* op_name, const void* from, void* to, std::int64_t bytes) {
    const auto address = [](const void* p) { return static_cast<cuda::DevicePointer>(reinterpret_cast<std::uintptr_t>(p)); };
    const cuda::Result result =
        state.library.driver->cuMemcpyDtoDAsync(address(to), address(from), static_cast<std::size_t>(bytes), state.stream);
    if (result != cuda::result::success)
        throw Error(ErrorCode::Device, std::string(op_name) + ": a copy failed: " + state.library.driver->describe(result));
}

/// Addresses base, base + step, …, as the device reads them.
template <class T>
void store_addresses(const SolverState& state, const char* op_name, T* base, std::int64_t step, std::int64_t count, T** to) {
    std::vector<T*> addresses(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) addresses[static_cast<std::size_t>(i)] = base + i * step;
    // Memory that is not pinned has been read when this returns.
    const cuda::Result result =
        state.library.driver->cuMemcpyHtoDAsync(static_cast<cuda::DevicePointer>(reinterpret_cast<std::uintptr_t>(to)), addresses.data(),
                                                addresses.size() * sizeof(T*), state.stream);
    if (result != cuda::result::success)
        throw Error(ErrorCode::Device, std::string(op_name) + ": a copy failed: " + state.library.driver->describe(result));
}

/// to = op(from), of (m, n) column by column.
template <class T>
void transpose_on_device(const SolverState& state, const char* op_name, Taken how, int m, int n, const T* from, int from_step, T* to) {
    const T one(1), zero(0);
    check(state.library.get<T>().geam(state.blas, how, how, m, n, &one, from, from_step, &zero, from, from_step, to, m), op_name, "geam");
}

/// x with a x = b, where b lies column by column. Many systems go together if they are not too large. For the unit matrix of the transposed
/// one, as it lies, options say that: its inverse lies as that of A.
template <class T> void run_solve(const DeviceStack<T>& s, SolverState& state) {
    const MatrixFunctions<T>& f = state.library.get<T>();
    const char* name = s.options.op_name;
    const int n = s.rows(s.in_shapes[0]);
    const std::int64_t of_a = static_cast<std::int64_t>(n) * n,
                       of_b = static_cast<std::int64_t>(s.rows(s.out_shapes[0])) * s.columns(s.out_shapes[0]);
    const auto k = static_cast<int>(of_b / n);
    const bool together = s.count > 1 && n <= 512;
    const Taken how = s.options.transposed ? Taken::AsIs : Taken::Transposed;
    const std::int64_t at_once = together ? s.count : 1;
    int size = 0;
    if (!together) check(f.getrf_size(state.handle, n, n, s.in[0], n, &size), name, "getrf_bufferSize");
    DevicePieces pieces;
    const std::size_t lu = pieces.add<T>(of_a * at_once), work = pieces.add<T>(size), pivots = pieces.add<int>(n * at_once),
                      of_lu = pieces.add<T*>(at_once), of_x = pieces.add<T*>(at_once), ignored = pieces.add<int>(1);
    pieces.allocate(state);
    T* a = pieces.get<T>(lu);
    int* p = pieces.get<int>(pivots);
    for (std::int64_t i = 0; i < s.count; i += at_once) {
        copy_on_device(state, name, s.in[0] + i * of_a, a, of_a * at_once * static_cast<std::int64_t>(sizeof(T)));
        T* columns = s.result(0) + i * of_b;
        if (together) {
            store_addresses(state, name, a, of_a, s.count, pieces.get<T*>(of_lu));
            store_addresses(state, name, columns, of_b, s.count, pieces.get<T*>(of_x));
            int host_info = 0;
            const auto count = static_cast<int>(s.count);
            check(f.getrf_batched(state.blas, n, pieces.get<T*>(of_lu), n, p, s.info, count), name, "getrfBatched");
            check(f.getrs_batched(state.blas, how, n, k, pieces.get<T*>(of_lu), n, p, pieces.get<T*>(of_x), n, &host_info, count), name,
                  "getrsBatched");
        } else {
            check(f.getrf(state.handle, n, n, a, n, pieces.get<T>(work), p, s.info + i), name, "getrf");
            check(f.getrs(state.handle, how, n, k, a, n, p, columns, n, pieces.get<int>(ignored)), name, "getrs");
        }
    }
}

/// The lower factor row by row is the upper one column by column; of single matrices cuSOLVER makes that in twice the time of the lower
/// one, so these are transposed on the way in and out.
template <class T> void run_cholesky(const DeviceStack<T>& s, SolverState& state) {
    const MatrixFunctions<T>& f = state.library.get<T>();
    const char* name = s.options.op_name;
    const int n = s.rows(s.in_shapes[0]);
    const std::int64_t of_a = static_cast<std::int64_t>(n) * n;
    const bool together = s.count > 1 && n <= 512, turned = !together && !s.options.upper;
    const Triangle triangle = s.options.upper || turned ? Triangle::Lower : Triangle::Upper;
    constexpr nvidia::Element element = nvidia::element_of<T>;
    std::size_t size = 0, on_host = 0;
    if (!together)
        check(state.library.potrf_size(state.handle, state.parameters(), triangle, n, element, s.result(0), n, element, &size, &on_host),
              name, "Xpotrf_bufferSize");
    DevicePieces pieces;
    const std::size_t work = pieces.add<char>(static_cast<std::int64_t>(size)), addresses = pieces.add<T*>(together ? s.count : 1),
                      columns = pieces.add<T>(turned ? of_a : 1);
    pieces.allocate(state);
    if (!turned) copy_on_device(state, name, s.in[0], s.result(0), of_a * s.count * static_cast<std::int64_t>(sizeof(T)));
    if (together) {
        store_addresses(state, name, s.result(0), of_a, s.count, pieces.get<T*>(addresses));
        check(f.potrf_batched(state.handle, triangle, n, pieces.get<T*>(addresses), n, s.info, static_cast<int>(s.count)), name,
              "potrfBatched");
        return;
    }
    for (std::int64_t i = 0; i < s.count; ++i) {
        T* const a = turned ? pieces.get<T>(columns) : s.result(0) + i * of_a;
        if (turned) transpose_on_device(state, name, Taken::Transposed, n, n, s.in[0] + i * of_a, n, a);
        check(state.library.potrf(state.handle, state.parameters(), triangle, n, element, a, n, element, pieces.get<char>(work), size,
                                  state.host_workspace(on_host), on_host, s.info + i),
              name, "Xpotrf");
        if (turned) transpose_on_device(state, name, Taken::Transposed, n, n, a, n, s.result(0) + i * of_a);
    }
}

/// Factors in the place of the transposed matrices, which is column by column. Pivots are counted from 1.
template <class T> void run_lu(const DeviceStack<T>& s, SolverState& state) {
    const MatrixFunctions<T>& f = state.library.get<T>();
    const char* name = s.options.op_name;
    const int m = s.columns(s.out_shapes[0]), n = s.rows(s.out_shapes[0]), k = std::min(m, n);
    const std::int64_t of_a = static_cast<std::int64_t>(m) * n;
    const bool together = s.count > 1 && m == n && n <= 512;
    int size = 0;
    if (!together) check(f.getrf_size(state.handle, m, n, s.result(0), m, &size), name, "getrf_bufferSize");
    DevicePieces pieces;
    const std::size_t work = pieces.add<T>(size), addresses = pieces.add<T*>(together ? s.count : 1);
    pieces.allocate(state);
    int* pivots = static_cast<int*>(s.out[1]);
    if (together) {
        store_addresses(state, name, s.result(0), of_a, s.count, pieces.get<T*>(addresses));
        check(f.getrf_batched(state.blas, n, pieces.get<T*>(addresses), n, pivots, s.info, static_cast<int>(s.count)), name,
              "getrfBatched");
        return;
    }
    for (std::int64_t i = 0; i < s.count; ++i)
        check(f.getrf(state.handle, m, n, s.result(0) + i * of_a, m, pieces.get<T>(work), pivots + i * k, s.info + i), name, "getrf");
}

/// U, S and Vh. Aᵀ = U' S V'ᴴ: U', as it lies in memory, is Vh, and U is the conjugate of V'.
template <class T> void run_svd(const DeviceStack<T>& s, SolverState& state) {
    const MatrixFunctions<T>& f = state.library.get<T>();
    const char* name = s.options.op_name;
    const int m = s.rows(s.in_shapes[0]), n = s.columns(s.in_shapes[0]), k = std::min(m, n);
    const bool vectors = s.out[0] != nullptr;
    const int of_u = vectors ? s.columns(s.out_shapes[0]) : 1, of_v = vectors ? s.rows(s.out_shapes[2]) : 1;
    const int economic = of_u == k && of_v == k;
    const Vectors wanted = vectors ? Vectors::Yes : Vectors::No;
    const std::int64_t of_a = static_cast<std::int64_t>(m) * n;
    int size = 0;
    check(f.gesvdj_size(state.handle, wanted, economic, n, m, s.in[0], n, s.real_result(1), s.in[0], n, s.in[0], m, &size, state.svd), name,
          "gesvdj_bufferSize");
    DevicePieces pieces;
    const std::size_t copy = pieces.add<T>(of_a), work = pieces.add<T>(size), u = pieces.add<T>(static_cast<std::int64_t>(n) * n),
                      v = pieces.add<T>(static_cast<std::int64_t>(m) * m);
    pieces.allocate(state);
    for (std::int64_t i = 0; i < s.count; ++i) {
        copy_on_device(state, name, s.in[0] + i * of_a, pieces.get<T>(copy), of_a * static_cast<std::int64_t>(sizeof(T)));
        T* vh = vectors ? s.result(2) + i * n * of_v : pieces.get<T>(u);
        check(f.gesvdj(state.handle, wanted, economic, n, m, pieces.get<T>(copy), n, s.real_result(1) + i * k, vh, n, pieces.get<T>(v), m,
                       pieces.get<T>(work), size, s.info + i, state.svd),
              name, "gesvdj");
        if (vectors) transpose_on_device(state, name, Taken::Adjoint, of_u, m, pieces.get<T>(v), m, s.result(0) + i * m * of_u);
    }
}

/// Q and R of A itself, which is transposed on the way in and out.
template <class T> void run_qr(const DeviceStack<T>& s, SolverState& state) {
    const MatrixFunctions<T>& f = state.library.get<T>();
    const char* name = s.options.op_name;
    const int m = s.rows(s.in_shapes[0]), n = s.columns(s.in_shapes[0]), k = std::min(m, n);
    const int of_q = s.options.raw || !s.out[0] ? 0 : s.columns(s.out_shapes[0]);
    const std::int64_t of_a = static_cast<std::int64_t>(m) * n, of_columns = static_cast<std::int64_t>(m) * std::max(n, of_q);
    int size = 0, more = 0;
    check(f.geqrf_size(state.handle, m, n, s.in[0], m, &size), name, "geqrf_bufferSize");
    if (of_q > 0) check(f.orgqr_size(state.handle, m, of_q, k, s.in[0], m, s.in[0], &more), name, "orgqr_bufferSize");
    DevicePieces pieces;
    const std::size_t columns = pieces.add<T>(of_columns), work = pieces.add<T>(std::max(size, more)), factors = pieces.add<T>(k);
    pieces.allocate(state);
    T* a = pieces.get<T>(columns);
    for (std::int64_t i = 0; i < s.count; ++i) {
        T* tau = s.options.raw ? s.result(1) + i * k : pieces.get<T>(factors);
        transpose_on_device(state, name, Taken::Transposed, m, n, s.in[0] + i * of_a, n, a);
        check(f.geqrf(state.handle, m, n, a, m, tau, pieces.get<T>(work), size, s.info + i), name, "geqrf");
        const std::size_t of_r = s.options.raw ? 0 : 1;
        const int rows = s.rows(s.out_shapes[of_r]);
        transpose_on_device(state, name, Taken::Transposed, n, rows, a, m, s.result(of_r) + i * n * rows);
        if (of_q == 0) continue;
        check(f.orgqr(state.handle, m, of_q, k, a, m, tau, pieces.get<T>(work), more, s.info + i), name, "orgqr");
        transpose_on_device(state, name, Taken::Transposed, of_q, m, a, m, s.result(0) + i * m * of_q);
    }
}

/// Eigenvalues, and the vectors v' of the conjugate matrix, which is how it lies in memory: column by column, the conjugate ones.
template <class T> void run_eigh(const DeviceStack<T>& s, SolverState& state) {
    const nvidia::Solver& library = state.library;
    const MatrixFunctions<T>& f = library.get<T>();
    const char* name = s.options.op_name;
    const int n = s.rows(s.in_shapes[0]);
    constexpr nvidia::Element element = nvidia::element_of<T>, of_values = nvidia::element_of<Real<T>>;
    const Vectors wanted = s.out[1] ? Vectors::Yes : Vectors::No;
    const Triangle triangle = s.options.upper ? Triangle::Lower : Triangle::Upper;
    const std::int64_t of_a = static_cast<std::int64_t>(n) * n;
    // It counts the elements of a stack by 32 bits.
    const std::int64_t together = library.syev_batched ? std::min(s.count, std::int64_t{INT32_MAX} / of_a) : 1;
    int size = 0;
    std::size_t bytes = 0, on_host = 0;
    if (together > 1) {
        check(library.syev_batched_size(state.handle, state.parameters(), wanted, triangle, n, element, s.in[0], n, of_values,
                                        s.real_result(0), element, &bytes, &on_host, together),
              name, "XsyevBatched_bufferSize");
    } else {
        check(f.syevd_size(state.handle, wanted, triangle, n, s.in[0], n, s.real_result(0), &size), name, "syevd_bufferSize");
        bytes = static_cast<std::size_t>(size) * sizeof(T);
    }
    DevicePieces pieces;
    const std::size_t copy = pieces.add<T>(s.out[1] ? 0 : of_a * together), work = pieces.add<char>(static_cast<std::int64_t>(bytes));
    pieces.allocate(state);
    for (std::int64_t i = 0; i < s.count;) {
        const std::int64_t count = std::min(together > 1 ? together : 1, s.count - i);
        T* a = s.out[1] ? s.result(1) + i * of_a : pieces.get<T>(copy);
        copy_on_device(state, name, s.in[0] + i * of_a, a, of_a * count * static_cast<std::int64_t>(sizeof(T)));
        if (together > 1) {
            check(library.syev_batched(state.handle, state.parameters(), wanted, triangle, n, element, a, n, of_values,
                                       s.real_result(0) + i * n, element, pieces.get<char>(work), bytes, state.host_workspace(on_host),
                                       on_host, s.info + i, count),
                  name, "XsyevBatched");
        } else {
            check(f.syevd(state.handle, wanted, triangle, n, a, n, s.real_result(0) + i * n, pieces.get<T>(work), size, s.info + i), name,
                  "syevd");
        }
        i += count;
    }
}

/// Eigenvalues, and vectors as geev has them: column by column, and of two that are conjugate the real and the imaginary part.
template <class T> void run_eig(const DeviceStack<T>& s, SolverState& state) {
    const nvidia::Solver& f = state.library;
    const char* name = s.options.op_name;
    const int n = s.rows(s.in_shapes[0]);
    const std::int64_t of_a = static_cast<std::int64_t>(n) * n;
    using Value = std::complex<Real<T>>;
    constexpr nvidia::Element element = nvidia::element_of<T>, of_values = nvidia::element_of<Value>;
    const Vectors wanted = s.out[1] ? Vectors::Yes : Vectors::No;
    auto* values = static_cast<Value*>(s.out[0]);
    std::size_t size = 0, on_host = 0;
    check(f.geev_size(state.handle, state.parameters(), Vectors::No, wanted, n, element, s.in[0], n, of_values, values, element, nullptr, n,
                      element, s.out[1], n, element, &size, &on_host),
          name, "Xgeev_bufferSize");
    DevicePieces pieces;
    const std::size_t columns = pieces.add<T>(of_a), work = pieces.add<char>(static_cast<std::int64_t>(size));
    pieces.allocate(state);
    for (std::int64_t i = 0; i < s.count; ++i) {
        T *a = pieces.get<T>(columns), *vectors = s.out[1] ? s.result(1) + i * of_a : nullptr;
        transpose_on_device(state, name, Taken::Transposed, n, n, s.in[0] + i * of_a, n, a);
        check(f.geev(state.handle, state.parameters(), Vectors::No, wanted, n, element, a, n, of_values, values + i * n, element, nullptr,
                     n, element, vectors, n, element, pieces.get<char>(work), size, state.host_workspace(on_host), on_host, s.info + i),
              name, "Xgeev");
    }
}

/// Submits `run`. Returns the number that it leaves for each matrix.
template <class T>
Memory submit_on_device(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out,
                        void (*run)(const DeviceStack<T>&, SolverState&)) {
    const std::int64_t count = matrices_of(in[0]);
    Memory info = make_scratch(queue, DType::Int32, count);
    DeviceStack<T> stack{options, nvidia::solver(), {}, {}, {}, {}, reinterpret_cast<int*>(info.address()), count};
    std::vector<device::BufferUse> uses = {use_of(info, device::Access::Write)};
    for (const Memory& x : in) {
        stack.in.push_back(reinterpret_cast<T*>(x.address()));
        stack.in_shapes.push_back(x.shape);
        uses.push_back(use_of(x, device::Access::Read));
    }
    for (const Memory& x : out) {
        stack.out.push_back(x ? x.address() : nullptr);
        stack.out_shapes.push_back(x.shape);
        if (!x) continue;
        uses.push_back(use_of(x, device::Access::ReadWrite));
    }
    const auto call = [stack = std::move(stack), run](void* stream, device::LibraryStates& states) {
        run(stack, states.get<SolverState>(*stack.library, static_cast<cuda::StreamHandle>(stream)));
    };
    device::call_library(queue, call, uses, {options.op_name, {}});
    return info;
}

template <template <class> class Run>
Memory run_on_device(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    Memory info;
    visit_element_type(in[0].dtype,
                       [&]<class T>(std::type_identity<T>) { info = submit_on_device<T>(queue, options, in, out, Run<T>::run); });
    return info;
}

/// What has failed is noted by a kernel, and elements that are not finite where that is asked for.
MatrixStatus status_of(device::Queue* queue, const MatrixOptions& options, const char* reason, std::span<const Memory> in) {
    MatrixStatus status(queue, options, reason, in[0]);
    for (const Memory& x : in) {
        if (options.finite) status.look_through(x);
    }
    return status;
}
template <template <class> class Run>
void on_device(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const MatrixStatus status = status_of(queue, options, Run<float>::reason, in);
    status.finish(out, run_on_device<Run>(queue, options, in, out));
}

template <class T> struct SolveRun { static constexpr auto run = run_solve<T>; };
template <class T> struct LuRun { static constexpr auto run = run_lu<T>; };
template <class T> struct CholeskyRun {
    static constexpr const char* reason = "Matrix is not positive definite";
    static constexpr auto run = run_cholesky<T>;
};
template <class T> struct EigRun { static constexpr auto run = run_eig<T>; };
template <class T> struct QrRun {
    static constexpr const char* reason = "Incorrect argument found while performing QR factorization";
    static constexpr auto run = run_qr<T>;
};
template <class T> struct SvdRun {
    static constexpr const char* reason = "SVD did not converge";
    static constexpr auto run = run_svd<T>;
};
template <class T> struct EighRun {
    static constexpr const char* reason = "Eigenvalues did not converge";
    static constexpr auto run = run_eigh<T>;
};

void cholesky_on_device(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    on_device<CholeskyRun>(queue, options, in, out);
    keep_triangle(queue, options.op_name, out[0], options.upper);
}
void qr_on_device(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    on_device<QrRun>(queue, options, in, out);
    if (!options.raw) keep_triangle(queue, options.op_name, out[1], true);
}
/// getrf takes NaN for 0. What is divided by a pivot of zero is not finite.
void solve_on_device(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const BlockSteps steps(queue, options.op_name);
    std::optional<MatrixStatus> status;
    if (options.finite || !options.nan_where_singular) status.emplace(status_of(queue, options, "Singular matrix", in));
    MatrixOptions asked = options;
    asked.transposed = in.size() == 1;
    Memory columns = out[0];
    const std::int64_t k = columns.shape.back(), n = in[0].shape.back();
    const bool moved = in.size() > 1 && k > 1;
    if (moved) {
        columns = scratch_matrices(queue, in[0].dtype, matrices_of(in[0]), k, n);
        steps.transpose(in[1], columns);
    } else if (in.size() > 1) {
        steps.copy(in[1], columns);
    } else {
        make_unit(queue, options.op_name, columns);
    }
    const Memory info = run_on_device<SolveRun>(queue, asked, in.first(1), std::span(&columns, 1));
    if (moved) steps.transpose(columns, out[0]);
    keep_nan(queue, options.op_name, in[0], info, out);
    if (status) status->finish(out, options.nan_where_singular ? Memory() : info);
}
void det_on_device(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const Memory factors[] = {scratch_like(queue, in[0]), make_scratch(queue, DType::Int32, matrices_of(in[0]) * in[0].shape.back())};
    BlockSteps(queue, options.op_name).copy(in[0], factors[0]);
    const Memory info = run_on_device<LuRun>(queue, options, in, factors);
    lu_determinant(queue, options.op_name, factors[0], factors[1], 1, out);
    keep_nan(queue, options.op_name, in[0], info, out);
}
void lu_on_device(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const BlockSteps steps(queue, options.op_name);
    std::optional<MatrixStatus> status;
    if (options.finite) status.emplace(status_of(queue, options, "", in));
    const Block a(in[0]);
    const Memory factors[] = {scratch_matrices(queue, in[0].dtype, a.count, a.columns, a.rows), out[1]};
    steps.transpose(in[0], factors[0]);
    const Memory info = run_on_device<LuRun>(queue, options, in, factors);
    steps.transpose(factors[0], out[0]);
    find_row_places(queue, options.op_name, out[1], 1, out[2]);
    keep_nan(queue, options.op_name, in[0], info, out);
    if (status) status->finish(out);
}

void eig_on_device(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const MatrixStatus status = status_of(queue, options, "Eigenvalues did not converge", in);
    const Memory finite = scratch_like(queue, in[0]), results[] = {out[0], out[1] ? scratch_like(queue, in[0]) : Memory()};
    // geev refuses all others.
    launch_kernel(queue, options.op_name, Variant(KernelId::FiniteOnly, finite.dtype), groups_for(finite.size()),
                  {reads(in[0]), writes(finite), finite.size()});
    const Memory info = run_on_device<EigRun>(queue, options, std::span(&finite, 1), results);
    if (out[1])
        launch_kernel(queue, options.op_name, Variant(KernelId::EigenColumns, in[0].dtype), groups_for(in[0].size()),
                      {reads(results[1]), reads(out[0]), writes(out[1]), in[0].size(), in[0].shape.back()});
    status.finish(out, info);
}

/// All eigenvalues, of which some may be wanted. One kernel turns the vectors of all matrices.
void eigh_on_device(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const MatrixStatus status = status_of(queue, options, EighRun<float>::reason, in);
    const BlockSteps steps(queue, options.op_name);
    const std::int64_t count = matrices_of(in[0]), n = in[0].shape.back(), wanted = out[0].shape.back();
    const bool some = options.last >= 0;
    const Memory all[] = {some ? scratch_matrices(queue, out[0].dtype, count, 1, n) : out[0],
                          out[1] ? scratch_like(queue, in[0]) : Memory()};
    const Memory info = run_on_device<EighRun>(queue, options, in, all);
    if (some) {
        Memory found = out[0];
        found.shape = {count, 1, wanted};
        steps.copy_rows(Block(all[0]).part(0, options.first, 1, wanted), Block(found));
    }
    if (out[1]) steps.copy_rows(Block(all[1]).transposed().part(0, options.first, n, wanted), Block(out[1]), true);
    status.finish(out, info);
}

/// Stacks go through cuSOLVER one matrix after the other: 1000 of 64 rows of float64 take 219 ms for QR on an H100, and 1400 ms for
/// singular values, by our kernels 1.6 and 26; QR of 50 of 256 rows 39, and 4.9.
bool few_or_over(std::int64_t most, std::span<const Memory> in) {
    const Shape& shape = in[0].shape;
    return matrices_of(in[0]) < 8 || std::max(shape.back(), shape[shape.size() - 2]) > most;
}
bool qr_here(device::Queue*, const MatrixOptions&, std::span<const Memory> in, std::span<const Memory>) { return few_or_over(256, in); }
bool takes_svd(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    return few_or_over(128, in) || !takes_stack(queue, options, in, out);
}

/// One call for all of a stack takes 2.8 ms for 10000 of 16 rows of float64 on an H100, and 3.8 for 1000 of 64 (our kernels 6.0 and 21).
bool many_at_once(device::Queue*, const MatrixOptions&, std::span<const Memory> in, std::span<const Memory>) {
    const std::int64_t count = matrices_of(in[0]);
    return nvidia::solver() && nvidia::solver()->syev_batched && count > 1 && (count >= 64 || in[0].shape.back() > 32);
}

bool has_geev() { return nvidia::solver() && nvidia::solver()->geev; }
bool has_solver() { return nvidia::solver() != nullptr; }
std::string no_geev() {
    return has_solver() ? "older than that of CUDA 12.6, which has `Xgeev`; `pip install -U nvidia-cusolver` brings a newer one"
                        : nvidia::solver_problem();
}

const Registered solve_there(routines::solve,
                             {"cuSOLVER", DeviceKinds::Text, solve_on_device, nullptr, 0.1, "cuda", has_solver, nvidia::solver_problem});
const Registered inv_there(routines::inv,
                           {"cuSOLVER", DeviceKinds::Text, solve_on_device, nullptr, 0.1, "cuda", has_solver, nvidia::solver_problem});
const Registered det_there(routines::det,
                           {"cuSOLVER", DeviceKinds::Text, det_on_device, nullptr, 0.1, "cuda", has_solver, nvidia::solver_problem});
const Registered lu_there(routines::lu_factor,
                          {"cuSOLVER", DeviceKinds::Text, lu_on_device, nullptr, 0.1, "cuda", has_solver, nvidia::solver_problem});
const Registered cholesky_there(routines::cholesky, {"cuSOLVER", DeviceKinds::Text, cholesky_on_device, nullptr, 0.1, "cuda", has_solver,
                                                     nvidia::solver_problem});
const Registered qr_there(routines::qr,
                          {"cuSOLVER", DeviceKinds::Text, qr_on_device, qr_here, 0.1, "cuda", has_solver, nvidia::solver_problem});
const Registered svd_there(routines::svd,
                           {"cuSOLVER", DeviceKinds::Text, on_device<SvdRun>, takes_svd, 0.1, "cuda", has_solver, nvidia::solver_problem});
const Registered eig_there(routines::eig, {"cuSOLVER", DeviceKinds::Text, eig_on_device, nullptr, 0.1, "cuda", has_geev, no_geev});
const Registered eigh_of_stacks(routines::eigh, {"cuSOLVER", DeviceKinds::Text, eigh_on_device, many_at_once, 0.02, "cuda", has_solver,
                                                 nvidia::solver_problem});
const Registered eigh_there(routines::eigh,
                            {"cuSOLVER", DeviceKinds::Text, eigh_on_device, nullptr, 0.1, "cuda", has_solver, nvidia::solver_problem});

}  // namespace
}  // namespace pardo::routines

// src/lib/cuda/cusparse.cpp: sparse matrices, and their transposes, times vectors and matrices by NVIDIA's cuSPARSE where it is installed.
#include <memory>
#include <string>

#include <pardo/error.h>

#include "backend/cuda/cuda.h"
#include "device/queue/queue.h"
#include "lib/cuda/cusolver.h"
#include "lib/cuda/optional_library.h"
#include "lib/cuda/workspace.h"
#include "lib/element_types.h"
#include "lib/routines.h"

namespace pardo::lib {
namespace cusparse {

using Handle = struct CusparseOpaque*;
using Matrix = struct CusparseMatrixOpaque*;
using Dense = struct CusparseDenseOpaque*;
using Vector = struct CusparseVectorOpaque*;
using Status = int;
using nvidia::Element;
/// cuSPARSE's numbers.
enum class Operation : int { None = 0, Transpose = 1 };
enum class IndexType : int { Int32 = 2, Int64 = 3 };
enum class Base : int { Zero = 0 };
enum class Order : int { Rows = 2 };
/// Those of rows give the same bits each time; columns are added up by atomic operations.
enum class VectorAlgorithm : int { Usual = 0, SameBits = 3 };
enum class MatrixAlgorithm : int { Usual = 0, SameBits = 12 };

struct Cusparse {
    Status (*create)(Handle*) = nullptr;
    Status (*destroy)(Handle) = nullptr;
    Status (*set_stream)(Handle, cuda::StreamHandle) = nullptr;
    const char* (*status_name)(Status) = nullptr;
    Status (*create_csr)(Matrix*, std::int64_t rows, std::int64_t columns, std::int64_t entries, void* ptr, void* column, void* value,
                         IndexType of_ptr, IndexType of_column, Base, Element) = nullptr;
    Status (*destroy_matrix)(Matrix) = nullptr;
    Status (*create_vector)(Vector*, std::int64_t size, void* values, Element) = nullptr;
    Status (*destroy_vector)(Vector) = nullptr;
    Status (*create_dense)(Dense*, std::int64_t rows, std::int64_t columns, std::int64_t leading, void* values, Element, Order) = nullptr;
    Status (*destroy_dense)(Dense) = nullptr;
    Status (*vector_size)(Handle, Operation, const void* alpha, Matrix, Vector x, const void* beta, Vector out, Element, VectorAlgorithm,
                          std::size_t* bytes) = nullptr;
    Status (*times_vector)(Handle, Operation, const void* alpha, Matrix, Vector x, const void* beta, Vector out, Element, VectorAlgorithm,
                           void* workspace) = nullptr;
    Status (*matrix_size)(Handle, Operation, Operation, const void* alpha, Matrix, Dense x, const void* beta, Dense out, Element,
                          MatrixAlgorithm, std::size_t* bytes) = nullptr;
    Status (*times_matrix)(Handle, Operation, Operation, const void* alpha, Matrix, Dense x, const void* beta, Dense out, Element,
                           MatrixAlgorithm, void* workspace) = nullptr;
    const cuda::Driver* driver = nullptr;

    bool bind(const DynamicLibrary& library) {
        return library.bind(create, "cusparseCreate") && library.bind(destroy, "cusparseDestroy") &&
               library.bind(set_stream, "cusparseSetStream") && library.bind(status_name, "cusparseGetErrorName") &&
               library.bind(create_csr, "cusparseCreateCsr") && library.bind(destroy_matrix, "cusparseDestroySpMat") &&
               library.bind(create_vector, "cusparseCreateDnVec") && library.bind(destroy_vector, "cusparseDestroyDnVec") &&
               library.bind(create_dense, "cusparseCreateDnMat") && library.bind(destroy_dense, "cusparseDestroyDnMat") &&
               library.bind(vector_size, "cusparseSpMV_bufferSize") && library.bind(times_vector, "cusparseSpMV") &&
               library.bind(matrix_size, "cusparseSpMM_bufferSize") && library.bind(times_matrix, "cusparseSpMM");
    }
};

}  // namespace cusparse

namespace {

using cusparse::Cusparse;

std::unique_ptr<Cusparse> find_cusparse() {
    auto functions = std::make_unique<Cusparse>();
    std::string ignored;
    functions->driver = cuda::load_driver(ignored);
    bool found = false;
    // It is still of major version 12 with CUDA 13.
    try_libraries("PARDO_CUSPARSE", "libcusparse", driver_major(), [&](const DynamicLibrary& library) {
        found = functions->bind(library);
        if (found) log(LogLevel::Info, "cuda: cuSPARSE is " + library.path());
        return found;
    });
    if (found && functions->driver) return functions;
    log(LogLevel::Info, "cuda: no cuSPARSE (pip install nvidia-cusparse): products of sparse arrays run on kernels of our own");
    return nullptr;
}

/// Null where cuSPARSE is not installed.
const Cusparse* load_cusparse() {
    static auto* const library = new OptionalLibrary<Cusparse>(find_cusparse);
    return library->get();
}

void check_sparse(const Cusparse& library, cusparse::Status status, const char* call) {
    if (status != 0) throw Error(ErrorCode::Device, std::string("matmul: ") + call + " failed: " + library.status_name(status));
}

/// A stream's handle and workspace. Made with the device's context current.
class SparseState final : public device::LibraryState {
public:
    SparseState(const Cusparse& library, cuda::StreamHandle stream) : memory(library.driver, "matmul"), library_(library) {
        check_sparse(library, library.create(&handle), "cusparseCreate");
        if (const cusparse::Status status = library.set_stream(handle, stream); status != 0) {
            library.destroy(handle);
            check_sparse(library, status, "cusparseSetStream");
        }
    }
    ~SparseState() override { library_.destroy(handle); }

    cusparse::Handle handle = nullptr;
    nvidia::Workspace memory;

private:
    const Cusparse& library_;
};

/// What cuSPARSE knows memory as, until this is gone.
template <class T> class Descriptor {
public:
    template <class... Args>
    Descriptor(const Cusparse& library, cusparse::Status (*destroy)(T), const char* call, cusparse::Status (*create)(T*, Args...),
               std::type_identity_t<Args>... args)
        : destroy_(destroy) {
        check_sparse(library, create(&object_, args...), call);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { destroy_(object_); }
    operator T() const { return object_; }

private:
    T object_ = nullptr;
    cusparse::Status (*destroy_)(T);
};

/// By value: it may run later.
struct SparseOperands {
    void *ptr, *column, *value, *x, *out;
    std::int64_t rows, columns, entries;  // of the matrix as it lies
    std::int64_t width;                   // of x and out as matrices; 0: they are vectors
    cusparse::IndexType indices;
    bool transposed;

    std::int64_t inner() const { return transposed ? rows : columns; }
    std::int64_t outer() const { return transposed ? columns : rows; }
};

template <class T> void run_sparse(const Cusparse& library, const SparseOperands& s, SparseState& state) {
    using namespace cusparse;
    constexpr Element type = nvidia::element_of<T>;
    const Operation operation = s.transposed ? Operation::Transpose : Operation::None;
    const T one(1), zero(0);
    const Descriptor<Matrix> a(library, library.destroy_matrix, "cusparseCreateCsr", library.create_csr, s.rows, s.columns, s.entries,
                               s.ptr, s.column, s.value, s.indices, s.indices, Base::Zero, type);
    std::size_t bytes = 0;
    if (s.width == 0) {
        const auto vector = [&](std::int64_t size, void* values) {
            return Descriptor<Vector>(library, library.destroy_vector, "cusparseCreateDnVec", library.create_vector, size, values, type);
        };
        const Descriptor<Vector> x = vector(s.inner(), s.x), out = vector(s.outer(), s.out);
        const VectorAlgorithm by = s.transposed ? VectorAlgorithm::Usual : VectorAlgorithm::SameBits;
        check_sparse(library, library.vector_size(state.handle, operation, &one, a, x, &zero, out, type, by, &bytes),
                     "cusparseSpMV_bufferSize");
        check_sparse(library, library.times_vector(state.handle, operation, &one, a, x, &zero, out, type, by, state.memory.get(bytes)),
                     "cusparseSpMV");
        return;
    }
    const auto matrix = [&](std::int64_t rows, void* values) {
        return Descriptor<Dense>(library, library.destroy_dense, "cusparseCreateDnMat", library.create_dense, rows, s.width, s.width,
                                 values, type, Order::Rows);
    };
    const Descriptor<Dense> x = matrix(s.inner(), s.x), out = matrix(s.outer(), s.out);
    const MatrixAlgorithm by = s.transposed ? MatrixAlgorithm::Usual : MatrixAlgorithm::SameBits;
    check_sparse(library, library.matrix_size(state.handle, operation, Operation::None, &one, a, x, &zero, out, type, by, &bytes),
                 "cusparseSpMM_bufferSize");
    check_sparse(library,
                 library.times_matrix(state.handle, operation, Operation::None, &one, a, x, &zero, out, type, by, state.memory.get(bytes)),
                 "cusparseSpMM");
}

void cusparse_product(device::Queue* queue, const Memory& ptr, const Memory& column, const Memory& value, const Memory& x,
                      const Memory& out, bool transposed) {
    SparseOperands operands{ptr.address(), column.address(), value.address(), x.address(), out.address()};
    operands.rows = ptr.size() - 1;
    operands.columns = transposed ? out.shape[0] : x.shape[0];
    operands.entries = value.size();
    operands.width = x.shape.size() == 1 ? 0 : x.shape[1];
    operands.indices = itemsize(ptr.dtype) == 4 ? cusparse::IndexType::Int32 : cusparse::IndexType::Int64;
    operands.transposed = transposed;
    void (*run)(const Cusparse&, const SparseOperands&, SparseState&) = nullptr;
    visit_element_type(out.dtype, [&]<class T>(std::type_identity<T>) { run = run_sparse<T>; });
    const device::BufferUse uses[] = {{ptr.buffer.get(), device::Access::Read},
                                      {column.buffer.get(), device::Access::Read},
                                      {value.buffer.get(), device::Access::Read},
                                      {x.buffer.get(), device::Access::Read},
                                      {out.buffer.get(), device::Access::Write}};
    device::call_library(queue,
                         [library = load_cusparse(), operands, run](void* stream, device::LibraryStates& states) {
                             run(*library, operands, states.get<SparseState>(*library, static_cast<cuda::StreamHandle>(stream)));
                         },
                         uses, {"matmul", {}});
}

/// float32, float64, complex64 and complex128, all of one dtype, and something to add up.
bool cusparse_applies(device::Queue*, const Memory& ptr, const Memory& column, const Memory& value, const Memory& x, const Memory& out,
                      bool) {
    const bool numbers = is_inexact(x.dtype) && x.dtype != DType::Float16 && value.dtype == x.dtype;
    const bool indices = ptr.dtype == column.dtype && (ptr.dtype == DType::Int32 || ptr.dtype == DType::Int64);
    return numbers && indices && value.size() > 0 && x.size() > 0 && out.size() > 0;
}

const Registered by_cusparse(routines::sparse_product, {"cuSPARSE", Place::Text, cusparse_product, cusparse_applies, 0.1, "cuda",
                                                        [] { return load_cusparse() != nullptr; }});

}  // namespace
}  // namespace pardo::lib

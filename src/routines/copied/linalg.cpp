// src/routines/copied/linalg.cpp: linear algebra by the CPU's routines, on copies.
#include "routines/copied/operands.h"

namespace pardo::routines {
namespace {

template <const MatrixRoutine& routine>
void copied_matrices(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    CopiedOperands on(queue);
    std::vector<Memory> there;
    for (const Memory& x : in) there.push_back(on.read(x));
    routine(on.host(), options, there, on.written(out));
    on.finish();
}

template <MatrixRoutine& routine>
struct CopiedMatrices : Registered<void(device::Queue*, const MatrixOptions&, std::span<const Memory>, std::span<const Memory>)> {
    CopiedMatrices() : Registered(routine, {"copies", DeviceKinds::Away, copied_matrices<routine>, nullptr, 1000}) {}
};

void copied_ready(device::Queue*, const char* op_name) { routines::matrices_ready(queue_of_copies(), op_name); }

const Registered of_ready(routines::matrices_ready, {"copies", DeviceKinds::Away, copied_ready, nullptr, 1000});
const CopiedMatrices<routines::solve> of_solve;
const CopiedMatrices<routines::inv> of_inv;
const CopiedMatrices<routines::det> of_det;
const CopiedMatrices<routines::cholesky> of_cholesky;
const CopiedMatrices<routines::qr> of_qr;
const CopiedMatrices<routines::svd> of_svd;
const CopiedMatrices<routines::eigh> of_eigh;
const CopiedMatrices<routines::eig> of_eig;
const CopiedMatrices<routines::lstsq> of_lstsq;
const CopiedMatrices<routines::lu_factor> of_lu_factor;
const CopiedMatrices<routines::lu_solve> of_lu_solve;
const CopiedMatrices<routines::triangular_solve> of_triangular_solve;
const CopiedMatrices<routines::banded_solve> of_banded_solve;
const CopiedMatrices<routines::banded_cholesky_solve> of_banded_cholesky_solve;
const CopiedMatrices<routines::toeplitz_solve> of_toeplitz_solve;

}  // namespace
}  // namespace pardo::routines

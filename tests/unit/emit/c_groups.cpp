// tests/unit/emit/c_groups.cpp: the text of kernels in groups, atomics and arrays of kernels in C-family languages. That it computes what
// the IR says is tested on devices (tests/unit/backend_opencl/groups_test.cpp, atomics_test.cpp), that NVRTC takes it in backend_cuda.
#include <gtest/gtest.h>

#include <pardo/error.h>

#include "emit/c/family.h"
#include "ir/builder.h"
#include "support.h"

namespace pardo::test {
namespace {

using emit::CFeatures;
using emit::CGeometry;
using emit::CMapping;
using emit::CTarget;
using emit::cuda_cpp;
using emit::opencl_c;
using ir::Access;
using ir::AtomicOp;
using ir::Space;
using ir::Value;

CFeatures any_gpu(const CTarget& target) {
    CFeatures f;
    f.target = &target;
    f.max_group_size = 1024;
    return f;
}

std::string text_of(const ir::Kernel& kernel, const CFeatures& f, std::initializer_list<std::int64_t> extents) {
    const device::LaunchShape shape{.extents = {extents.begin(), extents.size()}};
    return emit::emit_c(emit::lowered_for_c(kernel, f), f, CGeometry::decode(emit::choose_geometry(kernel, shape, f).encode())).text;
}

void expect_in(const std::string& text, const std::string& part) { EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text; }

/// A row of the tile leaves by another item than it came by.
ir::Kernel swap() {
    ir::Builder m("swap", 2, true);
    const std::int64_t size[] = {4, 16};
    m.set_groups(size);
    const Value x = m.pointer("x", f32, Access::ReadWrite, true), tile = m.array("tile", f32, 16, Space::Group),
                at = m.add(m.mul(m.dim(0), m.extent(1)), m.dim(1));
    m.store(tile, m.local_dim(1), m.load(x, at));
    m.barrier();
    m.store(x, at, m.load(tile, m.sub(m.i64(15), m.local_dim(1))));
    return m.finish();
}

TEST(CGroups, ReadLikeAProgramInEachLanguage) {
    EXPECT_EQ(text_of(swap(), any_gpu(opencl_c), {64, 64}), R"(#pragma OPENCL FP_CONTRACT OFF
static inline void item(__global float* x, long n0, long n1, long i0, long i1, long l0, long l1, long g0, long g1, __local float* tile) {
    const long v0 = i1 + (n1 * i0);
    const float v1 = x[v0];
    tile[l1] = v1;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const float v2 = tile[15 - l1];
    x[v0] = v2;
}
__kernel __attribute__((reqd_work_group_size(16, 4, 1))) void k_swap(__global float* x, long n0, long n1) {
    __local float tile[16] __attribute__((aligned(16)));
    const long l1 = (long)get_local_id(0);
    const long l0 = (long)get_local_id(1);
    uint at = (uint)(long)get_group_id(0);
    const long g1 = at % (uint)(n1 / 16);
    at /= (uint)(n1 / 16);
    const long i1 = g1 * 16 + l1;
    const long g0 = at;
    const long i0 = g0 * 4 + l0;
    item(x, n0, n1, i0, i1, l0, l1, g0, g1, tile);
}
)");
    EXPECT_EQ(
        text_of(swap(), any_gpu(cuda_cpp), {64, 64}),
        R"(static __device__ __forceinline__ void item(float* x, long long n0, long long n1, long long i0, long long i1, long long l0, long long l1, long long g0, long long g1, float* tile) {
    const long long v0 = i1 + (n1 * i0);
    const float v1 = x[v0];
    tile[l1] = v1;
    __syncthreads();
    const float v2 = tile[15 - l1];
    x[v0] = v2;
}
extern "C" __global__ void __launch_bounds__(16 * 4 * 1) k_swap(float* x, long long n0, long long n1) {
    __shared__ float tile[16] __attribute__((aligned(16)));
    const long long l1 = (long long)threadIdx.x;
    const long long l0 = (long long)threadIdx.y;
    unsigned int at = (unsigned int)(long long)blockIdx.x;
    const long long g1 = at % (unsigned int)(n1 / 16);
    at /= (unsigned int)(n1 / 16);
    const long long i1 = g1 * 16 + l1;
    const long long g0 = at;
    const long long i0 = g0 * 4 + l0;
    item(x, n0, n1, i0, i1, l0, l1, g0, g1, tile);
}
)");
}

/// Items of a sub-group turn their values round.
ir::Kernel turn(std::initializer_list<std::int64_t> size, DType dtype) {
    ir::Builder m("turn", static_cast<int>(size.size()), true);
    m.set_groups({size.begin(), size.size()}, 32);
    const Value x = m.pointer("x", dtype, Access::ReadWrite, true), i = m.dim(0);
    m.store(x, i, m.shuffle(m.load(x, i), m.sub(m.i64(31), m.rem(m.local_dim(0), m.i64(32)))));
    return m.finish();
}

TEST(CGroups, ItemsOfSubGroupsExchangeValues) {
    CFeatures opencl = any_gpu(opencl_c), cuda = any_gpu(cuda_cpp);
    const std::string memory = text_of(turn({64}, f32), opencl, {640});
    expect_in(memory, "__local float exchanged[64]");
    expect_in(memory, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
    opencl.shuffles = 8 | 16 | 32;
    cuda.shuffles = 63;
    const std::string native = text_of(turn({64}, f32), opencl, {640});
    expect_in(native, "__attribute__((intel_reqd_sub_group_size(32))) __kernel __attribute__((reqd_work_group_size(64, 1, 1))) void");
    expect_in(native, "unsigned int member = (unsigned int)(int)(get_sub_group_id() * 32 + get_sub_group_local_id());");
    expect_in(native, " = sub_group_shuffle(v");
    EXPECT_EQ(native.find("barrier("), std::string::npos);
    opencl.intel_shuffles = true;
    expect_in(text_of(turn({64}, DType::UInt8), opencl, {640}), "= (uchar)(intel_sub_group_shuffle((int)v");
    expect_in(text_of(turn({40}, f32), opencl, {640}), "exchanged[40]");  // the last sub-group is not whole
    expect_in(text_of(turn({64}, f64), cuda, {640}), "__shfl_sync(0xffffffffu, v");
    expect_in(text_of(turn({40}, f32), cuda, {640}), "__shfl_sync((threadIdx.x < 32u ? 0xffffffffu : 255u), v");
    expect_in(text_of(turn({8}, f32), cuda, {640}), "__shfl_sync(255u, v");
    expect_in(text_of(turn({4, 16}, f32), cuda, {64, 64}), "unsigned int member = (unsigned int)(int)threadIdx.x;");
}

TEST(CGroups, LoadsStayBeforeBarriersAndAtomics) {
    ir::Builder m("order", 1, true);
    const std::int64_t size[] = {8};
    m.set_groups(size);
    const Value x = m.pointer("x", i32, Access::ReadWrite, true), y = m.pointer("y", i32, Access::Read, true),
                z = m.pointer("z", i32, Access::Write, true);
    const Value before = m.load(x, m.dim(0)), constant = m.load(y, m.dim(0));
    m.atomic(AtomicOp::Add, x, m.i64(0), m.constant(i32, 1.0));
    m.store(z, m.dim(0), m.mul(before, constant));
    EXPECT_EQ(text_of(m.finish(), any_gpu(opencl_c), {64}), R"(#pragma OPENCL FP_CONTRACT OFF
static inline void item(__global int* x, __global const int* restrict y, __global int* z, long n0, long i0, long l0, long g0) {
    const int v0 = x[i0];
    const int v1 = y[i0];
    atomic_add(&x[0], (int)1);
    z[i0] = (int)((uint)v0 * (uint)v1);
}
__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void k_order(__global int* x, __global const int* restrict y, __global int* z, long n0) {
    const long l0 = (long)get_local_id(0);
    uint at = (uint)(long)get_group_id(0);
    const long g0 = at;
    const long i0 = g0 * 8 + l0;
    item(x, y, z, n0, i0, l0, g0);
}
)");
}

TEST(CGroups, AtomicsAreTheLanguagesOwnOrLoops) {
    ir::Builder m("atomics", 1, true);
    const Value a = m.pointer("a", i64, Access::ReadWrite, true), b = m.pointer("b", f64, Access::ReadWrite, true),
                c = m.pointer("c", i32, Access::ReadWrite, true), at = m.i64(0);
    const Value v = m.load(a, m.dim(0)), x = m.cast(v, f64);
    m.atomic(AtomicOp::Sub, a, at, v, ir::MemoryOrder::Release, ir::MemoryScope::System);
    m.atomic(AtomicOp::Min, a, at, v);
    m.atomic(AtomicOp::Add, b, at, x);
    m.atomic(AtomicOp::Max, b, at, x, ir::MemoryOrder::Relaxed, ir::MemoryScope::Group);
    m.atomic(AtomicOp::Exchange, b, at, x, ir::MemoryOrder::Acquire);
    m.store(c, m.dim(0), m.compare_exchange(c, at, m.constant(i32, 1.0), m.constant(i32, 2.0), ir::MemoryOrder::SeqCst));
    const ir::Kernel kernel = m.finish();
    EXPECT_EQ(text_of(kernel, any_gpu(opencl_c), {64}), R"(#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
static inline double pardo_atomic_add_f64(__global double* p, double x) {
    ulong seen = *(volatile __global ulong*)p;
    for (;;) {
        const ulong expected = seen;
        const double old = as_double(expected);
        seen = atom_cmpxchg((__global ulong*)p, expected, as_ulong(old + x));
        if (seen == expected) return old;
    }
}
static inline double pardo_atomic_max_f64(__global double* p, double x) {
    ulong seen = *(volatile __global ulong*)p;
    for (;;) {
        const ulong expected = seen;
        const double old = as_double(expected);
        seen = atom_cmpxchg((__global ulong*)p, expected, as_ulong(old > x || x != x ? old : x));
        if (seen == expected) return old;
    }
}
static inline void item(__global long* restrict a, __global double* restrict b, __global int* restrict c_, long n0, long i0) {
    const long v0 = a[i0];
    const double v1 = (double)v0;
    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    atom_sub(&a[0], v0);
    atom_min(&a[0], v0);
    pardo_atomic_add_f64(&b[0], v1);
    pardo_atomic_max_f64(&b[0], v1);
    as_double(atom_xchg((__global ulong*)&b[0], as_ulong(v1)));
    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const int v2 = atomic_cmpxchg(&c_[0], (int)1, (int)2);
    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    c_[i0] = v2;
}
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void atomics(__global long* restrict a, __global double* restrict b, __global int* restrict c_, long n0, int reversed) {
    const long group = reversed ? (long)get_num_groups(0) - 1 - (long)get_group_id(0) : (long)get_group_id(0);
    const long tile = group * 256;
    const long first = tile + (int)get_local_id(0);
    const long i0 = first;
    if (i0 < n0) item(a, b, c_, n0, i0);
}
)");
    EXPECT_EQ(text_of(kernel, any_gpu(cuda_cpp), {64}),
              R"(static __device__ __forceinline__ double pardo_atomic_max_f64_block(double* p, double x) {
    unsigned long long seen = *(volatile unsigned long long*)p;
    for (;;) {
        const unsigned long long expected = seen;
        const double old = __longlong_as_double(expected);
        seen = atomicCAS_block((unsigned long long*)p, expected, (unsigned long long)__double_as_longlong(old > x || x != x ? old : x));
        if (seen == expected) return old;
    }
}
static __device__ __forceinline__ void item(long long* __restrict__ a, double* __restrict__ b, int* __restrict__ c_, long long n0, long long i0) {
    const long long v0 = a[i0];
    const double v1 = (double)v0;
    __threadfence_system();
    (long long)atomicAdd_system((unsigned long long*)&a[0], (unsigned long long)((long long)((unsigned long long)0 - (unsigned long long)v0)));
    atomicMin(&a[0], v0);
    atomicAdd(&b[0], v1);
    pardo_atomic_max_f64_block(&b[0], v1);
    __longlong_as_double(atomicExch((unsigned long long*)&b[0], (unsigned long long)__double_as_longlong(v1)));
    __threadfence();
    __threadfence();
    const int v2 = atomicCAS(&c_[0], (int)1, (int)2);
    __threadfence();
    c_[i0] = v2;
}
extern "C" __global__ void __launch_bounds__(256) atomics(long long* __restrict__ a, double* __restrict__ b, int* __restrict__ c_, long long n0, int reversed) {
    const long long group = reversed ? (long long)gridDim.x - 1 - (long long)blockIdx.x : (long long)blockIdx.x;
    const long long tile = group * 256;
    const long long first = tile + (int)threadIdx.x;
    const long long i0 = first;
    if (i0 < n0) item(a, b, c_, n0, i0);
}
)");
    CFeatures lacking = any_gpu(opencl_c);
    lacking.system_atomics = false;
    EXPECT_THROW(text_of(kernel, lacking, {64}), Error);
    lacking.wide_atomics = false;
    try {
        text_of(kernel, lacking, {64});
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::Compile);
        expect_in(e.message(), "atomics: this device has no atomics of 64 bits");
        expect_in(e.message(), "cl_khr_int64_base_atomics");
    }
}

TEST(CGroups, SurviveEncoding) {
    for (const int size : {1, 7, 100, 1024, 8192}) {
        for (const bool wide : {false, true}) {
            CGeometry g;
            g.mapping = CMapping::Items;
            g.group_size = size;
            g.wide = wide;
            const CGeometry back = CGeometry::decode(g.encode());
            EXPECT_NE(g.encode(), 0u);
            EXPECT_EQ(back.mapping, g.mapping);
            EXPECT_EQ(back.group_size, size);
            EXPECT_EQ(back.wide, wide);
        }
    }
}

emit::CGroups groups(std::initializer_list<std::int64_t> size) {
    ir::Builder m("g", static_cast<int>(size.size()), true);
    m.set_groups({size.begin(), size.size()});
    return emit::groups_of(m.kernel());
}

TEST(CGroups, LieInTheLanguagesDimensions) {
    using Local = std::array<int, 3>;
    EXPECT_EQ(groups({7}).local, (Local{7, 1, 1}));
    EXPECT_EQ(groups({4, 16}).local, (Local{16, 4, 1}));
    EXPECT_EQ(groups({100, 1, 2}).local, (Local{2, 100, 1}));
    EXPECT_EQ(groups({2, 3, 4}).local, (Local{4, 3, 2}));
    EXPECT_FALSE(groups({64, 2, 2}).flat);
    EXPECT_TRUE(groups({65, 2, 2}).flat);  // NVIDIA's third dimension ends at 64
    EXPECT_EQ(groups({65, 2, 2}).local, (Local{260, 1, 1}));
    EXPECT_TRUE(groups({2, 2, 2, 2}).flat);
    const std::int64_t whole[] = {8, 32}, none[] = {0, 32}, part[] = {8, 33};
    EXPECT_EQ(groups({4, 16}).count("k", whole), 4);
    EXPECT_EQ(groups({4, 16}).count("k", none), 0);
    EXPECT_THROW((void)groups({4, 16}).count("k", part), Error);
}

TEST(CGroups, TeamsShareNoAtomicsAndNoArrays) {
    const auto team = [](bool array, bool atomic) {
        ir::Builder m("sum", 1, false);
        const Value x = m.pointer("x", f32, Access::ReadWrite, true), n = m.scalar_param("n", i64);
        if (array) m.store(m.array("own", f32, 4, Space::Private), m.i64(0), m.constant(f32, 1.0));
        if (atomic) m.atomic(AtomicOp::Add, x, m.i64(0), m.constant(f32, 1.0));
        const ir::Reduction sum[] = {{ir::Combine::Add, m.constant(f32, 0.0)}};
        m.store(x, m.dim(0), m.for_lanes(m.i64(0), n, sum, [&](Value k) { return std::vector{m.load(x, k)}; })[0]);
        const ir::Kernel kernel = m.finish();
        const std::int64_t extents[] = {100};
        CFeatures f = any_gpu(cuda_cpp);
        f.sub_group = 32;
        return emit::choose_geometry(kernel, {.extents = extents, .inner = 4096, .innermost = 4096}, f).team;
    };
    EXPECT_GT(team(false, false), 1);
    EXPECT_EQ(team(true, false), 1);
    EXPECT_EQ(team(false, true), 1);
}

TEST(CGroups, LoopBoundsAreReadOnceWhenTheLoopWrites) {
    ir::Builder m("bounds", 1, true);
    const Value n = m.pointer("n", i64, Access::ReadWrite, true);
    m.for_loop(m.i64(0), m.load(n, m.i64(0)), m.i64(1), {}, [&](Value, auto) {
        m.atomic(AtomicOp::Add, n, m.i64(0), m.i64(1));
        return ir::Builder::Values();
    });
    expect_in(text_of(m.finish(), any_gpu(opencl_c), {4}), "    const long v0 = n[0];\n    for (long k1 = 0; k1 < v0; k1 += 1) {\n");
}

}  // namespace
}  // namespace pardo::test

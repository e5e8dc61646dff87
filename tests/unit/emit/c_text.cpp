// tests/unit/emit/c_text.cpp: the text of C-family programs, and how items are laid over groups. That the text computes what the IR says
// is tested on the devices that a machine has (run_on_devices in support.cpp).
#include <gtest/gtest.h>

#include <random>

#include "emit/c/family.h"
#include "emit/c/forms.h"
#include "emit/c/helpers.h"
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

ir::Kernel addition() {
    ir::Builder m("add_f32", 1, true);
    const ir::Value out = m.pointer("out0", f32, Access::Write, true), a = m.pointer("in0", f32, Access::Read, true),
                    b = m.pointer("in1", f32, Access::Read, true);
    const ir::Value x = m.load(a, m.dim(0)), y = m.load(b, m.dim(0));
    m.store(out, m.dim(0), m.add(x, y));
    return m.finish();
}

/// out[i] = sum of the row i of in.
ir::Kernel row_sums() {
    ir::Builder m("sum_f32", 1, false);
    const ir::Value out = m.pointer("out0", f32, Access::Write, true), in = m.pointer("in0", f32, Access::Read, true),
                    n = m.scalar_param("n1", DType::Int64);
    const ir::Reduction sum[] = {{ir::Combine::Add, m.constant(f32, 0.0)}};
    const auto total = m.for_lanes(m.i64(0), n, sum, [&](ir::Value k) { return std::vector{m.load(in, m.add(m.mul(m.dim(0), n), k))}; });
    m.store(out, m.dim(0), total[0]);
    return m.finish();
}

CFeatures gpu(const CTarget& target) {
    CFeatures f;
    f.target = &target;
    f.sub_group = &target == &cuda_cpp ? 32 : 1;
    f.max_group_size = 1024;
    f.compute_units = 132;
    return f;
}

TEST(CText, reads_like_a_program_in_each_language) {
    CGeometry g;
    g.group_size = 256;
    EXPECT_EQ(emit::emit_c(addition(), gpu(opencl_c), g).text, R"(#pragma OPENCL FP_CONTRACT OFF
static inline void item(__global float* restrict out0, __global const float* restrict in0, __global const float* restrict in1, long n0, long i0) {
    out0[i0] = in0[i0] + in1[i0];
}
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void add_f32(__global float* restrict out0, __global const float* restrict in0, __global const float* restrict in1, long n0, int reversed) {
    const long group = reversed ? (long)get_num_groups(0) - 1 - (long)get_group_id(0) : (long)get_group_id(0);
    const long tile = group * 256;
    const long first = tile + (int)get_local_id(0);
    const long i0 = first;
    if (i0 < n0) item(out0, in0, in1, n0, i0);
}
)");
    g.columns = 4;
    const emit::CText cuda = emit::emit_c(addition(), gpu(cuda_cpp), g);
    EXPECT_EQ(cuda.params, "pppli");
    EXPECT_EQ(cuda.entry, "add_f32");
    EXPECT_EQ(
        cuda.text,
        R"(static __device__ __forceinline__ void item(float* __restrict__ out0, const float* __restrict__ in0, const float* __restrict__ in1, long long n0, long long i0) {
    out0[i0] = in0[i0] + in1[i0];
}
extern "C" __global__ void __launch_bounds__(256) add_f32(float* __restrict__ out0, const float* __restrict__ in0, const float* __restrict__ in1, long long n0, int reversed) {
    const long long group = reversed ? (long long)gridDim.x - 1 - (long long)blockIdx.x : (long long)blockIdx.x;
    const long long tile = group * 1024;
    const long long first = tile + (int)threadIdx.x;
    if (tile + 1024 <= n0) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            const long long i0 = first + c * 256;
            item(out0, in0, in1, n0, i0);
        }
    } else {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            const long long i0 = first + c * 256;
            if (i0 < n0) item(out0, in0, in1, n0, i0);
        }
    }
}
)");
}

TEST(CText, processors_get_what_their_compilers_make_vectors_of) {
    CFeatures f;
    f.cpu = true;
    f.max_group_size = 8192;
    const std::int64_t extents[] = {10'000'000};
    const device::LaunchShape shape{.extents = extents, .inner = 1, .innermost = 1};
    const CGeometry range = emit::choose_geometry(addition(), shape, f);
    EXPECT_EQ(range.mapping, CMapping::Range);
    EXPECT_EQ(emit::emit_c(addition(), f, range).text,
              R"(#pragma OPENCL FP_CONTRACT OFF
static inline void item(__global float* restrict out0, __global const float* restrict in0, __global const float* restrict in1, long n0, long i0) {
    out0[i0] = in0[i0] + in1[i0];
}
__kernel __attribute__((reqd_work_group_size(4096, 1, 1))) void add_f32(__global float* restrict out0, __global const float* restrict in0, __global const float* restrict in1, long n0) {
    const long i0 = (long)get_global_id(0);
    if (i0 < n0) item(out0, in0, in1, n0, i0);
}
)");
    f.vector_loops = true;
    const CGeometry loop = emit::choose_geometry(addition(), shape, f);
    EXPECT_EQ(loop.mapping, CMapping::Loop);
    const std::string text = emit::emit_c(addition(), f, loop).text;
    EXPECT_NE(text.find(R"(    uint at = (uint)(long)get_group_id(0);
    const long begin = (long)(at) * 4096, end = begin + 4096 < n0 ? begin + 4096 : n0;
    for (long i0 = begin; i0 < end; ++i0) item(out0, in0, in1, n0, i0);
)"),
              std::string::npos)
        << text;
}

TEST(CText, pointers_without_addresses_come_in_two_parts) {
    CFeatures f = gpu(opencl_c);
    f.split_pointers = true;
    const std::string text = emit::emit_c(addition(), f, {}).text;
    EXPECT_NE(text.find("__global const char* in0_base, long in0_offset"), std::string::npos) << text;
    EXPECT_NE(text.find("(__global const float*)(in0_base + in0_offset)"), std::string::npos) << text;
}

TEST(CText, teams_share_lanes_loops_and_one_of_them_stores) {
    for (const CTarget* const language : {&opencl_c, &cuda_cpp}) {
        CGeometry g;
        g.mapping = CMapping::Team;
        g.group_size = g.team = 128;
        const std::string text = emit::emit_c(row_sums(), gpu(*language), g).text;
        EXPECT_NE(text.find(" += 128"), std::string::npos) << text;
        EXPECT_NE(text.find("team_add_f32("), std::string::npos) << text;
        EXPECT_NE(text.find("if (lane == 0) out0[i0] = "), std::string::npos) << text;
        EXPECT_EQ(text.find("__shfl") != std::string::npos, language == &cuda_cpp);
    }
}

/// The place of the greatest element of each row, as argmax looks for it: value and place in one integer. `moved`: it counts backwards.
ir::Kernel row_places(bool moved) {
    ir::Builder m("places", 1, false);
    const ir::Value x = m.pointer("in0", DType::UInt32, Access::Read, true), out = m.pointer("out0", DType::UInt64, Access::Write, true),
                    n = m.scalar_param("n", DType::Int64), row = m.mul(m.dim(0), n), zero = m.constant(DType::UInt64, 0.0);
    const ir::Reduction greatest{ir::Combine::Max, zero};
    const auto found = m.for_lanes(m.i64(0), n, {&greatest, 1}, [&](ir::Value k) {
        const ir::Value place = moved ? m.sub(n, k) : k, low = m.cast(m.bit_not(m.cast(place, DType::UInt32)), DType::UInt64);
        const ir::Value key = m.cast(m.load(x, m.add(row, k)), DType::UInt64);
        return ir::Builder::Values{m.bit_or(m.shl(key, m.constant(DType::UInt64, 32.0)), low)};
    });
    m.store(out, m.dim(0), found[0]);
    return m.finish();
}

TEST(CText, places_of_the_greatest_are_packed_only_where_its_key_may_win) {
    CGeometry g;
    g.mapping = CMapping::Team;
    g.group_size = g.team = 128;
    g.unroll = 8;
    const std::string cuda = emit::emit_c(row_places(false), gpu(cuda_cpp), g).text;
    EXPECT_NE(cuda.find("if (pardo_passes_in_warp_u32("), std::string::npos) << cuda;
    EXPECT_NE(emit::emit_c(row_places(false), gpu(opencl_c), g).text.find("if (pardo_passes_u32("), std::string::npos);
    // The lanes of a warp have rows of their own.
    g.team = 16;
    EXPECT_NE(emit::emit_c(row_places(false), gpu(cuda_cpp), g).text.find("if (pardo_passes_u32("), std::string::npos);
    // By an equal key a later element may win.
    EXPECT_EQ(emit::emit_c(row_places(true), gpu(cuda_cpp), g).text.find("pardo_passes"), std::string::npos);
}

TEST(CText, sub_groups_of_a_known_size_exchange_by_shuffles) {
    CFeatures f = gpu(opencl_c);
    f.sub_group = 16;
    CGeometry g;
    g.mapping = CMapping::Team;
    g.group_size = g.team = 128;
    const std::string text = emit::emit_c(row_sums(), f, g).text;
    EXPECT_NE(text.find(R"(static inline float team_add_f32(float x, int lane, __local float* scratch) {
    for (int step = 8; step > 0; step /= 2) {
        const float y = sub_group_shuffle_xor(x, (uint)step);
        x = x + y;
    }
    if ((lane & 15) == 0) scratch[lane >> 4] = x;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    x = scratch[lane & 7];
    for (int step = 4; step > 0; step /= 2) {
        const float y = sub_group_shuffle_xor(x, (uint)step);
        x = x + y;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return x;
}
)"),
              std::string::npos)
        << text;
    // The size is the kernel's own, and no item is who the driver does not say it is.
    EXPECT_NE(text.find("__attribute__((intel_reqd_sub_group_size(16))) __kernel"), std::string::npos) << text;
    EXPECT_NE(text.find("const int lane = (int)(get_sub_group_id() * 16 + get_sub_group_local_id());"), std::string::npos) << text;
    EXPECT_EQ(text.find("get_local_id"), std::string::npos) << text;
    // More sub-groups than one of them has items.
    f.sub_group = 8;
    f.intel_shuffles = true;
    g.group_size = g.team = 1024;
    const std::string many = emit::emit_c(row_sums(), f, g).text;
    EXPECT_NE(many.find("__local float shared_f32[128];"), std::string::npos) << many;
    EXPECT_NE(many.find(R"(    x = scratch[lane & 7];
    for (int k = 8; k < 128; k += 8) {
        const float y = scratch[k + (lane & 7)];
        x = x + y;
    }
    for (int step = 4; step > 0; step /= 2) {
        const float y = intel_sub_group_shuffle_xor(x, (uint)step);
)"),
              std::string::npos)
        << many;
    // Nothing of the kind where nothing is exchanged.
    EXPECT_EQ(emit::emit_c(addition(), f, CGeometry()).text.find("sub_group"), std::string::npos);
    g.group_size = 128;
    g.team = 1;
    EXPECT_EQ(emit::emit_c(row_sums(), f, g).text.find("sub_group"), std::string::npos);
}

TEST(CText, refuses_what_a_device_lacks) {
    ir::Builder m("double", 1, true);
    const ir::Value out = m.pointer("out0", DType::Float64, Access::Write, true);
    m.store(out, m.dim(0), m.constant(DType::Float64, 1.0));
    const ir::Kernel kernel = m.finish();
    CFeatures f = gpu(opencl_c);
    f.fp64 = false;
    try {
        emit::emit_c(kernel, f, {});
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::Compile);
        EXPECT_NE(e.message().find("float64"), std::string::npos);
    }
}

TEST(CGeometry, survives_encoding_and_covers_all_items) {
    std::mt19937 random(1);
    const auto power = [&](int most) { return 1 << random() % static_cast<unsigned>(most + 1); };
    for (int round = 0; round < 500; ++round) {
        CGeometry g;
        g.mapping = static_cast<CMapping>(random() % 5);
        g.wide = random() % 2;
        g.group_size = power(10);
        g.columns = power(3);
        g.rows = power(3);
        g.team = std::min(power(10), g.group_size);
        g.unroll = power(5);
        g.steps = static_cast<int>(random() % 17);
        g.whole = random() % 2;
        if (g.mapping == CMapping::Range) g.columns = g.rows = 1;
        const CGeometry back = CGeometry::decode(g.encode());
        EXPECT_EQ(back.mapping, g.mapping);
        EXPECT_EQ(back.wide, g.wide);
        EXPECT_EQ(back.group_size, g.group_size);
        EXPECT_EQ(back.columns, g.columns);
        EXPECT_EQ(back.rows, g.rows);
        EXPECT_EQ(back.team, g.team);
        EXPECT_EQ(back.unroll, g.unroll);
        EXPECT_EQ(back.steps, g.steps);
        EXPECT_EQ(back.whole, g.whole);
        std::vector<std::int64_t> extents;
        std::int64_t items = 1;
        for (unsigned d = 0; d < 1 + random() % 4; ++d) items *= extents.emplace_back(static_cast<std::int64_t>(random() % 40));
        std::int64_t each = std::int64_t(g.group_size) * g.columns;
        if (g.mapping == CMapping::Line && extents.size() > 1) each *= g.rows;
        if (g.mapping == CMapping::Team) each = g.group_size / g.team;
        if (g.mapping == CMapping::Loop) each = emit::loop_stretch * (extents.size() > 1 ? g.rows : 1);
        const std::int64_t groups = emit::group_count(g, extents);
        EXPECT_GE(groups * each, items);
        EXPECT_EQ(groups == 0, items == 0);
        const auto each_way = emit::group_counts(g, extents);
        EXPECT_EQ(each_way[0] * each_way[1] * each_way[2], groups);
    }
}

/// Stores numbers into so many neighbours from count * i + first on, in turns with loads of one of them if `reads`.
ir::Kernel blocks(DType dtype, int count, std::int64_t first, bool reads) {
    ir::Builder m("blocks", 1, true);
    const ir::Value out = m.pointer("out0", dtype, Access::ReadWrite, true), begin = m.mul(m.dim(0), m.i64(count));
    for (int k = 0; k < count; ++k) {
        const ir::Value value = reads ? m.load(out, begin) : m.cast(m.add(m.dim(0), m.i64(k)), dtype);
        m.store(out, m.add(begin, m.i64(first + k)), value);
    }
    return m.finish();
}

TEST(CText, an_item_stores_neighbours_by_one_access_where_that_matters) {
    CGeometry g;
    g.group_size = 256;
    const auto count_of = [&](const ir::Kernel& kernel, const CTarget& target, const std::string& what) {
        const std::string text = emit::emit_c(kernel, gpu(target), g).text;
        int count = 0;
        for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
        return count;
    };
    EXPECT_EQ(count_of(blocks(f32, 4, 0, false), cuda_cpp, "    pardo_store_4_f32(&out0["), 1);
    EXPECT_EQ(count_of(blocks(f32, 4, 0, false), cuda_cpp, "] = "), 4);  // within the helper
    EXPECT_EQ(count_of(blocks(f32, 7, 3, false), cuda_cpp, "    pardo_store_4_f32(&out0["), 1);
    EXPECT_EQ(count_of(blocks(f32, 7, 3, false), cuda_cpp, "    pardo_store_2_f32(&out0["), 1);
    EXPECT_EQ(count_of(blocks(DType::Float64, 4, 0, false), cuda_cpp, "    pardo_store_2_f64(&out0["), 2);
    EXPECT_EQ(count_of(blocks(DType::UInt32, 2, 0, false), cuda_cpp, "    pardo_store_2_u32(&out0["), 1);
    EXPECT_EQ(count_of(blocks(DType::Int16, 4, 0, false), cuda_cpp, "pardo_store"), 0);
    EXPECT_EQ(count_of(blocks(f32, 4, 0, true), cuda_cpp, "pardo_store"), 0);
    EXPECT_EQ(count_of(blocks(f32, 4, 0, false), opencl_c, "pardo_store"), 0);
}

TEST(CText, sine_and_cosine_of_a_number_are_one_call) {
    CGeometry g;
    g.group_size = 256;
    for (const DType dtype : {f32, DType::Float64}) {
        ir::Builder m("turn", 1, true);
        const ir::Value out = m.pointer("out0", dtype, Access::Write, true), x = m.cast(m.dim(0), dtype), y = m.neg(x);
        const ir::Value a = m.call(ir::Math::cos, x), b = m.call(ir::Math::sin, x), c = m.call(ir::Math::sin, y);
        m.store(out, m.dim(0), m.add(m.mul(a, b), c));
        const ir::Kernel kernel = m.finish();
        const std::string text = emit::emit_c(kernel, gpu(cuda_cpp), g).text, f = dtype == f32 ? "f" : "";
        const std::string wanted = "    sincos" + f + "(v0, &v2, &v1);\n    out0[i0] = sin" + f + "(-v0) + (v1 * v2);\n";
        EXPECT_NE(text.find(wanted), std::string::npos) << text;
        EXPECT_EQ(emit::emit_c(kernel, gpu(opencl_c), g).text.find("sincos"), std::string::npos);
    }
}

TEST(CGeometry, gives_an_item_one_element_where_copies_would_multiply_branches) {
    const std::int64_t items[] = {1 << 24};
    for (const auto& [branches, wanted] : {std::pair(1, 4), std::pair(6, 1)}) {
        ir::Builder b("ways", 1, true);
        const ir::Value out = b.pointer("out0", f32, Access::Write, true), x = b.pointer("in0", f32, Access::Read, true);
        ir::Value value = b.load(x, b.dim(0));
        for (int k = 0; k < branches; ++k)
            value = b.if_else(
                b.eq(b.rem(b.dim(0), b.i64(7 + k)), b.i64(3)), [&] { return ir::Builder::Values{b.load(x, b.i64(k))}; },
                [&] { return ir::Builder::Values{value}; })[0];
        b.store(out, b.dim(0), value);
        EXPECT_EQ(emit::choose_geometry(b.finish(), {.extents = items, .inner = 1, .innermost = 1}, gpu(cuda_cpp)).columns, wanted);
    }
}

TEST(CGeometry, fits_the_stack_of_a_processors_thread) {
    const std::int64_t items[] = {1000};
    CFeatures f = gpu(opencl_c);
    for (const auto& [count, wanted] : {std::pair(16, 16), std::pair(32768, 4), std::pair(1 << 20, 1)}) {
        ir::Builder b("own", 1, false);
        const ir::Value own = b.array("own", DType::Float64, count, ir::Space::Private);
        b.store(own, b.dim(0), b.constant(DType::Float64, 1.0));
        const ir::Kernel kernel = b.finish();
        for (const bool cpu : {false, true}) {
            f.cpu = cpu;
            EXPECT_EQ(emit::choose_geometry(kernel, {.extents = items, .inner = 1, .innermost = 1}, f).group_size, cpu ? wanted : 256);
        }
    }
}

/// Kernels of each mapping, and extents of their ranks.
std::vector<ir::Kernel> some_kernels() {
    ir::Builder m("copy_f32", 2, true);
    m.store(m.pointer("out0", f32, Access::Write, true), m.add(m.mul(m.dim(0), m.extent(1)), m.dim(1)), m.constant(f32, 1.0));
    return {addition(), row_sums(), m.finish()};
}

TEST(CGeometry, follows_from_the_traits_of_a_kernel_as_from_the_kernel) {
    CFeatures features[] = {gpu(cuda_cpp), gpu(opencl_c), gpu(opencl_c), gpu(opencl_c)};
    features[2].cpu = features[3].cpu = features[3].vector_loops = true;
    for (const ir::Kernel& kernel : some_kernels()) {
        const emit::CTraits traits = emit::CTraits::of(emit::CTraits(kernel).numbers());
        for (const std::int64_t n : {1, 3, 40, 1000, 1 << 20})
            for (const std::int64_t m : {1, 9, 300, 5000, 1 << 20}) {
                const std::int64_t extents[] = {n, m};
                const auto own = std::span(extents).first(static_cast<std::size_t>(kernel.rank));
                for (const CFeatures& f : features) {
                    const device::LaunchShape shape{.extents = own, .inner = m, .innermost = m};
                    EXPECT_EQ(emit::choose_geometry(traits, shape, f).encode(), emit::choose_geometry(kernel, shape, f).encode());
                }
            }
    }
}

TEST(CForms, have_a_text_for_any_size) {
    for (const bool processors : {false, true})
        for (const emit::CForm& form : emit::opencl_forms(processors)) {
            EXPECT_EQ(emit::distance(form, form.features), 0) << form.name;
            for (const ir::Kernel& kernel : some_kernels()) {
                const emit::CTraits traits(kernel);
                const auto coarse = [&](std::int64_t n, std::int64_t m) {
                    const std::int64_t extents[] = {n, m};
                    const auto own = std::span(extents).first(static_cast<std::size_t>(kernel.rank));
                    return emit::coarse(emit::choose_geometry(traits, {.extents = own, .inner = m, .innermost = m}, form.features), traits,
                                        form.features);
                };
                std::vector<device::ShapeClass> made;
                for (const std::int64_t n : {2, 17, 5000})
                    for (const std::int64_t m : {2, 100, 1 << 16}) made.push_back(coarse(n, m).encode());
                for (const device::ShapeClass code : made) {
                    EXPECT_TRUE(emit::sound(code, kernel.rank)) << form.name;
                    const int best = emit::best_of(made, CGeometry::decode(code), form.features);
                    ASSERT_GE(best, 0) << form.name;
                    EXPECT_EQ(made[static_cast<std::size_t>(best)], code) << form.name;  // its own, where there is one
                }
                for (const std::int64_t n : {3, 1000})
                    for (const std::int64_t m : {7, 3000}) EXPECT_GE(emit::best_of(made, coarse(n, m), form.features), 0) << form.name;
                EXPECT_LT(emit::best_of(made, coarse(std::int64_t{1} << 32, std::int64_t{1} << 20), form.features), 0);  // too many items
            }
        }
    EXPECT_FALSE(emit::sound(0, 1));
    CGeometry team;
    team.mapping = CMapping::Team;
    team.group_size = 32;
    team.team = 64;  // more than the group has
    EXPECT_FALSE(emit::sound(team.encode(), 1));
}

/// Sums by fixed steps have the bits of those with more steps, and of four running values where two were enough.
TEST(CForms, keep_the_sums_of_teams) {
    const emit::CTraits traits(row_sums());
    CGeometry few;
    few.mapping = CMapping::Team;
    few.group_size = few.team = 64;
    few.steps = 3;
    few.unroll = 2;
    const CGeometry coarse = emit::coarse(few, traits, gpu(cuda_cpp));
    EXPECT_EQ(std::tuple(coarse.team, coarse.steps, coarse.unroll), std::tuple(64, 4, 8));
    CGeometry open = few, other = few;
    open.steps = 0;
    other.team = 32;
    other.steps = 16;
    const device::ShapeClass made[] = {open.encode(), coarse.encode(), other.encode()};
    EXPECT_EQ(emit::best_of(made, coarse, gpu(cuda_cpp)), 1);
    EXPECT_EQ(emit::best_of(made, open, gpu(cuda_cpp)), 0);
    EXPECT_EQ(emit::best_of(std::span(made).first(1), coarse, gpu(cuda_cpp)), 0);  // other last bits, and right
}

TEST(CGeometry, fits_the_device_and_the_size) {
    const std::int64_t large[] = {1 << 28}, small[] = {16}, pairs[] = {20000, 20000}, triples[] = {1000000, 3};
    const CFeatures f = gpu(cuda_cpp);
    const auto of = [&](const ir::Kernel& kernel, std::span<const std::int64_t> extents, std::int64_t inner) {
        return emit::choose_geometry(kernel, {.extents = extents, .inner = inner, .innermost = inner}, f);
    };
    EXPECT_EQ(of(addition(), large, 1).columns, 4);  // 16 bytes of each array an item
    EXPECT_EQ(of(addition(), small, 1).columns, 1);
    EXPECT_FALSE(of(addition(), large, 1).wide);
    const std::int64_t rows[] = {1 << 14};
    EXPECT_EQ(of(row_sums(), rows, 4096).team, 256);
    EXPECT_LE(of(row_sums(), rows, 40).team, 32);
    // OpenCL: a sub-group is whole teams or none.
    CFeatures sub_groups = gpu(opencl_c);
    sub_groups.sub_group = 16;
    for (const std::int64_t inner : {1, 3, 9, 15, 40, 100, 4096, 1 << 20}) {
        for (const std::int64_t count : {1, 100, 1 << 20}) {
            const std::int64_t extents[] = {count};
            const CGeometry g = emit::choose_geometry(row_sums(), {.extents = extents, .inner = inner, .innermost = inner}, sub_groups);
            EXPECT_TRUE(g.team == 1 || g.team % 16 == 0) << inner << " " << g.team;
            EXPECT_EQ(g.group_size % 16, 0) << inner;
        }
    }
    ir::Builder m("copy_f32", 2, true);
    m.store(m.pointer("out0", f32, Access::Write, true), m.add(m.mul(m.dim(0), m.extent(1)), m.dim(1)), m.constant(f32, 1.0));
    const ir::Kernel plane = m.finish();
    EXPECT_EQ(of(plane, pairs, 1).mapping, CMapping::Line);
    EXPECT_EQ(of(plane, triples, 1).mapping, CMapping::Flat);
    ir::Builder w("rounds", 3, true);
    const ir::Value out = w.pointer("out", DType::Int64, Access::Write, true), start[] = {w.i64(100)};
    const auto left = w.while_loop(
        start, [&](std::span<const ir::Value> c) { return w.gt(c[0], w.dim(2)); },
        [&](std::span<const ir::Value> c) { return ir::Builder::Values{w.sub(c[0], w.i64(3))}; });
    w.store(out, w.dim(2), left[0]);
    const ir::Kernel rounds = w.finish();
    const std::int64_t box[] = {3, 20, 70}, low[] = {3, 7, 70};
    EXPECT_EQ(of(rounds, box, 1).mapping, CMapping::Tile);  // 32 x 8
    EXPECT_EQ(emit::group_count(CGeometry::decode(of(rounds, box, 1).encode()), box), 3 * 3 * 3);
    EXPECT_EQ(of(rounds, low, 1).mapping, CMapping::Line);
    CFeatures cpu;
    cpu.cpu = true;
    const auto groups = [&](std::span<const std::int64_t> extents) {
        const CGeometry g = emit::choose_geometry(plane, {.extents = extents, .inner = 1, .innermost = 1}, cpu);
        return emit::group_counts(CGeometry::decode(g.encode()), extents);
    };
    EXPECT_EQ(groups(pairs), (std::array<std::int64_t, 3>{79, 20000, 1}));  // 256 items a group
    cpu.vector_loops = true;
    EXPECT_EQ(groups(pairs), (std::array<std::int64_t, 3>{5 * 20000, 1, 1}));
    EXPECT_EQ(groups(triples), (std::array<std::int64_t, 3>{7813, 1, 1}));  // 128 rows each
    const std::int64_t huge[] = {std::int64_t(1) << 20, std::int64_t(1) << 20};
    EXPECT_TRUE(of(plane, huge, 1).wide);
}

}  // namespace
}  // namespace pardo::test

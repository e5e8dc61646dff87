// tests/unit/routines/test_device_texts.cpp: NVRTC takes the text of every routine's kernel, for every dtype; no driver is needed.
#include <dlfcn.h>

#include <cstdlib>
#include <map>

#include "device_support.h"
#include "emit/c/target.h"

namespace pardo::test {
namespace {

using routines::KernelId;
using routines::Variant;

/// The few functions of NVRTC that compiling takes.
struct Nvrtc {
    int (*create)(void**, const char*, const char*, int, const char* const*, const char* const*);
    int (*compile)(void*, int, const char* const*);
    int (*log_size)(void*, std::size_t*);
    int (*log)(void*, char*);
    int (*destroy)(void**);
};
const Nvrtc* nvrtc() {
    static Nvrtc functions;
    static const bool found = [] {
        const char* wanted = std::getenv("PARDO_NVRTC");
        void* library = nullptr;
        for (const char* name : {wanted ? wanted : "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"}) {
            if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        }
        if (!library) return false;
        const auto bind = [library](auto& function, const char* name) {
            function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
        };
        bind(functions.create, "nvrtcCreateProgram");
        bind(functions.compile, "nvrtcCompileProgram");
        bind(functions.log_size, "nvrtcGetProgramLogSize");
        bind(functions.log, "nvrtcGetProgramLog");
        bind(functions.destroy, "nvrtcDestroyProgram");
        return functions.create && functions.compile && functions.log_size && functions.log && functions.destroy;
    }();
    return found ? &functions : nullptr;
}

void expect_compiles(const Variant& variant, const std::string& arch) {
    emit::CFeatures features;
    features.target = &emit::cuda_cpp;
    const device::SourceKernel source = routines::kernel_source(variant, "");
    const std::string text = emit::c_macros(features) + source.text, option = "--gpu-architecture=" + arch;
    void* program = nullptr;
    ASSERT_EQ(nvrtc()->create(&program, text.c_str(), source.name.c_str(), 0, nullptr, nullptr), 0);
    const char* options[] = {option.c_str(), "--std=c++17", "--fmad=false", "-default-device"};
    if (nvrtc()->compile(program, 4, options) != 0) {
        std::size_t size = 0;
        nvrtc()->log_size(program, &size);
        std::string log(size, '\0');
        nvrtc()->log(program, log.data());
        std::string defines;
        for (const auto& define : variant.defines) defines += std::string(define.name) + "=" + std::to_string(define.value) + " ";
        ADD_FAILURE() << source.name << " " << dtype_name(variant.dtype) << " " << arch << " " << defines << "\n" << log.substr(0, 2000);
    }
    nvrtc()->destroy(&program);
}

void add_linear_algebra(std::vector<Variant>& list, DType dtype) {
    for (int extent : {4, 32}) {
        for (int task = 0; task < 4; ++task) {
            const int sides = task < 2 ? 0 : extent == 4 ? 1 : 8;
            list.push_back({KernelId::LuSmall, dtype, {{"EXTENT", extent}, {"TASK", task}, {"SIDES", sides}}});
            list.push_back({KernelId::LuAlone, dtype, {{"EXTENT", extent}, {"TASK", task}, {"SIDES", 0}}});
        }
        list.push_back({KernelId::CholeskySmall, dtype, {{"EXTENT", extent}}});
        list.push_back({KernelId::CholeskyAlone, dtype, {{"EXTENT", extent}}});
    }
    for (int flag : {0, 1}) {
        list.push_back({KernelId::NanMatrices, dtype, {{"STAGE", flag}}});
        list.push_back({KernelId::TriangleSolve, dtype, {{"CONJUGATE", 1 - flag}, {"UNIT", flag}}});
        list.push_back({KernelId::LuDeterminant, dtype, {{"TASK", flag}, {"BASE", 1 - flag}}});
        list.push_back(
            {KernelId::MatmulMinus, dtype, {{"ROWS", 1 + flag}, {"COLUMNS", 1 + flag}, {"A_RANK", 1}, {"B_RANK", 1}, {"CONJUGATE", flag}}});
    }
    for (const KernelId kernel : {KernelId::LuPanel, KernelId::KeepTriangle, KernelId::NoteInfinite, KernelId::NoteZeros,
                                  KernelId::EigenColumns, KernelId::FiniteOnly, KernelId::DivideRows})
        list.push_back({kernel, dtype});
    for (int bits : {0, 5, 8}) {
        list.push_back({KernelId::QrPanel, dtype, {{"TEAM_BITS", bits}}});
        list.push_back({KernelId::JacobiStart, dtype, {{"TEAM_BITS", bits}, {"FORM", bits % 4}}});
    }
    for (int flag : {0, 1}) {
        list.push_back({KernelId::Jacobi, dtype, {{"TEAM_BITS", 5}, {"WHOLE", flag}}});
        list.push_back({KernelId::UnitMatrices, dtype, {{"SIGNS", flag}}});
        list.push_back({KernelId::OrderRows, dtype, {{"ASCENDING", flag}}});
        list.push_back({KernelId::CopyRows, dtype, {{"ORDERED", flag}, {"CONJUGATE", flag}}});
    }
    list.push_back({KernelId::Jacobi, dtype, {{"TEAM_BITS", 0}, {"WHOLE", 1}}});
    list.push_back({KernelId::RowNumbers, dtype, {{"TEAM_BITS", 5}, {"PRODUCT", 1}}});
    list.push_back({KernelId::Residuals, dtype, {{"TEAM_BITS", 8}}});
}

/// Texts of CUDA alone.
void add_sweeps(std::vector<Variant>& list, DType dtype) {
    for (int counts : {4, 8}) {
        for (int mode : {0, 1, 2, 3, 4}) {
            if (counts == 8 && mode != 2 && mode != 3) continue;
            const std::initializer_list<routines::Define> both = {{"L_SIZE", counts}, {"MODE", mode}};
            if (mode < 3) list.push_back({KernelId::SweepCount, dtype, both});
            list.push_back({mode < 3 ? KernelId::SweepPlan : KernelId::ClassStarts, dtype, both});
            const int ready = dtype == DType::UInt32 ? 3 : dtype == DType::Int64 ? 4 : 1, extra = mode == 0 ? ready : mode % 2 == 0 ? 2 : 0;
            for (int positions : {0, counts}) {
                if (positions == 0 && mode % 2 == 0) continue;
                const bool wide = std::max(itemsize(dtype), positions) > 4;
                const int warps = positions > 0 && !wide ? 16 : 12, items = wide ? 10 : positions > 0 ? 12 : 16;
                list.push_back({KernelId::SweepPass,
                                dtype,
                                {{"L_SIZE", counts},
                                 {"MODE", mode},
                                 {"P_SIZE", positions},
                                 {"EXTRA", positions > 0 ? extra : 0},
                                 {"WARPS", warps},
                                 {"ITEMS", items}}});
            }
        }
    }
}

/// The variants of one dtype that differ in more than a number.
std::vector<Variant> variants_of(DType dtype) {
    std::vector<Variant> list;
    const int value_size = itemsize(computed_in(dtype)), items = std::clamp(64 / value_size, 4, 16);
    for (int op = 0; op < 4; ++op) {
        list.push_back({KernelId::ScanRows, dtype, {{"OP", op}, {"ITEMS", items}}});
        list.push_back({KernelId::ScanTotals, dtype, {{"OP", op}, {"ITEMS", items}, {"ORDERED", op >= 2}}});
    }
    list.push_back({KernelId::ScanCarries, dtype, {{"OP", 0}, {"ITEMS", items}}});
    for (int stage = 0; stage < 3; ++stage) list.push_back({KernelId::ScanColumns, dtype, {{"OP", stage}, {"STAGE", stage}}});
    for (int action = 0; action < 3; ++action) {
        for (int rank : {0, 1, 4, 5})
            list.push_back(
                routines::moved_variant(KernelId::TakeSelected, dtype,
                                        {{"SOURCE", rank % 2}, {"ACTION", action}, {"A_RANK", action == 2 ? rank : 0}, {"B_RANK", 0}}));
    }
    list.push_back({KernelId::CountRuns, dtype, {{"SOURCE", 2}}});
    for (int details : {0, 1}) list.push_back({KernelId::FillRuns, dtype, {{"SOURCE", 2}, {"DETAILS", details}}});
    for (int rank : {0, 1, 4, 5}) {
        list.push_back(routines::moved_variant(KernelId::Gather, dtype, {{"A_RANK", rank}, {"B_RANK", 5 - rank}}));
        list.push_back(routines::moved_variant(KernelId::Scatter, dtype, {{"A_RANK", rank}, {"B_RANK", 5 - rank}}));
    }
    list.push_back(routines::moved_variant(KernelId::TakeAlong, dtype));
    for (int back : {0, 1}) list.push_back(routines::moved_variant(KernelId::ExchangeRows, dtype, {{"BACK", back}, {"BASE", back}}));
    list.push_back(routines::moved_variant(KernelId::Transpose, dtype));
    list.push_back({KernelId::Search, dtype});
    const int bits = itemsize(dtype) > 8 ? 10 : 11;
    for (int from : {0, 1})
        list.push_back({KernelId::SortShort, dtype, {{"ROOM_BITS", bits}, {"FROM", from}, {"VALUES", 1}, {"INDICES", 1}}});
    for (int positions : {4, 8}) {
        if (is_complex(dtype)) list.push_back({KernelId::ComplexKeys, dtype, {{"P_SIZE", positions}, {"USE_PAYLOAD", positions == 8}}});
        list.push_back(routines::moved_variant(KernelId::SortedOut, dtype, {{"P_SIZE", positions}, {"VALUES", 1}, {"INDICES", 1}}));
    }
    for (int shape : {0, 1, 2, 3}) {
        constexpr int rows[] = {8, 4, 2, 1}, columns[] = {4, 4, 2, 1};
        if (rows[shape] * columns[shape] * itemsize(dtype) > 128) continue;
        list.push_back(
            {KernelId::Matmul, dtype, {{"ROWS", rows[shape]}, {"COLUMNS", columns[shape]}, {"A_RANK", shape}, {"B_RANK", 5 - shape}}});
    }
    for (int edge : {4, 8, 16})
        list.push_back({KernelId::MatmulSmall, dtype, {{"EDGE", edge}, {"A_RANK", edge == 8 ? 3 : 1}, {"B_RANK", 1}}});
    if (is_inexact(dtype) && !is_narrow_float(dtype)) add_linear_algebra(list, dtype);
    if (!is_narrow_float(dtype)) {
        for (int op = 0; op < 9; ++op) {
            if (op > 0 && is_complex(dtype)) continue;
            if ((op > 5 && is_inexact(dtype)) || (op < 6 && dtype == DType::Bool)) continue;
            list.push_back({KernelId::AccumulateParts, dtype, {{"OP", op}, {"CHECKED", op % 2}}});
            if (op % 2 == 0)
                list.push_back({KernelId::AccumulateChunks,
                                dtype,
                                {{"OP", op}, {"CHECKED", op / 2 % 2}, {"K_SIZE", op ? 4 : 8}, {"VALUES", op / 2 % 4}}});
            if (op < 3) list.push_back({KernelId::AccumulateJoined, dtype, {{"OP", op}, {"CHECKED", op % 2}}});
            if (op < 3) list.push_back({KernelId::AccumulateAll, dtype, {{"OP", op}, {"CHECKED", op % 2}}});
        }
    }
    if (is_complex(dtype)) return list;
    if (is_integer(dtype)) list.push_back({KernelId::MarkValues, dtype});
    if (kind_of(dtype) == DKind::Unsigned && itemsize(dtype) > 2)
        list.push_back({KernelId::AccumulateKeys, dtype, {{"CHECKED", itemsize(dtype) % 2}}});
    for (int slots : {4, 8}) {
        const int digit_bits = itemsize(dtype) == 1 ? 8 : 11, mode = slots / 4;
        for (int keep : {0, 1})
            list.push_back({KernelId::SelectCount, dtype, {{"DIGIT_BITS", digit_bits}, {"SLOTS", slots}, {"MODE", mode}, {"KEEP", keep}}});
        list.push_back({KernelId::SelectDigit, dtype, {{"DIGIT_BITS", digit_bits}, {"SLOTS", slots}, {"MODE", mode}}});
    }
    list.push_back({KernelId::ZeroCounts, dtype});
    for (int signs : {0, 1}) list.push_back({KernelId::ZerosInOrder, dtype, {{"SIGNS", signs}}});
    add_sweeps(list, dtype);
    for (int mode : {0, 1, 2, 3, 4}) {
        for (int positions : {0, 4, 8}) {
            const int radix_items = itemsize(dtype) > 4 || positions > 4 ? 8 : 16, counts = positions == 8 ? 8 : 4;
            list.push_back({KernelId::RadixCount, dtype, {{"ITEMS", radix_items}, {"MODE", mode}, {"C_SIZE", counts}}});
            list.push_back({KernelId::RadixScatter,
                            dtype,
                            {{"ITEMS", radix_items},
                             {"MODE", mode},
                             {"C_SIZE", counts},
                             {"P_SIZE", positions},
                             {"FIRST", mode > 0},
                             {"LAST", mode % 3}}});
        }
    }
    return list;
}

/// Those of a dtype in parts, of which a short run takes some.
class DeviceTextsOf : public ::testing::TestWithParam<std::tuple<DType, std::size_t>> {};
constexpr std::size_t parts = 8;

TEST_P(DeviceTextsOf, NvrtcTakesThem) {
    if (!nvrtc()) GTEST_SKIP() << "no NVRTC (PARDO_NVRTC names its library)";
    const auto [dtype, part] = GetParam();
    const std::vector<Variant> variants = variants_of(dtype);
    for (std::size_t k = part; k < variants.size(); k += parts) {
        const Variant& variant = variants[k];
        expect_compiles(variant, "compute_80");  // as far as PTX
        // What uses most of a group's shared memory, as far as machine code.
        if (variant.kernel == KernelId::RadixScatter || variant.kernel == KernelId::SweepPass || variant.kernel == KernelId::SelectCount ||
            variant.kernel == KernelId::SortShort || variant.kernel == KernelId::Matmul || variant.kernel == KernelId::MatmulSmall)
            expect_compiles(variant, "sm_90");
    }
}

TEST(DeviceTexts, ThoseOfNoDtype) {
    if (!nvrtc()) GTEST_SKIP() << "no NVRTC (PARDO_NVRTC names its library)";
    for (int choice : {0, 1}) {
        expect_compiles({KernelId::CountMask, DType::Bool, {{"SOURCE", choice}}}, "sm_90");
        expect_compiles({KernelId::JoinIndices, DType::Int64, {{"NUMBERS", choice}}}, "sm_90");
        expect_compiles({KernelId::LastWins, DType::Int64, {{"STAGE", choice}}}, "sm_90");
        expect_compiles({KernelId::RowPlaces, DType::Int32, {{"SHORT", choice}, {"BASE", 1 - choice}}}, "sm_90");
    }
    for (const KernelId kernel :
         {KernelId::RunLengths, KernelId::FindBad, KernelId::LastOfSorted, KernelId::NoteInfo, KernelId::NoteExchanges})
        expect_compiles({kernel, DType::Int64}, "sm_90");
}

TEST(DeviceTexts, SingleDevicesSeeNoDouble) {
    for (const DType dtype : all_dtypes) {
        for (const Variant& variant : variants_of(dtype)) {
            if (!variant.moved && (dtype == DType::Float64 || dtype == DType::Complex128)) continue;
            const std::string text = routines::kernel_source(variant, "").text;
            EXPECT_EQ(text.find("f64"), std::string::npos) << routines::kernel_source(variant, "").name;
            EXPECT_EQ(text.find("double"), std::string::npos);
        }
    }
}

TEST(DeviceTexts, ProgramsHaveKeysOfTheirOwn) {
    std::map<std::uint64_t, std::string> texts;
    std::map<std::string, std::uint64_t> keys;
    for (const DType dtype : all_dtypes) {
        for (const Variant& variant : variants_of(dtype)) {
            const std::string text = routines::kernel_source(variant, "").text;
            EXPECT_EQ(texts.try_emplace(variant.key(), text).first->second, text);
            EXPECT_EQ(keys.try_emplace(text, variant.key()).first->second, variant.key()) << text;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(AllDtypes, DeviceTextsOf,
                         ::testing::Combine(::testing::ValuesIn(all_dtypes), ::testing::Range(std::size_t{0}, parts)),
                         [](const auto& info) {
                             return std::string(dtype_name(std::get<0>(info.param))) + "_" + std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace pardo::test

// src/backend/opencl/quirks.cpp: the table of drivers' faults: an entry goes when no driver that people have needs it any more.
#include "backend/opencl/quirks.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "base/env.h"

namespace pardo::opencl {
namespace {

constexpr const char* work_group_method = "POCL_WORK_GROUP_METHOD";
constexpr const char *pocl = "Portable Computing Language", *intel = "Intel(R) OpenCL", *nvidia = "NVIDIA CUDA";

/// Which devices of the platform.
enum class Of { All, Processors, Lanes };

struct Row {
    Quirk quirk;
    const char* platform;
    Of of;
    const char* seen;   // versions of the driver that have shown it
    const char* what;   // goes wrong
    const char* issue;  // where it is known to others; null: it was not reported
    const char* test;   // that fails without the workaround
    int mended = 0;     // the major version from which on it is; 0: not yet, or not known
};

/// Major and minor version of PoCL by what it says of its platform, "OpenCL 3.0 PoCL 7.1  Linux, …"; zeros for others.
std::pair<int, int> pocl_version(const std::string& version) {
    int major = 0, minor = 0;
    const std::size_t at = version.find("PoCL ");
    if (at != std::string::npos) std::sscanf(version.c_str() + at, "PoCL %d.%d", &major, &minor);
    return {major, minor};
}

constexpr Row rows[] = {
    {Quirk::VectorLoops, pocl, Of::Lanes, "3.1", "items are not made vectors of: loops inside of an item are", nullptr, "bench/kernels"},
    {Quirk::BarriersInConditions, pocl, Of::All, "3.1", "code after a barrier in an `if` is compiled wrongly", nullptr,
     "tests/unit/backend_opencl/barriers_test.cpp"},
    // The test that i * 5 does not wrap modulo 64 is dropped if it fails: wrong elements.
    {Quirk::HiddenMasks, pocl, Of::All, "3.1", "LLVM's loop vectoriser takes multiples of counters, masked, for even steps",
     "https://github.com/llvm/llvm-project/issues/225086", "tests/python/test_integers.py::test_masked_multiples_of_counters"},
    {Quirk::HalfImages, pocl, Of::All, "3.1", "images of one channel of float16 are read as bytes", nullptr, "tests/python/test_images.py"},
    {Quirk::MaskedAbs, nvidia, Of::All, "580", "the assembler takes -|x| <= 0 and |x| >= 0 for true where x is NaN", nullptr,
     "tests/conformance, on a GPU"},
    // Where the processor has no instruction for it.
    {Quirk::ConvertedLongs, intel, Of::Lanes, "2026.2", "the compiler dies of (double)x of neighbouring longs in a loop", nullptr,
     "tests/python/test_opencl.py::test_longs_become_doubles_in_loops_of_neighbours"},
    {Quirk::CountedDoubles, intel, Of::Lanes, "2026.2",
     "and of any(abs(x) > 2) of float64: of bools and integers made of a function of doubles, in a loop", nullptr,
     "tests/python/test_opencl.py::test_doubles_are_counted_and_compared_in_loops"},
    {Quirk::FoldedPairs, intel, Of::Lanes, "2026.2", "and of sums of abs(z) of complex64", nullptr, "tests/conformance"},
    // Where all items start with the same values.
    {Quirk::PassedNames, intel, Of::Processors, "2026.2",
     "the compiler dies of a, b = b, a + b in a loop whose iterations are each item's own", nullptr,
     "tests/python/test_opencl.py::test_loops_that_pass_values_from_name_to_name"},
    // It counts the launches of a kernel by entries for its ranges, and takes one off the wrong entry.
    {Quirk::CountedLaunches, pocl, Of::All, "5.0", "launches of one kernel over different ranges at the same time end the process",
     "https://github.com/pocl/pocl/commit/c9ac4c0c3", "tests/python/test_opencl.py::test_one_kernel_over_many_ranges_at_a_time", 6},
};

}  // namespace

bool has_quirk(Quirk quirk, const std::string& platform, const std::string& version, bool processor, bool lanes) {
    return std::any_of(std::begin(rows), std::end(rows), [&](const Row& row) {
        return row.quirk == quirk && row.platform == platform && (row.mended == 0 || pocl_version(version).first < row.mended) &&
               (row.of == Of::All || (row.of == Of::Processors ? processor : lanes));
    });
}

void set_environment(const std::string& platform, const std::string& version) {
    const auto [major, minor] = pocl_version(version);
    if (platform != pocl || !(major == 5 || (major == 7 && minor < 2))) return;
    TemporaryVariable(work_group_method, "cbs").keep();  // it compiles until the end
}

bool lacks_sub_groups(const std::string& platform, const std::string& version) {
    return platform == pocl && pocl_version(version).first < 6 && env(work_group_method) == "cbs";
}

}  // namespace pardo::opencl

// tests/fake_cuda/cufft/fake_cufft.cpp: the functions of libcufft that pardo loads, on the memory of the fake driver.
#include "fake_cufft.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <numbers>
#include <string>

namespace {

using Status = int;
constexpr Status success = 0, invalid_plan = 1, invalid_value = 4, internal_error = 5;
enum Type : int { C2C = 0x29, R2C = 0x2a, C2R = 0x2c, Z2Z = 0x69, D2Z = 0x6a, Z2D = 0x6c };

template <class F> F driver_function(const char* name) {
    return reinterpret_cast<F>(dlsym(dlopen(std::getenv("PARDO_CUDA_DRIVER"), RTLD_NOW | RTLD_NOLOAD), name));
}

struct Layout {
    std::array<long long, 3> extents;
    long long step, distance;
    long long at(int rank, const std::array<long long, 3>& index, long long batch) const {
        long long place = 0;
        for (int d = 0; d < rank; ++d) place = place * extents[d] + index[d];
        return place * step + batch * distance;
    }
};
struct Plan {
    void *stream = nullptr, *workspace = nullptr;
    bool own_workspace = true;
    int rank = 0, type = 0;
    std::array<long long, 3> n{};
    Layout in{}, out{};
    long long batch = 0;
};

std::mutex mutex;  // guards the three below
std::map<int, Plan> plans;
int last = 0;
std::string failing;
std::atomic<long> made{0};

bool fails(const char* function) {
    const std::lock_guard lock(mutex);
    if (failing != function) return false;
    failing.clear();
    return true;
}

bool next(std::array<long long, 3>& index, const std::array<long long, 3>& n, int rank) {
    for (int d = rank - 1; d >= 0; --d) {
        if (++index[d] < n[d]) return true;
        index[d] = 0;
    }
    return false;
}

/// Sums, in float64; `whole` tells the element of the whole spectrum or signal that an index of the input means.
template <class In, class Out> void transform(const Plan& p, const In* in, Out* out, int direction) {
    constexpr bool half_in = std::is_arithmetic_v<Out>, half_out = std::is_arithmetic_v<In>;
    std::array<long long, 3> wanted = p.n;
    if (half_out) wanted[p.rank - 1] = p.n[p.rank - 1] / 2 + 1;
    const auto value = [&](std::array<long long, 3> index, long long batch) -> std::complex<double> {
        const bool mirrored = half_in && index[p.rank - 1] > p.n[p.rank - 1] / 2;
        for (int d = 0; mirrored && d < p.rank; ++d) index[d] = (p.n[d] - index[d]) % p.n[d];
        const std::complex<double> v(in[p.in.at(p.rank, index, batch)]);
        return mirrored ? std::conj(v) : v;
    };
    std::map<long long, std::complex<double>> results;  // in place: all is read before something is written
    for (long long b = 0; b < p.batch; ++b) {
        std::array<long long, 3> k{};
        do {
            std::complex<double> sum = 0;
            std::array<long long, 3> i{};
            do {
                double turns = 0;
                for (int d = 0; d < p.rank; ++d) turns += static_cast<double>(k[d] * i[d] % p.n[d]) / static_cast<double>(p.n[d]);
                sum += value(i, b) * std::polar(1.0, direction * 2 * std::numbers::pi * turns);
            } while (next(i, p.n, p.rank));
            results[p.out.at(p.rank, k, b)] = sum;
        } while (next(k, wanted, p.rank));
    }
    for (const auto& [place, sum] : results) {
        if constexpr (std::is_arithmetic_v<Out>)
            out[place] = static_cast<Out>(sum.real());
        else
            out[place] = Out(sum);
    }
}

template <class In, class Out> Status execute(int handle, int type, void* in, void* out, int direction) {
    Plan plan;
    {
        const std::lock_guard lock(mutex);
        const auto found = plans.find(handle);
        if (found == plans.end() || found->second.type != type) return invalid_plan;
        plan = found->second;
    }
    if (fails("cufftExec") || (!plan.own_workspace && !plan.workspace)) return internal_error;
    // As cuFFT, it takes real numbers only where complex ones may begin.
    const auto begins_well = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) % std::max(sizeof(In), sizeof(Out)) == 0; };
    if (!begins_well(in) || !begins_well(out)) return invalid_value;
    static const auto wait = driver_function<int (*)(void*)>("cuStreamSynchronize");
    static const auto address = driver_function<void* (*)(std::uint64_t, std::size_t)>("fake_cuda_host_address");
    wait(plan.stream);
    const auto here = [](void* device) { return address(reinterpret_cast<std::uint64_t>(device), 1); };
    transform(plan, static_cast<const In*>(here(in)), static_cast<Out*>(here(out)), direction);
    return success;
}

using C = std::complex<float>;
using Z = std::complex<double>;

}  // namespace

#define EXPORT __attribute__((visibility("default")))

extern "C" {

EXPORT long fake_cufft_live() {
    const std::lock_guard lock(mutex);
    return static_cast<long>(plans.size());
}
EXPORT long fake_cufft_made() { return made; }
EXPORT void fake_cufft_fail_next(const char* function) {
    const std::lock_guard lock(mutex);
    failing = function;
}

EXPORT Status cufftCreate(int* handle) {
    const std::lock_guard lock(mutex);
    plans[*handle = ++last] = {};
    ++made;
    return success;
}
EXPORT Status cufftDestroy(int handle) {
    const std::lock_guard lock(mutex);
    return plans.erase(handle) ? success : invalid_plan;
}
EXPORT Status cufftSetAutoAllocation(int handle, int wanted) {
    const std::lock_guard lock(mutex);
    plans.at(handle).own_workspace = wanted != 0;
    return success;
}
EXPORT Status cufftSetWorkArea(int handle, void* memory) {
    const std::lock_guard lock(mutex);
    plans.at(handle).workspace = memory;
    return success;
}
EXPORT Status cufftSetStream(int handle, void* stream) {
    const std::lock_guard lock(mutex);
    plans.at(handle).stream = stream;
    return success;
}
EXPORT Status cufftMakePlanMany64(int handle, int rank, long long* n, long long* in_extents, long long in_step, long long in_distance,
                                  long long* out_extents, long long out_step, long long out_distance, int type, long long batch,
                                  std::size_t* workspace) {
    if (fails("cufftMakePlanMany64")) return internal_error;
    const std::lock_guard lock(mutex);
    Plan& plan = plans.at(handle);
    plan.rank = rank;
    plan.type = type;
    plan.in.step = in_step;
    plan.in.distance = in_distance;
    plan.out.step = out_step;
    plan.out.distance = out_distance;
    plan.batch = batch;
    for (int d = 0; d < rank; ++d) {
        plan.n[static_cast<std::size_t>(d)] = n[d];
        plan.in.extents[static_cast<std::size_t>(d)] = in_extents[d];
        plan.out.extents[static_cast<std::size_t>(d)] = out_extents[d];
    }
    *workspace = static_cast<std::size_t>(n[0]) << 10;
    return success;
}
EXPORT Status cufftExecC2C(int h, void* in, void* out, int direction) { return execute<C, C>(h, C2C, in, out, direction); }
EXPORT Status cufftExecZ2Z(int h, void* in, void* out, int direction) { return execute<Z, Z>(h, Z2Z, in, out, direction); }
EXPORT Status cufftExecR2C(int h, void* in, void* out) { return execute<float, C>(h, R2C, in, out, -1); }
EXPORT Status cufftExecD2Z(int h, void* in, void* out) { return execute<double, Z>(h, D2Z, in, out, -1); }
EXPORT Status cufftExecC2R(int h, void* in, void* out) { return execute<C, float>(h, C2R, in, out, 1); }
EXPORT Status cufftExecZ2D(int h, void* in, void* out) { return execute<Z, double>(h, Z2D, in, out, 1); }
}

// include/pardo/random.h: arrays of random numbers, the same bits on every device, and those that Python's pardo.random draws of the seed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <pardo/array.h>
#include <pardo/dtype.h>
#include <pardo/export.h>
#include <pardo/extents.h>
#include <pardo/queue.h>

namespace pardo::random {

/// Draws by Philox, 4x32 with ten rounds: a draw takes the next blocks of the stream, so that its numbers depend on the seed and on the
/// draws before it. Copies share the stream; safe from any thread. Work is handed over at once.
class PARDO_API Generator {
public:
    /// Of bits of the operating system.
    Generator();
    /// Starts from a seed, and gives the same numbers as default_rng(seed) in Python.
    explicit Generator(std::uint64_t seed);

    // Without a dtype: float64, or float32 on a device that has no float64. Others are a Type error.
    /// Floats of [0, 1): multiples of 2**-53, or of 2**-24 of float32.
    Array random(Extents shape, std::optional<DType> dtype = {}, const Queue& queue = Queue()) const;
    /// Of mean 0 and deviation 1. Devices differ in the last bits, as their logarithm, sine and cosine do.
    Array standard_normal(Extents shape, std::optional<DType> dtype = {}, const Queue& queue = Queue()) const;
    /// -log1p(-u), where u is what `random` draws.
    Array standard_exponential(Extents shape, std::optional<DType> dtype = {}, const Queue& queue = Queue()) const;

    /// Integers from `low` to below `high`, all equally likely, of any integer dtype, which does not change them. Throws Value where there
    /// are none, and where the dtype does not hold them; `high` may be one more than it holds.
    template <Integer L, Integer H>
    Array integers(L low, H high, Extents shape, DType dtype = DType::Int64, const Queue& queue = Queue()) const {
        return between(Scalar(low), Scalar(high), shape, dtype, queue);
    }

private:
    Array between(const Scalar& low, const Scalar& high, Extents shape, DType dtype, const Queue& queue) const;
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace pardo::random

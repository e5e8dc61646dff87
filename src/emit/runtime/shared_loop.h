// src/emit/runtime/shared_loop.h: loops inside of a program whose iterations the threads of its device share.
#pragma once

#include <cstdint>

namespace pardo::emit {

/// The iterations from `first` to `last`, of a loop that was made a function; `context`: what it takes from the program.
using LoopPart = void (*)(std::int64_t first, std::int64_t last, void* context, void* unused, const std::uint8_t* stop);

/// Who runs parts of loops on threads: a device's.
class LoopThreads {
public:
    virtual ~LoopThreads() = default;
    /// All iterations from 0 to `count`, cut into so many parts at most.
    virtual void run(LoopPart part, std::int64_t count, int parts, void* context, const std::uint8_t* stop) = 0;
    virtual int threads() const noexcept = 0;
};

/// Those of the program that this thread runs; puts back those of the one around.
class UsedThreads {
public:
    explicit UsedThreads(LoopThreads* threads) noexcept;
    ~UsedThreads();
    UsedThreads(const UsedThreads&) = delete;
    UsedThreads& operator=(const UsedThreads&) = delete;

private:
    LoopThreads* const before_;
};

/// Work of less, in nanoseconds, is not worth another thread.
inline constexpr std::int64_t least_part_ns = 10'000;

/// Programs call this: all iterations below `count`, which take so many picoseconds each.
void share_loop(LoopPart part, std::int64_t count, std::int64_t picoseconds, void* context, const std::uint8_t* stop);

}  // namespace pardo::emit

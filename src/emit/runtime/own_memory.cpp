// src/emit/runtime/own_memory.cpp: memory of a thread for arrays whose size is known when a kernel runs: it grows, and serves all kernels.
#include "emit/runtime/own_memory.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace pardo::emit {
namespace {

constexpr std::int64_t alignment = 64, kept_bytes = std::int64_t(1) << 20, most_bytes = std::int64_t(1) << 46;

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

struct Piece {
    std::unique_ptr<void, Free> memory;
    std::int64_t bytes = 0;

    void reset(std::int64_t size) {
        memory.reset();
        bytes = 0;
        memory.reset(std::aligned_alloc(alignment, static_cast<std::size_t>(size)));
        if (memory) bytes = size;
    }
    /// What is in it stays: lists grow.
    bool grow(std::int64_t size) {
        std::unique_ptr<void, Free> more(std::aligned_alloc(alignment, static_cast<std::size_t>(size)));
        if (!more) return false;
        if (memory) std::memcpy(more.get(), memory.get(), static_cast<std::size_t>(bytes));
        memory = std::move(more);
        bytes = size;
        return true;
    }
};

// One an array; a kernel runs to its end before the next one begins.
thread_local std::vector<Piece> pieces;  // NOLINT(clang-diagnostic-exit-time-destructors): each thread has its own

}  // namespace

void* own_memory(std::int64_t array, std::int64_t count, std::int64_t itemsize) noexcept {
    if (array < -1) {
        if (const auto at = static_cast<std::size_t>(-2 - array); at < pieces.size() && pieces[at].bytes > kept_bytes)
            pieces[at].reset(alignment);
        return nullptr;
    }
    if (array < 0) {
        for (Piece& p : pieces)
            if (p.bytes > kept_bytes) p.reset(alignment);
        return nullptr;
    }
    if (count < handed_over || count > most_bytes / itemsize) return nullptr;
    if (pieces.size() <= static_cast<std::size_t>(array)) pieces.resize(static_cast<std::size_t>(array) + 1);
    Piece& piece = pieces[static_cast<std::size_t>(array)];
    if (count == handed_over) {
        piece.bytes = 0;
        return piece.memory.release();
    }
    const std::int64_t bytes = (count * itemsize + alignment - 1) / alignment * alignment;
    if ((piece.bytes < bytes || piece.bytes == 0) && !piece.grow(bytes > 0 ? bytes : alignment)) return nullptr;
    return piece.memory.get();
}

}  // namespace pardo::emit

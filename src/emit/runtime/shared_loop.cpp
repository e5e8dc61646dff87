// src/emit/runtime/shared_loop.cpp: whether threads share a loop, by the work that is in it.
#include "emit/runtime/shared_loop.h"

#include <algorithm>
#include <utility>

namespace pardo::emit {
namespace {

thread_local LoopThreads* used = nullptr;

}  // namespace

UsedThreads::UsedThreads(LoopThreads* threads) noexcept : before_(std::exchange(used, threads)) {}
UsedThreads::~UsedThreads() { used = before_; }

void share_loop(LoopPart part, std::int64_t count, std::int64_t picoseconds, void* context, const std::uint8_t* stop) {
    const double ns = static_cast<double>(count) * static_cast<double>(picoseconds) * 1e-3;
    const std::int64_t most = used ? std::min<std::int64_t>(used->threads(), count) : 1;
    const auto parts = static_cast<int>(std::min(static_cast<double>(most), ns / static_cast<double>(least_part_ns)));
    if (parts < 2) return part(0, count, context, nullptr, stop);
    used->run(part, count, parts, context, stop);
}

}  // namespace pardo::emit

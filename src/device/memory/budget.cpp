// src/device/memory/budget.cpp: reads PARDO_MEMORY.
#include "device/memory/budget.h"

#include <charconv>
#include <string_view>

#include <pardo/error.h>

#include "base/env.h"

namespace pardo::device {
namespace {

struct Unit {
    std::string_view name;
    double bytes;
};
constexpr double kibi = 1024, kilo = 1000;
constexpr Unit units[] = {
    {"", 1},
    {"B", 1},
    {"K", kibi},
    {"M", kibi* kibi},
    {"G", kibi* kibi* kibi},
    {"T", kibi* kibi* kibi* kibi},
    {"KiB", kibi},
    {"MiB", kibi* kibi},
    {"GiB", kibi* kibi* kibi},
    {"TiB", kibi* kibi* kibi* kibi},
    {"kB", kilo},
    {"MB", kilo* kilo},
    {"GB", kilo* kilo* kilo},
    {"TB", kilo* kilo* kilo* kilo},
};

}  // namespace

std::int64_t memory_budget(std::int64_t total) {
    const std::optional<std::string> text = env("PARDO_MEMORY");
    if (!text) return 0;
    const auto refuse = [&] {
        return Error(ErrorCode::Value,
                     "PARDO_MEMORY=" + *text + ": expected a size for each device, such as 4GiB, 512MB, a number of bytes, or 50%");
    };
    double value = 0;
    const char* last = text->data() + text->size();
    const auto [end, error] = std::from_chars(text->data(), last, value);
    if (error != std::errc() || !(value > 0)) throw refuse();
    std::string_view unit(end, static_cast<std::size_t>(last - end));
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    double bytes = 0;
    if (unit == "%") {
        if (value > 100) throw refuse();
        bytes = static_cast<double>(total) * value / 100;
    } else {
        for (const Unit& known : units) {
            if (unit == known.name) bytes = value * known.bytes;
        }
    }
    constexpr double most = 9.2e18;
    if (!(bytes >= 1 && bytes <= most)) throw refuse();
    return static_cast<std::int64_t>(bytes);
}

}  // namespace pardo::device

// src/base/size_text.h: sizes of memory for people.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

namespace pardo {

/// "512 bytes", "7.6 MiB", "16.0 TiB".
inline std::string size_text(std::int64_t bytes) {
    constexpr double step = 1024;
    constexpr std::array units = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    auto size = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (size >= step && unit + 1 < units.size()) {
        size /= step;
        ++unit;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), unit ? "%.1f %s" : "%.0f %s", size, units[unit]);
    return text.data();
}

}  // namespace pardo

// src/base/status_text.h: what kernels report: the values that they leave in a status block, in the words of a message.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace pardo {

/// Stands for the item in messages that are kept before there is one.
inline constexpr char item_mark = '\x01';
/// A message with the kernel's values in the places of `$0` to `$2`, of uint64 `$u0` to `$u2`. The block: the number of the place that has
/// failed, from 1 on, three values, the item's three indices.
std::string with_values(const std::string& message, std::span<const std::int64_t> words);
/// " (item 3)", " (item (3, 4))": the item of a range of some dimensions; empty of none.
std::string item_text(std::span<const std::int64_t> words, int rank);

}  // namespace pardo

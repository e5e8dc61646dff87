// src/device/selection/partition.h: how the parts of a device are written in ids and selection strings.
#pragma once

#include <optional>
#include <string_view>

#include "device/device.h"

namespace pardo::device {

/// "4", "3+1" or "numa", as Partition::text writes it; nothing when it is neither.
std::optional<Partition> parse_partition(std::string_view text);
/// The part that "3+1.0" (more levels by '/') names of a device; nothing when it is malformed or there is no such part.
Device* part_of(Device* device, std::string_view path);

}  // namespace pardo::device

// src/backend/cpu/container.h: limits of the container that the process runs in: its control groups (cgroup v2 and v1).
#pragma once

#include <cstdint>
#include <string>

namespace pardo::cpu {

/// What the process's control groups and their parents allow, the least of each; 0: no limit. Tests read below another `root`.
struct ContainerLimits {
    std::int64_t memory = 0;       // bytes
    std::int64_t memory_used = 0;  // bytes, of the group that has the limit
    double cores = 0;              // of processor time
};
ContainerLimits container_limits(const std::string& root = "");

}  // namespace pardo::cpu

// src/backend/cpu/threads/topology.h: which cores share caches and memory, as the system tells in /sys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/affinity.h"

namespace pardo::cpu {

/// Where the system describes itself; tests have folders of their own.
inline constexpr const char* system_folder = "/sys/devices/system";

/// "0-3,8" as a list of cores.
CoreList parse_core_list(std::string_view text);
/// The cores in such an order that neighbours share as much as can be: threads of a core, then caches, then memory.
CoreList by_neighbourhood(CoreList cores, const std::string& system = system_folder);
/// `cores` by the affinity domain "numa", "L4_cache" … "L1_cache" that they are in; empty when the system does not tell.
std::vector<CoreList> domains_of(const CoreList& cores, std::string_view domain, const std::string& system = system_folder);
/// Names of the domains that the system tells about for these cores, and "next_partitionable" when one of them has several parts.
std::vector<std::string> domains_offered(const CoreList& cores, const std::string& system = system_folder);
/// The widest domain that has several parts; empty when there is none.
std::string next_partitionable(const CoreList& cores, const std::string& system = system_folder);

/// First line of a file; empty when it cannot be read.
std::string first_line(const std::string& path);

}  // namespace pardo::cpu

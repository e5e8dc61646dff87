// src/backend/cpu/container.cpp: reads the files of control groups.
#include "backend/cpu/container.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "backend/cpu/threads/topology.h"

namespace pardo::cpu {
namespace {

/// Calls `f` with the folder of each group from the process's own up to the top one, of the hierarchy that holds `controller`; version 2
/// has one hierarchy without a name. In a container with a view of its own the path may lead nowhere: the top folder is its own then.
template <class F> void for_groups(const std::string& root, const std::string& controller, F&& f) {
    std::ifstream file(root + "/proc/self/cgroup");
    std::string line, path;
    const bool second = controller.empty();
    while (std::getline(file, line)) {  // "4:cpu,cpuacct:/docker/abc", "0::/user.slice"
        const std::size_t a = line.find(':'), b = line.find(':', a + 1);
        if (b == std::string::npos) continue;
        const std::string names = "," + line.substr(a + 1, b - a - 1) + ",";
        if (second ? names == ",," : names.find("," + controller + ",") != std::string::npos) path = line.substr(b + 1);
    }
    const std::string top = root + "/sys/fs/cgroup" + (second ? "" : "/" + controller);
    while (path.size() > 1) {
        f(top + path);
        path.resize(path.rfind('/'));
    }
    f(top);
}

void limit_memory(ContainerLimits& limits, const std::string& limit_file, const std::string& used_file) {
    const std::int64_t limit = std::atoll(first_line(limit_file).c_str());  // "max" and a missing file give 0
    if (limit <= 0 || (limits.memory != 0 && limits.memory <= limit)) return;
    limits.memory = limit;
    limits.memory_used = std::atoll(first_line(used_file).c_str());
}

void limit_cores(ContainerLimits& limits, double quota, double period) {
    if (quota <= 0 || period <= 0) return;
    const double cores = quota / period;
    if (limits.cores == 0 || cores < limits.cores) limits.cores = cores;
}

}  // namespace

ContainerLimits container_limits(const std::string& root) {
    ContainerLimits limits;
    for_groups(root, "", [&](const std::string& group) {
        limit_memory(limits, group + "/memory.max", group + "/memory.current");
        std::istringstream line(first_line(group + "/cpu.max"));  // "200000 100000", "max 100000"
        double quota = 0, period = 0;
        if (line >> quota >> period) limit_cores(limits, quota, period);
    });
    for_groups(root, "memory",
               [&](const std::string& group) { limit_memory(limits, group + "/memory.limit_in_bytes", group + "/memory.usage_in_bytes"); });
    for_groups(root, "cpu", [&](const std::string& group) {
        limit_cores(limits, std::atof(first_line(group + "/cpu.cfs_quota_us").c_str()),
                    std::atof(first_line(group + "/cpu.cfs_period_us").c_str()));
    });
    return limits;
}

}  // namespace pardo::cpu

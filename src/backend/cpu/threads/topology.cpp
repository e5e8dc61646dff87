// src/backend/cpu/threads/topology.cpp: reads /sys for what cores share.
#include "backend/cpu/threads/topology.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace pardo::cpu {
namespace {

constexpr std::string_view from_wide_to_narrow[] = {"numa", "L4_cache", "L3_cache", "L2_cache", "L1_cache"};

std::string core_folder(const std::string& system, int core) { return system + "/cpu/cpu" + std::to_string(core) + "/"; }

/// Cores that share the data or unified cache of a level with this one; empty when the system does not tell.
CoreList sharing_cache(const std::string& system, int core, char level) {
    for (int i = 0; i < 8; ++i) {
        const std::string folder = core_folder(system, core) + "cache/index" + std::to_string(i) + "/";
        if (first_line(folder + "level") == std::string(1, level) && first_line(folder + "type") != "Instruction")
            return parse_core_list(first_line(folder + "shared_cpu_list"));
    }
    return {};
}

/// Cores of each memory node.
std::vector<CoreList> nodes(const std::string& system) {
    std::vector<CoreList> list;
    for (const int node : parse_core_list(first_line(system + "/node/online")))
        list.push_back(parse_core_list(first_line(system + "/node/node" + std::to_string(node) + "/cpulist")));
    return list;
}

/// Cores that share the domain with this one.
CoreList sharing(const std::string& system, int core, std::string_view domain) {
    if (domain != "numa") return sharing_cache(system, core, domain[1]);
    for (CoreList& node : nodes(system)) {
        if (std::find(node.begin(), node.end(), core) != node.end()) return std::move(node);
    }
    return {};
}

int smallest(const CoreList& list, int fallback) { return list.empty() ? fallback : *std::min_element(list.begin(), list.end()); }

}  // namespace

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

CoreList parse_core_list(std::string_view text) {
    CoreList cores;
    const char *at = text.data(), *const end = at + text.size();
    while (at < end) {
        int first = 0;
        auto [stop, error] = std::from_chars(at, end, first);
        if (error != std::errc()) break;
        int last = first;
        if (stop < end && *stop == '-') stop = std::from_chars(stop + 1, end, last).ptr;
        for (int core = first; core <= last; ++core) cores.push_back(core);
        at = stop < end ? stop + 1 : end;
    }
    return cores;
}

CoreList by_neighbourhood(CoreList cores, const std::string& system) {
    // A core is placed by the first core of each domain that it is in, the widest domain first.
    using Place = std::array<int, 7>;
    std::map<int, Place> places;
    for (const int core : cores) {
        Place p{};
        std::size_t i = 0;
        for (const std::string_view domain : from_wide_to_narrow) p[i++] = smallest(sharing(system, core, domain), 0);
        p[i++] = smallest(parse_core_list(first_line(core_folder(system, core) + "topology/thread_siblings_list")), core);
        p[i] = core;
        places[core] = p;
    }
    std::sort(cores.begin(), cores.end(), [&](int a, int b) { return places[a] < places[b]; });
    return cores;
}

std::vector<CoreList> domains_of(const CoreList& cores, std::string_view domain, const std::string& system) {
    std::map<int, CoreList> parts;  // by their first core
    for (const int core : cores) {
        const CoreList shared = sharing(system, core, domain);
        if (shared.empty()) return {};
        parts[smallest(shared, core)].push_back(core);
    }
    std::vector<CoreList> list;
    list.reserve(parts.size());
    for (auto& [first, part] : parts) list.push_back(std::move(part));
    return list;
}

std::vector<std::string> domains_offered(const CoreList& cores, const std::string& system) {
    std::vector<std::string> names;
    for (const std::string_view domain : from_wide_to_narrow) {
        if (!domains_of(cores, domain, system).empty()) names.emplace_back(domain);
    }
    if (!next_partitionable(cores, system).empty()) names.emplace_back("next_partitionable");
    return names;
}

std::string next_partitionable(const CoreList& cores, const std::string& system) {
    for (const std::string_view domain : from_wide_to_narrow) {
        if (domains_of(cores, domain, system).size() > 1) return std::string(domain);
    }
    return {};
}

}  // namespace pardo::cpu

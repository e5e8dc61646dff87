// src/backend/cuda/libraries/search.cpp: looks for NVIDIA's optional libraries in wheels, toolkits and the system.
#include "backend/cuda/libraries/search.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "base/env.h"

namespace pardo::cuda {
namespace {

namespace fs = std::filesystem;

constexpr int newest_known = 13, oldest_known = 12;  // majors of CUDA, for names that only the system's loader can find

/// Folders below `base` whose names start with `prefix`, in a stable order.
std::vector<fs::path> below(const fs::path& base, std::string_view prefix = "") {
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(base, error)) {
        if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// Folders that hold libraries, in the order in which they are tried.
std::vector<fs::path> folders() {
    std::vector<fs::path> list;
    for (const std::string& packages : package_folders()) {
        for (const fs::path& part : below(fs::path(packages) / "nvidia")) list.push_back(part / "lib");
    }
    std::vector<fs::path> toolkits;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const auto path = env(variable)) toolkits.emplace_back(*path);
    }
    toolkits.emplace_back("/usr/local/cuda");
    std::vector<fs::path> versioned = below("/usr/local", "cuda-");
    toolkits.insert(toolkits.end(), versioned.rbegin(), versioned.rend());  // the newest first
    toolkits.emplace_back("/opt/cuda");
    for (const fs::path& toolkit : toolkits) {
        list.push_back(toolkit / "lib64");
        list.push_back(toolkit / "lib");
    }
    return list;
}

/// 13 of "libnvrtc.so.13.0.88" and of a link to it; 0 without a number.
int major_of(const fs::path& path, std::string_view stem) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    const std::string file = (error ? path : real).filename();
    const std::size_t at = stem.size() + std::string_view(".so.").size();
    int major = 0;
    if (file.size() > at) std::from_chars(file.data() + at, file.data() + file.size(), major);
    return major;
}

/// The library's files in one folder.
std::vector<fs::path> files(const fs::path& folder, std::string_view stem) {
    std::vector<fs::path> found = below(folder, std::string(stem) + ".so");
    std::erase_if(found, [](const fs::path& p) { return p.filename().string().find(".alt.") != std::string::npos; });
    return found;
}

}  // namespace

int cuda_major(const std::string& candidate, std::string_view stem, int behind) {
    const int own = major_of(candidate, stem);
    return own > 0 ? own + behind : 0;
}

std::vector<std::string> library_candidates(const char* variable, std::string_view stem, int driver_major, int behind) {
    std::vector<std::string> list;
    if (const auto wish = env(variable)) {
        std::error_code error;
        if (!fs::is_directory(*wish, error)) return {*wish};  // a file that is named is taken, or an error raised
        for (const fs::path& file : files(*wish, stem)) list.push_back(file);
        if (list.empty()) list.push_back((fs::path(*wish) / (std::string(stem) + ".so")).string());
        return list;
    }
    struct Found {
        bool too_new;
        std::string path;
    };
    std::vector<Found> found;
    const auto add = [&](const std::string& path) {
        found.push_back({driver_major > 0 && cuda_major(path, stem, behind) > driver_major, path});
    };
    for (const fs::path& folder : folders()) {
        for (const fs::path& file : files(folder, stem)) add(file);
    }
    for (int major = newest_known; major >= oldest_known; --major) add(std::string(stem) + ".so." + std::to_string(major - behind));
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.too_new < b.too_new; });
    for (Found& f : found) list.push_back(std::move(f.path));
    return list;
}

std::string searched_places(const char* variable, std::string_view stem, int behind) {
    if (const auto wish = env(variable)) return std::string(variable) + "=" + *wish;
    std::string text = std::string(variable) + " (not set)";
    std::vector<std::string> seen;
    for (const fs::path& folder : folders()) {
        if (std::find(seen.begin(), seen.end(), folder.string()) != seen.end()) continue;
        seen.push_back(folder.string());
        text += ", " + folder.string();
    }
    for (const std::string& packages : package_folders()) {
        if (below(fs::path(packages) / "nvidia").empty()) text += ", " + packages + "/nvidia/*/lib";
    }
    return text + ", the system's loader (" + std::string(stem) + ".so." + std::to_string(newest_known - behind) + ", .so." +
           std::to_string(oldest_known - behind) + ")";
}

}  // namespace pardo::cuda

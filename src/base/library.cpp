// src/base/library.cpp: loads shared libraries at run time, never from the current folder.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>

#include <pardo/binding/library.h>

#include "base/env.h"
#include "base/fork.h"

namespace pardo {
namespace {

struct Folders {
    HeldMutex mutex;
    std::vector<std::string> list;
};
Folders& folders() {
    static auto* const instance = new Folders;
    return *instance;
}
[[maybe_unused]] const Folders& folders_at_start = folders();  // see at_fork

/// The folders in which the system's loader looks for a name, in its order; relative ones as they are.
std::vector<std::string> loader_folders() {
    Dl_info here{};
    void* self = dladdr(reinterpret_cast<void*>(&loader_folders), &here) ? dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (!self) self = dlopen(nullptr, RTLD_LAZY);
    std::vector<std::string> list;
    Dl_serinfo size{};
    if (self && dlinfo(self, RTLD_DI_SERINFOSIZE, &size) == 0) {
        std::vector<char> memory(size.dls_size);
        auto* found = reinterpret_cast<Dl_serinfo*>(memory.data());
        if (dlinfo(self, RTLD_DI_SERINFOSIZE, found) == 0 && dlinfo(self, RTLD_DI_SERINFO, found) == 0) {
            for (unsigned i = 0; i < found->dls_cnt; ++i) list.emplace_back(found->dls_serpath[i].dls_name);
        }
    }
    if (self) dlclose(self);
    return list;
}

/// Whether a name may be found relative to the current folder: LD_LIBRARY_PATH has an empty or a relative entry.
bool asks_current_folder(const std::vector<std::string>& list) {
    return std::ranges::any_of(list, [](const std::string& folder) { return !folder.starts_with('/'); });
}

/// The files that the cache of the system's loader knows by a name (/etc/ld.so.cache, the form of glibc since 2.2).
std::vector<std::string> listed_files(const std::string& name) {
    constexpr std::string_view magic = "glibc-ld.so.cache1.1";
    struct Entry {
        std::int32_t flags;
        std::uint32_t key, value, os_version;
        std::uint64_t hardware;
    };
    std::ifstream file("/etc/ld.so.cache", std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    const std::size_t start = all.find(magic);
    std::uint32_t count = 0;
    if (start == std::string::npos || all.size() - start < 48) return {};
    std::memcpy(&count, all.data() + start + magic.size(), sizeof count);
    const std::string_view cache = std::string_view(all).substr(start);
    const auto text = [cache](std::uint32_t at) {
        return at < cache.size() ? cache.substr(at, cache.find('\0', at) - at) : std::string_view();
    };
    std::vector<std::string> files;
    for (std::size_t i = 0, at = 48; i < count && at + sizeof(Entry) <= cache.size(); ++i, at += sizeof(Entry)) {
        Entry entry;
        std::memcpy(&entry, cache.data() + at, sizeof entry);
        if (text(entry.key) == name && text(entry.value).starts_with('/')) files.emplace_back(text(entry.value));
    }
    return files;
}

/// What is given to dlopen for a candidate. A path stays as it is; so does a name, unless the loader would look for it in the current
/// folder too: then it is looked for here, everywhere else.
std::vector<std::string> files_of(const std::string& candidate) {
    if (candidate.find('/') != std::string::npos) return {candidate};
    const std::vector<std::string> list = loader_folders();
    if (!asks_current_folder(list)) return {candidate};
    std::vector<std::string> files;
    std::error_code none;
    for (const std::string& folder : list) {
        const std::filesystem::path path = std::filesystem::path(folder) / candidate;
        if (path.is_absolute() && std::filesystem::exists(path, none)) files.push_back(path.string());
    }
    for (std::string& path : listed_files(candidate)) files.push_back(std::move(path));
    return files;
}

}  // namespace

bool in_current_folder(const std::string& name) {
    if (name.find('/') != std::string::npos) return false;
    std::error_code none;
    for (const std::filesystem::path folder : loader_folders()) {
        if (folder.is_absolute()) continue;
        if (std::filesystem::exists(folder / name, none)) return true;
        for (std::filesystem::directory_iterator at(folder / "glibc-hwcaps", none), end; !none && at != end; at.increment(none)) {
            if (std::filesystem::exists(at->path() / name, none)) return true;  // for some processors
        }
    }
    return false;
}

void set_package_folders(std::vector<std::string> list) {
    std::lock_guard lock(folders().mutex);
    folders().list = std::move(list);
}

std::vector<std::string> package_folders() {
    std::lock_guard lock(folders().mutex);
    return folders().list;
}

DynamicLibrary DynamicLibrary::open(const std::vector<std::string>& candidates, std::string* error) {
    DynamicLibrary library;
    std::string messages;
    const auto note = [&messages](const std::string& text) { messages.append(messages.empty() ? "" : "; ").append(text); };
    for (const std::string& candidate : candidates) {
        const std::vector<std::string> files = files_of(candidate);
        if (files != std::vector{candidate} && (library.handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_NOLOAD))) {
            library.path_ = candidate;  // it is loaded already: nothing is looked for
            return library;
        }
        for (const std::string& path : files) {
            library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
            if (library.handle_) {
                library.path_ = path;
                return library;
            }
            const char* reason = dlerror();
            note(reason ? reason : path + ": cannot be loaded");
        }
        if (files.empty())
            note(candidate + ": not found; the current folder, which LD_LIBRARY_PATH names by an empty or relative entry, is not searched");
    }
    if (error) *error = messages.empty() ? "no candidates to load" : messages;
    return library;
}

void* DynamicLibrary::symbol(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace pardo

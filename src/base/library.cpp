// src/base/library.cpp: loads shared libraries at run time.
#include <dlfcn.h>

#include <mutex>

#include <pardo/library.h>

#include "base/env.h"
#include "base/fork.h"

namespace pardo {
namespace {

struct Folders {
    std::mutex mutex;
    std::vector<std::string> list;
};
Folders& folders() {
    static Folders* const instance = [] {
        auto* made = new Folders;
        hold_at_fork(made->mutex);
        return made;
    }();
    return *instance;
}

}  // namespace

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
    for (const std::string& path : candidates) {
        library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library.handle_) {
            library.path_ = path;
            return library;
        }
        const char* reason = dlerror();
        if (!messages.empty()) messages += "; ";
        messages += reason ? reason : path + ": cannot be loaded";
    }
    if (error) *error = messages.empty() ? "no candidates to load" : messages;
    return library;
}

void* DynamicLibrary::symbol(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace pardo

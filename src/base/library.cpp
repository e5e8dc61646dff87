// src/base/library.cpp: loads shared libraries at run time.
#include <dlfcn.h>

#include "base/env.h"

namespace pardo {

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

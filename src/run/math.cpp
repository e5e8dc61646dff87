// src/run/math.cpp: a library from memory, and a table of the system's functions.
#include "run/math.h"

#include <dlfcn.h>
#include <pardo/error.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "emit/runtime/library_calls.h"
#include "emit/runtime/own_memory.h"
#include "emit/runtime/shared_loop.h"

namespace pardo::run {
namespace {

struct Named {
    const char* name;
    void* address;
};

}  // namespace

std::shared_ptr<void> load_library(std::span<const std::uint8_t> bytes) {
    if (bytes.empty()) return nullptr;
    const auto fail = [](const std::string& why) {
        return Error(ErrorCode::Value, "cannot load the mathematical functions of a program: " + why);
    };
    const int fd = ::memfd_create("pardo-math", MFD_CLOEXEC);
    if (fd < 0) throw fail("there is no file in memory");
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
        if (n <= 0) break;
        done += static_cast<std::size_t>(n);
    }
    void* const library = done == bytes.size() ? ::dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    const char* const why = library ? "" : ::dlerror();
    const std::string text = why ? why : "no memory";
    ::close(fd);
    if (!library) throw fail(text);
    return {library, [](void* handle) { ::dlclose(handle); }};
}

void* system_function(const char* name) {
#define PARDO_NAMED(name) {#name, reinterpret_cast<void*>(&pardo_call_##name)},
    static const Named all[] = {PARDO_LIBRARY_CALLS(PARDO_NAMED){"pardo_own_memory", reinterpret_cast<void*>(&emit::own_memory)},
                                {"pardo_share_loop", reinterpret_cast<void*>(&emit::share_loop)}};
#undef PARDO_NAMED
    for (const Named& one : all)
        if (std::strcmp(one.name, name) == 0) return one.address;
    return nullptr;
}

void* function_in(void* library, const char* name) {
    void* const found = library ? ::dlsym(library, name) : nullptr;
    return found ? found : system_function(name);
}

}  // namespace pardo::run

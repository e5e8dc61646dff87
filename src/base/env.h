// src/base/env.h: environment variables, log lines for the installed sink, and loading shared libraries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pardo/log.h>

namespace pardo {

/// The variable's value, or nothing when unset or empty.
std::optional<std::string> env(const char* name);
/// True for 1/on/true/yes, false for 0/off/false/no, `fallback` when unset; anything else throws Value naming the variable.
bool env_flag(const char* name, bool fallback);

/// Writes "pardo: <text>" through the installed sink; the core itself never prints (default sink drops everything).
void log(LogLevel level, std::string_view text);
/// As log(Warn), but each `once_key` at most once in a process.
void warn_once(std::string_view once_key, std::string_view text);

/// Sets a variable that is not set, for a library that reads it while it is loaded, and takes it away again unless it is kept. Threads
/// that read the environment meanwhile see a list that stays as it is.
class TemporaryVariable {
public:
    TemporaryVariable(std::string name, std::string_view value);
    void keep() noexcept { list_ = nullptr; }
    ~TemporaryVariable();
    TemporaryVariable(const TemporaryVariable&) = delete;
    TemporaryVariable& operator=(const TemporaryVariable&) = delete;

private:
    std::string name_;
    char **before_ = nullptr, **list_ = nullptr;  // of the environment; null where the variable was set
};

/// A shared library loaded at run time and never closed.
class DynamicLibrary {
public:
    /// The first of `candidates` that loads; otherwise empty, with the loader's messages in `error`. A name without a folder is never
    /// looked for in the current one, whatever LD_LIBRARY_PATH says.
    static DynamicLibrary open(const std::vector<std::string>& candidates, std::string* error);
    explicit operator bool() const { return handle_ != nullptr; }
    void* symbol(const char* name) const;
    /// Points `function` to the library's function of that name; null, and false, when it has none.
    template <class F> bool bind(F*& function, const char* name) const {
        function = reinterpret_cast<F*>(symbol(name));
        return function != nullptr;
    }
    const std::string& path() const { return path_; }

private:
    void* handle_ = nullptr;
    std::string path_;
};

/// Whether the system's loader would find a library of that name in the current folder, or relative to it, by an entry of LD_LIBRARY_PATH.
bool in_current_folder(const std::string& name);

/// What set_package_folders was given.
std::vector<std::string> package_folders();

}  // namespace pardo

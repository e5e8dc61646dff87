// src/capi/libraries.cpp: libraries of others that work functions call: their functions, and what these need for each thread.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <pardo/binding/library.h>

#include "base/env.h"
#include "capi/functions.h"

namespace pardo::capi {
namespace {

/// Words of a list that is written with spaces.
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
        end = std::min(text.find(' ', at), text.size());
        if (end > at) words.emplace_back(text.substr(at, end - at));
    }
    return words;
}

/// A name in NVIDIA's packages of Python, nvidia/<package>/lib, and then as the system's loader finds it.
void add_candidates(const std::string& name, std::vector<std::string>& to) {
    std::error_code none;
    for (const std::string& packages : package_folders()) {
        if (name.find('/') != std::string::npos) break;
        for (std::filesystem::directory_iterator at(packages + "/nvidia", none), end; !none && at != end; at.increment(none)) {
            const std::filesystem::path file = at->path() / "lib" / name;
            if (std::filesystem::exists(file, none)) to.push_back(file.string());
        }
    }
    to.push_back(name);
}

using Make = int (*)(void**);

}  // namespace

pardo_status library_functions(const char* libraries, const char* names, void** out) {
    constexpr const char* function = "library_functions";
    return guarded(function, [&] {
        require(function, libraries, "libraries");
        require(function, names, "names");
        require(function, out, "out");
        std::vector<std::string> candidates;
        for (const std::string& one : words_of(libraries)) add_candidates(one, candidates);
        std::string reason;
        const DynamicLibrary library = DynamicLibrary::open(candidates, &reason);
        if (!library) throw Error(ErrorCode::Import, std::string(function) + ": " + libraries + " is needed: " + reason);
        std::vector<void*> found;
        for (const std::string& name : words_of(names)) {
            found.push_back(library.symbol(name.c_str()));
            if (!found.back()) throw Error(ErrorCode::Import, std::string(function) + ": " + library.path() + " does not have " + name);
        }
        std::ranges::copy(found, out);
    });
}

pardo_status kept_for(const pardo_work* w, Make make, void** out) {
    return guarded("kept_for", [&] {
        require("kept_for", w, "w");
        require("kept_for", reinterpret_cast<const void*>(make), "make");
        require("kept_for", out, "out");
        // It is not destroyed with the thread: the driver may be gone by then.
        thread_local auto* const all = new std::map<std::tuple<void*, void*, Make>, void*>;
        void*& kept = (*all)[{w->native.context, w->native.device, make}];
        if (!kept) {
            forget_error();
            const int code = make(&kept);
            if (code != 0) kept = nullptr;
            if (code != 0 && has_error()) throw own_error();
            if (code != 0) throw Error(ErrorCode::Device, "kept_for: the function that makes it gave " + std::to_string(code));
        }
        *out = kept;
    });
}

}  // namespace pardo::capi

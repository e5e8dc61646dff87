// src/backend/cuda/libraries/nvrtc.cpp: loads NVRTC, and turns its messages into ours.
#include "backend/cuda/libraries/nvrtc.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>

#include <pardo/error.h>

#include "backend/cuda/libraries/driver.h"
#include "backend/cuda/libraries/search.h"
#include "base/affinity.h"
#include "base/env.h"
#include "base/fork.h"
#include "jit/build_log.h"

namespace pardo::cuda {
namespace {

using NvrtcResult = int;
using NvrtcProgram = struct NvrtcProgramOpaque*;
constexpr NvrtcResult nvrtc_success = 0, nvrtc_compilation_failed = 6;

#define PARDO_NVRTC_FUNCTIONS(F)                                                                                                     \
    F(nvrtcVersion, (int* major, int* minor))                                                                                        \
    F(nvrtcGetNumSupportedArchs, (int* count))                                                                                       \
    F(nvrtcGetSupportedArchs, (int* list))                                                                                           \
    F(nvrtcCreateProgram, (NvrtcProgram * program, const char* text, const char* name, int headers, const char* const* header_texts, \
                           const char* const* header_names))                                                                         \
    F(nvrtcDestroyProgram, (NvrtcProgram * program))                                                                                 \
    F(nvrtcCompileProgram, (NvrtcProgram program, int count, const char* const* options))                                            \
    F(nvrtcGetPTXSize, (NvrtcProgram program, std::size_t * bytes))                                                                  \
    F(nvrtcGetPTX, (NvrtcProgram program, char* ptx))                                                                                \
    F(nvrtcGetCUBINSize, (NvrtcProgram program, std::size_t * bytes))                                                                \
    F(nvrtcGetCUBIN, (NvrtcProgram program, char* cubin))                                                                            \
    F(nvrtcGetProgramLogSize, (NvrtcProgram program, std::size_t * bytes))                                                           \
    F(nvrtcGetProgramLog, (NvrtcProgram program, char* log))

struct Nvrtc {
#define PARDO_NVRTC_MEMBER(name, params) NvrtcResult(*name) params = nullptr;
    PARDO_NVRTC_FUNCTIONS(PARDO_NVRTC_MEMBER)
#undef PARDO_NVRTC_MEMBER
    const char* (*nvrtcGetErrorString)(NvrtcResult) = nullptr;
    int major = 0, minor = 0;
    std::vector<int> architectures;  // 75, 80, …, ascending
};

/// "NVRTC 13.0".
std::string version_of(const Nvrtc& n) { return "NVRTC " + std::to_string(n.major) + "." + std::to_string(n.minor); }

bool at_least(const Nvrtc& n, int major, int minor) { return n.major > major || (n.major == major && n.minor >= minor); }

struct NvrtcState {
    std::mutex mutex;
    std::unique_ptr<Nvrtc> nvrtc;  // set once, then stays
};
NvrtcState& nvrtc_state() {
    static NvrtcState* const instance = [] {
        auto* made = new NvrtcState;  // never destroyed: threads may compile until the process ends
        // Not held while the process forks, as for other libraries: the child may load it again.
        renew_at_fork(made->mutex);
        return made;
    }();
    return *instance;
}

std::unique_ptr<Nvrtc> bind(const DynamicLibrary& library) {
    auto n = std::make_unique<Nvrtc>();
#define PARDO_NVRTC_BIND(name, params) \
    if (!library.bind(n->name, #name)) return nullptr;
    PARDO_NVRTC_FUNCTIONS(PARDO_NVRTC_BIND)
#undef PARDO_NVRTC_BIND
    if (!library.bind(n->nvrtcGetErrorString, "nvrtcGetErrorString")) return nullptr;
    int count = 0;
    if (n->nvrtcVersion(&n->major, &n->minor) != nvrtc_success || n->nvrtcGetNumSupportedArchs(&count) != nvrtc_success) return nullptr;
    n->architectures.resize(static_cast<std::size_t>(count));
    if (n->nvrtcGetSupportedArchs(n->architectures.data()) != nvrtc_success) return nullptr;
    std::sort(n->architectures.begin(), n->architectures.end());
    return n;
}

std::string not_found(const std::string& error) {
    return "needs NVIDIA's run-time compiler: `pip install pardo[cuda]` brings it, or set PARDO_NVRTC to the path of libnvrtc.so; looked "
           "in " +
           searched_places("PARDO_NVRTC", "libnvrtc") + (error.empty() ? "" : " (" + error + ")");
}

/// Null with words in `problem` when there is none.
const Nvrtc* load(std::string& problem) {
    NvrtcState& s = nvrtc_state();
    std::lock_guard lock(s.mutex);
    if (s.nvrtc) return s.nvrtc.get();
    std::string error;
    std::string ignored;
    const Driver* d = load_driver(ignored);
    for (const std::string& candidate : library_candidates("PARDO_NVRTC", "libnvrtc", d ? d->version / 1000 : 0)) {
        std::string reason;
        const DynamicLibrary library = DynamicLibrary::open({candidate}, &reason);
        // A name that the loader does not know is no news; a file that does not load is.
        if (!library && candidate.find('/') != std::string::npos) error += (error.empty() ? "" : "; ") + reason;
        if (!library) continue;
        if ((s.nvrtc = bind(library))) {
            log(LogLevel::Info, "cuda: " + version_of(*s.nvrtc) + " is " + library.path());
            return s.nvrtc.get();
        }
        error += (error.empty() ? "" : "; ") + candidate + " lacks functions of NVRTC 12";
    }
    problem = not_found(error);
    return nullptr;
}

const Nvrtc& nvrtc(const std::string& op_name) {
    std::string problem;
    if (const Nvrtc* n = load(problem)) return *n;
    throw Error(ErrorCode::Import, op_name + ": " + problem);
}

/// A program object that is destroyed in the end.
class Compilation {
public:
    Compilation(const Nvrtc& n, const std::string& name, const std::string& text,
                std::span<const std::pair<std::string, std::string>> headers = {})
        : n_(n) {
        std::vector<const char*> names, texts;
        for (const auto& [header, content] : headers) {
            names.push_back(header.c_str());
            texts.push_back(content.c_str());
        }
        const int count = static_cast<int>(names.size());
        if (n.nvrtcCreateProgram(&program_, text.c_str(), (name + ".cu").c_str(), count, texts.data(), names.data()) != nvrtc_success)
            throw Error(ErrorCode::Compile, name + ": NVRTC takes no more programs");
    }
    ~Compilation() { n_.nvrtcDestroyProgram(&program_); }
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    std::string log() const {
        std::size_t bytes = 0;
        if (n_.nvrtcGetProgramLogSize(program_, &bytes) != nvrtc_success || bytes < 2) return {};
        std::string text(bytes, '\0');
        if (n_.nvrtcGetProgramLog(program_, text.data()) != nvrtc_success) return {};
        text.resize(bytes - 1);  // without the terminating zero
        return text;
    }

    NvrtcResult run(std::vector<std::string> options, const std::string& arch) const {
        options.push_back("--gpu-architecture=" + arch);
        std::vector<const char*> all;
        all.reserve(options.size());
        for (const std::string& option : options) all.push_back(option.c_str());
        return n_.nvrtcCompileProgram(program_, static_cast<int>(all.size()), all.data());
    }

    /// Machine code of a real architecture, PTX of another. Throws Compile when there is none.
    jit::Binary image(const std::string& name, const std::string& arch) const {
        const bool cubin = arch.starts_with("sm_");
        std::size_t bytes = 0;
        NvrtcResult got = cubin ? n_.nvrtcGetCUBINSize(program_, &bytes) : n_.nvrtcGetPTXSize(program_, &bytes);
        jit::Binary binary(bytes);
        if (got == nvrtc_success) {
            auto* to = reinterpret_cast<char*>(binary.data());
            got = cubin ? n_.nvrtcGetCUBIN(program_, to) : n_.nvrtcGetPTX(program_, to);
        }
        if (got != nvrtc_success || bytes == 0)
            throw Error(ErrorCode::Compile, name + ": NVRTC made nothing for " + arch + " (" + n_.nvrtcGetErrorString(got) + ")");
        return binary;
    }

    std::string ptx() const {
        std::size_t bytes = 0;
        if (n_.nvrtcGetPTXSize(program_, &bytes) != nvrtc_success) return {};
        std::string text(bytes, '\0');
        if (n_.nvrtcGetPTX(program_, text.data()) != nvrtc_success) return {};
        return text.substr(0, text.find('\0'));
    }

private:
    const Nvrtc& n_;
    NvrtcProgram program_ = nullptr;
};

/// The first error of a log, and under it the line of the text; logs can be as long as the text.
std::string shortened(const std::string& log, const std::string& name, std::string_view text) {
    std::string_view rest = log, first;
    int errors = 0;
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        if (line.find("error") != std::string_view::npos && errors++ == 0) first = line;
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    }
    if (first.empty()) first = std::string_view(log).substr(0, std::min<std::size_t>(log.size(), 400));
    std::string message(first);
    const std::string prefix = name + ".cu(";
    int number = 0;
    if (const std::size_t at = first.find(prefix); at != std::string_view::npos) {
        const char* begin = first.data() + at + prefix.size();
        std::from_chars(begin, first.data() + first.size(), number);
    }
    if (number > 0) message += "\n    " + std::string(jit::line_of(text, number));
    // The count that the log ends with is an "error" line too.
    if (errors > 2) message += "\n(and " + std::to_string(errors - 2) + " more; PARDO_LOG=debug shows the text and all messages)";
    return message;
}

}  // namespace

std::span<const char* const> default_options(bool fast) {
    static constexpr const char* options[] = {"--fmad=false", "--std=c++17", "-default-device"};
    static constexpr const char* fast_options[] = {"--use_fast_math", "--std=c++17", "-default-device"};
    return fast ? std::span<const char* const>(fast_options) : options;
}

jit::Binary compile_text(const std::string& name, const std::string& text, std::span<const char* const> options, const std::string& arch) {
    const Nvrtc& n = nvrtc(name);
    const Compilation compilation(n, name, text);
    std::vector<std::string> all(options.begin(), options.end());
    // Without the declarations of the CUDA runtime, textures and the like, which our texts never use: they take longer than a small kernel.
    if (at_least(n, 12, 4)) all.emplace_back("--minimal");
    // Our own cache keeps what it makes; the driver's needs cuInit, and takes time to look into and to fill.
    if (at_least(n, 12, 9)) all.emplace_back("--no-cache");
    const NvrtcResult done = compilation.run(std::move(all), arch);
    if (done != nvrtc_success) {
        const std::string messages = compilation.log();
        log(LogLevel::Debug, "cuda: " + name + " does not compile:\n" + text + "\n" + messages);
        const std::string what =
            done == nvrtc_compilation_failed || !messages.empty() ? shortened(messages, name, text) : n.nvrtcGetErrorString(done);
        throw Error(ErrorCode::Compile, name + ": " + version_of(n) + " for " + arch + ": " + what);
    }
    return compilation.image(name, arch);
}

UserImage compile_user_text(const device::ProgramText& given, const std::string& arch) {
    const Nvrtc& n = nvrtc("Program");
    const Compilation compilation(n, "program", given.text, given.headers);
    const NvrtcResult done = compilation.run(given.options, arch);
    if (done != nvrtc_success) {
        throw Error(ErrorCode::Compile, "Program: " + version_of(n) + " for " + arch + " does not compile it: " +
                                            n.nvrtcGetErrorString(done) + jit::format_build_log(compilation.log(), given.text));
    }
    return {compilation.image("Program", arch), compilation.ptx(), compilation.log()};
}

Target target_for(int major, int minor) {
    const Nvrtc& n = nvrtc("compile");
    const int own = 10 * major + minor;
    const std::vector<int>& known = n.architectures;
    if (std::binary_search(known.begin(), known.end(), own)) return {"sm_" + std::to_string(own), ""};
    const std::string version = version_of(n);
    const auto next = std::lower_bound(known.begin(), known.end(), own);
    if (next == known.begin()) {
        throw Error(ErrorCode::Compile, "compile: " + version + " makes nothing for devices of compute capability " +
                                            std::to_string(major) + "." + std::to_string(minor) +
                                            "; an older one does: pip install nvidia-cuda-nvrtc-cu12");
    }
    const int below = *(next - 1);
    const std::string reason = version + " does not know sm_" + std::to_string(own);
    // Machine code runs on later devices of the same major; for others the driver has to finish what NVRTC began.
    if (below / 10 == major) return {"sm_" + std::to_string(below), reason};
    return {"compute_" + std::to_string(below), reason};
}

std::vector<int> nvrtc_architectures(const std::string& op_name) { return nvrtc(op_name).architectures; }

std::optional<std::size_t> packed_target(std::span<const std::string> targets, int major, int minor) {
    std::optional<std::size_t> best;
    int best_rank = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const std::size_t digits = targets[i].find('_') + 1;
        int number = 0;
        std::from_chars(targets[i].data() + digits, targets[i].data() + targets[i].size(), number);
        const bool code = targets[i].starts_with("sm_");
        if (number > 10 * major + minor || (code && number / 10 != major)) continue;
        const int rank = number + (code ? 1000 : 0);
        if (rank <= best_rank) continue;
        best = i;
        best_rank = rank;
    }
    return best;
}

std::string nvrtc_version() {
    std::string problem;
    const Nvrtc* n = load(problem);
    return n ? version_of(*n) : "";
}

std::jthread load_nvrtc_aside() {
    try {
        const Bound inherit_nothing(any_core());
        return std::jthread([] { (void)nvrtc_unavailable(); });
    } catch (const std::system_error&) {  // no thread: it is loaded where it is needed
        return {};
    }
}

std::string nvrtc_unavailable() {
    std::string problem;
    load(problem);
    return problem;
}

}  // namespace pardo::cuda

// src/routines/cpu/openblas.cpp: finds and loads OpenBLAS.
#include "routines/cpu/openblas.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include <pardo/binding/library.h>
#include <pardo/error.h>
#include <pardo/log.h>
#include <pardo/ops.h>

#include "base/env.h"
#include "base/fork.h"
#include "device/queue/scheduler.h"

namespace pardo {

namespace {

/// What the BlasThreads ask for, and the number of threads before the first of them.
struct Limit {
    std::mutex mutex;
    std::vector<int> asked;
    int before = 0;

    int threads() const { return asked.empty() ? before : std::min(before, *std::ranges::min_element(asked)); }
};

/// Guarded by `mutex`; `library` is set once and then stays.
struct State {
    std::mutex mutex;
    std::string path;
    std::unique_ptr<routines::OpenBlas> library;
    Limit limit;
};
State& state() {
    static State* const instance = [] {
        auto* made = new State;  // never destroyed: tasks may run until the process ends
        // Not held while the process forks: a library that is being loaded may install handlers of its own. The child loads it again.
        at_fork(ForkStage::Moments, {{}, {}, [made] {
                                         new (&made->mutex) std::mutex;
                                         // The tasks that held the limit do not exist in the child.
                                         if (!made->limit.asked.empty()) made->library->set_threads(made->limit.before);
                                         new (&made->limit) Limit;
                                     }});
        return made;
    }();
    return *instance;
}

/// OpenBLAS reads it while it is loaded. Its own choice is 28, 0.1 s, in which threads without work take the processors from loops of ours,
/// and from products of another OpenBLAS, whose threads wait for each other without sleeping. A product of 256² takes as long with 14.
constexpr const char* timeout_variable = "OPENBLAS_THREAD_TIMEOUT";

/// A file, or a folder that holds the library under its wheel's or its usual name.
void add_candidates(std::vector<std::string>& list, const std::string& path) {
    for (const char* name : {"", "/libscipy_openblas.so", "/libopenblas.so.0", "/libopenblas.so"}) list.push_back(path + name);
}

/// The files of those that the process has loaded.
std::vector<std::string> loaded_openblas() {
    std::vector<std::string> paths;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* list) {
            const std::string_view path = info->dlpi_name;
            if (path.substr(path.rfind('/') + 1).find("openblas") != path.npos)
                static_cast<std::vector<std::string>*>(list)->emplace_back(path);
            return 0;
        },
        &paths);
    return paths;
}

/// That of NumPy's wheels.
std::unique_ptr<routines::NumpyOpenBlas> bind_numpys(const std::string& path) {
    std::string error;
    const DynamicLibrary library = DynamicLibrary::open({path}, &error);
    if (!library) return nullptr;
    auto blas = std::make_unique<routines::NumpyOpenBlas>();
    const auto find = [&](auto*& function, const std::string& name) { return library.bind(function, ("scipy_" + name + "64_").c_str()); };
    const bool complete = find(blas->s.gemv, "cblas_sgemv") && find(blas->d.gemv, "cblas_dgemv") && find(blas->c.gemv, "cblas_cgemv") &&
                          find(blas->z.gemv, "cblas_zgemv") && find(blas->get_threads, "openblas_get_num_threads");
    return complete ? std::move(blas) : nullptr;
}

/// A fork ends OpenBLAS's threads before it calls what was registered earlier, and products that run after that would start them again: the
/// child would wait for them at its exit. So queues come to rest first, by a handler that is registered after OpenBLAS's own.
void rest_before_its_threads_end() {
    (void)pthread_atfork([] { device::wait_for_queues(device::Runner::Process); }, nullptr, nullptr);
}

std::atomic<const routines::NumpyOpenBlas*> numpys{nullptr};  // once it is there it stays

/// Looks the functions up; wheels prefix every symbol, distributions do not.
std::unique_ptr<routines::OpenBlas> bind(const DynamicLibrary& library) {
    for (const std::string prefix : {"scipy_", ""}) {
        auto blas = std::make_unique<routines::OpenBlas>();
        blas->file = library;
        blas->prefix = prefix;
        const auto find = [&](auto*& function, const char* name) { return library.bind(function, (prefix + name).c_str()); };
        const auto find_all = [&](auto& of, const std::string& letter) {
            return find(of.gemm, ("cblas_" + letter + "gemm").c_str()) && find(of.gemv, ("cblas_" + letter + "gemv").c_str()) &&
                   find(of.syrk, ("cblas_" + letter + "syrk").c_str());
        };
        const bool complete = find_all(blas->s, "s") && find_all(blas->d, "d") && find_all(blas->c, "c") && find_all(blas->z, "z");
        if (!complete) continue;
        if (!find(blas->get_threads, "openblas_get_num_threads") || !find(blas->set_threads, "openblas_set_num_threads"))
            blas->get_threads = nullptr, blas->set_threads = nullptr;
        return blas;
    }
    return nullptr;
}

}  // namespace

void set_openblas_path(std::string_view path) {
    const std::lock_guard lock(state().mutex);
    state().path = path;
}

int shorten_openblas_timeouts() {
    const std::vector<std::string> paths = loaded_openblas();
    const TemporaryVariable timeout(timeout_variable, openblas_thread_timeout);
    int shortened = 0;
    for (const std::string& path : paths) {
        void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
        if (!library) continue;
        // What OpenBLAS itself does while it is loaded, and before a fork.
        const auto read_variables = reinterpret_cast<void (*)()>(dlsym(library, "openblas_read_env"));
        const auto end_threads = reinterpret_cast<int (*)()>(dlsym(library, "blas_thread_shutdown_"));
        if (read_variables && end_threads) {
            read_variables();
            end_threads();
            ++shortened;
        }
        dlclose(library);
    }
    return shortened;
}

bool use_openblas_of_numpy() {
    if (numpys) return true;
    if (env("PARDO_OPENBLAS")) return false;  // the user's choice is for all products
    for (const std::string& path : loaded_openblas()) {
        if (path.find("/numpy.libs/") == path.npos) continue;
        if (std::unique_ptr<routines::NumpyOpenBlas> found = bind_numpys(path)) {
            numpys = found.release();
            rest_before_its_threads_end();
            return true;
        }
    }
    return false;
}

const routines::NumpyOpenBlas* routines::openblas_of_numpy() noexcept { return numpys.load(std::memory_order_acquire); }

const routines::OpenBlas& routines::openblas(const char* op_name) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (s.library) return *s.library;
    std::string error;
    const TemporaryVariable timeout(timeout_variable, openblas_thread_timeout);
    const auto load = [&](const std::vector<std::string>& candidates) {
        if (const DynamicLibrary library = DynamicLibrary::open(candidates, &error)) {
            if ((s.library = bind(library))) {
                rest_before_its_threads_end();
                return true;
            }
            error = library.path() + " has no 32-bit CBLAS functions";
        }
        return false;
    };
    std::vector<std::string> candidates;
    if (const auto path = env("PARDO_OPENBLAS")) {
        add_candidates(candidates, *path);
        if (load(candidates)) return *s.library;
        log(LogLevel::Warn, "PARDO_OPENBLAS=" + *path + ": expected the path of OpenBLAS or of its folder; another one takes its place");
        candidates.clear();
    }
    if (!s.path.empty()) add_candidates(candidates, s.path);
    candidates.insert(candidates.end(), {"libscipy_openblas.so", "libopenblas.so.0", "libopenblas.so"});
    if (load(candidates)) return *s.library;
    throw Error(ErrorCode::Import,
                std::string(op_name) +
                    ": needs OpenBLAS; install it with `pip install scipy-openblas32`, or set PARDO_OPENBLAS to the library's path (" +
                    error + ")");
}

routines::BlasThreads::BlasThreads(const OpenBlas& library, int most) : library_(library), most_(most) {
    if (!library.set_threads) return;
    Limit& limit = state().limit;
    const std::lock_guard lock(limit.mutex);
    if (limit.asked.empty()) limit.before = library.get_threads();
    const int now = limit.threads();
    limit.asked.push_back(most);
    if (limit.threads() != now) library.set_threads(limit.threads());
}

routines::BlasThreads::~BlasThreads() {
    if (!library_.set_threads) return;
    Limit& limit = state().limit;
    const std::lock_guard lock(limit.mutex);
    const int now = limit.threads();
    limit.asked.erase(std::ranges::find(limit.asked, most_));
    if (limit.threads() != now) library_.set_threads(limit.threads());
}

}  // namespace pardo

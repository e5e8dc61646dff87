// python/bind/wait.cpp: waiting without the GIL, and what other threads leave to be done with it: references to drop, warnings to show.
//
// The library never takes the GIL: it may hold a lock of its own that a thread with the GIL is waiting for. What needs Python goes to a
// list here, and the interpreter is asked to work it off between two of its instructions.
#include <cstdio>
#include <mutex>

#include <pardo/exit.h>
#include <pardo/log.h>

#include <pardo/library.h>

#include "bind.h"

namespace bind {
namespace {

// The user's line, for warnings and late failures.

std::string package_folder;
thread_local bool unlocked = false;
thread_local std::string noted_line;

/// The innermost frame outside the package; invalid if there is none.
nb::object users_frame(std::string& file) {
    nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
    while (frame.is_valid() && !frame.is_none()) {
        const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame.ptr()))));
        file = nb::cast<std::string>(code.attr("co_filename"));
        if (package_folder.empty() || file.compare(0, package_folder.size(), package_folder) != 0) return frame;
        frame = frame.attr("f_back");
    }
    return {};
}

int line_of(const nb::object& frame) { return PyFrame_GetLineNumber(reinterpret_cast<PyFrameObject*>(frame.ptr())); }

/// "file.py:42" of the user.
std::string users_line() {
    std::string file;
    const nb::object frame = users_frame(file);
    return frame.is_valid() ? file + ":" + std::to_string(line_of(frame)) : std::string();
}

/// A RuntimeWarning at the user's line; nonzero if it became an exception.
int warn(const std::string& text) {
    return guarded(-1, [&] {
        std::string file;
        const nb::object frame = users_frame(file);
        if (!frame.is_valid()) return PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1);
        const nb::object globals = frame.attr("f_globals");
        const nb::object module = globals.attr("get")("__name__", "__main__");
        const nb::object registry = globals.attr("setdefault")("__warningregistry__", nb::dict());
        return PyErr_WarnExplicit(PyExc_RuntimeWarning, text.c_str(), file.c_str(), line_of(frame), nb::cast<std::string>(module).c_str(),
                                  registry.ptr());
    });
}

struct Deferred {
    std::vector<std::pair<void (*)(void*), void*>> calls;
    std::vector<std::string> warnings;
    bool empty() const { return calls.empty() && warnings.empty(); }
};

std::mutex deferred_mutex;
Deferred deferred;

int work_off(void*) {
    Deferred work;
    {
        const std::lock_guard lock(deferred_mutex);
        std::swap(work, deferred);
    }
    for (const auto& [f, context] : work.calls) f(context);
    int result = 0;
    for (const std::string& text : work.warnings) {
        if (warn(text) != 0) result = -1;
    }
    return result;
}

/// When the interpreter's own list is full, the next one that is added works off everything.
template <class F> void defer(F&& add) {
    bool first;
    {
        const std::lock_guard lock(deferred_mutex);
        first = deferred.empty();
        add(deferred);
    }
    if (first && Py_IsInitialized()) Py_AddPendingCall(work_off, nullptr);
}

void log_sink(pardo::LogLevel level, std::string_view text) {
    if (level == pardo::LogLevel::Warn) {
        defer([&](Deferred& d) { d.warnings.emplace_back(text); });
    } else {
        std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
    }
}

/// Called by the library when it hands work over. Without the GIL it gives what Unlocked noted; threads unknown to Python have no line.
std::string location() {
    if (unlocked) return noted_line;
    if (!Py_IsInitialized() || !PyGILState_GetThisThreadState()) return {};
    try {
        return users_line();
    } catch (...) {
        return {};
    }
}

/// The GIL given away and taken back, nothing else: for waiting.
struct Released {
    PyThreadState* state = PyEval_SaveThread();
    ~Released() { PyEval_RestoreThread(state); }
};

/// Failures nobody has waited for, at exit: they go where exceptions go that no one can catch.
void report_unheard_failures() {
    {
        const Released released;
        pardo::finish_driver_work();
    }
    for (const std::string& message : pardo::take_unheard_failures()) {
        PyErr_SetString(PyExc_RuntimeError, message.c_str());
        PyErr_WriteUnraisable(nb::str("work submitted by pardo, which nobody waited for").ptr());
    }
}

constexpr std::int64_t slice_ms = 50;  // how long Ctrl-C may take

}  // namespace

Unlocked::Unlocked() {
    noted_line = location();
    unlocked = true;
    state_ = PyEval_SaveThread();
}

Unlocked::~Unlocked() {
    PyEval_RestoreThread(state_);
    unlocked = false;
}

void wait(const pardo::Event& event) {
    while (!event.done()) {
        {
            const Released released;
            event.wait_for(slice_ms);
        }
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    event.wait();
}

const pardo::Array& settle(const pardo::Array& array) {
    array.force();
    const pardo::Event event = array.event();
    if (!event.done()) wait(event);
    return array.wait();
}

void call_later(void (*f)(void*), void* context) {
    defer([&](Deferred& d) { d.calls.emplace_back(f, context); });
}

void bind_wait(nb::module_& m) {
    m.def(
        "_set_package_folder", [](std::string folder) { package_folder = std::move(folder); }, nb::arg("folder"),
        "Frames of files in this folder are not the user's.");
    m.def("_set_library_folders", &pardo::set_package_folders, nb::arg("folders"),
          "Folders where packages lie: wheels that hold libraries are searched there.");
    m.def("_report_unheard_failures", &report_unheard_failures, "Sends failures nobody has waited for to sys.unraisablehook.");
    pardo::set_log_sink(&log_sink);
    (void)pardo::log_level();  // now, so that a wrong PARDO_LOG is heard of
    pardo::set_location_hook(&location);
}

}  // namespace bind

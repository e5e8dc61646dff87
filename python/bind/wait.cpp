// python/bind/wait.cpp: waiting without the GIL, and what other threads leave to be done with it: references to drop, warnings to show.
//
// The library never takes the GIL: it may hold a lock of its own that a thread with the GIL is waiting for. What needs Python goes to a
// list here, and the interpreter is asked to work it off between two of its instructions.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include <pardo/log.h>

#include <pardo/binding/hooks.h>
#include <pardo/binding/library.h>

#include "bind.h"

namespace bind {
namespace {

// What threads of the library and daemon threads use is never destroyed: they may outlive main.

// The user's line, for warnings and late failures.

std::string& package_folder = *new std::string;
thread_local bool unlocked = false;                          // this thread has released the GIL, or is not a Python thread
thread_local std::shared_ptr<const std::string> noted_line;  // NOLINT(clang-diagnostic-exit-time-destructors): each thread has its own

// The interpreter's end: from then on the library's threads leave Python alone.

std::atomic<bool> closed{false};
std::atomic<int> inside{0};        // threads of the library that run Python
std::atomic<bool> refused{false};  // one of them has come too late
std::thread::id last_thread;       // the one that ends the interpreter
std::atomic<int> kept_objects{0};  // that the library holds for work

/// Whether this thread has the GIL, whoever has taken it or let it go: extensions and ctypes do, and say nothing. The function is in every
/// interpreter, and not in the stable ABI.
bool runs_python() {
    static auto* const check = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "PyGILState_Check"));
    if (unlocked || !Py_IsInitialized()) return false;
    return PyGILState_GetThisThreadState() && (!check || check() != 0);
}

/// Around waits inside the library: what is waited for may need the GIL.
void* leave_python() {
    if (!runs_python()) return nullptr;
    PyThreadState* const state = PyEval_SaveThread();
    unlocked = true;
    return state;
}

void enter_python(void* state) {
    PyEval_RestoreThread(static_cast<PyThreadState*>(state));
    unlocked = false;
}

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

/// A RuntimeWarning at the user's line; nonzero if it became an exception.
int warn(const std::string& text) {
    return guarded(-1, [&] {
        const nb::str message = text_to_python(text);
        std::string file;
        const nb::object frame = users_frame(file);
        if (!frame.is_valid()) return PyErr_WarnEx(PyExc_RuntimeWarning, text_from(message).c_str(), 1);
        const nb::object globals = frame.attr("f_globals");
        const nb::object module = globals.attr("get")("__name__", "__main__");
        const nb::object registry = globals.attr("setdefault")("__warningregistry__", nb::dict());
        const nb::object name = frame.attr("f_code").attr("co_filename");
        nb::module_::import_("warnings")
            .attr("warn_explicit")(message, nb::handle(PyExc_RuntimeWarning), name, line_of(frame), module, registry);
        return 0;
    });
}

/// What waits for a turn of the interpreter's: a call, or the text of a warning.
struct Deferred {
    void (*call)(void*) = nullptr;
    void* context = nullptr;
    std::string warning;
    Deferred* before = nullptr;
};

/// The newest; without a lock, so that a forked child finds the list whole.
std::atomic<Deferred*> deferred{nullptr};
std::atomic<bool> asked{false};  // the interpreter, for a turn

int work_off(void*) {
    asked.store(false, std::memory_order_release);
    std::vector<std::unique_ptr<Deferred>> work;
    for (Deferred* each = deferred.exchange(nullptr, std::memory_order_acq_rel); each; each = each->before) work.emplace_back(each);
    std::ranges::reverse(work);
    int result = 0;
    for (const auto& each : work) {
        if (!each->call) continue;
        PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;  // of a call before: the last is raised, as of warnings
        PyErr_Fetch(&type, &value, &traceback);
        each->call(each->context);
        if (!PyErr_Occurred()) {
            PyErr_Restore(type, value, traceback);
            continue;
        }
        Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(traceback);
    }
    if (PyErr_Occurred()) result = -1;
    for (const auto& each : work) {
        if (!each->call && warn(each->warning) != 0) result = -1;
    }
    return result;
}

/// When the interpreter's own list is full, the next one that is added asks again.
void ask_for_turn() {
    if (!Py_IsInitialized() || asked.exchange(true, std::memory_order_acq_rel)) return;
    if (Py_AddPendingCall(work_off, nullptr) != 0) asked.store(false, std::memory_order_release);
}

void defer(Deferred added) {
    auto* const made = new Deferred(std::move(added));
    made->before = deferred.load(std::memory_order_relaxed);
    while (!deferred.compare_exchange_weak(made->before, made, std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    ask_for_turn();
}

/// One line that is written over, without Python: the thread that compiles may hold its lock.
void progress_sink(std::string_view line) {
    const std::string text = line.empty() ? std::string("\r\x1b[K") : "\r\x1b[Kpardo: " + std::string(line);
    (void)!::write(STDERR_FILENO, text.data(), text.size());
}

void log_sink(pardo::LogLevel level, std::string_view text) {
    if (level == pardo::LogLevel::Warn) {
        defer({nullptr, nullptr, std::string(text)});
    } else {
        std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
    }
}

/// Lines that work was handed over from, by the instruction that did it: the same ones come again and again. Under the GIL.
struct KnownLine {
    PyObject* code = nullptr;  // kept, so that its address stays its own
    long instruction = 0;
    bool ours = false;  // a frame of the package: the user's is further out
    std::shared_ptr<const std::string> text;
};
constexpr std::size_t known_lines = 512;  // a power of two
KnownLine* const known_line = new KnownLine[known_lines];

void drop_code(void* o) { Py_DECREF(static_cast<PyObject*>(o)); }

/// What is known of a frame, found out if need be; null with Python's error set if that fails.
const KnownLine* line_in(PyObject* frame) {
    static PyObject* const name = PyUnicode_InternFromString("f_lasti");
    PyObject* const number = PyObject_GetAttr(frame, name);
    if (!number) return nullptr;
    const long instruction = PyLong_AsLong(number);
    Py_DECREF(number);
    PyObject* const code = reinterpret_cast<PyObject*>(PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame)));
    const std::size_t bits = reinterpret_cast<std::uintptr_t>(code) / 16 + static_cast<std::size_t>(instruction) * 0x9e3779b9u;
    KnownLine& known = known_line[(bits ^ bits >> 9) % known_lines];
    if (known.code == code && known.instruction == instruction) {
        Py_DECREF(code);
        return &known;
    }
    const nb::object holder = nb::steal(code);
    const auto file = nb::cast<std::string>(holder.attr("co_filename"));
    const bool ours = !package_folder.empty() && file.compare(0, package_folder.size(), package_folder) == 0;
    auto text = ours ? nullptr : std::make_shared<const std::string>(file + ":" + std::to_string(line_of(nb::borrow(frame))));
    // Letting go of code may run Python; the library's locks are held here.
    if (known.code) call_later(&drop_code, known.code);
    Py_INCREF(code);
    known = {code, instruction, ours, std::move(text)};
    return &known;
}

/// Called by the library when it hands work over. Without the GIL it gives what was noted before; threads unknown to Python have no line.
std::shared_ptr<const std::string> location() {
    if (!runs_python()) return noted_line;
    try {
        PyObject* const innermost = reinterpret_cast<PyObject*>(PyEval_GetFrame());
        if (!innermost) return {};
        const KnownLine* line = line_in(innermost);
        nb::object outer;
        while (line && line->ours) {
            outer = (outer.is_valid() ? nb::handle(outer) : nb::handle(innermost)).attr("f_back");
            if (outer.is_none()) return {};
            line = line_in(outer.ptr());
        }
        if (line) return line->text;
    } catch (...) {
        return {};
    }
    PyErr_Clear();
    return {};
}

/// The GIL given away and taken back, nothing else: for waiting.
struct Released {
    PyThreadState* state = PyEval_SaveThread();
    Released() { unlocked = true; }
    ~Released() {
        PyEval_RestoreThread(state);
        unlocked = false;
    }
};

/// The class of what sys.unraisablehook is given. It has no name: the hook is another one for a moment, in which no other code runs.
nb::object class_of_unraisable(nb::handle sys) {
    const nb::object hook = sys.attr("unraisablehook");
    const nb::list seen;
    const nb::object append = seen.attr("append");
    nb::setattr(sys, "unraisablehook", append);
    PyErr_SetNone(PyExc_RuntimeError);
    PyErr_WriteUnraisable(nullptr);
    nb::setattr(sys, "unraisablehook", hook);
    return nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(PyList_GetItem(seen.ptr(), 0))));
}

/// Calls sys.unraisablehook itself: PyErr_WriteUnraisable says of exceptions without a traceback that they come from the frame that happens
/// to run.
void report(const pardo::UnseenFailure& failure) {
    const std::string place = failure.location.empty() ? "" : " (" + failure.location + ")";
    const nb::str work = text_to_python("work submitted by pardo" + place + " that was never waited for");
    try {
        const nb::object sys = nb::module_::import_("sys"), exception = exception_from(failure.error);
        const nb::object& arguments = made_once([&] { return class_of_unraisable(sys); });
        const nb::object given = arguments(nb::make_tuple(exception.type(), exception, exception.attr("__traceback__"), nb::none(), work));
        sys.attr("unraisablehook")(given);
    } catch (nb::python_error& e) {
        e.discard_as_unraisable(work);
    }
}

/// Failures that were not observed go where exceptions go that cannot be caught. No exception may be on its way.
void report_unseen(pardo::Unseen which) {
    for (const pardo::UnseenFailure& failure : pardo::take_unseen_failures(which)) report(failure);
}

std::string text_of(const std::vector<pardo::UnfinishedWork>& left) {
    constexpr std::size_t most_named = 3;
    std::string text;
    for (const pardo::UnfinishedWork& work : std::span(left).first(std::min(left.size(), most_named))) {
        text += (text.empty() ? "" : ", ") + work.name + (work.location.empty() ? "" : " (" + work.location + ")") + " on " + work.device;
    }
    return left.size() > most_named ? text + " and " + std::to_string(left.size() - most_named) + " more" : text;
}

/// What the program has printed, which Python writes out later than this.
void flush_streams() {
    for (const char* name : {"stdout", "stderr"}) {
        PyObject* const stream = PySys_GetObject(name);  // borrowed
        if (!stream || stream == Py_None) continue;
        PyObject* const done = PyObject_CallMethod(stream, "flush", nullptr);
        Py_XDECREF(done);
        PyErr_Clear();
    }
    (void)std::fflush(nullptr);
}

/// Python's streams may be gone, or replaced.
void tell(const std::string& line) { (void)std::fputs(("pardo: " + line + "\n").c_str(), stderr); }

/// A driver's work cannot be stopped: what does not end is told, and an interruption ends the process.
void finish_driver_work() {
    constexpr std::chrono::milliseconds slice(100), quiet(5000);
    constexpr int interrupted = 130;  // as a shell says of SIGINT
    const auto begin = std::chrono::steady_clock::now();
    for (bool told = false;;) {
        std::vector<pardo::UnfinishedWork> left;
        {
            const Released released;
            left = pardo::finish_driver_work_within(slice);
        }
        if (left.empty()) return;
        if (PyErr_CheckSignals() != 0) {
            PyErr_Clear();
            tell("interrupted; left unfinished: " + text_of(left));
            flush_streams();
            _exit(interrupted);
        }
        if (told || std::chrono::steady_clock::now() - begin < quiet) continue;
        told = true;
        tell("the program has ended, and the process waits for work that has not ended: " + text_of(left) + "; Ctrl-C ends it");
    }
}

/// What has been noticed until now; at exit, all there is.
void report_unseen_failures(bool last) {
    if (last) {
        {
            const Released released;
            pardo::finish_compiling();
        }
        finish_driver_work();
    }
    report_unseen(last ? pardo::Unseen::Last : pardo::Unseen::Known);
}

/// Called where the last event and array of a failure go, whatever the thread holds.
void leave_lost_failures() {
    call_later([](void*) { report_unseen(pardo::Unseen::Lost); }, nullptr);
}

/// What the library asks where it waits: signals get their turn, and what call_later has collected. Threads that Python does not know have
/// none.
std::optional<pardo::Error> asked_to_end(bool later) {
    if (!Py_IsInitialized() || !PyGILState_GetThisThreadState()) return std::nullopt;
    if (closed.load(std::memory_order_acquire) && std::this_thread::get_id() != last_thread) return std::nullopt;
    const WithGil gil;
    if (!gil || PyErr_Occurred()) return std::nullopt;  // while an exception is on its way nothing else is raised
    if (PyErr_CheckSignals() == 0 && Py_MakePendingCalls() == 0) return std::nullopt;
    if (!later) return error_from_python();
    PyErr_Clear();
    PyErr_SetInterrupt();
    return pardo::Error(pardo::ErrorCode::Internal, "interrupted");
}

constexpr int slice_ms = 50;  // how long Ctrl-C may take

/// Waits in slices, so that signals and what call_later has collected get their turn. `step(ms)` is true when the wait is over;
/// `interrupted()` is called when a signal ends it.
template <class F, class G> bool wait_in_slices(std::optional<double> seconds, F&& step, G&& interrupted) {
    using Clock = std::chrono::steady_clock;
    constexpr double longest = 1e9;  // beyond it is for ever
    const auto end =
        seconds && *seconds < longest
            ? std::optional(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds)))
            : std::nullopt;
    for (;;) {
        int ms = slice_ms;
        if (end) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end - Clock::now()).count();
            ms = static_cast<int>(std::clamp<std::int64_t>(left, 0, slice_ms));
        }
        {
            const Released released;
            if (step(ms)) return true;
        }
        if (PyErr_CheckSignals() != 0 || Py_MakePendingCalls() != 0) {
            interrupted();
            throw nb::python_error();
        }
        if (end && Clock::now() >= *end) return false;
    }
}

/// Waits until no thread of the library runs Python, or `enough` says so.
template <class F> void until_none_inside(F&& enough) {
    while (inside.load(std::memory_order_acquire) > 0 && !enough()) {
        {
            const Released released;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
}

/// Called before the interpreter ends: waits for Python code on the library's threads, and lets no more of it begin.
void close_threads() {
    constexpr std::chrono::seconds patience{2};
    using Clock = std::chrono::steady_clock;
    last_thread = std::this_thread::get_id();
    // What runs may wait for what has not begun: that may still begin, until there is none, or others come again and again.
    const auto begin = Clock::now();
    until_none_inside([&] { return Clock::now() - begin > patience; });
    closed.store(true, std::memory_order_release);
    // One that waits for a refused one would never end; it stays where it is (python_calls.cpp).
    std::optional<Clock::time_point> since;
    until_none_inside([&] {
        if (!since && refused.load(std::memory_order_acquire)) since = Clock::now();
        return since && Clock::now() - *since > patience;
    });
    if (Py_MakePendingCalls() != 0) throw nb::python_error();
    if (kept_objects.load(std::memory_order_relaxed) > 0) nb::set_leak_warnings(false);  // unfinished work keeps them, for ever now
}

/// One of them may have left something to be done, and not yet asked for a turn.
void forget_threads() {
    inside.store(0, std::memory_order_release);
    asked.store(false, std::memory_order_release);
    if (deferred.load(std::memory_order_acquire)) ask_for_turn();
}

void decref(void* o) {
    kept_objects.fetch_sub(1, std::memory_order_relaxed);
    Py_DECREF(static_cast<PyObject*>(o));
}

}  // namespace

std::string users_line() {
    std::string file;
    const nb::object frame = users_frame(file);
    return frame.is_valid() ? file + ":" + std::to_string(line_of(frame)) : std::string();
}

Unlocked::Unlocked() {
    noted_line = location();
    unlocked = true;
    state_ = PyEval_SaveThread();
}

Unlocked::~Unlocked() {
    PyEval_RestoreThread(state_);
    unlocked = false;
}

std::atomic<int> forking = 0;

WithGil::WithGil() {
    inside.fetch_add(1, std::memory_order_acq_rel);
    const bool ended = closed.load(std::memory_order_acquire) && std::this_thread::get_id() != last_thread;
    if (ended || !Py_IsInitialized()) {
        refused.store(true, std::memory_order_release);
        inside.fetch_sub(1, std::memory_order_acq_rel);
        return;
    }
    // A thread of the library keeps its Python state from call to call: making one takes longer than most calls.
    if (!PyGILState_GetThisThreadState()) {
        // In a child Python makes its state anew, after the library has begun threads again.
        for (int parent = 0; (parent = forking.load(std::memory_order_acquire)) != 0 && parent != getpid();)
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        (void)PyGILState_Ensure();
        (void)PyEval_SaveThread();
        unlocked = true;
    }
    held_ = true;
    state_ = PyGILState_Ensure();
    outer_ = std::exchange(unlocked, false);
}

WithGil::~WithGil() {
    if (!held_) return;
    unlocked = outer_;
    PyGILState_Release(state_);
    inside.fetch_sub(1, std::memory_order_acq_rel);
}

std::shared_ptr<void> kept(nb::object o) {
    kept_objects.fetch_add(1, std::memory_order_relaxed);
    return {o.release().ptr(), [](void* p) { call_later(&decref, p); }};
}

std::optional<double> timeout_from(nb::handle o, const char* op_name) {
    if (o.is_none()) return std::nullopt;
    const double seconds = PyFloat_AsDouble(o.ptr());
    if (seconds == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        throw pardo::Error(pardo::ErrorCode::Type,
                           std::string(op_name) + ": timeout must be a number of seconds or None, not " + class_name(o));
    }
    if (seconds != seconds) throw pardo::Error(pardo::ErrorCode::Value, std::string(op_name) + ": timeout is not a number (nan)");
    return std::max(seconds, 0.0);
}

bool done_within(const pardo::Event& event, std::optional<double> seconds) {
    return event.done() || wait_in_slices(
                               seconds, [&](int ms) { return event.done_within(ms); }, [&] { event.abandon(); });
}

bool wait_for(const pardo::Event& event, std::optional<double> seconds) {
    if (!done_within(event, seconds)) return false;
    event.wait();
    return true;
}

void wait(const pardo::Event& event) { (void)wait_for(event, std::nullopt); }

/// An interruption ends the work that the thread waits for, as where it waits for one event.
void abandon(const std::vector<pardo::Event>& events) {
    for (const pardo::Event& e : events) {
        if (!e.done()) e.abandon();
    }
}

int wait_any(const std::vector<pardo::Event>& events, std::optional<double> seconds) {
    int first = -1;
    const auto step = [&](int ms) {
        first = pardo::wait_any(events, ms);
        return first >= 0;
    };
    (void)wait_in_slices(seconds, step, [&] { abandon(events); });
    return first;
}

bool wait_all(const std::vector<pardo::Event>& events, std::optional<double> seconds) {
    std::size_t next = 0;
    const auto step = [&](int ms) {
        while (next < events.size() && events[next].done()) ++next;
        if (next == events.size()) return true;
        if (pardo::wait_any(events[next], ms) < 0) return false;
        return ++next == events.size();
    };
    return wait_in_slices(seconds, step, [&] { abandon(events); });
}

const pardo::Array& settle(const pardo::Array& array) {
    const pardo::Array own = array;  // another thread may give the object another value or shape meanwhile
    own.force_to_wait();
    try {
        for (const pardo::Event& write : own.writes()) wait(write);
    } catch (const pardo::Error&) {  // comes again below, as the failure of elements
    }
    own.wait();
    return array;
}

void check_callbacks_begin(const char* op_name) {
    if (!closed.load(std::memory_order_acquire) || std::this_thread::get_id() != last_thread) return;
    throw pardo::Error(pardo::ErrorCode::Device,
                       std::string(op_name) + ": the interpreter is exiting, and no callback begins any more; call the event's wait()");
}

bool holds_gil() { return runs_python(); }

void note_line() { noted_line = location(); }

void call_later(void (*f)(void*), void* context) { defer({f, context}); }

namespace {

/// What arrays let go of while this thread destroys one. What goes with that is done in turn: the stack does not grow with each.
struct LetGo {
    bool destroys = false;
    std::size_t count = 0;
    std::pair<void (*)(void*), void*> calls[4];
};
thread_local LetGo let_go_here;

}  // namespace

void let_go(void (*f)(void*), void* context) {
    LetGo& here = let_go_here;
    if (!here.destroys || here.count == std::size(here.calls)) return call_later(f, context);
    here.calls[here.count++] = {f, context};
}

void destroy_array(void* array) noexcept {
    LetGo& here = let_go_here;
    const bool outermost = !std::exchange(here.destroys, true);
    static_cast<pardo::Array*>(array)->~Array();
    if (!outermost) return;
    if (here.count != 0) {
        PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
        PyErr_Fetch(&type, &value, &traceback);
        while (here.count != 0) {
            const auto [f, context] = here.calls[--here.count];
            f(context);
            if (PyErr_Occurred()) PyErr_WriteUnraisable(nullptr);
        }
        PyErr_Restore(type, value, traceback);
    }
    here.destroys = false;
}

void bind_wait(nb::module_& m) {
    // Frames of files in this folder are not the user's.
    hook("package_folder", [](nb::handle folder) { package_folder = nb::cast<std::string>(folder); });
    // Where packages lie: wheels that hold libraries are searched there.
    hook("library_folders", [](nb::handle folders) { pardo::set_package_folders(nb::cast<std::vector<std::string>>(folders)); });
    m.def("_report_unseen_failures", &report_unseen_failures, nb::arg("last"),
          "Sends failures that were never raised to sys.unraisablehook, once each; the last time, those of all that is unfinished too.");
    m.def("_close_threads", &close_threads, "Waits for Python code on the library's threads, and lets no more of it begin.");
    m.def("_forget_threads", &forget_threads, "In a forked child: the parent's threads are not here.");
    pardo::set_blocking_hooks(&leave_python, &enter_python);
    pardo::set_interrupt_hook(&asked_to_end);
    pardo::set_lost_failure_hook(&leave_lost_failures);
    pardo::set_log_sink(&log_sink);
    const auto show_compilations = [](bool shown) {
        pardo::set_progress_sink(shown && ::isatty(STDERR_FILENO) ? &progress_sink : nullptr);
    };
    show_compilations(true);
    m.def("_show_compilations", show_compilations, nb::arg("shown"), "Whether a terminal shows what compilers take long for.");
    (void)pardo::log_level();  // now, so that a wrong PARDO_LOG is reported
    pardo::set_location_hook(&location);
}

}  // namespace bind

// python/bind/kernel/loop_call.cpp: calls of jit functions, and of their loops with arrays and numbers, without Python in between.
#include <pardo/binding/kernel.h>

#include <algorithm>
#include <array>
#include <exception>

#include "captured.h"
#include "numpy_layout.h"
#include "present.h"

namespace bind {
namespace {

using pardo::KernelArgument;

/// Where this thread runs loops over NumPy's arrays; nothing for the CPU.
thread_local std::optional<pardo::Queue> part_of_the_host;  // NOLINT(clang-diagnostic-exit-time-destructors): each thread has its own
/// How many iterations of parallel loops that do not say it its threads take at a time; 0 for equal shares.
thread_local std::int64_t host_chunk = 0;

const pardo::Queue& host_queue() {
    const pardo::Queue& whole = made_once([] { return pardo::Queue::of(pardo::Device::host()); });
    return part_of_the_host ? *part_of_the_host : whole;
}

/// What a call gives a loop. It stays for the next one: NumPy's arrays that lie where they lay then are known. Their memory is not held.
struct Values {
    struct Host {
        PyObject* dtype = nullptr;
        void* data = nullptr;  // null: it was none of NumPy's
        bool writeable = false;
        Ints extents;                                  // shape and strides in bytes
        std::shared_ptr<std::shared_ptr<void>> owner;  // of the memory, as long as work may use it after the call
    };
    std::vector<KernelArgument> arguments;
    std::vector<Host> hosts;
    std::optional<pardo::Queue> queue;

    bool knows(std::size_t k, const NumPyLayout& x) const {
        const Host& h = hosts[k];
        return h.data == x.data && h.dtype == x.dtype && h.writeable == x.writeable && h.extents.size() == 2 * x.rank &&
               std::equal(x.shape, x.shape + x.rank, h.extents.begin()) &&
               std::equal(x.strides, x.strides + x.rank, h.extents.begin() + static_cast<std::ptrdiff_t>(x.rank));
    }
};

/// A loop that runs by itself, and what it is given. Never changed but replaced: what looks at it may run Python's code, and other threads
/// with it.
struct PreparedLoop {
    nb::object loop;
    bool parallel = false;
    int dimensions = 0;
    Py_ssize_t count = 0;
    std::vector<std::size_t> numbers;  // arguments that have to be numbers: what a parallel loop begins with, or a serial one changes
    std::int64_t chunk = 0;
    bool on_host = false;
    std::vector<Captured> captured;

    std::unique_ptr<Values> fresh() const {
        auto made = std::make_unique<Values>();
        made->arguments.resize(static_cast<std::size_t>(count));
        made->hosts.resize(made->arguments.size());
        for (int d = 0; d < dimensions; ++d)
            for (const int start_or_step : {0, 1}) {
                KernelArgument& a = made->arguments.emplace_back();
                a.kind = KernelArgument::Kind::Constant;
                a.scalar = start_or_step;
            }
        return made;
    }

    /// The iterations of `prange(n)`.
    bool take_bounds(PyObject* given, std::array<std::int64_t, 3>& counts) const {
        PyObject* const bounds = PyTuple_GetItem(given, 0);
        if (PyTuple_GetItem(given, 1) != Py_None || PyTuple_Size(bounds) != dimensions) return false;
        for (Py_ssize_t d = 0; d < dimensions; ++d) {
            PyObject* const one = PyTuple_GetItem(bounds, d);
            if (PyTuple_Size(one) != 1 || !PyLong_CheckExact(PyTuple_GetItem(one, 0))) return false;
            int overflow = 0;
            const std::int64_t n = PyLong_AsLongLongAndOverflow(PyTuple_GetItem(one, 0), &overflow);
            if (overflow != 0 || n < 0) return false;
            counts[static_cast<std::size_t>(d)] = n;
        }
        return true;
    }

    bool take(Values& call, PyObject* values, Py_ssize_t first) const {
        const pardo::Queue& queue = host_queue();
        if (!call.queue || !(*call.queue == queue)) {
            std::ranges::fill(call.hosts, Values::Host{});
            call.queue = queue;
        }
        try {
            for (std::size_t k = 0; k < call.hosts.size(); ++k)
                if (!take(call, k, PyTuple_GetItem(values, first + static_cast<Py_ssize_t>(k)))) return false;
        } catch (const pardo::Error&) {
            return false;  // Python says what is wrong
        }
        return std::ranges::all_of(numbers, [&](std::size_t k) { return call.arguments[k].kind == KernelArgument::Kind::Number; });
    }

    bool take(Values& call, std::size_t k, PyObject* o) const {
        KernelArgument& a = call.arguments[k];
        NumPyLayout x;
        if (numpy_layout(o, x)) {
            if (call.knows(k, x)) return true;
            return share(call, k, x);
        }
        call.hosts[k].data = nullptr;
        if (is_array(o)) {
            a.kind = KernelArgument::Kind::Array;
            a.array = array_of(o);
            return a.array.ndim() > 0 && (!on_host || a.array.queue() == host_queue());
        }
        const bool plain = PyFloat_CheckExact(o) || PyLong_CheckExact(o) || PyBool_Check(o) || PyComplex_CheckExact(o);
        if (!plain && !dtype_at_sight(reinterpret_cast<PyObject*>(Py_TYPE(o)))) return false;
        const std::optional<pardo::Scalar> number = scalar_from(o);
        if (!number) return false;
        a.kind = KernelArgument::Kind::Number;
        a.array = {};
        a.scalar = *number;
        return true;
    }

    static bool share(Values& call, std::size_t k, const NumPyLayout& x) {
        Values::Host& h = call.hosts[k];
        h.data = nullptr;
        const std::optional<pardo::DType> dtype = dtype_at_sight(x.dtype);
        if (!dtype || x.rank == 0) return false;
        h.extents.assign(x.shape, x.shape + x.rank);
        for (std::size_t d = 0; d < x.rank; ++d) {
            if (x.strides[d] % pardo::itemsize(*dtype) != 0) return false;
            h.extents.push_back(x.strides[d] / pardo::itemsize(*dtype));
        }
        const pardo::Extents all(h.extents);
        KernelArgument& a = call.arguments[k];
        a.kind = KernelArgument::Kind::Array;
        h.owner = std::make_shared<std::shared_ptr<void>>();
        a.array = pardo::share_host(
            x.data, *dtype, all.first(x.rank), all.last(x.rank), !x.writeable, [owner = h.owner] { owner->reset(); }, *call.queue);
        std::copy(x.strides, x.strides + x.rank, h.extents.begin() + static_cast<std::ptrdiff_t>(x.rank));
        h.dtype = x.dtype;
        h.writeable = x.writeable;
        h.data = x.data;
        return true;
    }

    std::vector<pardo::Scalar> initial_of(const Values& call) const {
        std::vector<pardo::Scalar> out;
        for (const std::size_t k : numbers)
            if (parallel) out.push_back(call.arguments[k].scalar);
        return out;
    }
};

/// A loop of a function.
class LoopCall {
public:
    /// Its results; nothing where it is Python's to say what they are.
    nb::object run(PyObject* given) {
        const std::shared_ptr<const PreparedLoop> now = prepared_;
        if (!now || !recorded.is_none() || data_is_mapped()) return {};
        const Py_ssize_t size = PyTuple_Size(given);
        PyObject* const values = now->parallel ? given : size == 1 ? PyTuple_GetItem(given, 0) : Py_None;
        const Py_ssize_t first = now->parallel ? 2 : 0;
        if (!PyTuple_CheckExact(values) || PyTuple_Size(values) != first + now->count) return {};
        if ((now->parallel || now->on_host) && may_be_plain_python()) return {};
        if (any_changed(now->captured)) return {};
        std::array<std::int64_t, 3> counts{};
        if (now->parallel && !now->take_bounds(given, counts)) return {};
        std::unique_ptr<Values> call = now == prepared_ ? std::move(spare_) : nullptr;
        if (!call) call = now->fresh();
        if (!now->take(*call, values, first)) {
            if (now == prepared_) spare_ = std::move(call);
            return {};
        }
        const auto& loop = *nb::inst_ptr<pardo::Loop>(now->loop);
        const std::span<const std::int64_t> iterations(counts.data(), static_cast<std::size_t>(now->dimensions));
        const std::vector<pardo::Scalar> initial = now->initial_of(*call);
        const std::int64_t chunk = now->parallel && now->chunk == 0 ? host_chunk : now->chunk;
        std::vector<KernelArgument> results;
        std::optional<std::string> refused;
        std::exception_ptr failure;
        {
            const Unlocked unlocked;
            try {
                results = loop.run(call->arguments, iterations, initial, nullptr, chunk, nullptr, &refused);
            } catch (...) {  // an interrupted wait leaves work behind
                failure = std::current_exception();
            }
        }
        if (failure) {
            for (std::size_t k = 0; k < call->hosts.size(); ++k)
                if (call->hosts[k].data)
                    *call->hosts[k].owner = kept(nb::borrow(PyTuple_GetItem(values, first + static_cast<Py_ssize_t>(k))));
            std::rethrow_exception(failure);
        }
        for (std::size_t k = 0; k < call->hosts.size(); ++k)
            if (!call->hosts[k].data && call->arguments[k].kind == KernelArgument::Kind::Array) call->arguments[k].array = {};
        if (now == prepared_) spare_ = std::move(call);  // not of a call that has failed, whose arrays know that
        if (refused) return {};
        return loop_result(results);
    }

    /// From now on it runs by itself; without a loop, no more.
    void prepare(nb::object loop, int dimensions, Py_ssize_t count, std::vector<std::size_t> numbers, std::int64_t chunk, bool on_host,
                 const nb::typed<nb::list, nb::tuple>& captured) {
        std::shared_ptr<PreparedLoop> made;
        if (!loop.is_none()) {
            made = std::make_shared<PreparedLoop>(
                PreparedLoop{std::move(loop), dimensions > 0, dimensions, count, std::move(numbers), chunk, on_host, {}});
            made->captured = captured_from(captured);
        }
        replace(std::move(made));
    }

    void visit(const auto& each) const {
        each(recorded);
        if (prepared_) visit_captured(prepared_->captured, each);
    }
    void clear() {
        replace(nullptr);
        const nb::object gone = std::move(recorded);
    }

    nb::object recorded = nb::none();

private:
    /// What goes may run code, and goes last.
    void replace(std::shared_ptr<const PreparedLoop> by) {
        const std::unique_ptr<Values> spare = std::move(spare_);
        prepared_.swap(by);
    }

    std::shared_ptr<const PreparedLoop> prepared_;
    std::unique_ptr<Values> spare_;  // of what is prepared
};

/// `loop((x, s))` is a serial one, `loop(bounds, chunk, x, s)` a parallel one.
[[gnu::hot]] PyObject* call_loop(PyObject* self, PyObject* given, PyObject* keywords) {
    return guarded([&]() -> PyObject* {
        if (!keywords) {
            if (nb::object out = nb::inst_ptr<LoopCall>(self)->run(given); out.is_valid()) return out.release().ptr();
        }
        const nb::object python = nb::handle(self).attr(PyTuple_Size(given) == 1 ? "serially" : "in_parallel");
        return PyObject_Call(python.ptr(), given, keywords);
    });
}

int traverse_loop(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    int failed = 0;
    nb::inst_ptr<LoopCall>(self)->visit([&](const nb::object& o) {
        if (failed == 0 && o.is_valid()) failed = visit(o.ptr(), arg);
    });
    return failed;
}

int clear_loop(PyObject* self) {
    nb::inst_ptr<LoopCall>(self)->clear();
    return 0;
}

PyType_Slot loop_slots[] = {{Py_tp_call, reinterpret_cast<void*>(&call_loop)},
                            {Py_tp_traverse, reinterpret_cast<void*>(&traverse_loop)},
                            {Py_tp_clear, reinterpret_cast<void*>(&clear_loop)},
                            {0, nullptr}};

/// A call of a jit function that a thread is in.
struct FunctionCall {
    FunctionCall(PyObject* arguments, PyObject* keywords) : arguments(arguments), keywords(keywords), outer(innermost) { innermost = this; }
    FunctionCall(const FunctionCall&) = delete;
    FunctionCall& operator=(const FunctionCall&) = delete;
    ~FunctionCall() { innermost = outer; }

    PyObject *const arguments, *const keywords;
    const FunctionCall* const outer;
    static thread_local const FunctionCall* innermost;
};
thread_local const FunctionCall* FunctionCall::innermost = nullptr;

PyObject* called(PyObject* function, PyObject* arguments, PyObject* keywords) {
    const FunctionCall now(arguments, keywords);
    return PyObject_Call(function, arguments, keywords);
}

// The attributes of what is called: its function, once that is made, and what does the rest.
PyObject *made_name = nullptr, *rest_name = nullptr;

PyObject* call_function(PyObject* self, PyObject* arguments, PyObject* keywords) {
    return guarded([&]() -> PyObject* {
        if (!data_is_mapped() && !may_be_plain_python()) {
            const nb::object made = nb::steal(PyObject_GetAttr(self, made_name));
            if (!made.is_valid()) return nullptr;
            if (!made.is_none()) return called(made.ptr(), arguments, keywords);
        }
        const nb::object rest = nb::steal(PyObject_GetAttr(self, rest_name));
        return rest.is_valid() ? PyObject_Call(rest.ptr(), arguments, keywords) : nullptr;
    });
}

// Not a class of nanobind's, which have one base class.
PyType_Slot function_slots[] = {{Py_tp_call, reinterpret_cast<void*>(&call_function)}, {0, nullptr}};
PyType_Spec function_spec = {"pardo._core._FunctionCall", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, function_slots};

}  // namespace

void bind_loop_call(nb::module_& m) {
    nb::class_<LoopCall>(m, "_LoopCall", nb::type_slots(loop_slots), "A loop of a function, which is called.")
        .def(nb::init<>())
        .def("_prepare_call", &LoopCall::prepare, nb::arg("loop").none(), nb::arg("dimensions"), nb::arg("count"), nb::arg("numbers"),
             nb::arg("chunk"), nb::arg("on_host"), nb::arg("captured"))
        .def_prop_rw(
            "recorded", [](const LoopCall& l) { return l.recorded; }, [](LoopCall& l, nb::object what) { l.recorded = std::move(what); },
            nb::for_getter(nb::sig("def recorded(self) -> Any")), nb::arg("value").none(),
            "None, or who wants to know what it runs with: the package, which runs it then.");
    made_name = PyUnicode_InternFromString("_made");
    rest_name = PyUnicode_InternFromString("_call");
    m.attr("_FunctionCall") = nb::steal(PyType_FromSpec(&function_spec));
    m.def(
        "_called",
        [](nb::handle function, nb::tuple arguments, nb::dict keywords) {
            PyObject* const out = called(function.ptr(), arguments.ptr(), keywords.ptr());
            if (!out) throw nb::python_error();
            return nb::steal(out);
        },
        nb::arg("function"), nb::arg("arguments"), nb::arg("keywords"),
        nb::sig("def _called(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any"));
    m.def(
        "_calls",
        [] {
            nb::list out;
            for (const FunctionCall* c = FunctionCall::innermost; c; c = c->outer) {
                const nb::object keywords = c->keywords ? nb::borrow(c->keywords) : nb::object(nb::dict());
                out.append(nb::make_tuple(nb::borrow(c->arguments), keywords));
            }
            return out;
        },
        nb::sig("def _calls() -> list[tuple[tuple[Any, ...], dict[str, Any]]]"),
        "Arguments and keywords of the calls of functions that this thread is in, the innermost first.");
    m.def(
        "_host_queue", [] { return host_queue(); }, "Where this thread runs loops over NumPy's arrays.");
    m.def(
        "_set_host_queue", [](std::optional<pardo::Queue> queue) { part_of_the_host = std::move(queue); }, nb::arg("queue").none());
    m.def(
        "_host_chunk", [] { return host_chunk; }, "How many iterations of its parallel loops a thread takes at a time.");
    m.def(
        "_set_host_chunk", [](std::int64_t iterations) { host_chunk = iterations; }, nb::arg("iterations"));
}

}  // namespace bind

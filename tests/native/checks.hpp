// tests/native/checks.hpp: functions that tests/python/test_native_bindings.py calls, bound by nanobind and by pybind11 alike.
#pragma once

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <pardo/native/python.hpp>

namespace checks {

namespace pn = pardo::native;

inline pn::event scale(const pn::queue& q, const pn::arr<double, 2, pn::c_contig>& a,
                       const pn::arr<double, 1, pn::writable, pn::on_cpu>& x) {
    return pn::submit(q, {pn::read(a), pn::update(x)},
                      [](const pn::work& w) {
                          const double by = w.elements<const double, 2>(0)(0, 0);
                          for (double& t : w.elements<double, 1>(1)) t *= by;
                      },
                      {"scale"});
}

/// Throws in a work function: by `how`.
inline pn::event fail(const pn::queue& q, const pn::array& x, const char* how, double cost_ns) {
    return pn::submit(q, {pn::write(x)},
                      [how = std::string(how)](const pn::work& w) {
                          if (how == "error") throw pn::error(PARDO_E_INDEX, "no such row");
                          if (how == "timeout") throw pn::error(PARDO_E_TIMEOUT, "the instrument did not answer");
                          if (how == "own code") throw pn::error(PARDO_E_USER + 5, "five");
                          if (how == "invalid_argument") throw std::invalid_argument("not an argument");
                          if (how == "bad_alloc") throw std::bad_alloc();
                          if (how == "int") throw 3;
                          if (how == "status") return 9;
                          if (how == "half-way") {
                              w.elements<double, 1>(0)[0] = 1;
                              throw std::runtime_error("half-way");
                          }
                          if (how == "dtype") w.elements<float, 1>(0);
                          if (how == "rank") w.elements<double, 2>(0);
                          if (how == "use") w.extent(7, 0);
                          if (how == "range") w.elements<double, 1>(0).begin();
                          if (how == "waits") pn::borrow<pn::queue>(w->queue).wait();
                          if (how == "part")
                              w.parallel_for(1000, 1, [](std::int64_t i) { i == 500 ? throw std::out_of_range("part 500") : void(); });
                          return 0;
                      },
                      {"fail", cost_ns});
}

/// Three-point mean, by parts on the queue's cores.
inline pn::event stencil(const pn::queue& q, const pn::arr<double, 1>& x, const pn::arr<double, 1, pn::writable>& y) {
    return pn::submit(q, {pn::read(x), pn::write(y)}, [](const pn::work& w) {
        const auto in = w.elements<const double, 1>(0);
        const auto out = w.elements<double, 1>(1);
        w.parallel_for(in.size() - 2, 100, [&](std::int64_t i) { out[i + 1] = (in[i] + in[i + 1] + in[i + 2]) / 3; });
    });
}

inline pn::array twice(const pn::queue& q, const pn::array& x) {
    return pn::record(
        q, {x}, [](const pardo_array_info* in) { return pn::result_like(in[0]); },
        [](const pn::work& w) {
            const double* in = w.data<double>(0);
            double* out = w.data<double>(1);
            for (std::int64_t i = 0; i < w.info(0).count; ++i) out[i] = 2 * in[i];
        },
        {"twice"});
}

/// Least and greatest element.
inline std::array<pn::array, 2> ends(const pn::queue& q, const pn::array& x) {
    return pn::record<2>(
        q, {x},
        [](const pardo_array_info* in) {
            if (in[0].count == 0) throw pn::error(PARDO_E_VALUE, "ends: no element");
            return std::array{pn::result(in[0].dtype, {}), pn::result(in[0].dtype, {1})};
        },
        [](const pn::work& w) {
            const auto in = w.elements<const double, 1>(0);
            *w.data<double>(1) = *std::min_element(in.begin(), in.end());
            *w.data<double>(2) = *std::max_element(in.begin(), in.end());
        });
}

/// What load says of a table at an address; the extension's own stays.
inline std::string load_error(std::uintptr_t address) {
    const pardo_api* const own = pn::table;
    std::string text;
    try {
        pn::load(reinterpret_cast<const void*>(address));
    } catch (const pn::error& e) {
        text = e.what();
    }
    pn::table = own;
    return text;
}

/// What a member that a table of so many bytes does not have says.
inline std::string member_error(std::uintptr_t address) {
    const pardo_api* const own = std::exchange(pn::table, reinterpret_cast<const pardo_api*>(address));
    std::string text;
    try {
        pn::member(&pardo_api::call_from_py, "call_from_py");
    } catch (const pn::error& e) {
        text = e.what();
    }
    pn::table = own;
    return text;
}

inline std::string null_handles() {
    pn::array x, y = x;
    pn::queue q;
    pn::event e;
    e.wait();
    x = std::move(y);
    try {
        x.info();
    } catch (const pn::error& refused) {
        return std::string(refused.what()) + std::to_string(e.status());
    }
    return "";
}

inline pn::event& signal() {
    static auto& kept = *new pn::event;
    return kept;
}

/// On OpenCL: twice the values; a text that does not compile; functions and libraries that are not there.
inline pn::event on_opencl(const pn::queue& q, const pn::array& x, const char* how) {
    const std::string_view as = how;
    if (as == "library" || as == "function" || as == "host" || as == "use") {
        return pn::submit(q, {pn::update(x)}, [as = std::string(how)](const pn::work& w) {
            if (as == "library") pn::function<int()>("libnothing.so.1 libnothing.so.2", "f");
            if (as == "function") pn::function<int()>("libnothing.so.1 libOpenCL.so.1", "clNothing");
            if (as == "host") w.elements<float, 1>(0);
            int kernel = 0;  // none: the use is refused before it is looked at
            w.set_array(&kernel, 0, 3);
        });
    }
    const char* const text = as == "text" ? "kernel void twice(" : "kernel void twice(global float* x) { x[get_global_id(0)] *= 2; }";
    const std::int64_t items = x.info().shape[0];
    if (as == "launch") return pn::launch(q, text, "twice", pn::range({items}), {}, x, 9);
    return pn::launch(q, text, as == "name" ? "thrice" : "twice", pn::range({items}), {}, x);
}

struct Shift {
    int by;
    float more;
};
/// y = a * x + by + more, by a program of text.
inline pn::event axpy(const pn::queue& q, const pn::array& x, const pn::array& y, float a, const pn::event& after) {
    const char* const text =
        "struct shift { int by; float more; };"
        "kernel void axpy(global const float* x, global float* y, float a, struct shift s, local float* part, global int* none) {"
        "    size_t i = get_global_id(0); part[get_local_id(0)] = a * x[i]; barrier(CLK_LOCAL_MEM_FENCE);"
        "    y[i] = part[get_local_id(0)] + s.by + s.more + (none ? 1000 : 0); }";
    const pn::program program = pn::program::compile(q.device(), text, "opencl", {"-cl-std=CL1.2"});
    return program.launch(q, "axpy", pn::range({x.info().count}, {8}), {after}, x, y, a, Shift{1, 0.5f}, pn::local_memory{32}, nullptr);
}

/// Counts how often what a work function holds is destroyed.
inline std::atomic<int> destroyed{0};
struct Held {
    Held() = default;
    Held(const Held&) = delete;
    ~Held() { ++destroyed; }
};

/// The functions, in a module of a binding whose words are Arg, Handle and Free: a call without the GIL.
template <class Arg, class Handle, class Free, class Module> void define(Module& m) {
    m.def("scale", scale, Arg("queue"), Arg("a"), Arg("x"));
    m.def("fail", fail);
    m.def("on_opencl", on_opencl);
    m.def("axpy", axpy);
    m.def("stencil", stencil);
    m.def("twice", twice);
    m.def("least", [](const pn::queue& q, const pn::array& x) { return ends(q, x)[0]; });
    m.def("greatest", [](const pn::queue& q, const pn::array& x) { return ends(q, x)[1]; });
    m.def("load_error", load_error);
    m.def("member_error", member_error);
    m.def("null_handles", null_handles);
    m.def("nothing", [](const pn::queue&, const pn::arr<double, 1>&, const pn::arr<double, 1>&, const pn::arr<double, 1>&) {});
    m.def("only_cuda", [](const pn::arr<void, pn::any_ndim, pn::on_cuda>& x) { return x; });
    m.def("columns", [](double, const pn::arr<float, 2, pn::f_contig>& x) { return x.extent(0); });
    // In containers.
    m.def("all_sizes", [](const std::vector<pn::arr<double, 1>>& all) {
        std::int64_t sum = 0;
        for (const auto& x : all) sum += x.size();
        return sum;
    });
    m.def("maybe", [](const std::optional<pn::arr<double, 1>>& x) { return x ? x->size() : -1; });
    m.def("pair", [](const std::pair<pn::arr<double, 1>, pn::device>& x) { return x.second.id() + std::to_string(x.first.size()); });
    m.def("all_devices", [](const std::vector<pn::device>& all) { return all; });
    // One name for two dtypes.
    m.def(
        "dtype", [](const pn::arr<float, 1>&) { return "float"; }, Arg("x").noconvert());
    m.def(
        "dtype", [](const pn::arr<double, 1>&) { return "double"; }, Arg("x").noconvert());
    // There and back.
    m.def("array", [](const pn::array& x) { return x; });
    m.def("queue", [](const pn::queue& x) { return x; });
    m.def("device", [](const pn::device& x) { return x; });
    m.def("event", [](const pn::event& x) { return x; });
    m.def("device_of", [](const pn::queue& x) { return x.device(); });
    m.def("device_ids", [] {
        std::string ids;
        for (const pn::device& d : pn::device::all()) ids += d.id() + " ";
        return ids;
    });
    // Python gets the event that this handle completes; the handle stays here.
    m.def("user_event", [] { return signal() = pn::event::user(); });
    m.def("complete", [](int code) { signal().complete(code, "told so"); });
    m.def("drop", [] { signal() = {}; });
    m.def("complete_other", [](const pn::event& e) { e.complete(); });
    m.def("copied", [](const pn::queue& q, const pn::array& from, const pn::event& after) {
        const pardo_array_info facts = from.info();
        pn::array to = pn::array::empty(q, facts.dtype, {facts.shape, facts.shape + facts.ndim});
        to.copy_from(q, from, {after});
        return q.barrier({to.force()}), to;
    });
    m.def("contiguous", [](const pn::array& x) { return x.contiguous(PARDO_FLOAT32); });
    m.def("through_dlpack", [](const pn::array& x) { return pn::array::from_dlpack(x.to_dlpack()); });
    m.def("through_stream", [](const pn::queue& q) { return pn::queue::on_stream(q.device(), q.stream()); });
    m.def("through_native", [](const pn::event& e, const pn::device& d) { return pn::event::of_native(d, e.native(d)); });
    m.def("has_context", [](const pn::device& d) { return d.native().context != nullptr; });
    m.def("wait", [](const pn::event& e, std::int64_t ns) { return e.wait(ns); });
    m.def(
        "wait_free",
        [](const pn::queue& q, pn::array x, pn::event e) {
            e.wait();
            q.wait();
            x = {};
        },
        Free());
    m.def(
        "throw_free", [](const pn::queue&) { throw pn::error(PARDO_E_INDEX, "without the GIL"); }, Free());
    m.def("fails_now", [](int code) { throw pn::error(code, "as asked"); });
    m.def("empty", [](const pn::queue& q) { return pn::array::empty(q, PARDO_FLOAT32, {2, 3}); });
    m.def("holds", [](const pn::queue& q, bool refused) {
        auto held = std::make_shared<Held>();
        return pn::submit(q, {{nullptr, refused ? 77u : 0u}}, [held](const pn::work&) {});
    });
    m.def("holds_once",
          [](const pn::queue& q) { return pn::submit(q, nullptr, 0, [held = std::make_unique<Held>()](const pn::work&) {}); });
    m.def("destroyed", [] { return destroyed.load(); });
    m.def("then", [](const pn::event& e, Handle f) {
        pn::then(e, [f = pn::keep_object(f.ptr())](pardo_status status) {
            const PyGILState_STATE state = PyGILState_Ensure();
            PyObject* const done = PyObject_CallFunction(f.get(), "i", status);
            Py_XDECREF(done);
            PyGILState_Release(state);
        });
    });
    // Memory of a bytearray, which lives as long as the array does.
    m.def("wrap", [](const pn::queue& q, Handle owner, std::uintptr_t address, std::int64_t n) {
        Py_INCREF(owner.ptr());
        return pn::array::wrap(q, reinterpret_cast<void*>(address), PARDO_FLOAT64, {n}, owner.ptr(), pn::release_object);
    });
}

}  // namespace checks

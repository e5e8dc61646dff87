// python/bind/array/ops.cpp: pardo/ops.h for Python, but for the elementwise functions. The package adds keywords and documentation.
#include <algorithm>
#include <type_traits>

#include <pardo/binding/library.h>
#include <pardo/binding/membership.h>
#include <pardo/binding/rows.h>
#include <pardo/binding/runs.h>
#include <pardo/fft.h>
#include <pardo/ops.h>

#include "bind.h"
#include "broadcast.h"

namespace bind {
namespace {

using pardo::Array;
using pardo::DType;
using pardo::Scalar;
using Axes = std::optional<Ints>;
using MaybeArray = std::optional<Array>;

const Array* pointer(const MaybeArray& a) { return a ? &*a : nullptr; }

template <class A> using Argument = std::conditional_t<std::is_same_v<A, const Array&>, const ArrayArgument&, A>;

/// The same function without the GIL: for what computes or waits before it returns.
template <class R, class... A> auto unlocked(R (*f)(A...)) {
    return [f](Argument<A>... a) -> R {
        const Unlocked u;
        return f(a...);
    };
}

/// As unlocked, for results whose shape depends on values: the operand is waited for in a way that Ctrl-C ends.
template <class F> auto after(const ArrayArgument& x, F f) {
    settle(x);
    const Unlocked u;
    return f();
}

void bind_creation(nb::module_& m) {
    m.def(
        "_full",
        [](const Ints& shape, const Scalar& value, std::optional<DType> dtype, QueueArgument q, const char* op_name) {
            return pardo::full(shape, value, dtype, q, op_name);
        },
        nb::arg("shape"), nb::arg("value"), nb::arg("dtype").none(), nb::arg("queue"), nb::arg("op_name") = "full");
    m.def(
        "_empty", [](const Ints& shape, std::optional<DType> dtype, QueueArgument q) { return pardo::empty(shape, dtype, q); },
        nb::arg("shape"), nb::arg("dtype").none(), nb::arg("queue"));
    m.def(
        "_arange",
        [](const Scalar& start, const Scalar& stop, const Scalar& step, std::optional<DType> dtype, QueueArgument q) {
            return pardo::arange(start, stop, step, dtype, q);
        },
        nb::arg("start"), nb::arg("stop"), nb::arg("step"), nb::arg("dtype").none(), nb::arg("queue"));
    m.def(
        "_linspace",
        [](const Scalar& start, const Scalar& stop, std::int64_t num, bool endpoint, std::optional<DType> dtype, QueueArgument q) {
            return pardo::linspace(start, stop, num, endpoint, dtype, q);
        },
        nb::arg("start"), nb::arg("stop"), nb::arg("num"), nb::arg("endpoint"), nb::arg("dtype").none(), nb::arg("queue"));
    m.def(
        "_eye",
        [](std::int64_t rows, std::int64_t columns, std::int64_t k, std::optional<DType> dtype, QueueArgument q) {
            return pardo::eye(rows, columns, k, dtype, q);
        },
        nb::arg("rows"), nb::arg("columns"), nb::arg("k"), nb::arg("dtype").none(), nb::arg("queue"));
    m.def("_bitcast", &pardo::bitcast, nb::arg("x"), nb::arg("dtype"));
    m.def("_tril", &pardo::tril, nb::arg("x"), nb::arg("k"));
    m.def("_triu", &pardo::triu, nb::arg("x"), nb::arg("k"));
    m.def(
        "_iota", [](const Ints& shape, int axis, QueueArgument q) { return pardo::iota(shape, axis, q); }, nb::arg("shape"),
        nb::arg("axis"), nb::arg("queue"));
}

/// `initial` of a reduction. Integers of any size are numbers for a result that is a float.
std::optional<Scalar> initial_from(pardo::Reduction op, nb::handle o, const Array& x, std::optional<DType> dtype) {
    constexpr const char* names[] = {
#define REDUCTION(id, name, keywords, method, fold, element, dtype, identity, doc, gives) #name,
#include <pardo/binding/reductions.def>
    };
    if (o.is_none()) return {};
    if (is_array(o.ptr()) && array_of(o.ptr()).ndim() == 0) return settle(array_of(o.ptr())).item();
    const bool in_floats = PyLong_Check(o.ptr()) && pardo::is_inexact(dtype.value_or(x.dtype()));
    const nb::object number = in_floats ? nb::steal(PyNumber_Float(o.ptr())) : nb::borrow(o);
    if (!number.is_valid()) throw nb::python_error();
    const auto scalar = scalar_from(number.ptr());
    if (!scalar) {
        throw pardo::Error(pardo::ErrorCode::Type,
                           std::string(names[static_cast<int>(op)]) + ": initial must be a number, not " + class_name(o));
    }
    return scalar;
}

void bind_reductions(nb::module_& m) {
    for (const pardo::ReductionInfo& row : pardo::reduction_table()) {
        std::string name = std::string("_") + row.name;  // _SUM
        std::ranges::transform(name, name.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
        if (row.kind == std::string_view("REDUCTION")) m.attr(name.c_str()) = row.id;
    }
    m.def(
        "_reduce",
        [](int op, const Array& x, Axes axes, bool keepdims, std::optional<DType> dtype, const MaybeArray& where, nb::handle initial) {
            const auto what = static_cast<pardo::Reduction>(op);
            return pardo::reduce(what, x, axes, keepdims, dtype, pointer(where), initial_from(what, initial, x, dtype));
        },
        nb::arg("op"), nb::arg("x"), nb::arg("axes").none(), nb::arg("keepdims"), nb::arg("dtype").none() = nb::none(),
        nb::arg("where").none() = nb::none(), nb::arg("initial").none() = nb::none());
    m.def(
        "_mean",
        [](const Array& x, Axes axes, bool keepdims, std::optional<DType> dtype, const MaybeArray& where) {
            return pardo::mean(x, axes, keepdims, dtype, pointer(where));
        },
        nb::arg("x"), nb::arg("axes").none(), nb::arg("keepdims"), nb::arg("dtype").none(), nb::arg("where").none());
    m.def(
        "_var",
        [](const Array& x, Axes axes, double correction, bool keepdims, std::optional<DType> dtype, const MaybeArray& where) {
            return pardo::var(x, axes, correction, keepdims, dtype, pointer(where));
        },
        nb::arg("x"), nb::arg("axes").none(), nb::arg("correction"), nb::arg("keepdims"), nb::arg("dtype").none(), nb::arg("where").none());
    m.def(
        "_std",
        [](const Array& x, Axes axes, double correction, bool keepdims, std::optional<DType> dtype, const MaybeArray& where) {
            return pardo::stddev(x, axes, correction, keepdims, dtype, pointer(where));
        },
        nb::arg("x"), nb::arg("axes").none(), nb::arg("correction"), nb::arg("keepdims"), nb::arg("dtype").none(), nb::arg("where").none());
#define POSITION(name, method, fold, doc, gives) m.def("_" #name, &pardo::name, nb::arg("x"), nb::arg("axis").none(), nb::arg("keepdims"));
#include <pardo/binding/reductions.def>
    m.def(
        "_cumulative",
        [](int op, const ArrayArgument& x, std::optional<std::int64_t> axis, std::optional<DType> dtype, bool include_initial) {
            const Unlocked u;
            return pardo::cumulative(static_cast<pardo::Reduction>(op), x, axis, dtype, include_initial);
        },
        nb::arg("op"), nb::arg("x"), nb::arg("axis").none(), nb::arg("dtype").none(), nb::arg("include_initial"));
}

void bind_manipulation(nb::module_& m) {
    m.def(
        "_reshape", [](const Array& x, const Ints& shape, std::optional<bool> copy) { return pardo::reshape(x, shape, copy); },
        nb::arg("x"), nb::arg("shape"), nb::arg("copy").none() = nb::none());
    m.def(
        "_permute_dims", [](const Array& x, const Ints& axes) { return pardo::permute_dims(x, axes); }, nb::arg("x"), nb::arg("axes"));
    m.def(
        "_broadcast_to", [](const Array& x, const Ints& shape) { return pardo::broadcast_to(x, shape); }, nb::arg("x"), nb::arg("shape"));
    m.def(
        "_expand_dims", [](const Array& x, const Ints& axes) { return pardo::expand_dims(x, axes); }, nb::arg("x"), nb::arg("axes"));
    m.def(
        "_squeeze", [](const Array& x, const Axes& axes) { return pardo::squeeze(x, axes); }, nb::arg("x"), nb::arg("axes").none());
    m.def(
        "_flip", [](const Array& x, const Axes& axes) { return pardo::flip(x, axes); }, nb::arg("x"), nb::arg("axes").none());
    m.def(
        "_moveaxis", [](const Array& x, const Ints& from, const Ints& to) { return pardo::moveaxis(x, from, to); }, nb::arg("x"),
        nb::arg("source"), nb::arg("destination"));
    m.def(
        "_part", [](const Array& x, int which) { return pardo::part_view(x, which); }, nb::arg("x"), nb::arg("which"),
        "The real (0) or imaginary (1) parts of complex elements, as a view.");
    m.def("_diagonal", &pardo::diagonal, nb::arg("x"), nb::arg("offset"), nb::arg("axis1"), nb::arg("axis2"));
    m.def(
        "_sliding_windows", [](const Array& x, const Ints& window, const Ints& axes) { return pardo::sliding_windows(x, window, axes); },
        nb::arg("x"), nb::arg("window"), nb::arg("axes"));
    m.def(
        "_as_strided", [](const Array& x, const Ints& shape, const Ints& strides) { return pardo::as_strided(x, shape, strides); },
        nb::arg("x"), nb::arg("shape"), nb::arg("strides"));
    m.def(
        "_broadcast_arrays", [](const std::vector<Array>& arrays, const char* op_name) { return broadcast_for(op_name, arrays); },
        nb::arg("arrays"), nb::arg("op_name"));
    m.def(
        "_concat", [](const std::vector<Array>& arrays, std::optional<std::int64_t> axis) { return pardo::concat(arrays, axis); },
        nb::arg("arrays"), nb::arg("axis").none());
    m.def(
        "_stack", [](const std::vector<Array>& arrays, std::int64_t axis) { return pardo::stack(arrays, axis); }, nb::arg("arrays"),
        nb::arg("axis"));
    m.def(
        "_roll", [](const Array& x, const Ints& shift, Axes axes) { return pardo::roll(x, shift, axes); }, nb::arg("x"), nb::arg("shift"),
        nb::arg("axes").none());
    m.def(
        "_repeat", [](const Array& x, std::int64_t count, std::optional<std::int64_t> axis) { return pardo::repeat(x, count, axis); },
        nb::arg("x"), nb::arg("count"), nb::arg("axis").none());
    m.def(
        "_repeat_each",
        [](const ArrayArgument& x, const ArrayArgument& counts, std::optional<std::int64_t> axis) {
            return after(counts, [&] { return pardo::repeat(x, counts, axis); });
        },
        nb::arg("x"), nb::arg("counts"), nb::arg("axis").none());
    m.def(
        "_tile", [](const Array& x, const Ints& repetitions) { return pardo::tile(x, repetitions); }, nb::arg("x"), nb::arg("repetitions"));
    m.def(
        "_diff",
        [](const Array& x, std::int64_t n, std::int64_t axis, const MaybeArray& prepend, const MaybeArray& append) {
            return pardo::diff(x, n, axis, pointer(prepend), pointer(append));
        },
        nb::arg("x"), nb::arg("n"), nb::arg("axis"), nb::arg("prepend").none(), nb::arg("append").none());
}

/// What the user called, for as long as the work may fail.
const char* name_of_transform(std::string_view name) {
    static constexpr const char* names[] = {"fft",   "ifft",   "rfft", "irfft", "hfft",  "ihfft",  "fft2",     "ifft2",
                                            "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn", "dct",      "idct",
                                            "dst",   "idst",   "dctn", "idctn", "dstn",  "idstn",  "convolve", "correlate"};
    const auto* found = std::ranges::find(names, name);
    return found == std::end(names) ? "fft" : *found;
}

void bind_library(nb::module_& m) {
    m.def("_sort", unlocked(&pardo::sort), nb::arg("x"), nb::arg("axis"), nb::arg("descending"), nb::arg("stable"));
    m.def("_argsort", unlocked(&pardo::argsort), nb::arg("x"), nb::arg("axis"), nb::arg("descending"), nb::arg("stable"));
    const auto by_positions = [&m](const char* name, Array (*function)(const Array&, pardo::Extents, std::int64_t)) {
        m.def(
            name,
            [function](const ArrayArgument& x, const Ints& kth, std::int64_t axis) {
                const Unlocked u;
                return function(x, kth, axis);
            },
            nb::arg("x"), nb::arg("kth"), nb::arg("axis"));
    };
    by_positions("_partition", &pardo::partition);
    by_positions("_ranked", &pardo::ranked);
    by_positions("_argpartition", &pardo::argpartition);
    m.def("_top_k", unlocked(&pardo::top_k), nb::arg("x"), nb::arg("k"), nb::arg("axis"), nb::arg("largest"));
    m.def(
        "_searchsorted",
        [](const ArrayArgument& sorted, const ArrayArgument& values, bool right, const MaybeArray& sorter) {
            const Unlocked u;
            return pardo::searchsorted(sorted, values, right, pointer(sorter));
        },
        nb::arg("sorted"), nb::arg("values"), nb::arg("right"), nb::arg("sorter").none());
    m.def(
        "_reached_in_place", [](const Array& x, QueueArgument q) { return pardo::reached_in_place(x, q); }, nb::arg("x"), nb::arg("queue"));
    m.def(
        "_cut_runs",
        [](const std::vector<Array>& runs, const Ints& targets, bool descending, QueueArgument q) {
            const Unlocked u;
            return pardo::cut_runs(runs, targets, descending, q);
        },
        nb::arg("runs"), nb::arg("targets"), nb::arg("descending"), nb::arg("queue"));
    m.def(
        "_merge_runs",
        [](const Array& a, const Array& b, const MaybeArray& a_places, const MaybeArray& b_places, bool descending,
           QueueArgument q) -> std::optional<std::pair<Array, MaybeArray>> {
            const Unlocked u;
            const auto made = pardo::merge_runs(a, b, pointer(a_places), pointer(b_places), descending, q);
            if (!made) return {};
            return std::pair(made->first, a_places ? MaybeArray(made->second) : MaybeArray());
        },
        nb::arg("a"), nb::arg("b"), nb::arg("a_places").none(), nb::arg("b_places").none(), nb::arg("descending"), nb::arg("queue"));
    m.def("_is_member", unlocked(&pardo::is_member), nb::arg("x"), nb::arg("elements"), nb::arg("low"), nb::arg("count"),
          nb::arg("invert"));
    m.def(
        "_nonzero", [](const ArrayArgument& x) { return after(x, [&] { return pardo::nonzero(x); }); }, nb::arg("x"));
    m.def("_take", unlocked(&pardo::take), nb::arg("x"), nb::arg("indices"), nb::arg("axis").none());
    m.def("_take_along_axis", unlocked(&pardo::take_along_axis), nb::arg("x"), nb::arg("indices"), nb::arg("axis"));
    m.def(
        "_matmul",
        [](const ArrayArgument& a, const ArrayArgument& b) {
            find_openblas();
            const Unlocked u;
            return pardo::matmul(a, b);
        },
        nb::arg("a"), nb::arg("b"));
    m.def(
        "_vecdot",
        [](const ArrayArgument& a, const ArrayArgument& b, std::int64_t axis) {
            find_openblas();
            const Unlocked u;
            return pardo::vecdot(a, b, axis);
        },
        nb::arg("a"), nb::arg("b"), nb::arg("axis"));
    m.def(
        "_tensordot",
        [](const ArrayArgument& a, const ArrayArgument& b, const Ints& axes_a, const Ints& axes_b) {
            find_openblas();
            const Unlocked u;
            return pardo::tensordot(a, b, axes_a, axes_b);
        },
        nb::arg("a"), nb::arg("b"), nb::arg("axes_a"), nb::arg("axes_b"));
    m.def(
        "_fft",
        [](const ArrayArgument& x, int transform, bool forward, double factor, int type, bool orthogonal, const Ints& lengths,
           const Ints& axes, std::string_view op_name) {
            const Unlocked u;
            return pardo::fft::transform(x, {static_cast<pardo::Transform>(transform), forward, factor, type, orthogonal}, lengths, axes,
                                         name_of_transform(op_name));
        },
        nb::arg("x"), nb::arg("transform"), nb::arg("forward"), nb::arg("factor"), nb::arg("type"), nb::arg("orthogonal"),
        nb::arg("lengths"), nb::arg("axes"), nb::arg("op_name"));
    m.def(
        "_has_fft", [](QueueArgument q) { return pardo::fft::on_device(q); }, nb::arg("queue"));
    m.def(
        "_unique",
        [](const ArrayArgument& x) {
            pardo::Unique u = after(x, [&] { return pardo::unique(x); });
            return nb::make_tuple(u.values, u.indices, u.inverse, u.counts);
        },
        nb::arg("x"), nb::sig("def _unique(x: Array) -> tuple[Array, Array, Array, Array]"));
    m.def(
        "_unique_values",
        [](const ArrayArgument& x, bool equal_nan) { return after(x, [&] { return pardo::unique(x, equal_nan, true).values; }); },
        nb::arg("x"), nb::arg("equal_nan"));
    m.def(
        "_set_openblas_path", [](std::string path) { pardo::set_openblas_path(path); }, nb::arg("path"));
    m.attr("_openblas_thread_timeout") = pardo::openblas_thread_timeout;
    m.def("_shorten_openblas_timeouts", &pardo::shorten_openblas_timeouts);
    m.def("_use_openblas_of_numpy", &pardo::use_openblas_of_numpy);
}

/// Rows of ops.def, for documentation and tests: name, arity, NumPy's name, dtypes, result, one line, identity. And those of
/// reductions.def, of which the package makes functions: kind, name, id, keywords, whether it is a method, fold, one line, what it gives.
void bind_table(nb::module_& m) {
    m.def(
        "_op_table",
        [] {
            nb::list rows;
            for (const pardo::OpInfo& row : pardo::op_table())
                rows.append(nb::make_tuple(row.name, row.arity, row.numpy, row.dtypes, row.result, row.doc, row.identity));
            return rows;
        },
        nb::sig("def _op_table() -> list[tuple[str, int, str, str, str, str, str]]"));
    m.def(
        "_reduction_table",
        [] {
            nb::list rows;
            for (const pardo::ReductionInfo& row : pardo::reduction_table())
                rows.append(nb::make_tuple(row.kind, row.name, row.id, row.keywords, row.method, row.fold, row.doc, row.gives));
            return rows;
        },
        nb::sig("def _reduction_table() -> list[tuple[str, str, int, str, bool, str, str, str]]"));
    m.def("_promote", &pardo::promote, nb::arg("a"), nb::arg("b"));
    m.def(
        "_promote_weak", [](pardo::DType t, const pardo::Scalar& s) { return pardo::promote_weak(t, s, "result_type"); }, nb::arg("dtype"),
        nb::arg("scalar"));
    m.def("_can_cast_safe", &pardo::can_cast_safe, nb::arg("source"), nb::arg("target"));
    m.def("_can_cast_same_kind", &pardo::can_cast_same_kind, nb::arg("source"), nb::arg("target"));
}

}  // namespace

void find_openblas() {
    static bool done = false;
    if (done) return;
    nb::module_::import_("pardo._array.products").attr("_load_openblas")();
    done = true;
}

void bind_ops(nb::module_& m) {
    bind_creation(m);
    bind_reductions(m);
    bind_manipulation(m);
    bind_library(m);
    bind_table(m);
}

}  // namespace bind

// python/bind/array/linalg.cpp: pardo/linalg.h for Python. The package adds keywords and documentation.
#include <pardo/linalg.h>

#include <set>

#include "bind.h"

namespace bind {
namespace {

using pardo::Array;

/// The name of a function, for as long as the process lives: errors that come late name it.
const char* lasting(const char* op_name) {
    static auto& names = *new std::set<std::string>;  // under the GIL
    return names.emplace(op_name).first->c_str();
}

/// f(name) without the GIL, with a name that lasts.
template <class F> auto unlocked(const char* op_name, F&& f) {
    const char* name = lasting(op_name);
    const Unlocked u;
    return f(name);
}

/// A function of one array: `f(a, arguments…, op_name)`.
template <class... A, class F> auto of_one(F f) {
    return [f](const ArrayArgument& a, A... arguments, const char* op_name) {
        find_openblas();
        return unlocked(op_name, [&](const char* name) { return f(a, arguments..., name); });
    };
}

/// Systems by scipy.linalg's names: functions of arrays and numbers that end in whether elements are checked, and the name.
void bind_systems(nb::module_& m) {
    namespace linalg = pardo::linalg;
    m.def(
        "_lu_factor",
        [](const ArrayArgument& a, bool finite, const char* op_name) {
            find_openblas();
            const auto made = unlocked(op_name, [&](const char* name) { return linalg::lu_factor(a, finite, name); });
            return nb::make_tuple(made.lu, made.pivots, made.places);
        },
        nb::arg("a"), nb::arg("finite"), nb::arg("op_name"),
        nb::sig("def _lu_factor(a: Array, finite: bool, op_name: str) -> tuple[Array, Array, Array]"));
    m.def(
        "_lu_solve",
        [](const ArrayArgument& lu, const ArrayArgument& pivots, const ArrayArgument& b, int taken, bool finite, const char* op_name) {
            find_openblas();
            return unlocked(op_name, [&](const char* name) {
                return linalg::lu_solve(lu, pivots, b, static_cast<linalg::Taken>(taken), finite, name);
            });
        },
        nb::arg("lu"), nb::arg("pivots"), nb::arg("b"), nb::arg("taken"), nb::arg("finite"), nb::arg("op_name"));
    m.def(
        "_solve_triangular",
        [](const ArrayArgument& a, const ArrayArgument& b, bool upper, int taken, bool unit_diagonal, bool finite, const char* op_name) {
            find_openblas();
            return unlocked(op_name, [&](const char* name) {
                return linalg::solve_triangular(a, b, upper, static_cast<linalg::Taken>(taken), unit_diagonal, finite, name);
            });
        },
        nb::arg("a"), nb::arg("b"), nb::arg("upper"), nb::arg("taken"), nb::arg("unit_diagonal"), nb::arg("finite"), nb::arg("op_name"));
    m.def(
        "_solve_banded",
        [](std::int64_t below, std::int64_t above, const ArrayArgument& ab, const ArrayArgument& b, bool finite, const char* op_name) {
            find_openblas();
            return unlocked(op_name, [&](const char* name) { return linalg::solve_banded(below, above, ab, b, finite, name); });
        },
        nb::arg("below"), nb::arg("above"), nb::arg("ab"), nb::arg("b"), nb::arg("finite"), nb::arg("op_name"));
    m.def(
        "_solveh_banded",
        [](const ArrayArgument& ab, const ArrayArgument& b, bool upper, bool finite, const char* op_name) {
            find_openblas();
            return unlocked(op_name, [&](const char* name) { return linalg::solveh_banded(ab, b, upper, finite, name); });
        },
        nb::arg("ab"), nb::arg("b"), nb::arg("upper"), nb::arg("finite"), nb::arg("op_name"));
    m.def(
        "_solve_toeplitz",
        [](const ArrayArgument& elements, const ArrayArgument& b, bool finite, const char* op_name) {
            find_openblas();
            return unlocked(op_name, [&](const char* name) { return linalg::solve_toeplitz(elements, b, finite, name); });
        },
        nb::arg("elements"), nb::arg("b"), nb::arg("finite"), nb::arg("op_name"));
    m.def(
        "_eigh_subset",
        [](const ArrayArgument& a, bool upper, int first, int last, bool vectors, bool finite, const char* op_name) {
            find_openblas();
            const auto made =
                unlocked(op_name, [&](const char* name) { return linalg::eigh_subset(a, upper, first, last, vectors, finite, name); });
            return nb::make_tuple(made.first, vectors ? nb::cast(made.second) : nb::none());
        },
        nb::arg("a"), nb::arg("upper"), nb::arg("first"), nb::arg("last"), nb::arg("vectors"), nb::arg("finite"), nb::arg("op_name"),
        nb::sig("def _eigh_subset(a: Array, upper: bool, first: int, last: int, vectors: bool, finite: bool, op_name: str) -> "
                "tuple[Array, Array | None]"));
}

}  // namespace

void bind_linalg(nb::module_& m) {
    namespace linalg = pardo::linalg;
    m.def(
        "_solve",
        [](const ArrayArgument& a, const ArrayArgument& b, const char* op_name) {
            find_openblas();
            return unlocked(op_name, [&](const char* name) { return linalg::solve(a, b, name); });
        },
        nb::arg("a"), nb::arg("b"), nb::arg("op_name"));
    m.def("_inv", of_one<bool>(&linalg::inv), nb::arg("a"), nb::arg("nan_where_singular"), nb::arg("op_name"));
    m.def("_det", of_one<>(&linalg::det), nb::arg("a"), nb::arg("op_name"));
    m.def("_slogdet", of_one<>(&linalg::slogdet), nb::arg("a"), nb::arg("op_name"));
    m.def("_cholesky", of_one<bool, bool>(&linalg::cholesky), nb::arg("a"), nb::arg("upper"), nb::arg("finite"), nb::arg("op_name"));
    m.def(
        "_qr",
        [](const ArrayArgument& a, int mode, const char* op_name) {
            find_openblas();
            const auto made = unlocked(op_name, [&](const char* name) { return linalg::qr(a, static_cast<linalg::QrMode>(mode), name); });
            return nb::make_tuple(static_cast<linalg::QrMode>(mode) == linalg::QrMode::R ? nb::none() : nb::cast(made.first), made.second);
        },
        nb::arg("a"), nb::arg("mode"), nb::arg("op_name"), nb::sig("def _qr(a: Array, mode: int, op_name: str) -> tuple[Array, Array]"));
    m.def(
        "_svd",
        [](const ArrayArgument& a, bool full_matrices, const char* op_name) {
            find_openblas();
            const auto made = unlocked(op_name, [&](const char* name) { return linalg::svd(a, full_matrices, name); });
            return nb::make_tuple(made.u, made.s, made.vh);
        },
        nb::arg("a"), nb::arg("full_matrices"), nb::arg("op_name"),
        nb::sig("def _svd(a: Array, full_matrices: bool, op_name: str) -> tuple[Array, Array, Array]"));
    m.def(
        "_has_device_code", [](const char* routine, const Array& a) { return linalg::has_device_code(routine, a); }, nb::arg("routine"),
        nb::arg("a"));
    m.def("_svdvals", of_one<>(&linalg::svdvals), nb::arg("a"), nb::arg("op_name"));
    m.def("_eigh", of_one<bool>(&linalg::eigh), nb::arg("a"), nb::arg("upper"), nb::arg("op_name"));
    m.def("_eigvalsh", of_one<bool>(&linalg::eigvalsh), nb::arg("a"), nb::arg("upper"), nb::arg("op_name"));
    m.def("_eig", of_one<>(&linalg::eig), nb::arg("a"), nb::arg("op_name"));
    m.def("_eigvals", of_one<>(&linalg::eigvals), nb::arg("a"), nb::arg("op_name"));
    m.def(
        "_lstsq",
        [](const ArrayArgument& a, const ArrayArgument& b, std::optional<double> rcond, const char* op_name) {
            find_openblas();
            const auto made = unlocked(op_name, [&](const char* name) { return linalg::lstsq(a, b, rcond, name); });
            return nb::make_tuple(made.x, made.residuals, made.rank, made.s);
        },
        nb::arg("a"), nb::arg("b"), nb::arg("rcond").none(), nb::arg("op_name"),
        nb::sig("def _lstsq(a: Array, b: Array, rcond: float | None, op_name: str) -> tuple[Array, Array, Array, Array]"));
    bind_systems(m);
}

}  // namespace bind

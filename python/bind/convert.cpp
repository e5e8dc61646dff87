// python/bind/convert.cpp: Python numbers, NumPy scalars and dtypes to the library's and back.
#include <cmath>

#include <pardo/binding/rows.h>

#include "bind.h"

namespace bind {
namespace {

/// NumPy's objects, fetched once; the module keeps them alive for ever. Those of bfloat16 are null here: ml_dtypes has them.
struct NumPy {
    nb::object module, array, generic, dtype;
    nb::object dtypes[pardo::dtype_count];  // numpy.dtype("float64")
    nb::object types[pardo::dtype_count];   // numpy.float64
    nb::object names[pardo::dtype_count];   // "float64", the object that every program's own "float64" is

    NumPy() {
        module = nb::module_::import_("numpy");
        array = module.attr("ndarray");
        generic = module.attr("generic");
        dtype = module.attr("dtype");
        for (int t = 0; t < pardo::dtype_count; ++t) {
            const auto name = pardo::dtype_name(static_cast<pardo::DType>(t));
            names[t] = nb::steal(PyUnicode_InternFromString(name.data()));
            if (static_cast<pardo::DType>(t) == pardo::DType::BFloat16) continue;
            dtypes[t] = dtype(nb::str(name.data(), name.size()));
            types[t] = dtypes[t].attr("type");
        }
    }
};

const NumPy& np() {
    return made_once([] { return NumPy(); });
}

/// The type and the dtype of bfloat16. The optional package ml_dtypes defines them; it is imported at their first use.
struct BFloat16Objects {
    nb::object type, dtype;  // ml_dtypes.bfloat16, numpy.dtype(ml_dtypes.bfloat16)

    BFloat16Objects() {
        dtype = nb::module_::import_("pardo._base.promotion").attr("bfloat16")();  // raises ImportError that says what to install
        type = dtype.attr("type");
    }
};
const BFloat16Objects& bfloat16_objects() {
    return made_once([] { return BFloat16Objects(); });
}

/// The same if some module has imported ml_dtypes already, else null: without that import no object of bfloat16 exists.
const BFloat16Objects* bfloat16_if_imported() {
    static std::atomic<bool> imported{false};
    if (!imported.load(std::memory_order_relaxed)) {
        const nb::object modules = nb::module_::import_("sys").attr("modules");
        const nb::object package = nb::steal(PyObject_CallMethod(modules.ptr(), "get", "s", "ml_dtypes"));
        if (!package) throw nb::python_error();
        if (package.is_none() || !nb::hasattr(package, "bfloat16")) return nullptr;
        (void)bfloat16_objects();
        imported.store(true, std::memory_order_relaxed);
    }
    return &bfloat16_objects();
}

/// Whether it is the type or the dtype of bfloat16. Types of other objects, which calls with tuples and lists ask for, are told at once.
bool is_bfloat16(PyObject* o) {
    const bool may_be = PyType_Check(o)
                            ? PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(o), reinterpret_cast<PyTypeObject*>(np().generic.ptr())) != 0
                            : PyObject_IsInstance(o, np().dtype.ptr()) == 1;
    const BFloat16Objects* const known = may_be ? bfloat16_if_imported() : nullptr;
    return known && (known->type.is(o) || known->dtype.is(o) || (!PyType_Check(o) && known->dtype.equal(nb::handle(o))));
}

[[noreturn]] void unsupported_dtype(PyObject* o) {
    std::string names;
    for (int t = 0; t < pardo::dtype_count; ++t) names.append(t ? ", " : "").append(pardo::dtype_name(static_cast<pardo::DType>(t)));
    throw pardo::Error(pardo::ErrorCode::Type, "dtype '" + str_of(o) + "' is not supported; supported are " + names);
}

/// By kind and size, for dtypes that are equal to one of NumPy's canonical ones without being it (long long, structured aliases).
std::optional<pardo::DType> canonical(nb::handle dtype) {
    if (!nb::cast<bool>(dtype.attr("isnative"))) return {};
    for (int t = 0; t < pardo::dtype_count; ++t) {
        if (np().dtypes[t].is_valid() && dtype.equal(np().dtypes[t])) return static_cast<pardo::DType>(t);
    }
    return is_bfloat16(dtype.ptr()) ? std::optional(pardo::DType::BFloat16) : std::nullopt;
}

pardo::DType scalar_dtype(PyObject* o) {
    const nb::object dtype = nb::handle(o).attr("dtype");
    for (int t = 0; t < pardo::dtype_count; ++t) {
        if (dtype.is(np().dtypes[t])) return static_cast<pardo::DType>(t);
    }
    if (const auto t = canonical(dtype)) return *t;
    unsupported_dtype(dtype.ptr());
}

pardo::Scalar weak_int(PyObject* o, bool& fits) {
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    fits = true;
    if (overflow == 0) {
        if (v == -1 && PyErr_Occurred()) throw nb::python_error();
        return pardo::Scalar(static_cast<std::int64_t>(v));
    }
    if (overflow > 0) {
        const unsigned long long u = PyLong_AsUnsignedLongLong(o);
        if (!(u == static_cast<unsigned long long>(-1) && PyErr_Occurred())) return pardo::Scalar(static_cast<std::uint64_t>(u));
        PyErr_Clear();
    }
    fits = false;
    return {};
}

double as_double(PyObject* o) {
    const double v = PyFloat_AsDouble(o);
    if (v == -1.0 && PyErr_Occurred()) throw nb::python_error();
    return v;
}

/// NumPy scalars are strong: they keep their dtype.
pardo::Scalar strong(PyObject* o) {
    const pardo::DType dtype = scalar_dtype(o);
    pardo::Scalar s;
    s.dtype = dtype;
    s.weak = false;
    switch (pardo::kind_of(dtype)) {
        case pardo::DKind::Bool: s.b = PyObject_IsTrue(o) == 1; break;
        case pardo::DKind::Signed: s.i = nb::cast<std::int64_t>(nb::int_(nb::handle(o))); break;
        case pardo::DKind::Unsigned: s.u = nb::cast<std::uint64_t>(nb::int_(nb::handle(o))); break;
        case pardo::DKind::Float: s.f = as_double(o); break;
        case pardo::DKind::Complex:
            s.c.re = PyComplex_RealAsDouble(nb::handle(o).attr("item")().ptr());
            s.c.im = PyComplex_ImagAsDouble(nb::handle(o).attr("item")().ptr());
            break;
    }
    return s;
}

/// Python's own numbers, exact types first: they are what loops are made of.
bool weak_scalar(PyObject* o, pardo::Scalar& out, bool& fits) {
    PyTypeObject* const type = Py_TYPE(o);
    fits = true;
    if (type == &PyFloat_Type) {
        out = pardo::Scalar(PyFloat_AsDouble(o));
    } else if (type == &PyLong_Type) {
        out = weak_int(o, fits);
    } else if (type == &PyBool_Type) {
        out = pardo::Scalar(o == Py_True);
        out.weak = true;
    } else if (type == &PyComplex_Type) {
        out = pardo::Scalar(std::complex<double>(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)));
    } else {
        return false;
    }
    return true;
}

/// Subclasses of Python's numbers that are not NumPy's: enums and the like.
bool weak_subclass(PyObject* o, pardo::Scalar& out, bool& fits) {
    fits = true;
    if (PyLong_Check(o)) {
        out = weak_int(o, fits);
    } else if (PyFloat_Check(o)) {
        out = pardo::Scalar(as_double(o));
    } else if (PyComplex_Check(o)) {
        out = pardo::Scalar(std::complex<double>(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)));
    } else {
        return false;
    }
    return true;
}

/// For rows that compute in floats whatever their operands are, or ask only whether they are zero: the float that goes with integers of a
/// dtype.
std::optional<pardo::DType> float_of(Row row, const pardo::Array* other) {
    const std::string_view dtypes = pardo::op_table()[static_cast<std::size_t>(row)].dtypes;
    if (dtypes == "QUOTIENT" || dtypes == "SPECIAL" || dtypes == "DOUBLE" || dtypes == "TRUTH") return pardo::DType::Float64;
    if (dtypes != "FLOAT" && dtypes != "INEXACT") return {};
    if (!other || !pardo::is_integer(other->dtype())) return pardo::DType::Float64;
    return pardo::promote(other->dtype(), pardo::DType::Float16);
}

[[noreturn]] void too_large(const std::string& prefix, PyObject* o, const char* dtype) {
    throw pardo::Error(pardo::ErrorCode::Overflow, prefix + "Python integer " + str_of(o) + " out of bounds for " + dtype);
}

}  // namespace

nb::handle numpy() { return np().module; }

nb::object host_values(PyObject* o, const char* op_name) {
    if (is_exact_numpy_array(o)) return nb::borrow(o);
    return nb::module_::import_("pardo._array.array_interface").attr("host_values")(nb::handle(o), nb::none(), op_name);
}

bool is_exact_numpy_array(PyObject* o) { return reinterpret_cast<PyObject*>(Py_TYPE(o)) == np().array.ptr(); }

bool is_numpy_array(PyObject* o) { return is_exact_numpy_array(o) || PyObject_IsInstance(o, np().array.ptr()) == 1; }

void refuse_operand(PyObject* o, const char* op_name) {
    const std::string name = is_numpy_array(o) ? "numpy.ndarray" : class_name(o);
    throw pardo::Error(pardo::ErrorCode::Type, std::string(op_name) + ": one operand is a " + name +
                                                   " and none is an array of pardo, whose device it would follow: make it one with "
                                                   "pardo.asarray(x), or pardo.asarray(x, copy=False) to share memory");
}

bool is_number_of_numpy(PyObject* o) {
    return is_exact_numpy_array(o) && nb::cast<int>(nb::handle(o).attr("ndim")) == 0 &&
           dtype_at_sight(nb::object(nb::handle(o).attr("dtype")).ptr());
}

void parse_operand(PyObject* o, ParsedOperand& out, const char* op_name, const pardo::Array* other, std::optional<Row> row,
                   const pardo::Array* home) {
    if (is_array(o)) {
        out.kind = OperandKind::Array;
        out.array = &array_of(o);
        return;
    }
    bool fits = true;
    out.kind = OperandKind::Scalar;
    if (!weak_scalar(o, out.scalar, fits)) {
        if (PyObject_IsInstance(o, np().generic.ptr()) == 1) {
            out.scalar = strong(o);
        } else if (!weak_subclass(o, out.scalar, fits)) {
            out.kind = OperandKind::Other;
            if (!is_host_data(o)) return;
            if (!home) home = other;
            if (!data_is_mapped() && is_number_of_numpy(o)) {
                out.kind = OperandKind::Scalar;
                out.scalar = strong(o);
            } else {
                if (!home && is_numpy_array(o) && in_device_context()) throw NumPyOperand{};
                out.kind = OperandKind::Array;
                out.copied = host_operand(o, op_name, home ? home->queue() : pardo::Queue(), home != nullptr);
                out.array = &*out.copied;
            }
            return;
        }
    }
    if (fits) return;
    const bool inexact = other && pardo::is_inexact(other->dtype());
    if (row && !inexact && *row >= Row::equal && *row <= Row::greater_equal) {  // the answer is the same for every element
        const nb::object zero = nb::int_(0);
        out.scalar = pardo::Scalar(PyObject_RichCompareBool(o, zero.ptr(), Py_GT) == 1 ? HUGE_VAL : -HUGE_VAL);
    } else if (inexact) {
        out.scalar = pardo::Scalar(as_double(o));
    } else if (const auto dtype = row ? float_of(*row, other) : std::nullopt) {
        out.scalar = pardo::Scalar(as_double(o)).cast(*dtype);
        out.scalar.weak = false;
    } else {
        too_large(std::string(op_name) + ": ", o, other ? std::string(pardo::dtype_name(other->dtype())).c_str() : "int64");
    }
}

std::optional<pardo::Scalar> scalar_from(PyObject* o) {
    pardo::Scalar s;
    bool fits = true;
    if (!weak_scalar(o, s, fits)) {
        if (PyObject_IsInstance(o, np().generic.ptr()) == 1) return strong(o);
        if (!weak_subclass(o, s, fits)) return {};
    }
    if (!fits) too_large("", o, "int64");
    return s;
}

PyObject* scalar_to_python(const pardo::Scalar& s) {
    switch (pardo::kind_of(s.dtype)) {
        case pardo::DKind::Bool: return PyBool_FromLong(s.b);
        case pardo::DKind::Signed: return PyLong_FromLongLong(s.i);
        case pardo::DKind::Unsigned: return PyLong_FromUnsignedLongLong(s.u);
        case pardo::DKind::Float: return PyFloat_FromDouble(s.f);
        case pardo::DKind::Complex: return PyComplex_FromDoubles(s.c.re, s.c.im);
    }
    return nullptr;
}

std::optional<pardo::DType> dtype_at_sight(PyObject* o) {
    const NumPy& n = np();
    for (int i = 0; i < pardo::dtype_count; ++i) {
        if (o == n.types[i].ptr() || o == n.dtypes[i].ptr()) return static_cast<pardo::DType>(i);
    }
    if (!PyUnicode_CheckExact(o)) return is_bfloat16(o) ? std::optional(pardo::DType::BFloat16) : std::nullopt;
    for (int i = 0; i < pardo::dtype_count; ++i) {
        const auto t = static_cast<pardo::DType>(i);
        if (o != n.names[i].ptr() && PyUnicode_CompareWithASCIIString(o, pardo::dtype_name(t).data()) != 0) continue;
        if (t == pardo::DType::BFloat16) (void)bfloat16_objects();  // raises where the package is missing, because x.dtype needs it
        return t;
    }
    return {};
}

pardo::DType dtype_from(PyObject* o) {
    if (const auto t = dtype_at_sight(o)) return *t;
    if (o == Py_None || is_array(o)) unsupported_dtype(o);
    nb::object dtype;
    try {
        dtype = np().module.attr("dtype")(nb::handle(o));
    } catch (nb::python_error&) {
        unsupported_dtype(o);
    }
    if (const auto t = canonical(dtype)) return *t;
    unsupported_dtype(dtype.ptr());
}

nb::object dtype_to_python(pardo::DType t) {
    return t == pardo::DType::BFloat16 ? bfloat16_objects().dtype : np().dtypes[static_cast<int>(t)];
}

std::int64_t int_from(PyObject* o) {
    const nb::object index = nb::steal(PyNumber_Index(o));
    if (!index) throw nb::python_error();
    const long long v = PyLong_AsLongLong(index.ptr());
    if (v == -1 && PyErr_Occurred()) throw nb::python_error();
    return v;
}

std::string class_name(nb::handle o) {
    return text_from(nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o.ptr())), "__name__")));
}

pardo::DType dtype_of_values(const char* op_name, nb::handle o, nb::handle host) {
    const nb::object dtype = host.attr("dtype");
    const std::string kind = nb::cast<std::string>(dtype.attr("kind"));
    if (std::string_view("biufc").find(kind) == std::string_view::npos && !dtype_at_sight(dtype.ptr())) {
        const bool array = is_numpy_array(o.ptr());
        const std::string element = text_from(nb::module_::import_("pardo._array.wrong_values").attr("wrong_element")(o));
        throw pardo::Error(pardo::ErrorCode::Type, std::string(op_name) + ": cannot make an array of " +
                                                       (array ? "elements of dtype '" + str_of(dtype) + "'" : class_name(o)) + ": " +
                                                       (element.empty() ? "" : element + "; ") +
                                                       "numbers of at most 64 bits are expected, or nested lists or arrays of them");
    }
    return dtype_from(dtype.ptr());
}

nb::tuple tuple_of(pardo::Extents values) {
    PyObject* t = PyTuple_New(static_cast<Py_ssize_t>(values.size()));
    if (!t) throw nb::python_error();
    for (std::size_t i = 0; i < values.size(); ++i) PyTuple_SetItem(t, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(values[i]));
    return nb::steal<nb::tuple>(t);
}

}  // namespace bind

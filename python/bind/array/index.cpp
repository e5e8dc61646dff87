// python/bind/array/index.cpp: index expressions: x[…] and x[…] = y. Ints, slices, None and ... are read by hand; lists and NumPy's arrays
// are copied in and checked here, at the call; index arrays of pardo are checked where they live.
#include <dlfcn.h>

#include <algorithm>
#include <limits>
#include <optional>

#include <pardo/binding/layout.h>

#include "bind.h"

namespace bind {
namespace {

using pardo::Array;
using pardo::IndexPart;

[[noreturn]] void bad_index() {
    throw pardo::Error(pardo::ErrorCode::Index,
                       "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
                       "arrays are valid indices");
}

std::int64_t int_index(PyObject* o) {
    const nb::object index = nb::steal(PyNumber_Index(o));
    if (!index) {
        PyErr_Clear();
        bad_index();
    }
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (overflow) throw pardo::Error(pardo::ErrorCode::Index, "cannot fit 'int' into an index-sized integer");
    return v;
}

pardo::Slice slice_of(PyObject* o) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(o, &start, &stop, &step) < 0) throw nb::python_error();
    // Unpack gives extremes for None and for what lies beyond them: both mean "to the end".
    constexpr Py_ssize_t lowest = std::numeric_limits<Py_ssize_t>::min(), highest = std::numeric_limits<Py_ssize_t>::max();
    pardo::Slice s;
    s.step = step;
    if (step > 0 ? start != 0 : start < highest - 1) s.start = start;
    if (step > 0 ? stop < highest - 1 : stop > lowest + 1) s.stop = stop;
    return s;
}

/// Axes of x that one part takes up; ellipsis counts none.
int axes_taken(const IndexPart& part) {
    if (std::holds_alternative<std::int64_t>(part) || std::holds_alternative<pardo::Slice>(part)) return 1;
    if (const Array* a = std::get_if<Array>(&part)) return a->dtype() == pardo::DType::Bool ? a->ndim() : 1;
    return 0;
}

/// The parts of one index expression; `from_host` marks index arrays whose values are to be checked now.
struct Index {
    std::vector<IndexPart> parts;
    struct HostArray {
        std::size_t part;
        std::int64_t lowest, highest;
    };
    std::vector<HostArray> from_host;

    void add(const Array& x, PyObject* o) {
        if (PyLong_CheckExact(o)) {
            parts.emplace_back(int_index(o));
        } else if (PySlice_Check(o)) {
            parts.emplace_back(slice_of(o));
        } else if (o == Py_None) {
            parts.emplace_back(pardo::NewAxis{});
        } else if (o == Py_Ellipsis) {
            parts.emplace_back(pardo::Ellipsis{});
        } else if (PyBool_Check(o)) {
            parts.emplace_back(o == Py_True);
        } else if (is_array(o)) {
            add_array(array_of(o));
        } else {
            add_host(x, o);
        }
    }

    /// Throws IndexError for values of host arrays that are out of bounds.
    void check(const Array& x) const {
        for (const HostArray& h : from_host) {
            int axis = 0, after = 0;
            bool ellipsis = false;
            for (std::size_t i = 0; i < h.part; ++i) {
                ellipsis |= std::holds_alternative<pardo::Ellipsis>(parts[i]);
                axis += axes_taken(parts[i]);
            }
            for (std::size_t i = h.part; i < parts.size(); ++i) after += axes_taken(parts[i]);
            if (ellipsis) axis = x.ndim() - after;
            if (axis < 0 || axis >= x.ndim()) return;  // too many indices: the library says so
            const std::int64_t extent = x.shape()[static_cast<std::size_t>(axis)];
            const std::int64_t bad = h.lowest < -extent ? h.lowest : h.highest;
            if (bad < -extent || bad >= extent) {
                throw pardo::Error(pardo::ErrorCode::Index, "x[...]: index " + std::to_string(bad) + " is out of bounds for axis " +
                                                                std::to_string(axis) + " with size " + std::to_string(extent));
            }
        }
    }

private:
    void add_array(const Array& a) {
        if (!pardo::is_integer(a.dtype()) && a.dtype() != pardo::DType::Bool) {
            throw pardo::Error(pardo::ErrorCode::Index, "arrays used as indices must be of integer (or boolean) type");
        }
        parts.emplace_back(a);
    }

    void add_host(const Array& x, PyObject* o) {
        if (!PyList_Check(o) && !is_numpy_array(o) && !PyTuple_Check(o)) {
            if (PyObject_IsInstance(o, numpy().attr("bool_").ptr()) == 1) {
                parts.emplace_back(PyObject_IsTrue(o) == 1);
                return;
            }
            if (PyIndex_Check(o) || !PySequence_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o)) {
                parts.emplace_back(int_index(o));
                return;
            }
        }
        nb::object values = numpy().attr("asarray")(nb::handle(o));
        const bool empty = nb::cast<std::int64_t>(values.attr("size")) == 0;
        if (empty && !is_numpy_array(o)) values = values.attr("astype")("int64");
        const std::string kind = nb::cast<std::string>(values.attr("dtype").attr("kind"));
        if (kind != "i" && kind != "u" && kind != "b") {
            if (nb::cast<int>(values.attr("ndim")) == 0) bad_index();
            throw pardo::Error(pardo::ErrorCode::Index, "arrays used as indices must be of integer (or boolean) type");
        }
        if (kind != "b" && nb::cast<int>(values.attr("ndim")) == 0) {
            parts.emplace_back(int_index(values.ptr()));
            return;
        }
        if (kind != "b" && !empty) {
            from_host.push_back(
                {parts.size(), int_index(nb::object(values.attr("min")()).ptr()), int_index(nb::object(values.attr("max")()).ptr())});
        }
        parts.emplace_back(
            pardo::note_following(copy_operand(values, dtype_from(nb::object(values.attr("dtype")).ptr()), x.queue(), "x[...]")));
    }
};

Index parse(const Array& x, PyObject* o) {
    Index index;
    if (PyTuple_Check(o)) {
        const Py_ssize_t n = PyTuple_Size(o);
        index.parts.reserve(static_cast<std::size_t>(n));
        for (Py_ssize_t i = 0; i < n; ++i) index.add(x, PyTuple_GetItem(o, i));
    } else {
        index.add(x, o);
    }
    if (!index.from_host.empty()) index.check(x);
    return index;
}

/// Masks decide the shape of the result, so they are computed before the GIL matters.
void settle_masks(const Index& index) {
    for (const IndexPart& part : index.parts) {
        const Array* a = std::get_if<Array>(&part);
        if (a && a->dtype() == pardo::DType::Bool) settle(*a);
    }
}

/// What is stored: an array, a number, or host data, which is copied to x's queue.
struct Value {
    const Array* array = nullptr;
    std::optional<Array> copied;
    std::optional<pardo::Scalar> scalar;
    pardo::After after = pardo::After::Kept;
};

constexpr const char* storing = "x[...] = value";

/// Objects with a dtype of their own, whose values are cast to that of x. Numbers in lists have none: each has to fit.
bool has_own_dtype(PyObject* o) {
    if (PyList_Check(o) || PyTuple_Check(o) || PyRange_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o)) return false;
    if (is_numpy_array(o) || PyObject_CheckBuffer(o)) return true;
    constexpr const char* told_by[] = {"__array__", "__array_interface__", "__dlpack__", "dtype"};
    return std::ranges::any_of(told_by, [o](const char* name) { return PyObject_HasAttrString(o, name) == 1; });
}

/// Values of the host in the dtype of x, as NumPy converts them.
Array converted(PyObject* o, const Array& x) {
    const nb::object made =
        nb::module_::import_("pardo._array.interop").attr("stored_values")(nb::handle(o), x.queue(), dtype_to_python(x.dtype()), storing);
    return array_of(made.ptr());
}

void parse_value(const Array& x, PyObject* o, Value& value) {
    if (is_array(o)) {
        value.array = &array_of(o);
        if (looks_temporary(o)) value.after = pardo::After::PerhapsDropped;
        return;
    }
    const bool sequence = PyList_Check(o) || PyTuple_Check(o) || PyRange_Check(o);
    ParsedOperand parsed;
    if (!sequence && !is_numpy_array(o)) parse_operand(o, parsed, storing, &x);
    if (parsed.kind == OperandKind::Scalar) {
        value.scalar = parsed.scalar;
        return;
    }
    value.copied = parsed.copied ? *parsed.copied : has_own_dtype(o) ? host_operand(o, storing, x.queue()) : converted(o, x);
    value.array = &*value.copied;
}

/// Casts to real numbers, at the user's line.
void warn_of_lost_parts(const Array& x, const Value& value) {
    if (!value.array || !pardo::is_complex(value.array->dtype())) return;
    if (!pardo::is_integer(x.dtype()) && !pardo::is_float(x.dtype())) return;
    nb::module_::import_("pardo._base.arguments").attr("warn_of_lost_parts")(storing);
}

/// Integers for all dimensions, as they are; 0 where the index is something else.
constexpr Py_ssize_t most_integers = 4;
std::size_t integers_of(const Array& x, PyObject* o, std::int64_t (&index)[most_integers]) {
    const bool tuple = PyTuple_CheckExact(o);
    const Py_ssize_t n = tuple ? PyTuple_Size(o) : 1;
    if (n != x.ndim() || n == 0 || n > most_integers) return 0;
    for (Py_ssize_t d = 0; d < n; ++d) {
        PyObject* const part = tuple ? PyTuple_GetItem(o, d) : o;
        if (!PyLong_CheckExact(part)) return 0;
        int overflow = 0;
        index[d] = PyLong_AsLongLongAndOverflow(part, &overflow);
        if (overflow) return 0;
    }
    return static_cast<std::size_t>(n);
}

}  // namespace

// From 3.14 on names lend their reference, so that its count says nothing; there the interpreter can be asked.
bool looks_temporary(PyObject* o) {
    using Ask = int (*)(PyObject*);
    static const auto ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "PyUnstable_Object_IsUniqueReferencedTemporary"));
    static const bool counts = Py_Version < 0x030e0000;
    return ask ? ask(o) == 1 : counts && Py_REFCNT(o) == 1;
}

PyObject* getitem(PyObject* self, PyObject* o) {
    return guarded([&]() -> PyObject* {
        const Array& x = array_of(self);
        std::int64_t integers[most_integers];
        if (const std::size_t n = integers_of(x, o, integers)) {
            if (std::optional<Array> element = pardo::element_of(x, {integers, n})) return wrap(*std::move(element));
        }
        if (PyLong_CheckExact(o)) return wrap(x[int_index(o)]);
        const Index index = parse(x, o);
        settle_masks(index);
        return wrap(x[std::span<const IndexPart>(index.parts)]);
    });
}

PyObject* item_at(PyObject* self, Py_ssize_t i) {
    const nb::object index = nb::steal(PyLong_FromSsize_t(i));
    return index ? getitem(self, index.ptr()) : nullptr;
}

int setitem(PyObject* self, PyObject* o, PyObject* v) {
    return guarded(-1, [&]() -> int {
        if (!v) throw pardo::Error(pardo::ErrorCode::Value, "cannot delete array elements");
        const Array& x = array_of(self);
        Value value;
        parse_value(x, v, value);
        if (value.scalar) {
            std::int64_t integers[most_integers];
            const std::size_t n = integers_of(x, o, integers);
            if (n && pardo::set_element(x, {integers, n}, *value.scalar)) return 0;
        }
        warn_of_lost_parts(x, value);
        if (o == Py_Ellipsis) {
            value.scalar ? x.assign(*value.scalar) : x.assign(*value.array, value.after);
            return 0;
        }
        const Index index = parse(x, o);
        settle_masks(index);
        const std::span<const IndexPart> parts(index.parts);
        value.scalar ? x.set(parts, *value.scalar) : x.set(parts, *value.array, value.after);
        return 0;
    });
}

}  // namespace bind

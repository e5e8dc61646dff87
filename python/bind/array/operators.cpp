// python/bind/array/operators.cpp: the operators of Array as C slots. The hot path of `a + b`: two type checks, one record, one new object.
#include <algorithm>

#include <pardo/binding/layout.h>
#include <pardo/binding/rows.h>
#include <pardo/ops.h>

#include "bind.h"

namespace bind {
namespace {

using pardo::Array;
using pardo::Operand;

const char* name_of(Row row) { return pardo::op_table()[static_cast<int>(row)].name; }

Array apply(Row row, const Operand& a, const Operand& b) {
    const Operand operands[] = {a, b};
    return pardo::apply(static_cast<int>(row), operands);
}

void parse(Row row, PyObject* o, ParsedOperand& out, const Array& other) { parse_operand(o, out, name_of(row), &other, row); }

/// `x == o` for what is not an operand. Not implemented would mean Python's comparison by identity, one bool for a whole array: right for
/// other objects that are never data.
PyObject* compare_other(Row row, const Array& x, PyObject* o) {
    if (o == Py_None || PyUnicode_Check(o) || PyBytes_Check(o)) {  // equal to no number
        const bool differs = row == Row::not_equal;
        return wrap(pardo::full(x.shape(), pardo::Scalar(differs), pardo::DType::Bool, x.queue()));
    }
    if (!PyObject_HasAttrString(o, "__array_ufunc__") && PyObject_HasAttrString(o, "__dlpack__")) refuse_operand(o, name_of(row));
    return Py_NewRef(Py_NotImplemented);
}

PyObject* not_taken(Row row, const Array& x, PyObject* o) {
    return row == Row::equal || row == Row::not_equal ? compare_other(row, x, o) : Py_NewRef(Py_NotImplemented);
}

template <Row row> PyObject* binary(PyObject* a, PyObject* b) {
    return guarded([&]() -> PyObject* {
        if (is_array(a)) {
            if (is_array(b)) return wrap(apply(row, array_of(a), array_of(b)));
            ParsedOperand other;
            parse(row, b, other, array_of(a));
            if (other.kind == OperandKind::Other) return not_taken(row, array_of(a), b);
            return wrap(apply(row, array_of(a), other));
        }
        ParsedOperand other;
        parse(row, a, other, array_of(b));
        if (other.kind == OperandKind::Other) return Py_NewRef(Py_NotImplemented);
        return wrap(apply(row, other, array_of(b)));
    });
}

template <Row row> PyObject* unary(PyObject* a) {
    return guarded([&] {
        const Operand operands[] = {array_of(a)};
        return wrap(pardo::apply(static_cast<int>(row), operands));
    });
}

/// 0-d results have the value semantics of NumPy's scalars: a new object takes the name.
template <Row row> PyObject* in_place(PyObject* a, PyObject* b) {
    if (!is_array(a)) return Py_NewRef(Py_NotImplemented);
    if (array_of(a).is_scalar_value()) return binary<row>(a, b);
    return guarded([&]() -> PyObject* {
        ParsedOperand other;
        parse(row, b, other, array_of(a));
        if (other.kind == OperandKind::Other) {
            if (Py_TYPE(b) != taking_over[0]) return Py_NewRef(Py_NotImplemented);
            throw pardo::Error(pardo::ErrorCode::Type, std::string(name_of(row)) +
                                                           ": the array is on one device, and the other operand, a " + class_name(b) +
                                                           ", on several; gather that one: s.to_device(x.device)");
        }
        pardo::apply_inplace(static_cast<int>(row), array_of(a), other);
        return Py_NewRef(a);
    });
}

/// `x ** 2` of bools is int8, as NumPy's, where the function `power` promotes to int64.
bool squares_bools(const Array& x, PyObject* exponent) {
    return x.dtype() == pardo::DType::Bool && PyLong_CheckExact(exponent) && PyLong_AsLong(exponent) == 2;
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulo) {
    if (modulo != Py_None) {
        PyErr_SetString(PyExc_TypeError, "pow: a third argument (modulo) is not supported for arrays");
        return nullptr;
    }
    return is_array(a) && squares_bools(array_of(a), b) ? unary<Row::square>(a) : binary<Row::power>(a, b);
}

PyObject* power_in_place(PyObject* a, PyObject* b, PyObject*) { return in_place<Row::power>(a, b); }

/// Values of the host as an array on the queue of the other operand, to be used twice; other objects as they are.
PyObject* copied_once(PyObject* o, PyObject* other) {
    return guarded(
        [&] { return is_array(o) || !is_host_data(o) ? Py_NewRef(o) : wrap(host_operand(o, "divmod", array_of(other).queue())); });
}

PyObject* divmod(PyObject* a, PyObject* b) {
    const nb::object x = nb::steal(copied_once(a, b)), y = nb::steal(x.is_valid() ? copied_once(b, a) : nullptr);
    if (!y) return nullptr;
    const nb::object quotient = nb::steal(binary<Row::floor_divide>(x.ptr(), y.ptr()));
    if (!quotient || quotient.is(nb::handle(Py_NotImplemented))) return nb::object(quotient).release().ptr();
    const nb::object rest = nb::steal(binary<Row::remainder>(x.ptr(), y.ptr()));
    if (!rest) return nullptr;
    return PyTuple_Pack(2, quotient.ptr(), rest.ptr());
}

/// An operand of `@` beside an array; scalars are not matrices. Null for what is not an operand.
const Array* matrix(PyObject* o, ParsedOperand& parsed, const Array& other) {
    parse_operand(o, parsed, "matmul", &other);
    if (parsed.kind == OperandKind::Scalar) {
        throw pardo::Error(pardo::ErrorCode::Value,
                           "matmul: one operand is a scalar; both must have at least one dimension (use * to scale)");
    }
    return parsed.array;
}

PyObject* multiply_matrices(PyObject* a, PyObject* b) {
    return guarded([&]() -> PyObject* {
        ParsedOperand first, second;
        const Array one = array_of(is_array(a) ? a : b);
        const Array *x = matrix(a, first, one), *y = matrix(b, second, one);
        if (!x || !y) return Py_NewRef(Py_NotImplemented);
        find_openblas();
        const Array left = *x, right = *y;
        return wrap([&] {
            const Unlocked unlocked;
            return pardo::matmul(left, right);
        }());
    });
}

PyObject* multiply_matrices_in_place(PyObject* a, PyObject* b) {
    return guarded([&]() -> PyObject* {
        if (!is_array(a)) return Py_NewRef(Py_NotImplemented);
        const Array x = array_of(a);
        ParsedOperand second;
        const Array* const other = matrix(b, second, x);
        if (!other) return Py_NewRef(Py_NotImplemented);
        find_openblas();
        {
            const Array y = *other;
            const Unlocked unlocked;
            const Array product = pardo::matmul(x, y);
            if (!std::ranges::equal(product.shape(), x.shape())) {
                throw pardo::Error(pardo::ErrorCode::Value,
                                   "matmul: the product's shape differs from that of the left operand, so it cannot be stored there");
            }
            x.assign(product);
        }
        return Py_NewRef(a);
    });
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
    switch (op) {
        case Py_LT: return binary<Row::less>(a, b);
        case Py_LE: return binary<Row::less_equal>(a, b);
        case Py_EQ: return binary<Row::equal>(a, b);
        case Py_NE: return binary<Row::not_equal>(a, b);
        case Py_GT: return binary<Row::greater>(a, b);
        default: return binary<Row::greater_equal>(a, b);
    }
}

// Conversions to Python's numbers: as in NumPy 2.4 and the array API only for arrays without dimensions.

/// Of an array of one element; waits in a way that can be interrupted.
pardo::Scalar value_of(const Array& of) {
    const Array a = of;
    if (const std::optional<pardo::Scalar> known = pardo::known_item(a)) return *known;
    return settle(a).item();
}

pardo::Scalar only_value(PyObject* o) {
    const Array& a = array_of(o);
    if (a.ndim() != 0) throw pardo::Error(pardo::ErrorCode::Type, "only 0-dimensional arrays can be converted to Python scalars");
    return value_of(a);
}

int to_bool(PyObject* o) {
    return guarded(-1, [&]() -> int {
        const Array& a = array_of(o);
        if (a.size() == 0) {
            throw pardo::Error(pardo::ErrorCode::Value,
                               "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.");
        }
        if (a.size() > 1) {
            throw pardo::Error(pardo::ErrorCode::Value,
                               "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()");
        }
        const pardo::Scalar s = value_of(a);
        switch (pardo::kind_of(s.dtype)) {
            case pardo::DKind::Bool: return s.b;
            case pardo::DKind::Signed: return s.i != 0;
            case pardo::DKind::Unsigned: return s.u != 0;
            case pardo::DKind::Float: return s.f != 0;
            default: return s.c.re != 0 || s.c.im != 0;
        }
    });
}

PyObject* to_int(PyObject* o) {
    return guarded([&]() -> PyObject* {
        const pardo::Scalar s = only_value(o);
        if (pardo::is_complex(s.dtype)) throw pardo::Error(pardo::ErrorCode::Type, "int() of a complex array: take x.real first");
        if (pardo::is_float(s.dtype)) return PyLong_FromDouble(s.f);
        if (s.dtype == pardo::DType::Bool) return PyLong_FromLong(s.b);
        return scalar_to_python(s);
    });
}

PyObject* to_float(PyObject* o) {
    return guarded([&]() -> PyObject* {
        const pardo::Scalar s = only_value(o);
        if (pardo::is_complex(s.dtype)) throw pardo::Error(pardo::ErrorCode::Type, "float() of a complex array: take x.real first");
        return PyFloat_FromDouble(s.as_double());
    });
}

PyObject* to_index(PyObject* o) {
    return guarded([&]() -> PyObject* {
        const Array& a = array_of(o);
        if (a.ndim() != 0 || !pardo::is_integer(a.dtype())) {
            throw pardo::Error(pardo::ErrorCode::Type, "only integer scalar arrays can be converted to a scalar index");
        }
        return scalar_to_python(value_of(a));
    });
}

/// Elements that were read are values, as NumPy's scalars: keys of dictionaries, with the hash of the Python number that they equal.
Py_hash_t hash(PyObject* o) {
    const Array& a = array_of(o);
    if (!a.is_scalar_value()) return PyObject_HashNotImplemented(o);
    const nb::object number = nb::steal(guarded([&] { return scalar_to_python(value_of(a)); }));
    return number ? PyObject_Hash(number.ptr()) : -1;
}

Py_ssize_t length(PyObject* o) {
    const Array& a = array_of(o);
    if (a.ndim() == 0) {
        PyErr_SetString(PyExc_TypeError, "len() of unsized object");
        return -1;
    }
    return static_cast<Py_ssize_t>(a.shape()[0]);
}

template <class F> void* slot(F* f) { return reinterpret_cast<void*>(f); }

}  // namespace

PyType_Slot operator_slots[] = {
    {Py_nb_add, slot(binary<Row::add>)},
    {Py_nb_subtract, slot(binary<Row::subtract>)},
    {Py_nb_multiply, slot(binary<Row::multiply>)},
    {Py_nb_true_divide, slot(binary<Row::divide>)},
    {Py_nb_floor_divide, slot(binary<Row::floor_divide>)},
    {Py_nb_remainder, slot(binary<Row::remainder>)},
    {Py_nb_divmod, slot(divmod)},
    {Py_nb_power, slot(power)},
    {Py_nb_and, slot(binary<Row::bitwise_and>)},
    {Py_nb_or, slot(binary<Row::bitwise_or>)},
    {Py_nb_xor, slot(binary<Row::bitwise_xor>)},
    {Py_nb_lshift, slot(binary<Row::left_shift>)},
    {Py_nb_rshift, slot(binary<Row::right_shift>)},
    {Py_nb_matrix_multiply, slot(multiply_matrices)},
    {Py_nb_negative, slot(unary<Row::negative>)},
    {Py_nb_positive, slot(unary<Row::positive>)},
    {Py_nb_absolute, slot(unary<Row::absolute>)},
    {Py_nb_invert, slot(unary<Row::invert>)},
    {Py_nb_inplace_add, slot(in_place<Row::add>)},
    {Py_nb_inplace_subtract, slot(in_place<Row::subtract>)},
    {Py_nb_inplace_multiply, slot(in_place<Row::multiply>)},
    {Py_nb_inplace_true_divide, slot(in_place<Row::divide>)},
    {Py_nb_inplace_floor_divide, slot(in_place<Row::floor_divide>)},
    {Py_nb_inplace_remainder, slot(in_place<Row::remainder>)},
    {Py_nb_inplace_power, slot(power_in_place)},
    {Py_nb_inplace_and, slot(in_place<Row::bitwise_and>)},
    {Py_nb_inplace_or, slot(in_place<Row::bitwise_or>)},
    {Py_nb_inplace_xor, slot(in_place<Row::bitwise_xor>)},
    {Py_nb_inplace_lshift, slot(in_place<Row::left_shift>)},
    {Py_nb_inplace_rshift, slot(in_place<Row::right_shift>)},
    {Py_nb_inplace_matrix_multiply, slot(multiply_matrices_in_place)},
    {Py_nb_bool, slot(to_bool)},
    {Py_nb_int, slot(to_int)},
    {Py_nb_float, slot(to_float)},
    {Py_nb_index, slot(to_index)},
    {Py_mp_length, slot(length)},
    {Py_sq_length, slot(length)},
    {Py_sq_item, slot(item_at)},  // makes it a sequence, as pandas asks: else it takes an array for a number
    {Py_mp_subscript, slot(getitem)},
    {Py_mp_ass_subscript, slot(setitem)},
    {Py_bf_getbuffer, slot(get_buffer)},
    {Py_bf_releasebuffer, slot(release_buffer)},
    {Py_tp_richcompare, slot(compare)},
    {Py_tp_hash, slot(hash)},
    {0, nullptr},
};

}  // namespace bind

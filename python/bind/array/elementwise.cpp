// python/bind/array/elementwise.cpp: one Python function for each row of ops.def: a ufunc, or a plain C function where NumPy has no ufunc.
// The fast way from `pp.sin(x)` to a record.
#include <algorithm>
#include <array>
#include <utility>

#include <pardo/binding/layout.h>
#include <pardo/binding/rows.h>
#include <pardo/ops.h>

#include "bind.h"
#include "broadcast.h"

namespace bind {
namespace {

using pardo::Array;
using pardo::Operand;

constexpr int row_count = static_cast<int>(Row::where) + 1;

/// Keywords of NumPy's ufuncs.
struct Keywords {
    PyObject* out = nullptr;
    PyObject* where = nullptr;
    std::optional<pardo::DType> dtype;
};

/// Says that a call has another rule than 'same_kind': Python makes it of casts and of the call.
struct OtherCasting {};

pardo::DType named_dtype(const char* op_name, PyObject* value) {
    try {
        return dtype_from(value);
    } catch (const pardo::Error& error) {
        throw error.with_message(std::string(op_name) + ": " + error.message());
    }
}

void parse_keyword(const char* op_name, PyObject* name, PyObject* value, Keywords& k) {
    if (PyUnicode_CompareWithASCIIString(name, "out") == 0) {
        if (k.out) throw pardo::Error(pardo::ErrorCode::Type, std::string(op_name) + ": out is given twice");
        if (value != Py_None && value != Py_Ellipsis) k.out = value;
    } else if (PyUnicode_CompareWithASCIIString(name, "where") == 0) {
        if (value != Py_True) k.where = value;
    } else if (PyUnicode_CompareWithASCIIString(name, "dtype") == 0) {
        if (value != Py_None) k.dtype = named_dtype(op_name, value);
    } else if (PyUnicode_CompareWithASCIIString(name, "casting") == 0) {
        if (!PyUnicode_Check(value)) {
            throw pardo::Error(pardo::ErrorCode::Type, std::string(op_name) + ": casting must be a text, not " + class_name(value));
        }
        if (PyUnicode_CompareWithASCIIString(value, "same_kind") != 0) throw OtherCasting{};
    } else {
        const auto row = std::ranges::find(pardo::op_table(), std::string_view(op_name),
                                           [](const pardo::OpInfo& i) { return std::string_view(i.name); });
        const bool is_ufunc = row != pardo::op_table().end() && std::string_view(row->identity) != "NO_UFUNC";
        throw pardo::Error(pardo::ErrorCode::Type, std::string(op_name) + "() got an unexpected keyword argument '" + text_from(name) +
                                                       "'; known are out, where, dtype" +
                                                       (is_ufunc ? ", casting, order and signature" : " and casting"));
    }
}

/// Numbers alone become 0-d arrays with the default dtypes.
Array array_of_scalar(const pardo::Scalar& s, const pardo::Queue& queue) { return pardo::full({}, s, {}, queue); }

Array* as_out(const char* op_name, PyObject* o) {
    if (PyTuple_Check(o)) {
        if (PyTuple_Size(o) != 1) {
            throw pardo::Error(
                pardo::ErrorCode::Value,
                std::string(op_name) + ": out must be an array or a tuple of one array, not a tuple of " + std::to_string(PyTuple_Size(o)));
        }
        o = PyTuple_GetItem(o, 0);
    }
    if (is_array(o)) return &array_of(o);
    if (is_numpy_array(o) && in_device_context()) throw NumPyOperand{};
    throw pardo::Error(pardo::ErrorCode::Type, std::string(op_name) + ": out must be a pardo.Array, not " + class_name(o));
}

const Array& checked_mask(const char* op_name, const Array& mask) {
    if (mask.dtype() == pardo::DType::Bool) return mask;
    throw pardo::Error(pardo::ErrorCode::Type,
                       std::string(op_name) + ": where must be a bool array, not " + std::string(pardo::dtype_name(mask.dtype())));
}

Array as_mask(const char* op_name, PyObject* o, const Array* home, const pardo::Queue& queue) {
    if (is_array(o)) return checked_mask(op_name, array_of(o));
    if (PyLong_Check(o) || PyFloat_Check(o) || PyComplex_Check(o)) {  // as NumPy: what is not zero is true
        return array_of_scalar(pardo::Scalar(PyObject_IsTrue(o) == 1), queue);
    }
    if (PyList_Check(o) || PyTuple_Check(o)) {
        const nb::object numpy = nb::module_::import_("numpy");
        const nb::object values = numpy.attr("asarray")(nb::handle(o), numpy.attr("bool_"));
        return host_operand(values.ptr(), op_name, queue);
    }
    if (!is_host_data(o)) {
        throw pardo::Error(pardo::ErrorCode::Type,
                           std::string(op_name) + ": where must be a bool or an array of bools, not " + class_name(o));
    }
    if (!home && is_numpy_array(o) && in_device_context()) throw NumPyOperand{};
    const Array mask = host_operand(o, op_name, queue);
    return checked_mask(op_name, mask);
}

/// A value of the dtype and on the queue of the result. Powers of integers are those of no elements: exponents are checked at once, also
/// where the mask leaves them out.
Array type_of_result(int id, std::span<const Operand> operands, std::optional<pardo::DType> dtype) {
    const Array* exponents = id == static_cast<int>(Row::power) ? operands[1].array() : nullptr;
    if (!exponents || !pardo::is_integer(exponents->dtype())) return pardo::apply(id, operands, dtype);
    std::vector<Array> without;
    without.reserve(operands.size());
    std::vector<Operand> stands;
    for (const Operand& o : operands) {
        const bool kept = !o.array() || (o.array()->ndim() == 0 && o.array() != exponents);
        if (!kept) without.push_back(pardo::empty({0}, o.array()->dtype(), o.array()->queue()));
        stands.push_back(kept ? o : Operand(std::as_const(without.back())));
    }
    return pardo::apply(id, stands, dtype);
}

/// Without `out`, elements that `where` leaves out are not initialised, as in NumPy.
Array apply_where(int id, std::span<const Operand> operands, const Array& mask, std::optional<pardo::DType> dtype) {
    const Array everywhere = type_of_result(id, operands, dtype);
    std::vector<Array> all;
    for (const Operand& o : operands) {
        if (o.array()) all.push_back(*o.array());
    }
    all.push_back(mask);
    std::optional<pardo::MemoryKind> kind = pardo::kind_for_results(mask);
    for (const Operand& o : operands) {
        const auto its = o.array() ? pardo::kind_for_results(*o.array()) : std::nullopt;
        if (its) kind = kind ? std::min(*kind, *its) : its;
    }
    const char* const op_name = pardo::op_table()[static_cast<std::size_t>(id)].name;
    const Array out = pardo::empty(broadcast_for(op_name, all, true)[0].shape(), everywhere.dtype(), everywhere.queue(),
                                   kind.value_or(pardo::MemoryKind::Device));
    pardo::apply_out(id, operands, out, &mask, dtype);
    return out;
}

/// Rows that are bound with an underscore in front: special functions have a module of their own, and some names the package wraps.
bool is_private(const pardo::OpInfo& info) {
    const std::string_view name = info.name;
    return std::string_view(info.numpy).empty() || name == "clip" || name == "round" || name == "where";
}

std::string bound_name(const pardo::OpInfo& info) { return (is_private(info) ? "_" : "") + std::string(info.name); }

/// The call again, with copies of its NumPy arrays on the device of the context.
PyObject* call_in_context(int id, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    const nb::object module = nb::module_::import_("pardo._array.contexts");
    nb::list positional;
    nb::dict keywords;
    for (Py_ssize_t i = 0; i < count; ++i) positional.append(nb::handle(args[i]));
    for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); ++i)
        keywords[nb::handle(PyTuple_GetItem(names, i))] = nb::handle(args[count + i]);
    const nb::object function =
        nb::module_::import_("pardo._core").attr(bound_name(pardo::op_table()[static_cast<std::size_t>(id)]).c_str());
    return module.attr("offload")(function, nb::tuple(positional), keywords).release().ptr();
}

/// The call with a rule of casting of its own.
PyObject* call_with_casting(int id, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    nb::list positional;
    nb::dict keywords;
    for (Py_ssize_t i = 0; i < count; ++i) positional.append(nb::handle(args[i]));
    for (Py_ssize_t i = 0; i < PyTuple_Size(names); ++i) keywords[nb::handle(PyTuple_GetItem(names, i))] = nb::handle(args[count + i]);
    const nb::object call = nb::module_::import_("pardo._functions.casting").attr("call");
    return call(id, pardo::op_table()[static_cast<std::size_t>(id)].name, positional, keywords).release().ptr();
}

/// The array whose queue values of the host follow, of operands, `out` and `where`: the first of those that decide where the result is.
const Array* home_of(const char* op_name, int arity, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    const Py_ssize_t keywords = names ? PyTuple_Size(names) : 0;
    const Array *home = nullptr, *other = nullptr;
    for (Py_ssize_t i = 0; i < count + keywords; ++i) {
        PyObject* o = args[i];
        if (i >= arity && PyTuple_Check(o) && PyTuple_Size(o) == 1) o = PyTuple_GetItem(o, 0);
        if (!is_array(o)) continue;
        const Array& x = array_of(o);
        if (!home || pull_of(x) > pull_of(*home)) {
            home = &x;
        } else if (pull_of(x) == pull_of(*home) && x.queue() != home->queue()) {
            other = &x;
        }
    }
    if (other && pull_of(*other) == pull_of(*home)) {  // an operand that is copied to one of them would decide
        throw pardo::Error(pardo::ErrorCode::Placement, std::string(op_name) + ": operands are on different queues of " +
                                                            home->device().id() + " and " + other->device().id() +
                                                            "; copy one explicitly: x.to_queue(queue) or asarray(x, queue=queue)");
    }
    return home;
}

PyObject* checked_call(int id, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    const pardo::OpInfo& info = pardo::op_table()[static_cast<std::size_t>(id)];
    const char* const op_name = info.name;
    if (count < info.arity || count > info.arity + 1) {
        throw pardo::Error(pardo::ErrorCode::Type, std::string(op_name) + "() takes " + std::to_string(info.arity) +
                                                       (info.arity == 1 ? " array" : " arrays") + " and perhaps out, but " +
                                                       std::to_string(count) + " positional argument" +
                                                       (count == 1 ? " was given" : "s were given"));
    }
    ParsedOperand parsed[3];
    const bool choice = id == static_cast<int>(Row::where);  // its first operand says nothing about the others' dtype
    const Array* first = nullptr;
    for (int i = choice ? 1 : 0; i < info.arity && !first; ++i) {
        if (is_array(args[i])) first = &array_of(args[i]);
    }
    const Array* const home = first && first->ndim() > 0 ? first : home_of(op_name, info.arity, args, count, names);
    std::optional<Array> made;  // an Array of its own would be one of zeros, on the default device
    for (int i = 0; i < info.arity; ++i) {
        const int same = static_cast<int>(std::find(args, args + i, args[i]) - args);
        if (same != i && parsed[same].copied) {  // values of the host are copied once a call
            parsed[i].kind = OperandKind::Array;
            parsed[i].array = parsed[same].array;
            continue;
        }
        parse_operand(args[i], parsed[i], op_name, first, choice && i == 0 ? Row::logical_not : static_cast<Row>(id), home);
        if (parsed[i].kind == OperandKind::Other) {
            throw pardo::Error(pardo::ErrorCode::Type, std::string(op_name) + ": operand " + std::to_string(i + 1) + " is of type " +
                                                           class_name(args[i]) +
                                                           "; an array, a number or a sequence of numbers is expected");
        }
    }
    const bool any_array = std::any_of(std::begin(parsed), std::end(parsed), [](const ParsedOperand& p) { return p.array != nullptr; });
    if (!any_array) {
        made = array_of_scalar(parsed[0].scalar, home ? home->queue() : pardo::Queue());
        parsed[0].array = &*made;
    }
    const Operand operands[] = {parsed[0], info.arity > 1 ? Operand(parsed[1]) : Operand(false),
                                info.arity > 2 ? Operand(parsed[2]) : Operand(false)};
    const std::span<const Operand> used(operands, static_cast<std::size_t>(info.arity));
    if (count == info.arity && !names) return wrap(pardo::apply(id, used));

    Keywords k;
    if (count > info.arity && args[info.arity] != Py_None) k.out = args[info.arity];
    const Py_ssize_t keyword_count = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < keyword_count; ++i) parse_keyword(op_name, PyTuple_GetItem(names, i), args[count + i], k);
    std::optional<Array> mask;
    if (k.where) {
        const auto copied = std::ranges::find_if(parsed, [](const ParsedOperand& p) { return p.array != nullptr; });
        mask = as_mask(op_name, k.where, home, home ? home->queue() : copied->array->queue());
    }
    if (k.out) {
        Array* const out = as_out(op_name, k.out);
        pardo::apply_out(id, used, *out, mask ? &*mask : nullptr, k.dtype);
        return Py_NewRef(PyTuple_Check(k.out) ? PyTuple_GetItem(k.out, 0) : k.out);
    }
    if (k.where) return wrap(apply_where(id, used, *mask, k.dtype));
    return wrap(pardo::apply(id, used, k.dtype));
}

}  // namespace

PyObject* call_row(int id, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    return guarded([&]() -> PyObject* {
        try {
            return checked_call(id, args, count, names);
        } catch (const NumPyOperand&) {
            return call_in_context(id, args, count, names);
        } catch (const OtherCasting&) {
            return call_with_casting(id, args, count, names);
        }
    });
}

namespace {

template <int id> PyObject* entry(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    if (is_taken_over(args, static_cast<std::size_t>(count), names)) [[unlikely]]
        return hand_over(nb::str(pardo::op_table()[id].name).ptr(), args, static_cast<std::size_t>(count), names);
    return call_row(id, args, count, names);
}

/// What the documentation says about a dtype class of ops.def: what operands may be, and what the result is where the row says PROMOTED.
struct DtypeText {
    std::string_view name, operands, result;
};
constexpr const char* floating_result =
    "of the operands' promoted dtype if that is floating; else float16 for bool and integers\n    of 8 bits, float32 for those of 16, "
    "float64 for larger ones";
constexpr DtypeText dtype_texts[] = {
    {"ANY", "Of any dtype.", "of the operands' promoted dtype"},
    {"NUMERIC", "Of any dtype but bool.", "of the operands' promoted dtype"},
    {"NUMBER", "Of any dtype; bool counts as int8.", "of the operands' promoted dtype"},
    {"DIVISION", "Of a real dtype; bool counts as int8.", "of the operands' promoted dtype"},
    {"REALS", "Of a real dtype.", "of the operands' promoted dtype"},
    {"ROUND", "Of any dtype.", "of the operand's dtype, float16 for bool"},
    {"FLOAT", "Of a real dtype.", floating_result},
    {"INEXACT", "Of any dtype.", floating_result},
    {"DOUBLE", "Of any dtype.", "of float64, or of complex128 for complex operands"},
    {"SPECIAL", "Of a real dtype.", "of the operands' promoted dtype if that is floating, else float64"},
    {"QUOTIENT", "Of any dtype.", "of the operands' promoted dtype if that is floating or complex, else float64"},
    {"COMPLEX", "Of any dtype.", "of dtype complex64 for complex64, float32 and float16, else complex128"},
    {"INTEGER", "Of an integer dtype or bool, which counts as int8.", "of the operands' promoted dtype"},
    {"WHOLE", "Of an integer dtype.", "of the operands' promoted dtype"},
    {"BITS", "Of an integer dtype or bool.", "of the operands' promoted dtype"},
    {"TRUTH", "Of any dtype; what is not zero counts as true.", "of dtype bool"},
    {"CHOICE", "Of any dtype; of the first, what is not zero counts as true.", "of the promoted dtype of the second and third operand"},
};

const DtypeText& text_of(const pardo::OpInfo& info) {
    return *std::ranges::find(dtype_texts, std::string_view(info.dtypes), &DtypeText::name);
}

std::string result_text(const pardo::OpInfo& info) {
    const std::string_view result = info.result;
    if (result == "BOOL") return "of dtype bool";
    if (result == "REAL") return "of the operand's dtype; of complex64 float32, of complex128 float64";
    std::string text(text_of(info).result);
    if (info.arity > 1) return text;
    constexpr std::string_view plural = "operands' promoted dtype";
    if (const auto at = text.find(plural); at != std::string::npos) text.replace(at, plural.size(), "operand's dtype");
    return text;
}

/// What the docstring of a row says after its errors.
struct Example {
    std::string_view name, related, notes, input, output;
};
constexpr std::string_view NONE;
constexpr std::string_view ULP =
    "\nNotes\n-----\nReal results are within 2 units in the last place (ulp) on the CPU and within 4 on other devices; the page\n"
    "Accuracy of the documentation lists the largest errors that were found.\n";
constexpr std::string_view SPECIAL =
    "\nNotes\n-----\nThe computation is one expression of the kernel: it fuses with its neighbours, and kernels may call it. The page\n"
    "Special functions of the documentation says how it is approximated, and lists the largest errors that were found.\n";
constexpr Example examples[] = {
#define EXAMPLE(name, related, notes, input, output) {#name, related, notes, input, output},
#include "examples.def"
#undef EXAMPLE
};

std::string further_sections(const pardo::OpInfo& info) {
    const auto e = std::ranges::find(examples, std::string_view(info.name), &Example::name);
    if (e == std::end(examples)) return "";  // functions that the package wraps
    std::string text = "\nSee Also\n--------\n";
    text.append(e->related).append("\n").append(e->notes);
    return text.append("\nExamples\n--------\n>>> import pardo as pp\n>>> ").append(e->input).append("\n").append(e->output).append("\n");
}

/// numpydoc, with a first line that inspect.signature reads.
std::string docstring(const pardo::OpInfo& info) {
    const std::string arrays = info.arity == 1 ? "x" : info.arity == 2 ? "x1, x2" : "x1, x2, x3";
    const bool several = info.arity > 1;
    std::string doc = std::string(info.name) + "(" + arrays + ", /, out=None, *, where=True, dtype=None, casting='same_kind')\n--\n\n";
    doc += std::string(info.doc) + "\n\nParameters\n----------\n" + arrays + " : Array or number\n    " +
           std::string(text_of(info).operands) +
           (several ? " Operands are broadcast against each other; Python numbers\n    take the dtype of the arrays they meet. Lists and "
                      "NumPy arrays are copied to the queue of these.\n"
                    : "\n") +
           "out : Array, optional\n    Where the result is stored; it must have the broadcast shape, and the result must be castable to\n"
           "    its dtype within the same kind.\n"
           "where : Array of bool or bool, optional\n    The elements to compute. Others keep their value in `out`; without `out` they are "
           "not initialised.\n"
           "dtype : data type, optional\n    The dtype to compute in; operands are cast to it within the same kind.\n"
           "casting : str, optional\n    How operands, and the result with `out`, may be cast: ``'no'``, ``'equiv'``, ``'safe'``, "
           "``'same_kind'``\n"
           "    or ``'unsafe'``.\n\n"
           "Returns\n-------\nArray\n    The result, " +
           result_text(info) + ".\n    It is recorded, and computed when it is needed. `out` itself if that was given.\n\n" +
           "Raises\n------\nTypeError\n    An operand is not an array or a number or has a dtype that is not accepted, or the result "
           "cannot be\n"
           "    cast to the dtype of `out`.\n"
           "ValueError\n    The shapes do not fit each other, or that of `out`.\n"
           "ExecutionPlacementError\n    Arrays are on different queues.\n";
    if (several) doc += "OverflowError\n    A Python integer is out of bounds for the dtype of the arrays it meets.\n";
    return doc + further_sections(info);
}

struct Definition {
    std::string doc;
    PyMethodDef method;
};

template <int... ids> void add_all(nb::module_& m, std::integer_sequence<int, ids...>) {
    static std::array<Definition, row_count>& definitions = *new std::array<Definition, row_count>;  // CPython keeps pointers to them
    constexpr PyObject* (*entries[])(PyObject*, PyObject* const*, Py_ssize_t, PyObject*) = {&entry<ids>...};
    const nb::str general("pardo"), special("pardo.special");
    for (int id = 0; id < row_count; ++id) {
        const pardo::OpInfo& info = pardo::op_table()[static_cast<std::size_t>(id)];
        const bool is_special = std::string_view(info.numpy).empty();
        Definition& d = definitions[static_cast<std::size_t>(id)];
        d.doc = docstring(info);
        if (std::string_view(info.identity) != "NO_UFUNC") {
            m.attr(info.name) = ufunc_of_row(id, info.name, info.arity, d.doc.c_str() + d.doc.find("--\n\n") + 4);
            continue;
        }
        d.method = {info.name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(entries[id])), METH_FASTCALL | METH_KEYWORDS,
                    d.doc.c_str()};
        const nb::object f = nb::steal(PyCFunction_NewEx(&d.method, nullptr, is_special ? special.ptr() : general.ptr()));
        if (!f) throw nb::python_error();
        m.attr(bound_name(info).c_str()) = f;
    }
}

}  // namespace

void bind_elementwise(nb::module_& m) { add_all(m, std::make_integer_sequence<int, row_count>()); }

}  // namespace bind

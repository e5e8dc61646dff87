// python/bind/error.cpp: pardo/error.h for Python: one exception class for each error code.
#include <new>

#include <pardo/event.h>

#include "bind.h"

namespace bind {
namespace {

constexpr const char* failed_elements =
    "The values depend on work that failed. Assign new values to the array, or call x.accept() to read it as it is (x.failure() gives the "
    "exception)";

PyObject *placement_error, *device_error, *no_device_error, *compile_error, *axis_error, *matrix_error;

/// A class of NumPy's is fetched when the first one is raised; without NumPy `instead` says the same.
PyObject* class_of_numpy(PyObject*& kept, const char* module_name, const char* name, PyObject* instead) {
    if (!kept) {
        const nb::object module = nb::steal(PyImport_ImportModule(module_name));
        if (module) kept = PyObject_GetAttrString(module.ptr(), name);
        if (!kept) PyErr_Clear();
    }
    return kept ? kept : instead;
}

PyObject* class_of(pardo::ErrorCode code) {
    switch (code) {
        case pardo::ErrorCode::Value: return PyExc_ValueError;
        case pardo::ErrorCode::Type: return PyExc_TypeError;
        case pardo::ErrorCode::Index: return PyExc_IndexError;
        case pardo::ErrorCode::Overflow: return PyExc_OverflowError;
        case pardo::ErrorCode::Memory: return PyExc_MemoryError;
        case pardo::ErrorCode::Buffer: return PyExc_BufferError;
        case pardo::ErrorCode::Placement: return placement_error;
        case pardo::ErrorCode::Device: return device_error;
        case pardo::ErrorCode::NoDevice: return no_device_error;
        case pardo::ErrorCode::Compile: return compile_error;
        case pardo::ErrorCode::Import: return PyExc_ImportError;
        case pardo::ErrorCode::Internal: return PyExc_RuntimeError;
        case pardo::ErrorCode::Axis: return class_of_numpy(axis_error, "numpy.exceptions", "AxisError", PyExc_IndexError);
        case pardo::ErrorCode::Name: return PyExc_NameError;
        case pardo::ErrorCode::Assertion: return PyExc_AssertionError;
        case pardo::ErrorCode::Division: return PyExc_ZeroDivisionError;
        case pardo::ErrorCode::Float: return PyExc_FloatingPointError;
        case pardo::ErrorCode::Matrix: return class_of_numpy(matrix_error, "numpy.linalg", "LinAlgError", PyExc_ValueError);
    }
    return PyExc_RuntimeError;
}

/// Once. The exception matters more than its note: a class of the user's may forbid to set attributes.
void add_note(const nb::object& exception, const std::string& note) {
    try {
        const nb::object notes = nb::getattr(exception, "__notes__", nb::list());
        if (!nb::cast<bool>(notes.attr("__contains__")(note))) exception.attr("add_note")(note);
    } catch (nb::python_error&) {
    }
}

/// The user's own exception, and its traceback and context as they were: it may be raised many times, and each time begins with these.
nb::handle part_of_origin(const pardo::Error& e, Py_ssize_t k) { return PyTuple_GetItem(object_in(e.origin()).ptr(), k); }

/// The user's own exception, with a note that says where it was submitted.
nb::object with_note(const pardo::Error& e) {
    nb::object exception = nb::borrow(part_of_origin(e, 0));
    std::size_t at = e.message().rfind(" (in host task ");
    if (at == std::string::npos) at = e.message().rfind(" (at ");
    if (at == std::string::npos || e.message().back() != ')') return exception;
    add_note(exception, e.message().substr(at + 2, e.message().size() - at - 3));
    return exception;
}

/// A signal that came where the library could not raise its exception comes first: most often the error tells of what it has stopped.
bool interrupted_meanwhile(const pardo::Error& e) {
    if (PyErr_CheckSignals() == 0) return false;
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyException_SetContext(value, exception_from(e).release().ptr());
    PyErr_Restore(type, value, traceback);
    return true;
}

void set_error(const pardo::Error& e) {
    if (interrupted_meanwhile(e)) return;
    const bool of_elements = dynamic_cast<const pardo::FailedElements*>(&e) != nullptr;
    if (!e.origin() && !of_elements) return PyErr_SetObject(class_of(e.code()), text_to_python(e.message()).ptr());
    nb::object exception;
    if (e.origin()) {
        exception = with_note(e);
        const nb::handle traceback = part_of_origin(e, 1), context = part_of_origin(e, 2);
        PyException_SetTraceback(exception.ptr(), traceback.ptr());
        PyException_SetContext(exception.ptr(), context.is_none() ? nullptr : context.inc_ref().ptr());
        if (of_elements) add_note(exception, failed_elements);
    } else {
        exception = nb::handle(class_of(e.code()))(text_to_python(e.message() + "\n" + failed_elements));
    }
    keep_message(exception.ptr());
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

void translate_error(const std::exception_ptr& p, void*) {
    try {
        std::rethrow_exception(p);
    } catch (const pardo::Error& e) {
        set_error(e);
    }
}

PyObject* new_error(nb::module_& m, const char* name, const char* doc, PyObject* base) {
    const std::string full = std::string("pardo.") + name;
    PyObject* e = PyErr_NewExceptionWithDoc(full.c_str(), doc, base, nullptr);
    if (!e) throw nb::python_error();
    m.attr(name) = nb::handle(e);
    return e;
}

}  // namespace

pardo::Error error_from_exception(nb::object exception) {
    std::string text = class_name(exception);
    const nb::object words = nb::steal(PyObject_Str(exception.ptr()));
    if (!words) {
        PyErr_Clear();
    } else if (const std::string said = text_from(words); !said.empty()) {
        text += ": " + said;
    }
    const nb::object traceback = exception.attr("__traceback__"), context = exception.attr("__context__");
    return {pardo::ErrorCode::Internal, text, kept(nb::make_tuple(exception, traceback, context))};
}

pardo::Error error_from_python() {
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback) PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return error_from_exception(nb::steal(value));
}

nb::object exception_from(const pardo::Error& e) {
    if (e.origin()) return with_note(e);
    return nb::handle(class_of(e.code()))(e.message());
}

void set_error_from_current_exception() noexcept {
    try {
        throw;
    } catch (const pardo::Error& e) {
        set_error(e);
    } catch (nb::python_error& e) {
        e.restore();
        hide_frames();
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& e) {
        PyErr_SetObject(PyExc_RuntimeError, text_to_python(e.what()).ptr());
    } catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "pardo: an unknown C++ exception");
    }
}

void bind_error(nb::module_& m) {
    placement_error = new_error(m, "ExecutionPlacementError",
                                "Operands live on different queues, or `transfer_guard` forbids a copy. Compute follows data, and no array "
                                "is moved by itself: bring them together with `x.to_device(device)` or `asarray(x, queue=queue)`.",
                                PyExc_ValueError);
    device_error =
        new_error(m, "DeviceError", "A device failed, was lost, does not exist, or cannot do what is asked.", PyExc_RuntimeError);
    const nb::object both = nb::make_tuple(nb::borrow(device_error), nb::borrow(PyExc_ValueError));
    no_device_error =
        new_error(m, "DeviceNotFoundError",
                  "No device has the name or the aspects that are asked for. A `DeviceError`, and a ValueError as all that is "
                  "wrong with an argument.",
                  both.ptr());
    compile_error = new_error(m, "CompileError", "A kernel could not be compiled.", PyExc_RuntimeError);
    nb::register_exception_translator(translate_error);
}

}  // namespace bind

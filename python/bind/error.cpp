// python/bind/error.cpp: pardo/error.h for Python: one exception class for each error code.
#include <new>

#include "bind.h"

namespace bind {
namespace {

PyObject *placement_error, *device_error, *compile_error, *axis_error;

/// NumPy's AxisError is fetched when the first one is raised; without NumPy an IndexError says the same.
PyObject* axis_error_class() {
    if (!axis_error) {
        const nb::object module = nb::steal(PyImport_ImportModule("numpy.exceptions"));
        if (module) axis_error = PyObject_GetAttrString(module.ptr(), "AxisError");
        if (!axis_error) PyErr_Clear();
    }
    return axis_error ? axis_error : PyExc_IndexError;
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
        case pardo::ErrorCode::Compile: return compile_error;
        case pardo::ErrorCode::Import: return PyExc_ImportError;
        case pardo::ErrorCode::Internal: return PyExc_RuntimeError;
        case pardo::ErrorCode::Axis: return axis_error_class();
    }
    return PyExc_RuntimeError;
}

void set_error(const pardo::Error& e) { PyErr_SetString(class_of(e.code()), e.what()); }

void translate(const std::exception_ptr& p, void*) {
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

void set_error_from_current_exception() noexcept {
    try {
        throw;
    } catch (const pardo::Error& e) {
        set_error(e);
    } catch (nb::python_error& e) {
        e.restore();
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
    } catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "pardo: an unknown C++ exception");
    }
}

void bind_error(nb::module_& m) {
    placement_error = new_error(m, "ExecutionPlacementError",
                                "Operands live on different queues. Compute follows data, and nothing is copied by itself: bring them "
                                "together with `x.to_device(device)` or `asarray(x, queue=queue)`.",
                                PyExc_ValueError);
    device_error = new_error(m, "DeviceError", "A device failed, was lost, or does not exist.", PyExc_RuntimeError);
    compile_error = new_error(m, "CompileError", "A kernel could not be compiled.", PyExc_RuntimeError);
    nb::register_exception_translator(translate);
}

}  // namespace bind

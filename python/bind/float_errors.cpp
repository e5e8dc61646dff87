// python/bind/float_errors.cpp: what errstate asks for, and what operations report, between the library and pardo._runtime.float_errors.
#include <memory>
#include <string>
#include <utility>

#include <pardo/binding/hooks.h>
#include <pardo/log.h>

#include "bind.h"

namespace bind {
namespace {

// Kept for ever.
PyObject* state = nullptr;   // contextvars.ContextVar of (watched, raised, anything for `report`)
PyObject* report = nullptr;  // called with that, the bit of an event, the mask of all that were found, the text, and the line

/// Runs no Python code, since the caller may hold locks of the library.
pardo::FloatErrors errors() {
    if (!state || !holds_gil()) return {};
    const nb::object now = nb::borrow(state).attr("get")();
    if (now.is_none()) return {};
    pardo::FloatErrors result;
    result.watched = nb::cast<std::uint8_t>(now[0]);
    result.raised = nb::cast<std::uint8_t>(now[1]);
    if (result.watched != result.raised) result.reporter = kept(now);
    return result;
}

struct Report {
    std::shared_ptr<void> reporter;
    int event, found;
    std::string text, location;
};

void tell(void* context) {
    const std::unique_ptr<Report> told(static_cast<Report*>(context));
    PyObject* const arguments = Py_BuildValue("Oiiss", static_cast<PyObject*>(told->reporter.get()), told->event, told->found,
                                              told->text.c_str(), told->location.c_str());
    PyObject* const result = arguments ? PyObject_CallObject(report, arguments) : nullptr;
    Py_XDECREF(arguments);
    Py_XDECREF(result);
}

void tell_later(const std::shared_ptr<void>& reporter, pardo::FloatEvent event, std::uint8_t found, std::string_view text,
                std::string_view location) {
    call_later(&tell, new Report{reporter, static_cast<int>(event), found, std::string(text), std::string(location)});
}

}  // namespace

void bind_float_errors() {
    hook("report_float_errors", [](nb::handle function) { keep(report, function); });
    hook("float_errors", [](nb::handle variable) {
        keep(state, variable);
        pardo::set_float_errors_hooks(state ? &errors : nullptr, &tell_later);
    });
}

}  // namespace bind

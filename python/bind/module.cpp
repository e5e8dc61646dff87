// python/bind/module.cpp: the module pardo._core.
#include <cstdlib>

#include "bind.h"

NB_MODULE(_core, m) {
    // Classes, functions and threads of the module are those of one interpreter.
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        throw nanobind::import_error(
            "pardo: this is a subinterpreter, and pardo works in a process's main interpreter only; import it there, or start a process "
            "(under mod_wsgi: WSGIApplicationGroup %{GLOBAL})");
    }
    bind::guard_calls_of_python();
    m.doc() = "The compiled part of pardo: arrays, operations, devices. Names that begin with an underscore are for the package itself.";
    m.attr("_version") = PARDO_VERSION;
    // What a program keeps until its end, as the frames of a failed test, is not a leak that its user can do anything about.
    if (!std::getenv("PARDO_LEAK_REPORT")) nanobind::set_leak_warnings(false);
    bind::bind_hooks(m);
    bind::bind_error(m);
    bind::bind_function(m);
    bind::bind_wait(m);
    bind::bind_float_errors();
    bind::bind_device(m);
    bind::bind_memory(m);
    bind::bind_external(m);
    bind::bind_cache(m);
    bind::bind_event(m);
    bind::bind_queue(m);
    bind::bind_profile(m);
    bind::bind_array(m);
    bind::bind_task(m);
    bind::bind_allocator(m);
    bind::bind_block(m);
    bind::bind_host_operands(m);
    bind::bind_protocols();
    bind::bind_ufunc(m);
    bind::bind_elementwise(m);
    bind::bind_ops(m);
    bind::bind_linalg(m);
    bind::bind_kernel(m);
    bind::bind_captured(m);
    bind::bind_launcher(m);
    bind::bind_loop_call(m);
    bind::bind_image(m);
    bind::bind_program(m);
    bind::bind_present(m);
    bind::bind_saved_program(m);
    bind::bind_data_block(m);
    bind::bind_region(m);
    bind::bind_native(m);
}

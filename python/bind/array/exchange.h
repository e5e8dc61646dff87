// python/bind/array/exchange.h: what the ways to share an array's memory have in common: where it is, and how DLPack says so.
#pragma once

#include <optional>
#include <string>

#include <pardo/binding/dlpack.h>
#include <pardo/binding/exchange.h>

#include "bind.h"

namespace bind {

/// Throws Buffer.
[[noreturn]] void refuse(const std::string& message);
/// True when the host reads the memory where it is: on the CPU, and of other devices what is of a kind that is shared with it. Memory of
/// the kind 'device' is not, also where a driver would let the host read it: what programs may do is the same on all of these devices.
bool on_host(const pardo::Array& x);
/// Completes the value, and lends its memory; Ctrl-C ends the wait.
pardo::Loan lent(const pardo::Array& x, bool writable);
/// An array that shares a device's memory, where it is wanted.
pardo::Array delivered(const char* op_name, const pardo::Array& shared, const pardo::Queue* queue, std::optional<bool> copy);
/// NumPy's memory as an array of a queue, where it can be shared and no question is open; else nothing.
std::optional<pardo::Array> shared_at_sight(PyObject* o, const pardo::Queue& queue);

void bind_dlpack(nb::module_& m, nb::class_<pardo::Array>& c);
void bind_arrow(nb::module_& m);

}  // namespace bind

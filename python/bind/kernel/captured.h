// python/bind/kernel/captured.h: values from outside of functions: part of their programs, or numbers that launches read.
#pragma once

#include <vector>

#include "bind.h"

namespace bind {

/// What a name stood for when a program was made; `Captured` of pardo._compiler.names.
struct Captured {
    nb::object owner, name, value;  // a dict, or what has it as an attribute
    nb::object cells;               // None, or what takes the numbers of another value
    nb::object rest;                // a tuple of further attributes

    explicit Captured(nb::handle entry);
    /// Whether the program is for another value; numbers that launches read are put where they do.
    bool changed() const;
};

std::vector<Captured> captured_from(nb::handle list);
bool any_changed(const std::vector<Captured>& list);
void visit_captured(const std::vector<Captured>& list, const auto& each) {
    for (const Captured& c : list)
        for (const nb::object* o : {&c.owner, &c.name, &c.value, &c.cells, &c.rest}) each(*o);
}

}  // namespace bind

// src/lang/loops/dependence.h: what the iterations of a loop share, as far as its text says: names that they reduce into, elements.
// This folder: loops: parallel ones, those that an item goes through itself, and those of them that become the lanes.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "lang/lower.h"

namespace pardo::lang {

/// True if the name occurs anywhere in it.
bool mentions(const Tree& t, const std::string& name);
/// True if both read the same, wherever they are.
bool same_text(const Tree& a, const Tree& b);

/// What all statements that mention a name say of it.
struct Use {
    std::optional<ir::Combine> combine;
    bool reduces = true;          // nothing but reductions of one kind
    const Tree* other = nullptr;  // the first statement that is no such reduction
};

/// Adds what `t` says of the name.
void collect_use(const Tree& t, const std::string& name, Use& use);

/// i, i + c, c * i, … : different in each iteration. `changed`: names that the iterations assign.
bool distinct_in(const Tree& t, const std::string& index, const std::set<std::string>& changed);

/// All elements that a loop's body names: `stored` those that it assigns.
struct Elements {
    std::vector<const Tree*> stored, read;
    bool other = false;  // something that may touch arrays in ways not seen here
};

/// Adds those that are in `t`.
void collect_elements(const Tree& t, Elements& out);

}  // namespace pardo::lang

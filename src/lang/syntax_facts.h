// src/lang/syntax_facts.h: what the text of a function says by itself, before types are known.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <pardo/binding/syntax.h>

namespace pardo::lang {

using syntax::Form;
using syntax::Tree;

/// Whether the statements never go on to what follows them: one of them leaves on every path.
bool never_falls(const std::vector<Tree>& statements);
/// Whether there is a statement or expression of this form inside; without `through_loops` those of inner loops do not count.
bool contains(const Tree& t, Form form, bool through_loops);
/// Adds the names that a statement assigns, and those inside of it.
void collect_targets(const Tree& t, std::set<std::string>& names);
/// The operators of a comparison.
std::vector<std::string> operators_of(const Tree& t);
/// Whether an expression is cheap, without memory or calls: it may run although it is not needed.
bool is_simple(const Tree& t);

}  // namespace pardo::lang

// src/lang/scope_facts.h: what tests say about the names of a scope: their least values, and which of two is greater.
#pragma once

#include <cstdint>

#include "lang/scope.h"

namespace pardo::lang {

/// Notes what holds where a test is true, or where it is not.
void learn(Scope& scope, const syntax::Tree& test, bool truth);
/// The least value of one name minus another, `a - b`, as far as tests have said.
std::int64_t difference(const Scope& scope, const syntax::Tree& t);

}  // namespace pardo::lang

// src/lang/typing/joins.h: the type of what is one value on one path, or in one iteration, and another on another.
#pragma once

#include <string>
#include <vector>

#include "lang/lower.h"
#include "lang/scope.h"
#include "lang/typing/rules.h"

namespace pardo::lang {

/// The type of a value that is computed: what is known of a constant now is forgotten, but not its least value.
TypedExpr fluid(const Rules& rules, const TypedExpr& t);
/// The same, and its least value is forgotten too.
TypedExpr unbounded(const Rules& rules, const TypedExpr& t);
/// A value of this type that is not read.
TypedExpr blank(const TypedExpr& like);
bool same_type(const TypedExpr& a, const TypedExpr& b);
/// Gives arrays that a walk for types has met the memory that they have where they are built.
void adopt(TypedExpr& met, const TypedExpr& built);
/// The numbers of a value, those of a tuple in their order; `layout` gets how they belong together.
void numbers_of(const TypedExpr& t, std::vector<TypedExpr>& out, std::vector<ArgumentType>& layout);
/// What `name` is that is `a` on one path and `b` on another.
TypedExpr joined(const Rules& rules, const std::string& name, const Variable& a, const Variable& b, const Place& place);

}  // namespace pardo::lang

// src/lang/statements.h: statements, and the names that they assign.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lang/lowering.h"

namespace pardo::lang {

/// Gives a name a value, and notes its type where that is asked for.
void set_variable(Lowering& l, const std::string& name, TypedExpr expr, const Place& place);
/// Notes the types of the parameters of the function that is walked.
void record_parameters(Lowering& l);
/// Whether a flag may be set: what follows runs only if none is.
bool escapes(const Lowering& l);
/// Whether no flag is set.
TypedExpr alive(Lowering& l);
/// Statements one after the other, from the given one on.
void block(Lowering& l, const std::vector<Tree>& statements, std::size_t from = 0);
/// What follows statements that may have set a flag: it runs where none is.
void go_on(Lowering& l, const Place& place, const std::function<void()>& rest);
/// target = value: a name, an element, or a tuple of such.
void assign(Lowering& l, const Tree& target, const TypedExpr& assigned, const Place& place);
/// Runs one of two parts; names that both assign have one type behind it.
void branch(Lowering& l, const TypedExpr& test, const Place& place, const std::function<void()>& then_part,
            const std::function<void()>& else_part);
/// Arrays of the call whose names a serial loop gives new ones: these names are memory of the program's own, which they all go into.
void keep_rebound(Lowering& l);
/// What a name is given: in memory of its own, or in that of all arrays that have the name.
TypedExpr named(Lowering& l, const std::string& name, const TypedExpr& given, const Place& place);
/// Whether a name is one new array on one path and another on the other, and a copy of either is as good.
bool joins_arrays(Memory& l, const std::string& name, const Scope& before, const Scope& a, const Scope& b);

}  // namespace pardo::lang

// src/lang/calls/user.h: calls: of functions of the user, of structs, of what the language knows.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lang/array_expr/array_expr.h"
#include "lang/lowering.h"

namespace pardo::lang {

/// "1 argument", "2 to 3 arguments".
std::string count_text(int least, int most);
/// "1 was given", "3 were given".
std::string given_text(int count);
/// A function that the language knows of numbers, by its name.
NumberFunction function_of_numbers(Lowering& l, const std::string& name);
/// The argument in which a function of elements puts its results: by name, or behind the others; null if there is none.
const Tree* out_of(const Tree& call);
/// A call of a function that the language knows by its name.
TypedExpr call_known(Lowering& l, const Tree& given);
/// A call of a method: of a struct's class, or one that the language knows.
TypedExpr call_method(Lowering& l, const Tree& given);
/// The tuple behind `*` in a call.
TypedExpr starred(Lowering& l, const Tree& t);
/// A call of something that is a value: a function of the user, one that the language knows, or a dtype.
TypedExpr apply(Lowering& l, const Tree& t);
/// A call of a function of the user. `self`: what comes before the arguments, or null.
TypedExpr called(Lowering& l, const std::shared_ptr<const Function>& callee, const TypedExpr* self, std::span<const Tree> arguments,
                 const Place& place);
/// A function's statements in place of a call; its value.
TypedExpr inlined(Lowering& l, std::shared_ptr<const Function> callee, Scope given, const Place& place);
/// A call with the arguments that are given by name among the others, where these are; what is left are keywords in `kept`.
Tree ordered(const Lowering& l, const Tree& t, std::size_t from, const char* names, std::initializer_list<const char*> kept,
             bool gaps = false);
/// A function that a struct's class has under this name.
std::optional<syntax::Member> member_of(const TypedExpr& object, const std::string& name);
/// The function of a member; throws what is wrong with it.
std::shared_ptr<const Function> function_of(const Lowering& l, const syntax::Member& member, const Place& place);
/// What a method of the object gives, if its class has it.
std::optional<TypedExpr> by_method(Lowering& l, const std::string& name, const TypedExpr& object,
                                   std::initializer_list<TypedExpr> arguments, const Place& place);
/// As Python: the left operand's method, then that of the right one if it is of another type.
std::optional<TypedExpr> by_operator(Lowering& l, const TypedExpr& a, const TypedExpr& b, const std::string& op, bool in_place,
                                     const Place& place);
/// A comparison by the methods of structs' classes, if one of the two is a struct.
std::optional<TypedExpr> by_comparison(Lowering& l, const std::string& op, const TypedExpr& a, const TypedExpr& b, const Place& place);
/// An iteration of a loop inside begins.
void count_draws(Lowering& l);

}  // namespace pardo::lang

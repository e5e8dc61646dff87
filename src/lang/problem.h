// src/lang/problem.h: what is wrong with a program, and where, as the user reads it.
#pragma once

#include <string>

#include <pardo/error.h>
#include <pardo/syntax.h>

namespace pardo::lang {

using syntax::Form;
using syntax::Function;
using syntax::Place;
using syntax::Tree;

/// The message, then the file, the line and a caret under the expression; an Error that Python raises as it is.
[[nodiscard]] Error problem(ErrorCode code, const Function& function, const Place& place, const std::string& message);
/// "line 12", for messages that name a second place.
std::string line_text(const Place& place);

}  // namespace pardo::lang

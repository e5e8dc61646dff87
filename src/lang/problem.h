// src/lang/problem.h: what is wrong with a program, and where, as the user reads it.
#pragma once

#include <memory>
#include <string>

#include <pardo/binding/syntax.h>
#include <pardo/error.h>

namespace pardo::lang {

using syntax::Form;
using syntax::Function;
using syntax::Place;
using syntax::Tree;

/// The message, then the file, the line and a caret under the expression; an Error that Python raises as it is.
[[nodiscard]] Error problem(ErrorCode code, const Function& function, const Place& place, const std::string& message);
/// A function, whose places messages name.
struct Source {
    std::shared_ptr<const Function> function;
    /// Where the user's code calls the library's, while that is walked.
    struct Entry {
        std::shared_ptr<const Function> caller;
        Place place;
        std::string called;
    } entry{};

    /// Throws what is wrong at a place of the function; in the library's code where the user's called it.
    [[noreturn]] void fail(ErrorCode code, const Place& place, const std::string& message) const;
    [[noreturn]] void wrong_type(const Place& place, const std::string& message) const { fail(ErrorCode::Type, place, message); }
};

/// "line 12", for messages that name a second place.
std::string line_text(const Place& place);

}  // namespace pardo::lang

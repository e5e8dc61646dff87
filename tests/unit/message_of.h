// tests/unit/message_of.h: what a call says when it throws.
#pragma once

#include <string>
#include <vector>

#include <pardo/binding/hooks.h>
#include <pardo/error.h>
#include <pardo/event.h>

namespace pardo {

/// The message of the pardo::Error that f throws.
template <class F> std::string message_of(F&& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.message();
    }
    return "nothing was thrown";
}

/// Messages of failures that nobody has acknowledged, each once.
inline std::vector<std::string> unseen_failures() {
    std::vector<std::string> messages;
    for (const UnseenFailure& f : take_unseen_failures(Unseen::Last)) messages.push_back(f.error.message());
    return messages;
}

}  // namespace pardo

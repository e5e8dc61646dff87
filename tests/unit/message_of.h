// tests/unit/message_of.h: what a call says when it throws.
#pragma once

#include <string>

#include <pardo/error.h>

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

}  // namespace pardo

// src/capi/status.h: errors as status codes: what is thrown ends here, and its text stays with the thread.
#pragma once

#include <pardo/c_api.h>
#include <pardo/error.h>

namespace pardo::capi {

/// Of an error whose code ErrorCode does not have.
class StatusError : public Error {
public:
    StatusError(pardo_status status, std::string message) : Error(ErrorCode::Value, std::move(message)), status_(status) {}
    pardo_status status() const noexcept { return status_; }

private:
    pardo_status status_;
};

/// The status of an error.
pardo_status status_of(const Error& error) noexcept;
/// The error of a code that native code gives; codes that are none are internal errors with that number.
Error error_of(pardo_status status, std::string text);

/// Keeps the exception that is being handled as the thread's last error. `function`: of the table, for exceptions that name nothing.
pardo_status take_exception(const char* function) noexcept;
/// The same of an error; and what it returns when there is no memory for its text.
pardo_status keep(pardo_status status, const char* text) noexcept;
pardo_status last_error(const char** text);

/// Whether the thread has set an error since `forget`; and the error, which begins with `name`.
void forget_error() noexcept;
bool has_error() noexcept;
Error own_error();

/// What `f` throws becomes a status.
template <class F> pardo_status guarded(const char* function, F&& f) noexcept {
    try {
        f();
        return PARDO_OK;
    } catch (...) {
        return take_exception(function);
    }
}

/// While it lives, the thread runs a work function, which must not wait.
class InWork {
public:
    InWork() noexcept;
    ~InWork();
    InWork(const InWork&) = delete;
    /// Throws Device as "<function>: …" in one.
    static void refuse(const char* function);
};

/// Throws Value as "<function>: …" for a null pointer.
void require(const char* function, const void* pointer, const char* name);

}  // namespace pardo::capi

// include/pardo/error.h: the one exception type of the library.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <pardo/export.h>

namespace pardo {

/// What kind of failure it is; the Python layer maps each code to one exception class.
enum class ErrorCode : unsigned char {
    Value,      ///< ValueError: right type, impossible value (shapes, axes, sizes)
    Type,       ///< TypeError: wrong dtype or kind of argument
    Index,      ///< IndexError
    Overflow,   ///< OverflowError: a number does not fit the dtype
    Memory,     ///< MemoryError: message holds bytes asked for and bytes free
    Buffer,     ///< BufferError: an exchange that the protocol cannot do without a copy
    Placement,  ///< ExecutionPlacementError: operands on different queues
    Device,     ///< DeviceError: device lost, driver failure, what a device cannot do
    Compile,    ///< CompileError: a kernel could not be compiled
    Import,     ///< ImportError: an optional library is missing
    Internal,   ///< RuntimeError: a bug in pardo
    Axis,       ///< numpy.exceptions.AxisError (a ValueError and IndexError): an axis that the array does not have
    Name,       ///< NameError: a name in a kernel that has no value
    Assertion,  ///< AssertionError: an assert in a kernel
    Division,   ///< ZeroDivisionError: of Python integers, in a compiled loop
    Float,      ///< FloatingPointError: noted by an operation on arrays, where errstate asks for it
    NoDevice,   ///< DeviceNotFoundError (a DeviceError and ValueError): no device is as it is asked for
    Matrix,     ///< numpy.linalg.LinAlgError (a ValueError): a matrix that a computation cannot do: singular, not square, not converging
};

/// Thrown by every function of the library. `what()` starts with what the user called: "add: …".
class PARDO_API Error : public std::exception {
public:
    Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}  ///< a failure of a kind, with a message
    /// A failure of the caller's own code; `origin` is opaque to the library: the exception object of the caller's language.
    Error(ErrorCode code, std::string message, std::shared_ptr<void> origin)
        : code_(code), message_(std::move(message)), origin_(std::move(origin)) {}
    ErrorCode code() const noexcept { return code_; }                 ///< what kind it is
    const std::string& message() const noexcept { return message_; }  ///< what what() gives
    /// Null for failures of the library and of devices.
    const std::shared_ptr<void>& origin() const noexcept { return origin_; }
    /// The message.
    const char* what() const noexcept override { return message_.c_str(); }
    /// The number that native code has failed with (pardo/c_api.h); 0 of all else.
    int number() const noexcept { return number_; }
    /// Notes the number of native code.
    Error& set_number(int number) noexcept {
        number_ = number;
        return *this;
    }
    /// The same error with another message.
    Error with_message(std::string message) const { return Error(code_, std::move(message), origin_).set_number(number_); }

private:
    ErrorCode code_;
    int number_ = 0;
    std::string message_;
    std::shared_ptr<void> origin_;
};

/// Thrown by a host task that could not begin.
class PARDO_API NotRun : public Error {
public:
    using Error::Error;
};

}  // namespace pardo

// src/lang/typing/numbers.h: types and ranges of numbers: NumPy's promotion, how large Python's integers may become, what an array takes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lang/typing/rules.h"

namespace pardo::lang {

/// Bits that hold the magnitude of an integer, as far as is known: 63 if nothing is.
int bits_of(const TypedExpr& t);
/// Whether a number is not the result of arithmetic in the kernel on Python's integers: it has a dtype, is a constant, or is made of
/// arguments.
bool is_given(const TypedExpr& t);
/// Whether a Python integer is known to fit an integer dtype.
bool fits(const TypedExpr& weak, DType dtype);
/// Whether one of two integers is Python's and need not fit the dtype of the other.
bool outgrows(const TypedExpr& a, const TypedExpr& b);
/// The least value of a result, as far as the operands' least values say; counters are taken not to overflow.
std::int64_t least_of(ir::Opcode op, const TypedExpr& a, const TypedExpr& b);
/// Whether a conversion to `to` leaves an integer at or above what it is never below.
bool holds_least(const Rules& rules, const TypedExpr& t, DType to);
/// The type of a number made of two, by NumPy's rules (NEP 50).
NumberType promoted(const Rules& rules, const TypedExpr& a, const TypedExpr& b, const Place& place);
/// The result of an operation, or of a mathematical function, on constants.
TypedExpr folded(const Rules& rules, ir::Opcode op, ir::Math fn, NumberType type, std::span<const TypedExpr> operands);
/// The result of an operation on two integer constants of Python: an int64, or a uint64 if it is larger. No value for operations whose
/// result always fits an int64.
std::optional<TypedExpr> exact_constant(const Rules& rules, ir::Opcode op, const char* symbol, const TypedExpr& a, const TypedExpr& b,
                                        const Place& place);
/// The message for a result of integer constants that neither int64 nor uint64 holds.
std::string too_large(const std::string& expression);
/// Refuses a number of the program, a float by what is before its point, that does not fit the integers of a dtype.
void check_range(const Rules& rules, const TypedExpr& t, DType to, const Place& place);
/// Whether a kernel looks at a Python integer that becomes one of this dtype: it is made of arguments, and need not fit. At 64 bits they
/// wrap.
bool checks_range(const Rules& rules, const TypedExpr& t, DType to);
/// NumPy's rule for what an array takes: numbers of the same kind.
void require_fits(const Rules& rules, const View& v, const TypedExpr& stored, const Place& place);
/// The extents that a shape gives, which are known now.
std::vector<std::int64_t> constant_extents(const Rules& rules, const TypedExpr& t, const Place& place, const char* op_name);

}  // namespace pardo::lang

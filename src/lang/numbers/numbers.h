// src/lang/numbers/numbers.h: numbers: their values, their operations, comparisons, and Python's integers, which have no limit.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lang/numbers/emit.h"
#include "lang/scope.h"
#include "lang/typing/joins.h"
#include "lang/typing/numbers.h"

namespace pardo::lang {

/// A bool that is known now.
inline TypedExpr flag(bool set) { return number(Scalar(set)); }

/// The value in the IR, in its own dtype.
Value value(Emit& l, const TypedExpr& t);
/// The value converted to a dtype.
Value value(Emit& l, const TypedExpr& t, DType to);
/// The number converted to a type.
TypedExpr cast(Emit& l, const TypedExpr& t, NumberType to);
/// Sums and products of indices: Python ints that are computed in int64.
TypedExpr index_arithmetic(Emit& l, Opcode op, const TypedExpr& a, const TypedExpr& b);
/// One operation on operands converted to one dtype.
TypedExpr pure(Emit& l, Opcode op, NumberType type, std::initializer_list<TypedExpr> operands, DType operand_dtype);
/// A mathematical function; integers are taken as floats.
TypedExpr math(Emit& l, ir::Math fn, std::span<const TypedExpr> operands, const Place& place);
/// One of two values that are both computed.
TypedExpr selected(Emit& l, const TypedExpr& test, const Variable& x, const Variable& y, const Place& place);
/// What is like `like`, with these values from `at` on.
TypedExpr rebuilt(const Emit& l, const TypedExpr& like, std::span<const Value> values, std::size_t& at);
/// a op b in the dtype of `type`. `wraps`: only the low bits of the result are asked for.
TypedExpr arithmetic(Emit& l, Opcode op, const TypedExpr& a, const TypedExpr& b, NumberType type, const Place& place, bool wraps = false);
/// Refuses what is no operator of the language.
void require_operator(const Emit& l, const std::string& op, const Place& place);
/// a op b, by NumPy's rules. `wraps`: only the low bits of the result are asked for.
TypedExpr number_binary(Emit& l, const std::string& op, const TypedExpr& a, const TypedExpr& b, const Place& place, bool wraps = false);
/// op x.
TypedExpr number_unary(Emit& l, const std::string& op, const TypedExpr& x, const Place& place, bool wraps = false);
/// a ** b: small constant powers are products; integers to negative ones are refused, as in NumPy.
TypedExpr power(Emit& l, const TypedExpr& a, const TypedExpr& b, const Place& place);
/// a op b.
TypedExpr number_compared(Emit& l, const std::string& op, const TypedExpr& a, const TypedExpr& b, const Place& place);
/// Whether a number is not zero.
TypedExpr number_truth(Emit& l, const TypedExpr& t);
/// What an operation on Python's integers gives: as large as its operands say, and else checked.
void bound(Emit& l, TypedExpr& result, Opcode op, const TypedExpr& a, const TypedExpr& b, const Place& place, bool wraps);
/// Of arguments beyond int64 a kernel makes integers of 64 bits too: one that is larger would be another number.
void keep_large(Emit& l, const TypedExpr& result, Opcode op, const TypedExpr& a, const TypedExpr& b, const Place& place);
/// A Python integer that becomes one of a narrower dtype: the launch checks arguments, a serial loop and what is made of arguments here.
void narrowed(Emit& l, const TypedExpr& t, DType to);
/// A whole number as an int64; of uint64, whose upper half has no such value, it fails there.
TypedExpr whole_to_int(Emit& l, const TypedExpr& x, const Place& place, const std::string& op_name);
/// int(x): of a float the part before the point; NaN and what is too large fail as in Python.
TypedExpr to_int(Emit& l, const TypedExpr& x, const Place& place);
/// Sums, differences and products of indices.
inline TypedExpr add(Emit& l, const TypedExpr& a, const TypedExpr& b) { return index_arithmetic(l, Opcode::Add, a, b); }
inline TypedExpr sub(Emit& l, const TypedExpr& a, const TypedExpr& b) { return index_arithmetic(l, Opcode::Sub, a, b); }
inline TypedExpr mul(Emit& l, const TypedExpr& a, const TypedExpr& b) { return index_arithmetic(l, Opcode::Mul, a, b); }

}  // namespace pardo::lang

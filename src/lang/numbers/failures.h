// src/lang/numbers/failures.h: what fails when the program runs: it is told to the host, which makes an exception of it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lang/numbers/emit.h"

namespace pardo::lang {

/// Writes the first failure into the status block; the next wait makes an exception of it.
void fail_when(Emit& l, const TypedExpr& bad, ErrorCode code, const std::string& message, const Place& place,
               std::vector<TypedExpr> values);
/// `values`: $0, $1, $2 of the message.
void report(Emit& l, ErrorCode code, const std::string& message, const Place& place, std::span<const Value> values,
            const std::shared_ptr<const Function>& function);
/// Reports divisors of zero and shifts by too much: of Python's integers in serial loops, of others if everything is checked.
void check_operands(Emit& l, Opcode op, const TypedExpr& a, const TypedExpr& b, DType computed, const Place& place);
/// A loop ends before its counter wraps around, and says so: it would never end.
void guard_range(Emit& l, const TypedExpr& start, TypedExpr& stop, const TypedExpr& step, const Place& place);

}  // namespace pardo::lang

// src/emit/c/expressions.h: expressions of texts, by dtype: constants, conversions, arithmetic that wraps or rounds.
#pragma once

#include <string>

#include "emit/c/writer.h"
#include "ir/ir.h"

namespace pardo::emit {

/// More than a name or a number: not to be written twice.
bool is_expression(const std::string& text);
/// In brackets, if operators might bind otherwise.
std::string wrapped(const std::string& text);
/// An element of an array.
std::string element(const std::string& array, const std::string& index);
/// The name of an array of SharedValues, and its element of this iteration.
std::string kept_array(int array);
std::string kept_element(int array);
/// A word in front of a type; some languages have no such word.
std::string qualifier(const char* word);
/// A mathematical function's name for a dtype: "fabs", "fabsf".
std::string function_of(const CTarget& target, const std::string& name, DType dtype);

/// A number of the language.
std::string constant(const CTarget& target, const Scalar& value);
/// A Cast.
std::string cast(CWriter& w, const std::string& x, DType from, DType to);
/// A Bitcast.
std::string bitcast(CWriter& w, const std::string& x, DType from, DType to);
/// Floats as integers of their size; integers as they are.
std::string as_bits(const CTarget& target, DType dtype, const std::string& x);
/// `a sign b` of integers that may overflow: by unsigned ones; narrow ones come back from int.
std::string wrapping(const CTarget& target, const char* sign, DType dtype, const std::string& a, const std::string& b);
/// Min, Max, Fmin, Fmax; writes both several times.
std::string min_max(ir::Opcode op, DType dtype, const std::string& a, const std::string& b);
/// Two values of a reduction as one.
std::string combine(CWriter& w, ir::Combine combine, DType dtype, const std::string& a, const std::string& b);
/// `x`, of which the compiler cannot tell that it is a multiple of a counter.
std::string hidden(const CTarget& target, DType dtype, const std::string& x);

}  // namespace pardo::emit

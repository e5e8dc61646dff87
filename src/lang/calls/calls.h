// src/lang/calls/calls.h: the functions and methods that kernels may call, by name.
// This folder: calls: what the language knows, one file a subject; functions of the user; structs and what their classes have.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lang/lowering.h"

namespace pardo::lang::calls {

/// Of a struct.
inline constexpr int most_fields = 64;
using TypedExprs = std::vector<TypedExpr>;
/// Gets the call and its arguments.
using Handler = TypedExpr (*)(Lowering& l, const Tree& t, const TypedExprs& a);
/// What a function of numbers does with arrays: nothing, their elements one by one, these as floats.
enum class Lift : std::uint8_t { No, Each, Floats };
struct Row {
    int least, most;  // arguments
    Handler handler;
    const char* names = "";  // of those that may be given by name; "a|b": by either
    Lift lift = Lift::No;
    bool gaps = false;  // those that are not given, in front of one that is, are None
};
struct Tables {
    std::vector<std::pair<const char*, Row>> functions, methods;
};
const std::unordered_map<std::string, Row>& functions();
const std::map<std::string, Row>& methods();

// One of each subject.
Tables numbers();  // numbers.cpp
Tables arrays();   // arrays.cpp
Tables rows();     // rows.cpp
Tables atomics();  // atomics.cpp
Tables items();    // items.cpp
Tables draws();    // draws.cpp
Tables structs();  // structs.cpp
Tables prints();   // print.cpp

/// The k-th argument, which is a number.
TypedExpr number_of(Lowering& l, const Tree& t, const TypedExprs& a, std::size_t k);
/// Two operands of one dtype.
TypedExpr pair(Lowering& l, const Tree& t, Opcode op, const TypedExpr& a, const TypedExpr& b);

}  // namespace pardo::lang::calls

// src/lang/calls/calls.h: the functions and methods that kernels may call, by name.
// This folder: calls: what the language knows, one file a subject; functions of the user; structs and what their classes have.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lang/lowering.h"

namespace pardo::lang {

/// Each function gets the call and its arguments. A struct in here holds those of one subject, and is defined in the file of its tables.
struct Calls {
    static constexpr int most_fields = 64;
    using TypedExprs = std::vector<TypedExpr>;
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
    static const std::unordered_map<std::string, Row>& functions();
    static const std::map<std::string, Row>& methods();

    static Tables numbers();  // numbers.cpp
    static Tables arrays();   // arrays.cpp
    static Tables rows();     // rows.cpp
    static Tables atomics();  // atomics.cpp
    static Tables items();    // items.cpp
    static Tables draws();    // draws.cpp
    static Tables others();   // calls.cpp

    static TypedExpr number_of(Lowering& l, const Tree& t, const TypedExprs& a, std::size_t k) {
        return l.need_number(a[k], t.parts[std::min(k, t.parts.size() - 1)].place, t.name.c_str());
    }
    /// Two operands of one dtype.
    static TypedExpr pair(Lowering& l, const Tree& t, Opcode op, const TypedExpr& a, const TypedExpr& b);

private:
    struct Numbers;
    struct Arrays;
    struct OfRows;
    struct Atomics;
    struct Items;
    struct Draws;
    static TypedExpr structure(Lowering& l, const Tree& t, const TypedExprs& a) { return l.structure(t, a); }
    static TypedExpr replaced(Lowering& l, const Tree& t, const TypedExprs& a) { return l.replaced(t, a); }
    static TypedExpr print(Lowering& l, const Tree& t, const TypedExprs& a);
};

}  // namespace pardo::lang

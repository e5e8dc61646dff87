// src/array/operators.cpp: what operators of C++ do in place.
#include <pardo/ops.h>

#include <string>
#include <utility>

#include <pardo/binding/rows.h>
#include <pardo/error.h>

#include "graph/rows.h"

namespace pardo {
namespace {

Array& in_place(graph::Op op, Array& x, const Operand& y) {
    if (!x.node() || (y.array() && !y.array()->node()))
        throw Error(ErrorCode::Value, std::string(graph::name(op)) + ": an operand has no value: it was made without one, or moved from");
    if (y.expiring() == &x) return in_place(op, x, std::as_const(x));  // x += std::move(x): x stays
    apply_inplace(static_cast<int>(op), x, y);
    return x;
}

}  // namespace

Array& operator+=(Array& x, const Operand& y) { return in_place(graph::Op::add, x, y); }
Array& operator-=(Array& x, const Operand& y) { return in_place(graph::Op::subtract, x, y); }
Array& operator*=(Array& x, const Operand& y) { return in_place(graph::Op::multiply, x, y); }
Array& operator/=(Array& x, const Operand& y) { return in_place(graph::Op::divide, x, y); }
Array& operator%=(Array& x, const Operand& y) { return in_place(graph::Op::remainder, x, y); }
Array& operator&=(Array& x, const Operand& y) { return in_place(graph::Op::bitwise_and, x, y); }
Array& operator|=(Array& x, const Operand& y) { return in_place(graph::Op::bitwise_or, x, y); }
Array& operator^=(Array& x, const Operand& y) { return in_place(graph::Op::bitwise_xor, x, y); }
Array& operator<<=(Array& x, const Operand& y) { return in_place(graph::Op::left_shift, x, y); }
Array& operator>>=(Array& x, const Operand& y) { return in_place(graph::Op::right_shift, x, y); }

}  // namespace pardo

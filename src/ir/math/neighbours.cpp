// src/ir/math/neighbours.cpp: the next number of a dtype.
#include "ir/math/recipes.h"

namespace pardo::ir::math {

// Neighbours are neighbours as integers, away from zero going up.
Expr narrow_nextafter(Expr from, Expr to, DType t) {
    const Expr image = bitcast(cast(from, t), DType::UInt16), one_bit = image(1.0);
    const Expr nil = from(0.0), up = from < to, outward = up ^ (from < nil);
    const Expr next = image + one_bit, last = image - one_bit, stepped = select(outward, next, last);
    const Expr target = bitcast(cast(to, t), DType::UInt16), sign_bits = target & 32768.0;
    const Expr at_zero = from == nil, least = sign_bits | one_bit, moved = select(at_zero, least, stepped);
    const Expr equal = from == to, ordered = select(equal, from, cast(bitcast(moved, t), from.type()));
    const Expr from_nan = from != from, to_nan = to != to;
    return select(from_nan, from, select(to_nan, to, ordered));
}

}  // namespace pardo::ir::math

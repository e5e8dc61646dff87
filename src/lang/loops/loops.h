// src/lang/loops/loops.h: loops: parallel ones, and those that an item goes through itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lang/lowering.h"

namespace pardo::lang {

/// The loop, or the serial statements, that are the whole program.
void walk_loop(Lowering& l);
/// A loop that goes on while `test` says so and no flag is set. `hidden`: names that it carries too; `forever`: the test is always true.
void general_loop(Lowering& l, const Tree& t, const std::vector<const Tree*>& parts, const std::vector<std::string>& hidden,
                  const std::function<TypedExpr()>& test, const std::function<void()>& body, bool forever = false);
/// Puts the flags of the loop around back, and runs `else` if no break was met, nor a return or failure.
void after_loop(Lowering& l, const Tree* otherwise, const Variable& outer_break, const Variable& outer_continue);
/// for i in range(start, stop, step): `begin` binds what depends on i at the start of each iteration.
void ranged(Lowering& l, const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step, const Tree& body,
            const Tree* otherwise, const std::function<void(const TypedExpr&)>& begin);
/// for i in range(…), or prange(…).
void for_range(Lowering& l, const Tree& t);
/// while test: …
void while_statement(Lowering& l, const Tree& t);
/// for … in a tuple, the first axis of an array, a list, zip, enumerate, reversed or ndindex of these.
void for_each(Lowering& l, const Tree& t);
/// `prange` inside of serial loops: threads share its iterations. False: here they follow each other, as those of any loop.
bool shared_rounds(Lowering& l, const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step);
/// Notes whether a loop becomes the lanes. It does if it can each time that it is met. Why it cannot is told of outermost loops.
void choose_lanes(Lowering& l, const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step,
                  const std::function<void(const TypedExpr&)>& body);

}  // namespace pardo::lang

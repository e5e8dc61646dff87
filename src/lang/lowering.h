// src/lang/lowering.h: the state of walking the statements of a function: its names, the calls and loops that are under way.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lang/memory/memory.h"
#include "lang/names.h"
#include "lang/outside_numbers.h"
#include "lang/scope.h"

namespace pardo::lang {

/// A loop that is around what is walked.
struct Around {
    const Tree* loop;
    std::size_t calls;  // functions under way there
};

/// Of random numbers.
struct Draws {
    TypedExpr key;
    std::int64_t places = 0;  // in the program
};

/// Two walks: one for types, which finds how arguments are used too, then the one that builds. Inside, branches and loops are walked for
/// types before they are built, so that what joins has one type.
struct Lowering : Memory {
    Lowering(const std::shared_ptr<const Function>& function, const Task& task, OutsideUse* use)
        : Memory(function, task), outside(use, task.types.size(), task.options) {}

    Scope scope;
    int versions = 0;                          // of variables
    int counters = 0, operands = 0;            // names that were made
    std::set<std::string> own;                 // that each iteration of a parallel loop has for itself, and that had values before it
    std::map<std::string, TypedExpr> rebound;  // arrays whose names a loop gives others, and the memory for all of them
    std::vector<const Function*> stack;        // functions under way: none may come twice
    std::vector<Around> around;
    OutsideNumbers outside;
    std::vector<TypedExpr> arguments;
    std::vector<Value> own_indices;  // of a parallel loop that does not reduce: its indices
    Draws draws;
};

/// Lowers a function; without lanes loops where threads that share them would have to wait for each other.
Lowered lowered(const std::shared_ptr<const Function>& function, bool takes_item, const Space& space,
                const std::vector<ArgumentType>& arguments, const Options& options, const LoopSpec* loop, OutsideUse* outside);

/// Gives a name a value.
inline void give(Lowering& l, const std::string& name, TypedExpr expr, const Place& place) {
    l.scope.set(name, {std::move(expr), place, false, ++l.versions});
}

}  // namespace pardo::lang

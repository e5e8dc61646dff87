// src/lang/numbers/emit.h: the state with which numbers are built: the program, where the walk is, the Builder, and what the host is told.
// This folder: numbers: constants or values of the program, operations on them, and what is checked of them. It knows no arrays and no
// names.
#pragma once

#include <memory>

#include "lang/code.h"
#include "lang/host_memory.h"
#include "lang/lower.h"
#include "lang/typing/rules.h"

namespace pardo::lang {

/// What is lowered, and for what; the same in both walks.
struct Task {
    bool takes_item = false;
    const Space& space;
    const std::vector<ArgumentType>& types;  // of the arguments
    const Options& options;
    const LoopSpec* loop = nullptr;

    /// Dimensions of the kernel's index space.
    int rank() const;
    /// Serial loops, whose integers are Python's: they do not wrap.
    bool is_serial() const { return loop && !loop->parallel; }
};

/// A function's first parameter, `l`, says what it may touch: numbers alone (Emit), arrays too (Memory), or names and statements
/// (Lowering).
struct Emit {
    Emit(const std::shared_ptr<const Function>& function, const Task& asked);
    Emit(const Emit&) = delete;
    Emit& operator=(const Emit&) = delete;

    const Task task;
    Source source;  // the function that is walked
    Place at;       // of the statement that is walked
    const Rules rules;
    Walk walk;
    Code builder;
    HostMemory host;
    Value round = ir::no_value;  // of a loop that reduces
    Lowered out;
};

}  // namespace pardo::lang

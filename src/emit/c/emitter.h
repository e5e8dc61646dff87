// src/emit/c/emitter.h: the walk over a kernel's instructions.
// Modules of this folder take the least that they need: a CTarget or CWriter (expressions), a CSource (signature, mapping), CValues, which
// know both (arithmetic, memory, exchange), or the CEmitter, where they emit regions (control, lanes). What is decided about a kernel is in
// the CSource, and was found by emit/analysis.
#pragma once

#include "emit/c/context.h"
#include "emit/c/values.h"

namespace pardo::emit {

/// The walk, and what has been emitted on it.
struct CEmitter {
    explicit CEmitter(const CSource& source) : source(source), w(source.features), values(w, source) {}
    /// All of a region's instructions, but those that give its results.
    void region(const CContext& here, const ir::Region& region);
    /// One instruction, its regions included.
    void instruction(const CContext& here, const ir::Instr& in);

    const CSource& source;
    CWriter w;
    CValues values;
};

}  // namespace pardo::emit

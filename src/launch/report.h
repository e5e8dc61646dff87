// src/launch/report.h: what became of a function of the user, in words: types, and what runs in parallel.
#pragma once

#include <string>

#include "launch/function.h"

namespace pardo::launch {

/// The text of each function that was lowered, and next to its lines the types of the names that are assigned there.
std::string types_text(const lang::Lowered& lowered);
/// Where a program runs, over what, and the types of its arguments. `loop`: null for kernels.
std::string head_text(const Specialisation& special, const syntax::Function& function, bool takes_item, const lang::LoopSpec* loop);
/// What of it runs in parallel, and what keeps the rest from it.
std::string lanes_text(const Specialisation& special);

}  // namespace pardo::launch

// src/emit/c/values.h: the kernel's values as text.
#pragma once

#include <string>
#include <vector>

#include "emit/c/source.h"
#include "emit/c/writer.h"

namespace pardo::emit {

/// All values of a kernel, as far as they are emitted: names, or expressions that are written where they are used.
struct CValues {
    CValues(CWriter& w, const CSource& source);

    std::string& operator[](ir::Value v) { return texts[v]; }
    const std::string& operator[](ir::Value v) const { return texts[v]; }
    /// Keeps a pure value: one that is used once, nearby, is written where it is used.
    void define(ir::Value v, const std::string& expression);
    /// Gives a value a name.
    void declare(ir::Value v, const std::string& expression);
    /// The value as a name: for places that write it more than once.
    std::string named(ir::Value v);

    CWriter& w;
    const CSource& source;
    std::vector<std::string> texts;   // one a value
    std::vector<std::string> given;   // one a value: the name that it has before its instruction is met; else empty
    std::vector<std::string> params;  // one a parameter, as a value
};

/// Longer expressions get a name.
constexpr std::size_t longest_expression = 90;

}  // namespace pardo::emit

// src/emit/c/writer.h: the text that is made: where its next line goes, which names are taken, and the functions that it calls.
#pragma once

#include <string>
#include <utility>

#include "emit/c/helpers.h"
#include "emit/c/target.h"

namespace pardo::emit {

/// The statements of one function, and the language that they are in.
struct CWriter {
    explicit CWriter(const CFeatures& features) : features(features), target(*features.target), helpers(features) {}

    /// A line, indented.
    void line(const std::string& text) {
        lines.append(static_cast<std::size_t>(4 * depth), ' ');
        lines += text;
        lines += '\n';
    }
    /// A line for the compiler, as "#pragma unroll".
    void directive(const std::string& text) { lines += text + "\n"; }
    /// `head {`, the lines that `body` writes, `}`.
    template <class Body> void block(const std::string& head, Body&& body) {
        line(head + " {");
        ++depth;
        body();
        --depth;
        line("}");
    }
    /// A name that nothing else has: "v12".
    std::string fresh(const char* prefix) { return prefix + std::to_string(names++); }
    /// The lines so far, which are of another function than those that follow.
    std::string take() { return std::exchange(lines, std::string()); }

    const CFeatures& features;
    const CTarget& target;
    CHelpers helpers;
    std::string lines;
    int depth = 1;
    int names = 0;  // made so far
};

}  // namespace pardo::emit

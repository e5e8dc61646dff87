// src/lang/walk.h: what a walk over the syntax of a function is for: to find types alone, or to build the program too.
#pragma once

#include <utility>

#include "ir/ir.h"

namespace pardo::lang {

/// What the walk under way is for. Where it finds types alone, values are ir::no_value.
class Walk {
public:
    bool builds() const { return builds_; }
    bool finds_types() const { return !builds_; }
    void begin(bool builds) { builds_ = builds; }

    /// What `make` builds; no value in a walk for types.
    template <class Make> ir::Value value(const Make& make) const { return builds_ ? make() : ir::no_value; }
    /// What `part` gives in a walk for types inside of this one: what joins has one type before any of it is built.
    template <class Part> auto types_of(const Part& part) {
        struct Restored {
            bool& builds;
            bool before;
            ~Restored() { builds = before; }
        };
        const Restored restored{builds_, std::exchange(builds_, false)};
        return part();
    }

private:
    bool builds_ = false;
};

}  // namespace pardo::lang

// src/graph/call_cost.h: what a recorded call is estimated to cost, by the table call_costs.def.
#pragma once

#include <cstdint>
#include <string>

namespace pardo::graph {

struct Node;

/// A row of call_costs.def.
enum class CallCost : std::uint8_t {
#define ROW(name, text, unit, number, processor, other) name,
#include "graph/call_costs.def"
#undef ROW
};

/// A recorded call, on the kind of device of its queue.
struct CallEstimate {
    CallCost row;
    double operations, ns;  // of a copy bytes
    double least_ns;        // from which on a call starts when it is recorded

    bool worth_starting() const { return ns >= least_ns; }
    /// "a product of matrices, 2.1e+09 operations, 21000 us; starts when it is recorded from 200 us on", for explain.
    std::string text() const;
};

/// Of a node of kind Call.
CallEstimate estimate_call(const Node& node);

}  // namespace pardo::graph

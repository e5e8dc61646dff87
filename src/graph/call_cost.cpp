// src/graph/call_cost.cpp: estimates from elements and extents alone: neither clocks nor the state of a device have a part in them.
#include "graph/call_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "device/device.h"
#include "graph/call.h"

namespace pardo::graph {

namespace {

// Some launches: a launch that wakes threads takes some 20 us on a processor, one of a driver some 2.
constexpr double some_launches = 10, processor_launch_ns = 20e3, driver_launch_ns = 2e3;

struct Extents {
    double read = 0, written = 0, inner = 1, bytes = 0;
};

Extents extents_of(const Node& node) {
    Extents found;
    for (int i = 0; i < node.arity; ++i) found.read += static_cast<double>(node.inputs[i]->size());
    for (const Node* result : node.call()->results) {
        if (!result) continue;
        const auto elements = static_cast<double>(result->size());
        found.written += elements;
        found.bytes += elements * itemsize(result->dtype);
    }
    if (node.arity > 0 && !node.inputs[0]->shape.empty()) found.inner = static_cast<double>(node.inputs[0]->shape.back());
    return found;
}

struct Row {
    const char *text, *unit;
    double processor, other;  // operations a nanosecond
    double (*operations)(const Extents&);
};

constexpr Row rows[] = {
#define ROW(name, text, unit, count, processor, other)                                                           \
    {text, unit, processor, other, [](const Extents& of) -> double {                                             \
         [[maybe_unused]] const double read = of.read, written = of.written, inner = of.inner, bytes = of.bytes; \
         return count;                                                                                           \
     }},
#include "graph/call_costs.def"
#undef ROW
};

}  // namespace

CallEstimate estimate_call(const Node& node) {
    const CallCost at = node.call()->cost_row();
    const Row& row = rows[static_cast<std::size_t>(at)];
    const bool processor = device::is_processor(node.queue->device());
    const double operations = row.operations(extents_of(node));
    return {at, operations, operations / (processor ? row.processor : row.other),
            some_launches * (processor ? processor_launch_ns : driver_launch_ns)};
}

std::string CallEstimate::text() const {
    if (row == CallCost::waits) return rows[0].text;
    char line[160];
    const Row& its = rows[static_cast<std::size_t>(row)];
    std::snprintf(line, sizeof line, "%s, %.2g %s, %.3g us; starts when it is recorded from %.3g us on", its.text, operations, its.unit,
                  ns * 1e-3, least_ns * 1e-3);
    return line;
}

}  // namespace pardo::graph

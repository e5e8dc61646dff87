// include/pardo/binding/plan.h: how pending arrays would be computed, as data; explain() of pardo/array.h says the same as text.
// For pardo's own bindings: no stability.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <pardo/array.h>
#include <pardo/dtype.h>
#include <pardo/export.h>

namespace pardo {

/// A value in memory that a step reads or writes.
struct PlanValue {
    int id = 0;  // the same number wherever a plan reads or writes this value
    DType dtype = DType::Float64;
    std::vector<std::int64_t> shape;
    std::string why;  // it is written: "asked for", "read by another kernel"
};

/// One kernel, or one call of a library routine. Steps are in the order in which they run.
struct PlanStep {
    bool call = false;
    std::string name;                     // of the kernel, "multiply_add_f64"; of the function that was called
    std::string location;                 // of a call: "/home/me/model.py:42", empty when unknown
    std::string how;                      // of a kernel: "elementwise, range (1000,)"; of a call: "by OpenBLAS"
    std::vector<std::string> rejected;    // of a call: cheaper implementations, and why they are not taken
    std::string cut;                      // why it is not a part of an earlier kernel, if it could have been
    std::vector<std::string> operations;  // of a kernel: what is fused in it, operands before users
    std::vector<PlanValue> reads, writes;
    std::int64_t bytes_read = 0, bytes_written = 0;  // of a kernel
};

struct PlanReport {
    std::string text;
    std::vector<PlanStep> steps;
};

/// The plan for some arrays, as if they were computed together; computes nothing.
PARDO_API PlanReport plan_report(std::span<const Array> roots);

}  // namespace pardo

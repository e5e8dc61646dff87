// src/array/call.h: records operations that are not one fused loop.
#pragma once

#include <span>
#include <utility>

#include <pardo/array.h>

#include "graph/call.h"

namespace pardo::arrays {

using graph::Call;
using graph::CallInput;
using graph::ImplementationChoice;

/// A call that functions on arrays compute.
struct ArrayCall : graph::Call {
    using graph::Call::Call;
    /// As run, on arrays.
    virtual void compute(std::span<const Array> inputs, std::span<Array> results) const = 0;
    void run(std::span<graph::Node* const> inputs, std::span<Ref<graph::Node>> results) const final;
};

/// Records a call, or computes it at once where inputs are in memory and elements are few; its shapes and dtypes have been checked.
Array record(const Ref<ArrayCall>& call, std::span<const Array> inputs, const graph::ResultType& type);
std::pair<Array, Array> record(const Ref<ArrayCall>& call, std::span<const Array> inputs, const graph::ResultType& first,
                               const graph::ResultType& second);
/// The same for one to `most_results` results.
void record(const Ref<ArrayCall>& call, std::span<const Array> inputs, std::span<const graph::ResultType> types, Array* results);

}  // namespace pardo::arrays

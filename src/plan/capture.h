// src/plan/capture.h: takes what a queue would run, for programs that leave the process.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pardo/error.h>

#include "base/status_text.h"
#include "device/signature.h"
#include "ir/ir.h"
#include "plan/subgraph.h"

namespace pardo::plan {

/// What may fail in a kernel of the user: the message has `$0` to `$2` (or `$u0`, …) for the kernel's values, and `item_mark` for the item.
struct CapturedFailure {
    ErrorCode code = ErrorCode::Index;
    std::string message;
};

/// A launch of a user's function. Each value of its signature is a Leaf, a number, or the status block.
struct CapturedLaunch {
    struct Value {
        const graph::Node* node = nullptr;
        std::optional<Scalar> number;  // neither: the status block
    };
    const ir::Kernel& kernel;
    const device::Signature& signature;
    std::span<const std::int64_t> extents;
    double cost_ns;           // for these extents
    std::int64_t rounds = 1;  // iterations of its lanes loops, roughly
    std::vector<CapturedFailure> failures;
    std::function<Value(std::uint32_t)> value;
};

/// Set as GraphState::capture, it is given what a queue would run in the place of the device.
class Capture {
public:
    virtual ~Capture() = default;
    /// Turns the nodes that are asked for into leaves, as a run would. False for a store whose value overlaps its target in another order.
    virtual bool take(const Subgraph& subgraph, device::Queue* queue) = 0;
    virtual void take(const CapturedLaunch& launch) = 0;
    static Capture* of(device::Queue* queue) { return static_cast<Capture*>(graph::state_of(queue).capture); }
};

}  // namespace pardo::plan

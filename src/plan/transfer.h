// src/plan/transfer.h: values that come from another queue: two nodes in two graphs, whose locks are never held together.
#pragma once

#include <memory>
#include <span>

#include <pardo/error.h>

#include "graph/node.h"

namespace pardo::plan {

/// Why a value that has come from another queue has failed: by work there, whatever becomes of the value here.
struct MovedError : Error {
    MovedError(const Error& error, const device::FailureLog* of) : Error(error), place(of) {}
    const device::FailureLog* place;  // that of the queue
};

// Callers hold no graph lock.

/// Computes what transfers bring, each on the queue that it comes from, and turns them into Leaves; does not wait. Those that are Leaves
/// already are left alone. A failure is thrown as by force.
void arrive(std::span<graph::Node* const> transfers);

/// The same for all transfers to a queue that the program holds, for the sake of another operation: as force_each. Gives the first failure,
/// if any.
std::shared_ptr<const Error> force_transfers(device::Queue* queue);

/// Replaces the transfers to `queue` among nodes by what they are made of, calls of other queues; for explain.
void unfold_transfers(device::Queue* queue, std::span<Ref<graph::Node>> nodes);

}  // namespace pardo::plan

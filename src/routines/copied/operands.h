// src/routines/copied/operands.h: a routine's operands as copies on the CPU.
// This folder: routines of devices whose memory the host does not compute on, and which compile no text: the CPU's, on copies.
#pragma once

#include <utility>
#include <vector>

#include "routines/routines.h"

namespace pardo::routines {

/// Where the CPU's routines run on copies; no other work uses it: what fails there is told by the copy that waits for it.
device::Queue* queue_of_copies();

/// Copies to the CPU, and back: everything is submitted, no thread waits. Memory that is absent stays absent.
class CopiedOperands {
public:
    explicit CopiedOperands(device::Queue* queue);

    /// Where the routine runs.
    device::Queue* host() const { return host_; }
    Memory read(const Memory& x);
    /// The routine writes all of it.
    Memory written(const Memory& x);
    /// It reads it, and may leave elements as they are.
    Memory updated(const Memory& x);
    std::vector<Memory> written(std::span<const Memory> list);
    Bounds read(const Bounds& bounds);
    /// Copies back what was written.
    void finish();

private:
    struct Pair {
        Memory there, here;
    };
    device::Queue* queue_;
    device::Queue* host_;
    std::vector<Pair> results_;
};

}  // namespace pardo::routines

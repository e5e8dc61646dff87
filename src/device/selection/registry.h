// src/device/selection/registry.h: the list of devices as selection strings see it.
// This folder: which devices and parts of devices there are, what they can do, and how strings and the environment name them.
#pragma once

#include <string>
#include <vector>

#include "device/device.h"

namespace pardo::device {

/// One device, with the facts that selection looks at.
struct Candidate {
    Device* device;
    std::string backend;
    DeviceType type;
    std::string id;
    std::string name;
    bool hidden = false;  // found only when its back end is named
};

/// From now on a fork waits while a canonical queue is being made.
void hold_canonical_at_fork();

}  // namespace pardo::device

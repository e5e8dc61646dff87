// src/backend/null/null.h: a back end that records launches and computes nothing, so that planning is testable on any machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <pardo/error.h>

#include "device/device.h"
#include "ir/ir.h"

namespace pardo::null {

void register_backend();

/// One recorded submission.
struct Record {
    std::string kind;  // "launch", "host_task", "copy", "fill", "barrier"
    std::string name;  // kernel or task
    std::string ir;    // printed kernel of a launch
    std::vector<std::int64_t> extents;
    std::vector<std::uint64_t> args;
    std::int64_t bytes_read = 0, bytes_written = 0, operations = 0;
};
/// What the null device has been given since the last call; clears the list.
std::vector<Record> take_records(device::Device* device);
/// The next submission to this device fails late with `error`: its Event fails, and so does what depends on it. For tests.
void fail_next(device::Device* device, Error error);
/// Called by each compilation for this device, on the thread that compiles; what it throws is the compilation's error. For tests.
void on_compile(device::Device* device, std::function<void(const ir::Kernel&)> hook);

}  // namespace pardo::null

// src/lib/cuda/workspace.h: memory that the calls of a stream use one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <pardo/error.h>

#include "backend/cuda/libraries/driver.h"

namespace pardo::lib::nvidia {

/// Used with the device's context current.
class Workspace {
public:
    Workspace(const cuda::Driver* driver, const char* op_name) : driver_(driver), op_name_(op_name) {}
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    ~Workspace() {
        if (memory_) driver_->cuMemFree(memory_);
    }
    /// Memory of the device, until the next call.
    char* get(std::size_t bytes) {
        if (bytes > bytes_) {
            // Freeing waits for what still uses it.
            if (memory_) driver_->cuMemFree(memory_);
            memory_ = 0;
            bytes_ = 0;
            if (driver_->cuMemAlloc(&memory_, bytes) != cuda::result::success)
                throw Error(ErrorCode::Memory, std::string(op_name_) + ": " + std::to_string(bytes) +
                                                   " bytes of workspace do not fit into the device's memory");
            bytes_ = bytes;
        }
        return reinterpret_cast<char*>(static_cast<std::uintptr_t>(memory_));
    }

private:
    const cuda::Driver* driver_;
    const char* op_name_;
    cuda::DevicePointer memory_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace pardo::lib::nvidia

// src/lib/routines.cpp: which table of routines belongs to a device.
#include "lib/routines.h"

#include <string>

#include "lib/device/routines.h"

namespace pardo::lib {

namespace {

/// One row a back end. The null back end records the CPU's tasks, which run on one thread there.
struct Row {
    const char* backend;
    const Routines& (*table)();
};
constexpr Row rows[] = {{"cpu", cpu_routines}, {"null", cpu_routines}, {"opencl", device_routines}, {"cuda", device_routines}};

}  // namespace

const Routines& routines_for(const char* who, const device::Device* device) {
    for (const Row& row : rows) {
        if (device->info().backend == row.backend) return row.table();
    }
    throw Error(ErrorCode::Device,
                std::string(who) + ": device " + device->id() + " has no library routines; move the operands with to_device(\"cpu\")");
}

}  // namespace pardo::lib

// src/saving/replay.h: calls of the library's routines, from what a file says of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "device/device.h"
#include "saved/program.h"

namespace pardo::saving {

/// Memory of a value of a program, and its first byte there.
struct Place {
    Ref<device::Buffer> buffer;
    std::int64_t first = 0;
};

/// Throws Value unless this library has the routine, with arguments of these kinds.
void require_routine(const saved::Routine& routine, const std::string& path);
/// Submits what the call does. Throws Value where it uses memory beyond what there is.
void replay(const saved::Program& program, const saved::RoutineCall& call, std::span<const std::int64_t> values,
            const std::function<Place(std::uint32_t)>& place_of, device::Queue* queue);

}  // namespace pardo::saving

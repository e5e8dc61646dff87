// src/lib/exponents.cpp: that powers of integers have no negative exponents, where only the data tells.
#include <string>

#include <pardo/ops.h>

#include "lib/operand.h"

namespace pardo::lib {

// The values are copied, so that a failure is that of the power's readers and not of all that read the exponents.
Array checked_exponents(const Array& y) {
    device::Queue* queue = queue_of("power", y);
    const Array pair[] = {y.copy(), reduce(Reduction::Any, less(y, std::int64_t{0}))};
    force(pair);
    const Memory values = memory_of(pair[0]), negative = memory_of(pair[1]);
    const device::BufferUse uses[] = {{negative.buffer.get(), device::Access::Read}, {values.buffer.get(), device::Access::ReadWrite}};
    const auto check = [queue, negative, place = device::current_location()] {
        std::uint8_t found = 0;
        if (negative.buffer->host_visible()) {
            found = *reinterpret_cast<const std::uint8_t*>(negative.address());
        } else {
            queue->fetch(&found, negative.buffer.get(), static_cast<std::size_t>(negative.offset), 1);
        }
        const std::string line = place.empty() ? std::string() : " (at " + place.str() + ")";
        if (found) fail(ErrorCode::Value, "power", "Integers to negative integer powers are not allowed." + line);
    };
    queue->host_task(check, uses, device::Label{"power", device::current_location()}, 50);
    return pair[0];
}

}  // namespace pardo::lib

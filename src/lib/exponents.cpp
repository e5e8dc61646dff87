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
    const auto check = [place = device::current_location()](std::uint8_t negative) {
        const std::string line = place.empty() ? std::string() : " (at " + place.str() + ")";
        if (negative) fail(ErrorCode::Value, "power", "Integers to negative integer powers are not allowed." + line);
    };
    check_later(queue, "power", memory_of(pair[0]), memory_of(pair[1]), check);
    return pair[0];
}

}  // namespace pardo::lib

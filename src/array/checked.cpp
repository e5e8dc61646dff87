// src/array/checked.cpp: late errors of values: readers fail if a condition on the data, which the device tests, holds.
#include <string>
#include <utility>

#include <pardo/ops.h>

#include "array/checked.h"
#include "array/operand.h"

namespace pardo {
namespace {

constexpr char check_label[] = "check";

}  // namespace

void fail_where(const Array& values, const Array& wrong, ErrorCode code, std::string message) {
    device::Queue* queue = arrays::queue_of(check_label, values, wrong);
    const Array pair[] = {values, wrong.ndim() == 0 ? wrong : reduce(Reduction::Any, wrong)};
    force(pair);
    const auto check = [place = device::current_location(), code, message = std::move(message)](std::uint8_t found) {
        if (found) throw Error(code, place.empty() ? message : message + " (at " + place.str() + ")");
    };
    arrays::check_later(queue, check_label, arrays::memory_of(pair[0]), arrays::memory_of(pair[1]), check);
}

namespace arrays {

// The values are copied, so that a failure is that of the power's readers and not of all that read the exponents.
Array checked_exponents(const Array& y) {
    Array values = y.copy();
    fail_where(values, less(y, std::int64_t{0}), ErrorCode::Value, "power: Integers to negative integer powers are not allowed.");
    return values;
}

}  // namespace arrays
}  // namespace pardo

// src/routines/device/select.cpp: the elements at some positions of sorted long lines, digit by digit from the highest one, on devices that
// compile text.
#include <algorithm>
#include <limits>
#include <vector>

#include "routines/device/sorting.h"

namespace pardo::routines {

namespace {

/// Digits, and how many different beginnings of keys are counted apart.
struct SelectShape {
    int digit_bits, slots;
};
SelectShape shape_for(DType dtype, std::size_t wanted) { return {itemsize(dtype) == 1 ? 8 : 11, wanted > 4 ? 8 : 4}; }

}  // namespace

bool selects(DType dtype, std::int64_t length, std::size_t wanted) {
    return !is_complex(dtype) && wanted > 0 && wanted <= most_wanted && length > 2048 &&
           length <= std::numeric_limits<std::uint32_t>::max();
}

Selected select(const SortPlan& plan, const Memory& x, KeyMode mode, std::span<const std::int64_t> kth, const Memory& values) {
    device::Queue* queue = plan.queue;
    Selected out{{kth.begin(), kth.end()}, mode, values, {}, {}};
    const auto wanted = static_cast<std::int64_t>(kth.size());
    const SelectShape shape = shape_for(x.dtype, kth.size());
    const int width = 8 * itemsize(x.dtype), passes = static_cast<int>(divide_up(width, shape.digit_bits));
    if (!values) out.keys = device_scratch(queue, x.dtype, plan.lines * wanted);
    out.ranks = device_scratch(queue, DType::UInt32, plan.lines * wanted);
    out.equal = device_scratch(queue, DType::UInt32, plan.lines * wanted);
    const std::int64_t counters = plan.lines * shape.slots << shape.digit_bits;
    const Memory counts = device_scratch(queue, DType::UInt32, counters + plan.lines * (passes + 1)), sizes = memory_from(counts, counters);
    const std::uint32_t zero = 0;
    queue->fill(counts.buffer.get(), 0, static_cast<std::size_t>(counts.nbytes()), &zero, sizeof(zero));
    Memory kept[2];
    const std::int64_t tile = std::int64_t{256} * 16;
    constexpr std::int64_t most_tiles = 15;  // of a group, whose counters have 16 bits
    const std::int64_t parts =
        std::min(divide_up(plan.length, tile),
                 std::max({busy_groups(queue->device()) / 2 / plan.lines, divide_up(plan.length, most_tiles * tile), std::int64_t{1}}));
    for (int pass = 0; pass < passes; ++pass) {
        const std::int64_t above = width - pass * shape.digit_bits, shift = std::max<std::int64_t>(above - shape.digit_bits, 0);
        const bool raw = pass < 2;
        const bool keep = pass > 0 && pass + 1 < passes;
        if (keep) kept[pass % 2] = device_scratch(queue, x.dtype, plan.size());
        DeviceArgs args;
        for (const DeviceArg& arg : {reads(raw ? x : kept[1 - pass % 2]), reads(out.keys), updates(counts)}) args.push_back(arg);
        if (keep) args.push_back(updates(kept[pass % 2]));
        args.push_back(updates(sizes));
        for (const std::int64_t number :
             {plan.length, parts, wanted, std::int64_t{pass}, std::int64_t{passes} + 1, shift, above, std::int64_t{raw}, plan.flip()})
            args.push_back(number);
        const Define digits{"DIGIT_BITS", shape.digit_bits}, slots{"SLOTS", shape.slots}, how{"MODE", mode};
        launch_kernel(queue, plan.name, Variant(KernelId::SelectCount, x.dtype, {digits, slots, how, {"KEEP", keep}}), plan.lines * parts,
                      args);
        DeviceArgs next;
        for (const DeviceArg& arg : {updates(out.keys), updates(out.ranks), updates(out.equal), updates(counts)}) next.push_back(arg);
        for (const std::int64_t number : {wanted, shift, above, std::int64_t{static_cast<bool>(values)}, plan.flip()})
            next.push_back(number);
        for (std::size_t k = 0; k < most_wanted; ++k) next.push_back(k < kth.size() ? kth[k] : 0);
        launch_kernel(queue, plan.name, Variant(KernelId::SelectDigit, x.dtype, {digits, slots, how}), plan.lines, next);
    }
    return out;
}

}  // namespace pardo::routines

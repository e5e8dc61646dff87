// src/routines/cpu/sort/sort.cpp: sort and argsort on the CPU.
#include "routines/cpu/sort/sort.h"

#include "routines/cpu/task.h"
#include "routines/memory.h"
#include "routines/routines.h"

namespace pardo::routines {

namespace {

/// Lines from this length on are sorted by all threads together, when there are few of them.
constexpr std::int64_t long_line = 65536;

/// What one line takes beside its elements: its keys, which are as wide as these, twice; and twice its positions. Complex numbers have
/// memory of their own.
std::int64_t scratch_bytes(DType dtype, std::int64_t length, bool positions) {
    if (is_complex(dtype)) return 1;
    return argsort_positions(length, itemsize(dtype)) + (positions ? 2 * length * (has_small_positions(length) ? 4 : 8) : 0);
}

void cpu_sort(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines, bool descending) {
    device::Device* device = processor_of(queue);
    const double cost = static_cast<double>(x.size()) * (indices ? 20 : 8) + 200;
    // Few long lines: all threads work on each, in scratch memory of the device. One thread gains from it too when the line is beyond its
    // cache.
    const int threads = cpu::thread_count(device);
    const bool together = lines.inner == 1 && lines.length >= (threads > 1 ? long_line : 16 * long_line) && lines.outer < 4 * threads;
    const Memory scratch =
        together ? make_scratch_bytes(queue, scratch_bytes(x.dtype, lines.length, static_cast<bool>(indices))) : Memory();
    submit(queue, indices ? "argsort" : "sort", cost, {&x}, {&values, &indices, &scratch}, [=] {
        visit_dtype(x.dtype, [&]<class T>(std::type_identity<T>) {
            sort_lines(device, reinterpret_cast<const T*>(x.address()), values ? reinterpret_cast<T*>(values.address()) : nullptr,
                       indices ? reinterpret_cast<std::int64_t*>(indices.address()) : nullptr, lines, descending,
                       scratch ? scratch.address() : nullptr, cost);
        });
    });
}

const Registered sort_here(routines::sort, {"threads", DeviceKinds::Processor, cpu_sort});

}  // namespace

}  // namespace pardo::routines

// src/array/generated/own_kernel.h: launches of kernels that calls make themselves, in the IR, for whatever device computes them.
#pragma once

#include "array/operand.h"
#include "device/device.h"
#include "ir/ir.h"

namespace pardo::arrays {

/// What a kernel is given, in the order of its parameters.
struct KernelArguments {
    SmallVector<std::uint64_t, 12> words;
    SmallVector<device::BufferUse, 8> uses;
    bool foreign = false;

    void add(const Memory& memory, device::Access access) {
        words.push_back(reinterpret_cast<std::uint64_t>(memory.address()));
        uses.push_back(use_of(memory, access));
        foreign |= device::externally_visible(memory.buffer.get(), access);
    }
    void add(std::int64_t number) { words.push_back(static_cast<std::uint64_t>(number)); }
};

/// `op_name` is of static life; `cost_ns` is what one core takes.
void launch_own_kernel(device::Queue* queue, const char* op_name, const ir::Kernel& kernel, Extents extents,
                       const KernelArguments& arguments, double cost_ns);

}  // namespace pardo::arrays

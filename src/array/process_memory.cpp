// src/array/process_memory.cpp: memory of devices that other processes use as well.
#include <pardo/binding/process_memory.h>

#include <utility>

#include "device/device.h"
#include "graph/node.h"

namespace pardo {

NamedMemory name_memory(const Device& device, std::uintptr_t address) {
    device::ProcessBlock block = device.impl()->name_block(address);
    return {std::move(block.name), block.offset, block.bytes};
}

std::uintptr_t open_memory(const Device& device, std::string_view name) { return device.impl()->open_block(name); }

void close_memory(const Device& device, std::uintptr_t address) noexcept { device.impl()->close_block(address); }

HeldMemory::HeldMemory(const Array& x) : buffer_(x.force().node()->buffer.get()) { buffer_->retain(); }

HeldMemory::~HeldMemory() { buffer_->release(); }

bool HeldMemory::alone() const noexcept { return buffer_->unshared(); }

std::uintptr_t HeldMemory::number() const noexcept { return reinterpret_cast<std::uintptr_t>(buffer_); }

}  // namespace pardo

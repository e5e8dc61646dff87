// src/device/external.cpp: what a device says that has nothing in common with other drivers.
#include "device/external.h"

#include "device/device.h"

namespace pardo::device {

std::string External::lacks(ExternalUse) const { return "has no driver that exchanges file descriptors with others"; }

void External::refuse(ExternalUse use) const { throw Error(ErrorCode::Device, device_->id() + " " + lacks(use)); }

ExternalMemory External::make(std::size_t) { refuse(ExternalUse::Make); }
int External::export_fd(std::uintptr_t) { refuse(ExternalUse::Make); }
std::uintptr_t External::open(int, std::size_t, bool) { refuse(ExternalUse::Open); }
void External::close(std::uintptr_t) noexcept {}
std::unique_ptr<SharedSemaphore> External::open_semaphore(int, bool timeline) {
    refuse(timeline ? ExternalUse::Timeline : ExternalUse::Binary);
}

}  // namespace pardo::device

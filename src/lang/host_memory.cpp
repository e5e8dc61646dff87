// src/lang/host_memory.cpp: the parameters for what a program says to the host.
#include "lang/host_memory.h"

namespace pardo::lang {

void HostMemory::declare(ir::Builder& builder, std::vector<Slot>& slots, bool fails, DType real) {
    if (uses_status || fails) {
        status = builder.pointer("status", DType::Int64, ir::Access::ReadWrite, true);
        slots.push_back({Slot::Kind::Status, 0, 0});
    }
    if (!uses_log) return;
    log = builder.pointer("log", DType::Int64, ir::Access::ReadWrite, false);
    slots.push_back({Slot::Kind::Log, 0, 0});
    log_real = builder.pointer("log_real", real, ir::Access::Write, false);
    slots.push_back({Slot::Kind::LogReal, 0, 0});
}

}  // namespace pardo::lang

// src/capi/dlpack.cpp: arrays as tensors of DLPack, and such tensors as arrays.
#include <memory>
#include <optional>
#include <string>

#include <pardo/binding/dlpack.h>
#include <pardo/binding/exchange.h>

#include "capi/functions.h"
#include "capi/handle.h"
#include "graph/node.h"

namespace pardo::capi {
namespace {

using Managed = dlpack::DLManagedTensorVersioned;

void drop_now(dlpack::Imported::Deleter deleter, void* managed) { deleter(managed); }

std::unique_ptr<dlpack::Exported<Managed>> exported(const Array& x, void* stream) {
    const std::optional<dlpack::DLDevice> place = dlpack::place_of(x);
    if (!place)
        throw Error(ErrorCode::Buffer, "array_to_dlpack: memory of kind 'device' on " + x.device().id() +
                                           " cannot be shared with other libraries; copy it to an array of the CPU");
    const bool writable = x.writeable();
    if (dlpack::host_readable(place->device_type) && place->device_type != dlpack::dl_cuda_managed) {
        if (stream) throw Error(ErrorCode::Value, "array_to_dlpack: stream is to be NULL for an array on " + x.device().id());
        std::optional<Loan> loan = lend(x, writable);
        auto made = dlpack::described<Managed>(x, const_cast<void*>(x.data()), *place, writable);
        made->loan = std::move(*loan);
        return made;
    }
    const ForeignStream on = stream ? reinterpret_cast<ForeignStream>(stream) : legacy_stream;
    ExportedMemory memory = export_memory(x, on, writable);
    auto made = dlpack::described<Managed>(x, memory.data, *place, writable);
    made->let_go = std::move(memory.let_go);
    return made;
}

}  // namespace

pardo_status array_to_dlpack(pardo_array array, void* stream, void** managed) {
    return guarded("array_to_dlpack", [&] {
        require("array_to_dlpack", managed, "managed");
        const Array x(as_node("array_to_dlpack", array));
        InWork::refuse("array_to_dlpack");
        *managed = &exported(x, stream).release()->managed;
    });
}

pardo_status array_from_dlpack(pardo_queue queue, void* managed, pardo_event ready, pardo_array* out) {
    return guarded("array_from_dlpack", [&] {
        require("array_from_dlpack", managed, "managed");
        auto* const tensor = static_cast<Managed*>(managed);
        dlpack::Imported own(tensor, drop_now);
        require("array_from_dlpack", out, "out");
        dlpack::check_version("array_from_dlpack", *tensor);
        const Event written = as_event("array_from_dlpack", ready);
        const dlpack::DLDevice place = tensor->tensor.device;
        const std::optional<Queue> home = dlpack::home_of(place.device_type, place.device_id);
        const Queue on = queue ? Queue(as_queue("array_from_dlpack", queue)) : home ? *home : Queue::of(Device::host());
        if (home && !(home->device() == on.device()))
            throw Error(ErrorCode::Placement, "array_from_dlpack: the tensor is on " + home->device().id() + ", the queue is of " +
                                                  on.device().id() + "; share it on a queue of its device, and copy the array");
        const bool copied = !home && !dlpack::shares(tensor->tensor, on, {});
        if (copied) {
            if (!written.done()) InWork::refuse("array_from_dlpack");
            written.wait();
        }
        const Array made = home ? dlpack::share_tensor("array_from_dlpack", std::move(own), on)
                                : dlpack::import_tensor("array_from_dlpack", std::move(own), on, {});
        if (!copied && made.size() > 0) (void)made.node()->buffer->note_write(written, device::Access::Write, graph::view_of(*made.node()));
        *out = give(made.node());
    });
}

}  // namespace pardo::capi

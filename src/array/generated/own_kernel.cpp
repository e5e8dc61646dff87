// src/array/generated/own_kernel.cpp: launches of kernels that calls make themselves, in the IR, for whatever device computes them.
#include "array/generated/own_kernel.h"

namespace pardo::arrays {

void launch_own_kernel(device::Queue* queue, const char* op_name, const ir::Kernel& kernel, Extents extents,
                       const device::LaunchArguments& arguments, double cost_ns) {
    device::LaunchShape launch_shape;
    launch_shape.extents = extents;
    const Ref<device::Program> program = queue->device()->compile(kernel, queue->device()->shape_class(kernel, launch_shape));
    device::Launch request;
    request.program = program.get();
    request.extents = extents;
    request.args = arguments.words;
    request.uses = arguments.uses;
    request.cost_ns = cost_ns;
    request.label = [](const void* text) { return device::Label{static_cast<const char*>(text), device::current_location()}; };
    request.label_data = op_name;
    const Event event = queue->launch(request);
    if (arguments.foreign) device::finish_without_locks(event);
}

}  // namespace pardo::arrays

// src/backend/opencl/launch.cpp: sets a kernel's arguments and enqueues it.
#include <algorithm>

#include <pardo/error.h>

#include "backend/opencl/program.h"
#include "backend/opencl/queue.h"
#include "emit/c_geometry.h"

namespace pardo::opencl {
namespace {

using device::BufferUse;
using device::DriverBuffer;

std::size_t size_of(char letter) {
    switch (letter) {
        case 'b': return 1;
        case 'h': return 2;
        case 'i':
        case 'f': return 4;
        default: return 8;
    }
}

/// Sets the arguments one after the other; a pointer may take two.
class Arguments {
public:
    Arguments(const OpenClDevice& device, MemoryPath path, cl_kernel kernel, std::span<const BufferUse> uses)
        : device_(device), api_(device.api()), path_(path), kernel_(kernel), uses_(uses) {}

    void scalar(std::size_t bytes, std::uint64_t slot) { check(api_.clSetKernelArg(kernel_, next_++, bytes, &slot), "clSetKernelArg"); }

    void pointer(std::uint64_t slot) {
        auto* address = reinterpret_cast<void*>(slot);
        switch (path_) {
            case MemoryPath::Usm:
                check(device_.domain().usm().set_argument(kernel_, next_++, address), "clSetKernelArgMemPointerINTEL");
                break;
            case MemoryPath::SvmFine:
            case MemoryPath::SvmCoarse: check(api_.clSetKernelArgSVMPointer(kernel_, next_++, address), "clSetKernelArgSVMPointer"); break;
            case MemoryPath::Buffer: buffer(static_cast<const char*>(address)); break;
        }
    }

private:
    /// Made-up addresses become a buffer and a distance from its begin.
    void buffer(const char* address) {
        const auto holds = [&](const BufferUse& u) {
            const char* begin = static_cast<const char*>(u.buffer->data());
            return address >= begin && address <= begin + u.buffer->bytes();
        };
        const auto at = std::find_if(uses_.begin(), uses_.end(), holds);
        if (at == uses_.end() && address) throw Error(ErrorCode::Internal, "launch: a pointer into none of the buffers that it names");
        cl_mem object = nullptr;
        std::int64_t offset = 0;
        if (at != uses_.end()) {
            const auto* b = static_cast<const DriverBuffer*>(at->buffer);
            object = static_cast<cl_mem>(b->handle());
            offset = address - static_cast<const char*>(b->data()) + static_cast<std::int64_t>(b->handle_offset());
        }
        check(api_.clSetKernelArg(kernel_, next_++, sizeof object, &object), "clSetKernelArg");
        check(api_.clSetKernelArg(kernel_, next_++, sizeof offset, &offset), "clSetKernelArg");
    }

    const OpenClDevice& device_;
    const Api& api_;
    const MemoryPath path_;
    cl_kernel kernel_;
    std::span<const BufferUse> uses_;
    cl_uint next_ = 0;
};

}  // namespace

void OpenClStream::launch(const device::Launch& l, const device::NativeOrder& order) {
    auto& program = *static_cast<OpenClProgram*>(l.program);
    const bool by_shape = program.shape() != 0;
    const std::size_t given = l.args.size() + (by_shape ? l.extents.size() : 0);
    if (given + program.turns() != program.params().size() || (!by_shape && l.extents.size() != 1)) {
        throw Error(ErrorCode::Internal, "a launch with " + std::to_string(l.args.size()) + " arguments and " +
                                             std::to_string(l.extents.size()) + " dimensions of a kernel with parameters \"" +
                                             program.params() + "\"");
    }
    std::array<std::int64_t, 3> groups{std::max<std::int64_t>(by_shape ? 0 : l.extents[0], 0), 1, 1};
    const emit::CGroups& own = program.groups();
    if (!own.size.empty()) {
        groups[0] = own.count(program.name(), l.extents);
    } else if (by_shape) {
        groups = emit::group_counts(emit::CGeometry::decode(program.shape()), l.extents);
    }
    if (groups[0] * groups[1] * groups[2] == 0) return mark(order);
    const Wait w(order);
    std::size_t local[] = {static_cast<std::size_t>(program.group_size()), 1, 1}, global[3];
    if (!own.size.empty()) std::copy(own.local.begin(), own.local.end(), local);
    for (std::size_t d = 0; d < 3; ++d) global[d] = static_cast<std::size_t>(groups[d]) * local[d];
    const cl_uint dimensions = global[2] > 1 ? 3 : global[1] > 1 ? 2 : 1;
    {
        std::lock_guard lock(program.mutex());
        Arguments arguments(device_, path_, program.kernel(), l.uses);
        for (std::size_t i = 0; i < given; ++i) {
            const char letter = program.params()[i];
            const std::uint64_t slot = i < l.args.size() ? l.args[i] : static_cast<std::uint64_t>(l.extents[i - l.args.size()]);
            letter == 'p' ? arguments.pointer(slot) : arguments.scalar(size_of(letter), slot);
        }
        if (program.turns()) arguments.scalar(sizeof(cl_int), turned_ ^= 1);
        check(api_.clEnqueueNDRangeKernel(queue_, program.kernel(), dimensions, nullptr, global, local, w.count, w.events, w.mark),
              "clEnqueueNDRangeKernel");
    }
    flush();
}

}  // namespace pardo::opencl

// src/backend/opencl/launch.cpp: sets a kernel's arguments and enqueues it.
#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <pardo/error.h>

#include "backend/opencl/kernel_info.h"
#include "backend/opencl/library_queue.h"
#include "backend/opencl/program.h"
#include "backend/opencl/queue.h"
#include "emit/c/geometry.h"

namespace pardo::opencl {
namespace {

using device::BufferUse;
using device::CachedBuffer;

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
        path_ == MemoryPath::Buffer ? buffer(static_cast<const char*>(address)) : set(next_++, address);
    }

private:
    void set(cl_uint index, const void* address) { check(set_address(device_, kernel_, index, address), "clSetKernelArg of a pointer"); }
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
            const auto* b = static_cast<const CachedBuffer*>(at->buffer);
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

/// The parts of memory objects that arrays are; needed until the launch is enqueued.
class Parts {
public:
    explicit Parts(const Api& api) : api_(api) {}
    Parts(const Parts&) = delete;
    ~Parts() {
        for (const Part& p : parts_) api_.clReleaseMemObject(p.object);
    }
    /// Arrays in the same place are one object. Null for an array without elements.
    cl_mem of(const device::TextArgument& a) {
        if (a.bytes == 0) return nullptr;
        const auto* b = static_cast<const CachedBuffer*>(a.buffer);
        const std::size_t begin = b->handle_offset() + static_cast<std::size_t>(a.words[0] - reinterpret_cast<std::uint64_t>(b->data()));
        for (const Part& p : parts_)
            if (p.whole == b->handle() && p.region.origin == begin && p.region.size == a.bytes) return p.object;
        Part part{b->handle(), {begin, a.bytes}, nullptr};
        cl_int code = CL_SUCCESS;
        part.object = api_.clCreateSubBuffer(static_cast<cl_mem>(part.whole), 0, CL_BUFFER_CREATE_TYPE_REGION, &part.region, &code);
        check(code, "clCreateSubBuffer");
        parts_.push_back(part);
        return part.object;
    }

private:
    struct Part {
        void* whole;
        cl_buffer_region region;
        cl_mem object;
    };
    const Api& api_;
    std::vector<Part> parts_;
};

}  // namespace

template <class Enqueue> void OpenClStream::in_turn(const std::string& name, const device::NativeOrder& order, const Enqueue& enqueue) {
    constexpr const char* call = "clEnqueueNDRangeKernel";
    if (!device_.takes_turns()) return check(enqueue(Wait(order)), call);
    Turn& turn = device_.context().turn_of(name);
    const std::lock_guard lock(turn.mutex);
    std::vector<device::NativeEvent> after(order.after.begin(), order.after.end());
    std::optional<Error> ignored;  // a failure would be taken over by who waits for it
    if (turn.last && query(turn.last, ignored) == device::NativeStatus::Unfinished) after.push_back(turn.last);
    device::NativeEvent done = nullptr;
    check(enqueue(Wait({after, &done, order.timed})), call);
    if (turn.last) api_.clReleaseEvent(turn.last);
    turn.last = static_cast<cl_event>(done);
    if (!order.marker) return;
    check(api_.clRetainEvent(turn.last), "clRetainEvent");
    *order.marker = done;
}

cl_int set_address(const OpenClDevice& device, cl_kernel kernel, cl_uint index, const void* address) {
    if (!address) {
        cl_mem none = nullptr;
        return device.api().clSetKernelArg(kernel, index, sizeof none, &none);
    }
    if (device.path() == MemoryPath::Usm) return device.context().usm().set_argument(kernel, index, address);
    return device.api().clSetKernelArgSVMPointer(kernel, index, address);
}

void OpenClTextProgram::enqueue(device::Stream& stream, std::size_t kernel, const device::TextLaunch& launch,
                                const device::NativeOrder& order) {
    const std::lock_guard lock(mutex_);
    auto& own = static_cast<OpenClStream&>(stream);
    const auto is_null = [](const device::TextArgument& a) { return a.kind == device::TextArgument::Kind::Pointer && a.words[0] == 0; };
    const std::string& name = kernels()[kernel].name.str();
    if (std::none_of(launch.arguments.begin(), launch.arguments.end(), is_null))
        return own.launch(handles_[kernel].get(), name, launch, order);
    // NVIDIA's driver takes no null for an argument that has been a pointer before.
    own.launch(create_kernel(*program_.get_deleter().api, program_.get(), name).get(), name, launch, order);
}

void OpenClStream::launch(cl_kernel kernel, const std::string& name, const device::TextLaunch& l, const device::NativeOrder& order) {
    using Kind = device::TextArgument::Kind;
    Parts parts(api_);
    cl_uint index = 0;
    const auto set = [&](std::size_t bytes, const void* value) {
        check(api_.clSetKernelArg(kernel, index, bytes, value), "clSetKernelArg");
    };
    for (const device::TextArgument& a : l.arguments) {
        if (a.kind == Kind::Value) {
            set(a.bytes, a.words.data());
        } else if (a.kind == Kind::Local) {
            set(a.bytes, nullptr);
        } else if (path_ != MemoryPath::Buffer) {
            check(set_address(device_, kernel, index, reinterpret_cast<const void*>(a.words[0])), "clSetKernelArg of a pointer");
        } else {
            cl_mem object = parts.of(a);
            set(sizeof object, &object);
        }
        ++index;
    }
    std::size_t global[3], local[3], offset[3];
    std::copy(l.global.begin(), l.global.end(), global);
    std::copy(l.local.begin(), l.local.end(), local);
    std::copy(l.offset.begin(), l.offset.end(), offset);
    in_turn(name, order, [&](const Wait& w) {
        return api_.clEnqueueNDRangeKernel(queue_, kernel, static_cast<cl_uint>(l.rank), offset, global, l.local[0] ? local : nullptr,
                                           w.count, w.events, w.marker);
    });
    flush();
}

void OpenClStream::launch(const device::Launch& l, const device::NativeOrder& order) {
    auto& program = *static_cast<OpenClProgram*>(l.program);
    const bool by_shape = program.shape() != 0;
    const std::size_t given = l.args.size() + (by_shape ? l.extents.size() : 0);
    if (given + program.reversible() != program.params().size() || (!by_shape && l.extents.size() != 1)) {
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
    if (groups[0] * groups[1] * groups[2] == 0) return marker(order);
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
        if (program.reversible()) arguments.scalar(sizeof(cl_int), launch_parity_ ^= 1);
        in_turn(program.name(), order, [&](const Wait& w) {
            return api_.clEnqueueNDRangeKernel(queue_, program.kernel(), dimensions, nullptr, global, local, w.count, w.events, w.marker);
        });
    }
    flush();
}

}  // namespace pardo::opencl

// src/backend/opencl/queue.h: a command queue as device::DriverQueue uses it.
#pragma once

#include "backend/opencl/device.h"
#include "device/stream.h"

namespace pardo::opencl {

class OpenClStream final : public device::Stream {
public:
    OpenClStream(OpenClDevice& device, QueueOrder order, bool profiling);
    ~OpenClStream() override;

    void launch(const device::Launch& launch, const device::NativeOrder& order) override;
    void copy(device::Buffer* to, std::size_t to_offset, device::Buffer* from, std::size_t from_offset, std::size_t bytes,
              const device::NativeOrder& order) override;
    void write(device::Buffer* to, std::size_t offset, const void* from, std::size_t bytes, const device::NativeOrder& order) override;
    void read(void* to, device::Buffer* from, std::size_t offset, std::size_t bytes, const device::NativeOrder& order) override;
    void fill(device::Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
              const device::NativeOrder& order) override;
    void mark(const device::NativeOrder& order) override;
    void flush() override;

    device::NativeStatus query(device::NativeEvent event, std::optional<Error>& error) noexcept override;
    void wait(device::NativeEvent event) noexcept override;
    void release(device::NativeEvent event) noexcept override;
    void times(device::NativeEvent event, std::int64_t& submitted, std::int64_t& start, std::int64_t& end) noexcept override;
    bool notify(device::NativeEvent event, void (*f)(void*), void* context) noexcept override;

    bool understands(const device::Stream& other) const noexcept override;
    bool copies(const device::Buffer* to, const device::Buffer* from) const noexcept override;

private:
    /// What every enqueueing call ends with.
    struct Wait {
        explicit Wait(const device::NativeOrder& order);
        cl_uint count;
        const cl_event* events;
        cl_event* mark;
    };
    void copy_overlapping(device::Buffer* buffer, std::size_t to_offset, std::size_t from_offset, std::size_t bytes,
                          const device::NativeOrder& order);
    void copy_addresses(void* to, const void* from, std::size_t bytes, const device::NativeOrder& order);

    OpenClDevice& device_;
    const Api& api_;
    const MemoryPath path_;
    cl_command_queue queue_ = nullptr;
    cl_int turned_ = 0;  // whether the last kernel that can took its groups in reverse order
};

}  // namespace pardo::opencl

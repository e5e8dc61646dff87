// src/backend/cuda/queue.h: a queue's native side: one stream in order, several out of order.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <span>

#include "backend/cuda/device.h"
#include "backend/cuda/events.h"
#include "device/queue/queue.h"
#include "device/queue/stream.h"

namespace pardo::cuda {

/// See device::Stream. Its native events are StreamEvents; those of all CUDA devices understand each other.
class CudaStream final : public device::Stream {
public:
    CudaStream(CudaDevice* device, QueueOrder order, bool profiling);
    /// On a stream of other code, which keeps it as long as `owner` lives.
    CudaStream(CudaDevice* device, StreamHandle stream, std::shared_ptr<void> owner);
    ~CudaStream() override;

    void launch(const device::Launch& launch, const device::NativeOrder& order) override;
    /// Of a kernel of the user's text.
    void launch(FunctionHandle function, const device::TextKernel& kernel, const device::TextLaunch& launch,
                const device::NativeOrder& order);
    void copy(device::Buffer* to, std::size_t to_offset, device::Buffer* from, std::size_t from_offset, std::size_t bytes,
              const device::NativeOrder& order) override;
    void write(device::Buffer* to, std::size_t offset, const void* from, std::size_t bytes, const device::NativeOrder& order) override;
    void read(void* to, device::Buffer* from, std::size_t offset, std::size_t bytes, const device::NativeOrder& order) override;
    void fill(device::Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
              const device::NativeOrder& order) override;
    void copy_strided(device::Buffer* to, device::Buffer* from, const device::StridedCopy& region,
                      const device::NativeOrder& order) override;
    void prefetch(device::Buffer* buffer, std::size_t offset, std::size_t bytes, const device::NativeOrder& order) override;
    void marker(const device::NativeOrder& order) override;
    void call_library(const LibraryCall& call, const device::NativeOrder& order) override;
    device::NativeTurn begin_turn(const device::NativeOrder& order) override;
    void end_turn(device::NativeTurn& turn, const device::NativeOrder& order) override;
    void with_context(const std::function<void()>& f) override;
    void close() noexcept override;
    /// All texels of an image, from or to memory (image.cpp).
    void copy_image(std::span<const Copy3D> copies, const device::NativeOrder& order);

    device::NativeStatus query(device::NativeEvent event, std::optional<Error>& error) noexcept override;
    std::optional<device::NativeStatus> query_all(std::optional<Error>& error) noexcept override;
    void wait(device::NativeEvent event) noexcept override;
    void release(device::NativeEvent event) noexcept override;
    void times(device::NativeEvent event, std::int64_t& submitted, std::int64_t& start, std::int64_t& end) noexcept override;

    bool understands(const device::Stream& other) const noexcept override { return dynamic_cast<const CudaStream*>(&other) != nullptr; }
    bool copies(const device::Buffer* to, const device::Buffer* from) const noexcept override;
    std::int64_t rows_at_once(const device::Buffer* to, const device::Buffer* from,
                              const device::StridedCopy& region) const noexcept override;
    bool writes_beside() const noexcept override { return true; }
    bool prefetches(const device::Buffer* buffer) const noexcept override;
    /// Others' work on a stream of theirs would delay marks that come late.
    bool marks_late() const noexcept override { return in_order_ && !profiling_ && !borrowed_; }
    void* native_queue() const noexcept override { return in_order_ ? lanes_[0].stream : nullptr; }
    std::size_t takes_at_once() const noexcept override { return std::size_t{64} << 10; }  // the driver stages it

    CudaDevice& device() const noexcept { return *device_; }
    /// The driver's handle, of an in-order queue; for other libraries.
    StreamHandle handle() const noexcept { return lanes_[0].stream; }

private:
    struct Lane {
        StreamHandle stream = nullptr;
        std::atomic<const StreamEvent*> last{nullptr};  // marks its youngest submission, if that is marked and not released
        device::LibraryStates libraries;
    };
    /// A submission between its begin and its marker. The device's context is current meanwhile.
    class Submission;
    Lane& lane_for(const device::NativeOrder& order);
    void end_libraries() noexcept;

    CudaDevice* device_;
    const bool in_order_, profiling_, borrowed_ = false;
    std::shared_ptr<void> owner_;      // of a borrowed stream
    std::uint64_t launch_parity_ = 0;  // whether the last kernel that can took its groups in reverse order
    static constexpr int most_lanes = 4;
    std::array<Lane, most_lanes> lanes_;
    int lane_count_ = 1, next_lane_ = 0;
};

/// A driver queue that other CUDA libraries can put in order with their streams.
class CudaQueue final : public device::DriverQueue {
public:
    using DriverQueue::DriverQueue;
    std::uintptr_t native_stream() const override;
    void signal_stream(std::uintptr_t stream) override;
    Event wait_for_stream(std::uintptr_t stream) override;
    /// As wait_for_stream, of everything that is under way on the device. In order only.
    Event wait_for_all_streams();
    const CudaStream& cuda_stream() const noexcept { return static_cast<const CudaStream&>(stream()); }

private:
    Event wait_for_event(const std::shared_ptr<StreamEvent>& event);
};

/// The driver's address of a place in a buffer.
inline DevicePointer address_of(const device::Buffer* buffer, std::size_t offset) {
    return reinterpret_cast<DevicePointer>(buffer->data()) + offset;
}

}  // namespace pardo::cuda

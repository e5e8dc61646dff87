// src/backend/opencl/queue.h: a command queue as device::DriverQueue uses it.
#pragma once

#include "backend/opencl/device.h"
#include "device/queue/stream.h"

namespace pardo::opencl {

class OpenClTextProgram;

class OpenClStream final : public device::Stream {
public:
    OpenClStream(OpenClDevice& device, QueueOrder order, bool profiling);
    /// On a command queue of other code, in the order that it has; a reference to it is kept, and `owner`.
    OpenClStream(OpenClDevice& device, cl_command_queue queue, QueueOrder order, std::shared_ptr<void> owner);
    ~OpenClStream() override;

    void launch(const device::Launch& launch, const device::NativeOrder& order) override;
    /// Of a kernel of the user's text, whose arguments are not set by others meanwhile.
    void launch(cl_kernel kernel, const std::string& name, const device::TextLaunch& launch, const device::NativeOrder& order);
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
    /// `native` is a LibraryQueue.
    void call_library(const LibraryCall& call, const device::NativeOrder& order) override;
    device::NativeTurn begin_turn(const device::NativeOrder& order) override;
    void end_turn(device::NativeTurn& turn, const device::NativeOrder& order) override;
    void close() noexcept override;
    /// All texels of an image, from or to memory (images/image.cpp).
    void copy_image(cl_mem image, const device::ImageShape& shape, OpenClTextProgram* copier, device::Buffer* texels, std::size_t offset,
                    bool to_image, const device::NativeOrder& order);
    void flush() override;

    device::NativeStatus query(device::NativeEvent event, std::optional<Error>& error) noexcept override;
    void wait(device::NativeEvent event) noexcept override;
    void release(device::NativeEvent event) noexcept override;
    void times(device::NativeEvent event, std::int64_t& submitted, std::int64_t& start, std::int64_t& end) noexcept override;
    bool notify(device::NativeEvent event, void (*f)(void*), void* context) noexcept override;

    bool understands(const device::Stream& other) const noexcept override;
    bool copies(const device::Buffer* to, const device::Buffer* from) const noexcept override;
    std::int64_t rows_at_once(const device::Buffer* to, const device::Buffer* from,
                              const device::StridedCopy& region) const noexcept override;
    bool prefetches(const device::Buffer* buffer) const noexcept override;
    void* native_queue() const noexcept override { return queue_; }

private:
    void learn_device();
    static cl_mem object_of(const device::Buffer* b) { return static_cast<cl_mem>(static_cast<const device::CachedBuffer*>(b)->handle()); }
    static std::size_t begin_of(const device::Buffer* b) { return static_cast<const device::CachedBuffer*>(b)->handle_offset(); }
    static bool is_imported(const device::Buffer* b) { return static_cast<const device::CachedBuffer*>(b)->imported(); }
    static char* address(const device::Buffer* b, std::size_t offset) { return static_cast<char*>(b->data()) + offset; }
    /// What every enqueueing call ends with.
    struct Wait {
        explicit Wait(const device::NativeOrder& order);
        cl_uint count;
        const cl_event* events;
        cl_event* marker;
    };
    /// Enqueues a kernel by `enqueue(const Wait&)`: after its last launch, where the driver takes no two at the same time.
    template <class Enqueue> void in_turn(const std::string& name, const device::NativeOrder& order, const Enqueue& enqueue);
    void copy_overlapping(device::Buffer* buffer, std::size_t to_offset, std::size_t from_offset, std::size_t bytes,
                          const device::NativeOrder& order);
    void fill_on_host(char* to, std::size_t bytes, const void* pattern, std::size_t pattern_bytes, const device::NativeOrder& order);
    /// Between a buffer and all of a 1-D image with layers (images/image.cpp); without a flush.
    void copy_lines(cl_mem image, const device::ImageShape& shape, cl_mem buffer, std::size_t at, bool to_image,
                    const device::NativeOrder& order);
    // Without a flush.
    void enqueue_copy(void* to, const void* from, std::size_t bytes, const device::NativeOrder& order);
    void enqueue_copy(device::Buffer* to, std::size_t to_offset, device::Buffer* from, std::size_t from_offset, std::size_t bytes,
                      const device::NativeOrder& order);
    void enqueue_write(device::Buffer* to, std::size_t offset, const void* from, std::size_t bytes, const device::NativeOrder& order);
    void enqueue_read(void* to, device::Buffer* from, std::size_t offset, std::size_t bytes, const device::NativeOrder& order);
    // Regions and prefetch (strided_copies.cpp).
    std::int64_t rectangle_rows(const device::Buffer* to, const device::Buffer* from, const device::StridedCopy& region) const noexcept;
    void enqueue_row(device::Buffer* to, std::size_t to_offset, device::Buffer* from, std::size_t from_offset, std::size_t bytes,
                     const device::NativeOrder& order);
    bool copies_on_host(const device::Buffer* to, const device::Buffer* from) const noexcept;
    void copy_rectangle(device::Buffer* to, device::Buffer* from, const device::StridedCopy& region, const device::NativeOrder& order);
    void copy_on_host(device::Buffer* to, device::Buffer* from, const device::StridedCopy& region, const device::NativeOrder& order);
    void copy_rows(device::Buffer* to, device::Buffer* from, const device::StridedCopy& region, const device::NativeOrder& order);

    OpenClDevice& device_;
    const Api& api_;
    const MemoryPath path_;
    std::shared_ptr<void> owner_;  // of a queue of other code
    bool in_order_ = true;         // at the driver
    bool borrowed_ = false;
    bool runs_on_host_ = false;  // the device is the host's processor, and runs functions of the host
    bool migrates_svm_ = false;
    cl_command_queue queue_ = nullptr;
    device::LibraryStates libraries_;
    cl_int launch_parity_ = 0;  // whether the last kernel that can took its groups in reverse order
};

}  // namespace pardo::opencl

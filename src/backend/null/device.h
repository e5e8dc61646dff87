// src/backend/null/device.h: the null device: memory that is real, programs that do nothing.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/null/null.h"
#include "base/fork.h"
#include "base/hash.h"
#include "device/profile.h"

namespace pardo::null {

/// A kernel, remembered as text.
class NullProgram : public device::Program {
public:
    NullProgram(std::string name, std::string text) : Program(std::move(name)), text_(std::move(text)) {}
    const std::string& text() const noexcept { return text_; }

private:
    std::string text_;
};

/// A GPU-like device whose buffers are host memory.
class NullDevice : public device::Device {
public:
    explicit NullDevice(device::Backend* backend);

    device::Backend* backend() const noexcept override { return backend_; }
    const DeviceInfo& info() const noexcept override { return info_; }
    std::string id() const override { return "null:0"; }
    bool supports(DType) const noexcept override { return true; }
    bool can(device::Feature feature) const noexcept override { return feature == device::Feature::HostCode; }
    Ref<device::Queue> create_queue(QueueOrder order, bool profiling) override;
    Ref<device::Buffer> allocate(std::size_t bytes, MemoryKind kind, device::Queue* queue) override;
    Ref<device::Buffer> import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release) override;
    MemoryStats memory_stats() const override;
    void trim_memory() override {}
    void set_memory_limit(std::int64_t bytes) override;
    void reset_memory_peak() override;
    Ref<device::Program> compile(const ir::Kernel& kernel, device::ShapeClass shape) override;
    Ref<device::Program> known_program(const ir::Kernel& kernel, device::ShapeClass shape) override;
    std::string inspect(const ir::Kernel& kernel, device::ShapeClass shape, std::string_view what) override;

    /// What a launch does when its turn has come.
    virtual std::function<void()> work_of(const device::Launch& launch);
    virtual void record(Record r);
    std::vector<Record> take_records();
    void fail_next(Error error);
    std::optional<Error> take_injected();
    void on_compile(std::function<void(const ir::Kernel&)> hook);
    void give_back(std::size_t bytes);

protected:
    NullDevice(device::Backend* backend, DeviceInfo info) : backend_(backend), info_(std::move(info)) {}
    Ref<device::Buffer> allocate_at(std::size_t bytes, MemoryKind kind, std::uintptr_t distance);

    device::Backend* backend_;
    DeviceInfo info_;

    /// The program, for known_program to find.
    Ref<device::Program> keep(const ir::Kernel& kernel, device::ShapeClass shape, const Ref<device::Program>& program);

private:
    mutable HeldMutex mutex_;
    std::unordered_map<Hash128, Ref<device::Program>> programs_;
    std::vector<Record> records_;
    std::optional<Error> injected_;
    std::function<void(const ir::Kernel&)> hook_;  // of compilations
    MemoryStats stats_;
};

/// Addresses of memory that the host does not reach are so far from where it is: who follows one dies at once.
inline constexpr std::uintptr_t out_of_reach = std::uintptr_t{1} << 60;
/// Where memory is, by its address.
inline std::uintptr_t place_of(std::uintptr_t address) noexcept { return address & ~out_of_reach; }

/// Records what it is given; copies, fills and host tasks that move data do so at once. Every event is complete, but for work that waits
/// for the user's code: it acts when that is there.
class NullQueue final : public device::Queue {
public:
    NullQueue(NullDevice* device, QueueOrder order, bool profiling) : Queue(device, order, profiling), null_(device) {}

    Event launch(const device::Launch& launch, std::span<const Event> depends) override;
    Event host_task(std::function<void()> f, std::span<const device::BufferUse> uses, device::Label label, double cost_ns,
                    std::span<const Event> depends) override;
    Event copy(device::Buffer* to, std::size_t to_offset, device::Buffer* from, std::size_t from_offset, std::size_t bytes,
               std::span<const Event> depends) override;
    void write(device::Buffer* to, std::size_t offset, const void* from, std::size_t bytes) override;
    void read(void* to, device::Buffer* from, std::size_t offset, std::size_t bytes) override;
    void fetch(void* to, device::Buffer* from, std::size_t offset, std::size_t bytes) override;
    Event fill(device::Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
               std::span<const Event> depends) override;
    Event barrier(std::span<const Event> depends) override;
    void order_after(const Event& event) override;
    Event fence() override;
    bool waits_for_host() override { return !unfinished().empty(); }
    void wait() override;
    void wait_quietly() override;

private:
    template <class F>
    /// Profiles leave out what has no activity.
    Event submit(std::optional<Activity> activity, Record record, const device::Label& label, std::span<const device::BufferUse> uses,
                 std::span<const Event> depends, F&& act);

    Event defer(std::vector<Event> needs, std::vector<Event> after, const device::Label& label, std::span<const device::BufferUse> uses,
                std::function<void()> act, const std::optional<Error>& injected);
    /// Submissions that wait for the user's code; all others are complete when they return.
    std::vector<Event> unfinished();

    NullDevice* null_;
    std::mutex mutex_;
    std::vector<Event> deferred_;
    Event fence_;  // out of order: what all new work waits for
};

}  // namespace pardo::null

// src/saving/device.cpp: memory without bytes, and a queue that refuses what cannot leave the process.
#include "saving/device.h"

#include <pardo/error.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>

#include "base/fork.h"
#include "device/event.h"

namespace pardo::saving {
namespace {

/// Says which line it was.
[[noreturn]] void refuse_call(const std::string& why) {
    const Text place = device::current_location();
    refuse(place.empty() ? why : why + " (at " + place.str() + ")");
}

class NotingQueue final : public device::Queue {
public:
    NotingQueue(device::Device* device, QueueOrder order, bool profiling) : Queue(device, order, profiling) {}

    Event launch(const device::Launch& launch, std::span<const Event>) override {
        refuse_call("the function launches " + (launch.label ? launch.label(launch.label_data).name.str() : launch.program->name()) +
                    " at once, and not as a part of array operations");
    }
    Event host_task(std::function<void()>, std::span<const device::BufferUse>, device::Label label, double,
                    std::span<const Event>) override {
        refuse_call("the function hands " + label.name.str() + " to the host, which no program can");
    }
    Event copy(device::Buffer* to, std::size_t to_offset, device::Buffer* from, std::size_t from_offset, std::size_t bytes,
               std::span<const Event>) override {
        NotedBuffer& target = noted(to);
        if (from->device() == to->device()) refuse_call("the function copies between blocks of memory");
        if (to_offset != 0 || bytes != target.bytes()) refuse_call("the function copies into a part of an array; assign to it: y[1:3] = x");
        std::vector<std::uint8_t> values(bytes);  // now: others may write there later
        from->device()->queue()->read(values.data(), from, from_offset, bytes);
        write(&target, 0, values.data(), bytes);
        return {};
    }
    void write(device::Buffer* to, std::size_t offset, const void* from, std::size_t bytes) override {
        NotedBuffer& buffer = noted(to);
        static_cast<NotingDevice*>(device())->notes().wrote(buffer);
        if (buffer.contents.size() < buffer.bytes()) buffer.contents.resize(buffer.bytes());
        if (bytes) std::memcpy(buffer.contents.data() + offset, from, bytes);
    }
    void read(void*, device::Buffer*, std::size_t, std::size_t) override {
        refuse_call(
            "the function reads a value that a call computes (float, int, bool, item, print, a comparison in an `if`); while it is "
            "exported there are no values");
    }
    void fetch(void* to, device::Buffer* from, std::size_t offset, std::size_t bytes) override { read(to, from, offset, bytes); }
    Event fill(device::Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
               std::span<const Event>) override {
        std::vector<std::uint8_t> values(bytes);
        for (std::size_t i = 0; i < bytes; ++i) values[i] = static_cast<const std::uint8_t*>(pattern)[i % pattern_bytes];
        write(to, offset, values.data(), bytes);
        return {};
    }
    Event barrier(std::span<const Event>) override { return {}; }
    void wait() override {}
    void wait_quietly() override {}

private:
    NotedBuffer& noted(device::Buffer* buffer) const {
        if (buffer->device() != device()) refuse_call("the function copies to an array that is none of its own");
        return static_cast<NotedBuffer&>(*buffer);
    }
};

/// Says where the device comes from; it is not registered, so no list has it.
class NotingBackend final : public device::Backend {
public:
    explicit NotingBackend(device::Device* device) : all_{{"export", "pardo", PARDO_VERSION, {device}}} {}
    std::string_view name() const noexcept override { return "export"; }
    bool hidden() const noexcept override { return true; }
    const std::vector<device::Platform>& platforms() override { return all_; }

private:
    const std::vector<device::Platform> all_;
};

/// Those that no export has.
class Idle {
public:
    Idle() { renew_at_fork(mutex_); }
    NotingDevice* take(DeviceKind kind) {
        const std::lock_guard lock(mutex_);
        const auto found = std::ranges::find(devices_, kind, &NotingDevice::kind);
        if (found == devices_.end()) return nullptr;
        NotingDevice* const device = *found;
        devices_.erase(found);
        return device;
    }
    void add(NotingDevice& device) {
        const std::lock_guard lock(mutex_);
        devices_.push_back(&device);
    }
    static Idle& all() {
        static auto& idle = *new Idle;
        return idle;
    }

private:
    std::mutex mutex_;
    std::vector<NotingDevice*> devices_;
};

}  // namespace

void refuse(const std::string& why) { throw Error(ErrorCode::Value, "export: " + why); }

NotedBuffer::NotedBuffer(device::Device* device, const Notes& notes, std::uint32_t of, std::size_t bytes)
    // Far apart, so that no two overlap, whatever their sizes.
    : Buffer(device, MemoryKind::Device, reinterpret_cast<void*>((std::uintptr_t{of} + 1) << 44), bytes), run(notes.serial()), number(of) {}

Notes::Notes() {
    static std::atomic<std::uint64_t> last{0};
    serial_ = ++last;
}

NotingDevice& NotingDevice::borrow(DeviceKind kind) {
    NotingDevice* const idle = Idle::all().take(kind);
    return idle ? *idle : *new NotingDevice(kind);
}
void NotingDevice::give_back(NotingDevice& device) { Idle::all().add(device); }

NotingDevice::NotingDevice(DeviceKind kind) : kind_(kind), backend_(std::make_unique<NotingBackend>(this)) {
    info_.backend = "export";
    info_.platform = "export";
    info_.name = "A function that is exported";
    info_.vendor = "pardo";
    info_.driver_version = PARDO_VERSION;
    info_.type = kind == DeviceKind::Groups ? DeviceType::Gpu : DeviceType::Cpu;
    info_.max_compute_units = 1;
    info_.max_work_group_size = 1024;
    info_.global_mem_size = info_.max_mem_alloc_size = std::numeric_limits<std::int64_t>::max();
    info_.local_mem_size = 48 << 10;
    info_.native_vector_bytes = 64;
}

Notes& NotingDevice::notes() const {
    if (!notes_) refuse("an array of an export is used after it");
    return *notes_;
}

device::Backend* NotingDevice::backend() const noexcept { return backend_.get(); }

bool NotingDevice::can(device::Feature feature) const noexcept {
    using device::Feature;
    const bool own = kind_ == DeviceKind::Cpu && (feature == Feature::OwnLanes || feature == Feature::HostCode);
    return own || feature == Feature::TakesAll;
}

Ref<device::Queue> NotingDevice::create_queue(QueueOrder order, bool profiling) { return new NotingQueue(this, order, profiling); }

Ref<device::Buffer> NotingDevice::allocate(std::size_t bytes, MemoryKind, device::Queue*) {
    Notes& to = notes();
    return new NotedBuffer(this, to, to.allocated(bytes), bytes);
}

Ref<device::Buffer> NotingDevice::import(void*, std::size_t, MemoryKind, std::function<void()>) {
    refuse("the function shares memory of other code");
}

std::string NotingDevice::inspect(const ir::Kernel& kernel, device::ShapeClass, std::string_view) { return ir::print(kernel); }

}  // namespace pardo::saving

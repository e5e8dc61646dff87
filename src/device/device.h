// src/device/device.h: the interfaces that every back end implements, and the registry that knows them.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pardo/device.h>
#include <pardo/memory.h>
#include <pardo/queue.h>

#include "base/ref.h"
#include "device/buffer.h"
#include "device/event.h"
#include "device/image.h"
#include "device/native.h"
#include "device/program.h"
#include "device/text.h"

namespace pardo::ir {
struct Kernel;
}

namespace pardo::device {

class Backend;
class Device;
class External;
class GraphicsObject;
class Queue;

/// Devices that can share memory and wait for each other's events.
class Context : public RefCounted<Context> {
public:
    explicit Context(std::vector<Device*> devices) : devices_(std::move(devices)) {}
    virtual ~Context() = default;
    const std::vector<Device*>& devices() const noexcept { return devices_; }

private:
    std::vector<Device*> devices_;
};

/// What a driver calls a platform; the CPU back end has one.
struct Platform {
    std::string name, vendor, version;
    std::vector<Device*> devices;
};

/// A three-dimensional region in two blocks of memory, in bytes: rows of extents[0], extents[1] of them a plane, extents[2] planes. Pitches
/// may be negative.
struct StridedCopy {
    std::int64_t extents[3] = {0, 1, 1};
    std::int64_t to_offset = 0, to_pitches[2] = {0, 0};  // of the first row; from row to row, and from plane to plane
    std::int64_t from_offset = 0, from_pitches[2] = {0, 0};
    bool empty() const noexcept { return extents[0] == 0 || extents[1] == 0 || extents[2] == 0; }
};
/// Calls f(to, from) with the byte offsets of each row.
template <class F> void for_each_row(const StridedCopy& region, F&& f) {
    for (std::int64_t z = 0; z < region.extents[2]; ++z) {
        for (std::int64_t y = 0; y < region.extents[1]; ++y) {
            f(region.to_offset + y * region.to_pitches[0] + z * region.to_pitches[1],
              region.from_offset + y * region.from_pitches[0] + z * region.from_pitches[1]);
        }
    }
}

/// What a barrier of a queue without order has to wait for so that it completes after all that is unfinished: an older barrier, and what
/// was submitted after that one. Barriers wait for each other, not each for all.
struct Ends {
    std::vector<Event> events;
    std::uint64_t covered = 0;  // the youngest submission that completes before all of these have
};

/// Everything submitted goes through one of these. Safe from any thread.
class Queue : public RefCounted<Queue> {
public:
    Queue(Device* device, QueueOrder order, bool profiling) : device_(device), order_(order), profiling_(profiling) {}
    virtual ~Queue() = default;
    static void destroy(Queue* self);  // waits for outstanding work first

    Device* device() const noexcept { return device_; }
    QueueOrder order() const noexcept { return order_; }
    bool profiling() const noexcept { return profiling_; }
    /// Those of its work that are not acknowledged.
    FailureLog* failures() const noexcept { return failures_.get(); }
    /// Tells queues apart, also those that are gone.
    std::uint64_t serial() const noexcept { return serial_; }

    /// Runs a program after `depends` and after what its buffers require. Small work on an idle CPU queue runs before this returns
    /// (its failure is then thrown here), and the Event is complete.
    virtual Event launch(const Launch& launch, std::span<const Event> depends = {}) = 0;
    /// Runs `f` on the device's host side in the queue's order: library routines. `f` may use the device's threads (cpu::parallel_for).
    virtual Event host_task(std::function<void()> f, std::span<const BufferUse> uses, Label label, double cost_ns,
                            std::span<const Event> depends = {}) = 0;
    /// Native code of others, in the queue's order: it runs once, perhaps later and on another thread, and no lock of the library is held.
    /// Here: a host task.
    virtual Event native_task(NativeCode code, std::span<const BufferUse> uses, Label label, double cost_ns,
                              std::span<const Event> depends = {});
    /// Bytes between two buffers, at least one of them of this queue's device.
    virtual Event copy(Buffer* to, std::size_t to_offset, Buffer* from, std::size_t from_offset, std::size_t bytes,
                       std::span<const Event> depends = {}) = 0;
    /// Bytes from and to host memory; blocking, because the host memory is the caller's.
    virtual void write(Buffer* to, std::size_t offset, const void* from, std::size_t bytes) = 0;
    virtual void read(void* to, Buffer* from, std::size_t offset, std::size_t bytes) = 0;
    /// As read, for a task that has waited for the memory itself: what comes later, and waits for that task, is not waited for.
    virtual void fetch(void* to, Buffer* from, std::size_t offset, std::size_t bytes) = 0;
    /// Repeats a pattern of 1, 2, 4, 8 or 16 bytes.
    virtual Event fill(Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t pattern_bytes,
                       std::span<const Event> depends = {}) = 0;
    /// Completes after everything submitted so far (and `depends`).
    virtual Event barrier(std::span<const Event> depends = {}) = 0;
    /// Everything submitted from now on waits for `event`. Here: a barrier in order; out of order the caller waits.
    virtual void order_after(const Event& event);
    /// Out of order: what everything submitted from now on waits for.
    virtual Event fence() { return {}; }
    /// Bytes of a region between two buffers, at least one of them of this queue's device; the two do not overlap. Here: a copy a row.
    virtual Event copy_strided(Buffer* to, Buffer* from, const StridedCopy& region, std::span<const Event> depends = {});
    /// Moves shared memory to where this queue's device reads it fastest; a hint. Here: nothing moves.
    virtual Event prefetch(Buffer* buffer, std::size_t offset, std::size_t bytes, std::span<const Event> depends = {});
    /// True while unfinished work waits for the user's code: for a user event, or after a host task of user_task.
    virtual bool waits_for_host() { return false; }
    /// True while unfinished work waits for other queues, or it is not known how long it runs: it may never end.
    virtual bool may_last() { return false; }
    /// The CUstream or cl_command_queue behind it; null where there is none, or several.
    virtual void* native_queue() const noexcept { return nullptr; }
    /// For other libraries that use the same device: the driver's stream behind this queue, in their terms; 0 where there is none.
    virtual std::uintptr_t native_stream() const { return 0; }
    /// Makes another library's stream wait for everything submitted so far. Throws Device where the driver has no streams, as the next.
    virtual void signal_stream(std::uintptr_t stream);
    /// Makes work that is submitted from now on wait for what that stream has so far; the event is complete when that is.
    virtual Event wait_for_stream(std::uintptr_t stream);
    /// Blocks until all is complete; raises the first failure that is not acknowledged yet, and acknowledges all.
    virtual void wait() = 0;
    /// As wait, without raising.
    virtual void wait_quietly() = 0;

    /// Made of a context: the devices whose memory it may touch. Null: all.
    Ref<Context> context;

    /// src/graph hangs its pending nodes and their lock here; this layer only owns the pointer.
    struct Attachment {
        virtual ~Attachment() = default;
    };
    std::unique_ptr<Attachment> attachment;
    std::atomic<Attachment*> attached{nullptr};  // attachment.get() once it is made; readable without a lock

protected:
    Device* device_;
    QueueOrder order_;
    bool profiling_;

private:
    const Ref<FailureLog> failures_{new FailureLog};
    static std::uint64_t next_serial() noexcept;
    std::uint64_t serial_ = next_serial();
};

/// How a device runs a kernel's items; the planner shapes loops for it.
enum class Execution : std::uint8_t {
    Lanes,   // one item after another on each thread; lanes are those of vector registers
    Groups,  // items are many threads; those of a group can share the iterations of a lanes loop (GPUs)
};

/// What a device may be able to do: layers above ask for that, and not whose device it is.
enum class Feature : std::uint8_t {
    HostMemory,       // memory of every kind is the host's
    TakesHostMemory,  // kernels use memory of the host in place
    StopsDependents,  // work that needs what failed never runs; elsewhere it may have run when the failure is known
    HostCode,         // host tasks compute on its memory: it runs the code that is compiled with the library
    HostProcessor,    // it is the host's processor, reached through a driver, and the host computes in place on its memory
    HostRoutines,     // there library routines are to run as host code
    OwnLanes,  // the library itself makes the vector code of kernels, and knows what it can do: blocks of lanes, stores past the caches
    TakesAll,  // arrays of other devices come along where they meet its own: they become part of what it notes
    LookBack,  // a group of text may wait for groups that began before it: these go on meanwhile; items go in warps of 32
};

/// An allocation of a device's memory, for other processes.
struct ProcessBlock {
    std::string name;        // of the driver's
    std::size_t offset = 0;  // where the address that was asked for is in it
    std::size_t bytes = 0;
};

/// A device, or a part of one. Lives as long as the process.
class Device {
public:
    virtual ~Device() = default;
    virtual Backend* backend() const noexcept = 0;
    virtual const DeviceInfo& info() const noexcept = 0;
    virtual std::string id() const = 0;
    virtual Device* parent() const noexcept { return nullptr; }
    virtual bool supports(DType dtype) const noexcept = 0;
    virtual bool can(Feature) const noexcept { return false; }
    /// DLPack's numbers {type, number of the device} for memory of a kind here; type 0 where other libraries cannot reach it.
    virtual std::pair<int, int> dlpack_device(MemoryKind) const noexcept { return {0, 0}; }
    virtual NativeApi native_api() const noexcept { return NativeApi::None; }
    /// Makes the driver's context, if that has not been made.
    virtual NativeDevice native() { return {}; }
    /// Where native code finds a byte of a buffer. Here: at its address.
    virtual NativePlace native_place(const Buffer* buffer, std::size_t offset) const {
        return {static_cast<char*>(buffer->data()) + offset, nullptr, 0};
    }
    /// Sets an argument of a driver's kernel to `bytes` of a buffer, whichever kind of memory that is. The result, which may be null, is to
    /// live until the kernel is enqueued. Throws Device where the driver's kernels keep no arguments.
    virtual std::shared_ptr<void> set_native_argument(void* kernel, unsigned index, const Buffer* buffer, std::size_t offset,
                                                      std::size_t bytes);
    /// A queue on a CUstream or cl_command_queue of other code, in the order that it has; `owner` goes when its last work is over. Throws
    /// Device where the back end has none, Value for one of another device or context.
    virtual Ref<Queue> adopt_queue(void* stream, const std::shared_ptr<void>& owner);
    /// In a turn: what the code enqueues from now on comes after a CUevent or cl_event of other code, which may go then. Throws as above.
    virtual void await_native(NativeTurn& turn, void* event);
    /// In a turn: a new CUevent or cl_event, complete when what the turn comes after is; the caller's to destroy.
    virtual void* native_marker(NativeTurn& turn);
    /// What a layer above keeps for this device.
    struct Attachment {
        virtual ~Attachment() = default;
    };
    /// The finished plans of src/plan: made by `make` at first use, by one thread; they go with the device.
    Attachment& plans(std::unique_ptr<Attachment> (*make)()) {
        Attachment* made = plans_made_.load(std::memory_order_acquire);
        return made ? *made : make_plans(make);
    }
    /// The allocation that holds an address, as the driver names it for other processes. Throws Device where it names none, as the next.
    virtual ProcessBlock name_block(std::uintptr_t address);
    /// Where an allocation of another process is here; it is open until it is closed. Not for one of this process.
    virtual std::uintptr_t open_block(std::string_view name);
    virtual void close_block(std::uintptr_t address) noexcept;
    /// Devices of the same driver whose memory the OpenGL context has that is current in this thread. Here: none.
    virtual std::vector<Device*> graphics_devices() { return {}; }
    /// A buffer (`target` 0), texture or renderbuffer of that context, registered with the driver. Throws Device where it refuses.
    virtual std::unique_ptr<GraphicsObject> share_graphics(unsigned name, unsigned target);
    /// What it has in common with other drivers, kept by the device (device/external.h).
    External& external();
    /// False when a range of memory, of any library in the process, is not in one allocation of this device's. Here: unknown.
    virtual bool holds(std::uintptr_t /*low*/, std::size_t /*bytes*/) { return true; }
    /// For other libraries that use the same device: completes when what they have submitted so far is complete, on one of their streams
    /// or, with 0, on any. No thread waits. Here: there are none.
    virtual Event foreign_work(std::uintptr_t /*stream*/) { return {}; }
    /// Bytes that could be allocated now; no value where the back end cannot tell.
    virtual std::optional<std::int64_t> free_memory() { return std::nullopt; }
    /// The parts of this device, kept: the same cut gives the same devices. Throws Value for a malformed cut, Device for an impossible one.
    const std::vector<Device*>& sub_devices(const Partition& partition);

    /// A new queue. The canonical one is made by `queue()`.
    virtual Ref<Queue> create_queue(QueueOrder order, bool profiling) = 0;
    /// The canonical queue: process-wide, in order, made at first use.
    Queue* queue();
    /// A queue without order for turns that enqueue no work: none waits for another.
    Queue* marker_queue();
    /// Adds this device and its parts, those only that have their canonical queue.
    void collect_in_use(std::vector<Device*>& out);

    /// Uninitialised memory, ready on `queue`: from the user's allocator when there is one, else from `allocate`.
    Ref<Buffer> obtain(std::size_t bytes, MemoryKind kind, Queue* queue);
    /// True once there is memory of another kind than MemoryKind::Device: results may have to be of another kind too.
    bool mixed_kinds() const noexcept { return mixed_kinds_.load(std::memory_order_relaxed); }
    void note_kind(MemoryKind kind) noexcept {
        if (kind != MemoryKind::Device) mixed_kinds_.store(true, std::memory_order_relaxed);
    }
    /// Null takes the user's allocator away again.
    void set_hook(std::shared_ptr<const AllocatorHook> hook);
    /// Uninitialised memory from the caching allocator, ready on `queue`. Throws Memory with the bytes asked for and free.
    virtual Ref<Buffer> allocate(std::size_t bytes, MemoryKind kind, Queue* queue) = 0;
    /// Wraps memory that other code owns; `release` is called when the last use is complete.
    virtual Ref<Buffer> import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release) = 0;
    virtual MemoryStats memory_stats() const = 0;
    virtual void trim_memory() = 0;
    virtual void set_memory_limit(std::int64_t bytes) = 0;
    virtual void reset_memory_peak() = 0;

    virtual Execution execution() const noexcept { return Execution::Lanes; }
    /// Bytes that each array of an item takes whose size is known when the kernel runs; 0: as many as it needs. Items of a GPU's text have
    /// them in memory that the driver lays out for all that run at once.
    virtual std::int64_t own_bytes() const noexcept { return can(Feature::OwnLanes) ? 0 : info().type == DeviceType::Gpu ? 2048 : 65536; }
    /// Which of a kernel's programs serves launches of this shape.
    virtual ShapeClass shape_class(const ir::Kernel&, const LaunchShape&) const { return 0; }
    /// The program for a kernel, from the cache or compiled. Throws Compile.
    virtual Ref<Program> compile(const ir::Kernel& kernel, ShapeClass shape) = 0;
    /// The same if it is in memory, else null.
    virtual Ref<Program> known_program(const ir::Kernel& kernel, ShapeClass shape) = 0;
    /// As compile, of text. Throws Device where the back end has no compiler of text.
    virtual Ref<Program> compile_source(const SourceKernel& kernel);
    /// The language of text that users may write for it; empty where there is none.
    std::string_view text_language() const noexcept;
    /// The user's text in that language, from the cache or compiled. Throws Compile with what the compiler says.
    virtual Ref<TextProgram> compile_program(const ProgramText& program);
    /// An image for such programs; `texels` stands for it where work is ordered. Throws Device, Value where the device has no such images.
    virtual Ref<Image> make_image(const ImageShape& shape, Buffer* texels);
    /// What a parameter of such a program takes for a sampler, kept by the device. Throws Device where programs have no samplers by
    /// themselves.
    virtual std::uint64_t sampler_handle(const Sampler& sampler);
    /// What `inspect` shows for a kernel: "llvm", "asm", "ptx", the language of its text; the CPU also "lanes": what its vectors hold,
    /// in words. Throws Value for a name this device does not have.
    virtual std::string inspect(const ir::Kernel& kernel, ShapeClass shape, std::string_view what) = 0;

protected:
    /// Makes the parts; called once for each cut, with a well-formed one that `info()` offers: the counts add up to at most
    /// `max_compute_units`. Parts live as long as the process; part i has the id `sub_device_id(*this, partition, i)`, and this parent().
    virtual std::vector<Device*> make_sub_devices(const Partition& partition);
    /// Called once. Here: one that lacks everything.
    virtual std::shared_ptr<External> make_external();

private:
    Attachment& make_plans(std::unique_ptr<Attachment> (*make)());
    std::unique_ptr<Attachment> plans_;
    std::atomic<Attachment*> plans_made_{nullptr};  // plans_, readable without the lock
    std::mutex parts_mutex_;
    std::map<std::string, std::vector<Device*>> parts_;  // by Partition::text()
    Ref<Queue> queue_;
    std::atomic<Queue*> canonical_{nullptr};  // queue_, readable without the lock
    Ref<Queue> markers_;
    std::shared_ptr<External> external_;
    std::shared_ptr<const AllocatorHook> hook_;
    std::atomic<bool> hooked_{false}, mixed_kinds_{false};
};

/// Whether it is the host's processor, directly or through a driver.
inline bool is_processor(const Device* device) noexcept { return device->can(Feature::HostCode) || device->can(Feature::HostProcessor); }

/// Runs the user's `f` on a thread of the library, after `depends` and, in order, after what was submitted before and ahead of what comes
/// later. What it returns is the event's value; what it throws is the event's failure. Out of order also after `after`, however that ends.
Event user_task(Queue* queue, std::function<std::shared_ptr<void>()> f, Label label, std::span<const Event> depends,
                const Event& after = {});
/// The platform that a device, or what it is a part of, belongs to.
const Platform& platform_of(Device* device);

/// While it lives, what this thread's graph engine launches waits for these events too.
class ExtraDepends {
public:
    explicit ExtraDepends(std::span<const Event> events);
    ~ExtraDepends();
    ExtraDepends(const ExtraDepends&) = delete;
    static std::span<const Event> current() noexcept;

private:
    std::span<const Event> outer_;
};

/// "cpu:0/3+1.0": part 0 of cpu:0 cut into 3 and 1 units. A selection string like any other id.
std::string sub_device_id(const Device& parent, const Partition& partition, std::size_t index);

/// What is true of all devices of a back end, and known before it looks for any.
struct BackendFacts {
    std::string_view text{}, text_name{};  // the language of users' text: its name in the API, "opencl", and in messages, "OpenCL C"
    bool takes_spirv = false;              // modules of SPIR-V are programs too
    bool has_offsets = false;              // launches of text may begin at other items than 0
    bool knows_addresses = false;          // the driver tells which device an address belongs to: so memory of other libraries is found
};

/// One way to reach devices. Registered at start; loads its libraries at first use.
class Backend {
public:
    virtual ~Backend() = default;
    virtual std::string_view name() const noexcept = 0;
    virtual BackendFacts facts() const noexcept { return {}; }
    /// Devices found; empty with a reason in `unavailable()` when there are none. Throws Value when the environment asks for nonsense.
    virtual const std::vector<Platform>& platforms() = 0;
    virtual std::string unavailable() { return {}; }
    /// Hidden back ends (null) are found only by name.
    virtual bool hidden() const noexcept { return false; }
    /// "LLVM 19.1.7 · SLEEF 3.5.1 · oneTBB 2021.8", for `python -m pardo`.
    virtual std::string versions() { return {}; }
};

inline std::string_view Device::text_language() const noexcept { return backend()->facts().text; }

/// Adds a back end; called by each one's registration function.
void register_backend(std::unique_ptr<Backend> backend);
/// Says what registers the back ends that this build holds, for the registry to call at first use: src/backend/builtin.cpp says so before
/// main begins. True.
bool set_builtin_backends(void (*register_all)()) noexcept;
/// All back ends in order of preference.
const std::vector<std::unique_ptr<Backend>>& backends();
/// What a back end found; the way to ask in place of Backend::platforms(), so that it is known which libraries have been loaded.
const std::vector<Platform>& platforms_of(Backend& backend);
/// False when PARDO_DEVICES hides all devices of a back end: then it is not even asked.
bool may_be_visible(const Backend& backend);
/// Visible devices, after PARDO_DEVICES; `backend` empty for all. Asks no other back ends.
std::vector<Device*> visible_devices(std::string_view backend = "");
/// Resolves a selection string; throws Value listing what exists.
Device* select(std::string_view selector);
/// PARDO_DEVICE, else the CPU.
Device* default_device();

}  // namespace pardo::device

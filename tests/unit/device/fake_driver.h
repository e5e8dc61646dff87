// tests/unit/device/fake_driver.h: a driver of the tests' own: what it is given runs on threads of the host.
#pragma once

#include <pardo/error.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "device/memory/caching_allocator.h"
#include "device/queue/queue.h"

namespace pardo::device {

using namespace std::chrono_literals;

/// What the fake driver runs: a function of the host, on a thread of the stream.
class FakeProgram final : public Program {
public:
    FakeProgram(std::string name, std::function<void()> f) : Program(std::move(name)), f_(std::move(f)) {}
    void run() const { f_(); }

private:
    std::function<void()> f_;
};

inline std::atomic<int> live_events{0}, made_events{0};

struct FakeEvent {
    FakeEvent() { ++live_events, ++made_events; }
    ~FakeEvent() { --live_events; }
    std::mutex mutex;
    std::condition_variable changed;
    NativeStatus status = NativeStatus::Unfinished;
    std::string why;
    std::int64_t start = 0, end = 0;
    std::atomic<int> owners{2};  // the stream and whoever asked
    void drop() {
        if (--owners == 0) delete this;
    }
    void wait() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return status != NativeStatus::Unfinished; });
    }
};

/// Runs what it is given one after the other on a thread, as a driver does.
class FakeStream final : public Stream {
public:
    FakeStream(const Device* device, bool late) : device_(device), late_(late), thread_([this] { serve(); }) {}
    ~FakeStream() override {
        {
            std::lock_guard lock(mutex_);
            closed_ = true;
        }
        wake_.notify_all();
        thread_.join();
    }
    void launch(const Launch& l, const NativeOrder& order) override {
        if (l.program->name() == "refused") throw Error(ErrorCode::Device, "the driver refuses");
        add(order, [p = Ref<Program>(l.program)] { static_cast<FakeProgram*>(p.get())->run(); });
    }
    void copy(Buffer* to, std::size_t to_offset, Buffer* from, std::size_t from_offset, std::size_t bytes, const NativeOrder& o) override {
        add(o, [=] { std::memmove(at(to) + to_offset, at(from) + from_offset, bytes); });
    }
    void write(Buffer* to, std::size_t offset, const void* from, std::size_t bytes, const NativeOrder& order) override {
        add(order, [=, this] { std::memcpy(at(to) + offset, from, bytes); });
    }
    void read(void* to, Buffer* from, std::size_t offset, std::size_t bytes, const NativeOrder& order) override {
        add(order, [=, this] { std::memcpy(to, at(from) + offset, bytes); });
    }
    void fill(Buffer* to, std::size_t offset, std::size_t bytes, const void* pattern, std::size_t size, const NativeOrder& order) override {
        const std::string p(static_cast<const char*>(pattern), size);
        add(order, [=, this] {
            for (std::size_t i = 0; i < bytes; i += size) std::memcpy(at(to) + offset + i, p.data(), size);
        });
    }
    void marker(const NativeOrder& order) override {
        ++markers;
        add(order, [] {});
    }
    NativeStatus query(NativeEvent e, std::optional<Error>& error) noexcept override {
        auto* event = static_cast<FakeEvent*>(e);
        std::lock_guard lock(event->mutex);
        if (event->status == NativeStatus::Failed) error = Error(ErrorCode::Device, event->why);
        return event->status;
    }
    void wait(NativeEvent e) noexcept override { static_cast<FakeEvent*>(e)->wait(); }
    void release(NativeEvent e) noexcept override { static_cast<FakeEvent*>(e)->drop(); }
    void times(NativeEvent e, std::int64_t&, std::int64_t& start, std::int64_t& end) noexcept override {
        start = static_cast<FakeEvent*>(e)->start;
        end = static_cast<FakeEvent*>(e)->end;
    }
    bool understands(const Stream& other) const noexcept override { return dynamic_cast<const FakeStream*>(&other); }
    bool copies(const Buffer* to, const Buffer* from) const noexcept override {
        return to->device() == device_ && from->device() == device_;
    }
    bool marks_late() const noexcept override { return late_; }

    std::atomic<int> markers{0};

private:
    struct Command {
        std::function<void()> f;
        std::vector<FakeEvent*> after;
        FakeEvent* marker;
    };
    static char* at(const Buffer* b) { return static_cast<char*>(b->data()); }
    void add(const NativeOrder& order, std::function<void()> f) {
        Command c{std::move(f), {}, order.marker ? new FakeEvent : nullptr};
        for (NativeEvent e : order.after) {
            c.after.push_back(static_cast<FakeEvent*>(e));
            ++c.after.back()->owners;
        }
        if (order.marker) *order.marker = c.marker;
        std::lock_guard lock(mutex_);
        commands_.push_back(std::move(c));
        wake_.notify_one();
    }
    void serve() {
        for (;;) {
            Command c;
            {
                std::unique_lock lock(mutex_);
                wake_.wait(lock, [this] { return closed_ || !commands_.empty(); });
                if (commands_.empty()) return;
                c = std::move(commands_.front());
                commands_.pop_front();
            }
            for (FakeEvent* e : c.after) {
                e->wait();
                e->drop();
            }
            const std::int64_t start = now_ns();
            NativeStatus status = NativeStatus::Complete;
            std::string why;
            try {
                c.f();
            } catch (const Error& e) {
                status = NativeStatus::Failed;
                why = e.message();
            }
            c.f = nullptr;
            if (!c.marker) continue;
            {
                std::lock_guard lock(c.marker->mutex);
                c.marker->status = status;
                c.marker->why = why;
                c.marker->start = start;
                c.marker->end = now_ns();
            }
            c.marker->changed.notify_all();
            c.marker->drop();
        }
    }
    const Device* device_;
    const bool late_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Command> commands_;
    bool closed_ = false;
    std::thread thread_;
};

inline std::atomic<int> raw_blocks{0};

class FakeMemory final : public RawMemory {
public:
    explicit FakeMemory(std::size_t alignment = 1) : alignment_(alignment) {}
    MemoryPolicy policy() const override {
        MemoryPolicy policy;
        policy.block_alignment = alignment_;
        return policy;
    }
    bool allocate(std::size_t bytes, std::size_t, MemoryKind, RawBlock& block) override {
        ++raw_blocks;
        block.data = std::aligned_alloc(128, bytes);
        return block.data;
    }
    void free(const RawBlock& block, std::size_t, MemoryKind) noexcept override {
        --raw_blocks;
        std::free(block.data);
    }
    bool host_visible(MemoryKind kind) const noexcept override { return kind != MemoryKind::Device; }
    std::int64_t total_bytes() const noexcept override { return 256 << 20; }
    std::int64_t largest_block() const noexcept override { return 128 << 20; }

private:
    std::size_t alignment_;
};

/// Device memory is the host's, but says that it is not: it is reached through the stream.
class FakeDevice final : public Device {
public:
    explicit FakeDevice(std::string id) : id_(std::move(id)), allocator_(this, std::make_unique<FakeMemory>()) {}
    Backend* backend() const noexcept override { return nullptr; }
    const DeviceInfo& info() const noexcept override { return info_; }
    std::string id() const override { return id_; }
    bool supports(DType) const noexcept override { return true; }
    Ref<Queue> create_queue(QueueOrder order, bool profiling) override { return make(order, profiling, false); }
    Ref<Queue> make(QueueOrder order, bool profiling, bool late) {
        return new DriverQueue(this, order, profiling, std::make_unique<FakeStream>(this, late));
    }
    Ref<Buffer> allocate(std::size_t bytes, MemoryKind kind, Queue* queue) override { return allocator_.allocate(bytes, kind, queue); }
    Ref<Buffer> import(void* data, std::size_t bytes, MemoryKind kind, std::function<void()> release) override {
        return allocator_.import(data, bytes, kind, std::move(release));
    }
    MemoryStats memory_stats() const override { return allocator_.stats(); }
    void trim_memory() override { allocator_.trim(); }
    void set_memory_limit(std::int64_t bytes) override { allocator_.set_limit(bytes); }
    void reset_memory_peak() override { allocator_.reset_peak(); }
    Ref<Program> compile(const ir::Kernel&, ShapeClass) override { return nullptr; }
    Ref<Program> known_program(const ir::Kernel&, ShapeClass) override { return nullptr; }
    std::string inspect(const ir::Kernel&, ShapeClass, std::string_view) override { return {}; }

private:
    std::string id_;
    DeviceInfo info_;
    mutable CachingAllocator allocator_;
};

inline FakeDevice& fake_device() {
    static auto* device = new FakeDevice("fake:0");
    return *device;
}
inline FakeDevice& other_fake_device() {
    static auto* device = new FakeDevice("fake:1");
    return *device;
}
inline Ref<Queue> new_queue(QueueOrder order = QueueOrder::InOrder, bool profiling = false, bool late = false) {
    return fake_device().make(order, profiling, late);
}
inline Ref<Buffer> new_buffer(std::size_t bytes = 64) { return fake_device().allocate(bytes, MemoryKind::Device, nullptr); }

inline Event launch(Queue* q, std::function<void()> f, std::span<const BufferUse> uses = {}, std::span<const Event> depends = {},
                    std::string name = "work", double cost_ns = 0, std::function<void()> check = {}) {
    const Ref<Program> p(new FakeProgram(std::move(name), std::move(f)));
    const std::int64_t extents[] = {1};
    Launch l;
    l.program = p.get();
    l.extents = extents;
    l.uses = uses;
    l.cost_ns = cost_ns;
    l.check = std::move(check);
    return q->launch(l, depends);
}

struct Gate {
    std::atomic<bool> open{false};
    void pass() const {
        while (!open) std::this_thread::yield();
    }
};

/// An event that belongs to no queue, as a user event.
struct UserEvent {
    Ref<EventState> state{new EventState(nullptr)};
    Event event() const { return Event(state.get()); }
};

}  // namespace pardo::device

// tests/fake_cuda/world.h: what the parts of the fake CUDA driver share: its devices, streams and allocations, under one lock.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/cuda/libraries/driver.h"
#include "fake_cuda.h"

namespace fake {

using namespace pardo::cuda;

constexpr Result invalid_handle = 400, invalid_context = 201, not_initialized = 3, not_found = 500, invalid_device = 101,
                 not_registered = 713, launch_out_of_resources = 701, peer_unsupported = 217;

struct Stream;
struct Device {
    int ordinal = 0;
    bool context = false;
    Result lost = 0;
    std::uint64_t base = 0;                         // what pointers say
    char* storage = nullptr;                        // where the bytes are
    int file = -1;                                  // and the file that other processes open
    std::map<std::uint64_t, std::size_t> opened;    // blocks of other processes, also in `blocks`
    std::map<std::uint64_t, std::size_t> reserved;  // ranges of addresses that memory is mapped to
    std::size_t memory = 0, used = 0;
    std::map<std::uint64_t, std::size_t> blocks;
    std::vector<std::shared_ptr<Stream>> streams;
    std::shared_ptr<Stream> standard;  // of handles 0, 1 and 2
    std::vector<bool> peers;
};

/// Work runs without the lock; its result is the device's if it loses the context.
struct Stream {
    Device* device = nullptr;
    std::deque<std::function<Result()>> work;
    bool busy = false, closed = false;
};

/// What a CUDA array holds, row by row; surfaces and textures are numbers of it.
struct Array {
    ArrayDescriptor descriptor{};
    std::vector<char> bytes;
    std::size_t texel_bytes() const;
};
struct Injection {
    Result code;
    int after;
};
struct HostRange {
    std::size_t bytes;
    bool owned;
};
struct RecordedLaunch {
    FakeLaunch launch;
    std::string kernel;
    std::vector<std::uint64_t> params;
};

/// Everything, under one lock.
struct World {
    std::mutex mutex;
    std::condition_variable changed;
    bool started = false, held = false;
    std::vector<std::unique_ptr<Device>> devices;
    std::map<std::uint64_t, HostRange> pinned;  // also registered
    std::map<std::uint64_t, std::size_t> managed;
    std::map<std::string, Injection> injections;
    std::map<std::string, Result> bad_kernels;
    std::map<std::string, long> calls, live;
    std::map<std::string, void (*)(const FakeLaunch*)> bodies;
    std::vector<std::unique_ptr<RecordedLaunch>> launches;
};
World& world();
using Lock = std::unique_lock<std::mutex>;

/// The device whose context is current in this thread.
inline thread_local Device* current = nullptr;

inline ContextHandle handle_of(Device* d) { return reinterpret_cast<ContextHandle>(d); }
inline std::uint64_t number(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

/// Results after which a device's context does not work any more.
bool fatal(Result code);
/// The common begin of the driver's functions: counts the call; a result when it has been told to fail.
Result enter(const char* function);
/// As enter, for functions that need a current context that is not lost.
Result enter_context(const char* function);

#define ENTER(function) \
    if (const Result failed = enter(function)) return failed
#define ENTER_CONTEXT(function) \
    if (const Result failed = enter_context(function)) return failed

/// Adds work to a stream; on a lost device it is dropped when its turn comes, unless it only tells that its turn has come.
Result push(StreamHandle handle, std::function<Result()> f);
/// Waits, giving the lock away, until all work of a stream or of a device is done.
void wait_idle(Lock& lock, const std::shared_ptr<Stream>& s);
void wait_idle(Lock& lock, Device* d);

/// Where the bytes are; null for what is not one allocation's. Takes the lock.
char* locked_bytes_at(std::uint64_t pointer, std::size_t bytes);

/// Whole pages; the last of a device that no block needs; a file's pages in place of those, from `first` on. With the lock held.
std::size_t pages(std::size_t bytes);
std::uint64_t last_free_pages(Device* d, std::size_t size);
bool show_file(Device* d, std::uint64_t first, std::size_t size, int file, std::uint64_t offset);

/// Ends a mapping of external memory; false for what is none. With the lock held.
bool end_external_mapping(Device* d, std::uint64_t pointer);

}  // namespace fake

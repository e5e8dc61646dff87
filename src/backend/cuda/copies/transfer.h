// src/backend/cuda/copies/transfer.h: copies between a user's pageable memory and a device, through pinned memory and several threads.
// This folder: copies that take more than one plain call: of pageable memory, of regions; and prefetch.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/cuda/libraries/driver.h"

namespace pardo::cuda {

class CudaDevice;

/// How copies are cut; PARDO_CUDA_TRANSFER holds words that change it, with commas between: "register,threads=12,piece=2048".
struct TransferOptions {
    bool registers = false;       // register: pin large memory where it is
    std::size_t threads = 0;      // threads=N: at a copy; 0: by the cores there are
    std::size_t piece_bytes = 0;  // piece=KIB: what one call of the driver moves
    bool populates = true;        // populate=0: leave a reader's fresh memory to page faults
    bool streams = true;          // stream=0: large results go through the caches
    /// Throws Value for words that are none.
    static TransferOptions from_environment();
};

/// The staging memory of one device, made at first use. Each part of a copy has a thread, a stream and two pinned pieces of its own: while
/// one piece is on the bus, the thread fills the other. One copy at a time.
class Transfer {
public:
    explicit Transfer(CudaDevice* device);

    /// Both in the order of `stream`; the device's context is current. On return the host memory is the caller's again; a read is complete.
    void write(StreamHandle stream, DevicePointer to, const void* from, std::size_t bytes);
    void read(StreamHandle stream, void* to, DevicePointer from, std::size_t bytes);
    /// Pins large memory of the user's where it is, in place of going through staging memory. PARDO_CUDA_TRANSFER=register says so at
    /// start; the other words that it may hold are in TransferOptions.
    void prefer_registration(bool yes) noexcept { registers_ = yes; }

private:
    struct Piece {
        void* host = nullptr;
        EventHandle free = nullptr;  // recorded when the bus is done with it
    };
    struct Lane {
        StreamHandle stream = nullptr;
        EventHandle ready = nullptr;
        std::array<Piece, 2> pieces;
    };
    static constexpr std::size_t most_lanes = 16;
    /// How a copy is cut: lane i of `lanes` has the pieces i, i + lanes, …, so that all work near each other.
    struct Cut {
        std::size_t lanes = 1, piece = 0, bytes = 0;
        std::size_t shift = 0;  // the first piece is shorter by this, and the others begin at the host's page boundaries
        std::size_t begin(std::size_t i) const { return i == 0 ? 0 : std::min(i * piece - shift, bytes); }
        std::size_t size(std::size_t i) const { return begin(i + 1) - begin(i); }
    };

    bool on_pinned_memory(const void* host) const;
    /// Runs `copy` on host memory that is pinned meanwhile, and waits for it; false when the driver cannot pin it.
    bool on_registered(StreamHandle stream, void* host, std::size_t bytes, unsigned flags, const std::function<Result()>& copy);
    Cut cut(const void* host, std::size_t bytes) const;
    /// Makes what so many lanes need.
    void prepare(std::size_t lanes);
    void populate(char* to, std::size_t bytes);
    /// Waits for what is before the copy: the lanes' threads would only wait for it one by one.
    void settle(StreamHandle stream);
    void join_lanes(StreamHandle stream, std::size_t lanes);
    void write_part(Lane& lane, std::size_t index, const Cut& cut, DevicePointer to, const char* from);
    void read_part(Lane& lane, std::size_t index, const Cut& cut, char* to, DevicePointer from);
    /// Runs f(0) … f(parts - 1) at the same time, the first on the caller; throws what one of them throws.
    void run(std::size_t parts, const std::function<void(std::size_t)>& f);
    void serve(std::size_t index);

    CudaDevice* device_;
    const TransferOptions options_;
    std::atomic<bool> registers_, populates_;
    std::mutex mutex_;  // one copy at a time
    std::array<Lane, most_lanes> lanes_;
    EventHandle begin_ = nullptr;

    // The helpers; they live as long as the process.
    std::mutex work_mutex_;
    std::condition_variable wake_, done_;
    std::size_t helpers_ = 0;
    std::uint64_t round_ = 0;
    std::size_t parts_ = 0, left_ = 0;
    const std::function<void(std::size_t)>* work_ = nullptr;
    std::exception_ptr failure_;
};

}  // namespace pardo::cuda

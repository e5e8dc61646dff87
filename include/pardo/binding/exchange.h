// include/pardo/binding/exchange.h: memory of devices that other libraries use as well, and the order between their work and ours.
// For pardo's own bindings: no stability.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include <pardo/array.h>
#include <pardo/export.h>

namespace pardo::device {
class Buffer;
}

namespace pardo {

/// A stream of another library as DLPack passes it: with CUDA the address of a CUstream, 1 for the legacy default stream, 2 for that of
/// the thread.
using ForeignStream = std::uintptr_t;
inline constexpr ForeignStream legacy_stream = 1;

/// DLPack's numbers {type, number of the device} for the array's memory; nothing where other libraries cannot reach it. Forces.
PARDO_API std::optional<std::pair<int, int>> dlpack_device(const Array& x);
/// True when nothing but this object refers to its memory: no other array or view, nothing recorded, no other code. Forces.
PARDO_API bool only_holder(const Array& x);
/// Whether an array in memory is the only one that shows it, views included, and no other library has it. Work may be using it.
PARDO_API bool only_array(const Array& x);
/// Bytes of memory that go with the array: none of a view, nor of memory that others own.
PARDO_API std::int64_t owned_bytes(const Array& x);

/// Memory of an array that other code uses as long as this lives: what writes it, or if that code may write what uses it, is over when the
/// operation returns.
class PARDO_API Loan {
public:
    Loan() = default;
    Loan(Loan&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)), writes_(other.writes_) {}
    Loan& operator=(Loan&& other) noexcept {
        std::swap(buffer_, other.buffer_);
        std::swap(writes_, other.writes_);
        return *this;
    }
    ~Loan() { give_back(); }
    void give_back() noexcept;

private:
    friend PARDO_API std::optional<Loan> lend(const Array& x, bool writable, bool at_once);
    Loan(device::Buffer* buffer, bool writes) : buffer_(buffer), writes_(writes) {}
    device::Buffer* buffer_ = nullptr;  // a reference
    bool writes_ = false;
};
/// Forces the array. For code that may write also what has been recorded and would read values from before, and waits for that. `at_once`:
/// nothing where this would compute or wait, or where the value is not complete. Throws Value where others are to write a read-only array.
/// The handle is the caller's own: no other thread gives it another value meanwhile.
PARDO_API std::optional<Loan> lend(const Array& x, bool writable, bool at_once = false);

/// The memory of a lent array may be written by others from now on, for ever: no event says when they are done.
PARDO_API void share_for_good(const Array& x);
/// As export_memory, for a library that holds the array itself as long as it uses the memory: when it is not referenced any more, the
/// memory is not reused before what others have submitted by then is complete.
PARDO_API void* lend_memory(const Array& x, std::optional<ForeignStream> stream, bool writable);

/// Memory of a device that no other code writes: which it is, where in it the array begins, and a number that every write of it changes.
/// Nothing of other memory. Forces.
struct NotedUses {
    std::uintptr_t memory = 0;
    std::int64_t offset = 0;
    std::uint64_t number = 0;
};
PARDO_API std::optional<NotedUses> noted_uses(const Array& x);

/// Whether the failure that reading the array raises happened to work of that queue, and not to work of another one that it depends on.
/// Waits. False where nothing has failed.
PARDO_API bool failed_first_on(const Array& x, const Queue& queue);

/// The bytes from `low` on that elements take up.
struct MemoryRange {
    std::uintptr_t low = 0;
    std::size_t bytes = 0;
};
/// What elements take up, the first of them at `first`, by a description that may lie: every sum and product is checked, nothing is read.
/// Strides are in units of `unit` bytes; those of extents up to 1 do not count. Throws Buffer as "<op_name>: …" for negative extents, for
/// more bytes than can be counted, for elements at address 0, and for a range that leaves the address space.
PARDO_API MemoryRange memory_range(const char* op_name, const void* first, DType dtype, Extents shape, Extents strides, std::int64_t unit);
/// The device that holds such a range of memory that other libraries know by its address, all of it in one allocation; nothing where none
/// of ours does.
PARDO_API std::optional<Device> device_of_memory(const MemoryRange& range);
/// The device whose memory DLPack calls so; nothing for the host, and for what no driver of ours knows.
PARDO_API std::optional<Device> device_of_dlpack(int type, int number);
/// The queue's stream as other libraries take it; 0 where the device has none.
PARDO_API ForeignStream native_stream(const Queue& queue);

/// Memory handed to another library.
struct ExportedMemory {
    void* data = nullptr;          // of the first element, as the device sees it
    std::function<void()> let_go;  // call it when the other library is done
};
/// Hands the array's memory to another library, which uses it on `stream`, if given, from now on: the stream waits for our work, the host
/// does not. Without a stream our work is complete when this returns. `writable`: as Array::share_writable.
PARDO_API ExportedMemory export_memory(const Array& x, std::optional<ForeignStream> stream, bool writable);

/// Shares memory of a device (strides in elements); `release` is called when the last use is over, and not at all when this throws.
/// `stream`: work there so far is waited for, by the queue and not by the host. Throws Buffer, as "<op_name>: …", where memory_range does
/// where the range is not in one allocation of the queue's device, and where elements do not begin at multiples of their size.
PARDO_API Array import_memory(void* data, DType dtype, Extents shape, Extents strides, MemoryKind kind, bool read_only,
                              std::function<void()> release, const Queue& queue, std::optional<ForeignStream> stream = {},
                              const char* op_name = "asarray");

/// Row-major memory of the queue's device, or of the host where the device takes that, whose owner leaves it to us until retire_memory:
/// until then no other code reads or writes it, so that work on it is recorded as on memory of our own. `release` and errors: as
/// import_memory.
PARDO_API Array borrow_memory(const char* op_name, void* data, DType dtype, Extents shape, bool read_only, std::function<void()> release,
                              const Queue& queue);
/// Gives the array's memory back to its owner, or says that it must not be used any more: what is pending on it is computed and waited for
/// (`stream`: work of the array's queue is not waited for, the stream is made to), and from then on each use of the array, and of others
/// over that memory, throws Value with the message. Raises what failed there, when the memory is given back.
PARDO_API void retire_memory(const Array& x, std::string message, std::optional<ForeignStream> stream = {});

}  // namespace pardo

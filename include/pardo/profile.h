// include/pardo/profile.h: what was submitted while a profile was open: kernels, copies, host tasks, compilations, with their times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <pardo/event.h>
#include <pardo/export.h>

namespace pardo {

/// What a record is of. Load: a compiled kernel from the disk cache.
enum class Activity : std::uint8_t { Kernel, HostTask, Copy, Fill, Read, Write, Compile, Load };

/// One piece of work. Times are nanoseconds of the host's steady clock; all are equal for work that never ran.
struct ProfileRecord {
    Activity activity = Activity::Kernel;            ///< what it is of
    std::string name;                                ///< "multiply_add_f64"
    std::string location;                            ///< "/home/me/model.py:42", empty when unknown
    std::string device;                              ///< "cpu:0"; empty for compilations
    std::string queue;                               ///< "cpu:0", "cpu:0 queue 1"; "compiler"
    std::int64_t queued = 0, start = 0, end = 0;     ///< when it was submitted, began and ended
    std::int64_t bytes_read = 0, bytes_written = 0;  ///< of memory
    std::int64_t operations = 0;                     ///< arithmetic on floating-point numbers; a math function counts one
    bool failed = false;                             ///< it did not complete
};

namespace device {
class ProfileLog;
}

/// Records all submissions of the process, from any thread, from its making until `stop()`. Several may be open; each sees everything.
class PARDO_API Profile {
public:
    /// The first `most_records` are kept; later ones are only counted.
    explicit Profile(std::size_t most_records = 1'000'000);
    ~Profile();
    Profile(const Profile&) = delete;
    Profile& operator=(const Profile&) = delete;

    /// Ends the recording; waits for nothing. May be called again.
    void stop();
    /// Events of what is recorded and not complete.
    std::vector<Event> unfinished() const;
    /// Everything recorded, by start; waits for what is not complete, and raises nothing.
    std::vector<ProfileRecord> records() const;
    /// How many more there were.
    std::uint64_t dropped() const;
    /// When it was made, and when it was stopped (now, as long as it is open), by the clock of the records.
    std::int64_t started() const;
    std::int64_t stopped() const;  ///< when it was stopped; now, as long as it is open

private:
    std::shared_ptr<device::ProfileLog> log_;
};

/// Process-wide counts: recorded, forced, planned, flushed, launched, compiled, from_disk, from_pack, bytes_read, bytes_written, copies,
/// copied_bytes, fallbacks, handles, handles_back.
struct CounterValue {
    const char* name;     ///< one of these words
    std::uint64_t value;  ///< since the process began
};
PARDO_API std::vector<CounterValue> counters_now();  ///< all of them

}  // namespace pardo

// python/bind/device/profile.cpp: pardo/profile.h for Python; the public class is in python/pardo/_runtime/profile.py.
#include <pardo/profile.h>

#include "bind.h"

namespace bind {
namespace {

using pardo::Profile;
using pardo::ProfileRecord;

constexpr const char* activities[] = {"kernel", "host task", "copy", "fill", "read", "write", "compile", "load"};

nb::dict as_dict(const ProfileRecord& r) {
    nb::dict d;
    d["activity"] = activities[static_cast<int>(r.activity)];
    d["name"] = r.name;
    d["location"] = r.location;
    d["device"] = r.device;
    d["queue"] = r.queue;
    d["queued"] = r.queued;
    d["start"] = r.start;
    d["end"] = r.end;
    d["bytes_read"] = r.bytes_read;
    d["bytes_written"] = r.bytes_written;
    d["operations"] = r.operations;
    d["failed"] = r.failed;
    return d;
}

nb::list records(const Profile& p) {
    std::vector<ProfileRecord> all;
    {
        const Unlocked unlocked;
        all = p.records();
    }
    nb::list list;
    for (const ProfileRecord& r : all) list.append(as_dict(r));
    return list;
}

/// What was submitted before the profile was stopped; a failure is raised once, as by any wait.
void wait_for_profile(const Profile& p) {
    for (const pardo::Event& e : p.unfinished()) wait(e);
}

}  // namespace

void bind_profile(nb::module_& m) {
    nb::class_<Profile>(m, "_Profile", nb::is_final(), "Records submissions until it is stopped.")
        .def(nb::init<std::size_t>(), nb::arg("most_records"))
        .def("stop", &Profile::stop, "Ends the recording; waits for nothing.")
        .def("wait", &wait_for_profile, "Waits for what is recorded; raises the first failure that has not been raised yet.")
        .def("records", &records, nb::sig("def records(self) -> list[dict[str, Any]]"), "What is recorded, by start; waits for it.")
        .def_prop_ro("dropped", &Profile::dropped, "How many records there was no room for.")
        .def_prop_ro("started", &Profile::started, "Nanoseconds of the host's steady clock.")
        .def_prop_ro("stopped", &Profile::stopped, "The same; now, as long as it is open.");
}

}  // namespace bind

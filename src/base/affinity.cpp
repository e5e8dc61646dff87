// src/base/affinity.cpp: which cores a thread may run on, by the system's calls.
#include "base/affinity.h"

#include <sched.h>

namespace pardo {
namespace {

thread_local const CoreList* bound_to = nullptr;  // by the innermost Bound
thread_local cpu_set_t original;                  // the thread's own cores, while it is bound

/// Moves the calling thread. A core that went away meanwhile changes nothing: the thread stays where it may run.
void apply(const CoreList* cores) {
    if (!cores) {
        sched_setaffinity(0, sizeof original, &original);
        return;
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : *cores) CPU_SET(static_cast<unsigned>(core), &set);
    sched_setaffinity(0, sizeof set, &set);
}

}  // namespace

const CoreList& any_core() {
    static const auto& all = *new CoreList;
    return all;
}

CoreList cores_of_thread() {
    cpu_set_t set;
    CPU_ZERO(&set);
    CoreList cores;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (CPU_ISSET(static_cast<unsigned>(i), &set)) cores.push_back(i);
    }
    return cores;
}

Bound::Bound(const CoreList& cores) : outer_(bound_to) {
    const CoreList* wanted = cores.empty() ? nullptr : &cores;
    if (wanted == outer_) return;
    if (!outer_ && sched_getaffinity(0, sizeof original, &original) != 0) return;
    apply(wanted);
    bound_to = wanted;
    changed_ = true;
}

Bound::~Bound() {
    if (!changed_) return;
    apply(outer_);
    bound_to = outer_;
}

}  // namespace pardo

// src/base/affinity.h: which cores a thread may run on.
#pragma once

#include <vector>

namespace pardo {

/// Numbers of cores, as the system counts them, in any order.
using CoreList = std::vector<int>;

/// Cores that the calling thread may run on; empty when the system does not tell, or has more than it can tell about.
CoreList cores_of_thread();

/// Keeps the calling thread on some cores while it lives, and puts it back afterwards. An empty list lifts what an outer Bound did, so
/// that threads which are started meanwhile do not inherit it.
class Bound {
public:
    /// `cores` has to outlive this.
    explicit Bound(const CoreList& cores);
    ~Bound();
    Bound(const Bound&) = delete;
    Bound& operator=(const Bound&) = delete;

private:
    const CoreList* outer_;
    bool changed_ = false;
};

/// No binding, for Bound.
const CoreList& any_core();

}  // namespace pardo

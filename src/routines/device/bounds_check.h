// src/routines/device/bounds_check.h: looking index arrays through, on devices that compile text.
#pragma once

#include <algorithm>

#include "device/memory/status_buffer.h"
#include "routines/device/task.h"
#include "routines/routines.h"

namespace pardo::routines {

/// Looks index arrays through on the device. Kernels that are given `arg()` do nothing where one is out of bounds, and fail for that.
class BoundsCheck {
public:
    BoundsCheck(device::Queue* queue, const Bounds& bounds) {
        if (bounds.rows.empty()) return;
        begin(queue);
        for (std::size_t k = 0; k < bounds.rows.size(); ++k) {
            const Memory& indices = bounds.rows[k].indices;
            const std::int64_t count = indices.size();
            const std::int64_t groups = std::min({groups_for(count, 4), busy_groups(queue->device()), std::int64_t{4096}});
            const Memory found = device_scratch(queue, DType::Int64, groups);
            launch_kernel(queue, "check_indices", Variant(KernelId::FindBad, DType::Int64), groups,
                          {reads(indices), writes(found), count, bounds.rows[k].size, divide_up(count, groups)});
            note(queue, bounds, k, found, groups);
        }
    }
    /// None so far: a kernel that reads the indices finds what find_bad does, and `note` is called after it.
    BoundsCheck() = default;
    void begin(device::Queue* queue) { status_ = block_.make(queue, 2); }
    /// What the groups have found in the k-th array, which are looked through in order.
    void note(device::Queue* queue, const Bounds& bounds, std::size_t k, const Memory& found, std::int64_t groups) {
        const auto report = [bounds](device::StatusBuffer::Words words) {
            if (words[0] != 0) fail_bounds(bounds, bounds.rows[static_cast<std::size_t>(words[0] - 1)], words[1]);
        };
        const Memory& indices = bounds.rows[k].indices;
        const DeviceArg args[] = {reads(indices), reads(found), DeviceArg(status_, device::Access::ReadWrite),
                                  indices.size(), groups,       static_cast<std::int64_t>(k) + 1};
        const bool last = k + 1 == bounds.rows.size();
        launch_kernel(queue, "check_indices", Variant(KernelId::NoteBad, DType::Int64), 1, args,
                      last ? block_.check(report) : std::function<void()>());
        if (!last || status_->host_visible()) return;
        const device::BufferUse words[] = {{status_, device::Access::ReadWrite}};  // kernels that are given them fail with them
        (void)block_.read_later(queue, words, {bounds.op_name, device::current_location()}, report);
    }
    bool there() const { return status_ != nullptr; }
    /// As CHECKED.
    Define define() const { return {"CHECKED", there()}; }
    /// The kernel's first argument, if there is one.
    void add_to(DeviceArgs& args) const {
        if (there()) args.push_back(DeviceArg(status_, device::Access::Read));
    }

private:
    device::StatusBuffer block_;
    device::Buffer* status_ = nullptr;
};

}  // namespace pardo::routines

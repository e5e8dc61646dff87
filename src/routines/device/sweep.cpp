// src/routines/device/sweep.cpp: radix sorting on CUDA: a histogram of all digits, then one kernel a digit, which is the only one to read
// and write.
#include <vector>

#include "routines/device/sorting.h"

namespace pardo::routines {

namespace {

/// How many warps a group has and how many elements an item takes, for keys and positions of such sizes: the fastest ones on an H100.
struct SweepShape {
    int warps, items;
    std::int64_t tile() const { return std::int64_t{32} * warps * items; }
};
SweepShape sweep_shape_of(int key_size, int position_size) {
    if (std::max(key_size, position_size) > 4) return {12, 10};
    return position_size > 0 ? SweepShape{16, 12} : SweepShape{12, 16};
}

/// Memory that is filled with zeros by one command, and then cut.
class Zeros {
public:
    explicit Zeros(device::Queue* queue) : queue_(queue) {}
    std::int64_t reserve(std::int64_t bytes) {
        const std::int64_t at = bytes_;
        bytes_ += divide_up(bytes, 16) * 16;
        return at;
    }
    void make() {
        whole_ = device_scratch(queue_, DType::UInt8, bytes_);
        const std::uint32_t zero = 0;
        queue_->fill(whole_.buffer.get(), 0, static_cast<std::size_t>(bytes_), &zero, sizeof(zero));
    }
    Memory part(std::int64_t at, DType dtype, std::int64_t count) const {
        Memory part = whole_;
        part.dtype = dtype;
        part.offset = at / itemsize(dtype);
        part.shape = Shape{count};
        return part;
    }

private:
    device::Queue* queue_;
    std::int64_t bytes_ = 0;
    Memory whole_;
};

class Sweep {
public:
    Sweep(const SortPlan& plan, const Memory& x, DType dtype, int mode, Memory values, const SweepItems& items)
        : plan_(plan),
          x_(x),
          dtype_(dtype),
          mode_(mode),
          passes_(itemsize(dtype)),
          count_size_(plan.length < std::int64_t{1} << 30 ? 4 : 8),
          position_size_(items ? routines::position_size(plan) : 0),
          shape_(sweep_shape_of(itemsize(dtype), position_size_)),
          tiles_(divide_up(plan.length, shape_.tile())),
          values_(std::move(values)),
          items_(items) {
        Zeros zeros(plan.queue);
        const DType count = count_size_ == 4 ? DType::UInt32 : DType::UInt64;
        const std::int64_t counters = plan.lines * passes_ * 256, state = plan.lines * tiles_ * 256;
        const std::int64_t at[] = {zeros.reserve(counters * count_size_), zeros.reserve(state * count_size_), zeros.reserve(passes_ * 4),
                                   zeros.reserve(plan.lines * 4)};
        zeros.make();
        counts_ = zeros.part(at[0], count, counters);
        status_[0] = zeros.part(at[1], count, state);
        tickets_ = zeros.part(at[2], DType::UInt32, passes_);
        signs_ = zeros.part(at[3], DType::UInt32, plan.lines);
        status_[1] = device_scratch(plan.queue, count, state);
        steps_ = device_scratch(plan.queue, DType::Int32, plan.lines * passes_);
    }

    void sort() {
        const std::int64_t each = std::int64_t{256} * std::max(4, 16 / passes_);
        const Parts parts = parts_of(plan_, each);
        const bool notes_zeros = mode_ == ExactKeys && is_float(dtype_);
        const ZeroNotes zeros{parts, notes_zeros ? device_scratch(plan_.queue, DType::Int64, plan_.lines * parts.count) : Memory(), signs_};
        DeviceArgs args;
        for (const DeviceArg& arg : {reads(x_), updates(counts_)}) args.push_back(arg);
        if (notes_zeros) {
            args.push_back(updates(zeros.signs));
            args.push_back(writes(zeros.counts));
        }
        for (const std::int64_t number : {plan_.length, parts.count, parts.chunk, plan_.flip()}) args.push_back(number);
        launch_kernel(plan_.queue, plan_.name, Variant(KernelId::SweepCount, dtype_, {{"L_SIZE", count_size_}, {"MODE", mode_}}),
                      plan_.lines * parts.count, args);
        launch_kernel(plan_.queue, plan_.name, Variant(KernelId::SweepPlan, dtype_, {{"L_SIZE", count_size_}, {"MODE", mode_}}),
                      plan_.lines, {updates(counts_), writes(steps_), plan_.length});
        const Memory second = passes_ > 1 ? device_scratch(plan_.queue, dtype_, plan_.size()) : none();
        const Memory first = values_ ? values_ : passes_ > 1 ? device_scratch(plan_.queue, dtype_, plan_.size()) : none();
        make_positions(passes_ > 1);
        for (int pass = 0; pass < passes_; ++pass) this->pass(pass, first, second, {});
        if (notes_zeros) put_zeros_in_order(plan_, x_, values_, zeros);
    }

    void classes(const Selected& selected) {
        DeviceArgs args;
        for (const DeviceArg& arg : {reads(selected.keys), reads(selected.ranks), reads(selected.equal), writes(counts_), writes(steps_)})
            args.push_back(arg);
        const auto wanted = static_cast<std::int64_t>(selected.kth.size());
        args.push_back(wanted);
        for (std::size_t k = 0; k < most_wanted; ++k) args.push_back(k < selected.kth.size() ? selected.kth[k] : 0);
        launch_kernel(plan_.queue, plan_.name, Variant(KernelId::ClassStarts, dtype_, {{"L_SIZE", count_size_}, {"MODE", mode_}}),
                      plan_.lines, args);
        make_positions(false);
        const Memory to = values_ ? values_ : none(), unused = none();
        const DeviceArg more[] = {reads(selected.keys), wanted};
        pass(0, to, unused, more);
    }

private:
    Memory none() const { return device_scratch(plan_.queue, dtype_, 1); }
    bool indices() const { return items_ && items_.to.dtype == DType::Int64; }
    /// EXTRA of kernels/sweep.h.
    int extra() const {
        if (items_ && values_) return items_.given ? 3 : 4;
        return items_.given ? 1 : indices() ? 2 : 0;
    }
    void make_positions(bool several) {
        if (!items_) return;
        const DType dtype = position_dtype(plan_);
        const std::int64_t size = several ? plan_.size() : 1;
        positions_[0] = indices() ? device_scratch(plan_.queue, dtype, size) : items_.to;
        positions_[1] = device_scratch(plan_.queue, dtype, size);
    }
    void pass(int pass, const Memory& first, const Memory& second, std::span<const DeviceArg> more) {
        DeviceArgs args;
        for (const DeviceArg& arg : {reads(x_), updates(first), updates(second)}) args.push_back(arg);
        if (items_) {
            if (items_.given) args.push_back(reads(items_.given));
            args.push_back(updates(positions_[0]));
            args.push_back(updates(positions_[1]));
            if (indices()) args.push_back(writes(items_.to));
        }
        args.append(more.begin(), more.end());
        for (const DeviceArg& arg : {reads(counts_), reads(steps_), updates(status_[pass % 2]), writes(status_[1 - pass % 2]),
                                     updates(memory_from(tickets_, pass))})
            args.push_back(arg);
        for (const std::int64_t number : {plan_.length, tiles_, std::int64_t{pass}, plan_.flip()}) args.push_back(number);
        launch_kernel(plan_.queue, plan_.name,
                      Variant(KernelId::SweepPass, dtype_,
                              {{"L_SIZE", count_size_},
                               {"MODE", mode_},
                               {"P_SIZE", position_size_},
                               {"EXTRA", extra()},
                               {"WARPS", shape_.warps},
                               {"ITEMS", shape_.items}}),
                      plan_.lines * tiles_, args);
    }

    const SortPlan& plan_;
    const Memory& x_;
    DType dtype_;
    int mode_, passes_, count_size_, position_size_;
    SweepShape shape_;
    std::int64_t tiles_;
    Memory values_;
    const SweepItems& items_;
    Memory counts_, status_[2], tickets_, signs_, steps_, positions_[2];
};

}  // namespace

bool sweeps(const device::Queue* queue) { return queue->device()->can(device::Feature::LookBack); }

void sweep(const SortPlan& plan, const Memory& x, DType dtype, KeyMode mode, const Memory& values, const SweepItems& items) {
    Sweep(plan, x, dtype, mode, values, items).sort();
}

void sweep_classes(const SortPlan& plan, const Memory& x, const Selected& selected, const Memory& values, const SweepItems& items) {
    Sweep(plan, x, x.dtype, selected.mode + 2, values, items).classes(selected);
}

}  // namespace pardo::routines

// src/routines/device/linalg/status.cpp: errors of matrices that kernels cannot work on, as singular ones.
#include "routines/device/linalg/status.h"

#include <algorithm>

namespace pardo::routines {

MatrixStatus::MatrixStatus(device::Queue* queue, const MatrixOptions& options, const char* reason, const Memory& stack)
    : queue_(queue), words_(block_.make(queue, 1)), op_name_(options.op_name) {
    report_ = [op_name = op_name_, reason, batch = stack_batch(stack),
               place = device::current_location()](device::StatusBuffer::Words words) {
        if (words[0] == 0) return;
        const std::int64_t noted = 0x7fffffff - words[0];
        fail_matrix(op_name, noted % 2 == 0 ? "Array must not contain infs or NaNs" : reason, batch, noted / 2, place);
    };
}

void MatrixStatus::look_through(const Memory& stack, bool as_reason) const {
    launch_kernel(queue_, op_name_, Variant(KernelId::NoteInfinite, stack.dtype), groups_for(stack.size()),
                  {reads(stack), arg(), stack.size(), stack.size() / matrices_of(stack), std::int64_t{as_reason}});
}

std::function<void()> MatrixStatus::check() const { return block_.check(report_); }

void MatrixStatus::settle(std::span<const Memory> results) const {
    if (words_->host_visible()) return;
    std::vector<device::BufferUse> uses = {{words_.get(), device::Access::Read}};
    for (const Memory& x : results) {
        if (x) uses.push_back(use_of(x, device::Access::ReadWrite));
    }
    (void)block_.read_later(queue_, uses, {op_name_, device::current_location()}, report_);
}

void MatrixStatus::finish(std::span<const Memory> results, const Memory& info) const {
    SmallVector<DeviceArg, 4> updated;
    for (const Memory& x : results) {
        if (x) updated.push_back(updates(x));
    }
    while (updated.size() < 3) updated.push_back(updated[0]);
    const std::int64_t count = info ? info.size() : 0;
    const DeviceArg args[] = {info ? reads(info) : updated[0], arg(), updated[0], updated[1], updated[2], count};
    launch_kernel(queue_, op_name_, Variant(KernelId::NoteInfo, DType::Int32), std::max<std::int64_t>(groups_for(count), 1), args, check());
    settle(results);
}

Shape stack_batch(const Memory& stack) {
    Shape batch;
    batch.append(stack.shape.begin(), stack.shape.end() - 2);
    return batch;
}

bool takes_stack(device::Queue*, const MatrixOptions&, std::span<const Memory> in, std::span<const Memory>) {
    return matrices_of(in[0]) <= MatrixStatus::most_matrices;
}

bool takes_small_stack(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    return std::max(in[0].shape.back(), in[0].shape[in[0].shape.size() - 2]) <= 32 && takes_stack(queue, options, in, out);
}

void keep_nan(device::Queue* queue, const char* op_name, const Memory& a, const Memory& info, std::span<const Memory> results) {
    const std::int64_t count = matrices_of(a);
    launch_kernel(queue, op_name, Variant(KernelId::NanMatrices, a.dtype, {{"STAGE", 0}}), groups_for(a.size()),
                  {reads(a), updates(info), a.size(), a.size() / count});
    for (const Memory& result : results) {
        if (!result || !is_inexact(result.dtype)) continue;
        launch_kernel(queue, op_name, Variant(KernelId::NanMatrices, result.dtype, {{"STAGE", 1}}), groups_for(result.size()),
                      {updates(result), reads(info), result.size(), result.size() / count});
    }
}

void make_unit(device::Queue* queue, const char* op_name, const Memory& x, const Memory& like) {
    launch_kernel(queue, op_name, Variant(KernelId::UnitMatrices, x.dtype, {{"SIGNS", static_cast<bool>(like)}}), groups_for(x.size()),
                  {writes(x), reads(like ? like : x), x.size(), x.shape[x.shape.size() - 2], x.shape.back()});
}

void keep_triangle(device::Queue* queue, const char* op_name, const Memory& x, bool upper) {
    const int rank = x.shape.size();
    launch_kernel(queue, op_name, Variant(KernelId::KeepTriangle, x.dtype), groups_for(x.size()),
                  {updates(x), x.size(), x.shape[rank - 2], x.shape[rank - 1], std::int64_t{upper}});
}

}  // namespace pardo::routines

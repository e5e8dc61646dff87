// src/routines/cpu/lapack/stack.cpp: shares the matrices of a stack out among threads.
#include "routines/cpu/lapack/stack.h"

#include <atomic>
#include <cstring>
#include <mutex>

#include "routines/routines.h"

namespace pardo::routines {

namespace {

/// The first matrix of a stack that has failed, and why.
class FirstFailure {
public:
    void note(std::int64_t index, const char* reason) {
        const std::lock_guard lock(mutex_);
        if (index >= index_) return;
        index_ = index;
        reason_ = reason;
    }
    /// True of those that need not be looked at any more.
    bool before(std::int64_t index) const { return index_.load(std::memory_order_relaxed) < index; }
    /// Throws what it says if there is one.
    void raise(const char* op_name, const Shape& batch, const Text& place) const {
        if (reason_) fail_matrix(op_name, reason_, batch, index_, place);
    }

private:
    std::mutex mutex_;
    std::atomic<std::int64_t> index_{INT64_MAX};
    const char* reason_ = nullptr;
};

std::vector<const Memory*> pointers(const std::vector<Memory>& list) {
    std::vector<const Memory*> found;
    found.reserve(list.size());
    for (const Memory& memory : list) found.push_back(&memory);
    return found;
}

}  // namespace

void submit_stack(device::Queue* queue, StackTask task, const MatrixCost& cost, const MakeMatrixWork& make) {
    const Shape& shape = task.in[0].shape;
    Shape batch;
    batch.append(shape.begin(), shape.end() - 2);
    const std::int64_t count = element_count(batch), groups = (count + cost.together - 1) / cost.together;
    const int threads = cpu::thread_count(task.device);
    // A group of matrices takes about as long as one of them.
    const double each = cost.flops * 0.1 + 1000, whole = each * static_cast<double>(groups);  // ns on one core
    // Few large matrices are computed one by one, by the threads of OpenBLAS.
    const bool large = cost.extent >= cost.worth_threads, one_by_one = count == 1 || (large && count < threads);
    const int workers = one_by_one ? 1 : static_cast<int>(std::min<std::int64_t>(groups, threads));
    const Memory scratch = cost.workspace > 0 ? make_scratch_bytes(queue, cost.workspace * workers + 64) : Memory();
    const auto shared = std::make_shared<const StackTask>(std::move(task));
    const std::vector<const Memory*> reads = pointers(shared->in);
    std::vector<const Memory*> writes = pointers(shared->out);
    writes.push_back(&scratch);
    const auto run = [=, place = device::current_location()] {
        const char* op_name = shared->options.op_name;
        const BlasThreads limit(*shared->lapack->blas, one_by_one && large ? threads : 1);
        FirstFailure failure;
        const auto compute = [&](const MatrixWork& work, std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin * cost.together; i < end * cost.together && !failure.before(i); i += cost.together) {
                std::int64_t index = i;
                if (const char* reason = work(index)) failure.note(index, reason);
            }
        };
        const auto make_work = [&](int slot) {
            char* memory = scratch ? scratch.address() + slot * cost.workspace : nullptr;
            memory += -reinterpret_cast<std::uintptr_t>(memory) % 64;
            Workspace own(memory);
            return make(*shared, own);
        };
        if (one_by_one) {
            compute(make_work(0), 0, groups);
        } else {
            // Parts of some 50 µs.
            const auto length = std::clamp<std::int64_t>(static_cast<std::int64_t>(50e3 / each), 1, (groups + workers - 1) / workers);
            std::atomic<int> slots{0};
            for_each_part_with(
                shared->device, (groups + length - 1) / length, whole, [&] { return make_work(slots++); },
                [&](const MatrixWork& work, std::int64_t part) { compute(work, part * length, std::min((part + 1) * length, groups)); });
        }
        failure.raise(op_name, batch, place);
    };
    submit(queue, shared->options.op_name, whole, reads, writes, run, static_cast<std::int64_t>(cost.flops * static_cast<double>(count)));
}

void copy_bytes(device::Device* device, const void* from, void* to, std::int64_t bytes) {
    constexpr std::int64_t piece = 65536;
    cpu::parallel_for(device, (bytes + piece - 1) / piece, static_cast<double>(bytes) * 0.1, [=](std::int64_t begin, std::int64_t end) {
        std::memcpy(static_cast<char*>(to) + begin * piece, static_cast<const char*>(from) + begin * piece,
                    static_cast<std::size_t>(std::min(end * piece, bytes) - begin * piece));
    });
}

}  // namespace pardo::routines

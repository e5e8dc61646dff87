// src/capi/work.cpp: native code submitted to a queue: what it uses, when its turn has come, how it fails.
#include "capi/work.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "array/record.h"
#include "backend/cpu/cpu.h"
#include "capi/declared.h"
#include "capi/functions.h"
#include "capi/handle.h"
#include "device/waiting.h"
#include "plan/force.h"

namespace pardo::capi {
namespace {

/// Up to here work may run in the submission; what states more does not (backend/cpu/queue.h).
constexpr double most_at_once_ns = 20'000;

/// A work function's argument, and what functions of the table find through it.
struct Turn : pardo_work {
    std::span<const device::BufferUse> uses;
    std::vector<std::shared_ptr<void>> kept;  // until what needs it is enqueued
};

/// What a submission keeps until its function has run.
struct Submitted : RefCounted<Submitted> {
    Ref<NativeFunction> function;
    Ref<device::Queue> queue;
    Text name;
    std::vector<NativeUse> arrays;
    Ref<device::Buffer> scratch;

    void run(device::NativeTurn& native) const;
    std::vector<device::BufferUse> uses() const;
};

std::vector<device::BufferUse> Submitted::uses() const {
    std::vector<device::BufferUse> out;
    out.reserve(arrays.size() + 1);
    for (const NativeUse& u : arrays) out.push_back({u.node->buffer.get(), u.access, graph::view_of(*u.node)});
    if (scratch) out.push_back({scratch.get(), device::Access::Write, {}});
    return out;
}

void Submitted::run(device::NativeTurn& native) const {
    device::Device* const device = queue->device();
    const std::vector<device::BufferUse> used = uses();
    std::vector<pardo_array_info> infos;
    std::vector<pardo_memory> places;
    infos.reserve(arrays.size());
    places.reserve(used.size());
    for (const NativeUse& u : arrays) infos.push_back(info_of(u.node.get()));
    for (const device::BufferUse& u : used) places.push_back(memory_of(device, u.buffer, u.view.offset));
    Turn work{};
    work.size = sizeof(pardo_work);
    work.backend = backend_of(device);
    work.queue = lent(queue.get());
    work.device = lent(device);
    work.stream = native.stream;
    work.wait = native.after.empty() ? nullptr : native.after.data();  // OpenCL takes no list of length 0
    work.n_wait = static_cast<uint32_t>(native.after.size());
    work.n = static_cast<uint32_t>(arrays.size());
    work.info = infos.data();
    work.memory = places.data();
    work.native = native_of(device);
    work.uses = used;
    std::optional<DeclaredReads> reads;
    if (device->can(device::Feature::HostMemory)) reads.emplace(arrays, infos, places);
    function->call(work, &native.done, name.str());
    if (reads) reads->check(name.str());
}

/// While it lives nothing is recorded that reads the array; what had been is computed first.
void force_readers_of(const graph::Node& node) {
    const std::lock_guard lock(graph::state_of(node.queue.get()).lock);
    plan::force_readers(node.buffer.get(), plan::Compile::Unlocked);
}

device::Access access_of(const char* function, uint32_t access) {
    switch (access) {
        case PARDO_READ: return device::Access::Read;
        case PARDO_WRITE: return device::Access::WriteSome;
        case PARDO_WRITE | PARDO_DISCARD: return device::Access::Write;
        case PARDO_READ | PARDO_WRITE: return device::Access::ReadWrite;
        default:
            throw Error(ErrorCode::Value, std::string(function) + ": an access is PARDO_READ, PARDO_WRITE, both, or PARDO_WRITE | " +
                                              "PARDO_DISCARD, not " + std::to_string(access));
    }
}

}  // namespace

void NativeFunction::call(const pardo_work& work, void** done, const std::string& name) const {
    const InWork inside;
    forget_error();
    int code = 0;
    try {
        code = fn_(&work, user_, done);
    } catch (const std::exception& e) {
        throw Error(ErrorCode::Internal, name + ": the work function has thrown an exception: " + e.what());
    }
    if (code == 0) return;
    const std::string prefix = name + ": ";
    if (!has_error())
        throw Error(ErrorCode::Internal, prefix + "the work function gave " + std::to_string(code)).set_number(PARDO_E_USER + code);
    const Error error = own_error();
    if (error.message().starts_with(prefix)) throw error;
    throw error.with_message(prefix + error.message());
}

pardo_submit_options options_of(const char* function, const pardo_submit_options* given) {
    return given ? given_struct(function, *given, "options") : pardo_submit_options{};
}

NativeOptions options_from(const char* function, const pardo_submit_options& given) {
    if (!(given.cost_ns >= 0))
        throw Error(ErrorCode::Value, std::string(function) + ": the cost is " + std::to_string(given.cost_ns) + " ns; 0 if it is unknown");
    NativeOptions out;
    out.name = given.name ? given.name : "native work";
    out.cost_ns = given.cost_ns;
    out.after = events_of(function, given.after, given.n_after);
    out.scratch_bytes = given.scratch_bytes;
    return out;
}

Event submit_native(const Ref<device::Queue>& queue, std::vector<NativeUse> uses, const Ref<NativeFunction>& function,
                    const NativeOptions& options) {
    device::Device* const device = queue->device();
    const std::string& name = options.name.str();
    for (const NativeUse& u : uses) {
        const Array x(u.node.get());
        if (device::Device* const own = u.node->queue->device(); own != device)
            throw Error(ErrorCode::Placement, name + ": an array is on " + own->id() + ", the queue is of " + device->id() +
                                                  "; bring it with x.to_device(device), or use a queue of its device");
        device::writes(u.access) ? arrays::require_writeable(name.c_str(), x) : arrays::ensure_leaf(x);
    }
    Ref<Submitted> submitted(new Submitted);
    submitted->function = function;
    submitted->queue = queue;
    submitted->name = options.name;
    submitted->arrays = std::move(uses);
    if (options.scratch_bytes > 0) submitted->scratch = device->obtain(options.scratch_bytes, MemoryKind::Device, queue.get());
    const std::vector<device::BufferUse> used = submitted->uses();
    bool foreign = false;
    for (const NativeUse& u : submitted->arrays) {
        if (device::writes(u.access)) force_readers_of(*u.node);
        foreign |= device::externally_visible(u.node->buffer.get(), u.access);
    }
    const double cost_ns = options.cost_ns > 0 && options.cost_ns <= most_at_once_ns
                               ? std::min(options.cost_ns, std::nextafter(most_at_once_ns, 0))
                               : std::max(options.cost_ns, most_at_once_ns);
    const auto code = [submitted](device::NativeTurn& turn) { submitted->run(turn); };
    const Event event = queue->native_task(code, used, {options.name, {}}, cost_ns, options.after);
    if (foreign) device::finish_order(event);
    return event;
}

pardo_status submit(pardo_queue queue, const pardo_use* uses, size_t n_uses, pardo_work_fn fn, void* user,
                    const pardo_submit_options* options, pardo_event* out) {
    return guarded("submit", [&] {
        const pardo_submit_options given = options_of("submit", options);
        const Ref<NativeFunction> function(new NativeFunction(fn, user, given.destroy));
        require("submit", reinterpret_cast<const void*>(fn), "fn");
        if (n_uses > 0) require("submit", uses, "uses");
        const Ref<device::Queue> own(as_queue("submit", queue));
        std::vector<NativeUse> used;
        used.reserve(n_uses);
        for (size_t k = 0; k < n_uses; ++k)
            used.push_back({Ref<graph::Node>(as_node("submit", uses[k].array)), access_of("submit", uses[k].access)});
        const Event event = submit_native(own, std::move(used), function, options_from("submit", given));
        if (out) *out = give(event);
    });
}

pardo_status parallel_for(pardo_queue queue, int64_t n, int64_t grain, void (*f)(int64_t, int64_t, void*), void* user) {
    return guarded("parallel_for", [&] {
        device::Device* const device = as_queue("parallel_for", queue)->device();
        require("parallel_for", reinterpret_cast<const void*>(f), "f");
        if (n < 0 || grain < 0)
            throw Error(ErrorCode::Value,
                        "parallel_for: n is " + std::to_string(n) + ", grain " + std::to_string(grain) + "; neither can be negative");
        const int64_t worth = grain > 0 ? n / grain : n, parts = std::clamp<int64_t>(worth, 1, cpu::thread_count(device));
        if (n == 0) return;
        if (parts == 1) return f(0, n, user);
        const int64_t each = n / parts, rest = n % parts;  // the first parts have one more
        const auto begin_of = [&](int64_t part) { return part * each + std::min(part, rest); };
        cpu::parallel_for(device, parts, static_cast<double>(parts) * most_at_once_ns,
                          [&](int64_t begin, int64_t end) { f(begin_of(begin), begin_of(end), user); });
    });
}

int32_t thread_count(pardo_queue queue) {
    int32_t count = 1;
    (void)guarded("thread_count", [&] { count = cpu::thread_count(as_queue("thread_count", queue)->device()); });
    return count;
}

pardo_status opencl_set_array(const pardo_work* w, void* kernel, uint32_t index, size_t use) {
    return guarded("opencl_set_array", [&] {
        require("opencl_set_array", w, "w");
        require("opencl_set_array", kernel, "kernel");
        // It is the one that a function was called with.
        Turn& turn = const_cast<Turn&>(static_cast<const Turn&>(*w));
        if (use >= turn.uses.size())
            throw Error(ErrorCode::Index, "opencl_set_array: use " + std::to_string(use) + " of " + std::to_string(turn.uses.size()));
        const device::BufferUse& used = turn.uses[use];
        const auto bytes = use < turn.n ? static_cast<std::size_t>(turn.info[use].nbytes) : used.buffer->bytes();
        device::Device* const device = as_device("opencl_set_array", turn.device);
        if (auto kept = device->set_native_argument(kernel, index, used.buffer, static_cast<std::size_t>(used.view.offset), bytes))
            turn.kept.push_back(std::move(kept));
    });
}

}  // namespace pardo::capi

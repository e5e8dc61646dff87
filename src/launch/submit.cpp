// src/launch/submit.cpp: from program to launch: compiled for the range, arguments packed, submitted; what it reports is read after it.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "array/record.h"
#include "device/memory/status_buffer.h"
#include "launch/function.h"
#include "launch/lock.h"
#include "launch/log.h"
#include "launch/status.h"
#include "plan/capture.h"
#include "plan/force.h"
#include "plan/tuning.h"

namespace pardo::launch {
namespace {

constexpr double launch_ns = 100;

device::Label label_of(const void* name) { return {*static_cast<const Text*>(name), device::current_location()}; }

}  // namespace

std::uint64_t UserFunction::streaming(const Specialisation& s, const Variant& variant, Arguments arguments,
                                      std::span<const std::int64_t> extents, std::int64_t items) {
    std::uint64_t found = 0;
    if (!s.streams) return found;
    const std::size_t count = std::min<std::size_t>(variant.slots.size(), 64);
    for (std::size_t k = 0; k < count; ++k) {
        const lang::Slot& slot = variant.slots[k];
        if (slot.kind != lang::Slot::Kind::Pointer) continue;
        const auto argument = static_cast<std::size_t>(slot.argument);
        if (s.lowered.accesses[argument] != ir::Access::Write || !s.types[argument].contiguous) continue;
        // What the items write: their own elements, and by loops those of the dimensions that they do not have.
        const graph::Node& leaf = *arguments[argument].array.node();
        std::int64_t written = items;
        for (int d = static_cast<int>(extents.size()); variant.cost.lane_rounds() > 1 && d < leaf.shape.size() && written < leaf.size();
             ++d)
            written *= leaf.shape[d];
        if (std::min(written, leaf.size()) * itemsize(leaf.dtype) > plan::streamed_bytes) found |= std::uint64_t(1) << k;
    }
    return found;
}

ir::Kernel UserFunction::kernel(const Variant& variant, std::uint64_t streaming) {
    ir::Kernel kernel = variant.kernel;
    for (std::size_t k = 0; k < std::min<std::size_t>(kernel.params.size(), 64); ++k)
        kernel.params[k].streaming = (streaming >> k & 1) != 0;
    return kernel;
}

Ref<device::Program> UserFunction::program(Variant& s, device::Device* device, std::span<const std::int64_t> extents,
                                           std::uint64_t streaming) {
    {
        const std::lock_guard lock(lock_of(&s));
        if (s.last.program && s.last.streaming == streaming && std::ranges::equal(s.last_extents, extents)) return s.last.program;
    }
    device::LaunchShape shape;
    shape.extents = extents;
    shape.innermost = shape.inner = s.cost.lane_rounds();
    const device::ShapeClass shape_class = device->shape_class(s.kernel, shape);
    {
        const std::lock_guard lock(lock_of(&s));
        for (const Variant::Compiled& known : s.programs) {
            if (known.shape != shape_class || known.streaming != streaming) continue;
            s.last = known;
            s.last_extents = SmallVector<std::int64_t, 3>(extents);
            return known.program;
        }
    }
    Ref<device::Program> made = device->compile(kernel(s, streaming), shape_class);
    const std::lock_guard lock(lock_of(&s));
    s.programs.push_back({shape_class, streaming, made});
    return made;
}

/// A compiler tells where something is as "… (file:line)": the line itself is shown, as for what is found before.
Error UserFunction::with_line(const Error& e) const {
    const std::string& text = e.message();
    const std::size_t open = text.rfind(" ("), colon = text.rfind(':');
    if (e.code() != ErrorCode::Compile || !text.ends_with(")") || open == std::string::npos || colon == std::string::npos || colon < open)
        return e;
    const std::string file = text.substr(open + 2, colon - open - 2);
    const int line = std::atoi(text.c_str() + colon + 1);
    const std::size_t named = text.starts_with(name() + ": ") ? name().size() + 2 : 0;
    const auto found = [&](const syntax::Function& f, const auto& self) -> std::optional<Error> {
        const int at = line - f.first_line;
        if (f.file == file && at >= 0 && at < static_cast<int>(f.lines.size())) {
            const std::string& code = f.lines[static_cast<std::size_t>(at)];
            const auto first = static_cast<int>(std::min(code.find_first_not_of(" \t"), code.size()));
            return lang::problem(e.code(), f, {line, first, line, static_cast<int>(code.size())}, text.substr(named, open - named));
        }
        for (const auto& callee : f.callees)
            if (std::optional<Error> inner = self(*callee, self)) return inner;
        return std::nullopt;
    };
    return found(*function_, found).value_or(e);
}

/// Whether each element of an array is stored by some item, whatever the data.
bool UserFunction::writes_all(const Specialisation& special, Arguments arguments, std::size_t k,
                              std::span<const std::int64_t> extents) const {
    if (!special.lowered.own_elements[k] || !std::ranges::equal(extents, arguments[k].array.node()->shape)) return false;
    if (!loop_) return true;
    const auto bounds = arguments.first(special.types.size()).last(2 * extents.size());  // start and step of each dimension
    for (std::size_t d = 0; d < extents.size(); ++d)
        if (bounds[2 * d].scalar.cast(DType::Int64).i != 0 || bounds[2 * d + 1].scalar.cast(DType::Int64).i != 1) return false;
    return true;
}

void UserFunction::note(plan::Capture& capture, const Specialisation& special, Variant& variant, Arguments arguments,
                        std::span<const std::int64_t> extents, double iterations, device::Queue* queue, const LoopArguments& loop) const {
    const lang::Lowered& lowered = special.lowered;
    const auto refuse = [&](const char* why) {
        const Text place = device::current_location();
        throw Error(ErrorCode::Value, "export: " + name() + " " + why + (place.empty() ? "" : " (at " + place.str() + ")"));
    };
    if (!lowered.prints.empty()) refuse("prints, and what is exported has nowhere to print");
    if (!loop.results.empty())
        refuse(
            "gives numbers to Python, and while a function is exported there are none: a loop of range that keeps them in an array of one "
            "element "
            "(out[0] += x[i]) is exported, and so are operations on arrays (x.sum())");
    std::lock_guard guard(graph::state_of(queue).lock);
    for (std::size_t k = 0; k < arguments.size(); ++k)
        if (arguments[k].kind == KernelArgument::Kind::Array && lowered.used[k] && lowered.accesses[k] != ir::Access::Read)
            plan::force_readers(arguments[k].array.node()->buffer.get());
    const LaunchValues values(lowered.accesses.size());
    plan::CapturedLaunch launch{
        .kernel = variant.kernel, .signature = variant.signature, .extents = extents, .cost_ns = 0, .failures = {}, .value = {}};
    launch.value = [&](std::uint32_t at) -> plan::CapturedLaunch::Value {
        if (at < values.count) {
            const KernelArgument& a = arguments[at];
            if (a.kind == KernelArgument::Kind::Array) return {a.array.node(), {}};
            return {nullptr, a.scalar};
        }
        if (at == values.count) return {nullptr, Scalar(loop.count)};
        if (at == values.block) return {nullptr, Scalar(loop.block)};
        return {};
    };
    const auto array = std::ranges::find(arguments, KernelArgument::Kind::Array, &KernelArgument::kind);
    if (array == arguments.end()) refuse("writes into no array");
    device::Buffer* const status_memory = array->array.node()->buffer.get();  // any: what it costs does not depend on it
    const Scalar count(loop.count), block(loop.block);
    const auto bound = [&](std::uint32_t at) {
        if (at >= values.count)
            return at == values.count ? graph::Bound(count) : at == values.block ? graph::Bound(block) : graph::Bound(status_memory);
        const KernelArgument& a = arguments[at];
        return a.kind == KernelArgument::Kind::Array ? graph::Bound(*a.array.node()) : graph::Bound(a.scalar);
    };
    device::LaunchArguments given;
    device::bind(variant.signature, bound, given);
    launch.rounds = variant.cost.lane_rounds();
    launch.cost_ns = launch_ns + variant.cost.of(given.words, extents).item_ns * iterations;
    const auto rank = static_cast<int>(extents.size());
    for (const lang::Site& site : *special.sites) {
        const std::string text = rank == 0 ? site.message : site.message + item_mark;
        launch.failures.push_back({site.code, lang::problem(site.code, *site.function, site.place, text).message()});
    }
    capture.take(launch);
}

Event UserFunction::submit(const Specialisation& special, Variant& variant, Arguments arguments, std::span<const std::int64_t> extents,
                           double iterations, device::Queue* queue, std::span<const Event> depends, const LoopArguments& loop) {
    const lang::Lowered& lowered = special.lowered;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        const bool written = lowered.used[k] && lowered.accesses[k] != ir::Access::Read;
        if (written && !arrays::is_writeable(arguments[k].array))
            arrays::require_writeable((name() + ": " + parameter(arguments, k)).c_str(), arguments[k].array);
    }
    if (plan::Capture* const capture = plan::Capture::of(queue)) [[unlikely]] {
        note(*capture, special, variant, arguments, extents, iterations, queue, loop);
        return {};
    }
    const std::int64_t items = loop.count > 0 ? loop.count : static_cast<std::int64_t>(std::min(iterations, 0x1p62));
    const auto compiled = [&]() -> Ref<device::Program> {
        try {
            return program(variant, queue->device(), extents, streaming(special, variant, arguments, extents, items));
        } catch (const Error& e) {
            throw with_line(e);
        }
    }();

    // While it is held nothing is recorded that reads the arrays that are written; what had been recorded is submitted first.
    std::unique_lock guard(graph::state_of(queue).lock);
    for (std::size_t k = 0; k < arguments.size(); ++k) {  // first, because the lock is free while programs for them are compiled
        const bool array = arguments[k].kind == KernelArgument::Kind::Array && lowered.used[k];
        if (array && lowered.accesses[k] != ir::Access::Read)
            plan::force_readers(arguments[k].array.node()->buffer.get(), plan::Compile::Unlocked);
    }
    device::StatusBuffer status, log;
    device::Buffer* const status_memory = variant.reports ? status.make(queue, lang::Lowered::status_words) : nullptr;
    device::Buffer* const log_memory = lowered.prints.empty() ? nullptr : log.make(queue, lang::Lowered::log_words);
    const LaunchValues values(lowered.accesses.size());
    const Scalar count(loop.count), block(loop.block);
    const auto bound = [&](std::uint32_t at) {
        if (at < values.count) {
            const KernelArgument& a = arguments[at];
            return a.kind == KernelArgument::Kind::Array ? graph::Bound(*a.array.node()) : graph::Bound(a.scalar);
        }
        if (at == values.count) return graph::Bound(count);
        if (at == values.block) return graph::Bound(block);
        if (at == values.status) return graph::Bound(status_memory);
        return graph::Bound(at == values.log ? log_memory : loop.results[at - values.results]);
    };
    device::LaunchArguments given;
    device::bind(variant.signature, bound, given);
    std::int64_t read = 0, written = 0;
    for (std::size_t i = 0; i < variant.signature.uses.size() && variant.signature.uses[i].value < values.count; ++i) {
        const std::size_t k = variant.signature.uses[i].value;
        device::BufferUse& use = given.uses[static_cast<int>(i)];
        if (use.access == device::Access::WriteSome && writes_all(special, arguments, k, extents)) use.access = device::Access::Write;
        if (writes(use)) plan::force_readers(use.buffer);
        const std::int64_t bytes = arguments[k].array.nbytes();
        if (reads(use)) read += bytes;
        if (writes(use)) written += bytes;
    }
    device::Launch request;
    request.program = compiled.get();
    request.extents = extents;
    request.args = given.words;
    request.uses = given.uses;
    request.chunk = loop.chunk;
    const Cost::Estimate cost = variant.cost.of(given.words, extents);
    request.cost_ns = launch_ns + cost.item_ns * iterations;
    request.guessed = cost.guessed;
    request.waited = loop.waits || (given.foreign && !loop.late);
    request.bytes_read = read;
    request.bytes_written = written;
    request.label = label_of;
    request.label_data = &label_;
    const auto failure = [sites = special.sites, rank = static_cast<int>(extents.size())](device::StatusBuffer::Words words) {
        check(words, *sites, rank);
    };
    // What a kernel prints before it fails is to be read: then both wait their turn.
    if (variant.reports && lowered.prints.empty()) request.check = status.check(failure);
    Event event = queue->launch(request, depends);
    const bool looks = variant.reports && !request.check;
    if ((looks && status.blocks()) || (!lowered.prints.empty() && log.blocks())) guard.unlock();
    if (!lowered.prints.empty()) {
        const bool fp64 = queue->device()->supports(DType::Float64);
        const auto print = [prints = lowered.prints, fp64, name = name()](device::StatusBuffer::Words words) {
            print_all(words, prints, fp64, name);
        };
        try {
            event = log.read_by_user(queue, event, given.uses, name(), print, last_printing(queue));
            note_printing(event);
        } catch (...) {  // interrupted
            if (looks) (void)status.read_after(queue, event, given.uses, name(), failure);
            throw;
        }
    }
    if (looks) {
        event = status.read(queue, event, given.uses, name(), failure);
        if (!lowered.prints.empty()) note_printing(event);
    }
    if (guard.owns_lock()) guard.unlock();
    if (!lowered.prints.empty()) limit_printing(queue);
    if (given.foreign && !loop.late) loop.gives_event ? device::finish_order(event) : device::finish_without_locks(event);
    return event;
}

}  // namespace pardo::launch

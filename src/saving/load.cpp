// src/saving/load.cpp: a program from a file, and its launches on a queue.
#include <pardo/error.h>
#include <pardo/saved_program.h>

#include <algorithm>
#include <mutex>

#include "array/record.h"
#include "base/fork.h"
#include "device/memory/status_buffer.h"
#include "device/signature.h"
#include "graph/overlap.h"
#include "plan/force.h"
#include "saved/program.h"
#include "saving/executable.h"
#include "saving/replay.h"

namespace pardo {
namespace {

using device::Access;
using graph::Node;

device::Label label_of(const void* name) { return {*static_cast<const Text*>(name), device::current_location()}; }

}  // namespace

struct SavedProgram::State {
    explicit State(std::unique_ptr<saved::Loaded> read) : loaded(std::move(read)), on_processors(saving::for_processors(*loaded)) {}
    const std::unique_ptr<saved::Loaded> loaded;
    const saved::Program& program = loaded->program();
    const std::unique_ptr<saving::Executable> on_processors;  // null: there is no code for them
    // By Loaded::mutex():
    std::vector<std::pair<device::Device*, std::unique_ptr<saving::Executable>>> on_devices;  // made at first use

    saving::Executable& on(device::Device* device) {
        if (on_processors && device->native_api() == device::NativeApi::Host) return *on_processors;
        const auto known = [&]() -> saving::Executable* {
            const auto found = std::ranges::find(on_devices, device, &decltype(on_devices)::value_type::first);
            return found == on_devices.end() ? nullptr : found->second.get();
        };
        {
            const std::lock_guard lock(saved::Loaded::mutex());
            if (saving::Executable* const found = known()) return *found;
        }
        std::unique_ptr<saving::Executable> made = saving::for_device(*loaded, device);
        const std::lock_guard lock(saved::Loaded::mutex());
        if (saving::Executable* const found = known()) return *found;
        return *on_devices.emplace_back(device, std::move(made)).second;
    }

    [[noreturn]] void refuse(ErrorCode code, const std::string& why) const { throw Error(code, program.name + ": " + why); }
};

SavedProgram SavedProgram::load(const std::string& path) {
    static const bool once = (renew_at_fork(saved::Loaded::mutex()), true);
    (void)once;
    auto state = std::make_shared<State>(saved::Loaded::read(path, false));
    for (const saved::Routine& routine : state->program.routines) saving::require_routine(routine, path);
    return SavedProgram(std::move(state));
}

bool is_saved_program(const std::string& path) { return saved::is_program(path); }

const std::string& SavedProgram::name() const { return state_->program.name; }
const std::string& SavedProgram::doc() const { return state_->program.doc; }
std::string SavedProgram::signature() const { return state_->program.signature(); }
const std::string& SavedProgram::made_by() const { return state_->program.made_by; }
std::vector<std::string> SavedProgram::targets() const { return state_->loaded->targets(); }
std::string SavedProgram::target_on(const Device& device) const { return saving::target_for(*state_->loaded, device.impl()); }
const std::string& SavedProgram::target() const { return state_->loaded->target(); }
bool SavedProgram::tuple() const { return state_->program.tuple; }
std::vector<DType> SavedProgram::dtypes() const {
    std::vector<DType> dtypes;
    for (const saved::Argument& a : state_->program.arguments) dtypes.push_back(a.dtype);
    return dtypes;
}
std::vector<std::string> SavedProgram::arguments() const {
    std::vector<std::string> names;
    for (const saved::Argument& a : state_->program.arguments) names.push_back(a.name);
    return names;
}

std::vector<Array> SavedProgram::operator()(ListOf<Array> given) const {
    State& state = *state_;
    const saved::Program& program = state.program;
    std::vector<saved::Shape> shapes;
    for (const Array& a : given) {
        if (!a.node()) state.refuse(ErrorCode::Value, "an argument has no value");
        shapes.push_back({a.shape().data(), a.ndim()});
    }
    const std::vector<std::int64_t> sizes = saved::sizes_of(program, shapes);
    arrays::Pull most = arrays::Pull::Canonical;
    for (std::size_t k = 0; k < given.size(); ++k) {
        const saved::Argument& a = program.arguments[k];
        if (given[k].dtype() != a.dtype)
            state.refuse(ErrorCode::Type, "argument " + a.name + " is of " + std::string(dtype_name(a.dtype)) + ", got " +
                                              std::string(dtype_name(given[k].dtype())) + "; convert it: x.astype(" +
                                              std::string(dtype_name(a.dtype)) + ")");
        most = std::max(most, arrays::pull_of(given[k]));
    }
    // 0-d arrays of the CPU follow, as everywhere.
    std::vector<const Array*> deciding;
    for (const Array& a : given)
        if (arrays::pull_of(a) == most) deciding.push_back(&a);
    device::Queue* const queue = arrays::common_queue(program.name.c_str(), deciding);
    saving::Executable& executable = state.on(queue->device());
    const std::shared_ptr<const saving::Executable::Ready> ready = executable.ready(sizes);
    const saved::Resolved* const resolved = &ready->resolved;
    const saved::Regime& regime = *resolved->regime;
    // Arguments as the plan takes them: row-major, from their first element on.
    const std::vector<bool>& written = resolved->written;
    std::vector<Array> arguments;
    for (std::size_t k = 0; k < given.size(); ++k) {
        const Array x = arrays::following(given[k], queue, program.name.c_str());
        arrays::ensure_leaf(x);
        const Node& node = *x.node();
        const bool contiguous = is_contiguous(node.shape, node.strides);
        if (written[k] && x.node() != given[k].node())
            state.refuse(ErrorCode::Placement, "argument " + program.arguments[k].name + " is written, and on another queue, of " +
                                                   given[k].node()->queue->device()->id() + ": it has to be on that of the others, of " +
                                                   queue->device()->id());
        if (written[k] && !contiguous)
            state.refuse(ErrorCode::Value,
                         "argument " + program.arguments[k].name + " is written, and has to be row-major: copy it, and the result back");
        if (written[k] && !arrays::is_writeable(x))
            state.refuse(ErrorCode::Value, "argument " + program.arguments[k].name +
                                               " is written, and is read-only, as copies of lists and of NumPy's arrays are: give an array "
                                               "of pardo that may be written");
        arguments.push_back(contiguous ? x : arrays::as_contiguous(x, {}));
        arrays::ensure_leaf(arguments.back());
    }
    for (std::size_t k = 0; k < arguments.size(); ++k)
        for (std::size_t other = 0; other < arguments.size() && written[k]; ++other)
            if (other != k && graph::may_overlap(*arguments[k].node(), *arguments[other].node()))
                state.refuse(ErrorCode::Value, "argument " + program.arguments[k].name + " is written, and shares memory with " +
                                                   program.arguments[other].name + ": copy one of them");
    const std::size_t first_slot = given.size() + executable.program.constants.size(), first_scratch = first_slot + regime.slots.size();
    // By value; scratch is each part's own.
    std::vector<Ref<device::Buffer>> memory(first_scratch);
    std::vector<std::int64_t> first(first_scratch, 0);  // byte of it
    const auto obtain = [&](std::int64_t bytes) {
        return queue->device()->obtain(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0)), MemoryKind::Device, queue);
    };
    const auto need = [&](std::size_t value) -> const Ref<device::Buffer>& {
        Ref<device::Buffer>& known = memory[value];
        if (known) return known;
        if (value < given.size()) {
            const Node& node = *arguments[value].node();
            known = node.buffer;
            first[value] = node.offset * itemsize(node.dtype);
        } else if (value < first_slot) {
            // Its own where it is written, by a launch or by whom it is given.
            const bool own = written[value] || resolved->last[value] == resolved->parts.size();
            known = own ? executable.copy_of_constant(value - given.size(), queue) : executable.constant(value - given.size(), queue);
        } else {
            known = obtain(regime.slots[value - first_slot].in(resolved->values));
        }
        return known;
    };

    std::unique_lock guard(graph::state_of(queue).lock);
    for (std::size_t k = 0; k < given.size(); ++k)
        if (written[k]) plan::force_readers(arguments[k].node()->buffer.get(), plan::Compile::Unlocked);
    device::LaunchArguments words;
    std::vector<std::int64_t> extents;
    bool foreign = false;
    Event event;
    auto next = ready->programs.begin();
    for (std::size_t i = 0; i < resolved->parts.size(); ++i) {
        const saved::Alternative& alternative = *resolved->parts[i].alternative;
        const std::vector<std::int64_t>& values = resolved->parts[i].values;
        std::vector<Ref<device::Buffer>> scratch;
        for (const saved::Number& bytes : alternative.scratch) scratch.push_back(obtain(bytes.in(values)));
        for (const saved::RoutineCall& call : alternative.routines) {
            const auto at = [&](std::uint32_t value) { return saving::Place{need(value), first[value]}; };
            saving::replay(executable.program, call, values, at, queue);
        }
        for (const saved::Launch& launch : alternative.launches) {
            device::Program* const code = (next++)->get();
            if (!launch.range(values, extents)) continue;
            words.clear();
            device::StatusBuffer status;
            device::StatusBuffer::Reader report;
            device::Buffer* block = nullptr;
            device::Launch request;
            const auto address = [&](std::uint32_t value) {
                if (value >= first_scratch && value != saved::status_value)
                    return device::address_in(scratch[value - first_scratch].get(), 0);
                if (value != saved::status_value) {
                    const Ref<device::Buffer>& buffer = need(value);
                    return device::address_in(buffer.get(), first[value]);
                }
                block = status.make(queue, saved::status_words);
                report = [self = state_, &launch](device::StatusBuffer::Words found) {
                    saved::check_status(found.data(), launch.failures, static_cast<int>(launch.extents.size()));
                };
                request.check = status.check(report);
                return device::address_in(block, 0);
            };
            launch.bind(values, address, words.words);
            for (const saved::Use& use : launch.uses) {
                const Access access = !use.writes ? Access::Read : use.reads ? Access::ReadWrite : Access::WriteSome;
                device::Buffer* const buffer =
                    use.value >= first_scratch ? scratch[use.value - first_scratch].get() : need(use.value).get();
                words.use({buffer, access, {}});
            }
            foreign = foreign || words.foreign;
            if (block) words.use({block, Access::ReadWrite, {}});
            request.program = code;
            request.extents = extents;
            request.args = words.words;
            request.uses = words.uses;
            request.bytes_read = launch.bytes_read.in(values);
            request.bytes_written = launch.bytes_written.in(values);
            request.operations = launch.operations.in(values);
            request.cost_ns = launch.cost(values);
            request.waited = words.foreign;
            request.label = label_of;
            request.label_data = &executable.names[launch.code];
            event = queue->launch(request, {});
            if (block && !request.check) event = status.read_after(queue, event, request.uses, code->name(), report);
        }
        for (std::size_t value = first_slot; value < first_scratch; ++value)
            if (resolved->last[value] == i) memory[value] = nullptr;
    }
    std::vector<Array> results;
    const std::vector<std::int64_t>& values = resolved->values;
    for (std::size_t k = 0; k < regime.outputs.size(); ++k) {
        const saved::Output& output = regime.outputs[k];
        Shape shape;
        Strides strides;
        for (const saved::Number& n : output.shape) shape.push_back(n.in(values));
        for (const saved::Number& n : output.strides) strides.push_back(n.in(values));
        std::int64_t offset = output.offset.in(values);
        if (output.value < given.size()) {  // a view of an argument
            results.emplace_back(graph::make_leaf_view(arguments[output.value].node(), program.outputs[k], std::move(shape),
                                                       std::move(strides), offset + arguments[output.value].node()->offset)
                                     .get());
            continue;
        }
        results.emplace_back(
            graph::make_leaf(queue, program.outputs[k], std::move(shape), std::move(strides), offset, need(output.value)).get());
    }
    guard.unlock();
    if (foreign) device::finish_without_locks(event);
    return results;
}

}  // namespace pardo

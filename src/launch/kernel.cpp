// src/launch/kernel.cpp: kernels: a function of the user over an index space.
#include <pardo/binding/kernel.h>

#include <algorithm>
#include <utility>

#include "array/record.h"
#include "launch/function.h"

namespace pardo {

namespace {
double items_of(const NdRange& range) {
    double items = 1;
    for (const std::int64_t n : range.global) items *= static_cast<double>(n);
    return items;
}
}  // namespace

struct Kernel::State : launch::UserFunction {
    using UserFunction::UserFunction;
};

Kernel::Kernel(std::shared_ptr<const syntax::Function> function, bool takes_item, const KernelOptions& options)
    : state_(std::make_shared<State>(std::move(function), takes_item, options)) {}
Kernel::~Kernel() = default;
Kernel::Kernel(const Kernel&) = default;
Kernel& Kernel::operator=(const Kernel&) = default;

Event Kernel::launch(std::span<const KernelArgument> arguments, const NdRange& range, const Queue* given,
                     std::span<const Event> depends) const {
    state_->check_range(range);
    state_->check_count(arguments);
    const Ref<device::Queue> queue(state_->queue_of(arguments, given));
    const auto special = state_->prepare(arguments, range, queue.get());
    state_->check_dimensions(*special, range);
    std::vector<KernelArgument> memory;
    arguments = state_->with_outside(*special, arguments, memory);
    state_->check_fits(*special, arguments);
    const double items = items_of(range);
    if (items == 0) return arrays::joined(queue.get(), {depends.begin(), depends.end()});
    arguments = state_->on_queue(*special, arguments, queue.get(), memory);
    launch::Variant& variant = state_->variant(*special, arguments, range.global);
    return state_->submit(*special, variant, arguments, range.global, items, queue.get(), depends);
}

std::string Kernel::inspect(std::span<const KernelArgument> arguments, const NdRange& range, const std::string& what,
                            const Queue* given) const {
    state_->check_range(range);
    state_->check_count(arguments);
    device::Queue* queue = state_->queue_of(arguments, given);
    const auto special = state_->prepare(arguments, range, queue);
    state_->check_dimensions(*special, range);
    std::vector<KernelArgument> memory;
    arguments = state_->with_outside(*special, arguments, memory);
    const auto items = static_cast<std::int64_t>(std::min(items_of(range), 0x1p62));
    launch::Variant& variant = state_->variant(*special, arguments, range.global);
    const ir::Kernel kernel = state_->kernel(variant, state_->streaming(*special, variant, arguments, range.global, items));
    if (what == "ir") return ir::print(kernel);
    device::LaunchShape shape;
    shape.extents = range.global;
    return queue->device()->inspect(kernel, queue->device()->shape_class(kernel, shape), what);
}

std::vector<ArgumentUse> Kernel::uses(std::span<const KernelArgument> arguments, const NdRange& range, const Queue* given) const {
    state_->check_range(range);
    state_->check_count(arguments);
    const auto special = state_->prepare(arguments, range, state_->queue_of(arguments, given));
    state_->check_dimensions(*special, range);
    return special->uses();
}

std::string Kernel::types(std::span<const KernelArgument> arguments, const NdRange& range, const Queue* given) const {
    state_->check_range(range);
    state_->check_count(arguments);
    const auto special = state_->prepare(arguments, range, state_->queue_of(arguments, given));
    state_->check_dimensions(*special, range);
    return state_->types(*special);
}

std::string Kernel::inspect(const std::string& what) const { return state_->inspect(what); }
std::string Kernel::types() const { return state_->types(); }
std::string Kernel::diagnostics() const { return state_->diagnostics(); }

std::vector<KernelArgument> returned_by(const std::shared_ptr<const syntax::Function>& function, std::span<const KernelArgument> arguments,
                                        const Queue* given) {
    const launch::UserFunction called(function, false, {});
    called.check_count(arguments);
    const device::Queue* queue = called.queue_of(arguments, given);
    const lang::Options options = called.options_for(queue->device(), true);
    std::vector<KernelArgument> out;
    const auto add = [&](const lang::TypedExpr& t, const auto& self) -> void {
        KernelArgument a;
        if (t.kind() == lang::Kind::Tuple) {
            a.kind = KernelArgument::Kind::Tuple;
            a.parts = t.tuple().items.size();
            a.names = t.tuple().names;
            a.structure = t.tuple().structure;
        } else if (t.kind() == lang::Kind::Number) {
            a.dtype = t.number().type.weak ? lang::weak_dtype(t.number().type.dtype, options.fp64) : t.number().type.dtype;
        } else {
            called.fail(ErrorCode::Type, "must give a number, or a tuple or struct of numbers, not " + lang::describe(t));
        }
        out.push_back(a);
        for (const lang::TypedExpr& part : t.parts()) self(part, self);
    };
    add(lang::returned(function, called.types_of(arguments, {}, queue->device()), options), add);
    return out;
}

std::size_t Kernel::specialisations() const { return state_->specialisations(); }
std::span<const std::string> Kernel::parameters() const { return state_->parameters(); }

}  // namespace pardo

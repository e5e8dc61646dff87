// src/saving/run.cpp: the graph engine with a device that notes, and what the planner makes of each group.
#include "saving/run.h"

#include <pardo/error.h>

#include <algorithm>
#include <utility>

#include "base/launch_cost.h"
#include "graph/node.h"
#include "ir/hash.h"
#include "plan/force.h"
#include "saving/tracing.h"

namespace pardo::saving {

using graph::Node;
using plan::AdaptablePlan;
using plan::PlannedLaunch;
using plan::Size;
using plan::Trace;

namespace {

saved::LoopShape loops_of(const AdaptablePlan::Launch& launch) {
    const auto number = [](const AdaptablePlan::Number& n) { return saved::Number{n.was, n.expression}; };
    return {number(launch.inner), number(launch.innermost), number(launch.remainder)};
}

constexpr std::uint32_t no_name = ~0u;
constexpr std::int64_t most_bytes = std::int64_t{1} << 44;  // blocks of noted memory are so far apart

}  // namespace

std::uint32_t Codes::number(const ir::Kernel& kernel) {
    const Hash128 hash = ir::hash(kernel);
    const auto known = std::ranges::find(hashes_, hash);
    if (known != hashes_.end()) return static_cast<std::uint32_t>(known - hashes_.begin());
    hashes_.push_back(hash);
    kernels_.push_back(kernel);
    return static_cast<std::uint32_t>(hashes_.size() - 1);
}

Run::Run(NotingDevice& device, const saved::Program& program, const Sizes& sizes, const KnownNumbers* known, Codes* codes,
         saved::Regime* regime)
    : Recorder(&device), device_(device), program_(program), sizes_(sizes), known_(known), codes_(codes), regime_(regime) {
    device.note_to(this);
    graph::state_of(device.queue()).capture = static_cast<plan::Capture*>(this);
}

Run::~Run() {
    results_.clear();
    kept_.clear();
    graph::state_of(device_.queue()).capture = nullptr;
    device_.note_to(nullptr);
}

std::size_t Run::note(std::int64_t number) {
    outline_.numbers.push_back(number);
    outline_.rounded_to.push_back(DType::Int64);
    return outline_.numbers.size() - 1;
}

void Run::check(std::size_t at) const {
    if (!known_) return;
    const std::optional<std::int64_t> value = at < known_->of.size() ? known_->formulas->at(known_->of[at], sizes_) : std::nullopt;
    if (!value || in_dtype(*value, outline_.rounded_to[at]) != outline_.numbers[at]) refuse_change();
}

void Run::refuse_change() {
    refuse(
        "the function does something else for some sizes than for the others, or each time that it runs; any_size=False exports it for the "
        "shapes of the examples alone");
}

std::uint32_t Run::block_of(const Node& leaf) const { return block_of(*leaf.buffer); }

std::uint32_t Run::block_of(const device::Buffer& memory) const {
    const auto& buffer = static_cast<const NotedBuffer&>(memory);
    if (memory.device() != &device_ || buffer.run != serial())
        refuse("the function uses an array that it has kept from an earlier run, or from another export; make it anew in each call");
    return buffer.number;
}

void Run::name(std::uint32_t block) {
    for (int byte = 0; byte < 4; ++byte) outline_.structure.push_back(static_cast<std::uint8_t>(blocks_[block].name >> 8 * byte));
}

std::uint32_t Run::allocated(std::size_t bytes) {
    const bool scratch = std::exchange(scratch_, false);
    if (bytes >= static_cast<std::size_t>(most_bytes))
        throw Error(ErrorCode::Memory, "export: the function asks for more memory than there is");
    blocks_.push_back(scratch ? Block{no_name} : Block{names_++, note(static_cast<std::int64_t>(bytes))});
    return static_cast<std::uint32_t>(blocks_.size() - 1);
}

void Run::wrote(NotedBuffer& buffer) {
    if (buffer.run != serial() || blocks_[buffer.number].used)
        refuse("the function copies to, or fills, an array that is in use; assign to it: y[...] = x");
    const std::uint32_t name = blocks_[buffer.number].name;
    if (std::ranges::find(written_, name, &Written::name) == written_.end()) written_.push_back({name, Ref<NotedBuffer>(&buffer)});
}

void Run::call(const Function& function) {
    device::Queue* const queue = device_.queue();
    std::vector<Array> arguments;
    for (const saved::Argument& a : program_.arguments) {
        Shape shape;
        for (const saved::Extent& e : a.shape) shape.push_back(e.size < 0 ? e.fixed : sizes_[static_cast<std::size_t>(e.size)]);
        const std::int64_t bytes = graph::byte_count(a.dtype, shape, "export");
        Ref<device::Buffer> buffer = device_.obtain(static_cast<std::size_t>(bytes), MemoryKind::Device, queue);
        Strides strides = contiguous_strides(shape);
        arguments.emplace_back(graph::make_leaf(queue, a.dtype, std::move(shape), std::move(strides), 0, std::move(buffer)).get());
        kept_.push_back(arguments.back().node()->buffer);
        blocks_.back().used = true;
    }
    results_ = function(arguments);
    std::lock_guard guard(graph::state_of(queue).lock);
    std::vector<Node*> roots;
    for (const Array& result : results_) {
        if (!result.node()) throw Error(ErrorCode::Type, "export: the function gave an array without a value");
        if (result.node()->queue.get() != queue) refuse("the function gave an array that does not depend on its arguments");
        if (result.node()->kind == graph::Kind::Failed) throw Error(*result.node()->error());
        if (result.node()->pending()) roots.push_back(result.node());
    }
    if (!roots.empty()) plan::force(roots);
    std::vector<saved::Output> outputs;
    std::optional<Tracing> tracing;
    if (regime_ && regime_->sizing.sizes < 0) tracing.emplace(sizes_, *known_);
    for (const Array& result : results_) {
        const Node& node = *result.node();
        saved::Output output;
        const std::uint32_t block = block_of(node);
        output.value = blocks_[block].name;
        const auto noted = [&](std::int64_t n) {
            const std::size_t at = note(n);
            check(at);
            return tracing ? tracing->number_at(at) : saved::Number{};
        };
        output.offset = noted(node.offset);
        for (const std::int64_t n : node.shape) output.shape.push_back(noted(n));
        for (const std::int64_t n : node.strides) output.strides.push_back(noted(n));
        outputs_.push_back(node.dtype);
        outline_.structure.push_back(static_cast<std::uint8_t>(node.dtype));
        name(block);
        outputs.push_back(std::move(output));
    }
    if (!tracing) return;
    for (const Block& block : blocks_)
        if (block.name != no_name) regime_->slots.push_back(tracing->number_at(block.bytes_at));
    regime_->outputs = std::move(outputs);
    if (!tracing->take(regime_->sizing)) refuse("the sizes of results follow no formula");
    regime_->sizing.guards.clear();  // formulas hold everywhere
}

/// Whether a step has no alternative for these sizes yet.
bool Run::wanted(std::size_t step) const {
    if (!regime_) return false;
    if (regime_->steps.size() <= step) regime_->steps.resize(step + 1);
    std::vector<std::int64_t> values;
    return std::ranges::none_of(regime_->steps[step].alternatives,
                                [&](const saved::Alternative& x) { return x.sizing.run(sizes_, values); });
}

bool Run::take(const plan::Subgraph& subgraph, device::Queue* queue) {
    const plan::Subgraph::Outline outline = subgraph.outline();
    const std::size_t first = outline_.numbers.size();
    outline_.structure.insert(outline_.structure.end(), outline.structure.begin(), outline.structure.end());
    outline_.numbers.insert(outline_.numbers.end(), outline.numbers.begin(), outline.numbers.end());
    outline_.rounded_to.resize(outline_.numbers.size(), DType::Int64);
    std::vector<std::size_t> own;
    real_of_.assign(outline.own.size(), 0);
    for (std::size_t i = 0; i < outline.own.size(); ++i) {
        const Node& node = *subgraph.nodes[i];
        own.push_back(first + outline.own[i]);
        if (node.kind != graph::Kind::Constant) continue;
        if (is_float(node.scalar().dtype))
            real_of_[i] = note_real(node.scalar().as_double(), node.scalar().dtype);
        else if (plan::integer_of(node.scalar()))
            outline_.rounded_to[own.back()] = node.scalar().dtype;
    }
    for (const plan::NodeId leaf : subgraph.leaves) {
        const std::uint32_t block = block_of(*subgraph.nodes[leaf]);
        blocks_[block].used = true;
        name(block);
    }
    for (std::size_t at = first; at < outline_.numbers.size(); ++at) check(at);
    std::optional<Tracing> tracing;
    const bool makes = wanted(step_);
    if (makes) {
        tracing.emplace(sizes_, *known_);
        for (std::size_t at = first; at < outline_.numbers.size(); ++at) (void)tracing->know(at);
    }
    const plan::Draft draft(subgraph, queue->device());
    const plan::Plan& plan = draft.plan();
    outline_.structure.push_back(plan.needs_temporary);
    if (plan.needs_temporary) return false;
    const std::vector<AdaptablePlan::Number>& numbers = draft.numbers().numbers();
    std::size_t at = 0;  // behind the numbers of the launches
    for (const PlannedLaunch& launch : plan.launches)
        at += launch.extents.size() + launch.signature.words.size() + launch.signature.patches.size();
    // Results first, in the order of the nodes, so that all plans give them the same names.
    std::vector<Ref<device::Buffer>> buffers(plan.slots.size());
    std::vector<std::uint32_t> slots(plan.slots.size());
    const auto allocate = [&](std::uint32_t slot) {
        const auto bytes = static_cast<std::size_t>(plan.slots[slot]);
        slots[slot] = allocated(bytes);
        blocks_[slots[slot]].used = true;
        buffers[slot] = new NotedBuffer(queue->device(), *this, slots[slot], bytes);
    };
    for (const plan::Plan::Result& r : plan.results)
        if (!buffers[r.slot]) allocate(r.slot), check(blocks_[slots[r.slot]].bytes_at);
    saved::Alternative alternative;
    for (std::uint32_t slot = 0; slot < plan.slots.size(); ++slot) {
        if (buffers[slot]) continue;
        scratch_ = true;
        allocate(slot);
        slots[slot] = scratch_mark | static_cast<std::uint32_t>(alternative.scratch.size());
        alternative.scratch.push_back({numbers[at + slot].was, numbers[at + slot].expression});
    }
    if (makes) {
        std::size_t next = 0;
        for (std::size_t i = 0; i < plan.launches.size(); ++i) {
            const PlannedLaunch& one = plan.launches[i];
            const std::size_t count = one.extents.size() + one.signature.words.size() + one.signature.patches.size();
            alternative.launches.push_back(
                launch(one, draft.numbers().launches()[i], std::span(numbers).subspan(next, count), subgraph, own, slots, *tracing));
            next += count;
            if (device_.kind() != DeviceKind::Cpu) alternative.loops.push_back(loops_of(draft.numbers().launches()[i]));
        }
        if (tracing->take(alternative.sizing)) regime_->steps[step_].alternatives.push_back(std::move(alternative));
    }
    ++step_;
    for (const plan::Plan::Result& r : plan.results) {
        Node* node = subgraph.nodes[r.node];
        if (node->pending()) graph::materialize(node, buffers[r.slot], r.strides, 0);
    }
    return true;
}

saved::Launch Run::launch(const PlannedLaunch& planned, const AdaptablePlan::Launch& launch, std::span<const AdaptablePlan::Number> numbers,
                          const plan::Subgraph& subgraph, std::span<const std::size_t> own, std::span<const std::uint32_t> slots,
                          Tracing& tracing) {
    const auto node_of = [&](std::uint32_t value) -> const Node* {
        return value < PlannedLaunch::first_node ? nullptr : subgraph.nodes[value - PlannedLaunch::first_node];
    };
    const auto value_of = [&](std::uint32_t value) {
        const Node* node = node_of(value);
        if (!node && (slots[value] & scratch_mark) != 0) return slots[value];
        return blocks_[node ? block_of(*node) : slots[value]].name;
    };
    const auto number = [](const AdaptablePlan::Number& n) { return saved::Number{n.was, n.expression}; };
    saved::Launch made;
    made.code = codes_->number(launch.kernel);
    auto next = numbers.begin();
    for (std::size_t d = 0; d < planned.extents.size(); ++d) made.extents.push_back(number(*next++));
    for (std::size_t w = 0; w < planned.signature.words.size(); ++w) made.words.push_back(number(*next++));
    for (const device::Signature::Patch& patch : planned.signature.patches) {
        const AdaptablePlan::Number detail = *next++;
        if (patch.role == device::Signature::Role::Number) {  // a constant: part of the program
            const Scalar& scalar = node_of(patch.value)->scalar();
            if (is_float(scalar.dtype)) {
                const saved::Real value = tracing.real_at(real_of_[patch.value - PlannedLaunch::first_node]);
                if (value.kind != saved::Real::Kind::Literal) {
                    made.reals.push_back({patch.word, patch.dtype, scalar.dtype, value});
                    continue;
                }
            } else if (plan::integer_of(scalar)) {
                const saved::Number value = tracing.number_at(own[patch.value - PlannedLaunch::first_node]);
                if (value.expression >= 0) {
                    made.scalars.push_back({patch.word, patch.dtype, value});
                    continue;
                }
            }
            const ScalarWords words = scalar_words(scalar.dtype == patch.dtype ? scalar : scalar.cast(patch.dtype));
            for (int i = 0; i < words.count; ++i)
                made.words[static_cast<std::size_t>(patch.word + i)] = {static_cast<std::int64_t>(words.words[static_cast<std::size_t>(i)]),
                                                                        -1};
            continue;
        }
        Size bytes = Trace::again(detail.was, detail.expression);
        if (const Node* node = node_of(patch.value))
            bytes = bytes + tracing.know(own[patch.value - PlannedLaunch::first_node]) * Size(itemsize(node->dtype));
        made.words[patch.word] = {0, -1};
        made.addresses.push_back({patch.word, value_of(patch.value), tracing.number(bytes)});
    }
    for (const device::Signature::Use& use : planned.signature.uses)
        made.uses.push_back({value_of(use.value), device::reads(use.access), device::writes(use.access)});
    made.elements = number(launch.elements);
    made.operations = number(launch.operations);
    Size read = 0, written = 0;
    for (const AdaptablePlan::Launch::Moved& moved : launch.moved) {
        const Size bytes = Trace::again(moved.bytes.was, moved.bytes.expression);
        if (moved.traffic.read) read = read + bytes;
        if (moved.traffic.written) written = written + bytes;
    }
    made.bytes_read = tracing.number(read);
    made.bytes_written = tracing.number(written);
    made.element_cost = launch.element_cost;
    return made;
}

void Run::take(const plan::CapturedLaunch& launch) {
    // Of the structure: the kernel, and for each word what it comes from.
    const Hash128 hash = ir::hash(launch.kernel);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&hash);
    outline_.structure.insert(outline_.structure.end(), bytes, bytes + sizeof hash);
    std::optional<Tracing> tracing;
    if (wanted(step_)) tracing.emplace(sizes_, *known_);
    const auto noted = [&](std::int64_t n) {
        const std::size_t at = note(n);
        check(at);
        return tracing ? tracing->know(at) : Size(n);
    };
    const auto number = [&](Size size) { return tracing ? tracing->number(size) : saved::Number{}; };
    saved::Launch made;
    Size elements = 1;
    double items = 1;
    for (const std::int64_t n : launch.extents) {
        const Size extent = noted(n);
        elements = elements * extent;
        items *= static_cast<double>(n);
        made.extents.push_back(number(extent));
    }
    for (const std::uint64_t word : launch.signature.words) made.words.push_back({static_cast<std::int64_t>(word), -1});
    for (const device::Signature::Patch& patch : launch.signature.patches) {
        const plan::CapturedLaunch::Value value = launch.value(patch.value);
        outline_.structure.push_back(static_cast<std::uint8_t>(patch.role));
        saved::Number& word = made.words[patch.word];
        switch (patch.role) {
            case device::Signature::Role::Address: {
                word = {0, -1};
                if (!value.node) {
                    made.addresses.push_back({patch.word, saved::status_value, {patch.detail, -1}});
                    break;
                }
                const std::uint32_t block = block_of(*value.node);
                blocks_[block].used = true;
                name(block);
                const Size place = noted(value.node->offset * itemsize(value.node->dtype) + patch.detail);
                made.addresses.push_back({patch.word, blocks_[block].name, number(place)});
                break;
            }
            case device::Signature::Role::Extent: word = number(noted(value.node->shape[static_cast<int>(patch.detail)])); break;
            case device::Signature::Role::Stride: word = number(noted(value.node->strides[static_cast<int>(patch.detail)])); break;
            case device::Signature::Role::Number: {
                const Scalar scalar = value.number->dtype == patch.dtype ? *value.number : value.number->cast(patch.dtype);
                if (is_float(scalar.dtype)) {
                    const std::size_t at = note_real(scalar.as_double(), scalar.dtype);
                    const saved::Real real = tracing ? tracing->real_at(at) : saved::Real{};
                    if (real.kind != saved::Real::Kind::Literal) {
                        made.reals.push_back({patch.word, patch.dtype, scalar.dtype, real});
                        break;
                    }
                }
                const std::optional<std::int64_t> integer = is_float(scalar.dtype) ? std::nullopt : plan::integer_of(scalar);
                outline_.structure.push_back(integer.has_value());
                if (integer) {
                    const std::size_t at = note(*integer);
                    outline_.rounded_to.back() = scalar.dtype;
                    check(at);
                    if (const saved::Number n = tracing ? tracing->number_at(at) : saved::Number{}; n.expression >= 0) {
                        made.scalars.push_back({patch.word, patch.dtype, n});
                        break;
                    }
                }
                const ScalarWords words = scalar_words(scalar);
                for (int i = 0; i < words.count; ++i) {
                    const std::uint64_t bits = words.words[static_cast<std::size_t>(i)];
                    made.words[static_cast<std::size_t>(patch.word + i)] = {static_cast<std::int64_t>(bits), -1};
                    for (int byte = 0; byte < 8 && !integer && !is_float(scalar.dtype); ++byte)
                        outline_.structure.push_back(static_cast<std::uint8_t>(bits >> 8 * byte));
                }
                break;
            }
        }
    }
    Size read = 0, written = 0;
    for (const device::Signature::Use& use : launch.signature.uses) {
        const plan::CapturedLaunch::Value value = launch.value(use.value);
        if (!value.node) continue;
        Size size = itemsize(value.node->dtype);
        for (const std::int64_t n : value.node->shape) size = size * noted(n);
        if (device::reads(use.access)) read = read + size;
        if (device::writes(use.access)) written = written + size;
        made.uses.push_back({blocks_[block_of(*value.node)].name, device::reads(use.access), device::writes(use.access)});
    }
    for (const plan::CapturedFailure& failure : launch.failures)
        made.failures.push_back({static_cast<std::uint8_t>(failure.code), failure.message});
    if (tracing) {
        made.code = codes_->number(launch.kernel);
        made.elements = number(elements);
        made.bytes_read = number(read);
        made.bytes_written = number(written);
        made.element_cost = launch.cost_ns / std::max(items, 1.0) / addition_ns;
        saved::Alternative alternative;
        alternative.launches.push_back(std::move(made));
        if (device_.kind() != DeviceKind::Cpu) alternative.loops.push_back({{launch.rounds, -1}, {launch.rounds, -1}, {0, -1}});
        if (tracing->take(alternative.sizing)) {
            alternative.sizing.guards.clear();  // formulas hold everywhere
            regime_->steps[step_].alternatives.push_back(std::move(alternative));
        }
    }
    ++step_;
}

}  // namespace pardo::saving

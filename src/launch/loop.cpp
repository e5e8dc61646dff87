// src/launch/loop.cpp: parts of a function that run by themselves: parallel loops, their reductions, serial statements.
#include <algorithm>
#include <utility>

#include "ir/eval.h"
#include "lang/typing/numbers.h"
#include "launch/function.h"

namespace pardo {
namespace {

/// Items of a loop that reduces: as many for each number of iterations, so that results depend on nothing else.
constexpr std::int64_t least_block = 2048, most_blocks = 1024;
constexpr std::int64_t shares = 16;  // of an equal part of the iterations, where threads take them as they come

Scalar combined(ir::Combine c, const Scalar& a, const Scalar& b) {
    using ir::Opcode;
    constexpr Opcode ops[] = {Opcode::Add, Opcode::Mul, Opcode::Min, Opcode::Max, Opcode::And, Opcode::Or, Opcode::Xor};
    const Scalar operands[] = {a, b};
    return ir::evaluate(ops[static_cast<int>(c)], {}, a.dtype, operands);
}

/// Pairwise, in an order that depends on nothing but the count.
Scalar combined_all(ir::Combine c, std::vector<Scalar> values) {
    while (values.size() > 1) {
        const std::size_t half = (values.size() + 1) / 2;
        for (std::size_t k = 0; k + half < values.size(); ++k) values[k] = combined(c, values[k], values[k + half]);
        values.resize(half);
    }
    return values[0];
}

/// Tuples are compared by the first parts that differ.
bool comes_before(ir::Combine c, std::span<const Scalar> a, std::span<const Scalar> b) {
    for (std::size_t k = 0; k < a.size(); ++k) {
        const Scalar pair[] = {a[k], b[k]};
        if (ir::evaluate(ir::Opcode::Ne, {}, a[k].dtype, pair).b)
            return ir::evaluate(c == ir::Combine::Min ? ir::Opcode::Lt : ir::Opcode::Gt, {}, a[k].dtype, pair).b;
    }
    return false;
}

/// The least or greatest of tuples: `values[p]` holds the p-th part of each.
std::vector<Scalar> first_of(ir::Combine c, const std::vector<std::vector<Scalar>>& values) {
    const auto at = [&](std::size_t i) {
        std::vector<Scalar> out;
        out.reserve(values.size());
        for (const std::vector<Scalar>& part : values) out.push_back(part[i]);
        return out;
    };
    std::vector<Scalar> first = at(0);
    for (std::size_t i = 1; i < values[0].size(); ++i)
        if (const std::vector<Scalar> other = at(i); comes_before(c, other, first)) first = other;
    return first;
}

/// Numbers as a list of arguments, with the tuples that they belong to.
std::vector<KernelArgument> packed(const std::vector<lang::ArgumentType>& layout, std::span<const Scalar> numbers) {
    std::vector<KernelArgument> out;
    out.reserve(layout.size());
    std::size_t next = 0;
    for (const lang::ArgumentType& type : layout) {
        KernelArgument& a = out.emplace_back();
        if (type.kind == lang::ArgumentType::Kind::Tuple) {
            a.kind = KernelArgument::Kind::Tuple;
            a.parts = type.parts;
            a.names = type.names;
            a.structure = type.structure;
            a.records = type.records;
        } else {
            a.scalar = numbers[next++];
        }
    }
    return out;
}

}  // namespace

struct Loop::State : launch::UserFunction {
    State(std::shared_ptr<const syntax::Function> function, const KernelOptions& options, const lang::LoopSpec& loop)
        : UserFunction(std::move(function), false, options, loop), spec(loop) {}
    const lang::LoopSpec spec;

    /// Serial loops are made for integers that are small, which need no checks and take the dtype of what they meet; and for others where
    /// that is not so, or not what they can be.
    std::shared_ptr<launch::Specialisation> special(launch::Arguments arguments, const NdRange& range, device::Queue* queue) {
        std::uint64_t assumed = spec.parallel || queue->device()->can(device::Feature::TakesAll)
                                    ? 0
                                    : small_ones(arguments) | (has_outside() ? small_outside : 0);
        std::vector<KernelArgument> memory;
        while (assumed != 0) {
            try {
                std::shared_ptr<launch::Specialisation> made = prepare(arguments, range, queue, assumed);
                const launch::Arguments all = with_outside(*made, arguments, memory);
                const lang::Fit* fit = misfit(*made, all);
                const bool large = (assumed & small_outside) != 0 && !are_small(all.subspan(arguments.size()));
                if (!fit && !large) return made;
                const bool outside = large || static_cast<std::size_t>(fit->argument) >= arguments.size();
                assumed &= ~(outside ? small_outside : std::uint64_t{1} << fit->argument);
            } catch (const Error& e) {
                if (!is_refusal(e.code())) throw;
                assumed = 0;
            }
        }
        std::shared_ptr<launch::Specialisation> made = prepare(arguments, range, queue);
        check_fits(*made, with_outside(*made, arguments, memory));
        return made;
    }
    /// What a program is refused with, other than what goes wrong where one is made.
    static bool is_refusal(ErrorCode code) {
        switch (code) {
            case ErrorCode::Value:
            case ErrorCode::Type:
            case ErrorCode::Index:
            case ErrorCode::Overflow:
            case ErrorCode::Compile:
            case ErrorCode::Name: return true;
            default: return false;
        }
    }
};

Loop::Loop(std::shared_ptr<const syntax::Function> function, int dimensions, std::vector<std::string> results, const KernelOptions& options,
           std::span<const ListArgument> lists) {
    lang::LoopSpec spec;
    spec.parallel = dimensions > 0;
    spec.dimensions = std::max(dimensions, 1);
    spec.results = std::move(results);
    for (const ListArgument& l : lists) {
        spec.lists.push_back({l.name, l.filled, l.weak, l.changes, l.grows});
        spec.lists.back().made.place = function->body.place;
    }
    state_ = std::make_shared<State>(std::move(function), options, spec);
}
Loop::~Loop() = default;
Loop::Loop(const Loop&) = default;
Loop& Loop::operator=(const Loop&) = default;

std::vector<std::string> Loop::reductions(const syntax::Function& function, const std::vector<std::string>& outside,
                                          std::vector<std::string>* scattered) {
    return lang::reductions_of(function, function.body.parts.at(0), outside, scattered);
}

bool Loop::draws(const syntax::Function& function) {
    const auto in = [](const syntax::Tree& t, const auto& self) -> bool {
        if (t.form == syntax::Form::Call && t.name == "random.key") return true;
        return std::ranges::any_of(t.parts, [&](const syntax::Tree& p) { return self(p, self); });
    };
    return in(function.body, in) || std::ranges::any_of(function.callees, [](const auto& callee) { return draws(*callee); });
}

std::vector<KernelArgument> Loop::run(std::span<const KernelArgument> arguments, std::span<const std::int64_t> counts,
                                      std::span<const Scalar> initial, const Queue* given, std::int64_t chunk, Event* late,
                                      std::optional<std::string>* refused) const {
    const lang::LoopSpec& spec = state_->spec;
    state_->check_count(arguments);
    const Ref<device::Queue> queue(state_->queue_of(arguments, given));
    const bool reduces = spec.parallel && !spec.results.empty();
    NdRange range;
    if (spec.parallel && !reduces) range.global.assign(counts.begin(), counts.end());
    std::shared_ptr<launch::Specialisation> special;
    try {
        special = state_->special(arguments, range, queue.get());
    } catch (const Error& e) {
        if (!refused || !State::is_refusal(e.code())) throw;
        *refused = e.message();
        return {};
    }
    const std::vector<lang::ArgumentType>& layout = special->lowered.layout;
    double iterations = 1;
    for (const std::int64_t n : counts) iterations *= static_cast<double>(n);
    if (spec.parallel && iterations == 0) return packed(layout, initial);

    launch::LoopArguments loop;
    loop.gives_event = false;
    loop.chunk = chunk;
    if (chunk == automatic_chunk && !counts.empty())
        loop.chunk = std::max<std::int64_t>(1, counts[0] / (shares * std::max(1, queue->device()->info().max_compute_units)));
    std::span<const std::int64_t> extents = range.global;
    std::int64_t items = 1;
    if (reduces) {
        loop.count = counts[0];
        loop.block = std::max(least_block, (loop.count + most_blocks - 1) / most_blocks);
        items = (loop.count + loop.block - 1) / loop.block;
        if (loop.chunk > 0) loop.chunk = (loop.chunk + loop.block - 1) / loop.block;
        extents = {&items, 1};
        iterations = static_cast<double>(items);  // each goes over its block
    }
    const bool fp64 = queue->device()->supports(DType::Float64);
    const auto dtype_of_result = [&](const lang::Result& r) { return r.type.weak ? lang::weak_dtype(r.type.dtype, fp64) : r.type.dtype; };
    const std::vector<lang::Result>& results = special->lowered.results;
    for (std::size_t k = 0; k < results.size() && k < initial.size(); ++k) {
        const DType dtype = dtype_of_result(results[k]);
        const Scalar& start = initial[k];
        if (!start.weak || !is_integer(start.dtype) || !is_integer(dtype) || lang::fits(lang::number(start), dtype)) continue;
        std::string text = std::to_string(start.i);
        text.append(" does not fit ").append(dtype_name(dtype)).append(", which the loop makes of it; start with np.int64(");
        state_->fail(ErrorCode::Overflow, text.append(std::to_string(start.i)).append(")"));
    }
    std::vector<Ref<device::Buffer>> buffers;
    SmallVector<device::Buffer*, 8> places;
    buffers.reserve(results.size());
    for (const lang::Result& r : results) {
        const auto bytes = static_cast<std::size_t>(items * itemsize(dtype_of_result(r)));
        buffers.push_back(queue->device()->obtain(bytes, MemoryKind::Device, queue.get()));
        places.push_back(buffers.back().get());
    }
    loop.results = places;
    std::vector<KernelArgument> memory;
    arguments = state_->with_outside(*special, arguments, memory);
    arguments = state_->on_queue(*special, arguments, queue.get(), memory);
    launch::Variant& variant = state_->variant(*special, arguments, extents, loop);
    loop.waits = !results.empty() || variant.reports;
    loop.late = late && results.empty() && !variant.reports;
    const Event event = state_->submit(*special, variant, arguments, extents, iterations, queue.get(), {}, loop);
    if (loop.waits) {
        event.wait();
        if (const auto failure = device::failure_of(event)) throw Error(failure->error);  // of failed elements, each time
    }
    if (loop.late) *late = event;
    const auto read = [&](std::size_t k, std::span<Scalar> values) {
        const DType dtype = dtype_of_result(results[k]);
        const auto size = static_cast<std::size_t>(itemsize(dtype));
        SmallVector<std::byte, 64> bytes(static_cast<int>(values.size() * size));
        queue->read(bytes.data(), loop.results[k], 0, values.size() * size);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = ir::read_element(dtype, bytes.data() + i * size);
    };
    SmallVector<Scalar, 8> numbers(static_cast<int>(results.size()));
    const std::span<Scalar> out(numbers.data(), results.size());
    std::vector<std::vector<Scalar>> values(reduces ? results.size() : 0);  // of the items
    for (std::size_t k = 0; k < results.size(); ++k) {
        if (reduces) values[k].resize(static_cast<std::size_t>(items));
        read(k, reduces ? std::span(values[k]) : out.subspan(k, 1));
    }
    for (std::size_t k = 0; reduces && k < results.size(); ++k) {
        const std::size_t parts = results[k].parts;
        if (parts > 0) {  // iterations started with what the tuple was
            const auto begin = values.begin() + static_cast<std::ptrdiff_t>(k);
            const std::vector<Scalar> first = first_of(results[k].combine, {begin, begin + static_cast<std::ptrdiff_t>(parts)});
            std::copy(first.begin(), first.end(), out.begin() + static_cast<std::ptrdiff_t>(k));
        } else if (!results[k].inside) {
            out[k] = combined(results[k].combine, initial[k].cast(dtype_of_result(results[k])),
                              combined_all(results[k].combine, std::move(values[k])));
        }
    }
    for (std::size_t k = 0; k < results.size(); ++k) out[k].weak = results[k].type.weak;
    return packed(layout, out);
}

std::optional<std::string> Loop::refusal(std::span<const KernelArgument> arguments, const Queue* given) const {
    state_->check_count(arguments);
    const Ref<device::Queue> queue(state_->queue_of(arguments, given));
    try {
        (void)state_->special(arguments, {}, queue.get());
    } catch (const Error& e) {
        if (!State::is_refusal(e.code())) throw;
        return e.message();
    }
    return std::nullopt;
}

std::vector<ArgumentUse> Loop::uses(std::span<const KernelArgument> arguments, std::span<const std::int64_t> counts) const {
    state_->check_count(arguments);
    const Ref<device::Queue> queue(state_->queue_of(arguments, nullptr));
    NdRange range;
    if (state_->spec.parallel && state_->spec.results.empty()) range.global.assign(counts.begin(), counts.end());
    return state_->special(arguments, range, queue.get())->uses();
}

std::span<const std::string> Loop::parameters() const { return state_->parameters(); }
std::string Loop::inspect(const std::string& what) const { return state_->inspect(what); }
std::string Loop::types() const { return state_->types(); }
std::string Loop::diagnostics() const { return state_->diagnostics(); }

}  // namespace pardo

// src/array/generated/fold.cpp: elements along an axis taken together by any row of two operands, one after the other, by kernels that are
// made of the row's recipe: what NumPy's reduce, accumulate, reduceat and at do for operations that are no row of reductions.def.
#include <algorithm>
#include <string_view>
#include <vector>

#include <pardo/binding/rows.h>
#include <pardo/ops.h>

#include "array/call.h"
#include "array/checked.h"
#include "array/generated/own_kernel.h"
#include "array/operand.h"
#include "graph/recipes.h"
#include "ir/builder.h"
#include "plan/force.h"

namespace pardo {

namespace {

using graph::Op;
using ir::Access;
using ir::Builder;
using ir::Value;
using Values = Builder::Values;

constexpr std::int64_t chunk = 128;          // sums and products of floats start again after so many elements: they lose less
constexpr std::int64_t items_wanted = 4096;  // where the operation is associative, lines are cut into blocks until there are so many items
constexpr std::int64_t shortest_block = 64;
constexpr std::int64_t long_segment = 4;  // elements on average: of fewer, several segments side by side fill a processor's vectors better

/// What a kernel does with the lines of an array (outer, length, inner).
enum class How : std::uint8_t {
    Blocks,    // each block of a line becomes one element
    Steps,     // the same, with all that is on the way
    Segments,  // from starts[s] to before stops[s]
    Places,    // of one dimension: runs of equal keys; every element of a run becomes what its run gives
};

struct Form {
    Op op;
    How how;
    int arity;
    DType loop, result, stored;  // of the operation; of what it gives; of elements between two steps
    bool initial = false;        // Blocks: a first element for all lines; Steps: what is before each block but the first
    bool masked = false;         // Blocks
    bool in_lanes = false;       // Segments: elements of one, which lie one after the other, beside each other in vectors
};

/// How elements are combined in lanes to what the row gives; nothing of rows that no lanes know.
std::optional<ir::Combine> combine_of(Op op, DType dtype) {
    if (dtype == DType::Bool || is_narrow_float(dtype) || is_complex(dtype)) return {};
    switch (op) {
        case Op::add: return ir::Combine::Add;
        case Op::multiply: return ir::Combine::Mul;
        case Op::maximum: return ir::Combine::Max;
        case Op::minimum: return ir::Combine::Min;
        default: return {};
    }
}

bool is_associative(Op op) {
    const std::string_view identity = graph::op_row(op).identity;
    return identity != "NONE" && identity != "NO_UFUNC";
}

/// The kernel of a form. Its range: (outer, blocks, inner), with `last` of these three at the end, where items become lanes.
class FoldKernel {
public:
    FoldKernel(const Form& form, int last)
        : form_(form),
          last_(last),
          m_(std::string("fold_") + graph::op_row(form.op).name, form.how == How::Places ? 1 : 3,
             form.how != How::Places && !form.in_lanes) {}
    ir::Kernel build() {
        if (form_.how == How::Places) {
            places();
        } else {
            lines();
        }
        return m_.finish();
    }

private:
    Value pointer(const char* name, DType t, Access access = Access::Read) { return m_.pointer(name, t, access, true); }
    Value number(const char* name) { return m_.scalar_param(name, DType::Int64); }
    Value cast(Value v, DType t) { return m_.type(v) == t ? v : m_.cast(v, t); }
    Value step(Value so_far, Value next) {
        const Value operands[] = {cast(so_far, form_.loop), next};
        return cast(graph::build_recipe(m_, form_.op, form_.loop, form_.result, {operands, static_cast<std::size_t>(form_.arity)}),
                    form_.stored);
    }
    bool in_chunks() const {
        return form_.how != How::Steps && !form_.initial && !form_.masked && is_inexact(form_.loop) &&
               (form_.op == Op::add || form_.op == Op::multiply);
    }
    void lines();
    void places();

    Form form_;
    int last_;
    Builder m_;
};

void FoldKernel::lines() {
    const Value x = pointer("x", form_.stored), out = pointer("out", form_.stored, Access::Write);
    const bool segments = form_.how == How::Segments, steps = form_.how == How::Steps;
    const Value starts = segments ? pointer("starts", DType::Int64) : ir::no_value;
    const Value stops = segments ? pointer("stops", DType::Int64) : ir::no_value;
    const Value initial = form_.initial ? pointer("initial", form_.stored) : ir::no_value;
    const Value mask = form_.masked ? pointer("mask", DType::Bool) : ir::no_value;
    const Value length = number("length"), step_along = number("inner"), count = number("count"), block = number("block");
    const Value inner = form_.in_lanes ? m_.i64(1) : step_along;  // vectors are loaded whole where it is known to be 1
    const int places[3][3] = {{2, 1, 0}, {0, 2, 1}, {0, 1, 2}};   // of outer, block, inner
    const Value o = m_.dim(places[last_][0]), b = m_.dim(places[last_][1]), i = m_.dim(places[last_][2]);
    const Value base = m_.add(m_.mul(m_.mul(o, length), inner), i);
    const auto at = [&](Value k) { return m_.add(base, m_.mul(k, inner)); };
    const auto block_at = [&](Value which) { return m_.add(m_.mul(m_.add(m_.mul(o, count), which), inner), i); };
    // Starts and stops that come from a value that failed are any numbers.
    const auto limited = [&](Value n, Value least, Value most) { return m_.min(m_.max(n, least), most); };
    const Value nil = m_.i64(0), one = m_.i64(1);
    Value first, end;
    if (segments) {
        const Value begins = m_.load(starts, b), last = m_.sub(length, one);
        first = limited(begins, nil, last);
        const Value ends = m_.load(stops, b), second = m_.add(first, one);
        end = limited(ends, second, length);
    } else {
        first = m_.mul(b, block);
        end = m_.min(m_.add(first, block), length);
    }
    Value begin = first, start;
    if (form_.initial && !steps) {
        start = m_.load(initial, nil);
    } else {
        start = m_.load(x, at(first));
        if (form_.initial) {
            const Value none = m_.eq(b, nil), before = m_.load(initial, block_at(m_.max(m_.sub(b, one), nil)));
            start = m_.select(none, start, step(before, start));
        }
        begin = m_.add(first, one);
        if (steps) m_.store(out, at(first), start);
    }
    const auto run = [&](Value from, Value to, Value so_far) {
        if (form_.in_lanes) {
            const ir::Reduction reduction{*combine_of(form_.op, form_.loop), so_far};
            return m_.for_lanes(from, to, std::span(&reduction, 1), [&](Value k) { return Values{m_.load(x, at(k))}; })[0];
        }
        const Value carried[] = {so_far};
        return m_.for_loop(from, to, one, carried, [&](Value k, std::span<const Value> v) {
            Value next = step(v[0], m_.load(x, at(k)));
            if (form_.masked) next = m_.select(m_.load(mask, at(k)), next, v[0]);
            if (steps) m_.store(out, at(k), next);
            return Values{next};
        })[0];
    };
    Value total;
    if (in_chunks()) {
        const Value carried[] = {start}, size = m_.i64(chunk);
        total = m_.for_loop(begin, end, size, carried, [&](Value from, std::span<const Value> v) {
            const Value second = m_.add(from, one), beyond = m_.min(m_.add(from, size), end), so_far = m_.load(x, at(from));
            const Value part = run(second, beyond, so_far);
            return Values{step(v[0], part)};
        })[0];
    } else {
        total = run(begin, end, start);
    }
    if (!steps) m_.store(out, block_at(b), total);
}

void FoldKernel::places() {
    const Value old = pointer("old", form_.stored), out = pointer("out", form_.stored, Access::Write);
    const Value keys = pointer("keys", DType::Int64);  // sorted; then where each was before
    const Value values = form_.arity > 1 ? pointer("values", form_.loop) : ir::no_value;
    const Value count = number("count"), k = m_.dim(0), one = m_.i64(1);
    const Value nil = m_.i64(0), key = m_.load(keys, k), before = m_.load(keys, m_.max(m_.sub(k, one), nil));
    const Value is_first = m_.eq(k, nil), is_new = m_.ne(key, before), head = m_.bit_or(is_first, is_new);
    const auto place = [&](Value j) { return m_.load(keys, m_.add(count, j)); };
    m_.if_else(
        head,
        [&] {
            const Value carried[] = {k, m_.load(old, place(k))};
            const Values found = m_.while_loop(
                carried,
                [&](std::span<const Value> v) {
                    const Value there = m_.lt(v[0], count);
                    return m_.bit_and(there, m_.eq(m_.load(keys, m_.min(v[0], m_.sub(count, one))), key));
                },
                [&](std::span<const Value> v) {
                    const Value next = form_.arity > 1 ? m_.load(values, place(v[0])) : ir::no_value;
                    return Values{m_.add(v[0], one), step(v[1], next)};
                });
            m_.for_loop(k, found[0], one, {}, [&](Value j, std::span<const Value>) {
                m_.store(out, place(j), found[1]);
                return Values{};
            });
            return Values{};
        },
        [] { return Values{}; });
}

struct FoldCall final : arrays::ArrayCall {
    FoldCall(const Form& f, Shape result, int along, std::int64_t size)
        : ArrayCall(graph::op_row(f.op).name), form(f), shape(std::move(result)), axis(along), block(size) {}
    void compute(std::span<const Array> inputs, std::span<Array> results) const override;
    graph::ImplementationChoice implementation(std::span<const graph::CallInput>) const override {
        return {"a kernel of the operation", {}};
    }
    void launch(device::Queue* queue, const ir::Kernel& kernel, Extents extents, const device::LaunchArguments& arguments,
                std::int64_t elements) const {
        const double each = 1 + 0.5 * graph::op_cost(form.op);
        arrays::launch_own_kernel(queue, name, kernel, extents, arguments, static_cast<double>(elements) * each);
    }

    Form form;
    Shape shape;
    int axis;
    std::int64_t block;
};

void FoldCall::compute(std::span<const Array> inputs, std::span<Array> results) const {
    std::vector<routines::Memory> memories;
    MemoryKind kind = device::no_kind;
    for (const Array& input : inputs) {
        memories.push_back(arrays::contiguous_memory(input));
        kind = std::min(kind, routines::kind_of(memories.back()));
    }
    device::Queue* queue = inputs[0].node()->queue.get();
    const arrays::Output out = arrays::make_output(name, queue, form.stored, shape, kind);
    results[0] = out.array;
    if (out.memory.size() == 0) return;
    device::LaunchArguments arguments;
    arrays::add(arguments, memories[0], device::Access::Read);
    arrays::add(arguments, out.memory, device::Access::Write);
    for (std::size_t k = 1; k < memories.size(); ++k) arrays::add(arguments, memories[k], device::Access::Read);
    if (form.how == How::Places) {
        const std::int64_t count = out.memory.size(), extents[] = {count};
        arguments.add(count);
        return launch(queue, FoldKernel(form, 0).build(), extents, arguments, 2 * count);
    }
    const routines::Lines lines = routines::lines_of(memories[0].shape, axis);
    const std::int64_t size = std::max<std::int64_t>(block, 1);
    const std::int64_t count = form.how == How::Segments ? memories[1].size() : (lines.length + size - 1) / size;
    for (const std::int64_t n : {lines.length, lines.inner, count, block}) arguments.add(n);
    const int last = lines.inner >= 8 || (lines.inner >= count && lines.inner >= lines.outer) ? 2 : count >= lines.outer ? 1 : 0;
    const std::int64_t extents[3][3] = {
        {lines.inner, count, lines.outer}, {lines.outer, lines.inner, count}, {lines.outer, count, lines.inner}};
    Form chosen = form;
    chosen.in_lanes = form.how == How::Segments && lines.inner == 1 && lines.length >= count * long_segment &&
                      combine_of(form.op, form.loop) && queue->device()->can(device::Feature::HostCode);
    launch(queue, FoldKernel(chosen, last).build(), extents[last], arguments, memories[0].size());
}

/// The form of a row of `arity` operands that are of its loop's dtype.
Form form_of(int id, How how, int arity, DType loop) {
    graph::check_row("fold", id, static_cast<std::size_t>(arity));
    const std::vector<DType> types(static_cast<std::size_t>(arity), loop);
    return {static_cast<Op>(id), how, arity, loop, loop_of(id, types, {}).result, loop};
}

Array record(const Form& form, std::span<const Array> inputs, Shape shape, int axis, std::int64_t block) {
    for (const Array& input : inputs) (void)arrays::queue_of(graph::op_row(form.op).name, inputs[0], input);
    graph::ResultType type{form.stored, shape};
    return arrays::record(Ref<arrays::ArrayCall>(new FoldCall(form, std::move(shape), axis, block)), inputs, type);
}

/// x, its negative exponents refused where powers of integers are taken: `bases` are no exponents (null: the first of each line).
Array with_checked_exponents(Op op, const Array& x, int axis, const Array* bases) {
    if (op != Op::power || kind_of(x.dtype()) != DKind::Signed) return x;
    const Array first = bases ? *bases : equal(iota(x.shape(), axis, x.queue()), std::int64_t{0});
    return where(first, x, arrays::checked_exponents(where(first, std::int64_t{0}, x)));
}

/// Elements of a block, so that there are items enough; all of a line where it is short.
std::int64_t block_of(const Array& x, int axis) {
    const routines::Lines lines = routines::lines_of(x.shape(), axis);
    const std::int64_t columns = std::max<std::int64_t>(lines.outer * lines.inner, 1), blocks = items_wanted / columns;
    if (blocks <= 1 || lines.length <= 2 * shortest_block) return lines.length;
    return std::max(shortest_block, (lines.length + blocks - 1) / blocks);
}

Shape with_extent(const Array& x, int axis, std::int64_t extent) {
    Shape shape = arrays::shape_of(x);
    shape[axis] = extent;
    return shape;
}

Array blocks(const Form& form, std::span<const Array> inputs, int axis, std::int64_t block) {
    const std::int64_t length = inputs[0].shape()[static_cast<std::size_t>(axis)], size = std::max<std::int64_t>(block, 1);
    const std::int64_t count = block == length ? 1 : (length + size - 1) / size;
    return record(form, inputs, with_extent(inputs[0], axis, count), axis, block);
}

}  // namespace

Array fold(int id, const Array& given, std::int64_t axis, const Array* initial, const Array* where) {
    Form form = form_of(id, How::Blocks, 2, given.dtype());
    const int along = arrays::checked_axis(graph::op_row(form.op).name, axis, given.ndim());
    std::optional<Array> bases;
    if (initial && form.op == Op::power) bases = zeros(given.shape(), DType::Bool, given.queue());
    Array x = with_checked_exponents(form.op, given, along, bases ? &*bases : nullptr);
    if (is_associative(form.op) && !initial && !where) {
        for (std::int64_t block; (block = block_of(x, along)) < x.shape()[static_cast<std::size_t>(along)];)
            x = blocks(form, std::span(&x, 1), along, block);
    }
    form.initial = initial != nullptr;
    form.masked = where != nullptr;
    std::vector<Array> inputs;
    inputs.push_back(x);
    if (initial) inputs.push_back(*initial);
    if (where) inputs.push_back(*where);
    return blocks(form, inputs, along, x.shape()[static_cast<std::size_t>(along)]);
}

Array fold_steps(int id, const Array& given, std::int64_t axis) {
    Form form = form_of(id, How::Steps, 2, given.dtype());
    const int along = arrays::checked_axis(graph::op_row(form.op).name, axis, given.ndim());
    const Array x = with_checked_exponents(form.op, given, along, nullptr);
    const std::int64_t length = x.shape()[static_cast<std::size_t>(along)];
    const std::int64_t block = is_associative(form.op) ? block_of(x, along) : length;
    if (block >= length) return record(form, std::span(&x, 1), arrays::shape_of(x), along, length);
    Form totals = form;
    totals.how = How::Blocks;
    const Array inputs[] = {x, fold_steps(id, blocks(totals, std::span(&x, 1), along, block), along)};
    form.initial = true;
    return record(form, inputs, arrays::shape_of(x), along, block);
}

Array fold_segments(int id, const Array& given, std::int64_t axis, const Array& starts, const Array& stops) {
    const Form form = form_of(id, How::Segments, 2, given.dtype());
    const int along = arrays::checked_axis(graph::op_row(form.op).name, axis, given.ndim());
    const Array inputs[] = {given, starts, stops};
    return record(form, inputs, with_extent(given, along, starts.size()), along, 0);
}

Array fold_places(int id, const Array& old, const Array* values, const Array& keys, DType loop) {
    Form form = form_of(id, How::Places, values ? 2 : 1, loop);
    form.stored = old.dtype();
    if (!values) {
        const Array inputs[] = {old, keys};
        return record(form, inputs, arrays::shape_of(old), 0, 0);
    }
    std::optional<Array> none;
    if (form.op == Op::power) none = zeros(values->shape(), DType::Bool, values->queue());
    const Array inputs[] = {old, keys, with_checked_exponents(form.op, *values, 0, none ? &*none : nullptr)};
    return record(form, inputs, arrays::shape_of(old), 0, 0);
}

}  // namespace pardo

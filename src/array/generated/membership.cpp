// src/array/generated/membership.cpp: which integers are among others, by a mark for each that could be.
#include <algorithm>

#include <pardo/binding/membership.h>

#include "array/call.h"
#include "array/generated/own_kernel.h"
#include "array/operand.h"
#include "ir/builder.h"
#include "plan/force.h"

namespace pardo {

namespace {

using ir::Access;
using ir::Builder;
using ir::Value;

DType unsigned_like(DType t) {
    constexpr DType types[] = {DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};
    return *std::ranges::find_if(types, [t](DType u) { return itemsize(u) == itemsize(t); });
}

/// marks[elements[i] - low] = true. Elements of a value that failed are any numbers: none leaves the marks.
ir::Kernel marking(DType t) {
    Builder m("mark_members", 1, false);
    const Value elements = m.pointer("elements", t, Access::Read, true), marks = m.pointer("marks", DType::Bool, Access::Write, true);
    const Value low = m.scalar_param("low", DType::Int64), last = m.scalar_param("last", DType::Int64);
    const auto wide = [&](Value v) { return m.cast(m.cast(v, DType::Int64), DType::UInt64); };
    const Value at = m.min(m.sub(wide(m.load(elements, m.dim(0))), wide(low)), wide(last));
    m.store(marks, m.cast(at, DType::Int64), m.boolean(true));
    return m.finish();
}

/// out[i] = whether x[i] is one of first, first + 1, …, first + last whose mark, from marks[skip] on, is set.
ir::Kernel looking_up(DType t, bool invert) {
    Builder m("look_up_members", 1, true);
    const DType distance = unsigned_like(t);
    const auto narrow = [&](Value v) { return m.type(v) == distance ? v : m.cast(v, distance); };
    const Value x = m.pointer("x", t, Access::Read, true), marks = m.pointer("marks", DType::Bool, Access::Read, true);
    const Value out = m.pointer("out", DType::Bool, Access::Write, true);
    const Value first = m.scalar_param("first", DType::Int64), last = m.scalar_param("last", DType::Int64);
    const Value skip = m.scalar_param("skip", DType::Int64);
    const Value from_first = m.sub(narrow(m.load(x, m.dim(0))), narrow(first)), inside = m.le(from_first, narrow(last));
    const Value place = m.select(inside, m.add(m.cast(from_first, DType::Int64), skip), m.i64(0));
    const Value found = m.bit_and(inside, m.load(marks, place));
    const Value told = invert ? m.bit_not(found) : found;
    m.store(out, m.dim(0), told);
    return m.finish();
}

struct MemberCall final : arrays::ArrayCall {
    MemberCall(std::int64_t lowest, std::int64_t extent, bool no) : ArrayCall("isin"), low(lowest), count(extent), invert(no) {}
    void compute(std::span<const Array> inputs, std::span<Array> results) const override;
    graph::ImplementationChoice implementation(std::span<const graph::CallInput>) const override { return {"a table", {}}; }

    std::int64_t low, count;  // of the elements: the lowest (its bits, of UInt64), and how many integers from there on could be among them
    bool invert;
};

void MemberCall::compute(std::span<const Array> inputs, std::span<Array> results) const {
    const routines::Memory x = arrays::contiguous_memory(inputs[0]), elements = arrays::contiguous_memory(inputs[1]);
    device::Queue* queue = inputs[0].node()->queue.get();
    const arrays::Output out = arrays::make_output(name, queue, DType::Bool, x.shape, routines::kind_of(x, elements));
    results[0] = out.array;
    if (out.memory.size() == 0) return;
    // The integers that could be among the elements and in x's dtype; all of them fit into 128 bits.
    using Wide = __int128;
    const Wide base = elements.dtype == DType::UInt64 ? Wide(static_cast<std::uint64_t>(low)) : Wide(low), each = 1;
    const std::int64_t bits = 8 * itemsize(x.dtype);
    const Wide least = kind_of(x.dtype) == DKind::Signed ? -(each << (bits - 1)) : 0, most = least + (each << bits) - 1;
    const Wide first = std::max(base, least), last = std::min(base + count - 1, most);
    const auto fill = [queue](const routines::Memory& memory, bool value) {
        const std::uint8_t byte = value ? 1 : 0;
        queue->fill(memory.buffer.get(), 0, static_cast<std::size_t>(memory.size()), &byte, sizeof(byte));
    };
    if (first > last) return fill(out.memory, invert);

    const routines::Memory marks = routines::make_scratch(queue, DType::Bool, count);
    fill(marks, false);
    device::LaunchArguments given;
    arrays::add(given, elements, device::Access::Read);
    arrays::add(given, marks, device::Access::ReadWrite);  // some of them: the others are as they were filled
    given.add(low);
    given.add(count - 1);
    const std::int64_t extents[] = {elements.size()}, all[] = {x.size()};
    arrays::launch_own_kernel(queue, name, marking(elements.dtype), extents, given, static_cast<double>(elements.size()));
    device::LaunchArguments sought;
    arrays::add(sought, x, device::Access::Read);
    arrays::add(sought, marks, device::Access::Read);
    arrays::add(sought, out.memory, device::Access::Write);
    sought.add(static_cast<std::int64_t>(first));
    sought.add(static_cast<std::int64_t>(last - first));
    sought.add(static_cast<std::int64_t>(first - base));
    arrays::launch_own_kernel(queue, name, looking_up(x.dtype, invert), all, sought, 1.5 * static_cast<double>(x.size()));
}

}  // namespace

Array is_member(const Array& x, const Array& elements, std::int64_t low, std::int64_t count, bool invert) {
    (void)arrays::queue_of("isin", x, elements);
    const Array inputs[] = {x, elements};
    return arrays::record(Ref<arrays::ArrayCall>(new MemberCall(low, count, invert)), inputs, {DType::Bool, arrays::shape_of(x)});
}

}  // namespace pardo

// src/lang/memory/own.cpp: memory that a program makes for itself: small arrays, what it needs when it runs, and whether it has been
// written.
#include "lang/memory/own.h"

#include <algorithm>

#include "lang/memory/views.h"
#include "lang/numbers/failures.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang {

namespace {

constexpr std::int64_t most_private = 65536;  // bytes: compilers keep them in registers or on a small stack

/// Whether so many elements, by extents that are known, are no more than `room`.
bool count_fits(const std::vector<TypedExpr>& extents, std::int64_t room) {
    std::int64_t count = 1;
    return std::ranges::all_of(
        extents, [&](const TypedExpr& e) { return !__builtin_mul_overflow(count, e.number().scalar.i, &count) && count <= room; });
}

ir::Builder::Values no_values() { return {}; }

}  // namespace

TypedExpr own_view(Memory& l, const std::string& name, DType dtype, std::size_t rank) {
    View v;
    v.dtype = dtype;
    v.name = name;
    v.source = -1 - l.arrays.made++;
    v.rank = static_cast<int>(rank);
    return {std::move(v)};
}

namespace {

TypedExpr own_array(Memory& l, ir::Space space, const std::string& name, DType dtype, const std::vector<std::int64_t>& extents,
                    const Place& place) {
    TypedExpr t = own_view(l, name, dtype, extents.size());
    std::int64_t count = 1;
    std::vector<TypedExpr> strides;
    for (std::size_t d = extents.size(); d-- > 0;) {
        strides.insert(strides.begin(), integer(count));
        if (__builtin_mul_overflow(count, extents[d], &count)) count = most_private + 1;
    }
    if (space == ir::Space::Private && count > most_private / itemsize(dtype))
        l.source.fail(ErrorCode::Value, place,
                      "an array of one item takes at most " + std::to_string(most_private) + " bytes; use an argument for more");
    t.view().lead.push_back(integer(0));
    for (const std::int64_t n : extents) t.view().lead.push_back(integer(n));
    t.view().lead.insert(t.view().lead.end(), strides.begin(), strides.end());
    t.view().pointer = l.builder.array(name, dtype, count, space);
    return t;
}

}  // namespace

TypedExpr unwritten_array(Memory& l, ir::Space space, const std::string& name, DType dtype, const std::vector<std::int64_t>& extents,
                          const Place& place) {
    const TypedExpr t = own_array(l, space, name, dtype, extents, place);
    std::int64_t count = 1;
    for (const std::int64_t n : extents) count *= n;
    track_writes(l, t.view(), count, space);
    return t;
}

TypedExpr own_memory(Memory& l, const std::string& name, DType dtype, const std::vector<TypedExpr>& extents, const Place& place) {
    constexpr std::int64_t most_private = 65536, many = std::int64_t(1) << 46;
    TypedExpr t = own_view(l, name, dtype, extents.size());
    std::int64_t count = 1;
    bool known = true;
    for (const TypedExpr& e : extents) {
        known = known && e.number().constant;
        if (e.number().constant && e.number().scalar.i < 0) l.source.fail(ErrorCode::Value, place, "negative dimensions are not allowed");
        if (e.number().constant && __builtin_mul_overflow(count, e.number().scalar.i, &count)) count = many;
    }
    std::vector<TypedExpr> sizes = extents;
    if (known && count <= most_private / itemsize(dtype)) {
        t.view().pointer = l.builder.array(name, dtype, std::max<std::int64_t>(count, 1), ir::Space::Private, l.lanes.are_row_loops());
    } else {
        sized_memory(l, t.view(), sizes, place);
    }
    t.view().lead.push_back(integer(0));
    t.view().lead.insert(t.view().lead.end(), sizes.begin(), sizes.end());
    std::vector<TypedExpr> strides;
    TypedExpr stride = integer(1);
    for (std::size_t d = sizes.size(); d-- > 0;) {
        strides.insert(strides.begin(), stride);
        if (d > 0) stride = mul(l, stride, sizes[d]);
    }
    t.view().lead.insert(t.view().lead.end(), strides.begin(), strides.end());
    return t;
}

void note_own_memory(Memory& l, const std::vector<TypedExpr>& extents) {
    if (std::ranges::all_of(extents, [](const TypedExpr& e) { return e.number().constant; })) return;
    need_own_memory(l);
}

void need_own_memory(Memory& l) {
    l.lanes.met_rows = l.host.uses_status = true;
    l.lanes.scalar_items = l.lanes.scalar_items || own_bytes(l) == 0;
}

std::int64_t own_bytes(const Memory& l) {
    constexpr std::int64_t in_groups = 2048;
    return l.task.options.own_bytes == 0 && !l.task.space.group_size.empty() ? in_groups : l.task.options.own_bytes;
}

void sized_memory(Memory& l, View& view, std::vector<TypedExpr>& extents, const Place& place) {
    need_own_memory(l);
    const std::int64_t room = own_bytes(l) / itemsize(view.dtype);
    const bool known = std::ranges::all_of(extents, [](const TypedExpr& e) { return e.number().constant; });
    if (room > 0 && known && !count_fits(extents, room))
        l.source.fail(ErrorCode::Value, place,
                      "an array of one item takes at most " + std::to_string(own_bytes(l)) + " bytes here; use an argument for more");
    if (l.walk.finds_types()) {
        for (TypedExpr& e : extents)
            if (!e.number().constant) e = number({DType::Int64, true}, ir::no_value, 0);
        return;
    }
    const std::int64_t most = std::int64_t(1) << (62 / static_cast<std::int64_t>(extents.size()));
    Value natural = l.builder.boolean(true), few = natural, count = l.builder.i64(1);
    for (const TypedExpr& e : extents) {
        const Value n = value(l, e, DType::Int64), zero = l.builder.i64(0);
        if (e.number().least < 0) natural = l.builder.bit_and(natural, l.builder.le(zero, n));
        few = l.builder.bit_and(few, l.builder.le(n, l.builder.i64(most)));
        count = l.builder.mul(count, l.builder.max(l.builder.min(n, l.builder.i64(most)), zero));
    }
    if (view.pointer == ir::no_value) view.pointer = l.builder.array(view.name, view.dtype, room, ir::Space::Private);
    const Value made = room > 0 ? l.builder.le(count, l.builder.i64(room)) : l.builder.resize(view.pointer, count);
    const Value fits = l.builder.bit_and(made, few), valid = l.builder.bit_and(fits, natural);
    TypedExpr bad = number({DType::Bool, false}, l.builder.bit_not(natural));
    if (std::ranges::any_of(extents, [](const TypedExpr& e) { return e.number().least < 0; }))
        fail_when(l, bad, ErrorCode::Value, "negative dimensions are not allowed", place, {});
    bad.number().value = l.builder.bit_not(fits);
    const std::string most_text = room > 0 ? ": an item has room for " + std::to_string(room) + " here; pass an array for more" : "";
    fail_when(l, bad, ErrorCode::Memory, "there is no memory for `" + view.name + "` of $0 elements" + most_text, place,
              {number({DType::Int64, true}, count)});
    for (TypedExpr& e : extents) {
        TypedExpr size = number({DType::Int64, true}, l.builder.select(valid, value(l, e, DType::Int64), l.builder.i64(0)), 0);
        size.number().bits = e.number().bits;
        e = size;
    }
}

void track_writes(Memory& l, const View& v, std::int64_t count, ir::Space space) {
    if (!l.task.options.check_all) return;
    l.host.uses_status = true;
    if (l.walk.finds_types()) return;
    const Value flags = l.builder.array(v.name + ".written", DType::Int32, count, space);
    l.written.flags[v.pointer] = flags;
    if (space == ir::Space::Group) return l.written.of_groups.push_back(flags);
    l.builder.for_loop(l.builder.i64(0), l.builder.i64(count), l.builder.i64(1), {}, [&](Value k, std::span<const Value>) {
        l.builder.store(flags, k, l.builder.constant(DType::Int32, 0.0));
        return no_values();
    });
}

void mark_written(Memory& l, const View& v, Value place) {
    if (const auto flags = l.written.flags.find(v.pointer); flags != l.written.flags.end())
        l.builder.store(flags->second, place, l.builder.constant(DType::Int32, 1.0));
}

void check_written(Memory& l, const View& v, Value place) {
    const auto flags = l.written.flags.find(v.pointer);
    if (flags == l.written.flags.end() || l.walk.finds_types()) return;
    const Value is_unset = l.builder.eq(l.builder.load(flags->second, place), l.builder.constant(DType::Int32, 0.0));
    l.builder.if_else(
        is_unset,
        [&] {
            const Value values[] = {place};
            report(l, ErrorCode::Value, "element $0 of the memory `" + v.name + "` is read, and nothing has written it", l.at, values,
                   l.source.function);
            return no_values();
        },
        no_values);
}

}  // namespace pardo::lang

// src/lang/memory/lists.cpp: lists and sets of numbers that an item makes: their elements, and how many these are, lie in memory of its
// own.
#include "lang/memory/lists.h"

#include <algorithm>

#include "lang/memory/own.h"
#include "lang/memory/views.h"
#include "lang/numbers/failures.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang {

namespace {

constexpr std::int64_t first_capacity = 16;

const View& counts_of(const TypedExpr& list) { return list.list().counts(); }

/// What is known of a list of Python's that is an argument; null for others.
const GivenList* given_list(const Memory& l, const TypedExpr& list) {
    if (!l.task.loop) return nullptr;
    const auto found = std::ranges::find_if(l.task.loop->lists, [&](const GivenList& g) { return &g.made == list.list().made_at; });
    return found == l.task.loop->lists.end() ? nullptr : &*found;
}

/// Lists of Python's stay as they were when something failed, though iterations may go on.
Value nothing_failed(Memory& l) { return l.builder.eq(l.builder.load(l.host.status, l.builder.i64(0)), l.builder.i64(0)); }

}  // namespace

void note_item(Memory& l, const TypedExpr& list, const TypedExpr& item, const Place& place) {
    if (item.kind() != Kind::Number) l.source.wrong_type(place, "lists and sets in a kernel hold numbers, not " + describe(item));
    const NumberType taken = item.number().type;
    const auto [found, is_new] = l.lists.types.try_emplace(list.list().made_at, taken);
    l.lists.changed = l.lists.changed || is_new;
    if (found->second == taken || (taken.dtype == DType::Bool && found->second.dtype == DType::Bool)) return;
    if (const GivenList* given = given_list(l, list);
        given && l.walk.builds() && !(given->grows && given->filled && found->second.dtype == taken.dtype))
        // types are what they are in the end, and elements are to come back as Python has them
        l.source.wrong_type(place, "a list from before the loop holds " + describe(found->second) + ", and here is " + describe(item));
    NumberType type;
    if (!join(found->second, taken, type))
        l.source.wrong_type(place, "this " + std::string(list.list().word()) + " holds " + describe(found->second) + ", and here is " +
                                       describe(item) + "; convert one of the two");
    l.lists.changed = l.lists.changed || !(type == found->second);
    found->second = type;
}

TypedExpr list_length(Memory& l, const TypedExpr& list) {
    const Value count = l.builder.load(counts_of(list).pointer, l.builder.i64(0));
    TypedExpr out = number({DType::Int64, true}, count, 0);
    out.number().bits = 46;
    return out;
}

namespace {

void set_list_length(Memory& l, const TypedExpr& list, Value count) {
    if (given_list(l, list)) count = l.builder.select(nothing_failed(l), count, value(l, list_length(l, list), DType::Int64));
    l.builder.store(counts_of(list).pointer, l.builder.i64(0), count);
}

/// The elements that a list starts with; `room`: 0 where there is no memory for them.
void fill_list(Memory& l, const TypedExpr& list, const TypedExpr& contents, const TypedExpr& room) {
    note_access(l, contents.view(), ir::Access::Read);
    if (l.walk.finds_types()) return;
    const Value counts = counts_of(list).pointer, capacity = value(l, room, DType::Int64);
    const Value n = l.builder.min(value(l, contents.view().lead[1], DType::Int64), capacity);
    const auto copy = [&](Value i, std::span<const Value>) {
        const TypedExpr index[] = {number({DType::Int64, true}, i, 0)};
        const View from = view_at(l, contents.view(), index);
        l.builder.store(list.list().elements().pointer, i, l.builder.load(from.pointer, value(l, from.lead[0], DType::Int64)));
        return ir::Builder::Values();
    };
    l.builder.for_loop(l.builder.i64(0), n, l.builder.i64(1), {}, copy);
    set_list_length(l, list, n);
    l.builder.store(counts, l.builder.i64(1), capacity);
}

}  // namespace

TypedExpr new_list(Memory& l, const Tree& t, const TypedExpr* contents) {
    List made;
    made.made_at = &t;
    made.is_set = t.index != 0;
    const auto found = l.lists.types.find(&t);
    made.type = found == l.lists.types.end() ? NumberType{DType::Int64, true} : found->second;
    need_own_memory(l);
    TypedExpr values = own_view(l, made.word(), l.rules.dtype(made.type), 1);
    std::int64_t room = own_bytes(l) / itemsize(values.view().dtype);
    TypedExpr given_room;
    if (room == 0) {
        room = first_capacity;
        std::vector<TypedExpr> extents{integer(room)};
        if (contents && l.walk.builds()) {
            const Value n = value(l, contents->view().lead[1], DType::Int64);
            extents[0] = number({DType::Int64, true}, l.builder.max(l.builder.i64(room), l.builder.add(n, n)), 0);
        }
        sized_memory(l, values.view(), extents, t.place);
        given_room = extents[0];
    } else {
        values.view().pointer = l.builder.array(made.word(), values.view().dtype, room, ir::Space::Private);
    }
    values.view().lead = {integer(0), integer(room), integer(1)};
    const TypedExpr counts = own_memory(l, "count", DType::Int64, {integer(2)}, t.place);
    l.builder.store(counts.view().pointer, l.builder.i64(0), l.builder.i64(0));
    l.builder.store(counts.view().pointer, l.builder.i64(1), l.builder.i64(room));
    made.memory = {values, counts};
    const TypedExpr out{std::move(made)};
    if (contents) fill_list(l, out, *contents, given_room);
    return out;
}

TypedExpr elements_of(Memory& l, const TypedExpr& list) {
    TypedExpr out = list.list().memory[0];
    out.view().lead = {integer(0), list_length(l, list), integer(1)};
    return out;
}

TypedExpr changing_elements(Memory& l, const TypedExpr& list) {
    TypedExpr out = elements_of(l, list);
    if (l.walk.builds() && given_list(l, list)) out.view().guards.push_back({nothing_failed(l)});
    return out;
}

TypedExpr list_item(Memory& l, const TypedExpr& list, const View& place) {
    TypedExpr out = element(l, place);
    out.number().type.weak = list.list().type.weak;
    return out;
}

View list_place(Memory& l, const TypedExpr& list, std::span<const TypedExpr> indices, const Tree& t) {
    if (list.list().is_set) l.source.wrong_type(t.place, "a set has no order, and no element by index");
    if (indices.size() != 1 || indices[0].kind() != Kind::Number)
        l.source.wrong_type(t.place, "a list in a kernel is indexed with one integer; take parts of np.array(…) of it");
    return viewed(l, changing_elements(l, list).view(), indices, t);
}

void list_append(Memory& l, const TypedExpr& list, const TypedExpr& item, const Place& place) {
    note_item(l, list, item, place);
    l.host.uses_status = true;
    const View& values = list.list().elements();
    if (l.walk.finds_types()) return;
    const Value counts = counts_of(list).pointer, count = l.builder.load(counts, l.builder.i64(0));
    const std::int64_t room = own_bytes(l) / itemsize(values.dtype);
    const auto larger = [&] {
        const Value capacity = l.builder.load(counts, l.builder.i64(1)), twice = l.builder.add(capacity, capacity);
        const Value made = l.builder.resize(values.pointer, twice);
        l.builder.store(counts, l.builder.i64(1), l.builder.select(made, twice, capacity));
        return ir::Builder::Values{made};
    };
    const auto enough = [&] { return ir::Builder::Values{l.builder.boolean(true)}; };
    Value fits = room > 0 ? l.builder.lt(count, l.builder.i64(room))
                          : l.builder.if_else(l.builder.lt(count, l.builder.load(counts, l.builder.i64(1))), enough, larger)[0];
    if (given_list(l, list)) fits = l.builder.bit_and(fits, nothing_failed(l));
    const std::string most = room > 0 ? ": an item has room for " + std::to_string(room) + " here; pass an array for more" : "";
    fail_when(l, number({DType::Bool, false}, l.builder.bit_not(fits)), ErrorCode::Memory,
              "there is no memory for one more element of this " + std::string(list.list().word()) + most, place, {});
    const auto put = [&] {
        View open = values;
        const TypedExpr index[] = {number({DType::Int64, true}, count, 0)};
        store_element(l, view_at(l, open, index), item, place);
        set_list_length(l, list, l.builder.add(count, l.builder.i64(1)));
        return ir::Builder::Values();
    };
    l.builder.if_else(fits, put, [] { return ir::Builder::Values(); });
}

TypedExpr popped(Memory& l, const TypedExpr& list, const Place& place) {
    TypedExpr out = number({list.list().type}, ir::no_value);
    l.host.uses_status = true;
    if (l.walk.finds_types()) return out;
    const TypedExpr length = list_length(l, list);
    const Value count = value(l, length, DType::Int64), zero = l.builder.i64(0);
    fail_when(l, number({DType::Bool, false}, l.builder.eq(count, zero)), ErrorCode::Index,
              "pop from an empty " + std::string(list.list().word()), place, {});
    const TypedExpr index[] = {number({DType::Int64, true}, l.builder.max(l.builder.sub(count, l.builder.i64(1)), zero), 0)};
    out = list_item(l, list, view_at(l, list.list().elements(), index));
    set_list_length(l, list, value(l, index[0], DType::Int64));
    return out;
}

void cleared(Memory& l, const TypedExpr& list) { set_list_length(l, list, l.builder.i64(0)); }

TypedExpr same_length(Memory& l, const TypedExpr& set, const TypedExpr& length, const Place& place) {
    const Value before = value(l, length, DType::Int64);
    const TypedExpr changed = number({DType::Bool, false}, l.builder.ne(value(l, list_length(l, set), DType::Int64), before));
    fail_when(l, changed, ErrorCode::Internal, "this set changed its length while a loop went through it", place, {});
    return length;
}

}  // namespace pardo::lang

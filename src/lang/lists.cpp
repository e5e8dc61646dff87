// src/lang/lists.cpp: lists and sets of numbers that an item makes: their elements, and how many these are, lie in memory of its own.
#include <algorithm>

#include "lang/lowering.h"

namespace pardo::lang {
namespace {

constexpr std::int64_t first_capacity = 16;

const View& counts_of(const TypedExpr& list) { return list.list().counts(); }

}  // namespace

/// Notes a number that a list takes: where it changes what the list holds, the function is walked once more before it is built.
void Lowering::note_item(const TypedExpr& list, const TypedExpr& item, const Place& place) {
    if (item.kind() != Kind::Number) wrong_type(place, "lists and sets in a kernel hold numbers, not " + describe(item));
    const NumberType taken = item.number().type;
    const auto [found, is_new] = list_types_.try_emplace(list.list().made_at, taken);
    lists_changed_ = lists_changed_ || is_new;
    if (found->second == taken || (taken.dtype == DType::Bool && found->second.dtype == DType::Bool)) return;
    if (const GivenList* given = given_list(list);
        given && walk_.builds() && !(given->grows && given->filled && found->second.dtype == taken.dtype))
        // types are what they are in the end, and elements are to come back as Python has them
        wrong_type(place, "a list from before the loop holds " + describe(found->second) + ", and here is " + describe(item));
    NumberType type;
    if (!join(found->second, taken, type))
        wrong_type(place, "this " + std::string(list.list().word()) + " holds " + describe(found->second) + ", and here is " +
                              describe(item) + "; convert one of the two");
    lists_changed_ = lists_changed_ || !(type == found->second);
    found->second = type;
}

/// `contents`: what it starts with, an array.
TypedExpr Lowering::new_list(const Tree& t, const TypedExpr* contents) {
    List made;
    made.made_at = &t;
    made.is_set = t.index != 0;
    const auto found = list_types_.find(&t);
    made.type = found == list_types_.end() ? NumberType{DType::Int64, true} : found->second;
    need_own_memory();
    TypedExpr values = own_view(made.word(), dtype(made.type), 1);
    std::int64_t room = own_bytes() / itemsize(values.view().dtype);
    TypedExpr given_room;
    if (room == 0) {
        room = first_capacity;
        std::vector<TypedExpr> extents{integer(room)};
        if (contents && walk_.builds()) {
            const Value n = value(contents->view().lead[1], DType::Int64);
            extents[0] = number({DType::Int64, true}, builder_.max(builder_.i64(room), builder_.add(n, n)), 0);
        }
        sized_memory(values.view(), extents, t.place);
        given_room = extents[0];
    } else if (walk_.builds()) {
        values.view().pointer = builder_.array(made.word(), values.view().dtype, room, ir::Space::Private);
    }
    values.view().lead = {integer(0), integer(room), integer(1)};
    const TypedExpr counts = own_memory("count", DType::Int64, {integer(2)}, t.place);
    if (walk_.builds()) {
        builder_.store(counts.view().pointer, builder_.i64(0), builder_.i64(0));
        builder_.store(counts.view().pointer, builder_.i64(1), builder_.i64(room));
    }
    made.memory = {values, counts};
    const TypedExpr out{std::move(made)};
    if (contents) fill_list(out, *contents, given_room);
    return out;
}

/// The elements that a list starts with; `room`: 0 where there is no memory for them.
void Lowering::fill_list(const TypedExpr& list, const TypedExpr& contents, const TypedExpr& room) {
    note_access(contents.view(), ir::Access::Read);
    if (walk_.finds_types()) return;
    const Value counts = counts_of(list).pointer, capacity = value(room, DType::Int64);
    const Value n = builder_.min(value(contents.view().lead[1], DType::Int64), capacity);
    const auto copy = [&](Value i, std::span<const Value>) {
        const TypedExpr index[] = {number({DType::Int64, true}, i, 0)};
        const View from = view_at(contents.view(), index);
        builder_.store(list.list().elements().pointer, i, builder_.load(from.pointer, value(from.lead[0], DType::Int64)));
        return ir::Builder::Values();
    };
    builder_.for_loop(builder_.i64(0), n, builder_.i64(1), {}, copy);
    set_list_length(list, n);
    builder_.store(counts, builder_.i64(1), capacity);
}

/// What is known of a list of Python's that is an argument; null for others.
const GivenList* Lowering::given_list(const TypedExpr& list) const {
    if (!loop_) return nullptr;
    const auto found = std::ranges::find_if(loop_->lists, [&](const GivenList& g) { return &g.made == list.list().made_at; });
    return found == loop_->lists.end() ? nullptr : &*found;
}

/// Lists of Python's stay as they were when something failed, though iterations may go on.
Value Lowering::nothing_failed() { return builder_.eq(builder_.load(host_.status, builder_.i64(0)), builder_.i64(0)); }

/// Makes lists of the arguments that are lists of Python's.
void Lowering::take_lists() {
    for (const GivenList& g : loop_->lists) {
        const Variable v = scope_.at(g.name);
        if (own_bytes() > 0) wrong_type(g.made.place, "`" + g.name + "` is a Python list, which only the CPU takes; use an array");
        if (g.filled) {
            const NumberType given{v.expr.view().dtype, g.weak}, found = list_types_.try_emplace(&g.made, given).first->second;
            if (walk_.builds() && !(given == found) && !(g.grows && given.dtype == found.dtype))
                wrong_type(g.made.place, "`" + g.name + "` holds " + describe(given) + ", and the loop puts " + describe(found) +
                                             " into it; start with one like these");
        }
        scope_.set(g.name, {new_list(g.made, g.filled ? &v.expr : nullptr), v.place, false, ++versions_});
    }
}

/// Gives the host what they have become.
void Lowering::hand_lists() {
    std::int64_t at = 0;
    for (const GivenList& g : loop_->lists) {
        if (!g.changes) continue;
        const TypedExpr list = scope_.at(g.name).expr;
        const View& out = scope_.at(given_lists).expr.view();
        note_access(out, ir::Access::Write);
        if (walk_.finds_types()) continue;
        const Value count = value(list_length(list), DType::Int64);
        const bool is_weak = list.list().type.weak;
        const Value facts[] = {builder_.take_memory(list.list().elements().pointer, count), count,
                               builder_.i64(2 * static_cast<std::int64_t>(dtype(list.list().type)) + static_cast<std::int64_t>(is_weak))};
        for (const Value fact : facts) builder_.store(out.pointer, builder_.i64(at++), fact);
    }
}

TypedExpr Lowering::list(const Tree& t) {
    std::vector<TypedExpr> values;
    for (const Tree& p : t.parts) values.push_back(loaded(expression(p)));
    const TypedExpr out = new_list(t);
    for (std::size_t k = 0; k < values.size(); ++k) {
        if (t.index == 0)
            list_append(out, values[k], t.parts[k].place);
        else
            add_to_set(out, values[k], t.parts[k].place);
    }
    return out;
}

TypedExpr Lowering::list_length(const TypedExpr& list) {
    const Value count = walk_.value([&] { return builder_.load(counts_of(list).pointer, builder_.i64(0)); });
    TypedExpr out = number({DType::Int64, true}, count, 0);
    out.number().bits = 46;
    return out;
}

void Lowering::set_list_length(const TypedExpr& list, Value count) {
    if (given_list(list)) count = builder_.select(nothing_failed(), count, value(list_length(list), DType::Int64));
    builder_.store(counts_of(list).pointer, builder_.i64(0), count);
}

/// The elements as an array: what NumPy's functions make of a list.
TypedExpr Lowering::elements_of(const TypedExpr& list) {
    TypedExpr out = list.list().memory[0];
    out.view().lead = {integer(0), list_length(list), integer(1)};
    return out;
}

TypedExpr Lowering::changing_elements(const TypedExpr& list) {
    TypedExpr out = elements_of(list);
    if (walk_.builds() && given_list(list)) out.view().guards.push_back({nothing_failed()});
    return out;
}

/// An element as Python has it: what was put in.
TypedExpr Lowering::list_item(const TypedExpr& list, const View& place) {
    TypedExpr out = element(place);
    out.number().type.weak = list.list().type.weak;
    return out;
}

View Lowering::list_place(const TypedExpr& list, std::span<const TypedExpr> indices, const Tree& t) {
    if (list.list().is_set) wrong_type(t.place, "a set has no order, and no element by index");
    if (indices.size() != 1 || indices[0].kind() != Kind::Number)
        wrong_type(t.place, "a list in a kernel is indexed with one integer; take parts of np.array(…) of it");
    return viewed(changing_elements(list).view(), indices, t);
}

void Lowering::list_append(const TypedExpr& list, const TypedExpr& item, const Place& place) {
    note_item(list, item, place);
    host_.uses_status = true;
    const View& values = list.list().elements();
    if (walk_.finds_types()) return;
    const Value counts = counts_of(list).pointer, count = builder_.load(counts, builder_.i64(0));
    const std::int64_t room = own_bytes() / itemsize(values.dtype);
    const auto larger = [&] {
        const Value capacity = builder_.load(counts, builder_.i64(1)), twice = builder_.add(capacity, capacity);
        const Value made = builder_.resize(values.pointer, twice);
        builder_.store(counts, builder_.i64(1), builder_.select(made, twice, capacity));
        return ir::Builder::Values{made};
    };
    const auto enough = [&] { return ir::Builder::Values{builder_.boolean(true)}; };
    Value fits = room > 0 ? builder_.lt(count, builder_.i64(room))
                          : builder_.if_else(builder_.lt(count, builder_.load(counts, builder_.i64(1))), enough, larger)[0];
    if (given_list(list)) fits = builder_.bit_and(fits, nothing_failed());
    const std::string most = room > 0 ? ": an item has room for " + std::to_string(room) + " here; pass an array for more" : "";
    fail_when(number({DType::Bool, false}, builder_.bit_not(fits)), ErrorCode::Memory,
              "there is no memory for one more element of this " + std::string(list.list().word()) + most, place, {});
    const auto put = [&] {
        View open = values;
        const TypedExpr index[] = {number({DType::Int64, true}, count, 0)};
        store_element(view_at(open, index), item, place);
        set_list_length(list, builder_.add(count, builder_.i64(1)));
        return ir::Builder::Values();
    };
    builder_.if_else(fits, put, [] { return ir::Builder::Values(); });
}

void Lowering::add_to_set(const TypedExpr& set, const TypedExpr& item, const Place& place) {
    note_item(set, item, place);
    const TypedExpr known = contained(item, set, place);
    branch(
        known, place, [] {}, [&] { list_append(set, item, place); });
}

/// The last element, taken out.
TypedExpr Lowering::popped(const TypedExpr& list, const Place& place) {
    TypedExpr out = number({list.list().type}, ir::no_value);
    host_.uses_status = true;
    if (walk_.finds_types()) return out;
    const TypedExpr length = list_length(list);
    const Value count = value(length, DType::Int64), zero = builder_.i64(0);
    fail_when(number({DType::Bool, false}, builder_.eq(count, zero)), ErrorCode::Index,
              "pop from an empty " + std::string(list.list().word()), place, {});
    const TypedExpr index[] = {number({DType::Int64, true}, builder_.max(builder_.sub(count, builder_.i64(1)), zero), 0)};
    out = list_item(list, view_at(list.list().elements(), index));
    set_list_length(list, value(index[0], DType::Int64));
    return out;
}

void Lowering::cleared(const TypedExpr& list) {
    if (walk_.builds()) set_list_length(list, builder_.i64(0));
}

/// The length of a set that a loop goes through, which is to be what it was.
TypedExpr Lowering::same_length(const TypedExpr& set, const TypedExpr& length, const Place& place) {
    TypedExpr changed = number({DType::Bool, false}, walk_.value([&] {
        const Value before = value(length, DType::Int64);
        return builder_.ne(value(list_length(set), DType::Int64), before);
    }));
    fail_when(changed, ErrorCode::Internal, "this set changed its length while a loop went through it", place, {});
    return length;
}

/// item in values
TypedExpr Lowering::contained(const TypedExpr& item, const TypedExpr& values, const Place& place) {
    if (values.kind() == Kind::Tuple && values.tuple().names.empty()) {
        TypedExpr out = flag(false);
        for (std::size_t k = 0; k < values.tuple().items.size(); ++k) {
            const TypedExpr same = compared("==", item, field(values, k), place);
            if (same.kind() != Kind::Number)
                wrong_type(place, "`in` of a tuple compares numbers in a kernel; here are " + describe(item) + " and " +
                                      describe(values.tuple().items[k]));
            if (same.number().constant && same.number().scalar.b) return same;
            if (!same.number().constant)
                out = out.number().constant ? same : pure(Opcode::Or, {DType::Bool, false}, {out, same}, DType::Bool);
        }
        out.number().type.weak = true;  // as Python's
        return out;
    }
    const TypedExpr array = values.kind() == Kind::List ? elements_of(values) : values;
    if (!is_rows(array))
        wrong_type(place, "`in` looks through tuples, lists, sets and arrays of numbers in a kernel, not " + describe(values));
    const TypedExpr same = compared("==", item, array, place);
    if (same.kind() == Kind::Number) return same;  // None and texts are in no array
    TypedExpr out = reduced(same, {RowReduction::Any, place, "in", {}, integer(0)}, TypedExpr(), false);
    out.number().type.weak = true;
    return out;
}

/// values[i] of a tuple of numbers, where i is not known before the kernel runs.
TypedExpr Lowering::item_at(const TypedExpr& values, const TypedExpr& index, const Tree& t) {
    constexpr std::size_t most = 64;
    const std::size_t n = values.tuple().items.size();
    const std::string advice = "; which one it is must be known before the kernel runs";
    if (n == 0 || n > most)
        wrong_type(t.place, "a tuple of " + std::to_string(n) + " is indexed with a constant integer" + advice + ": use an array");
    NumberType type = loaded(field(values, 0)).number().type;
    std::vector<TypedExpr> items;
    for (std::size_t k = 0; k < n; ++k) {
        items.push_back(loaded(field(values, k)));
        if (items[k].kind() != Kind::Number)
            wrong_type(t.place, "a tuple that holds " + describe(items[k]) + " is indexed with a constant integer" + advice);
        if (!join(type, items[k].number().type, type))
            wrong_type(t.place, "this tuple holds " + describe(items[0]) + " and " + describe(items[k]) +
                                    ", and is indexed with a constant integer" + advice + ": convert one of the two");
    }
    const TypedExpr extent = integer(static_cast<std::int64_t>(n));
    std::vector<Guard> guards;
    const TypedExpr i = index_of(index, extent, t.place, guards);
    for (const Guard& g : guards)
        fail_when(number({DType::Bool, false}, builder_.bit_not(g.inside)), ErrorCode::Index,
                  "index $0 is out of range for a tuple of " + std::to_string(n), t.place, {number({DType::Int64, true}, g.index)});
    if (walk_.finds_types()) return number(type, ir::no_value);
    Value out = value(items[0], dtype(type));
    for (std::size_t k = 1; k < n; ++k) {
        const Value here = builder_.eq(value(i, DType::Int64), builder_.i64(static_cast<std::int64_t>(k)));
        out = builder_.select(here, value(items[k], dtype(type)), out);
    }
    return number(type, out);
}

}  // namespace pardo::lang

// src/lang/arrays.cpp: indexing, views, and arrays that a kernel makes for itself.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "lang/lowering.h"

namespace pardo::lang {

namespace {

constexpr std::int64_t most_private = 65536;  // bytes: compilers keep them in registers or on a small stack

}  // namespace

void Lowering::note_access(const View& v, ir::Access access) {
    if (v.source < 0) return;
    const auto k = static_cast<std::size_t>(v.source);
    const std::optional<ir::Access>& asserted = types_[k].asserted;
    if (asserted && (static_cast<int>(access) & ~static_cast<int>(*asserted)) != 0)
        wrong_type(at_, "`" + v.name +
                            (*asserted == ir::Access::Read ? "` is written here, but listed as read_only"
                                                           : "` is read here, but listed as write_only"));
    const int old = out_.used[k] ? static_cast<int>(out_.accesses[k]) : 0;
    out_.accesses[k] = static_cast<ir::Access>(old | static_cast<int>(access));
    out_.used[k] = true;
}

Value Lowering::guard_of(const View& v) {
    Value all = v.guards[0].inside;
    for (const Guard& g : std::span<const Guard>(v.guards).subspan(1)) all = builder_.bit_and(all, g.inside);
    return all;
}

ir::Builder::Values Lowering::guarded(const View& v, const std::function<ir::Builder::Values()>& access, ir::Builder::Values otherwise) {
    if (v.guards.empty()) return access();
    return builder_.if_else(guard_of(v), access, [&] {
        report_guards(v);
        return otherwise;
    });
}

/// Where an index is checked, launches may show that it is never negative.
Value Lowering::wrapped(Value i, Value extent) {
    if (options_.bounds_check) return builder_.wrap(i, extent);
    const Value from_end = builder_.add(i, extent);
    return builder_.select(builder_.lt(i, builder_.i64(0)), from_end, i);
}

/// An index as a place along an axis: negative ones count from the end.
TypedExpr Lowering::index_of(const TypedExpr& index, const TypedExpr& extent, const Place& place, std::vector<Guard>& guards) {
    if (index.kind() != Kind::Number || !is_integer(index.number().type.dtype)) {
        if (index.kind() == Kind::Number && index.number().type.dtype == DType::Bool)
            wrong_type(place, "an index is an integer, not a bool");
        wrong_type(place, "an index is an integer, not " + describe(index) +
                              (index.kind() == Kind::Number ? "; convert it with int(…) if that is meant" : ""));
    }
    check_range(rules(), index, DType::Int64, place);
    TypedExpr i = index.number().constant ? integer(index.number().scalar.cast(DType::Int64).i) : cast(index, {DType::Int64, true});
    i.number().least = std::max(i.number().least, index.number().least);
    if (i.number().constant && i.number().scalar.i < 0) {
        i = add(extent, i);
    } else if (!i.number().constant && i.number().least < 0) {
        if (walk_.builds()) {
            const Value whole = value(extent, DType::Int64);
            i = number({DType::Int64, true}, wrapped(value(i, DType::Int64), whole));
        }
    }
    const bool known =
        i.number().constant && extent.number().constant && i.number().scalar.i >= 0 && i.number().scalar.i < extent.number().scalar.i;
    if (!options_.bounds_check || known) return i;
    host_.uses_status = true;
    if (walk_.builds()) {
        const Value n = value(extent, DType::Int64);
        guards.push_back({builder_.inside(value(i, DType::Int64), n), value(index, DType::Int64), n, place, source_.function,
                          dtype(index.number().type) == DType::UInt64});
    }
    return i;
}

/// What stands between the brackets; a tuple in there stands for its items.
std::vector<TypedExpr> Lowering::indices_of(const Tree& t) {
    std::vector<TypedExpr> indices;
    for (std::size_t k = 1; k < t.parts.size(); ++k) indices.push_back(number_in(index_expression(t.parts[k])));
    if (indices.size() == 1 && indices[0].kind() == Kind::Tuple) return std::vector<TypedExpr>(indices[0].tuple().items);
    return indices;
}

/// A bound of a slice; Python takes integers and None.
TypedExpr Lowering::number_or_none(const TypedExpr& given, const Place& place) {
    if (given.kind() == Kind::None) return given;
    const TypedExpr bound = need_number(given, place, "slice");
    if (!is_integer(bound.number().type.dtype)) wrong_type(place, "a slice takes integers, not " + describe(bound));
    TypedExpr b = cast(bound, {DType::Int64, true});
    b.number().least = std::max(b.number().least, bound.number().least);
    return b;
}

/// Slices are clipped to the axis, as in Python.
std::array<TypedExpr, 3> Lowering::sliced(const TypedExpr& slice, const TypedExpr& extent, const Place& place) {
    const TypedExpr given = number_or_none(slice.slice().bounds[2], place), step = given.kind() == Kind::None ? integer(1) : given;
    const auto computed = [&](Value v, std::int64_t least) { return number({DType::Int64, true}, v, least); };
    if (step.number().constant && step.number().scalar.i == 0) fail(ErrorCode::Value, place, "slice step cannot be zero");
    if (!step.number().constant && step.number().least < 1) {
        TypedExpr zero = number({DType::Bool, false}, walk_.value([&] { return builder_.eq(value(step, DType::Int64), builder_.i64(0)); }));
        fail_when(zero, ErrorCode::Value, "slice step cannot be zero", place, {});
    }
    const bool up = step.number().least > 0, down = step.number().constant && step.number().scalar.i < 0;
    const auto either = [&](const std::function<Value()>& ascending, const std::function<Value()>& descending) {
        if (up) return ascending();
        if (down) return descending();
        return builder_.select(builder_.gt(value(step, DType::Int64), builder_.i64(0)), ascending(), descending());
    };
    const auto zero = [&] { return builder_.i64(0); };
    const auto minus_one = [&] { return builder_.i64(-1); };
    const auto size = [&] { return value(extent, DType::Int64); };
    const auto last = [&] { return builder_.sub(size(), builder_.i64(1)); };
    const auto bound = [&](const TypedExpr& at, bool is_start) {
        TypedExpr b = number_or_none(at, place);
        if (up && b.kind() == Kind::None) return is_start ? integer(0) : extent;
        if (up && b.number().constant && b.number().scalar.i == 0) return b;
        if (walk_.finds_types()) return computed(ir::no_value, up ? 0 : -1);
        if (b.kind() == Kind::None) {
            const Value v = is_start ? either(zero, last) : either(size, minus_one);
            return computed(v, up ? 0 : -1);
        }
        if (b.number().constant && b.number().scalar.i < 0)
            b = add(extent, b);
        else if (!b.number().constant && b.number().least < 0) {
            const Value given = value(b, DType::Int64), whole = size(), from_end = builder_.add(given, whole), none = zero();
            b = computed(builder_.select(builder_.lt(given, none), from_end, given), unknown_least);
        }
        const Value low = either(zero, minus_one), high = either(size, last);
        return computed(builder_.min(builder_.max(value(b, DType::Int64), low), high), up ? 0 : -1);
    };
    const TypedExpr start = bound(slice.slice().bounds[0], true), stop = bound(slice.slice().bounds[1], false);
    if (up && step.number().constant) {
        TypedExpr length = sub(stop, start);
        if (!(start.number().constant && start.number().scalar.i == 0)) {
            const Value none = walk_.value([&] { return zero(); });
            length = computed(walk_.value([&] { return builder_.max(value(length, DType::Int64), none); }), 0);
        }
        if (step.number().scalar.i > 1) {
            const TypedExpr rounded = add(length, integer(step.number().scalar.i - 1));
            length = computed(
                walk_.value([&] { return builder_.floor_div(value(rounded, DType::Int64), builder_.i64(step.number().scalar.i)); }), 0);
        }
        return {start, length, step};
    }
    if (walk_.finds_types()) return {start, computed(ir::no_value, 0), step};
    const auto count = [&] {
        const Value s = value(step, DType::Int64), from = value(start, DType::Int64), to = value(stop, DType::Int64);
        const Value distance = either([&] { return builder_.sub(to, from); }, [&] { return builder_.sub(from, to); });
        const Value apart = either([&] { return s; }, [&] { return builder_.neg(s); });
        const Value positive = builder_.max(distance, zero());
        const Value least_step = builder_.max(apart, builder_.i64(1));
        return builder_.floor_div(builder_.sub(builder_.add(positive, apart), builder_.i64(1)), least_step);
    };
    // Where there are no elements, nothing is to be computed from where the first one would be.
    const Value n = count(), none = zero(), from = value(start, DType::Int64), first = builder_.select(builder_.gt(n, none), from, none);
    return {computed(first, 0), computed(n, 0), step};
}

View Lowering::viewed(const View& v, std::span<const TypedExpr> given, const Tree& t) {
    const auto is_ellipsis = [](const TypedExpr& i) { return i.kind() == Kind::Slice && i.slice().bounds.empty(); };
    const auto count = [](std::span<const TypedExpr> all) {
        return std::ranges::count_if(all, [](const TypedExpr& i) { return i.kind() != Kind::None; });
    };
    std::vector<TypedExpr> indices(given.begin(), given.end());
    std::vector<std::size_t> places(indices.size());
    for (std::size_t k = 0; k < places.size(); ++k) places[k] = k;
    if (const auto at = std::ranges::find_if(indices, is_ellipsis); at != indices.end()) {
        if (std::count_if(at, indices.end(), is_ellipsis) > 1)
            fail(ErrorCode::Index, t.place, "an index can only have a single ellipsis ('...')");
        const auto k = at - indices.begin();
        const auto missing = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, v.rank - (count(indices) - 1)));
        indices.erase(at);
        indices.insert(indices.begin() + k, missing, whole_axis());
        const std::size_t own = places[static_cast<std::size_t>(k)];
        places.erase(places.begin() + k);
        places.insert(places.begin() + k, missing, own);
    }
    if (count(indices) > v.rank)
        fail(ErrorCode::Index, t.place,
             "`" + v.name + "` has " + std::to_string(v.rank) + (v.rank == 1 ? " dimension" : " dimensions") + ", but is indexed with " +
                 std::to_string(count(indices)) + " indices");
    View out = v;
    out.lead.clear();
    TypedExpr offset = v.lead[0];
    std::vector<TypedExpr> extents, strides;
    const auto rank = static_cast<std::size_t>(v.rank);
    std::size_t d = 0;
    for (std::size_t k = 0; k < indices.size(); ++k) {
        const TypedExpr& index = indices[k];
        if (index.kind() == Kind::None) {  // a new axis
            extents.push_back(integer(1));
            strides.push_back(integer(0));
            continue;
        }
        const TypedExpr &extent = v.lead[1 + d], &stride = v.lead[1 + rank + d];
        const Place& place = places[k] + 1 < t.parts.size() ? t.parts[places[k] + 1].place : t.place;
        ++d;
        if (index.kind() != Kind::Slice) {
            offset = add(offset, mul(index_of(index, extent, place, out.guards), stride));
            continue;
        }
        const auto [start, length, step] = sliced(index, extent, place);
        offset = add(offset, mul(start, stride));
        extents.push_back(length);
        strides.push_back(mul(stride, step));
    }
    for (; d < rank; ++d) {
        extents.push_back(v.lead[1 + d]);
        strides.push_back(v.lead[1 + rank + d]);
    }
    out.rank = static_cast<int>(extents.size());
    if (out.rank > 0 && walk_.builds()) {  // elements are asked for later, or never
        for (Guard& g : out.guards) {
            if (g.index == ir::no_value) continue;
            View one;
            one.guards.push_back(g);
            guarded(one, [] { return ir::Builder::Values(); }, {});
            g.index = ir::no_value;
        }
    }
    out.lead.push_back(offset);
    out.lead.insert(out.lead.end(), extents.begin(), extents.end());
    out.lead.insert(out.lead.end(), strides.begin(), strides.end());
    return out;
}

/// The view without its first dimension, at index i of that.
View Lowering::part_at(const View& v, const TypedExpr& i) {
    View part = v;
    const auto extents = v.lead.begin() + 1, strides = extents + v.rank;
    part.rank -= 1;
    part.lead = {add(v.lead[0], mul(i, *strides))};
    part.lead.insert(part.lead.end(), extents + 1, strides);
    part.lead.insert(part.lead.end(), strides + 1, v.lead.end());
    return part;
}

TypedExpr Lowering::element(const View& v) {
    note_access(v, ir::Access::Read);
    const NumberType type{v.dtype, false};
    if (walk_.finds_types()) return number(type, ir::no_value);
    const auto load = [&] {
        const Value place = value(v.lead[0], DType::Int64);
        check_written(v, place);
        return ir::Builder::Values{builder_.load(v.pointer, place)};
    };
    return number(type, guarded(v, load, {builder_.constant(v.dtype, 0.0)})[0]);
}

/// An item of a tuple; of a record's element its value.
TypedExpr Lowering::field(const TypedExpr& object, std::size_t k) {
    const TypedExpr& item = object.tuple().items[k];
    return is_element(object) ? number_in(item) : item;
}

/// Elements of records are views until their values are needed.
TypedExpr Lowering::loaded(const TypedExpr& t) {
    if (t.kind() != Kind::Tuple) return t;
    TypedExpr out = t;
    for (std::size_t k = 0; k < t.tuple().items.size(); ++k) out.tuple().items[k] = loaded(field(t, k));
    out.tuple().record = t.tuple().record && !is_element(t);
    return out;
}

/// An array without dimensions is its number where one is needed.
TypedExpr Lowering::number_in(const TypedExpr& t) { return t.kind() == Kind::Array && t.view().rank == 0 ? element(t.view()) : t; }

TypedExpr Lowering::part_of(const TypedExpr& object, const Tree& t) { return field(object, field_at(object, t)); }

/// Which item of a tuple is meant: by an attribute's name, a field's name in brackets, or a constant.
std::size_t Lowering::field_at(const TypedExpr& object, const Tree& t) {
    const TypedExpr index = t.form == Form::Attribute ? TypedExpr{t.name} : t.parts.size() < 2 ? tuple({}) : expression(t.parts[1]);
    if (index.kind() == Kind::Text) {
        const auto found = std::find(object.tuple().names.begin(), object.tuple().names.end(), index.text());
        if (found == object.tuple().names.end()) fail(ErrorCode::Value, t.place, describe(object) + " has no field `" + index.text() + "`");
        return static_cast<std::size_t>(found - object.tuple().names.begin());
    }
    if (t.parts.size() != 2 || index.kind() != Kind::Number || !index.number().constant || !is_integer(index.number().type.dtype))
        wrong_type(t.place, "a tuple is indexed with a constant integer: which one it is must be known before the kernel runs");
    const auto n = static_cast<std::int64_t>(object.tuple().items.size());
    const std::int64_t i = index.number().scalar.i < 0 ? index.number().scalar.i + n : index.number().scalar.i;
    if (i < 0 || i >= n)
        fail(ErrorCode::Index, t.place,
             "index " + std::to_string(index.number().scalar.i) + " is out of range for a tuple of " + std::to_string(n));
    return static_cast<std::size_t>(i);
}

/// An element of an array, or a part of it; of a struct of arrays, the struct of theirs.
TypedExpr Lowering::indexed(const TypedExpr& object, std::span<const TypedExpr> indices, const Tree& t) {
    if (object.kind() == Kind::Tuple) {
        TypedExpr out = tuple_like(object, {});
        out.tuple().columns = false;
        if (object.tuple().record) {
            const auto is_slice = [](const TypedExpr& i) { return i.kind() == Kind::Slice; };
            if (indices.size() > static_cast<std::size_t>(object.tuple().dimensions))
                fail(ErrorCode::Index, t.place,
                     describe(object) + " has " + std::to_string(object.tuple().dimensions) +
                         (object.tuple().dimensions == 1 ? " dimension" : " dimensions") + ", but is indexed with " +
                         std::to_string(indices.size()) + " indices");
            out.tuple().dimensions -= static_cast<int>(indices.size() - static_cast<std::size_t>(std::ranges::count_if(indices, is_slice)));
        }
        for (const TypedExpr& item : object.tuple().items) {
            if (object.tuple().record && item.kind() == Kind::Array) {
                out.tuple().items.push_back({viewed(item.view(), indices, t)});
            } else {
                out.tuple().items.push_back(indexed(item, indices, t));
            }
        }
        return out;
    }
    if (object.kind() == Kind::Number && !object.number().type.weak && indices.empty()) return object;  // x[()], as of NumPy's
    if (object.kind() != Kind::Array) wrong_type(t.place, describe(object) + " cannot be indexed; arrays and tuples can");
    if (const int k = array_index(source_, indices, t.place); k >= 0) {
        const TypedExpr& index = indices[static_cast<std::size_t>(k)];
        if (indices.size() == 1 && holds_bools(index)) return compressed(object.view(), index, t.place);
        return rows_expr(gathered(object.view(), indices, k, t).rows);
    }
    View out = viewed(object.view(), indices, t);
    return out.rank == 0 ? element(out) : TypedExpr{std::move(out)};
}

TypedExpr Lowering::subscript(const Tree& t) {
    const TypedExpr object = settled(expression(t.parts[0]), t.place);
    if (object.kind() == Kind::Item || object.kind() == Kind::NdItem) {
        Tree call = t;
        call.form = Form::Method;
        call.name = object.kind() == Kind::Item ? "get_id" : "get_global_id";
        return method(call);
    }
    if (object.kind() == Kind::List) return list_item(object, list_place(object, indices_of(t), t));
    const bool elements = is_indexed(object) && (t.parts.size() < 2 || t.parts[1].form != Form::Text);
    if (object.kind() == Kind::Tuple && !elements && t.parts.size() == 2) {
        const TypedExpr index = expression(t.parts[1]);
        if (index.kind() == Kind::Number && !index.number().constant && is_integer(index.number().type.dtype))
            return item_at(object, index, t);
    }
    return object.kind() == Kind::Tuple && !elements ? part_of(object, t) : indexed(object, indices_of(t), t);
}

void Lowering::store_element(const View& v, const TypedExpr& stored, const Place& place) {
    require_fits(rules(), v, stored, place);
    note_access(v, ir::Access::Write);
    if (walk_.finds_types()) {
        (void)value(stored, v.dtype);
        return;
    }
    const auto write = [&] {
        const Value place = value(v.lead[0], DType::Int64);
        builder_.store(v.pointer, place, value(stored, v.dtype));
        mark_written(v, place);
        return ir::Builder::Values();
    };
    guarded(v, write, {});
}

/// x[…] = a number for every element, a tuple of numbers, or an array.
void Lowering::store_view(const View& v, const TypedExpr& stored, const Place& place) {
    if (stored.kind() == Kind::Tuple) {
        if (v.rank != 1) wrong_type(place, "a tuple fills one dimension, and this part of `" + v.name + "` has " + std::to_string(v.rank));
        const TypedExpr& extent = v.lead[1];
        if (extent.number().constant && extent.number().scalar.i != static_cast<std::int64_t>(stored.tuple().items.size()))
            fail(ErrorCode::Value, place,
                 "a tuple of " + std::to_string(stored.tuple().items.size()) + " does not fill " +
                     std::to_string(extent.number().scalar.i) + " elements");
        for (std::size_t k = 0; k < stored.tuple().items.size(); ++k) {
            const View one = part_at(v, integer(static_cast<std::int64_t>(k)));
            store_element(one, stored.tuple().items[k], place);
        }
        return;
    }
    const TypedExpr value = number_in(stored);
    if (v.rank == 0) return store_element(v, value, place);
    store_rows(v, value, place);
}

/// True where a target names a field of a record, or of all records of an array. Fields of structs do not change.
bool Lowering::is_field(const TypedExpr& object, const Tree& target) const {
    const bool named = target.form == Form::Attribute || (target.parts.size() == 2 && target.parts[1].form == Form::Text);
    if (object.kind() == Kind::Tuple && object.tuple().record) return named || is_element(object);
    const bool is_struct = object.kind() == Kind::Tuple && !object.tuple().names.empty();
    if (is_struct && (named || first_part(object).kind() != Kind::Array))
        wrong_type(target.place, "the fields of a struct do not change; make another: p = p._replace(" + object.tuple().names[0] +
                                     "=…), or points[i] = …");
    if (target.form == Form::Attribute) wrong_type(target.place, describe(object) + " has no attribute that could be assigned");
    return false;
}

void Lowering::store(const Tree& target, const TypedExpr& stored, const Place& place) {
    const TypedExpr object = expression(target.parts[0]);
    if (object.kind() == Kind::List && target.form == Form::Subscript) {
        const TypedExpr item = loaded(stored);
        const View at = list_place(object, indices_of(target), target);
        note_item(object, item, place);
        return lists_changed_ ? void() : store_element(at, item, place);
    }
    if (is_field(object, target)) return store_into(object.tuple().items[field_at(object, target)], loaded(stored), target, place);
    if (object.kind() == Kind::Tuple && !is_indexed(object))
        wrong_type(target.place, "tuples do not change; make a new one, or use a private array");
    store_at(object, indices_of(target), target, loaded(stored), place);
}

/// Records take records, structs and tuples field by field.
void Lowering::store_into(const TypedExpr& object, const TypedExpr& stored, const Tree& target, const Place& place) {
    if (object.kind() == Kind::Array) return store_view(object.view(), stored, place);
    if (stored.kind() != Kind::Tuple || stored.tuple().items.size() != object.tuple().items.size() ||
        (!stored.tuple().names.empty() && stored.tuple().names != object.tuple().names))
        wrong_type(place, "here is " + describe(object) + ", which cannot take " + describe(stored));
    for (std::size_t k = 0; k < object.tuple().items.size(); ++k)
        store_into(object.tuple().items[k], stored.tuple().items[k], target, place);
}

/// Structs go into structs of arrays field by field.
void Lowering::store_at(const TypedExpr& object, std::span<const TypedExpr> indices, const Tree& target, const TypedExpr& stored,
                        const Place& place) {
    if (object.kind() == Kind::Tuple && object.tuple().record) return store_into(indexed(object, indices, target), stored, target, place);
    if (object.kind() == Kind::Tuple) {
        if (stored.kind() != Kind::Tuple || stored.tuple().items.size() != object.tuple().items.size() ||
            stored.tuple().names != object.tuple().names ||
            (stored.tuple().structure && object.tuple().structure && stored.tuple().structure != object.tuple().structure))
            wrong_type(place, "an element here is " + describe(object) + ", which cannot take " + describe(stored));
        for (std::size_t k = 0; k < object.tuple().items.size(); ++k)
            store_at(object.tuple().items[k], indices, target, stored.tuple().items[k], place);
        return;
    }
    if (object.kind() != Kind::Array) wrong_type(target.place, describe(object) + " has no elements that could be assigned");
    if (const int k = array_index(source_, indices, place); k >= 0) {
        const TypedExpr& index = indices[static_cast<std::size_t>(k)];
        if (indices.size() == 1 && holds_bools(index)) {
            if (stored.kind() != Kind::Number)
                wrong_type(place, "where a mask says so, a number is stored in a kernel, not " + describe(stored) + "; write np.where(…)");
            return store_masked(
                object.view(), index, [&](const TypedExpr&) { return stored; }, place);
        }
        return store_gathered(gathered(object.view(), indices, k, target), object.view().name, stored, place);
    }
    note_own_element(object.view(), indices);
    store_view(viewed(object.view(), indices, target), stored, place);
}

/// Notes a store to an argument's element at the item's own place, to which each item comes: where the index space has the array's shape,
/// nothing is left out.
void Lowering::note_own_element(const View& v, std::span<const TypedExpr> indices) {
    if (walk_.finds_types() || !builder_.is_unconditional() || v.source < 0 || static_cast<std::size_t>(v.source) >= types_.size()) return;
    const auto declared =
        std::ranges::find_if(arguments_, [&](const TypedExpr& a) { return a.kind() == Kind::Array && a.view().source == v.source; });
    if (declared == arguments_.end() || declared->view().pointer != v.pointer) return;
    if (!std::ranges::equal(v.lead, declared->view().lead, [&](const auto& a, const auto& b) { return known_equal(walk_, a, b); })) return;
    const int rank = builder_rank(space_, loop_);
    if (v.rank != rank || indices.size() != static_cast<std::size_t>(rank)) return;
    for (int d = 0; d < rank; ++d) {
        const auto at = static_cast<std::size_t>(d);
        if (indices[at].kind() != Kind::Number || indices[at].number().constant || !is_integer(indices[at].number().type.dtype)) return;
        const Value index = value(indices[at]);
        if (loop_ ? at >= own_indices_.size() || index != own_indices_[at] : !builder_.is_dim(index, d)) return;
    }
    out_.own_elements[static_cast<std::size_t>(v.source)] = true;
}

/// An array of the kernel's own, without memory and extents yet.
TypedExpr Lowering::own_view(const std::string& name, DType dtype, std::size_t rank) {
    View v;
    v.dtype = dtype;
    v.name = name;
    v.source = -1 - arrays_++;
    v.rank = static_cast<int>(rank);
    return {std::move(v)};
}

TypedExpr Lowering::own_array(ir::Space space, const std::string& name, DType dtype, const std::vector<std::int64_t>& extents,
                              const Place& place) {
    TypedExpr t = own_view(name, dtype, extents.size());
    std::int64_t count = 1;
    std::vector<TypedExpr> strides;
    for (std::size_t d = extents.size(); d-- > 0;) {
        strides.insert(strides.begin(), integer(count));
        if (__builtin_mul_overflow(count, extents[d], &count)) count = most_private + 1;
    }
    if (space == ir::Space::Private && count > most_private / itemsize(dtype))
        fail(ErrorCode::Value, place,
             "an array of one item takes at most " + std::to_string(most_private) + " bytes; use an argument for more");
    t.view().lead.push_back(integer(0));
    for (const std::int64_t n : extents) t.view().lead.push_back(integer(n));
    t.view().lead.insert(t.view().lead.end(), strides.begin(), strides.end());
    if (walk_.builds()) t.view().pointer = builder_.array(name, dtype, count, space);
    return t;
}

TypedExpr Lowering::unwritten_array(ir::Space space, const std::string& name, DType dtype, const std::vector<std::int64_t>& extents,
                                    const Place& place) {
    const TypedExpr t = own_array(space, name, dtype, extents, place);
    std::int64_t count = 1;
    for (const std::int64_t n : extents) count *= n;
    track_writes(t.view(), count, space);
    return t;
}

}  // namespace pardo::lang

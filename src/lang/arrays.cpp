// src/lang/arrays.cpp: indexing, views, and arrays that a kernel makes for itself.
#include <algorithm>

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
    return builder_.select(builder_.lt(i, builder_.i64(0)), builder_.add(i, extent), i);
}

/// An index as a place along an axis: negative ones count from the end.
TypedExpr Lowering::index_of(const TypedExpr& index, const TypedExpr& extent, const Place& place, std::vector<Guard>& guards) {
    if (index.kind != Kind::Number || !is_integer(index.type.dtype)) {
        if (index.kind == Kind::Number && index.type.dtype == DType::Bool) wrong_type(place, "an index is an integer, not a bool");
        wrong_type(place, "an index is an integer, not " + describe(index) +
                              (index.kind == Kind::Number ? "; convert it with int(…) if that is meant" : ""));
    }
    check_range(index, DType::Int64, place);
    TypedExpr i = index.constant ? integer(index.scalar.cast(DType::Int64).i) : cast(index, {DType::Int64, true});
    i.least = std::max(i.least, index.least);
    if (i.constant && i.scalar.i < 0) {
        i = add(extent, i);
    } else if (!i.constant && i.least < 0) {
        if (!dry_) i = number({DType::Int64, true}, wrapped(value(i, DType::Int64), value(extent, DType::Int64)));
    }
    const bool known = i.constant && extent.constant && i.scalar.i >= 0 && i.scalar.i < extent.scalar.i;
    if (!options_.bounds_check || known) return i;
    uses_status_ = true;
    if (!dry_) {
        const Value n = value(extent, DType::Int64);
        guards.push_back({builder_.inside(value(i, DType::Int64), n), value(index, DType::Int64), n, place, function_,
                          dtype(index.type) == DType::UInt64});
    }
    return i;
}

/// What stands between the brackets; a tuple in there stands for its items.
std::vector<TypedExpr> Lowering::indices_of(const Tree& t) {
    std::vector<TypedExpr> indices;
    for (std::size_t k = 1; k < t.parts.size(); ++k) indices.push_back(index_expression(t.parts[k]));
    if (indices.size() == 1 && indices[0].kind == Kind::Tuple) return std::vector<TypedExpr>(indices[0].items);
    return indices;
}

View Lowering::viewed(const View& v, std::span<const TypedExpr> indices, const Tree& t) {
    if (static_cast<int>(indices.size()) > v.rank)
        fail(ErrorCode::Index, t.place,
             "`" + v.name + "` has " + std::to_string(v.rank) + (v.rank == 1 ? " dimension" : " dimensions") + ", but is indexed with " +
                 std::to_string(indices.size()) + " indices");
    View out = v;
    out.lead.clear();
    TypedExpr offset = v.lead[0];
    std::vector<TypedExpr> extents, strides;
    const auto rank = static_cast<std::size_t>(v.rank);
    for (std::size_t d = 0; d < rank; ++d) {
        const TypedExpr &extent = v.lead[1 + d], &stride = v.lead[1 + rank + d];
        if (d >= indices.size()) {
            extents.push_back(extent);
            strides.push_back(stride);
            continue;
        }
        const TypedExpr& index = indices[d];
        const Place& place = d + 1 < t.parts.size() ? t.parts[d + 1].place : t.place;
        if (index.kind != Kind::Slice) {
            offset = add(offset, mul(index_of(index, extent, place, out.guards), stride));
            continue;
        }
        // Slices are clipped to the axis, as in Python.
        const TypedExpr step = index.items[2].kind == Kind::None ? integer(1) : index.items[2];
        need_number(step, place, "slice");
        if (!step.constant || step.scalar.i <= 0) fail(ErrorCode::Value, place, "the step of a slice in a kernel is a positive constant");
        const auto bound = [&](const TypedExpr& given, const TypedExpr& otherwise) {
            if (given.kind == Kind::None) return otherwise;
            need_number(given, place, "slice");
            if (!is_integer(given.type.dtype)) wrong_type(place, "a slice takes integers, not " + describe(given));
            TypedExpr b = cast(given, {DType::Int64, true});
            b.least = std::max(b.least, given.least);
            if (b.constant && b.scalar.i < 0)
                b = add(extent, b);
            else if (!b.constant && b.least < 0 && !dry_)
                b = number({DType::Int64, true}, builder_.select(builder_.lt(b.value, builder_.i64(0)),
                                                                 builder_.add(b.value, value(extent, DType::Int64)), b.value));
            if (b.constant && b.scalar.i == 0) return b;
            if (dry_) return number({DType::Int64, true}, ir::no_value, 0);
            const Value low = builder_.max(value(b, DType::Int64), builder_.i64(0));
            return number({DType::Int64, true}, builder_.min(low, value(extent, DType::Int64)), 0);
        };
        const TypedExpr start = bound(index.items[0], integer(0)), stop = bound(index.items[1], extent);
        TypedExpr length = sub(stop, start);
        if (!(start.constant && start.scalar.i == 0)) {
            if (dry_)
                length = number({DType::Int64, true}, ir::no_value, 0);
            else
                length = number({DType::Int64, true}, builder_.max(value(length, DType::Int64), builder_.i64(0)), 0);
        }
        if (step.scalar.i > 1) {
            const TypedExpr rounded = add(length, integer(step.scalar.i - 1));
            length = number({DType::Int64, true},
                            dry_ ? ir::no_value : builder_.floor_div(value(rounded, DType::Int64), builder_.i64(step.scalar.i)), 0);
        }
        offset = add(offset, mul(start, stride));
        extents.push_back(length);
        strides.push_back(mul(stride, step));
    }
    out.rank = static_cast<int>(extents.size());
    if (out.rank > 0 && !dry_) {  // elements are asked for later, or never
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
    if (dry_) return number(type, ir::no_value);
    const auto load = [&] {
        const Value place = value(v.lead[0], DType::Int64);
        check_written(v, place);
        return ir::Builder::Values{builder_.load(v.pointer, place)};
    };
    return number(type, guarded(v, load, {builder_.constant(v.dtype, 0.0)})[0]);
}

/// An item of a tuple; of a record's element its value.
TypedExpr Lowering::field(const TypedExpr& object, std::size_t k) {
    const TypedExpr& item = object.items[k];
    return is_element(object) && item.kind == Kind::Array && item.view.rank == 0 ? element(item.view) : item;
}

/// Elements of records are views until their values are needed.
TypedExpr Lowering::loaded(const TypedExpr& t) {
    if (t.kind != Kind::Tuple) return t;
    TypedExpr out = t;
    for (std::size_t k = 0; k < t.items.size(); ++k) out.items[k] = loaded(field(t, k));
    out.record = t.record && !is_element(t);
    return out;
}

TypedExpr Lowering::part_of(const TypedExpr& object, const Tree& t) { return field(object, field_at(object, t)); }

/// Which item of a tuple is meant: by an attribute's name, a field's name in brackets, or a constant.
std::size_t Lowering::field_at(const TypedExpr& object, const Tree& t) {
    TypedExpr index;
    if (t.form == Form::Attribute) {
        index.kind = Kind::Text;
        index.text = t.name;
    } else {
        index = expression(t.parts[1]);
    }
    if (index.kind == Kind::Text) {
        const auto found = std::find(object.names.begin(), object.names.end(), index.text);
        if (found == object.names.end()) fail(ErrorCode::Value, t.place, describe(object) + " has no field `" + index.text + "`");
        return static_cast<std::size_t>(found - object.names.begin());
    }
    if (t.parts.size() != 2 || index.kind != Kind::Number || !index.constant || !is_integer(index.type.dtype))
        wrong_type(t.place, "a tuple is indexed with a constant integer: which one it is must be known before the kernel runs");
    const auto n = static_cast<std::int64_t>(object.items.size());
    const std::int64_t i = index.scalar.i < 0 ? index.scalar.i + n : index.scalar.i;
    if (i < 0 || i >= n)
        fail(ErrorCode::Index, t.place, "index " + std::to_string(index.scalar.i) + " is out of range for a tuple of " + std::to_string(n));
    return static_cast<std::size_t>(i);
}

/// An element of an array, or a part of it; of a struct of arrays, the struct of theirs.
TypedExpr Lowering::indexed(const TypedExpr& object, std::span<const TypedExpr> indices, const Tree& t) {
    if (object.kind == Kind::Tuple) {
        TypedExpr out = tuple_like(object, {});
        out.columns = false;
        if (object.record) {
            const auto is_slice = [](const TypedExpr& i) { return i.kind == Kind::Slice; };
            if (indices.size() > static_cast<std::size_t>(object.dimensions))
                fail(ErrorCode::Index, t.place,
                     describe(object) + " has " + std::to_string(object.dimensions) +
                         (object.dimensions == 1 ? " dimension" : " dimensions") + ", but is indexed with " +
                         std::to_string(indices.size()) + " indices");
            out.dimensions -= static_cast<int>(indices.size() - static_cast<std::size_t>(std::ranges::count_if(indices, is_slice)));
        }
        for (const TypedExpr& item : object.items) {
            if (object.record && item.kind == Kind::Array) {
                out.items.push_back(item);
                out.items.back().view = viewed(item.view, indices, t);
            } else {
                out.items.push_back(indexed(item, indices, t));
            }
        }
        return out;
    }
    if (object.kind != Kind::Array) wrong_type(t.place, describe(object) + " cannot be indexed; arrays and tuples can");
    TypedExpr out = object;
    out.view = viewed(object.view, indices, t);
    return out.view.rank == 0 ? element(out.view) : out;
}

TypedExpr Lowering::subscript(const Tree& t) {
    const TypedExpr object = expression(t.parts[0]);
    if (object.kind == Kind::Item || object.kind == Kind::NdItem) {
        Tree call = t;
        call.form = Form::Method;
        call.name = object.kind == Kind::Item ? "get_id" : "get_global_id";
        return method(call);
    }
    const bool elements = is_indexed(object) && t.parts[1].form != Form::Text;
    return object.kind == Kind::Tuple && !elements ? part_of(object, t) : indexed(object, indices_of(t), t);
}

/// Refuses an integer of the program that does not fit the dtype.
void Lowering::check_range(const TypedExpr& t, DType to, const Place& place) const {
    if (!t.constant || !t.type.weak || !is_integer(dtype(t.type)) || !is_integer(to)) return;
    const bool large = t.type.dtype == DType::UInt64;
    if (large ? to == DType::UInt64 : t.scalar.cast(to).i == t.scalar.i && !(to == DType::UInt64 && t.scalar.i < 0)) return;
    fail(ErrorCode::Overflow, place,
         "Python integer " + (large ? std::to_string(t.scalar.u) : std::to_string(t.scalar.i)) + " out of bounds for " +
             std::string(dtype_name(to)));
}

void Lowering::store_element(const View& v, const TypedExpr& stored, const Place& place) {
    if (stored.kind != Kind::Number) wrong_type(place, "an element of `" + v.name + "` is a number, not " + describe(stored));
    const DType from = dtype(stored.type);
    bool fits = can_cast_same_kind(from, v.dtype);
    if (stored.type.weak && is_integer(from) && is_integer(v.dtype)) fits = true;
    if (!fits) {
        const std::string how = v.dtype == DType::Bool ? "compare it: `… != 0`"
                                : is_complex(from)     ? "take .real or abs(…)"
                                                       : "convert it: np." + std::string(dtype_name(v.dtype)) + "(…)";
        wrong_type(place, "`" + v.name + "` holds " + std::string(dtype_name(v.dtype)) + ", which cannot take " + describe(stored) +
                              " without loss; " + how);
    }
    check_range(stored, v.dtype, place);
    note_access(v, ir::Access::Write);
    if (dry_) {
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

/// Calls body(i) for each i below the extent: a loop, or once each for small constants.
void Lowering::each_index(const TypedExpr& extent, const std::function<void(const TypedExpr&)>& body) {
    constexpr std::int64_t most_copies = 8;
    if (extent.constant && extent.scalar.i <= most_copies) {
        for (std::int64_t i = 0; i < extent.scalar.i; ++i) body(integer(i));
        return;
    }
    if (dry_) return body(number({DType::Int64, true}, ir::no_value, 0));
    builder_.for_loop(builder_.i64(0), value(extent, DType::Int64), builder_.i64(1), {}, [&](Value index, std::span<const Value>) {
        body(number({DType::Int64, true}, index, 0));
        return ir::Builder::Values();
    });
}

/// x[…] = a number for every element, or an array of as many dimensions.
void Lowering::store_view(const View& v, const TypedExpr& stored, const Place& place) {
    if (stored.kind == Kind::Array && stored.view.rank != v.rank)
        fail(ErrorCode::Value, place,
             "a part of `" + v.name + "` with " + std::to_string(v.rank) + " dimensions cannot take " + describe(stored));
    if (stored.kind == Kind::Tuple) {
        if (v.rank != 1) wrong_type(place, "a tuple fills one dimension, and this part of `" + v.name + "` has " + std::to_string(v.rank));
        const TypedExpr& extent = v.lead[1];
        if (extent.constant && extent.scalar.i != static_cast<std::int64_t>(stored.items.size()))
            fail(ErrorCode::Value, place,
                 "a tuple of " + std::to_string(stored.items.size()) + " does not fill " + std::to_string(extent.scalar.i) + " elements");
        for (std::size_t k = 0; k < stored.items.size(); ++k) {
            const View one = part_at(v, integer(static_cast<std::int64_t>(k)));
            store_element(one, stored.items[k], place);
        }
        return;
    }
    if (v.rank == 0) return store_element(v, stored.kind == Kind::Array ? element(stored.view) : stored, place);
    TypedExpr extent = v.lead[1];
    if (stored.kind == Kind::Array) {  // lengths must agree
        const TypedExpr& given = stored.view.lead[1];
        if (extent.constant && given.constant && extent.scalar.i != given.scalar.i)
            fail(ErrorCode::Value, place, std::to_string(given.scalar.i) + " elements do not fill " + std::to_string(extent.scalar.i));
        if (!(extent.constant && given.constant)) {
            TypedExpr differ = number({DType::Bool, false}, ir::no_value);
            if (!dry_) differ.value = builder_.ne(value(extent, DType::Int64), value(given, DType::Int64));
            fail_when(differ, ErrorCode::Value, "$0 elements do not fill $1", place, {given, extent});
            extent = number({DType::Int64, true},
                            dry_ ? ir::no_value : builder_.min(value(extent, DType::Int64), value(given, DType::Int64)), 0);
        }
    }
    each_index(extent, [&](const TypedExpr& i) {
        const View target = part_at(v, i);
        if (stored.kind != Kind::Array) return store_view(target, stored, place);
        TypedExpr source = stored;
        source.view = part_at(stored.view, i);
        store_view(target, source, place);
    });
}

/// True where a target names a field of a record, or of all records of an array. Fields of structs do not change.
bool Lowering::is_field(const TypedExpr& object, const Tree& target) const {
    const bool named = target.form == Form::Attribute || (target.parts.size() == 2 && target.parts[1].form == Form::Text);
    if (object.kind == Kind::Tuple && object.record) return named || is_element(object);
    const bool is_struct = object.kind == Kind::Tuple && !object.names.empty();
    if (is_struct && (named || first_part(object).kind != Kind::Array))
        wrong_type(target.place,
                   "the fields of a struct do not change; make another: p = p._replace(" + object.names[0] + "=…), or points[i] = …");
    if (target.form == Form::Attribute) wrong_type(target.place, describe(object) + " has no attribute that could be assigned");
    return false;
}

void Lowering::store(const Tree& target, const TypedExpr& stored, const Place& place) {
    const TypedExpr object = expression(target.parts[0]);
    if (is_field(object, target)) return store_into(object.items[field_at(object, target)], loaded(stored), target, place);
    if (object.kind == Kind::Tuple && !is_indexed(object))
        wrong_type(target.place, "tuples do not change; make a new one, or use a private array");
    store_at(object, indices_of(target), target, loaded(stored), place);
}

/// Records take records, structs and tuples field by field.
void Lowering::store_into(const TypedExpr& object, const TypedExpr& stored, const Tree& target, const Place& place) {
    if (object.kind == Kind::Array) return store_view(object.view, stored, place);
    if (stored.kind != Kind::Tuple || stored.items.size() != object.items.size() || (!stored.names.empty() && stored.names != object.names))
        wrong_type(place, "here is " + describe(object) + ", which cannot take " + describe(stored));
    for (std::size_t k = 0; k < object.items.size(); ++k) store_into(object.items[k], stored.items[k], target, place);
}

/// Structs go into structs of arrays field by field.
void Lowering::store_at(const TypedExpr& object, std::span<const TypedExpr> indices, const Tree& target, const TypedExpr& stored,
                        const Place& place) {
    if (object.kind == Kind::Tuple && object.record) return store_into(indexed(object, indices, target), stored, target, place);
    if (object.kind == Kind::Tuple) {
        if (stored.kind != Kind::Tuple || stored.items.size() != object.items.size() || stored.names != object.names ||
            (stored.structure && object.structure && stored.structure != object.structure))
            wrong_type(place, "an element here is " + describe(object) + ", which cannot take " + describe(stored));
        for (std::size_t k = 0; k < object.items.size(); ++k) store_at(object.items[k], indices, target, stored.items[k], place);
        return;
    }
    if (object.kind != Kind::Array) wrong_type(target.place, describe(object) + " has no elements that could be assigned");
    store_view(viewed(object.view, indices, target), stored, place);
}

std::vector<std::int64_t> Lowering::constant_extents(const TypedExpr& t, const Place& place, const char* op_name) const {
    std::vector<std::int64_t> extents;
    const auto take = [&](const TypedExpr& e) {
        if (e.kind != Kind::Number || !e.constant || !is_integer(e.type.dtype))
            fail(ErrorCode::Type, place,
                 std::string(op_name) + ": the shape must be known before the kernel runs: integers, or arguments annotated as Const");
        if (e.scalar.i <= 0)
            fail(ErrorCode::Value, place, std::string(op_name) + ": extents are positive, not " + std::to_string(e.scalar.i));
        extents.push_back(e.scalar.i);
    };
    if (t.kind == Kind::Tuple) {
        for (const TypedExpr& e : t.items) take(e);
    } else {
        take(t);
    }
    if (extents.empty()) fail(ErrorCode::Value, place, std::string(op_name) + ": the shape is empty");
    return extents;
}

TypedExpr Lowering::own_array(ir::Space space, const std::string& name, DType dtype, const std::vector<std::int64_t>& extents,
                              const Place& place) {
    TypedExpr t;
    t.kind = Kind::Array;
    t.view.dtype = dtype;
    t.view.name = name;
    t.view.source = -1 - arrays_++;
    t.view.rank = static_cast<int>(extents.size());
    std::int64_t count = 1;
    std::vector<TypedExpr> strides;
    for (std::size_t d = extents.size(); d-- > 0;) {
        strides.insert(strides.begin(), integer(count));
        if (__builtin_mul_overflow(count, extents[d], &count)) count = most_private + 1;
    }
    if (space == ir::Space::Private && count > most_private / itemsize(dtype))
        fail(ErrorCode::Value, place,
             "an array of one item takes at most " + std::to_string(most_private) + " bytes; use an argument for more");
    t.view.lead.push_back(integer(0));
    for (const std::int64_t n : extents) t.view.lead.push_back(integer(n));
    t.view.lead.insert(t.view.lead.end(), strides.begin(), strides.end());
    if (!dry_) t.view.pointer = builder_.array(name, dtype, count, space);
    return t;
}

TypedExpr Lowering::unwritten_array(ir::Space space, const std::string& name, DType dtype, const std::vector<std::int64_t>& extents,
                                    const Place& place) {
    const TypedExpr t = own_array(space, name, dtype, extents, place);
    std::int64_t count = 1;
    for (const std::int64_t n : extents) count *= n;
    track_writes(t.view, count, space);
    return t;
}

}  // namespace pardo::lang

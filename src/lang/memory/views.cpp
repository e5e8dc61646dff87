// src/lang/memory/views.cpp: indices, views of arrays, and their elements.
#include "lang/memory/views.h"

#include <algorithm>
#include <array>

#include "lang/memory/own.h"
#include "lang/numbers/failures.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang {

void note_access(Memory& l, const View& v, ir::Access access) {
    if (v.source < 0) return;
    const auto k = static_cast<std::size_t>(v.source);
    const std::optional<ir::Access>& asserted = l.task.types[k].asserted;
    if (asserted && (static_cast<int>(access) & ~static_cast<int>(*asserted)) != 0)
        l.source.wrong_type(l.at, "`" + v.name +
                                      (*asserted == ir::Access::Read ? "` is written here, but listed as read_only"
                                                                     : "` is read here, but listed as write_only"));
    const int old = l.out.used[k] ? static_cast<int>(l.out.accesses[k]) : 0;
    l.out.accesses[k] = static_cast<ir::Access>(old | static_cast<int>(access));
    l.out.used[k] = true;
}

namespace {

Value guard_of(Memory& l, const View& v) {
    Value all = v.guards[0].inside;
    for (const Guard& g : std::span<const Guard>(v.guards).subspan(1)) all = l.builder.bit_and(all, g.inside);
    return all;
}

/// Reports those of a view's indices that are out of range, where one is.
void report_guards(Emit& l, const View& v) {
    const auto nothing = [] { return ir::Builder::Values(); };
    for (const Guard& g : v.guards) {
        if (g.index == ir::no_value) continue;
        const Value values[] = {g.index, g.extent};
        const auto tell = [&] {
            const std::string index = g.large ? "$u0" : "$0";
            report(l, ErrorCode::Index, "index " + index + " is out of bounds for an axis of size $1", g.place, values, g.function);
        };
        if (v.guards.size() == 1) {
            tell();
            continue;
        }
        l.builder.if_else(g.inside, nothing, [&] {
            tell();
            return nothing();
        });
    }
}

}  // namespace

ir::Builder::Values guarded(Memory& l, const View& v, const std::function<ir::Builder::Values()>& access, ir::Builder::Values otherwise) {
    if (v.guards.empty() || l.walk.finds_types()) return access();
    return l.builder.if_else(guard_of(l, v), access, [&] {
        report_guards(l, v);
        return otherwise;
    });
}

namespace {

/// Where an index is checked, launches may show that it is never negative.
Value wrapped(Memory& l, Value i, Value extent) {
    if (l.task.options.bounds_check) return l.builder.wrap(i, extent);
    const Value from_end = l.builder.add(i, extent);
    return l.builder.select(l.builder.lt(i, l.builder.i64(0)), from_end, i);
}

}  // namespace

TypedExpr index_of(Memory& l, const TypedExpr& index, const TypedExpr& extent, const Place& place, std::vector<Guard>& guards) {
    if (index.kind() != Kind::Number || !is_integer(index.number().type.dtype)) {
        if (index.kind() == Kind::Number && index.number().type.dtype == DType::Bool)
            l.source.wrong_type(place, "an index is an integer, not a bool");
        l.source.wrong_type(place, "an index is an integer, not " + describe(index) +
                                       (index.kind() == Kind::Number ? "; convert it with int(…) if that is meant" : ""));
    }
    check_range(l.rules, index, DType::Int64, place);
    TypedExpr i = index.number().constant ? integer(index.number().scalar.cast(DType::Int64).i) : cast(l, index, {DType::Int64, true});
    i.number().least = std::max(i.number().least, index.number().least);
    if (i.number().constant && i.number().scalar.i < 0) {
        i = add(l, extent, i);
    } else if (!i.number().constant && i.number().least < 0) {
        if (l.walk.builds()) {
            const Value whole = value(l, extent, DType::Int64);
            i = number({DType::Int64, true}, wrapped(l, value(l, i, DType::Int64), whole));
        }
    }
    const bool known =
        i.number().constant && extent.number().constant && i.number().scalar.i >= 0 && i.number().scalar.i < extent.number().scalar.i;
    if (!l.task.options.bounds_check || known) return i;
    l.host.uses_status = true;
    if (l.walk.builds()) {
        const Value n = value(l, extent, DType::Int64);
        guards.push_back({l.builder.inside(value(l, i, DType::Int64), n), value(l, index, DType::Int64), n, place, l.source.function,
                          l.rules.dtype(index.number().type) == DType::UInt64});
    }
    return i;
}

namespace {

/// A bound of a slice; Python takes integers and None.
TypedExpr number_or_none(Memory& l, const TypedExpr& given, const Place& place) {
    if (given.kind() == Kind::None) return given;
    const TypedExpr bound = need_number(l, given, place, "slice");
    if (!is_integer(bound.number().type.dtype)) l.source.wrong_type(place, "a slice takes integers, not " + describe(bound));
    TypedExpr b = cast(l, bound, {DType::Int64, true});
    b.number().least = std::max(b.number().least, bound.number().least);
    return b;
}

/// Slices are clipped to the axis, as in Python.
std::array<TypedExpr, 3> sliced(Memory& l, const TypedExpr& slice, const TypedExpr& extent, const Place& place) {
    const TypedExpr given = number_or_none(l, slice.slice().bounds[2], place), step = given.kind() == Kind::None ? integer(1) : given;
    const auto computed = [&](Value v, std::int64_t least) { return number({DType::Int64, true}, v, least); };
    if (step.number().constant && step.number().scalar.i == 0) l.source.fail(ErrorCode::Value, place, "slice step cannot be zero");
    if (!step.number().constant && step.number().least < 1) {
        TypedExpr zero = number({DType::Bool, false}, l.builder.eq(value(l, step, DType::Int64), l.builder.i64(0)));
        fail_when(l, zero, ErrorCode::Value, "slice step cannot be zero", place, {});
    }
    const bool up = step.number().least > 0, down = step.number().constant && step.number().scalar.i < 0;
    const auto either = [&](const std::function<Value()>& ascending, const std::function<Value()>& descending) {
        if (up) return ascending();
        if (down) return descending();
        return l.builder.select(l.builder.gt(value(l, step, DType::Int64), l.builder.i64(0)), ascending(), descending());
    };
    const auto zero = [&] { return l.builder.i64(0); };
    const auto minus_one = [&] { return l.builder.i64(-1); };
    const auto size = [&] { return value(l, extent, DType::Int64); };
    const auto last = [&] { return l.builder.sub(size(), l.builder.i64(1)); };
    const auto bound = [&](const TypedExpr& at, bool is_start) {
        TypedExpr b = number_or_none(l, at, place);
        if (up && b.kind() == Kind::None) return is_start ? integer(0) : extent;
        if (up && b.number().constant && b.number().scalar.i == 0) return b;
        if (b.kind() == Kind::None) {
            const Value v = is_start ? either(zero, last) : either(size, minus_one);
            return computed(v, up ? 0 : -1);
        }
        if (b.number().constant && b.number().scalar.i < 0)
            b = add(l, extent, b);
        else if (!b.number().constant && b.number().least < 0) {
            const Value given = value(l, b, DType::Int64), whole = size(), from_end = l.builder.add(given, whole), none = zero();
            b = computed(l.builder.select(l.builder.lt(given, none), from_end, given), unknown_least);
        }
        const Value low = either(zero, minus_one), high = either(size, last);
        return computed(l.builder.min(l.builder.max(value(l, b, DType::Int64), low), high), up ? 0 : -1);
    };
    const TypedExpr start = bound(slice.slice().bounds[0], true), stop = bound(slice.slice().bounds[1], false);
    if (up && step.number().constant) {
        TypedExpr length = sub(l, stop, start);
        if (!(start.number().constant && start.number().scalar.i == 0)) {
            const Value none = zero();
            length = computed(l.builder.max(value(l, length, DType::Int64), none), 0);
        }
        if (step.number().scalar.i > 1) {
            const TypedExpr rounded = add(l, length, integer(step.number().scalar.i - 1));
            length = computed(l.builder.floor_div(value(l, rounded, DType::Int64), l.builder.i64(step.number().scalar.i)), 0);
        }
        return {start, length, step};
    }
    const auto count = [&] {
        const Value s = value(l, step, DType::Int64), from = value(l, start, DType::Int64), to = value(l, stop, DType::Int64);
        const Value distance = either([&] { return l.builder.sub(to, from); }, [&] { return l.builder.sub(from, to); });
        const Value apart = either([&] { return s; }, [&] { return l.builder.neg(s); });
        const Value positive = l.builder.max(distance, zero());
        const Value least_step = l.builder.max(apart, l.builder.i64(1));
        return l.builder.floor_div(l.builder.sub(l.builder.add(positive, apart), l.builder.i64(1)), least_step);
    };
    // Where there are no elements, nothing is to be computed from where the first one would be.
    const Value n = count(), none = zero(), from = value(l, start, DType::Int64),
                first = l.builder.select(l.builder.gt(n, none), from, none);
    return {computed(first, 0), computed(n, 0), step};
}

}  // namespace

View viewed(Memory& l, const View& v, std::span<const TypedExpr> given, const Tree& t) {
    const auto is_ellipsis = [](const TypedExpr& i) { return i.kind() == Kind::Slice && i.slice().bounds.empty(); };
    const auto count = [](std::span<const TypedExpr> all) {
        return std::ranges::count_if(all, [](const TypedExpr& i) { return i.kind() != Kind::None; });
    };
    std::vector<TypedExpr> indices(given.begin(), given.end());
    std::vector<std::size_t> places(indices.size());
    for (std::size_t k = 0; k < places.size(); ++k) places[k] = k;
    if (const auto at = std::ranges::find_if(indices, is_ellipsis); at != indices.end()) {
        if (std::count_if(at, indices.end(), is_ellipsis) > 1)
            l.source.fail(ErrorCode::Index, t.place, "an index can only have a single ellipsis ('...')");
        const auto k = at - indices.begin();
        const auto missing = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, v.rank - (count(indices) - 1)));
        indices.erase(at);
        indices.insert(indices.begin() + k, missing, whole_axis());
        const std::size_t own = places[static_cast<std::size_t>(k)];
        places.erase(places.begin() + k);
        places.insert(places.begin() + k, missing, own);
    }
    if (count(indices) > v.rank)
        l.source.fail(ErrorCode::Index, t.place,
                      "`" + v.name + "` has " + std::to_string(v.rank) + (v.rank == 1 ? " dimension" : " dimensions") +
                          ", but is indexed with " + std::to_string(count(indices)) + " indices");
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
            offset = add(l, offset, mul(l, index_of(l, index, extent, place, out.guards), stride));
            continue;
        }
        const auto [start, length, step] = sliced(l, index, extent, place);
        offset = add(l, offset, mul(l, start, stride));
        extents.push_back(length);
        strides.push_back(mul(l, stride, step));
    }
    for (; d < rank; ++d) {
        extents.push_back(v.lead[1 + d]);
        strides.push_back(v.lead[1 + rank + d]);
    }
    out.rank = static_cast<int>(extents.size());
    if (out.rank > 0 && l.walk.builds()) {  // elements are asked for later, or never
        for (Guard& g : out.guards) {
            if (g.index == ir::no_value) continue;
            View one;
            one.guards.push_back(g);
            guarded(l, one, [] { return ir::Builder::Values(); }, {});
            g.index = ir::no_value;
        }
    }
    out.lead.push_back(offset);
    out.lead.insert(out.lead.end(), extents.begin(), extents.end());
    out.lead.insert(out.lead.end(), strides.begin(), strides.end());
    return out;
}

View part_at(Memory& l, const View& v, const TypedExpr& i) {
    View part = v;
    const auto extents = v.lead.begin() + 1, strides = extents + v.rank;
    part.rank -= 1;
    part.lead = {add(l, v.lead[0], mul(l, i, *strides))};
    part.lead.insert(part.lead.end(), extents + 1, strides);
    part.lead.insert(part.lead.end(), strides + 1, v.lead.end());
    return part;
}

View view_at(Memory& l, const View& v, std::span<const TypedExpr> index) {
    View one = v;
    TypedExpr offset = v.lead[0];
    const auto rank = static_cast<std::size_t>(v.rank);
    for (std::size_t d = 0; d < rank; ++d) offset = add(l, offset, mul(l, index[d], v.lead[1 + rank + d]));
    one.rank = 0;
    one.lead = {offset};
    return one;
}

TypedExpr element(Memory& l, const View& v) {
    note_access(l, v, ir::Access::Read);
    const NumberType type{v.dtype, false};
    const auto load = [&] {
        const Value place = value(l, v.lead[0], DType::Int64);
        check_written(l, v, place);
        return ir::Builder::Values{l.builder.load(v.pointer, place)};
    };
    return number(type, guarded(l, v, load, {l.builder.constant(v.dtype, 0.0)})[0]);
}

TypedExpr field(Memory& l, const TypedExpr& object, std::size_t k) {
    const TypedExpr& item = object.tuple().items[k];
    return is_element(object) ? number_in(l, item) : item;
}

TypedExpr loaded(Memory& l, const TypedExpr& t) {
    if (t.kind() != Kind::Tuple) return t;
    TypedExpr out = t;
    for (std::size_t k = 0; k < t.tuple().items.size(); ++k) out.tuple().items[k] = loaded(l, field(l, t, k));
    out.tuple().record = t.tuple().record && !is_element(t);
    return out;
}

TypedExpr number_in(Memory& l, const TypedExpr& t) { return t.kind() == Kind::Array && t.view().rank == 0 ? element(l, t.view()) : t; }

TypedExpr need_number(Memory& l, const TypedExpr& t, const Place& place, const char* op_name) {
    const TypedExpr x = number_in(l, t);
    if (x.kind() != Kind::Number) l.source.wrong_type(place, std::string(op_name) + ": a number is expected, not " + describe(x));
    return x;
}

TypedExpr item_at(Memory& l, const TypedExpr& values, const TypedExpr& index, const Tree& t) {
    constexpr std::size_t most = 64;
    const std::size_t n = values.tuple().items.size();
    const std::string advice = "; which one it is must be known before the kernel runs";
    if (n == 0 || n > most)
        l.source.wrong_type(t.place, "a tuple of " + std::to_string(n) + " is indexed with a constant integer" + advice + ": use an array");
    NumberType type = loaded(l, field(l, values, 0)).number().type;
    std::vector<TypedExpr> items;
    for (std::size_t k = 0; k < n; ++k) {
        items.push_back(loaded(l, field(l, values, k)));
        if (items[k].kind() != Kind::Number)
            l.source.wrong_type(t.place, "a tuple that holds " + describe(items[k]) + " is indexed with a constant integer" + advice);
        if (!join(type, items[k].number().type, type))
            l.source.wrong_type(t.place, "this tuple holds " + describe(items[0]) + " and " + describe(items[k]) +
                                             ", and is indexed with a constant integer" + advice + ": convert one of the two");
    }
    const TypedExpr extent = integer(static_cast<std::int64_t>(n));
    std::vector<Guard> guards;
    const TypedExpr i = index_of(l, index, extent, t.place, guards);
    for (const Guard& g : guards)
        fail_when(l, number({DType::Bool, false}, l.builder.bit_not(g.inside)), ErrorCode::Index,
                  "index $0 is out of range for a tuple of " + std::to_string(n), t.place, {number({DType::Int64, true}, g.index)});
    Value out = value(l, items[0], l.rules.dtype(type));
    for (std::size_t k = 1; k < n; ++k) {
        const Value here = l.builder.eq(value(l, i, DType::Int64), l.builder.i64(static_cast<std::int64_t>(k)));
        out = l.builder.select(here, value(l, items[k], l.rules.dtype(type)), out);
    }
    return number(type, out);
}

void store_element(Memory& l, const View& v, const TypedExpr& stored, const Place& place) {
    require_fits(l.rules, v, stored, place);
    note_access(l, v, ir::Access::Write);
    const auto write = [&] {
        const Value place = value(l, v.lead[0], DType::Int64);
        l.builder.store(v.pointer, place, value(l, stored, v.dtype));
        mark_written(l, v, place);
        return ir::Builder::Values();
    };
    guarded(l, v, write, {});
}

void flatten(Memory& l, const TypedExpr& t, const TypedExpr& like, std::vector<Value>& out) {
    switch (like.kind()) {
        case Kind::Number:
            if (!like.number().constant) out.push_back(value(l, t, l.rules.dtype(like.number().type)));
            return;
        case Kind::List:
        case Kind::Tuple:
            for (std::size_t k = 0; k < like.parts().size(); ++k) flatten(l, t.parts()[k], like.parts()[k], out);
            return;
        case Kind::Array:
            for (std::size_t k = 0; k < like.view().lead.size(); ++k) flatten(l, t.view().lead[k], like.view().lead[k], out);
            if (!l.task.options.bounds_check || l.walk.finds_types()) return;
            if (!t.view().guards.empty()) guarded(l, t.view(), [] { return ir::Builder::Values(); }, {});
            out.push_back(t.view().guards.empty() ? value(l, flag(true)) : guard_of(l, t.view()));
            return;
        default: return;
    }
}

TypedExpr chosen(Memory& l, const TypedExpr& test, const Tree& yes, const std::function<TypedExpr()>& then_part,
                 const std::function<TypedExpr()>& else_part, const Place& place) {
    const TypedExpr a = l.walk.types_of(then_part), b = l.walk.types_of(else_part);
    const Variable x{a, yes.place}, y{b, place};
    const TypedExpr like = joined(l.rules, "the value", x, y, place);
    if (l.walk.finds_types()) return like;
    const auto part = [&](const std::function<TypedExpr()>& f) {
        return [&] {
            ir::Builder::Values out;
            flatten(l, f(), like, out);
            return out;
        };
    };
    const ir::Builder::Values values = l.builder.if_else(value(l, test), part(then_part), part(else_part));
    std::size_t at = 0;
    return rebuilt(l, like, values, at);
}

}  // namespace pardo::lang

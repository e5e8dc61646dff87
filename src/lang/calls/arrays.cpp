// src/lang/calls/arrays.cpp: arrays that a kernel makes for itself; how long one is, and its elements.
#include "lang/array_expr/array_expr.h"
#include "lang/calls/calls.h"
#include "lang/expressions.h"
#include "lang/memory/lists.h"
#include "lang/memory/own.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang::calls {

struct Arrays {
    /// An element of an array, or of a struct of arrays; numbers are their own.
    static TypedExpr element(Lowering& l, const Tree& t, const TypedExprs& a) {
        if (first_part(a[0]).kind() == Kind::Number) return a[0];
        const TypedExprs indices = a[1].kind() == Kind::Tuple ? a[1].tuple().items : TypedExprs{a[1]};
        return loaded(l, indexed(l, a[0], indices, t));
    }

    static TypedExpr length(Lowering& l, const Tree& t, const TypedExprs& a) {
        if (a[0].kind() == Kind::Rows) return a[0].rows()->extents[0];
        const TypedExpr& counted = is_indexed(a[0]) ? first_part(a[0]) : a[0];  // a record has its fields
        if (counted.kind() == Kind::Tuple) return integer(static_cast<std::int64_t>(counted.tuple().items.size()));
        if (counted.kind() == Kind::Array && counted.view().rank > 0) return counted.view().lead[1];
        l.source.wrong_type(t.place, "len: an array or a tuple is expected, not " + describe(a[0]));
    }
    /// Arrays for elements of a type: a dtype, a struct or tuple of dtypes, or a value whose type is meant.
    static TypedExpr array_of(Lowering& l, const Tree& t, ir::Space space, const TypedExpr& type,
                              const std::vector<std::int64_t>& extents) {
        if (type.kind() == Kind::Tuple) {
            TypedExpr out = tuple_like(type, {});
            out.tuple().columns = true;
            for (const TypedExpr& item : type.tuple().items) out.tuple().items.push_back(array_of(l, t, space, item, extents));
            return out;
        }
        if (type.kind() != Kind::DType && type.kind() != Kind::Number)
            l.source.wrong_type(t.place, t.name + ": a dtype is expected, not " + text_or(type));
        const DType dtype = type.kind() == Kind::DType ? type.dtype() : l.rules.dtype(type.number().type);
        return unwritten_array(l, space, space == ir::Space::Group ? "local" : "private", dtype, extents, t.place);
    }
    template <ir::Space space> static TypedExpr array(Lowering& l, const Tree& t, const TypedExprs& a) {
        if (space == ir::Space::Group && l.task.space.group_size.empty())
            l.source.fail(ErrorCode::Type, t.place, "local_array: items share memory in groups only; launch the kernel over an NdRange");
        const TypedExpr type = a.size() > 1 ? a[1] : dtype_expr(weak_dtype(DType::Float64, l.task.options.fp64));
        return array_of(l, t, space, type, constant_extents(l.rules, a[0], t.place, t.name.c_str()));
    }
    static TypedExpr append(Lowering& l, const Tree& t, const TypedExprs& a) {
        list_append(l, a[0], a[1], t.place);
        return {};
    }
    static TypedExpr add(Lowering& l, const Tree& t, const TypedExprs& a) {
        add_to_set(l, a[0], a[1], t.place);
        return {};
    }
    static TypedExpr pop(Lowering& l, const Tree& t, const TypedExprs& a) { return popped(l, a[0], t.place); }
    static TypedExpr clear(Lowering& l, const Tree&, const TypedExprs& a) {
        cleared(l, a[0]);
        return {};
    }
    static Tables tables();
};

Tables Arrays::tables() {
    return {
        {
            {"element", {2, 2, element}},
            {"len", {1, 1, length}},
            {"local_array", {1, 2, array<ir::Space::Group>, "shape dtype"}},
            {"private_array", {1, 2, array<ir::Space::Private>, "shape dtype"}},
        },
        {
            {"list.append", {2, 2, append}},
            {"list.pop", {1, 1, pop}},
            {"list._shorten", {1, 1, pop}},
            {"set._shorten", {1, 1, pop}},
            {"list.clear", {1, 1, clear}},
            {"set.add", {2, 2, add}},
            {"set.clear", {1, 1, clear}},
        },
    };
}

Tables arrays() { return Arrays::tables(); }

}  // namespace pardo::lang::calls

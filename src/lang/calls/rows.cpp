// src/lang/calls/rows.cpp: functions and methods of arrays: what is made of their elements, products, copies, and arrays of run-time sizes.
#include <algorithm>

#include "lang/array_expr/array_expr.h"
#include "lang/calls/calls.h"
#include "lang/calls/user.h"
#include "lang/expressions.h"
#include "lang/memory/own.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"
#include "lang/statements.h"

namespace pardo::lang::calls {

struct OfRows {
    static const TypedExpr& array(Lowering& l, const Tree& t, const TypedExprs& a, std::size_t k = 0) {
        if (!is_rows(a[k])) l.source.wrong_type(t.place, t.name + ": an array is expected, not " + describe(a[k]));
        return a[k];
    }
    static TypedExpr optional(const TypedExprs& a, std::size_t k) { return k < a.size() ? a[k] : TypedExpr(); }

    // Where the arguments after the axis are, by the function.
    enum class After : std::uint8_t { Dtype, DtypeDdof, Out, Keeps };

    template <RowReduction op, After after> static TypedExpr reduction(Lowering& l, const Tree& t, const TypedExprs& a) {
        RowFold fold{op, t.place, t.name, {}, integer(0)};
        std::size_t next = 2;
        if (after == After::Dtype || after == After::DtypeDdof) {
            const TypedExpr dtype = optional(a, next++);
            if (dtype.kind() == Kind::DType && (op == RowReduction::Var || op == RowReduction::Std))
                l.source.wrong_type(t.place, t.name + ": dtype is not accepted in a kernel; convert the array");
            if (dtype.kind() == Kind::DType) fold.dtype = dtype.dtype();
            if (dtype.kind() != Kind::DType && dtype.kind() != Kind::None)
                l.source.wrong_type(t.place, t.name + ": a dtype is expected, not " + text_or(dtype));
        }
        if (after != After::Keeps && optional(a, next++).kind() != Kind::None)
            l.source.wrong_type(t.place, t.name + ": `out` is not accepted in a kernel; assign the result");
        if (after == After::DtypeDdof) {
            const TypedExpr ddof = optional(a, next++);
            if (ddof.kind() != Kind::None) fold.ddof = cast(l, need_number(l, ddof, t.place, "ddof"), {DType::Int64, true});
        }
        const TypedExpr keeps = optional(a, next);
        const bool kept = keeps.kind() != Kind::None && truth(l, keeps, t.place).number().scalar.b;
        if (keeps.kind() != Kind::None && !truth(l, keeps, t.place).number().constant)
            l.source.wrong_type(t.place, t.name + ": keepdims is a constant");
        if (a[0].kind() == Kind::Number) {  // an array without dimensions
            Rows one;
            one.type = {l.rules.dtype(a[0].number().type), false};
            one.at = [x = cast(l, a[0], one.type)](std::span<const TypedExpr>, bool) { return x; };
            return reduced(l, rows_expr(std::move(one)), fold, TypedExpr(), false);
        }
        return reduced(l, array(l, t, a), fold, optional(a, 1), kept);
    }
    /// Python's own sum, any and all, which go through one dimension, or a tuple.
    template <RowReduction op> static TypedExpr python(Lowering& l, const Tree& t, const TypedExprs& a) {
        Tree said = t;
        said.name = t.name.substr(t.name.find('.') + 1);
        if (a[0].kind() == Kind::Tuple) return of_items(l, t.place, op, a[0].tuple().items, optional(a, 1));
        if (array(l, said, a).kind() == Kind::Array ? a[0].view().rank != 1 : a[0].rows()->extents.size() != 1)
            l.source.wrong_type(t.place,
                                said.name + ": Python's goes through the rows of " + describe(a[0]) + "; write np." + said.name + "(…)");
        const TypedExpr out = reduced(l, a[0], {op, t.place, t.name, {}, integer(0)}, TypedExpr(), false);
        return a.size() == 1 ? out : binary(l, "+", a[1], out, t.place);
    }
    static TypedExpr of_items(Lowering& l, const Place& place, RowReduction op, const TypedExprs& items, const TypedExpr& start) {
        const bool sums = op == RowReduction::PlainSum;
        TypedExpr out = start.kind() != Kind::None ? start : integer(op == RowReduction::All);
        if (!sums) out = truth(l, out, place);
        for (const TypedExpr& item : items)
            out = binary(l, sums ? "+" : op == RowReduction::Any ? "|" : "&", out, sums ? item : truth(l, item, place), place);
        return out;
    }
    static TypedExpr norm(Lowering& l, const Tree& t, const TypedExprs& a) {
        if (!is_rows(a[0]) || rows_of(l, a[0])->extents.size() > 2)
            l.source.wrong_type(t.place, "norm: a vector or a matrix is expected, not " + describe(a[0]));
        return reduced(l, a[0], {RowReduction::Norm, t.place, t.name, {}, integer(0)}, TypedExpr(), false);
    }
    static TypedExpr dot(Lowering& l, const Tree& t, const TypedExprs& a) { return product_of(l, a[0], a[1], "dot", t.place); }
    static TypedExpr matmul(Lowering& l, const Tree& t, const TypedExprs& a) { return product_of(l, a[0], a[1], "matmul", t.place); }
    static TypedExpr vdot(Lowering& l, const Tree& t, const TypedExprs& a) {
        if (!is_rows(a[0]) || !is_rows(a[1]) || rows_of(l, a[0])->extents.size() != 1 || rows_of(l, a[1])->extents.size() != 1)
            l.source.wrong_type(t.place, t.name + ": two arrays of one dimension are expected in a kernel");
        if (t.name == "inner") return product_of(l, a[0], a[1], t.name, t.place);
        Tree conj = t;
        conj.name = "conj";
        return product_of(l, array_call(l, conj, {a[0]}, function_of_numbers(l, "conj"), false), a[1], t.name, t.place);
    }
    static TypedExpr outer(Lowering& l, const Tree& t, const TypedExprs& a) { return outer_product(l, a[0], a[1], t.place); }

    static TypedExpr copied(Lowering& l, const Tree& t, const TypedExpr& x) {
        const TypedExpr same = each(l, {x}, 0, t.place, [](const TypedExprs& e) { return e[0]; });
        return settled(l, same, t.place);
    }
    static TypedExpr copy(Lowering& l, const Tree& t, const TypedExprs& a) {
        return a[0].kind() == Kind::Number ? a[0] : copied(l, t, array(l, t, a));
    }
    static TypedExpr transpose(Lowering& l, const Tree& t, const TypedExprs& a) {
        const std::size_t rank = rows_of(l, array(l, t, a))->extents.size();
        std::vector<std::size_t> axes;
        for (std::size_t d = rank; d-- > 0;) axes.push_back(d);
        return turned(a[0], axes);
    }
    template <bool upper> static TypedExpr triangle(Lowering& l, const Tree& t, const TypedExprs& a) {
        if (rows_of(l, array(l, t, a))->extents.size() < 2)
            l.source.wrong_type(t.place, t.name + ": an array of two or more dimensions is expected, not " + describe(a[0]));
        const TypedExpr k = optional(a, 1);
        if (k.kind() != Kind::None && (k.kind() != Kind::Number || !is_integer(k.number().type.dtype)))
            l.source.wrong_type(t.place, t.name + ": k is an integer, not " + describe(k));
        return lang::triangle(l, a[0], k.kind() == Kind::None ? integer(0) : k, upper);
    }
    static TypedExpr fill(Lowering& l, const Tree& t, const TypedExprs& a) {
        if (a[0].kind() != Kind::Array) l.source.wrong_type(t.place, "fill: an array in memory is expected, not an expression");
        store_view(l, a[0].view(), number_of(l, t, a, 1), t.place);
        return {};
    }
    /// All elements, in one dimension: a copy, or where they lie.
    static TypedExpr flatten(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr& whole = array(l, t, a);
        return reshaped(l, t.name == "flatten" ? copied(l, t, whole) : whole, {integer(-1)}, t.name, t.place);
    }
    static TypedExpr reshape(Lowering& l, const Tree& t, const TypedExprs& a) {
        (void)array(l, t, a);
        const bool several = t.form == Form::Method && a.size() > 2;
        const TypedExpr shape = several ? tuple({a.begin() + 1, a.end()}) : a[1];
        return reshaped(l, a[0], shape_of(l, t, shape), "reshape", t.place);
    }

    // Arrays that are made.
    static std::vector<TypedExpr> shape_of(Lowering& l, const Tree& t, const TypedExpr& shape) {
        std::vector<TypedExpr> extents = shape.kind() == Kind::Tuple ? shape.tuple().items : TypedExprs{shape};
        if (extents.empty()) l.source.fail(ErrorCode::Value, t.place, t.name + ": the shape is empty");
        for (TypedExpr& e : extents) {
            if (e.kind() != Kind::Number || !is_integer(e.number().type.dtype))
                l.source.wrong_type(t.place, t.name + ": a shape is an integer or a tuple of integers, not " + describe(e));
            const std::int64_t least = e.number().least;
            e = e.number().constant ? integer(e.number().scalar.cast(DType::Int64).i) : cast(l, e, {DType::Int64, true});
            e.number().least = std::max(e.number().least, least);
        }
        return extents;
    }
    static DType dtype_of(Lowering& l, const Tree& t, const TypedExprs& a, std::size_t k, DType otherwise) {
        const TypedExpr dtype = optional(a, k);
        if (dtype.kind() == Kind::None) return otherwise;
        if (dtype.kind() != Kind::DType) l.source.wrong_type(t.place, t.name + ": a dtype is expected, not " + text_or(dtype));
        return dtype.dtype();
    }
    /// An item's own array; `fill`: 0, 1, 2 for a value, 3 for none.
    static TypedExpr made(Lowering& l, const Tree& t, int fill, const std::vector<TypedExpr>& extents, DType dtype,
                          const TypedExpr& value) {
        const TypedExpr out = own_memory(l, t.name, dtype, extents, t.place);
        if (fill == 3) {
            std::int64_t count = 1;
            bool known = true;
            for (const TypedExpr& e : extents) {
                known = known && e.number().constant;
                count *= e.number().constant ? e.number().scalar.i : 1;
            }
            if (known && count > 0) track_writes(l, out.view(), count, ir::Space::Private);
            return out;
        }
        if (fill == 2) check_range(l.rules, value, dtype, t.place);
        store_rows(l, out.view(), cast(l, fill == 2 ? value : integer(fill), {dtype, false}), t.place);
        return out;
    }
    template <int fill> static TypedExpr filled(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr value = fill == 2 ? number_of(l, t, a, 1) : integer(0);
        const DType otherwise = fill == 2 ? l.rules.dtype(value.number().type) : weak_dtype(DType::Float64, l.task.options.fp64);
        if (fill == 3 && a.size() > 1 && (a[1].kind() == Kind::Tuple || a[1].kind() == Kind::Number))
            return functions().at("private_array").handler(l, t, a);
        return made(l, t, fill, shape_of(l, t, a[0]), dtype_of(l, t, a, fill == 2 ? 2 : 1, otherwise), value);
    }
    template <int fill> static TypedExpr filled_like(Lowering& l, const Tree& t, const TypedExprs& a) {
        const std::shared_ptr<const Rows> like = rows_of(l, array(l, t, a));
        const TypedExpr value = fill == 2 ? number_of(l, t, a, 1) : integer(0);
        return made(l, t, fill, like->extents, dtype_of(l, t, a, fill == 2 ? 2 : 1, like->type.dtype), value);
    }

    static Tables tables();
};

Tables OfRows::tables() {
    using R = RowReduction;
    const auto row = [](int least, int most, Handler handler, const char* names) {
        return Row{least, most, handler, names, Lift::No, true};
    };
    struct Reduction {
        const char *function, *method;
        int most;
        Handler handler;
        const char* names;  // of the function: the method's begin after "a "
    };
    constexpr const char *sums = "a axis dtype out keepdims", *spread = "a axis dtype out ddof|correction keepdims",
                         *plain = "a axis out keepdims";
    const Reduction reductions[] = {
        {"sum", "array.sum", 5, reduction<R::Sum, After::Dtype>, sums},
        {"prod", "array.prod", 5, reduction<R::Prod, After::Dtype>, sums},
        {"mean", "array.mean", 5, reduction<R::Mean, After::Dtype>, sums},
        {"var", "array.var", 6, reduction<R::Var, After::DtypeDdof>, spread},
        {"std", "array.std", 6, reduction<R::Std, After::DtypeDdof>, spread},
        {"amin", "array.min", 4, reduction<R::Min, After::Out>, plain},
        {"amax", "array.max", 4, reduction<R::Max, After::Out>, plain},
        {"any", "array.any", 4, reduction<R::Any, After::Out>, plain},
        {"all", "array.all", 4, reduction<R::All, After::Out>, plain},
        {"argmin", "array.argmin", 4, reduction<R::ArgMin, After::Out>, plain},
        {"argmax", "array.argmax", 4, reduction<R::ArgMax, After::Out>, plain},
    };
    Tables out;
    for (const Reduction& r : reductions) {
        out.functions.push_back({r.function, row(1, r.most, r.handler, r.names)});
        out.methods.push_back({r.method, row(1, r.most, r.handler, r.names + 2)});
    }
    const std::pair<const char*, Row> methods[] = {
        {"array.dot", row(2, 2, dot, "b")},
        {"array.copy", row(1, 1, copy, "")},
        {"array.transpose", row(1, 1, transpose, "")},
        {"array.reshape", row(2, 9, reshape, "shape")},
        {"array.fill", row(2, 2, fill, "value")},
        {"array.flatten", row(1, 1, flatten, "")},
        {"array.ravel", row(1, 1, flatten, "")},
    };
    out.methods.insert(out.methods.end(), std::begin(methods), std::end(methods));
    const std::pair<const char*, Row> rows[] = {
        {"count_nonzero", row(1, 3, reduction<R::CountNonzero, After::Keeps>, "a axis keepdims")},
        {"python.sum", row(1, 2, python<R::PlainSum>, "")},
        {"python.any", row(1, 1, python<R::Any>, "")},
        {"python.all", row(1, 1, python<R::All>, "")},
        {"norm", row(1, 1, norm, "x")},
        {"dot", row(2, 2, dot, "a b")},
        {"matmul", row(2, 2, matmul, "x1 x2")},
        {"vdot", row(2, 2, vdot, "a b")},
        {"inner", row(2, 2, vdot, "a b")},
        {"outer", row(2, 2, outer, "a b")},
        {"copy", row(1, 1, copy, "a")},
        {"transpose", row(1, 1, transpose, "a")},
        {"triu", row(1, 2, triangle<true>, "m k")},
        {"tril", row(1, 2, triangle<false>, "m k")},
        {"reshape", row(2, 2, reshape, "a shape|newshape")},
        {"ravel", row(1, 1, flatten, "a")},
        {"empty", row(1, 2, filled<3>, "shape dtype")},
        {"zeros", row(1, 2, filled<0>, "shape dtype")},
        {"ones", row(1, 2, filled<1>, "shape dtype")},
        {"full", row(2, 3, filled<2>, "shape fill_value dtype")},
        {"empty_like", row(1, 2, filled_like<3>, "prototype|a dtype")},
        {"zeros_like", row(1, 2, filled_like<0>, "a dtype")},
        {"ones_like", row(1, 2, filled_like<1>, "a dtype")},
        {"full_like", row(2, 3, filled_like<2>, "a fill_value dtype")},
    };
    out.functions.insert(out.functions.end(), std::begin(rows), std::end(rows));
    return out;
}

Tables rows() { return OfRows::tables(); }

}  // namespace pardo::lang::calls

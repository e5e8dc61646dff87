// src/lang/calls/atomics.cpp: atomic operations on elements of arrays.
#include <algorithm>
#include <functional>

#include "lang/array_expr/array_expr.h"
#include "lang/calls/calls.h"
#include "lang/calls/user.h"
#include "lang/expressions.h"
#include "lang/memory/own.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"
#include "lang/statements.h"

namespace pardo::lang::calls {

using ir::AtomicOp;

struct Atomics {
    using Words = std::initializer_list<const char*>;
    /// A word, or SYCL's number of it: `numbers` has the word's place for each.
    static int among(Lowering& l, const Tree& t, const TypedExpr& x, const Place& place, const char* what, Words words,
                     std::initializer_list<int> numbers) {
        if (x.kind() == Kind::Text)
            if (const auto* found = std::find(words.begin(), words.end(), x.text()); found != words.end())
                return static_cast<int>(found - words.begin());
        const bool numbered = x.kind() == Kind::Number && x.number().constant && is_integer(x.number().type.dtype);
        if (numbered && x.number().scalar.i >= 0 && x.number().scalar.i < static_cast<std::int64_t>(numbers.size()))
            return numbers.begin()[x.number().scalar.i];
        std::string known;
        for (const char* w : words) known += (known.empty() ? "'" : ", '") + std::string(w) + "'";
        const std::string came = x.kind() == Kind::Text ? ", not '" + x.text() + "'" : "";
        l.source.fail(ErrorCode::Value, place, t.name + ": " + what + " is one of " + known + came);
    }
    static ir::MemoryOrder order_of(Lowering& l, const Tree& t, const TypedExpr& x, const Place& place) {
        return static_cast<ir::MemoryOrder>(
            among(l, t, x, place, "order", {"relaxed", "acquire", "release", "acq_rel", "seq_cst"}, {0, 1, 1, 2, 3, 4}));
    }
    static ir::MemoryScope scope_of(Lowering& l, const Tree& t, const TypedExpr& x, const Place& place) {
        // What less than a group sees is seen by the group.
        const int found = among(l, t, x, place, "scope", {"work_group", "device", "system", "work_item", "sub_group"}, {0, 0, 0, 1, 2});
        return static_cast<ir::MemoryScope>(found > 2 ? 0 : found);
    }
    static TypedExpr fence(Lowering& l, const Tree& t, const TypedExprs& a) {
        ir::MemoryOrder order = a.empty() ? ir::MemoryOrder::AcqRel : order_of(l, t, a[0], t.place);
        ir::MemoryScope scope = a.size() < 2 ? ir::MemoryScope::Device : scope_of(l, t, a[1], t.place);
        for (const Tree& p : t.parts) {
            if (p.form != Form::Keyword) continue;
            const TypedExpr word = expression(l, p.parts[0]);
            if (p.name == "order") order = order_of(l, t, word, p.place);
            if (p.name == "scope") scope = scope_of(l, t, word, p.place);
        }
        if (order != ir::MemoryOrder::Relaxed) l.builder.fence(order, scope);
        return {};
    }
    // Atomics: (array, index, value), index an integer or a tuple; or a reference, which stands for array and index.
    static TypedExpr reference(Lowering& l, const Tree& t, const TypedExprs& a) {
        if (a[0].kind() != Kind::Array) l.source.wrong_type(t.place, t.name + ": the first argument is an array, not " + describe(a[0]));
        Reference out;
        const TypedExprs indices = a[1].kind() == Kind::Tuple ? a[1].tuple().items : TypedExprs{a[1]};
        Tree place = t;
        place.parts = {t.parts[0]};
        for (std::size_t k = 0; k < indices.size(); ++k) place.parts.push_back(t.parts[1]);
        out.view = viewed(l, a[0].view(), indices, place);
        if (out.view.rank != 0)
            l.source.wrong_type(t.place, t.name + ": `" + a[0].view().name + "` has " + std::to_string(a[0].view().rank) +
                                             " dimensions; give an index for each, as a tuple");
        if (const char* broken = atomic_problem(ir::AtomicOp::Exchange, out.view.dtype))
            l.source.wrong_type(t.place,
                                t.name + ": " + broken + "; `" + out.view.name + "` is " + std::string(dtype_name(out.view.dtype)));
        for (const Tree& p : t.parts) {
            if (p.form != Form::Keyword) continue;
            const TypedExpr word = expression(l, p.parts[0]);
            if (p.name == "order") out.order = order_of(l, t, word, p.place);
            if (p.name == "scope") out.scope = scope_of(l, t, word, p.place);
        }
        return {std::move(out)};
    }
    static const char* atomic_problem(ir::AtomicOp op, DType dtype) {
        if (!(is_integer(dtype) || is_float(dtype)) || itemsize(dtype) < 4)
            return "atomics are for int32, uint32, int64, uint64, float32 and float64";
        const bool of_bits = op == ir::AtomicOp::And || op == ir::AtomicOp::Or || op == ir::AtomicOp::Xor;
        return of_bits && !is_integer(dtype) ? "and, or, xor are for integers" : nullptr;
    }
    /// A number that is combined with the element, in its dtype.
    static TypedExpr operand(Lowering& l, const Tree& t, const View& v, const TypedExpr& given) {
        const TypedExpr x = need_number(l, given, t.place, t.name.c_str());
        if (!can_cast_same_kind(l.rules.dtype(x.number().type), v.dtype) &&
            !(x.number().type.weak && is_integer(l.rules.dtype(x.number().type)) && is_integer(v.dtype)))
            l.source.wrong_type(
                t.place, t.name + ": " + describe(x) + " does not fit the " + std::string(dtype_name(v.dtype)) + " array `" + v.name + "`");
        check_range(l.rules, x, v.dtype, t.place);
        return cast(l, x, {v.dtype, false});
    }
    /// What `update` gives, where the indices are in range.
    static TypedExpr updated(Lowering& l, const View& v, const std::function<Value(Value place)>& update, bool reads = true) {
        note_access(l, v, ir::Access::ReadWrite);
        if (l.walk.finds_types()) return number({v.dtype, false}, ir::no_value);
        const auto apply = [&] {
            const Value place = value(l, v.lead[0], DType::Int64);
            if (reads) check_written(l, v, place);
            const Value old = update(place);
            mark_written(l, v, place);
            return ir::Builder::Values{old};
        };
        return number({v.dtype, false}, guarded(l, v, apply, {l.builder.constant(v.dtype, 0.0)})[0]);
    }
    static TypedExpr changed(Lowering& l, const Tree& t, ir::AtomicOp op, const TypedExpr& r, const TypedExpr& given) {
        const View& v = r.reference().view;
        if (const char* broken = atomic_problem(op, v.dtype))
            l.source.wrong_type(t.place, t.name + ": " + broken + "; `" + v.name + "` is " + std::string(dtype_name(v.dtype)));
        const TypedExpr x = operand(l, t, v, given);
        return updated(
            l, v,
            [&](Value place) { return l.builder.atomic(op, v.pointer, place, value(l, x), r.reference().order, r.reference().scope); },
            op != ir::AtomicOp::Exchange);
    }
    static TypedExpr exchanged(Lowering& l, const Tree& t, const TypedExpr& r, const TypedExpr& before, const TypedExpr& after) {
        const View& v = r.reference().view;
        const TypedExpr expected = operand(l, t, v, before), desired = operand(l, t, v, after);
        return updated(l, v, [&](Value place) {
            const Value was = value(l, expected), becomes = value(l, desired);
            return l.builder.compare_exchange(v.pointer, place, was, becomes, r.reference().order, r.reference().scope);
        });
    }
    template <ir::AtomicOp op> static TypedExpr atomic(Lowering& l, const Tree& t, const TypedExprs& a) {
        return changed(l, t, op, reference(l, t, a), a[2]);
    }
    static TypedExpr compare_exchange(Lowering& l, const Tree& t, const TypedExprs& a) {
        return exchanged(l, t, reference(l, t, a), a[2], a[3]);
    }
    template <ir::AtomicOp op> static TypedExpr fetch(Lowering& l, const Tree& t, const TypedExprs& a) {
        return changed(l, t, op, a[0], a[1]);
    }
    static TypedExpr store_atomic(Lowering& l, const Tree& t, const TypedExprs& a) {
        (void)changed(l, t, ir::AtomicOp::Exchange, a[0], a[1]);
        return {};
    }
    /// Equal or not, the element stays: zero for zero.
    static TypedExpr load_atomic(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExpr zero = cast(l, integer(0), {a[0].reference().view.dtype, false});
        return exchanged(l, t, a[0], zero, zero);
    }
    /// SYCL's: the value that is expected is an element of memory; where it differs from what is there, it becomes that. Gives a bool.
    static TypedExpr exchange_in_place(Lowering& l, const Tree& t, const TypedExprs& a) {
        const TypedExprs indices = a.size() < 4                 ? TypedExprs{integer(0)}
                                   : a[3].kind() == Kind::Tuple ? a[3].tuple().items
                                                                : TypedExprs{a[3]};
        Tree place = t;
        place.parts = {t.parts[1]};
        for (std::size_t k = 0; k < indices.size(); ++k) place.parts.push_back(t.parts[t.parts.size() < 4 ? 1 : 3]);
        const View place_in = viewed(l, a[1].view(), indices, place);
        if (place_in.rank != 0)
            l.source.wrong_type(t.place, t.name + ": `" + a[1].view().name + "` has " + std::to_string(a[1].view().rank) +
                                             " dimensions; give an index for each, as a tuple");
        if (place_in.dtype != a[0].reference().view.dtype)
            l.source.wrong_type(t.place, t.name + ": what is expected is " + std::string(dtype_name(place_in.dtype)) + ", the element " +
                                             std::string(dtype_name(a[0].reference().view.dtype)));
        const TypedExpr expected = element(l, place_in), old = exchanged(l, t, a[0], expected, a[2]);
        const DType bits = itemsize(place_in.dtype) == 4 ? DType::Int32 : DType::Int64;
        const TypedExpr x = pure(l, Opcode::Bitcast, {bits, false}, {old}, old.number().type.dtype),
                        y = pure(l, Opcode::Bitcast, {bits, false}, {expected}, old.number().type.dtype);
        store_element(l, place_in, old, t.place);  // where both are the same it changes nothing
        return compared(l, "==", x, y, t.place);
    }
    static TypedExpr exchange_if(Lowering& l, const Tree& t, const TypedExprs& a) {
        return a[1].kind() == Kind::Array ? exchange_in_place(l, t, a) : exchanged(l, t, a[0], a[1], a[2]);
    }

    static Tables tables();
};

Tables Atomics::tables() {
    return {
        {
            {"atomic.add", {3, 3, atomic<AtomicOp::Add>, "array index value"}},
            {"atomic.sub", {3, 3, atomic<AtomicOp::Sub>, "array index value"}},
            {"atomic.min", {3, 3, atomic<AtomicOp::Min>, "array index value"}},
            {"atomic.max", {3, 3, atomic<AtomicOp::Max>, "array index value"}},
            {"atomic.and_", {3, 3, atomic<AtomicOp::And>, "array index value"}},
            {"atomic.or_", {3, 3, atomic<AtomicOp::Or>, "array index value"}},
            {"atomic.xor", {3, 3, atomic<AtomicOp::Xor>, "array index value"}},
            {"atomic.exchange", {3, 3, atomic<AtomicOp::Exchange>, "array index value"}},
            {"atomic.compare_exchange", {4, 4, compare_exchange, "array index expected desired"}},
            {"AtomicRef", {2, 2, reference, "array|ref index"}},
            {"atomic_fence", {0, 2, fence, "memory_order memory_scope"}},
        },
        {
            {"AtomicRef.fetch_add", {2, 2, fetch<AtomicOp::Add>, "value"}},
            {"AtomicRef.fetch_sub", {2, 2, fetch<AtomicOp::Sub>, "value"}},
            {"AtomicRef.fetch_min", {2, 2, fetch<AtomicOp::Min>, "value"}},
            {"AtomicRef.fetch_max", {2, 2, fetch<AtomicOp::Max>, "value"}},
            {"AtomicRef.fetch_and", {2, 2, fetch<AtomicOp::And>, "value"}},
            {"AtomicRef.fetch_or", {2, 2, fetch<AtomicOp::Or>, "value"}},
            {"AtomicRef.fetch_xor", {2, 2, fetch<AtomicOp::Xor>, "value"}},
            {"AtomicRef.exchange", {2, 2, fetch<AtomicOp::Exchange>, "value"}},
            {"AtomicRef.compare_exchange", {3, 4, exchange_if, "expected|expected_ref desired index|expected_idx"}},
            {"AtomicRef.load", {1, 1, load_atomic}},
            {"AtomicRef.store", {2, 2, store_atomic, "value"}},
        },
    };
}

Tables atomics() { return Atomics::tables(); }

}  // namespace pardo::lang::calls

// src/lang/calls/print.cpp: print: values go into the log, of which the host makes lines.
#include "lang/array_expr/array_expr.h"
#include "lang/calls/calls.h"
#include "lang/expressions.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"
#include "lang/statements.h"
#include "lang/typing/joins.h"

namespace pardo::lang {

namespace {

/// Values of records are shown as NumPy's.
void mark_records(const TypedExpr& from, TypedExpr& to) {
    if (from.kind() != Kind::Tuple) return;
    to.tuple().record = from.tuple().record;
    for (std::size_t k = 0; k < from.tuple().items.size(); ++k) mark_records(from.tuple().items[k], to.tuple().items[k]);
}

}  // namespace

static void print_values(Memory& l, const std::string& format, std::span<const TypedExpr> values, const Place& place) {
    std::vector<TypedExpr> numbers;
    Print print{format, {}};
    for (const TypedExpr& v : values) {
        TypedExpr shown = loaded(l, v);
        mark_records(v, shown);
        numbers_of(shown, numbers, print.layout);
    }
    for (const TypedExpr& n : numbers)
        if (n.kind() != Kind::Number)
            l.source.wrong_type(place, "print: numbers, tuples of these and texts are expected, not " + describe(n));
    if (l.walk.finds_types()) {
        l.host.uses_log = true;
        return;
    }
    l.out.prints.push_back(std::move(print));
    std::int64_t words = 2;
    for (const TypedExpr& n : numbers) words += is_complex(n.number().type.dtype) ? 2 : 1;
    const Value asked = l.builder.atomic(ir::AtomicOp::Add, l.host.log, l.builder.i64(0), l.builder.i64(words));
    const auto entry = [&] {
        Value at = l.builder.add(asked, l.builder.i64(1));
        const auto put = [&](const auto& store) {
            store();
            at = l.builder.add(at, l.builder.i64(1));
        };
        put([&] { l.builder.store(l.host.log, at, l.builder.i64(static_cast<std::int64_t>(l.out.prints.size()))); });
        Value item = l.builder.i64(0);
        for (int d = 0; d < l.task.rank(); ++d) {
            const Value index = l.builder.dim(d);
            item = l.builder.add(l.builder.mul(item, l.builder.extent(d)), index);
        }
        put([&] { l.builder.store(l.host.log, at, item); });
        const DType real = weak_dtype(DType::Float64, l.task.options.fp64);
        const Value wide = l.builder.i64(8 / itemsize(real));
        const auto put_real = [&](Value v) {
            put([&] {
                const Value shown = l.builder.cast(v, real);
                l.builder.store(l.host.log_real, l.builder.mul(at, wide), shown);
            });
        };
        for (const TypedExpr& n : numbers) {
            const Value v = value(l, n);
            if (is_complex(n.number().type.dtype)) {
                put_real(l.builder.real(v));
                put_real(l.builder.imag(v));
            } else if (is_float(n.number().type.dtype)) {
                put_real(v);
            } else {
                put([&] { l.builder.store(l.host.log, at, value(l, n, DType::Int64)); });
            }
        }
        return ir::Builder::Values();
    };
    l.builder.if_else(l.builder.le(asked, l.builder.i64(Lowered::log_words - 1 - words)), entry, [] { return ir::Builder::Values(); });
}

namespace calls {

Tables prints() {
    const auto print = [](Lowering& l, const Tree& t, const TypedExprs& a) {
        print_values(l, a[0].text(), std::span<const TypedExpr>(a).subspan(1), t.place);
        return TypedExpr();
    };
    return {{{"print", {1, 1 + most_fields, print}}}, {}};
}

}  // namespace calls

}  // namespace pardo::lang

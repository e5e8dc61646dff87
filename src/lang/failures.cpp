// src/lang/failures.cpp: what a kernel says to the host: failures into the status block, prints into the log.
#include <algorithm>

#include "lang/lowering.h"

namespace pardo::lang {

/// Writes the first failure into the status block; the next wait makes an exception of it.
void Lowering::fail_when(const TypedExpr& bad, ErrorCode code, const std::string& message, const Place& place,
                         std::vector<TypedExpr> values) {
    if (bad.number().constant && !bad.number().scalar.b) return;
    if (walk_.finds_types()) {
        host_.uses_status = true;
        return;
    }
    const auto tell = [&] {
        ir::Builder::Values words;
        for (std::size_t k = 0; k < values.size() && k < 3; ++k) {
            const bool bits =
                !values[k].number().constant && dtype(values[k].number().type) == DType::UInt64;  // which need not fit an int64
            words.push_back(bits ? builder_.cast(value(values[k]), DType::Int64) : value(values[k], DType::Int64));
        }
        report(code, message, place, words, source_.function);
        return ir::Builder::Values();
    };
    builder_.if_else(value(bad), tell, [] { return ir::Builder::Values(); });
}

/// `values`: $0, $1, $2 of the message.
void Lowering::report(ErrorCode code, const std::string& message, const Place& place, std::span<const Value> values,
                      const std::shared_ptr<const Function>& function) {
    out_.sites.push_back({code, message, place, function});
    ir::Builder::Values words{builder_.i64(static_cast<std::int64_t>(out_.sites.size()))};
    words.insert(words.end(), values.begin(), values.end());
    while (words.size() < 4) words.push_back(builder_.i64(0));
    if (round_ != ir::no_value) words.push_back(round_);
    for (int d = 0; round_ == ir::no_value && d < std::min(builder_rank(space_, loop_), 3); ++d) words.push_back(builder_.dim(d));
    builder_.report(host_.status, words);
}

/// Reports those of a view's indices that are out of range, where one is.
void Lowering::report_guards(const View& v) {
    const auto nothing = [] { return ir::Builder::Values(); };
    for (const Guard& g : v.guards) {
        if (g.index == ir::no_value) continue;
        const Value values[] = {g.index, g.extent};
        const auto tell = [&] {
            const std::string index = g.large ? "$u0" : "$0";
            report(ErrorCode::Index, "index " + index + " is out of bounds for an axis of size $1", g.place, values, g.function);
        };
        if (v.guards.size() == 1) {
            tell();
            continue;
        }
        builder_.if_else(g.inside, nothing, [&] {
            tell();
            return nothing();
        });
    }
}

namespace {

/// Values of records are shown as NumPy's.
void mark_records(const TypedExpr& from, TypedExpr& to) {
    if (from.kind() != Kind::Tuple) return;
    to.tuple().record = from.tuple().record;
    for (std::size_t k = 0; k < from.tuple().items.size(); ++k) mark_records(from.tuple().items[k], to.tuple().items[k]);
}

}  // namespace

/// Writes a print into the log, if there is room: the host makes lines of it after the kernel.
void Lowering::log(const std::string& format, std::span<const TypedExpr> values, const Place& place) {
    std::vector<TypedExpr> numbers;
    Print print{format, {}};
    for (const TypedExpr& v : values) {
        TypedExpr shown = loaded(v);
        mark_records(v, shown);
        numbers_of(shown, numbers, print.layout);
    }
    for (const TypedExpr& n : numbers)
        if (n.kind() != Kind::Number) wrong_type(place, "print: numbers, tuples of these and texts are expected, not " + describe(n));
    if (walk_.finds_types()) {
        host_.uses_log = true;
        return;
    }
    out_.prints.push_back(std::move(print));
    std::int64_t words = 2;
    for (const TypedExpr& n : numbers) words += is_complex(n.number().type.dtype) ? 2 : 1;
    const Value asked = builder_.atomic(ir::AtomicOp::Add, host_.log, builder_.i64(0), builder_.i64(words));
    const auto entry = [&] {
        Value at = builder_.add(asked, builder_.i64(1));
        const auto put = [&](const auto& store) {
            store();
            at = builder_.add(at, builder_.i64(1));
        };
        put([&] { builder_.store(host_.log, at, builder_.i64(static_cast<std::int64_t>(out_.prints.size()))); });
        Value item = builder_.i64(0);
        for (int d = 0; d < builder_rank(space_, loop_); ++d) {
            const Value index = builder_.dim(d);
            item = builder_.add(builder_.mul(item, builder_.extent(d)), index);
        }
        put([&] { builder_.store(host_.log, at, item); });
        const DType real = weak_dtype(DType::Float64, options_.fp64);
        const Value wide = builder_.i64(8 / itemsize(real));
        const auto put_real = [&](Value v) {
            put([&] {
                const Value shown = builder_.cast(v, real);
                builder_.store(host_.log_real, builder_.mul(at, wide), shown);
            });
        };
        for (const TypedExpr& n : numbers) {
            const Value v = value(n);
            if (is_complex(n.number().type.dtype)) {
                put_real(builder_.real(v));
                put_real(builder_.imag(v));
            } else if (is_float(n.number().type.dtype)) {
                put_real(v);
            } else {
                put([&] { builder_.store(host_.log, at, value(n, DType::Int64)); });
            }
        }
        return ir::Builder::Values();
    };
    builder_.if_else(builder_.le(asked, builder_.i64(Lowered::log_words - 1 - words)), entry, [] { return ir::Builder::Values(); });
}

void Lowering::assertion(const Tree& t) {
    const TypedExpr test = condition(t.parts[0]);
    const TypedExpr bad = pure(Opcode::Not, {DType::Bool, false}, {test}, DType::Bool);
    if (bad.number().constant && !bad.number().scalar.b) return;
    const auto stops = [&] {
        fail_when(flag(true), ErrorCode::Assertion, t.name, t.place, {});
        set_variable(return_flag, flag(true), t.place);
    };
    if (bad.number().constant) return stops();
    branch(bad, t.place, stops, [] {});
}

}  // namespace pardo::lang

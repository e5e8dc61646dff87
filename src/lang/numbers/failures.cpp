// src/lang/numbers/failures.cpp: failures of the program: they are told to the host in the status block.
#include "lang/numbers/failures.h"

#include <algorithm>

#include "lang/numbers/numbers.h"

namespace pardo::lang {

void fail_when(Emit& l, const TypedExpr& bad, ErrorCode code, const std::string& message, const Place& place,
               std::vector<TypedExpr> values) {
    if (bad.number().constant && !bad.number().scalar.b) return;
    if (l.walk.finds_types()) {
        l.host.uses_status = true;
        return;
    }
    const auto tell = [&] {
        ir::Builder::Values words;
        for (std::size_t k = 0; k < values.size() && k < 3; ++k) {
            const bool bits =
                !values[k].number().constant && l.rules.dtype(values[k].number().type) == DType::UInt64;  // which need not fit an int64
            words.push_back(bits ? l.builder.cast(value(l, values[k]), DType::Int64) : value(l, values[k], DType::Int64));
        }
        report(l, code, message, place, words, l.source.function);
        return ir::Builder::Values();
    };
    l.builder.if_else(value(l, bad), tell, [] { return ir::Builder::Values(); });
}

void report(Emit& l, ErrorCode code, const std::string& message, const Place& place, std::span<const Value> values,
            const std::shared_ptr<const Function>& function) {
    l.out.sites.push_back({code, message, place, function});
    ir::Builder::Values words{l.builder.i64(static_cast<std::int64_t>(l.out.sites.size()))};
    words.insert(words.end(), values.begin(), values.end());
    while (words.size() < 4) words.push_back(l.builder.i64(0));
    if (l.round != ir::no_value) words.push_back(l.round);
    for (int d = 0; l.round == ir::no_value && d < std::min(l.task.rank(), 3); ++d) words.push_back(l.builder.dim(d));
    l.builder.report(l.host.status, words);
}

}  // namespace pardo::lang

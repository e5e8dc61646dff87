// src/lang/calls/draws.cpp: random numbers in loops: what makes the counter and the key of each draw another.
#include "lang/calls/calls.h"
#include "lang/calls/user.h"
#include "lang/expressions.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang {

void count_draws(Lowering& l) {
    const auto found = l.scope.find(draws_name);
    if (found == l.scope.end()) return;
    const TypedExpr next = pure(l, Opcode::Add, found->second.expr.number().type, {found->second.expr, integer(1)}, DType::Int64);
    give(l, draws_name, next, found->second.place);
}

namespace {

/// Which iteration of the parallel loop this is; 0 in serial ones.
TypedExpr iteration_number(Lowering& l) {
    constexpr NumberType type{DType::Int64, false};
    if (!l.task.loop || !l.task.loop->parallel) return cast(l, integer(0), type);
    if (!l.task.loop->results.empty()) return number(type, l.round, 0);
    Value at = l.builder.dim(0);
    for (int d = 1; d < l.task.loop->dimensions; ++d) {
        const Value index = l.builder.dim(d);
        at = l.builder.add(l.builder.mul(at, l.builder.extent(d)), index);
    }
    return number(type, at, 0);
}

/// The library draws by counters and keys. A counter is the iteration and how many iterations of loops in it have begun; the key is that of
/// the run, and differs from place to place in the program. So no two draws are the same, in whatever order iterations run.
struct DrawCalls {
    static void require(Lowering& l, const Tree& t) {
        if (!l.scope.contains(draws_name))
            l.source.wrong_type(t.place,
                                "random numbers without a key are for loops of jit functions; write pp.random.philox_uniform((i,), key)");
    }
    static TypedExpr counter(Lowering& l, const Tree& t, const calls::TypedExprs&) {
        require(l, t);
        return tuple({iteration_number(l), l.scope.at(draws_name).expr});
    }
    static TypedExpr key(Lowering& l, const Tree& t, const calls::TypedExprs&) {
        require(l, t);
        TypedExpr out = l.draws.key;
        const TypedExpr place = cast(l, integer(++l.draws.places * 0x9E3779B9), {DType::UInt64, false});
        out.tuple().items[1] = binary(l, "+", cast(l, out.tuple().items[1], place.number().type), place, t.place);
        return out;
    }
};

}  // namespace

namespace calls {

Tables draws() { return {{{"random.counter", {0, 0, DrawCalls::counter}}, {"random.key", {0, 0, DrawCalls::key}}}, {}}; }

}  // namespace calls

}  // namespace pardo::lang

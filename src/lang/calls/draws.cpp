// src/lang/calls/draws.cpp: random numbers in loops: what makes the counter and the key of each draw another.
#include "lang/calls/calls.h"

namespace pardo::lang {

/// The library draws by counters and keys. A counter is the iteration and how many iterations of loops in it have begun; the key is that of
/// the run, and differs from place to place in the program. So no two draws are the same, in whatever order iterations run.
struct Calls::Draws {
    static void require(Lowering& l, const Tree& t) {
        if (!l.scope_.contains(draws_name))
            l.wrong_type(t.place, "random numbers without a key are for loops of jit functions; write pp.random.philox_uniform((i,), key)");
    }
    static TypedExpr counter(Lowering& l, const Tree& t, const TypedExprs&) {
        require(l, t);
        return tuple({l.iteration_number(), l.scope_.at(draws_name).expr});
    }
    static TypedExpr key(Lowering& l, const Tree& t, const TypedExprs&) {
        require(l, t);
        TypedExpr out = l.key_;
        const TypedExpr place = l.cast(integer(++l.draw_places_ * 0x9E3779B9), {DType::UInt64, false});
        out.tuple().items[1] = l.binary("+", l.cast(out.tuple().items[1], place.number().type), place, t.place);
        return out;
    }
};

Calls::Tables Calls::draws() { return {{{"random.counter", {0, 0, Draws::counter}}, {"random.key", {0, 0, Draws::key}}}, {}}; }

/// Which iteration of the parallel loop this is; 0 in serial ones.
TypedExpr Lowering::iteration_number() {
    constexpr NumberType type{DType::Int64, false};
    if (!loop_ || !loop_->parallel) return cast(integer(0), type);
    if (walk_.finds_types()) return number(type, ir::no_value, 0);
    if (!loop_->results.empty()) return number(type, round_, 0);
    Value at = builder_.dim(0);
    for (int d = 1; d < loop_->dimensions; ++d) {
        const Value index = builder_.dim(d);
        at = builder_.add(builder_.mul(at, builder_.extent(d)), index);
    }
    return number(type, at, 0);
}

/// An iteration of a loop inside begins.
void Lowering::count_draws() {
    const auto found = scope_.find(draws_name);
    if (found == scope_.end()) return;
    const TypedExpr next = pure(Opcode::Add, found->second.expr.number().type, {found->second.expr, integer(1)}, DType::Int64);
    scope_.set(draws_name, {next, found->second.place, false, ++versions_});
}

}  // namespace pardo::lang

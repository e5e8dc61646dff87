// src/routines/fields.cpp: the fields of what routines take, and what kinds these are.
#include "routines/fields.h"

#include <string>

#include "graph/rows.h"
#include "routines/routines.h"

namespace pardo::routines {

void field(Fields& f, DType& value) { choice(f, value, static_cast<DType>(dtype_count - 1)); }
void field(Fields& f, graph::ReduceOp& value) { choice(f, value, graph::ReduceOp::ArgMax); }
void field(Fields& f, graph::Op& value) {
    constexpr graph::Op all[] = {
#define OP(name, arity, kind, dtypes, result, cost, identity, recipe, numpy, doc) graph::Op::name,
#include "graph/ops.def"
#undef OP
    };
    choice(f, value, all[std::size(all) - 1]);
}
void field(Fields& f, Question& value) { choice(f, value, Question::Most); }
void field(Fields& f, Transform& value) { choice(f, value, Transform::Sine); }
void field(Fields& f, Lines& value) { field(f, value.outer), field(f, value.length), field(f, value.inner); }
void field(Fields& f, Fourier& value) {
    field(f, value.transform), field(f, value.forward), field(f, value.factor), field(f, value.type), field(f, value.orthogonal);
}
void field(Fields& f, Bounds::Row& value) { field(f, value.indices), field(f, value.size), field(f, value.axis); }
void field(Fields& f, Bounds& value) { field(f, value.op_name), field(f, value.rows); }
void field(Fields& f, GatherPlan& value) {
    field(f, value.outer), field(f, value.inner), field(f, value.outer_strides), field(f, value.inner_strides);
    field(f, value.count), field(f, value.steps), field(f, value.sizes), field(f, value.bounds);
}
void field(Fields& f, MatrixOptions& value) {
    field(f, value.op_name), field(f, value.upper), field(f, value.raw), field(f, value.nan_where_singular), field(f, value.finite);
    field(f, value.unit_diagonal), field(f, value.transposed), field(f, value.conjugated), field(f, value.rcond);
    field(f, value.first), field(f, value.last), field(f, value.below), field(f, value.above);
}

namespace {

/// Notes the kinds of fields; each list has one item.
class Kinds final : public Fields {
public:
    void choice(std::uint64_t&, std::uint64_t last) override { text_ += 'c' + std::to_string(last); }
    void count(std::uint64_t& value) override { value = 1, text_ += '*'; }
    void number(std::int64_t&) override { text_ += 'n'; }
    void real(double&) override { text_ += 'r'; }
    void text(const char*&) override { text_ += 't'; }
    void memory(Memory&) override { text_ += 'm'; }
    const std::string& all() const { return text_; }

private:
    std::string text_;
};

}  // namespace

std::string RoutineBase::signature() const {
    Kinds kinds;
    walk_default(kinds);
    return kinds.all();
}

}  // namespace pardo::routines

// src/array/short_circuit.cpp: reductions of arrays in memory that end before the last element.
#include <optional>

#include "array/call.h"
#include "array/operand.h"
#include "array/short_circuit.h"
#include "plan/force.h"
#include "routines/routines.h"

namespace pardo::arrays {

namespace {

constexpr std::int64_t least_elements = 4096;  // a kernel takes as long for them

const char* asked_by(Question question) {
    switch (question) {
        case Question::Any: return "any";
        case Question::All: return "all";
        case Question::Count: return "count_nonzero";
        case Question::Least: return "argmin";
        case Question::Most: break;
    }
    return "argmax";
}

struct EarlyCall final : arrays::ArrayCall {
    EarlyCall(Question what, DType gives) : ArrayCall(asked_by(what)), question(what), result(gives) {}
    void compute(std::span<const Array> inputs, std::span<Array> results) const override {
        const Memory x = contiguous_memory(inputs[0]);
        const Output out = make_output(name, inputs[0].node()->queue.get(), result, Shape{}, kind_of(x));
        routines::look_through(inputs[0].node()->queue.get(), x, out.memory, question);
        results[0] = out.array;
    }
    graph::ImplementationChoice implementation(std::span<const graph::CallInput> inputs) const override {
        const graph::Node& x = *inputs[0].node;
        return routines::look_through.describe(x.queue.get(), described(x.dtype, x.shape), described(result, Shape{}), question);
    }
    Question question;
    DType result;
};

std::optional<Question> question_of(graph::ReduceOp op, DType t) {
    using graph::ReduceOp;
    const bool is_bool = t == DType::Bool;
    switch (op) {
        case ReduceOp::Any: return is_bool ? std::optional(Question::Any) : std::nullopt;
        case ReduceOp::All: return is_bool ? std::optional(Question::All) : std::nullopt;
        case ReduceOp::Sum: return is_bool ? std::optional(Question::Count) : std::nullopt;
        case ReduceOp::ArgMin: return Question::Least;
        case ReduceOp::ArgMax: return Question::Most;
        default: return {};
    }
}

}  // namespace

std::optional<Array> reduced_early(graph::ReduceOp op, const Array& x) {
    if (state_of(x.node()->queue.get()).capture) return {};  // a kernel is part of what is exported
    const DType t = x.dtype();
    if (is_inexact(t) || itemsize(t) > 2 || x.pending() || x.size() < least_elements || !x.is_contiguous()) return {};
    const std::optional<Question> question = question_of(op, t);
    if (!question) return {};
    const DType result = *question <= Question::All ? DType::Bool : DType::Int64;
    if (!routines::look_through.applies(x.node()->queue.get(), described(t, shape_of(x)), described(result, Shape{}), *question)) return {};
    const Array inputs[] = {x};
    Array answer = arrays::record(Ref<arrays::ArrayCall>(new EarlyCall(*question, result)), inputs, {result, Shape{}});
    answer.node()->scalar_value = true;
    return answer;
}

}  // namespace pardo::arrays

// tests/unit/ir/verifier_test.cpp: each rule of the IR, broken once.
#include <gtest/gtest.h>

#include <functional>

#include <pardo/error.h>

#include "ir/builder.h"

namespace pardo::ir::test {
namespace {

/// A kernel with all that rules are about: parameters, a branch, both kinds of loops, a while.
Kernel sample() {
    Builder m("k", 1, true);
    const Value in = m.pointer("in", DType::Float64, Access::Read, true), out = m.pointer("out", DType::Float64, Access::Write, true);
    const Value s = m.scalar_param("s", DType::Float64), n = m.scalar_param("n", DType::Int64);
    const Reduction sum[] = {{Combine::Add, s}};
    const Value start[] = {m.for_lanes(m.i64(0), n, sum, [&](Value i) { return Builder::Values{m.load(in, i)}; })[0]};
    const Value loop[] = {m.for_loop(m.i64(0), n, m.i64(1), start,
                                     [&](Value i, std::span<const Value> c) { return Builder::Values{m.mul(c[0], m.load(in, i))}; })[0]};
    const Value branch[] = {m.if_else(
        m.lt(loop[0], s), [&] { return Builder::Values{m.neg(s)}; }, [&] { return Builder::Values{s}; })[0]};
    const auto last = m.while_loop(
        branch, [&](std::span<const Value> c) { return m.lt(c[0], s); },
        [&](std::span<const Value> c) { return Builder::Values{m.add(c[0], s)}; });
    m.store(out, m.dim(0), last[0]);
    return m.finish();
}

Instr& find(Kernel& k, Opcode op, int which = 0) {
    for (Instr& in : k.instrs)
        if (in.op == op && which-- == 0) return in;
    throw std::logic_error("no such instruction");
}

Value new_value(Kernel& k, DType type) {
    k.values.push_back({type, false, static_cast<InstrId>(k.instrs.size()), 0, ~0u});
    return static_cast<Value>(k.values.size() - 1);
}

struct Case {
    const char* name;
    std::function<void(Kernel&)> damage;
    const char* message;
};

void expect_rejected(const Case& c) {
    Kernel kernel = sample();
    c.damage(kernel);
    try {
        verify(kernel);
        ADD_FAILURE() << c.name << ": accepted\n" << print(kernel);
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::Internal);
        EXPECT_EQ(e.message().rfind("verify: kernel 'k': ", 0), 0u) << e.message();
        EXPECT_NE(e.message().find(c.message), std::string::npos) << c.name << ": " << e.message();
    }
}

Loop& loop_of(Instr& in) { return std::get<Loop>(in.attribute); }

TEST(Verifier, AcceptsTheSample) { EXPECT_NO_THROW(verify(sample())); }

TEST(Verifier, RejectsBrokenKernels) {
    const Case cases[] = {
        {"rank", [](Kernel& k) { k.rank = 33; }, "the rank must be between 0 and 32, not 33"},
        {"parameter without value", [](Kernel& k) { k.params[2].value = 9999; }, "parameter 2 's': it has no value"},
        {"parameter of another type", [](Kernel& k) { k.params[2].type = DType::Int8; }, "parameter 2 's': its value has another type"},
        {"parameter's value from elsewhere", [](Kernel& k) { k.params[2].value = find(k, Opcode::Store).operands[2]; },
         "not defined by its param instruction"},
        {"access", [](Kernel& k) { k.params[0].access = static_cast<Access>(0); }, "unknown access"},
        {"written scalar", [](Kernel& k) { k.params[2].access = Access::ReadWrite; }, "scalars are read only"},
        {"unknown operand", [](Kernel& k) { find(k, Opcode::Neg).operands[0] = 9999; }, "operand 0 does not exist"},
        {"use before definition", [](Kernel& k) { find(k, Opcode::Neg).operands[0] = find(k, Opcode::While).results[0]; },
         "used before its definition or outside its region"},
        {"use outside the region", [](Kernel& k) { find(k, Opcode::Store).operands[2] = find(k, Opcode::Neg).results[0]; },
         "used before its definition or outside its region"},
        {"argument outside its region",
         [](Kernel& k) { find(k, Opcode::Store).operands[1] = k.regions[find(k, Opcode::For).regions[0]].args[0]; }, "outside its region"},
        {"wrong dtype", [](Kernel& k) { find(k, Opcode::Mul).operands[1] = k.params[3].value; }, "mul float64"},
        {"pointer as a value", [](Kernel& k) { find(k, Opcode::Neg).operands[0] = k.params[0].value; }, "operand 0 must not be a pointer"},
        {"value as a pointer", [](Kernel& k) { find(k, Opcode::Load).operands[0] = k.params[2].value; }, "operand 0 must be a pointer"},
        {"operand count", [](Kernel& k) { find(k, Opcode::Neg).operands.push_back(k.params[2].value); }, "wrong number of operands"},
        {"result dtype", [](Kernel& k) { k.values[find(k, Opcode::Neg).results[0]].type = DType::Float32; }, "neg float32"},
        {"comparison's result", [](Kernel& k) { k.values[find(k, Opcode::Lt).results[0]].type = DType::Int8; }, "the result must be bool"},
        {"two results", [](Kernel& k) { find(k, Opcode::Neg).results.push_back(new_value(k, DType::Float64)); }, "it must have one result"},
        {"constant's dtype", [](Kernel& k) { find(k, Opcode::Const).attribute = Constant{Scalar(1.0)}; },
         "the constant must have the result's dtype"},
        {"dimension", [](Kernel& k) { find(k, Opcode::Dim).attribute = Index{1}; }, "the range has no such dimension"},
        {"load without permission", [](Kernel& k) { k.params[0].access = Access::Write; }, "parameter 'in' is not declared for reading"},
        {"store without permission", [](Kernel& k) { k.params[1].access = Access::Read; }, "parameter 'out' is not declared for writing"},
        {"index dtype", [](Kernel& k) { find(k, Opcode::Store).operands[1] = k.params[2].value; }, "the index must be int64"},
        {"stored dtype", [](Kernel& k) { find(k, Opcode::Store).operands[2] = k.params[3].value; },
         "the value must have the pointer's element dtype"},
        {"bounds dtype", [](Kernel& k) { find(k, Opcode::For).operands[1] = k.params[2].value; }, "lower, upper and step must be int64"},
        {"bounds missing", [](Kernel& k) { find(k, Opcode::For, 1).operands.resize(2); },
         "a loop has lower, upper and step, and one region"},
        {"loop results", [](Kernel& k) { find(k, Opcode::For, 1).operands.push_back(k.params[2].value); },
         "one result for each initial value"},
        {"step of lanes", [](Kernel& k) { find(k, Opcode::For).operands[2] = k.params[3].value; },
         "the step of a lanes loop must be the constant 1"},
        {"combine missing", [](Kernel& k) { loop_of(find(k, Opcode::For)).combines.clear(); }, "it needs one combine for each result"},
        {"combine of floats", [](Kernel& k) { loop_of(find(k, Opcode::For)).combines[0] = Combine::Or; },
         "and, or, xor combine integers or bool"},
        {"combine unknown", [](Kernel& k) { loop_of(find(k, Opcode::For)).combines[0] = static_cast<Combine>(17); }, "unknown combine"},
        {"combine of a serial loop", [](Kernel& k) { loop_of(find(k, Opcode::For, 1)).combines.push_back(Combine::Add); },
         "a serial loop has no combines"},
        {"carried value of lanes",
         [](Kernel& k) {
             loop_of(find(k, Opcode::For, 1)).kind = LoopKind::Lanes;
             loop_of(find(k, Opcode::For, 1)).combines.push_back(Combine::Add);
         },
         "its region has the wrong number of arguments"},
        {"carried dtype", [](Kernel& k) { k.values[k.regions[find(k, Opcode::For, 1).regions[0]].args[1]].type = DType::Float32; },
         "dtypes of index and initial values"},
        {"region missing", [](Kernel& k) { find(k, Opcode::For).regions[0] = 999; }, "its region does not exist"},
        {"region shared", [](Kernel& k) { find(k, Opcode::If).regions[1] = find(k, Opcode::If).regions[0]; },
         "its region belongs to another instruction"},
        {"region without yield", [](Kernel& k) { k.regions[find(k, Opcode::If).regions[0]].body.pop_back(); },
         "a region must end in yield"},
        {"empty region", [](Kernel& k) { k.regions[find(k, Opcode::If).regions[0]].body.clear(); },
         "a region is empty; it must end in yield"},
        {"yield in the middle",
         [](Kernel& k) {
             auto& b = k.regions[find(k, Opcode::If).regions[0]].body;
             std::swap(b.front(), b.back());
         },
         "yield ends a region, and only that"},
        {"yield in the body", [](Kernel& k) { k.body.body.push_back(k.regions[0].body.back()); }, "in more than one place"},
        {"yielded count", [](Kernel& k) { find(k, Opcode::Yield).operands.clear(); }, "one value for each result of its owner"},
        {"yielded dtype", [](Kernel& k) { find(k, Opcode::Yield).operands[0] = k.params[3].value; },
         "yielded values must have the dtypes of its owner's results"},
        {"if condition", [](Kernel& k) { find(k, Opcode::If).operands[0] = k.params[2].value; }, "the condition must be bool"},
        {"if regions", [](Kernel& k) { find(k, Opcode::If).regions.pop_back(); }, "a condition and two regions"},
        {"while condition",
         [](Kernel& k) {
             auto& in = find(k, Opcode::While);
             k.instrs[k.regions[in.regions[0]].body.back()].operands[0] = k.params[2].value;
         },
         "must yield one bool"},
        {"while regions", [](Kernel& k) { find(k, Opcode::While).regions.pop_back(); }, "a region for the condition and one for the body"},
        {"instruction twice", [](Kernel& k) { k.body.body.push_back(k.body.body[0]); }, "it is in more than one place"},
        {"instruction missing", [](Kernel& k) { k.body.body.push_back(9999); }, "an instruction that does not exist"},
        {"unknown operation", [](Kernel& k) { find(k, Opcode::Neg).op = static_cast<Opcode>(200); }, "unknown operation"},
        {"unknown function",
         [](Kernel& k) {
             auto& in = find(k, Opcode::Neg);
             in.op = Opcode::Call;
             in.attribute = static_cast<Math>(200);
         },
         "wrong number of operands for this function"},
        {"another operation's attribute", [](Kernel& k) { find(k, Opcode::Neg).op = Opcode::Call; },
         "its attribute is that of another operation"},
        {"body with arguments", [](Kernel& k) { k.body.args.push_back(0); }, "the body takes no arguments"},
        {"result of another", [](Kernel& k) { k.values[find(k, Opcode::Neg).results[0]].def = 0; }, "its results do not refer to it"},
    };
    for (const Case& c : cases) expect_rejected(c);
}

TEST(Verifier, NamesTheInstruction) {
    Kernel kernel = sample();
    find(kernel, Opcode::Neg).operands[0] = kernel.params[3].value;
    try {
        verify(kernel);
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(e.message().find(" = neg float64 %3'"), std::string::npos) << e.message();
    }
}

}  // namespace
}  // namespace pardo::ir::test

// tests/unit/lang/lower_test.cpp: syntax trees become kernels that compute what Python does, and wrong ones are refused with their line.
#include "lang/lower.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "ir/interpret.h"

namespace pardo::lang {
namespace {

// ---- trees by hand

Tree tree(Form form, std::vector<Tree> parts = {}, std::string name = "") {
    Tree t;
    t.form = form;
    t.place = {1, 0, 1, 4};
    t.name = std::move(name);
    t.parts = std::move(parts);
    return t;
}
Tree name(const std::string& n) { return tree(Form::Name, {}, n); }
Tree literal(Scalar s) {
    Tree t = tree(Form::Number);
    t.number = s;
    return t;
}
Tree block(std::vector<Tree> statements) { return tree(Form::Block, std::move(statements)); }
Tree assign(Tree target, Tree value) { return tree(Form::Assign, {std::move(target), std::move(value)}); }
Tree augment(const std::string& op, Tree target, Tree value) { return tree(Form::Augment, {std::move(target), std::move(value)}, op); }
Tree binary(const std::string& op, Tree a, Tree b) { return tree(Form::Binary, {std::move(a), std::move(b)}, op); }
Tree compare(const std::string& op, Tree a, Tree b) { return tree(Form::Compare, {std::move(a), std::move(b)}, op); }
Tree at(const std::string& array, Tree index) { return tree(Form::Subscript, {name(array), std::move(index)}); }
Tree call(const std::string& f, std::vector<Tree> arguments) { return tree(Form::Call, std::move(arguments), f); }
Tree branch(Tree test, std::vector<Tree> yes, std::vector<Tree> no = {}) {
    return tree(Form::If, {std::move(test), block(std::move(yes)), block(std::move(no))});
}
Tree loop(const std::string& i, Tree stop, std::vector<Tree> body) {
    return tree(Form::For, {name(i), literal(0), std::move(stop), literal(1), block(std::move(body)), block({})});
}
Tree index() { return call("get_global_id", {literal(0)}); }

std::shared_ptr<Function> function(std::vector<std::string> params, std::vector<Tree> body) {
    auto f = std::make_shared<Function>();
    f->name = "f";
    f->file = "f.py";
    f->lines = {"some line of the user"};
    f->params = std::move(params);
    f->body = block(std::move(body));
    return f;
}

ArgumentType array(DType dtype) {
    ArgumentType t;
    t.kind = ArgumentType::Kind::Array;
    t.dtype = dtype;
    t.rank = 1;
    t.contiguous = true;
    return t;
}

Lowered lowered(const std::shared_ptr<Function>& f, const std::vector<ArgumentType>& types) { return lower(f, false, Space{}, types, {}); }

/// Runs a function of one array over its items, in place.
template <class T> std::vector<T> run(std::vector<Tree> body, std::vector<T> x) {
    const Lowered l = lowered(function({"x"}, std::move(body)), {array(dtype_of<T>)});
    std::vector<std::uint64_t> words;
    for (const Slot& slot : l.slots)
        words.push_back(slot.kind == Slot::Kind::Pointer ? std::bit_cast<std::uint64_t>(x.data()) : static_cast<std::uint64_t>(x.size()));
    const std::int64_t extents[] = {static_cast<std::int64_t>(x.size())};
    ir::interpret(l.kernel, words, extents);
    return x;
}

std::string refusal(std::vector<Tree> body, const std::vector<ArgumentType>& types = {array(DType::Float64)}) {
    try {
        (void)lowered(function({"x"}, std::move(body)), types);
    } catch (const Error& e) {
        return e.message();
    }
    return "";
}

// ---- programs

TEST(Lower, AccessesAreFoundByTheDryWalk) {
    const auto f = function({"x", "y", "z"}, {assign(at("y", index()), at("x", index())), augment("+", at("z", index()), literal(1))});
    const Lowered l = lowered(f, {array(DType::Float32), array(DType::Float32), array(DType::Float32)});
    EXPECT_EQ(l.accesses[0], ir::Access::Read);
    EXPECT_EQ(l.accesses[1], ir::Access::Write);
    EXPECT_EQ(l.accesses[2], ir::Access::ReadWrite);
    EXPECT_TRUE(l.sites.empty());
}

TEST(Lower, PythonsNumbersTakeTheDtypeThatTheyMeet) {
    const auto f =
        function({"x"}, {assign(name("s"), literal(0.0)), augment("+", name("s"), at("x", index())), assign(at("x", index()), name("s"))});
    EXPECT_EQ(ir::print(lowered(f, {array(DType::Float32)}).kernel).find("float64"), std::string::npos);
}

TEST(Lower, LoopsCarryWhatTheyChange) {
    const auto x =
        run<double>({assign(name("i"), index()), assign(name("s"), literal(0)),
                     loop("k", name("i"), {augment("+", name("s"), at("x", literal(2)))}), assign(at("x", name("i")), name("s"))},
                    {0, 0, 5, 0});
    EXPECT_EQ(x, (std::vector<double>{0, 5, 10, 30}));
}

TEST(Lower, BreakAtTheStartAndContinue) {
    // for k in range(100): if k > i: break; if k % 2 == 1: continue; s += k
    const std::vector<Tree> body{branch(compare(">", name("k"), name("i")), {tree(Form::Break)}),
                                 branch(compare("==", binary("%", name("k"), literal(2)), literal(1)), {tree(Form::Continue)}),
                                 augment("+", name("s"), name("k"))};
    const auto x = run<std::int64_t>(
        {assign(name("i"), index()), assign(name("s"), literal(0)), loop("k", literal(100), body), assign(at("x", name("i")), name("s"))},
        {0, 0, 0, 0, 0, 0, 0});
    EXPECT_EQ(x, (std::vector<std::int64_t>{0, 0, 2, 2, 6, 6, 12}));
}

TEST(Lower, WhatFollowsAnEarlyReturnBelongsToTheOtherSide) {
    const auto x = run<std::int64_t>({assign(name("i"), index()), branch(compare("==", name("i"), literal(1)), {tree(Form::Return)}),
                                      assign(at("x", name("i")), literal(7))},
                                     {1, 2, 3});
    EXPECT_EQ(x, (std::vector<std::int64_t>{7, 2, 7}));
}

TEST(Lower, NegativeIndicesCountFromTheEnd) {
    const auto x = run<std::int64_t>(
        {branch(compare("==", index(), literal(0)), {assign(at("x", literal(-1)), at("x", binary("-", index(), literal(2))))})},
        {1, 2, 3, 4});
    EXPECT_EQ(x, (std::vector<std::int64_t>{1, 2, 3, 3}));
}

TEST(Lower, IndicesThatCannotBeNegativeStayAffine) {
    const auto f = function({"x"}, {assign(at("x", binary("+", index(), literal(1))), literal(0.0))});
    EXPECT_EQ(ir::print(lowered(f, {array(DType::Float64)}).kernel).find("select"), std::string::npos);
}

TEST(Lower, ReductionsOfParallelLoops) {
    Tree parallel = loop("i", name("n"), {augment("+", name("s"), at("x", name("i")))});
    parallel.index = 1;
    EXPECT_EQ(reductions_of(*function({"s", "x"}, {parallel}), parallel, {"s", "x"}), std::vector<std::string>{"s"});
    Tree carried = loop("i", name("n"), {augment("+", name("s"), literal(1)), assign(at("x", name("i")), name("s"))});
    EXPECT_THROW((void)reductions_of(*function({"s", "x"}, {carried}), carried, {"s", "x"}), Error);  // it uses `s` before the end
}

// ---- refusals

TEST(Lower, NamesWithoutAValueAreRefused) {
    EXPECT_NE(refusal({assign(at("x", index()), name("y"))}).find("`y` has no value here"), std::string::npos);
    const std::string text =
        refusal({branch(compare(">", index(), literal(1)), {assign(name("y"), literal(1.0))}), assign(at("x", index()), name("y"))});
    EXPECT_NE(text.find("`y` may have no value here"), std::string::npos) << text;
    EXPECT_NE(text.find("some line of the user\n    ^^^^"), std::string::npos) << text;
}

TEST(Lower, TypesThatDoNotJoinAreRefused) {
    const std::string text = refusal({branch(compare(">", index(), literal(1)), {assign(name("y"), at("x", index()))},
                                             {assign(name("y"), tree(Form::Tuple, {literal(1), literal(2)}))})});
    EXPECT_NE(text.find("it needs one type"), std::string::npos) << text;
}

TEST(Lower, ElementsThatRoundsShareAreRefused) {
    Tree parallel = loop("i", name("n"), {augment("+", at("h", at("x", name("i"))), literal(1))});
    EXPECT_THROW((void)reductions_of(*function({"h", "x"}, {parallel}), parallel, {"h", "x"}), Error);
}

}  // namespace
}  // namespace pardo::lang

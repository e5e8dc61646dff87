// tests/unit/lang/typing_test.cpp: what is known of expressions before anything is built: payloads, types, ranges, facts of names.
#include <gtest/gtest.h>

#include "lang/loops/lane_choice.h"
#include "lang/scope_facts.h"
#include "lang/typing/joins.h"
#include "lang/typing/numbers.h"
#include "lang/walk.h"

namespace pardo::lang {
namespace {

constexpr NumberType python_int{DType::Int64, true}, single{DType::Float32, false};

Source one_line() {
    const auto function = std::make_shared<Function>();
    function->name = "f";
    return {function, {}};
}

Tree name_in_test(const std::string& text) {
    Tree t;
    t.form = Form::Name;
    t.name = text;
    return t;
}

TEST(Typing, AnAccessorOfAnotherKindThrows) {
    const TypedExpr text{std::string("left")};
    EXPECT_EQ(text.kind(), Kind::Text);
    EXPECT_EQ(text.text(), "left");
    EXPECT_THROW((void)text.number(), std::bad_variant_access);
    EXPECT_FALSE(text.is_constant());
    EXPECT_EQ(TypedExpr().kind(), Kind::None);
    EXPECT_EQ(tuple({integer(1), integer(2)}).parts().size(), 2U);
    EXPECT_TRUE(integer(1).parts().empty());
}

TEST(Typing, WhatJoinsHasOneType) {
    const Source source = one_line();
    const Rules rules{source};
    const TypedExpr weak = number(python_int, ir::no_value), strong = number(single, ir::no_value);
    EXPECT_EQ(joined(rules, "x", {weak, {}}, {strong, {}}, {}).number().type, single);
    EXPECT_TRUE(joined(rules, "x", {integer(3), {}}, {integer(3), {}}, {}).is_constant());
    EXPECT_FALSE(joined(rules, "x", {integer(3), {}}, {integer(4), {}}, {}).is_constant());
    EXPECT_EQ(joined(rules, "x", {integer(3), {}}, {integer(4), {}}, {}).number().least, 3);
    EXPECT_THROW(joined(rules, "x", {weak, {}}, {tuple({}), {}}, {}), Error);
}

TEST(Typing, PythonIntegersFitWhatTheirBoundsSay) {
    EXPECT_TRUE(fits(integer(255), DType::UInt8));
    EXPECT_FALSE(fits(integer(256), DType::UInt8));
    EXPECT_FALSE(fits(integer(-1), DType::UInt64));
    EXPECT_FALSE(fits(number(python_int, ir::no_value), DType::Int32));
    EXPECT_EQ(least_of(ir::Opcode::Add, integer(2), integer(3)), 5);
    const Source source = one_line();
    EXPECT_EQ(promoted({source}, integer(1), number(single, ir::no_value), {}), single);
    EXPECT_THROW(check_range({source}, integer(300), DType::Int8, {}), Error);
}

TEST(Typing, TestsSayWhatNamesAreNeverBelow) {
    Scope scope;
    for (const char* n : {"a", "b"}) scope.set(n, {number(python_int, ir::no_value), {}});
    Tree zero;
    zero.form = Form::Number;
    zero.number = Scalar(0);
    Tree above;
    above.form = Form::Compare;
    above.name = ">";
    above.parts = {name_in_test("b"), zero};
    learn(scope, above, true);
    EXPECT_EQ(scope.at("b").expr.number().least, 1);
    above.parts = {name_in_test("a"), name_in_test("b")};
    learn(scope, above, true);
    Tree less;
    less.form = Form::Binary;
    less.name = "-";
    less.parts = {name_in_test("a"), name_in_test("b")};
    EXPECT_EQ(difference(scope, less), 1);
    EXPECT_EQ(scope.at("a").expr.number().least, 2);
}

TEST(Typing, AWalkForTypesEndsWithItsPart) {
    Walk walk;
    walk.begin(true);
    EXPECT_EQ(walk.types_of([&] { return walk.value([] { return ir::Value{7}; }); }), ir::no_value);
    EXPECT_THROW(walk.types_of([] { throw Error(ErrorCode::Type, "no"); }), Error);
    EXPECT_EQ(walk.value([] { return ir::Value{7}; }), ir::Value{7});
}

TEST(Typing, ALoopThatCannotOnceIsNotTheLanes) {
    LaneChoice lanes;
    const Tree loop;
    lanes.choose(loop, true, "", true);
    EXPECT_TRUE(lanes.makes_scalar());
    lanes.choose(loop, false, "it may be left early", true);
    lanes.choose(loop, true, "", true);
    EXPECT_FALSE(lanes.makes_scalar());
    EXPECT_EQ(lanes.others.at(&loop), "it may be left early");
}

}  // namespace
}  // namespace pardo::lang

// tests/unit/saved/file_test.cpp: programs become files and programs again; what is damaged is refused, and never followed.
#include <gtest/gtest.h>
#include <pardo/error.h>

#include <bit>
#include <cstring>

#include "saved/program.h"

namespace pardo::saved {
namespace {

/// x[n] -> y[n], by one launch of a kernel, with a constant and scratch.
Program sample() {
    Program p;
    p.name = "f";
    p.made_by = "pardo 0";
    p.arguments = {{"x", DType::Float32, {{0, 0}, {-1, 3}}}};
    p.sizes = 1;
    p.outputs = {DType::Float64};
    p.constants = {{{1, 2, 3, 4}}};
    p.targets = {"x86-64-v3", "other"};
    p.codes = {{"kernel", 1, 64, {}, {{7, 7, 7}, {8}}}};
    p.routines = {{"sort", "mmm"}};
    Regime r;
    r.sizes = {{false, 1}};
    r.sizing = {1, {{Sizing::Op::Literal, 0, 0, 8}, {Sizing::Op::Mul, 0, 1, 0}}, {}};
    r.slots = {{0, 2}};
    Launch launch;
    launch.extents = {{0, 0}};
    launch.words = {{0, -1}, {0, -1}, {5, -1}};
    launch.addresses = {{0, 0, {0, -1}}, {1, 2, {0, -1}}};
    launch.reals = {{2, DType::Float32, DType::Float64, {Real::Kind::Quotient, 3, {0, 0}}}};
    launch.uses = {{0, true, false}, {2, false, true}};
    launch.failures = {{2, "out of bounds: $0"}};
    RoutineCall call;
    call.place = "f.py:1";
    call.choices = {1};
    call.numbers = {{0, 0}};
    call.reals = {{Real::Kind::Quotient, 1, {0, 0}}, {Real::Kind::Literal, 2.5, {}}};
    call.texts = {"sort"};
    call.memories = {0, 2};
    call.uses = {{0, true, false}, {2, false, true}};
    r.steps = {{{{{1, {}, {{0, 0, true, false}}}, {{16, -1}}, {call}, {launch}}}}};
    r.outputs = {{2, {0, -1}, {{0, 0}}, {{1, -1}}}};
    Regime none;
    none.sizes = {{true, 0}};
    none.refused = "empty";
    p.regimes = {r, none};
    return p;
}

std::string refusal(std::span<const std::uint8_t> bytes) {
    try {
        const auto loaded = Loaded::from_bytes(bytes, "file", true);
        for (const std::int64_t n : {0, 1, 2, 100}) {
            try {
                (void)loaded->resolve({n});
            } catch (const Error&) {
            }
        }
    } catch (const Error& e) {
        return e.message();
    }
    return "";
}

TEST(SavedFile, IsReadAgain) {
    Hash128 digest;
    const std::vector<std::uint8_t> bytes = to_bytes(sample(), digest);
    if (refusal(bytes).find("this processor runs none") != std::string::npos) GTEST_SKIP() << "the sample is for x86-64-v3";
    const auto loaded = Loaded::from_bytes(bytes, "file", true);
    EXPECT_EQ(loaded->target(), "x86-64-v3");
    EXPECT_EQ(loaded->program().signature(), "f(x: float32[n, 3]) -> float64");
    EXPECT_EQ(std::vector<std::uint8_t>(loaded->object(0).begin(), loaded->object(0).end()), (std::vector<std::uint8_t>{7, 7, 7}));
    const Resolved found = loaded->resolve({5});
    ASSERT_EQ(found.parts.size(), 1u);
    EXPECT_EQ(found.regime->slots[0].in(found.values), 40);
    EXPECT_EQ(found.parts[0].alternative->launches[0].extents[0].in(found.parts[0].values), 5);
    EXPECT_EQ(loaded->program().routine_names(), "sort");
    const RoutineCall& call = found.parts[0].alternative->routines[0];
    EXPECT_EQ(call.place, "f.py:1");
    EXPECT_EQ(call.texts, std::vector<std::string>{"sort"});
    EXPECT_EQ(call.numbers[0].in(found.parts[0].values), 5);
    EXPECT_EQ(call.reals[0].in(found.parts[0].values), 0.2);
    EXPECT_EQ(call.reals[1].in(found.parts[0].values), 2.5);
    std::vector<std::uint64_t> words;
    found.parts[0].alternative->launches[0].bind(
        found.parts[0].values, [](std::uint32_t value) { return value * 100ull; }, words);
    EXPECT_EQ(words, (std::vector<std::uint64_t>{0, 200, std::bit_cast<std::uint32_t>(0.6f)}));
    EXPECT_THROW((void)loaded->resolve({0}), Error);  // refused
    EXPECT_THROW((void)loaded->resolve({1}), Error);  // no regime
}

TEST(SavedFile, IsTheSameEachTime) {
    Hash128 a, b;
    EXPECT_EQ(to_bytes(sample(), a), to_bytes(sample(), b));
    EXPECT_EQ(a, b);
}

TEST(SavedFile, EachChangedBitIsFound) {
    Hash128 digest;
    const std::vector<std::uint8_t> good = to_bytes(sample(), digest);
    for (std::size_t i = 0; i < good.size(); ++i) {
        std::vector<std::uint8_t> bad = good;
        bad[i] ^= 1;
        const bool unused = (i >= 12 && i < 16) || (i >= 20 && i < 24);  // the minor version, and what no version uses
        const bool other_target = i >= good.size() - 9;                  // which is not read
        EXPECT_TRUE(!refusal(bad).empty() || unused || other_target) << i;
        bad.resize(i);
        EXPECT_FALSE(refusal(bad).empty()) << i;
    }
}

TEST(SavedFile, RefusesOtherMajorVersions) {
    Hash128 digest;
    std::vector<std::uint8_t> bytes = to_bytes(sample(), digest);
    bytes[8] = 9;
    EXPECT_NE(refusal(bytes).find("format 9."), std::string::npos) << refusal(bytes);
}

/// The digest is right, and the numbers are not: nothing is followed before it is checked.
TEST(SavedFile, NumbersThatNameNothingAreRefused) {
    const auto refused = [](auto&& change) {
        Program p = sample();
        change(p);
        Hash128 digest;
        const std::vector<std::uint8_t> bytes = to_bytes(p, digest);
        try {
            (void)Loaded::from_bytes(bytes, "file", true)->resolve({5});
        } catch (const Error& e) {
            return e.message().find("damaged") != std::string::npos;
        }
        return false;
    };
    Hash128 digest;
    if (!refusal(to_bytes(sample(), digest)).empty()) GTEST_SKIP() << "the sample is for x86-64-v3";
    const auto launch = [](Program& p) -> Launch& { return p.regimes[0].steps[0].alternatives[0].launches[0]; };
    const auto call = [](Program& p) -> RoutineCall& { return p.regimes[0].steps[0].alternatives[0].routines[0]; };
    EXPECT_TRUE(refused([&](Program& p) { call(p).routine = 1; }));
    EXPECT_TRUE(refused([&](Program& p) { call(p).numbers[0].expression = 1; }));
    EXPECT_TRUE(refused([&](Program& p) { call(p).reals[0].of.expression = 1; }));
    EXPECT_TRUE(refused([&](Program& p) { call(p).reals[0].kind = static_cast<Real::Kind>(5); }));
    EXPECT_TRUE(refused([&](Program& p) { call(p).memories[0] = 3; }));  // scratch
    EXPECT_TRUE(refused([&](Program& p) { call(p).uses[0].value = 4; }));
    EXPECT_TRUE(refused([&](Program& p) { launch(p).code = 1; }));
    EXPECT_TRUE(refused([&](Program& p) { launch(p).addresses[0].value = 4; }));
    EXPECT_TRUE(refused([&](Program& p) { launch(p).addresses[0].word = 3; }));
    EXPECT_TRUE(refused([&](Program& p) { launch(p).extents[0].expression = 1; }));
    EXPECT_TRUE(refused([&](Program& p) { launch(p).extents.clear(); }));
    EXPECT_TRUE(refused([&](Program& p) { launch(p).reals[0].word = 3; }));
    EXPECT_TRUE(refused([&](Program& p) { launch(p).reals[0].own = static_cast<DType>(99); }));
    EXPECT_TRUE(refused([&](Program& p) { launch(p).uses[0].value = 4; }));
    EXPECT_TRUE(refused([&](Program& p) { launch(p).failures[0].code = 200; }));
    EXPECT_TRUE(refused([&](Program& p) { p.regimes[0].sizing.steps[1].a = 9; }));
    EXPECT_TRUE(refused([&](Program& p) { p.regimes[0].outputs[0].value = 3; }));
    EXPECT_TRUE(refused([&](Program& p) { p.regimes[0].outputs[0].strides.clear(); }));
    EXPECT_TRUE(refused([&](Program& p) { p.arguments[0].shape[0].size = 1; }));
    EXPECT_TRUE(refused([&](Program& p) { p.outputs[0] = static_cast<DType>(99); }));
    EXPECT_TRUE(refused([&](Program& p) { p.codes[0].rank = -1; }));
}

/// The sample, for devices that run groups: one kernel, two forms, a constant of its own.
DevicePart sample_part() {
    DevicePart part;
    part.groups = true;
    part.program = sample();
    part.program.targets = {};
    part.program.codes[0].objects = {};
    part.program.codes[0].traits = {1, 2, 3};
    part.program.constants = {{{1, 2, 3, 4}}};
    part.program.regimes[0].steps[0].alternatives[0].loops = {{{1, -1}, {0, 0}, {0, -1}}};
    part.forms = {{"opencl", "groups", {{{7, "k", "pl", true, false, 0, 0}}}, {3}, {1, 2}}, {"sm_90", "", {{}}, {}, {9}}};
    return part;
}

/// Beside parts: a program without code for processors.
Program for_devices_alone() {
    Program p = sample();
    p.targets = {};
    p.codes = {};
    p.regimes = {};
    return p;
}

TEST(SavedParts, AreReadAgain) {
    DevicePart other = sample_part();
    other.groups = false;
    other.program.constants = {{{9, 9}}};
    Hash128 digest;
    const std::vector<std::uint8_t> bytes = to_bytes(for_devices_alone(), {sample_part(), other}, digest);
    const auto loaded = Loaded::from_bytes(bytes, "file", false);
    EXPECT_EQ(loaded->target(), "");
    EXPECT_EQ(loaded->targets(), (std::vector<std::string>{"opencl", "sm_90"}));
    const Loaded* const part = loaded->part(true);
    ASSERT_TRUE(part);
    EXPECT_EQ(part->program().signature(), loaded->program().signature());
    EXPECT_EQ(part->program().constants[0].bytes, sample().constants[0].bytes);
    EXPECT_EQ(loaded->part(false)->program().constants[0].bytes, (std::vector<std::uint8_t>{9, 9}));
    EXPECT_EQ(part->program().codes[0].traits, (std::vector<std::int64_t>{1, 2, 3}));
    ASSERT_EQ(part->forms().size(), 2u);
    const Form form = part->read_form(0);
    EXPECT_EQ(form.images, sample_part().forms[0].images);
    EXPECT_EQ(form.packed, (std::vector<std::uint8_t>{1, 2}));
    const Resolved found = part->resolve({5});
    EXPECT_EQ(found.parts[0].alternative->loops[0].innermost.in(found.parts[0].values), 5);
    try {
        (void)Loaded::from_bytes(bytes, "file", true);
        FAIL() << "a process of this layer alone runs no parts for devices";
    } catch (const Error& e) {
        EXPECT_NE(e.message().find("it has code for opencl, sm_90"), std::string::npos) << e.message();
    }
}

TEST(SavedParts, EachChangedBitIsFound) {
    Hash128 digest;
    const std::vector<std::uint8_t> good = to_bytes(for_devices_alone(), {sample_part()}, digest);
    const auto is_read = [](std::span<const std::uint8_t> bytes) {
        try {
            const auto loaded = Loaded::from_bytes(bytes, "file", false);
            for (std::size_t f = 0; f < loaded->part(true)->forms().size(); ++f) (void)loaded->part(true)->read_form(f);
            return true;
        } catch (const Error&) {
            return false;
        }
    };
    EXPECT_TRUE(is_read(good));
    for (std::size_t i = 0; i < good.size(); ++i) {
        std::vector<std::uint8_t> bad = good;
        bad[i] ^= 1;
        const bool unused = (i >= 12 && i < 16) || (i >= 20 && i < 24);  // the minor version, and what no version uses
        EXPECT_EQ(is_read(bad), unused) << i;
    }
}

TEST(SavedParts, NumbersThatNameNothingAreRefused) {
    const auto refused = [](auto&& change) {
        DevicePart part = sample_part();
        change(part);
        Hash128 digest;
        const std::vector<std::uint8_t> bytes = to_bytes(sample(), {part}, digest);
        try {
            const auto loaded = Loaded::from_bytes(bytes, "file", false);
            (void)loaded->part(true)->read_form(0);
            (void)loaded->part(true)->resolve({5});
        } catch (const Error& e) {
            return e.message().find("damaged") != std::string::npos;
        }
        return false;
    };
    const auto alternative = [](DevicePart& p) -> Alternative& { return p.program.regimes[0].steps[0].alternatives[0]; };
    EXPECT_FALSE(refused([](DevicePart&) {}));
    EXPECT_TRUE(refused([](DevicePart& p) { p.forms[0].images[0][0].content = 1; }));
    EXPECT_TRUE(refused([](DevicePart& p) { p.forms[0].images.clear(); }));
    EXPECT_TRUE(refused([&](DevicePart& p) { alternative(p).loops[0].inner.expression = 9; }));
    EXPECT_TRUE(refused([&](DevicePart& p) { alternative(p).launches[0].code = 3; }));
    EXPECT_TRUE(refused([&](DevicePart& p) { alternative(p).loops = {}; }));
}

TEST(SavedSizes, AreTakenFromShapes) {
    const Program p = sample();
    const std::int64_t good[] = {7, 3}, bad[] = {7, 4};
    EXPECT_EQ(sizes_of(p, {{good, 2}}), std::vector<std::int64_t>{7});
    EXPECT_THROW((void)sizes_of(p, {{bad, 2}}), Error);
    EXPECT_THROW((void)sizes_of(p, {{good, 1}}), Error);
    EXPECT_THROW((void)sizes_of(p, {}), Error);
}

TEST(SavedSizing, RefusesOverflow) {
    const Sizing square{1, {{Sizing::Op::Mul, 0, 0, 0}}, {}};
    std::vector<std::int64_t> values;
    const std::int64_t small[] = {3}, large[] = {std::int64_t{1} << 40};
    EXPECT_TRUE(square.run(small, values));
    EXPECT_EQ(values.back(), 9);
    EXPECT_FALSE(square.run(large, values));
    const Sizing divided{1, {{Sizing::Op::Sub, 0, 0, 0}, {Sizing::Op::Div, 0, 1, 0}}, {}};
    EXPECT_FALSE(divided.run(small, values));
}

TEST(SavedStatus, NamesValuesAndItem) {
    const std::int64_t words[status_words] = {1, -7, 3, 0, 4, 5, 0, 0}, none[status_words] = {};
    const std::vector<Failure> failures = {{2, "index $0 of $1\x01\n line"}};
    check_status(none, failures, 2);
    try {
        check_status(words, failures, 2);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.message(), "index -7 of 3 (item (4, 5))\n line");
        EXPECT_EQ(e.code(), ErrorCode::Index);
    }
}

}  // namespace
}  // namespace pardo::saved

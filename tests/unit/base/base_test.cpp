// tests/unit/base/base_test.cpp: shapes, small vectors, hashes, environment, libraries.
#include <pardo/error.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/env.h"
#include "base/hash.h"
#include "base/shape.h"
#include "base/small_vector.h"

namespace pardo {
namespace {

template <class F> std::string message_of(ErrorCode code, F f) {
    try {
        f();
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), code) << e.message();
        return e.message();
    }
    return "nothing was thrown";
}

TEST(Shapes, CountAndStrides) {
    EXPECT_EQ(element_count(Shape{}), 1);
    EXPECT_EQ(element_count(Shape{3, 4}), 12);
    const std::int64_t big = std::int64_t{1} << 40;
    EXPECT_EQ(element_count(Shape{big, big, 0}), 0);
    EXPECT_EQ(message_of(ErrorCode::Memory,
                         [&] {
                             element_count(Shape{big, 1 << 30}, "add");
                         }),
              "add: shape (1099511627776, 1073741824): more elements than fit into 64 bits");
    EXPECT_EQ(message_of(ErrorCode::Memory,
                         [&] {
                             element_count(Shape{big, big});
                         }),
              "array: shape (1099511627776, 1099511627776): more elements than fit into 64 bits");
    EXPECT_NE(message_of(ErrorCode::Value, [&] { element_count(Shape{-1}); }).find("negative dimensions"), std::string::npos);
    EXPECT_EQ(contiguous_strides(Shape{2, 3, 4}), (Strides{12, 4, 1}));
    EXPECT_EQ(contiguous_strides(Shape{2, 0, 4}), (Strides{4, 4, 1}));
    EXPECT_TRUE(is_contiguous(Shape{2, 1, 4}, Strides{4, 77, 1}));
    EXPECT_TRUE(is_contiguous(Shape{2, 0}, Strides{9, 9}));
    EXPECT_FALSE(is_contiguous(Shape{2, 3}, Strides{1, 2}));
}

TEST(Shapes, BroadcastAndAxes) {
    EXPECT_EQ(broadcast("add", Shape{3, 1}, Shape{4}), (Shape{3, 4}));
    EXPECT_EQ(broadcast("add", Shape{}, Shape{2, 0}), (Shape{2, 0}));
    EXPECT_EQ(broadcast("add", Shape{1}, Shape{0}), (Shape{0}));
    EXPECT_EQ(message_of(ErrorCode::Value,
                         [] {
                             broadcast("add", Shape{3}, Shape{4, 2});
                         }),
              "add: operands could not be broadcast together with shapes (3,) (4, 2)");
    Shape shape{4};
    EXPECT_TRUE(broadcast_into(shape, Shape{3, 1}));
    EXPECT_EQ(shape, (Shape{3, 4}));
    EXPECT_FALSE(broadcast_into(shape, Shape{2, 4}));
    EXPECT_TRUE(broadcasts_to(Shape{1, 4}, Shape{2, 3, 4}));
    EXPECT_TRUE(broadcasts_to(Shape{}, Shape{0}));
    EXPECT_FALSE(broadcasts_to(Shape{2, 4}, Shape{4}));
    EXPECT_FALSE(broadcasts_to(Shape{3}, Shape{1}));
    EXPECT_EQ(message_of(ErrorCode::Value, [] { check_rank("reshape", 33); }),
              "reshape: maximum supported dimension for an array is 32, found 33");
    EXPECT_EQ(normalize_axis("sum", -1, 3), 2);
    EXPECT_EQ(message_of(ErrorCode::Axis, [] { normalize_axis("sum", 3, 3); }), "sum: axis 3 is out of bounds for array of dimension 3");
    EXPECT_EQ(message_of(ErrorCode::Axis, [] { normalize_axis("sum", 0, 0); }), "sum: axis 0 is out of bounds for array of dimension 0");
}

TEST(SmallVectors, GrowCopyMove) {
    SmallVector<int, 2> v{1, 2};
    for (int i = 3; i < 100; ++i) v.push_back(i);
    SmallVector<int, 2> copy = v, moved = std::move(v);
    EXPECT_EQ(copy, moved);
    EXPECT_EQ(v.size(), 0);
    copy.insert(0, 7);
    copy.erase(1);
    EXPECT_EQ(copy[0], 7);
    EXPECT_EQ(copy.size(), 99);
    SmallVector<int, 2> small{5};
    copy = small;
    EXPECT_EQ(copy, small);
}

TEST(Hashes, AreXxh3) {
    EXPECT_EQ(hash128("").hex(), "99aa06d3014798d86001c324468d497f");  // XXH3_128bits of nothing
    EXPECT_EQ(hash128("a"), hash128("a"));
    EXPECT_NE(hash128("a"), hash128("b"));
    EXPECT_EQ(hash128("pardo").hex().size(), 32u);
}

TEST(Environment, FlagsAreChecked) {
    unsetenv("PARDO_TEST_FLAG");
    EXPECT_TRUE(env_flag("PARDO_TEST_FLAG", true));
    setenv("PARDO_TEST_FLAG", "Off", 1);
    EXPECT_FALSE(env_flag("PARDO_TEST_FLAG", true));
    setenv("PARDO_TEST_FLAG", "maybe", 1);
    EXPECT_NE(message_of(ErrorCode::Value, [] { env_flag("PARDO_TEST_FLAG", true); }).find("PARDO_TEST_FLAG=maybe"), std::string::npos);
    setenv("PARDO_TEST_FLAG", "", 1);
    EXPECT_FALSE(env("PARDO_TEST_FLAG").has_value());
}

TEST(Environment, AVariableIsSetForAWhile) {
    setenv("PARDO_TEST_SET", "mine", 1);
    {
        const TemporaryVariable free("PARDO_TEST_FREE", "20"), set("PARDO_TEST_SET", "20");
        EXPECT_EQ(env("PARDO_TEST_FREE"), "20");
        EXPECT_EQ(env("PARDO_TEST_SET"), "mine");
    }
    EXPECT_FALSE(env("PARDO_TEST_FREE").has_value());
    {
        const TemporaryVariable free("PARDO_TEST_FREE", "20");
        setenv("PARDO_TEST_LATER", "1", 1);  // takes the list over
    }
    EXPECT_FALSE(env("PARDO_TEST_FREE").has_value());
    EXPECT_EQ(env("PARDO_TEST_LATER"), "1");
    EXPECT_EQ(env("PARDO_TEST_SET"), "mine");
}

int lines = 0;

TEST(Environment, LogGoesToTheSinkOnly) {
    set_log_sink([](LogLevel, std::string_view text) {
        ++lines;
        EXPECT_EQ(text.substr(0, 7), "pardo: ");
    });
    warn_once("key", "first");
    warn_once("key", "second");
    log(LogLevel::Debug, "below the default level");
    EXPECT_EQ(lines, log_level() == LogLevel::Off ? 0 : log_level() == LogLevel::Debug ? 2 : 1);
    set_log_sink(nullptr);
}

TEST(Libraries, FirstThatLoads) {
    std::string error;
    const DynamicLibrary m = DynamicLibrary::open({"libpardo-no-such.so", "libm.so.6"}, &error);
    ASSERT_TRUE(m);
    EXPECT_EQ(m.path(), "libm.so.6");
    EXPECT_NE(m.symbol("cos"), nullptr);
    EXPECT_EQ(m.symbol("no_such_function"), nullptr);
    double (*function)(double) = nullptr;
    ASSERT_TRUE(m.bind(function, "sqrt"));
    EXPECT_EQ(function(9.0), 3.0);
    EXPECT_FALSE(m.bind(function, "no_such_function"));
    EXPECT_EQ(function, nullptr);
    EXPECT_FALSE(DynamicLibrary::open({"libpardo-no-such.so"}, &error));
    EXPECT_NE(error.find("libpardo-no-such.so"), std::string::npos);
}

}  // namespace
}  // namespace pardo

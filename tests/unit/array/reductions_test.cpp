// tests/unit/array/reductions_test.cpp: each row of reductions.def is a function, which gives the shape and the dtype that the row says.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include <pardo/binding/rows.h>

#include "array/record.h"
#include "array/reductions.h"
#include "support.h"

namespace pardo::arrays {
namespace {

using Axes = std::optional<std::vector<std::int64_t>>;

/// What a row's function gives along axis 1, and the dtype that it should have.
struct Case {
    const char* name;
    Array result;
    DType dtype;
    std::vector<std::int64_t> shape;
};

std::vector<Case> cases(const Array& x, DType t) {
    const Axes last = std::vector<std::int64_t>{1};
    return {
#define REDUCTION(id, name, ...) {#name, pardo::name(x, last, true), result_dtype(row_of(Reduction::id), t), {2, 1}},
#define POSITION(name, ...) {#name, pardo::name(x, 1, true), DType::Int64, {2, 1}},
#define SCAN(id, name, ...) {#name, pardo::name(x, 1), result_dtype(row_of(Reduction::id), t), {2, 3}},
#include "graph/reductions.def"
    };
}

TEST(Reductions, EveryRowIsAFunction) {
    for (int t = 0; t < dtype_count; ++t) {
        const Array x = sample(static_cast<DType>(t), {2, 3});
        const std::vector<Case> found = cases(x, x.dtype());
        ASSERT_EQ(found.size(), reduction_table().size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            SCOPED_TRACE(testing::Message() << found[i].name << " of " << dtype_name(x.dtype()));
            EXPECT_STREQ(found[i].name, reduction_table()[i].name);
            EXPECT_EQ(found[i].result.dtype(), found[i].dtype);
            EXPECT_TRUE(std::ranges::equal(found[i].result.shape(), found[i].shape));
        }
    }
}

TEST(Reductions, WideResultsHave64Bits) {
    const ReductionRow& row = row_of(Reduction::Sum);
    EXPECT_EQ(result_dtype(row, DType::Bool), DType::Int64);
    EXPECT_EQ(result_dtype(row, DType::Int8), DType::Int64);
    EXPECT_EQ(result_dtype(row, DType::UInt16), DType::UInt64);
    EXPECT_EQ(result_dtype(row, DType::Float16), DType::Float16);
    EXPECT_EQ(result_dtype(row, DType::Complex64), DType::Complex64);
}

TEST(Reductions, ScansAreOfReductions) {
    for (const ReductionInfo& row : reduction_table()) {
        if (row.kind == std::string_view("SCAN")) {
            EXPECT_LE(row_of(static_cast<Reduction>(row.id)).fold, ReduceOp::Max) << row.name;
        }
    }
}

}  // namespace
}  // namespace pardo::arrays

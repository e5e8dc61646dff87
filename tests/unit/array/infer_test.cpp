// tests/unit/array/infer_test.cpp: dtype inference of every row of ops.def against what NumPy gives for every pair of dtypes.
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include <pardo/error.h>

#include "array/record.h"
#include "support.h"

namespace pardo::arrays {
namespace {

constexpr std::string_view codes = "?bhilBHILefdFD";  // of the dtypes that NumPy has, which come first

/// One row of numpy_dtypes.inc.
struct Golden {
    Op op;
    int arity;
    char first;  // code of the first operand; 0: the table is over it
    int weak;    // which Python number is the second operand; -1: none
    std::string_view results;
};
constexpr Golden goldens[] = {
#define NUMPY1(name, results) {Op::name, 1, 0, -1, results},
#define NUMPY2(name, first, results) {Op::name, 2, first, -1, results},
#define NUMPY3(name, first, results) {Op::name, 3, first, -1, results},
#define WEAK2(name, number, results) {Op::name, 2, 0, number, results},
#define WEAK3(name, number, results) {Op::name, 3, 0, number, results},
#include "numpy_dtypes.inc"
};

Operand python_number(int which) {
    Scalar boolean(true);
    boolean.weak = true;
    const Operand numbers[] = {boolean, 1, 1.0, std::complex<double>(0, 1)};
    return numbers[which];
}

char inferred(Op op, std::span<const Operand> operands) {
    try {
        return codes[static_cast<std::size_t>(infer(op, operands, {}).result)];
    } catch (const Error& e) {
        return e.code() == ErrorCode::Type ? '.' : '*';
    }
}

TEST(Infer, AgreesWithNumPyForAllDtypes) {
    std::vector<Array> arrays;
    for (std::size_t t = 0; t < codes.size(); ++t) arrays.push_back(sample(static_cast<DType>(t)));
    for (const Golden& g : goldens) {
        for (std::size_t t = 0; t < arrays.size(); ++t) {
            std::vector<Operand> operands;
            if (g.op == Op::where) operands.push_back(arrays[0]);
            operands.push_back(g.first ? arrays[codes.find(g.first)] : arrays[t]);
            while (static_cast<int>(operands.size()) < g.arity)
                operands.push_back(g.weak >= 0 ? python_number(g.weak) : Operand(arrays[t]));
            EXPECT_EQ(inferred(g.op, operands), g.results[t])
                << name(g.op) << " of " << (g.first ? g.first : codes[t]) << " and " << codes[t] << " number " << g.weak;
        }
    }
}

TEST(Infer, BooleanSubtractSaysWhatToUse) {
    const Array flags = sample(DType::Bool);
    try {
        subtract(flags, flags);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::Type);
        EXPECT_NE(e.message().find("bitwise_xor, the `^` operator, or the logical_xor function instead"), std::string::npos);
    }
}

TEST(Infer, DtypeKeywordNeedsSameKindInputsAndALoop) {
    const Array i = sample(DType::Int32), f = sample(DType::Float64);
    const auto code = [](auto&& f) {
        try {
            f();
        } catch (const Error& e) {
            return e.code();
        }
        return ErrorCode::Internal;
    };
    const Operand mixed[] = {i, f}, whole[] = {i, i}, one[] = {i};
    EXPECT_EQ(infer(Op::add, mixed, DType::Float32).loop, DType::Float32);
    EXPECT_EQ(infer(Op::add, whole, DType::Float64).result, DType::Float64);
    EXPECT_EQ(code([&] { infer(Op::add, mixed, DType::Int32); }), ErrorCode::Type);
    EXPECT_EQ(code([&] { infer(Op::sqrt, one, DType::Int32); }), ErrorCode::Type);
    EXPECT_EQ(code([&] { infer(Op::less, whole, DType::Float32); }), ErrorCode::Type);
}

}  // namespace
}  // namespace pardo::arrays

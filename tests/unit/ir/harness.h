// tests/unit/ir/harness.h: small kernels over one dimension, and their interpretation on vectors.
#pragma once

#include <bit>
#include <complex>
#include <functional>
#include <limits>
#include <vector>

#include "ir/builder.h"
#include "ir/interpret.h"

namespace pardo::ir::test {

inline constexpr DType F64 = DType::Float64, F32 = DType::Float32, I64 = DType::Int64, I32 = DType::Int32;
inline constexpr double inf = std::numeric_limits<double>::infinity();
inline const double nan_value = std::numeric_limits<double>::quiet_NaN();

/// out[i] = body(in0[i], in1[i]…) for all i.
inline Kernel elementwise(DType in, DType out, int inputs, const std::function<Value(Builder&, std::span<const Value>)>& body) {
    Builder m("test", 1, true);
    std::vector<Value> pointers, values;
    for (int k = 0; k < inputs; ++k) pointers.push_back(m.pointer("in" + std::to_string(k), in, Access::Read, false));
    const Value result = m.pointer("out", out, Access::Write, true);
    const Value i = m.dim(0);
    for (Value p : pointers) values.push_back(m.load(p, i));
    m.store(result, i, body(m, values));
    return m.finish();
}

template <class Out, class In> std::vector<Out> run(const Kernel& kernel, const std::vector<std::vector<In>>& inputs) {
    std::vector<Out> out(inputs[0].size());
    std::vector<std::uint64_t> args;
    for (const auto& in : inputs) args.push_back(std::bit_cast<std::uint64_t>(in.data()));
    args.push_back(std::bit_cast<std::uint64_t>(out.data()));
    const std::int64_t extents[] = {static_cast<std::int64_t>(out.size())};
    interpret(kernel, args, extents);
    return out;
}

}  // namespace pardo::ir::test

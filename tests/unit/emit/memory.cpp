// tests/unit/emit/memory.cpp: all sizes of tails, all steps between lanes, scattered indices, parts of boxes, streaming stores.
#include <array>

#include "support.h"

namespace pardo::test {
namespace {

using ir::Access;
using ir::Builder;
using ir::Value;

/// out[base_out + i * step_out] = in[base_in + i * step_in] + 1, steps constant in the IR or arguments.
ir::Kernel copy_kernel(DType t, std::int64_t step_in, std::int64_t step_out, bool constant, std::int64_t base_in, std::int64_t base_out) {
    Builder b("copy", 1, true);
    const Value x = b.pointer("x", t, Access::Read, true), o = b.pointer("o", t, Access::Write, true);
    const Value in = constant ? b.i64(step_in) : b.scalar_param("in", DType::Int64),
                out = constant ? b.i64(step_out) : b.scalar_param("out", DType::Int64);
    const Value i = b.dim(0);
    const Value v = b.load(x, b.add(b.mul(i, in), b.i64(base_in)));
    b.store(o, b.add(b.mul(i, out), b.i64(base_out)), t == DType::Bool ? b.bit_not(v) : b.add(v, b.constant(t, Scalar(1).cast(t))));
    return b.finish();
}

TEST(Memory, EveryTailAndStep) {
    for (DType t :
         {DType::Float64, DType::Float32, DType::Int8, DType::Bool, DType::Float16, DType::BFloat16, DType::Int16, DType::Complex128})
        for (std::int64_t step : {1, -1, 2, -2, 3, 4, -4, 5, 0})
            for (bool constant : {true, false}) {
                if (!constant && t != DType::Float64 && t != DType::Int8 && t != DType::Float32) continue;
                const std::int64_t most = 70, reach = std::abs(step) * (most - 1), base = step < 0 ? reach : 0;
                for (auto [in, out] : {std::pair{step, std::int64_t(1)}, std::pair{std::int64_t(1), step}}) {
                    const ir::Kernel kernel = copy_kernel(t, in, out, constant, in < 0 ? base : 0, out < 0 ? base : 0);
                    for (int width : widths) {
                        const Compiled code = compile(kernel, width);
                        for (std::int64_t n : {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 70}) {
                            std::vector<Argument> native{interesting(t, (in < 0 || in > 1 ? reach : most) + 1, 3),
                                                         array(t, (out < 0 || out > 1 ? reach : most) + 1)};
                            if (!constant) {
                                native.push_back(scalar_of(in));
                                native.push_back(scalar_of(out));
                            }
                            std::vector<Argument> reference = native;
                            run_native(code, native, {n});
                            interpret(kernel, reference, {n});
                            expect_same(native, reference, 0,
                                        std::string(dtype_name(t)) + " in " + std::to_string(in) + " out " + std::to_string(out) + " n " +
                                            std::to_string(n) + (constant ? " constant" : " runtime") + " bytes " + std::to_string(width));
                            if (testing::Test::HasFailure()) return;
                        }
                    }
                }
            }
}

TEST(Memory, AllFieldsOfSmallRecords) {
    for (DType t : {DType::Float64, DType::Float32, DType::Int16, DType::Bool})
        for (std::int64_t step : {2, 3, 4, -2, -3, -4}) {
            const std::int64_t fields = std::abs(step), count = 75, base = step < 0 ? fields * (count - 1) : 0;
            Builder b("records", 1, true);
            const Value x = b.pointer("x", t, Access::Read, true), o = b.pointer("o", t, Access::Write, false);
            const Value at = b.add(b.mul(b.dim(0), b.i64(step)), b.i64(base));
            std::vector<Value> loaded;
            for (std::int64_t f = 0; f < fields; ++f) loaded.push_back(b.load(x, b.add(at, b.i64((f + 1) % fields))));
            for (std::int64_t f = 0; f < fields; ++f) {
                const Value v = loaded[static_cast<std::size_t>((f + 2) % fields)];
                b.store(o, b.add(at, b.i64(f)), t == DType::Bool ? b.bit_not(v) : b.add(v, v));
            }
            check(b.finish(), {interesting(t, count * fields, 3), array(t, count * fields)}, {count}, 0,
                  std::string(dtype_name(t)) + " step " + std::to_string(step));
        }
}

TEST(Memory, GatherAndScatterByIndexArrays) {
    constexpr std::int64_t count = 61;
    for (DType t : {DType::Float64, DType::Int32, DType::UInt8, DType::Float16, DType::BFloat16, DType::Bool}) {
        std::vector<std::int64_t> index;
        for (std::int64_t k = 0; k < count; ++k) index.push_back(k * 37 % count);
        Builder b("gather", 1, true);
        const Value x = b.pointer("x", t, Access::Read, true), j = b.pointer("j", DType::Int64, Access::Read, true),
                    o = b.pointer("o", t, Access::Write, true), s = b.pointer("s", t, Access::Write, true);
        const Value i = b.dim(0), at = b.load(j, i);
        b.store(o, i, b.load(x, at));
        b.store(s, at, b.load(x, i));
        check(b.finish(), {interesting(t, count, 4), array_of(index), array(t, count), array(t, count)}, {count}, 0,
              std::string(dtype_name(t)));
    }
}

TEST(Memory, PartsOfABoxTouchOnlyTheirItems) {
    Builder b("box", 3, true);
    const Value x = b.pointer("x", DType::Float32, Access::Read, true), o = b.pointer("o", DType::Float32, Access::Write, true, true);
    const Value at = b.add(b.mul(b.add(b.mul(b.dim(0), b.extent(1)), b.dim(1)), b.extent(2)), b.dim(2));
    b.store(o, at, b.mul(b.load(x, at), b.cast(b.dim(2), DType::Float32)));
    const ir::Kernel kernel = b.finish();
    const std::vector<std::int64_t> extents{3, 5, 37};
    for (int width : widths) {
        const Compiled code = compile(kernel, width);
        std::vector<Argument> native{interesting(DType::Float32, 555, 9), array(DType::Float32, 555)}, reference = native;
        run_native(code, native, extents, {1, 2, 5}, {3, 4, 31});
        interpret(kernel, reference, extents);
        float* expected = reinterpret_cast<float*>(reference[1].bytes.data());
        for (int i = 0, at = 0; i < 3; ++i)
            for (int j = 0; j < 5; ++j)
                for (int k = 0; k < 37; ++k, ++at)
                    if (!(i >= 1 && j >= 2 && j < 4 && k >= 5 && k < 31)) expected[at] = 0;
        expect_same(native, reference, 0, "box");
    }
}

TEST(Memory, StreamingStoresStartAtAnyAlignment) {
    Builder b("stream", 1, true);
    const Value x = b.pointer("x", DType::Float64, Access::Read, true), o = b.pointer("o", DType::Float64, Access::Write, true, true),
                h = b.pointer("h", DType::Float32, Access::Write, true, true);
    const Value i = b.dim(0), v = b.load(x, i);
    b.store(o, b.add(i, b.scalar_param("from", DType::Int64)), b.add(v, v));
    b.store(h, i, b.cast(v, DType::Float32));
    const ir::Kernel kernel = b.finish();
    for (int width : widths) {
        const Compiled code = compile(kernel, width);
        for (std::int64_t from = 0; from < 9; ++from)
            for (std::int64_t n : {0, 3, 64, 200}) {
                std::vector<Argument> native{interesting(DType::Float64, n, 2), array(DType::Float64, n + 9), array(DType::Float32, n),
                                             scalar_of(from)};
                std::vector<Argument> reference = native;
                run_native(code, native, {n});
                interpret(kernel, reference, {n});
                expect_same(native, reference, 0, "stream");
            }
    }
}

TEST(Memory, StreamingStoresOfLongBodies) {  // those run under masks throughout
    for (DType t : {DType::Float64, DType::Float32}) {
        Builder b("stream", 1, true);
        const Value x = b.pointer("x", t, Access::Read, true), o = b.pointer("o", t, Access::Write, true, true),
                    h = b.pointer("h", t, Access::Write, true, true), from = b.scalar_param("from", DType::Int64);
        Value v = b.load(x, b.dim(0));
        for (int k = 0; k < 50; ++k) v = b.add(b.mul(v, v), b.constant(t, 0.25));
        b.store(o, b.dim(0), v);
        b.store(h, b.add(b.dim(0), from), v);
        const ir::Kernel kernel = b.finish();
        for (int width : widths) {
            const Compiled code = compile(kernel, width);
            for (std::int64_t at = 0; at < 9; at += 3)
                for (std::int64_t n : {0, 3, 64, 200}) {
                    std::vector<Argument> native{interesting(t, n, 2), array(t, n), array(t, n + 9), scalar_of(at)};
                    std::vector<Argument> reference = native;
                    run_native(code, native, {n});
                    interpret(kernel, reference, {n});
                    expect_same(native, reference, 0, "long body");
                }
        }
    }
}

TEST(Memory, StreamingStoresInLoopsOfLanes) {
    for (DType t : {DType::Float64, DType::Float32, DType::Int8, DType::Bool, DType::Float16, DType::BFloat16, DType::Complex64})
        for (bool again : {false, true}) {  // a loop around that writes the same elements once more
            Builder b("stream", 1, false);
            const Value x = b.pointer("x", t, Access::Read, true), o = b.pointer("o", t, Access::Write, true, true),
                        rows = b.scalar_param("rows", DType::Int64), n = b.scalar_param("n", DType::Int64),
                        from = b.scalar_param("from", DType::Int64), zero = b.i64(0), one = b.i64(1);
            b.for_loop(zero, rows, one, {}, [&](Value row, std::span<const Value>) {
                const Value base = b.add(from, b.mul(b.add(b.mul(b.dim(0), rows), again ? zero : row), n));
                b.for_lanes(zero, n, {}, [&](Value k) {
                    const Value index = b.add(base, k);
                    b.store(o, index, b.load(x, index));
                    return Builder::Values{};
                });
                return Builder::Values{};
            });
            const ir::Kernel kernel = b.finish();
            for (int width : widths) {
                const Compiled code = compile(kernel, width);
                for (std::int64_t at : {0, 1, 5})
                    for (std::int64_t length : {0, 1, 9, 64, 100}) {
                        const std::int64_t all = 2 * 3 * length + at;
                        std::vector<Argument> native{interesting(t, all, 2), array(t, all), scalar_of(std::int64_t(3)), scalar_of(length),
                                                     scalar_of(at)};
                        std::vector<Argument> reference = native;
                        run_native(code, native, {2});
                        interpret(kernel, reference, {2});
                        expect_same(native, reference, 0, std::string(dtype_name(t)) + " in loops");
                    }
            }
        }
}

TEST(Memory, StreamingStoresWhereTheIndexIsNotKnownBeforehand) {
    for (bool loaded : {true, false}) {
        Builder b("stream", 1, true);
        const Value x = b.pointer("x", DType::Float64, Access::Read, true), at = b.pointer("at", DType::Int64, Access::Read, false),
                    o = b.pointer("o", DType::Float64, Access::Write, true, true), zero = b.i64(0), n = b.scalar_param("n", DType::Int64);
        const Value from =
            loaded ? b.load(at, zero)
                   : b.for_loop(zero, n, b.i64(1), {&zero, 1}, [&](Value j, std::span<const Value>) { return Builder::Values{j}; })[0];
        b.store(o, b.add(b.dim(0), from), b.load(x, b.dim(0)));
        check(b.finish(),
              {interesting(DType::Float64, 200, 1), array_of(std::vector<std::int64_t>{3}), array(DType::Float64, 210),
               scalar_of(std::int64_t(6))},
              {200}, 0, loaded ? "loaded" : "looped");
    }
}

TEST(Memory, OneAddressForAllLanesKeepsTheLastActive) {
    for (DType t : {DType::Float64, DType::Bool, DType::Int16}) {
        Builder b("last", 1, true);
        const Value x = b.pointer("x", t, Access::Read, false), o = b.pointer("o", t, Access::Write, false);
        const Value i = b.dim(0), v = b.load(x, i);
        b.if_else(
            b.eq(i, b.i64(13)),
            [&] {
                b.store(o, b.i64(0), v);
                return Builder::Values{};
            },
            [&] { return Builder::Values{}; });
        check(b.finish(), {interesting(t, 40, 8), array(t, 1)}, {40});
    }
}

TEST(Memory, UniformLoadsAndScalarsOfEveryDtype) {
    for (int k = 0; k < dtype_count; ++k) {
        const auto t = static_cast<DType>(k);
        Builder b("uniform", 2, true);
        const Value x = b.pointer("x", t, Access::Read, true), o = b.pointer("o", t, Access::Write, true);
        Argument scalar = interesting(t, 1, 21);
        Argument s;
        s.type = t;
        s.array = false;
        const int half = is_complex(t) ? itemsize(t) / 2 : itemsize(t);
        for (int at = 0; at < itemsize(t); at += half) {
            std::uint64_t slot = 0;
            std::memcpy(&slot, &scalar.bytes[static_cast<std::size_t>(at)], static_cast<std::size_t>(half));
            s.slots.push_back(slot);
        }
        const Value p = b.scalar_param("s", t);
        const Value at = b.add(b.mul(b.dim(0), b.extent(1)), b.dim(1));
        b.store(o, at, b.select(b.lt(b.dim(1), b.i64(9)), b.load(x, b.dim(0)), p));
        check(b.finish(), {interesting(t, 4, 6), array(t, 4 * 21), s}, {4, 21}, 0, std::string(dtype_name(t)));
    }
}

TEST(Memory, IndexArithmeticThatBecomesData) {
    Builder b("iota", 1, true);
    const Value o = b.pointer("o", DType::Int64, Access::Write, true), f = b.pointer("f", DType::Float32, Access::Write, true);
    const Value n = b.scalar_param("n", DType::Int64), i = b.dim(0);
    const Value j = b.sub(b.mul(i, n), b.mul(b.neg(i), b.i64(3)));
    b.store(o, i, j);
    b.store(f, b.sub(b.sub(b.extent(0), i), b.i64(1)), b.cast(b.floor_div(j, b.i64(7)), DType::Float32));
    check(b.finish(), {array(DType::Int64, 50), array(DType::Float32, 50), scalar_of(std::int64_t(-11))}, {50});
}

TEST(Memory, AdditionHasNoGatherAndNoScalarLoop) {
    Builder b("add", 1, true);
    const Value x = b.pointer("x", DType::Float64, Access::Read, true), y = b.pointer("y", DType::Float64, Access::Read, true),
                o = b.pointer("o", DType::Float64, Access::Write, true);
    const Value i = b.dim(0);
    b.store(o, i, b.add(b.load(x, i), b.load(y, i)));
    const ir::Kernel kernel = b.finish();
    for (int width : {32, 64}) {
        const std::string text = emit::compile_text(kernel, "add", false, emit::host_target_limited(width));
        if (emit::host_target_limited(width).vector_bytes != width) continue;
        EXPECT_EQ(text.find("gather"), std::string::npos) << text;
        EXPECT_EQ(text.find("fadd double"), std::string::npos) << text;
        EXPECT_NE(text.find("fadd <" + std::to_string(width / 8) + " x double>"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace pardo::test

// tests/unit/emit/program.cpp: kernels through cpu::compile: the program cache, inspect, programs that die and are made again.
#include <thread>

#include "backend/cpu/program.h"
#include "base/counters.h"
#include "device/device.h"
#include "jit/cache.h"
#include "support.h"

namespace pardo::test {
namespace {

using ir::Access;
using ir::Builder;
using ir::Value;

ir::Kernel scaled(double factor) {
    Builder b("scaled", 1, true);
    const Value x = b.pointer("x", DType::Complex128, Access::Read, true), o = b.pointer("o", DType::Complex128, Access::Write, true);
    b.store(o, b.dim(0), b.mul(b.load(x, b.dim(0)), b.constant(DType::Complex128, Scalar(std::complex<double>(factor, 1)))));
    return b.finish();
}

void expect_scaled(double factor) {
    const Ref<device::Program> program = cpu::compile(scaled(factor));
    auto* code = static_cast<cpu::CpuProgram*>(program.get());
    EXPECT_EQ(code->rank(), 1);
    std::vector<std::complex<double>> x(37, {2, 3}), out(37);
    const std::uint64_t args[] = {reinterpret_cast<std::uint64_t>(x.data()), reinterpret_cast<std::uint64_t>(out.data())};
    const std::int64_t extent = 37, begin = 0;
    code->entry()(args, &extent, &begin, &extent, &never);
    for (const auto& v : out) EXPECT_EQ(v, std::complex<double>(2 * factor - 3, 2 + 3 * factor));
}

TEST(Program, IsCompiledOncePerKey) {
    expect_scaled(3);
    const std::uint64_t before = counters.compiled;
    expect_scaled(3);
    EXPECT_EQ(counters.compiled, before);
}

TEST(Program, DiesAndComesBack) {
    for (int round = 0; round < 5; ++round) {
        expect_scaled(5);
        jit::clear_memory();
    }
}

TEST(Program, CompilesOnManyThreads) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            for (int k = 0; k < 4; ++k) expect_scaled(10 + (t + k) % 6);
        });
    for (std::thread& t : threads) t.join();
}

TEST(Program, RunsWholeGroupsOnAllThreads) {
    constexpr std::int64_t size = 48, groups = 20'001;
    Builder b("turned", 1, true);
    const std::int64_t group_size[] = {size};
    b.set_groups(group_size);
    const Value x = b.pointer("x", DType::Int32, Access::ReadWrite, true), tile = b.array("tile", DType::Int32, size, ir::Space::Group);
    b.store(tile, b.local_dim(0), b.load(x, b.dim(0)));
    b.barrier();
    b.store(x, b.dim(0), b.load(tile, b.sub(b.i64(size - 1), b.local_dim(0))));
    const Ref<device::Program> program = cpu::compile(b.finish());
    std::vector<std::int32_t> data(static_cast<std::size_t>(size * groups));
    for (std::size_t k = 0; k < data.size(); ++k) data[k] = static_cast<std::int32_t>(k);
    const std::uint64_t args[] = {reinterpret_cast<std::uint64_t>(data.data())};
    const std::int64_t extents[] = {size * groups};
    device::Launch l;
    l.program = program.get();
    l.extents = extents;
    l.args = args;
    l.cost_ns = 1e6;
    device::Device* cpu = device::select("cpu");
    cpu->create_queue(QueueOrder::InOrder, false)->launch(l).wait();
    for (std::size_t k = 0; k < data.size(); ++k)
        ASSERT_EQ(data[k], static_cast<std::int32_t>(k / size * size + (size - 1 - k % size))) << k;
}

TEST(Program, InspectShowsItsStages) {
    const ir::Kernel kernel = scaled(2);
    EXPECT_EQ(cpu::inspect(kernel, "ir"), ir::print(kernel));
    EXPECT_NE(cpu::inspect(kernel, "llvm").find("define void @"), std::string::npos);
    EXPECT_NE(cpu::inspect(kernel, "asm").find("ret"), std::string::npos);
    EXPECT_THROW(cpu::inspect(kernel, "ptx"), Error);
}

}  // namespace
}  // namespace pardo::test

// tests/unit/device/signature_test.cpp: arguments of launches: what is the same, what each launch fills in, what is used.
#include "device/signature.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>

namespace {

using namespace pardo;
using device::Access;
using device::Signature;
using Role = Signature::Role;

/// Memory that belongs to no device.
struct LooseBuffer final : device::Buffer {
    LooseBuffer(void* at, std::size_t bytes) : Buffer(nullptr, MemoryKind::Host, at, bytes) {}
};

/// Elements of a buffer, or a number.
struct Bound {
    device::Buffer* memory = nullptr;
    device::View seen{};
    const Scalar* scalar = nullptr;

    device::Buffer* buffer() const { return memory; }
    std::int64_t first() const { return seen.offset; }
    std::int64_t extent(int d) const { return seen.shape[static_cast<std::size_t>(d)]; }
    std::int64_t stride(int d) const { return seen.strides[static_cast<std::size_t>(d)]; }
    device::View view() const { return seen; }
    const Scalar& number() const { return *scalar; }
};

std::vector<std::uint64_t> words_of(const Signature& signature, std::span<const Bound> values, device::LaunchArguments& out) {
    device::bind(
        signature, [values](std::uint32_t k) { return values[k]; }, out);
    return {out.words.begin(), out.words.end()};
}

TEST(Signature, FillsInWhatDiffersFromLaunchToLaunch) {
    std::array<double, 12> memory{};
    const Ref<LooseBuffer> buffer(new LooseBuffer(memory.data(), sizeof memory));
    const std::int64_t shape[] = {3, 2}, strides[] = {4, -1};
    const Bound array{buffer.get(), {16, 8, shape, strides, 0}, nullptr};
    const Scalar factor(2.5);
    const Bound values[] = {array, {.scalar = &factor}};

    Signature signature;
    signature.add_fixed(7);
    signature.add(Role::Address, 0, 24);
    signature.add(Role::Extent, 0, 1);
    signature.add(Role::Stride, 0, 1);
    signature.add(Role::Number, 1, 0, DType::Float32);
    signature.use(0, Access::Read);
    device::LaunchArguments out;
    const auto address = reinterpret_cast<std::uint64_t>(memory.data());
    EXPECT_EQ(words_of(signature, values, out),
              (std::vector<std::uint64_t>{7, address + 40, 2, static_cast<std::uint64_t>(-1), std::bit_cast<std::uint32_t>(2.5F)}));
    ASSERT_EQ(out.uses.size(), 1);
    EXPECT_EQ(out.uses[0].buffer, buffer.get());
    EXPECT_EQ(out.uses[0].view.offset, 16);
    EXPECT_FALSE(out.foreign);

    const Scalar other(std::int64_t{3});  // takes the dtype of the parameter, whatever it was
    const Bound later[] = {array, {.scalar = &other}};
    EXPECT_EQ(words_of(signature, later, out).back(), std::bit_cast<std::uint32_t>(3.0F));
    EXPECT_EQ(out.uses.size(), 1);
}

TEST(Signature, GivesComplexNumbersTwoWords) {
    const Scalar z(std::complex<double>(1.5, -2));
    const Bound values[] = {{.scalar = &z}};
    Signature signature;
    signature.add(Role::Number, 0, 0, DType::Complex128);
    signature.add_fixed(9);
    device::LaunchArguments out;
    EXPECT_EQ(words_of(signature, values, out),
              (std::vector<std::uint64_t>{std::bit_cast<std::uint64_t>(1.5), std::bit_cast<std::uint64_t>(-2.0), 9}));
}

TEST(Signature, AddsUpTheAccessesOfAValue) {
    Signature signature;
    signature.use(4, Access::Read);
    signature.use(5, Access::Write);
    signature.use(4, Access::Write);
    ASSERT_EQ(signature.uses.size(), 2U);
    EXPECT_EQ(signature.uses[0].access, Access::ReadWrite);
    EXPECT_EQ(signature.uses[1].access, Access::Write);
}

}  // namespace

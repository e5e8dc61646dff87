// src/base/scalar_words.h: numbers as kernels take them.
#pragma once

#include <array>
#include <cstdint>

#include <pardo/dtype.h>

namespace pardo {

/// A number as the arguments of a kernel have it: its bytes from the low end, integers extended by their sign; complex ones take two words.
struct ScalarWords {
    std::array<std::uint64_t, 2> words{};
    int count = 1;
};
ScalarWords scalar_words(const Scalar& s);
/// The number of that dtype; integers take of a word what they have bits for.
Scalar scalar_of_words(DType dtype, std::uint64_t first, std::uint64_t second = 0);

}  // namespace pardo

// src/routines/cpu/mask.cpp: what a mask selects, on the CPU: counting, positions, compression and its opposite, block by block.
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "routines/cpu/mask.h"
#include "routines/cpu/task.h"
#include "routines/routines.h"
#include "routines/strided_iterator.h"

namespace pardo::routines {

namespace {

using Byte = std::uint8_t;

/// Eight bools as eight bytes of 0 or 1, whatever foreign memory holds.
inline std::uint64_t load8(const Byte* mask) {
    std::uint64_t bytes;
    std::memcpy(&bytes, mask, 8);
    constexpr std::uint64_t low7 = 0x7f7f7f7f7f7f7f7fu;
    return ((((bytes & low7) + low7) | bytes) >> 7) & 0x0101010101010101u;
}
/// Eight bools as eight bits, the first lowest.
inline std::uint64_t pack8(const Byte* mask) { return (load8(mask) * 0x0102040810204080u) >> 56; }
/// `count` <= 64 bools as bits.
inline std::uint64_t pack(const Byte* mask, std::int64_t count) {
    std::uint64_t bits = 0;
    std::int64_t i = 0;
    for (; i + 8 <= count; i += 8) bits |= pack8(mask + i) << i;
    for (; i < count; ++i) bits |= static_cast<std::uint64_t>(mask[i] != 0) << i;
    return bits;
}

std::int64_t count_portable(const Byte* mask, std::int64_t count) {
    std::int64_t total = 0, i = 0;
    while (i + 8 <= count) {
        // A byte counter holds 255 rounds.
        const std::int64_t end = std::min(count, i + 255 * 8);
        std::uint64_t sums = 0;
        for (; i + 8 <= end; i += 8) sums += load8(mask + i);
        total +=
            static_cast<std::int64_t>(((sums & 0x00ff00ff00ff00ffu) + ((sums >> 8) & 0x00ff00ff00ff00ffu)) * 0x0001000100010001u >> 48);
    }
    for (; i < count; ++i) total += mask[i] != 0;
    return total;
}
#if defined(__x86_64__)
PARDO_TARGET_AVX512 std::int64_t count_avx512(const Byte* mask, std::int64_t count) {
    std::int64_t total = 0, i = 0;
    for (; i + 64 <= count; i += 64) {
        const __m512i bytes = _mm512_loadu_si512(mask + i);
        total += static_cast<std::int64_t>(_mm_popcnt_u64(_mm512_test_epi8_mask(bytes, bytes)));
    }
    return total + count_portable(mask + i, count - i);
}
#endif

}  // namespace

std::int64_t count_true(const Byte* mask, std::int64_t count) {
#if defined(__x86_64__)
    if (host_simd() == Simd::Avx512) return count_avx512(mask, count);
#endif
    return count_portable(mask, count);
}

namespace {

/// Calls f(first, bits, count) for each 64 (at the end fewer) elements of a mask.
template <class F> [[gnu::always_inline]] inline void for_each_word(const Byte* mask, std::int64_t begin, std::int64_t end, F&& f) {
    for (std::int64_t i = begin; i < end; i += 64) {
        const std::int64_t count = std::min<std::int64_t>(64, end - i);
        f(i, pack(mask + i, count), count);
    }
}

// ---- compression of one block: returns nothing, writes exactly the true elements ----------------------------------------------------

template <class T> void compress_portable(const T* x, const Byte* mask, std::int64_t begin, std::int64_t end, T* out) {
    for_each_word(mask, begin, end, [&](std::int64_t first, std::uint64_t bits, std::int64_t count) {
        if (count == 64 && bits == ~std::uint64_t{0}) {
            std::memcpy(out, x + first, 64 * sizeof(T));
            out += 64;
            return;
        }
        for (; bits; bits &= bits - 1) *out++ = x[first + std::countr_zero(bits)];
    });
}

#if defined(__x86_64__)
/// Whole vectors are stored while there is room for one in the block's own output; the rest goes element by element.
template <class T>
PARDO_TARGET_AVX512 void compress_avx512(const T* x, const Byte* mask, std::int64_t begin, std::int64_t end, T* out, const T* out_end) {
    constexpr int lanes = 64 / sizeof(T);
    std::int64_t i = begin;
    for (; i + 64 <= end && out + 64 <= out_end; i += 64) {
        const __m512i bytes = _mm512_loadu_si512(mask + i);
        std::uint64_t bits = _mm512_test_epi8_mask(bytes, bytes);
        if (bits == 0) continue;
        for (int k = 0; k < 64; k += lanes) {
            const __m512i v = _mm512_loadu_si512(x + i + k);
            if constexpr (sizeof(T) == 8) {
                const auto m = static_cast<__mmask8>(bits);
                _mm512_storeu_si512(out, _mm512_maskz_compress_epi64(m, v));
                out += _mm_popcnt_u32(m);
                bits >>= 8;
            } else {
                const auto m = static_cast<__mmask16>(bits);
                _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(m, v));
                out += _mm_popcnt_u32(m);
                bits >>= 16;
            }
        }
    }
    for (; i < end; i += 64) {
        const std::int64_t count = std::min<std::int64_t>(64, end - i);
        for (std::uint64_t bits = pack(mask + i, count); bits; bits &= bits - 1) *out++ = x[i + std::countr_zero(bits)];
    }
}
#endif

template <class T>
void compress_block(const T* x, const Byte* mask, std::int64_t begin, std::int64_t end, T* out, [[maybe_unused]] const T* out_end) {
#if defined(__x86_64__)
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
        if (host_simd() == Simd::Avx512) return compress_avx512(x, mask, begin, end, out, out_end);
    }
#endif
    compress_portable(x, mask, begin, end, out);
}

// ---- positions ----------------------------------------------------------------------------------------------------------------------

void positions_portable(const Byte* mask, std::int64_t begin, std::int64_t end, std::int64_t* out) {
    for_each_word(mask, begin, end, [&](std::int64_t first, std::uint64_t bits, std::int64_t) {
        for (; bits; bits &= bits - 1) *out++ = first + std::countr_zero(bits);
    });
}
#if defined(__x86_64__)
PARDO_TARGET_AVX512 void positions_avx512(const Byte* mask, std::int64_t begin, std::int64_t end, std::int64_t* out,
                                          const std::int64_t* out_end) {
    const __m512i lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    std::int64_t i = begin;
    for (; i + 64 <= end && out + 64 <= out_end; i += 64) {
        const __m512i bytes = _mm512_loadu_si512(mask + i);
        std::uint64_t bits = _mm512_test_epi8_mask(bytes, bytes);
        for (int k = 0; bits; k += 8, bits >>= 8) {
            const auto m = static_cast<__mmask8>(bits);
            _mm512_storeu_si512(out, _mm512_maskz_compress_epi64(m, _mm512_add_epi64(_mm512_set1_epi64(i + k), lanes)));
            out += _mm_popcnt_u32(m);
        }
    }
    positions_portable(mask, i, end, out);
}
#endif
void positions_block(const Byte* mask, std::int64_t begin, std::int64_t end, std::int64_t* out,
                     [[maybe_unused]] const std::int64_t* out_end) {
#if defined(__x86_64__)
    if (host_simd() == Simd::Avx512) return positions_avx512(mask, begin, end, out, out_end);
#endif
    positions_portable(mask, begin, end, out);
}

/// Turns flat positions, in place in the last array, into one index a dimension.
void split_positions(Extents shape, std::span<std::int64_t* const> out, std::int64_t begin, std::int64_t end) {
    for (std::size_t d = shape.size(); d-- > 0;) {
        // Quotients go into the array of the dimension above, remainders stay; `out` is filled from the last dimension upwards.
        const std::int64_t extent = shape[d];
        std::int64_t* here = out[d];
        std::int64_t* above = d > 0 ? out[d - 1] : nullptr;
        if (!above) return;
        if (extent == 1) {
            for (std::int64_t i = begin; i < end; ++i) {
                above[i] = here[i];
                here[i] = 0;
            }
        } else if (extent <= 0x7fffffff && end > begin && here[end - 1] <= 0x7fffffff) {
            // Positions ascend before the first division, so the last bounds them all; 32-bit division is several times faster.
            const auto divisor = static_cast<std::uint32_t>(extent);
            for (std::int64_t i = begin; i < end; ++i) {
                const auto flat = static_cast<std::uint32_t>(here[i]);
                above[i] = flat / divisor;
                here[i] = flat % divisor;
            }
        } else {
            for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t flat = here[i];
                above[i] = flat / extent;
                here[i] = flat % extent;
            }
        }
    }
}

double cost_of(std::int64_t elements) { return static_cast<double>(elements) * 1.0 + 300; }

std::int64_t cpu_count_mask(device::Queue* queue, const Memory& mask, const Memory& blocks) {
    const std::int64_t size = mask.size(), count = mask_blocks(size);
    const auto total = std::make_shared<std::int64_t>(0);  // the task outlives an interrupted wait
    const double cost = static_cast<double>(size) * 0.06 + 100;
    submit(queue, "count_mask", cost, {&mask}, {&blocks}, [=, device = processor_of(queue)] {
        const Byte* bytes = reinterpret_cast<const Byte*>(mask.address());
        std::int64_t* before = reinterpret_cast<std::int64_t*>(blocks.address());
        cpu::parallel_for(device, count, cost, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t b = begin; b < end; ++b)
                before[b + 1] = count_true(bytes + b * mask_block, std::min(mask_block, size - b * mask_block));
        });
        before[0] = 0;
        for (std::int64_t b = 0; b < count; ++b) before[b + 1] += before[b];
        *total = before[count];
    }).wait();
    return *total;
}

void cpu_nonzero(device::Queue* queue, const Memory& mask, const Memory& blocks, std::span<const Memory> out) {
    const std::int64_t size = mask.size();
    SmallVector<const Memory*, 8> writes;
    SmallVector<std::int64_t*, 8> targets;
    for (const Memory& memory : out) {
        writes.push_back(&memory);
        targets.push_back(reinterpret_cast<std::int64_t*>(memory.address()));
    }
    const Memory* reads[] = {&mask, &blocks};
    const double cost = cost_of(size);
    submit(queue, "nonzero", cost, reads, std::span<const Memory* const>(writes), [=, device = processor_of(queue)] {
        const Byte* bytes = reinterpret_cast<const Byte*>(mask.address());
        const std::int64_t* before = reinterpret_cast<const std::int64_t*>(blocks.address());
        std::int64_t* flat = targets[targets.size() - 1];
        cpu::parallel_for(device, mask_blocks(size), cost, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t b = begin; b < end; ++b) {
                positions_block(bytes, b * mask_block, std::min(size, (b + 1) * mask_block), flat + before[b], flat + before[b + 1]);
                split_positions(mask.shape, {targets.data(), static_cast<std::size_t>(targets.size())}, before[b], before[b + 1]);
            }
        });
    });
}

void cpu_compress(device::Queue* queue, const Memory& x, const Memory& mask, const Memory& blocks, const Memory& out) {
    const std::int64_t size = mask.size();
    const double cost = cost_of(size);
    submit(queue, "compress", cost, {&x, &mask, &blocks}, {&out}, [=, device = processor_of(queue)] {
        const Byte* bytes = reinterpret_cast<const Byte*>(mask.address());
        const std::int64_t* before = reinterpret_cast<const std::int64_t*>(blocks.address());
        visit_size(x.dtype, [&]<class T>(std::type_identity<T>) {
            const T* from = reinterpret_cast<const T*>(x.address());
            T* to = reinterpret_cast<T*>(out.address());
            cpu::parallel_for(device, mask_blocks(size), cost, [=](std::int64_t begin, std::int64_t end) {
                for (std::int64_t b = begin; b < end; ++b)
                    compress_block(from, bytes, b * mask_block, std::min(size, (b + 1) * mask_block), to + before[b], to + before[b + 1]);
            });
        });
    });
}

void cpu_put_mask(device::Queue* queue, const Memory& x, const Memory& mask, const Memory& blocks, const Memory& value) {
    const std::int64_t size = mask.size();
    const double cost = cost_of(size);
    submit(queue, "put_mask", cost, {&x, &mask, &blocks, &value}, {&x}, [=, device = processor_of(queue)] {
        const Byte* bytes = reinterpret_cast<const Byte*>(mask.address());
        const std::int64_t* before = reinterpret_cast<const std::int64_t*>(blocks.address());
        const bool one = value.size() == 1;
        visit_size(x.dtype, [&]<class T>(std::type_identity<T>) {
            const T* from = reinterpret_cast<const T*>(value.address());
            T* to = reinterpret_cast<T*>(x.address());
            const StridedIterator elements(x.shape, x.strides);
            cpu::parallel_for(device, mask_blocks(size), cost, [&](std::int64_t begin, std::int64_t end) {
                const T* next = one ? from : from + before[begin];
                elements.runs(begin * mask_block, std::min(size, end * mask_block),
                              [&](std::int64_t first, std::int64_t offset, std::int64_t step, std::int64_t count) {
                                  for_each_word(bytes, first, first + count, [&](std::int64_t at, std::uint64_t bits, std::int64_t) {
                                      T* target = to + offset + (at - first) * step;
                                      for (; bits; bits &= bits - 1) {
                                          target[std::countr_zero(bits) * step] = *next;
                                          next += !one;
                                      }
                                  });
                              });
            });
        });
    });
}

const Registered count_mask_here(routines::count_mask, {"threads", DeviceKinds::Processor, cpu_count_mask});
const Registered nonzero_here(routines::nonzero, {"threads", DeviceKinds::Processor, cpu_nonzero});
const Registered compress_here(routines::compress, {"threads", DeviceKinds::Processor, cpu_compress});
const Registered put_mask_here(routines::put_mask, {"threads", DeviceKinds::Processor, cpu_put_mask});

}  // namespace

}  // namespace pardo::routines

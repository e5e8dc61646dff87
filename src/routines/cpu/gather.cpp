// src/routines/cpu/gather.cpp: reading and writing elements by index arrays, on the CPU.
#include <atomic>
#include <cstring>
#include <vector>

#include "routines/cpu/bounds.h"
#include "routines/cpu/task.h"
#include "routines/routines.h"
#include "routines/strided_iterator.h"

namespace pardo::routines {

namespace {

/// Index positions handled together: their offsets stay in the L1 cache.
constexpr std::int64_t chunk = 1024;

double cost_of(std::int64_t elements) { return static_cast<double>(elements) * 2.0 + 200; }

/// What indices into an axis are in bytes, written, or `added` to what is there; whether all of them are in bounds.
using IndexLoop = bool (*)(const std::int64_t* index, std::int64_t count, std::int64_t size, std::int64_t step, std::int64_t* out);
template <bool added>
[[gnu::always_inline]] inline bool index_loop(const std::int64_t* index, std::int64_t count, std::int64_t size, std::int64_t step,
                                              std::int64_t* __restrict out) {
    const auto extent = static_cast<std::uint64_t>(size), bytes = static_cast<std::uint64_t>(step);
    std::uint64_t outside = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::uint64_t>(index[i] + ((index[i] >> 63) & size));
        outside |= static_cast<std::uint64_t>(at >= extent);
        out[i] = static_cast<std::int64_t>((added ? static_cast<std::uint64_t>(out[i]) : 0) + at * bytes);
    }
    return outside == 0;
}
template <bool added>
bool index_loop_portable(const std::int64_t* index, std::int64_t count, std::int64_t size, std::int64_t step, std::int64_t* out) {
    return index_loop<added>(index, count, size, step, out);
}
#if defined(__x86_64__)
template <bool added>
PARDO_TARGET_AVX512 bool index_loop_avx512(const std::int64_t* index, std::int64_t count, std::int64_t size, std::int64_t step,
                                           std::int64_t* out) {
    return index_loop<added>(index, count, size, step, out);
}
#endif
template <bool added> IndexLoop chosen_index_loop() {
#if defined(__x86_64__)
    if (host_simd() == Simd::Avx512) return index_loop_avx512<added>;
#endif
    return index_loop_portable<added>;
}

/// Offsets into the base for index positions [begin, begin + count), in bytes.
struct Offsets {
    SmallVector<const std::int64_t*, 4> indices;
    SmallVector<std::int64_t, 4> steps, sizes;

    Offsets(std::span<const Memory> memories, const GatherPlan& plan, DType dtype) : sizes(plan.sizes) {
        for (const Memory& memory : memories) indices.push_back(reinterpret_cast<const std::int64_t*>(memory.address()));
        for (const std::int64_t step : plan.steps) steps.push_back(step * itemsize(dtype));
    }
    /// False where an index is out of bounds: then the offsets are any numbers.
    bool compute(std::int64_t begin, std::int64_t count, std::int64_t* out) const {
        bool inside = first_loop(indices[0] + begin, count, sizes[0], steps[0], out);
        for (int k = 1; k < indices.size(); ++k) inside &= next_loop(indices[k] + begin, count, sizes[k], steps[k], out);
        return inside;
    }
    IndexLoop first_loop = chosen_index_loop<false>(), next_loop = chosen_index_loop<true>();
};

std::vector<const Memory*> with_indices(const Memory& first, std::span<const Memory> indices, const Bounds& bounds) {
    std::vector<const Memory*> list = {&first};
    for (const Memory& memory : indices) list.push_back(&memory);
    for (const Bounds::Row& row : bounds.rows) list.push_back(&row.indices);
    return list;
}

/// Pieces of the base at some offsets, one for each of `count` positions: to or from `pieces`, where those of all positions lie one after
/// the other. `chosen`, of a scatter: the numbers of the positions that are moved.
struct Moved {
    const std::int64_t* offsets;
    const std::int32_t* chosen;
    std::int64_t count;
};

/// Pieces that are contiguous in the base too, of `known` bytes, or of as many as is said only now. A copy of a known size is one or two
/// instructions, a call of memcpy for each piece takes longer than what it copies.
template <bool to_base, std::int64_t known> void move_whole(const Moved& moved, char* base, char* pieces, std::int64_t bytes) {
    const std::int64_t size = known > 0 ? known : bytes;
    for (std::int64_t k = 0; k < moved.count; ++k) {
        const std::int64_t i = to_base ? moved.chosen[k] : k;
        if constexpr (to_base)
            std::memcpy(base + moved.offsets[i], pieces + i * size, static_cast<std::size_t>(size));
        else
            std::memcpy(pieces + i * size, base + moved.offsets[i], static_cast<std::size_t>(size));
    }
}

template <bool to_base> auto whole_mover(std::int64_t bytes) {
    switch (bytes) {
        case 1: return move_whole<to_base, 1>;
        case 2: return move_whole<to_base, 2>;
        case 3: return move_whole<to_base, 3>;
        case 4: return move_whole<to_base, 4>;
        case 6: return move_whole<to_base, 6>;
        case 8: return move_whole<to_base, 8>;
        case 12: return move_whole<to_base, 12>;
        case 16: return move_whole<to_base, 16>;
        case 24: return move_whole<to_base, 24>;
        case 32: return move_whole<to_base, 32>;
        case 48: return move_whole<to_base, 48>;
        case 64: return move_whole<to_base, 64>;
        default: return move_whole<to_base, 0>;
    }
}

/// The same from where indices into one axis name them, each `step` bytes after the one before; false where an index is out of bounds, in
/// whose place the first piece is read.
template <std::int64_t size>
bool move_named(const std::int64_t* index, std::int64_t count, std::int64_t extent, std::int64_t step, const char* base, char* pieces) {
    if (extent == 0) return false;
    const auto limit = static_cast<std::uint64_t>(extent), bytes = static_cast<std::uint64_t>(step);
    std::uint64_t outside = 0;
    for (std::int64_t k = 0; k < count; ++k) {
        const auto at = static_cast<std::uint64_t>(index[k] + ((index[k] >> 63) & extent));
        const bool wrong = at >= limit;
        outside |= static_cast<std::uint64_t>(wrong);
        std::memcpy(pieces + k * size, base + static_cast<std::int64_t>((wrong ? 0 : at) * bytes), static_cast<std::size_t>(size));
    }
    return outside == 0;
}

/// Nothing of other sizes than those of elements.
auto named_mover(std::int64_t bytes) -> decltype(&move_named<1>) {
    switch (bytes) {
        case 1: return move_named<1>;
        case 2: return move_named<2>;
        case 4: return move_named<4>;
        case 8: return move_named<8>;
        case 16: return move_named<16>;
        default: return nullptr;
    }
}

/// Pieces of `size` elements that are strided in the base.
template <bool to_base, class T>
void move_strided(const Moved& moved, const StridedIterator& inner, std::int64_t size, char* base, char* pieces) {
    for (std::int64_t k = 0; k < moved.count; ++k) {
        const std::int64_t i = to_base ? moved.chosen[k] : k;
        T* const there = reinterpret_cast<T*>(base + moved.offsets[i]);
        T* const here = reinterpret_cast<T*>(pieces) + i * size;
        inner.runs(0, size, [=](std::int64_t at, std::int64_t offset, std::int64_t step, std::int64_t count) {
            for (std::int64_t j = 0; j < count; ++j) {
                if constexpr (to_base)
                    there[offset + j * step] = here[at + j];
                else
                    here[at + j] = there[offset + j * step];
            }
        });
    }
}

/// How the pieces of a plan are moved.
template <bool to_base> class Mover {
public:
    Mover(const GatherPlan& plan, DType dtype)
        : inner_(plan.inner, plan.inner_strides),
          size_(element_count(plan.inner)),
          dtype_(dtype),
          whole_(inner_.inner() == size_ && inner_.inner_step() == 1 ? whole_mover<to_base>(bytes()) : nullptr) {}
    /// Whether pieces are contiguous in the base too.
    bool whole() const { return whole_ != nullptr; }
    std::int64_t bytes() const { return size_ * itemsize(dtype_); }
    void operator()(const Moved& moved, char* base, char* pieces) const {
        if (whole_) return whole_(moved, base, pieces, bytes());
        visit_size(dtype_, [&]<class T>(std::type_identity<T>) { move_strided<to_base, T>(moved, inner_, size_, base, pieces); });
    }
    /// One element everywhere in the pieces.
    void fill(const Moved& moved, char* base, const char* element) const {
        visit_size(dtype_, [&]<class T>(std::type_identity<T>) {
            const T value = *reinterpret_cast<const T*>(element);
            for (std::int64_t k = 0; k < moved.count; ++k) {
                T* const there = reinterpret_cast<T*>(base + moved.offsets[moved.chosen[k]]);
                inner_.runs(0, size_, [=](std::int64_t, std::int64_t offset, std::int64_t step, std::int64_t count) {
                    for (std::int64_t j = 0; j < count; ++j) there[offset + j * step] = value;
                });
            }
        });
    }

private:
    StridedIterator inner_;
    std::int64_t size_;
    DType dtype_;
    void (*whole_)(const Moved&, char*, char*, std::int64_t);
};

/// False where an index is out of bounds. They are looked at when they are used, not all of them before: that takes one pass over them.
bool gather_here(device::Device* device, const Memory& base, const Offsets& offsets, const GatherPlan& plan, const Memory& out,
                 double cost) {
    const StridedIterator outer(plan.outer, plan.outer_strides);
    const Mover<false> move(plan, base.dtype);
    const std::int64_t outer_size = element_count(plan.outer), chunks = (plan.count + chunk - 1) / chunk;
    const auto named = offsets.indices.size() == 1 && move.whole() ? named_mover(move.bytes()) : nullptr;
    std::atomic<bool> inside{true};
    cpu::parallel_for(device, outer_size * chunks, cost, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t at[chunk], known = -1;
        for (std::int64_t part = begin; part < end; ++part) {
            const std::int64_t o = part / chunks, c = part % chunks, first = c * chunk, count = std::min(chunk, plan.count - first);
            char* const from = base.address() + outer.offset(o) * itemsize(base.dtype);
            char* const to = out.address() + (o * plan.count + first) * move.bytes();
            if (named ? !named(offsets.indices[0] + first, count, plan.sizes[0], offsets.steps[0], from, to)
                      : c != known && !offsets.compute(first, count, at)) {
                inside.store(false, std::memory_order_relaxed);
                return;
            }
            known = c;
            if (!named) move({at, nullptr, count}, from, to);
        }
    });
    return inside;
}

/// Each thread writes the elements whose first index lies in its share of the axis, in order: of duplicates the last wins.
void scatter_here(device::Device* device, const Memory& base, const Offsets& offsets, const GatherPlan& plan, const Memory& value,
                  double cost) {
    const StridedIterator outer(plan.outer, plan.outer_strides);
    const Mover<true> move(plan, base.dtype);
    const std::int64_t outer_size = element_count(plan.outer), size = plan.sizes[0];
    const std::int64_t shares = plan.count < 4096 ? 1 : std::min<std::int64_t>({cpu::thread_count(device), 8, size});
    cpu::parallel_for(device, shares, cost, [&](std::int64_t first_share, std::int64_t end_share) {
        const std::int64_t low = size * first_share / shares, high = size * end_share / shares;
        std::int64_t at[chunk];
        std::int32_t mine[chunk];  // those of a chunk that lie in the share; found without branches, which nothing could predict
        for (std::int64_t first = 0; first < plan.count; first += chunk) {
            const std::int64_t count = std::min(chunk, plan.count - first);
            offsets.compute(first, count, at);
            const std::int64_t* index = offsets.indices[0] + first;
            std::int64_t taken = 0;
            for (std::int64_t i = 0; i < count; ++i) {
                const std::int64_t wrapped = index[i] + (index[i] < 0 ? size : 0);
                mine[taken] = static_cast<std::int32_t>(i);
                taken += static_cast<std::int64_t>(wrapped >= low) & static_cast<std::int64_t>(wrapped < high);
            }
            for (std::int64_t o = 0; o < outer_size; ++o) {
                char* const target = base.address() + outer.offset(o) * itemsize(base.dtype);
                if (value.size() == 1)
                    move.fill({at, mine, taken}, target, value.address());
                else
                    move({at, mine, taken}, target, value.address() + (o * plan.count + first) * move.bytes());
            }
        }
    });
}

void cpu_gather(device::Queue* queue, const Memory& base, std::span<const Memory> indices, const GatherPlan& plan, const Memory& out) {
    const double cost = cost_of(out.size());
    const Memory* writes[] = {&out};
    submit(queue, "gather", cost, std::span<const Memory* const>(with_indices(base, indices, plan.bounds)), writes,
           [=, offsets = Offsets(indices, plan, base.dtype), device = processor_of(queue)] {
               if (!gather_here(device, base, offsets, plan, out, cost)) check_bounds(device, plan.bounds);
           });
}

void cpu_scatter(device::Queue* queue, const Memory& base, std::span<const Memory> indices, const GatherPlan& plan, const Memory& value) {
    const double cost = cost_of(element_count(plan.outer) * plan.count * element_count(plan.inner));
    const Memory* writes[] = {&base};
    std::vector<const Memory*> reads = with_indices(value, indices, plan.bounds);
    reads.push_back(&base);  // what is not named stays
    submit(queue, "scatter", cost, std::span<const Memory* const>(reads), writes,
           [=, offsets = Offsets(indices, plan, base.dtype), device = processor_of(queue)] {
               check_bounds(device, plan.bounds);
               scatter_here(device, base, offsets, plan, value, cost);
           });
}

void cpu_take_along_axis(device::Queue* queue, const Memory& x, const Memory& indices, const Memory& out, Lines lines, std::int64_t count,
                         const Bounds& bounds) {
    const double cost = cost_of(out.size());
    submit(queue, "take_along_axis", cost, {&x, &indices}, {&out}, [=, device = processor_of(queue)] {
        check_bounds(device, bounds);
        const std::int64_t* index = reinterpret_cast<const std::int64_t*>(indices.address());
        visit_size(x.dtype, [&]<class T>(std::type_identity<T>) {
            const T* from = reinterpret_cast<const T*>(x.address());
            T* to = reinterpret_cast<T*>(out.address());
            const std::int64_t inner = lines.inner, length = lines.length;
            // Parts of the result, row-major, so that one long line is shared out too.
            const std::int64_t size = lines.outer * count * inner, parts = (size + chunk - 1) / chunk;
            cpu::parallel_for(device, parts, cost, [=](std::int64_t begin, std::int64_t end) {
                std::int64_t i = begin * chunk;
                const std::int64_t last = std::min(size, end * chunk);
                std::int64_t j = i % inner, o = i / inner / count;
                std::int64_t row_end = (o + 1) * count * inner;
                for (; i < last; ++i) {
                    if (i == row_end) {
                        ++o;
                        row_end += count * inner;
                    }
                    const std::int64_t at = index[i] + (index[i] < 0 ? length : 0);
                    to[i] = from[(o * length + at) * inner + j];
                    if (++j == inner) j = 0;
                }
            });
        });
    });
}

const Registered gather_by_threads(routines::gather, {"threads", DeviceKinds::Processor, cpu_gather});
const Registered scatter_by_threads(routines::scatter, {"threads", DeviceKinds::Processor, cpu_scatter});
const Registered take_along_axis_by_threads(routines::take_along_axis, {"threads", DeviceKinds::Processor, cpu_take_along_axis});

}  // namespace

}  // namespace pardo::routines

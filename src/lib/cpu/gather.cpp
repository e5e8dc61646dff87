// src/lib/cpu/gather.cpp: reading and writing elements by index arrays, on the CPU.
#include <cstring>
#include <vector>

#include "lib/cpu/bounds.h"
#include "lib/cpu/task.h"
#include "lib/routines.h"
#include "lib/strided_iterator.h"

namespace pardo::lib {

namespace {

/// Index positions handled together: their offsets stay in the L1 cache.
constexpr std::int64_t chunk = 1024;

double cost_of(std::int64_t elements) { return static_cast<double>(elements) * 2.0 + 200; }

/// Offsets into the base for index positions [begin, begin + count).
struct Offsets {
    SmallVector<const std::int64_t*, 4> indices;
    SmallVector<std::int64_t, 4> steps, sizes;

    Offsets(std::span<const Memory> memories, const GatherPlan& plan) : steps(plan.steps), sizes(plan.sizes) {
        for (const Memory& memory : memories) indices.push_back(reinterpret_cast<const std::int64_t*>(memory.address()));
    }
    void compute(std::int64_t begin, std::int64_t count, std::int64_t* __restrict out) const {
        for (int k = 0; k < indices.size(); ++k) {
            const std::int64_t* index = indices[k] + begin;
            const std::int64_t step = steps[k], size = sizes[k];
            if (k == 0) {
                for (std::int64_t i = 0; i < count; ++i) out[i] = (index[i] + (index[i] < 0 ? size : 0)) * step;
            } else {
                for (std::int64_t i = 0; i < count; ++i) out[i] += (index[i] + (index[i] < 0 ? size : 0)) * step;
            }
        }
    }
};

std::vector<const Memory*> with_indices(const Memory& first, std::span<const Memory> indices, const Bounds& bounds) {
    std::vector<const Memory*> list = {&first};
    for (const Memory& memory : indices) list.push_back(&memory);
    for (const Bounds::Row& row : bounds.rows) list.push_back(&row.indices);
    return list;
}

/// Copies one strided piece of the base to or from contiguous memory.
template <bool to_base, class T>
[[gnu::always_inline]] inline void move_inner(const StridedIterator& inner, std::int64_t size, T* base, T* other) {
    if (size == inner.inner() && inner.inner_step() == 1) {
        if constexpr (to_base)
            std::memcpy(base, other, static_cast<std::size_t>(size) * sizeof(T));
        else
            std::memcpy(other, base, static_cast<std::size_t>(size) * sizeof(T));
        return;
    }
    inner.runs(0, size, [&](std::int64_t at, std::int64_t offset, std::int64_t step, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
            if constexpr (to_base)
                base[offset + i * step] = other[at + i];
            else
                other[at + i] = base[offset + i * step];
        }
    });
}

template <class T>
void gather_typed(device::Device* device, const T* base, const Offsets& offsets, const GatherPlan& plan, T* out, double cost) {
    const StridedIterator outer(plan.outer, plan.outer_strides), inner(plan.inner, plan.inner_strides);
    const std::int64_t outer_size = element_count(plan.outer), inner_size = element_count(plan.inner);
    const std::int64_t chunks = (plan.count + chunk - 1) / chunk;
    cpu::parallel_for(device, outer_size * chunks, cost, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t at[chunk], known = -1;
        for (std::int64_t part = begin; part < end; ++part) {
            const std::int64_t o = part / chunks, c = part % chunks, first = c * chunk, count = std::min(chunk, plan.count - first);
            if (c != known) offsets.compute(first, count, at);
            known = c;
            const T* from = base + outer.offset(o);
            T* to = out + (o * plan.count + first) * inner_size;
            if (inner_size == 1) {
                for (std::int64_t i = 0; i < count; ++i) to[i] = from[at[i]];
                continue;
            }
            for (std::int64_t i = 0; i < count; ++i)
                move_inner<false, T>(inner, inner_size, const_cast<T*>(from) + at[i], to + i * inner_size);
        }
    });
}

/// Each thread writes the elements whose first index lies in its share of the axis, in order: of duplicates the last wins.
template <class T>
void scatter_typed(device::Device* device, T* base, const Offsets& offsets, const GatherPlan& plan, const T* value, bool one, double cost) {
    const StridedIterator outer(plan.outer, plan.outer_strides), inner(plan.inner, plan.inner_strides);
    const std::int64_t outer_size = element_count(plan.outer), inner_size = element_count(plan.inner), size = plan.sizes[0];
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
                T* target = base + outer.offset(o);
                const T* from = value + (one ? 0 : (o * plan.count + first) * inner_size);
                if (inner_size == 1) {
                    for (std::int64_t m = 0; m < taken; ++m) target[at[mine[m]]] = from[one ? 0 : mine[m]];
                    continue;
                }
                for (std::int64_t m = 0; m < taken; ++m) {
                    const std::int64_t i = mine[m];
                    if (one) {
                        inner.runs(0, inner_size, [&](std::int64_t, std::int64_t offset, std::int64_t step, std::int64_t run) {
                            for (std::int64_t j = 0; j < run; ++j) target[at[i] + offset + j * step] = *from;
                        });
                    } else {
                        move_inner<true, T>(inner, inner_size, target + at[i], const_cast<T*>(from) + i * inner_size);
                    }
                }
            }
        }
    });
}

void cpu_gather(device::Queue* queue, const Memory& base, std::span<const Memory> indices, const GatherPlan& plan, const Memory& out) {
    const double cost = cost_of(out.size());
    const Memory* writes[] = {&out};
    submit(queue, "gather", cost, std::span<const Memory* const>(with_indices(base, indices, plan.bounds)), writes,
           [=, offsets = Offsets(indices, plan), device = queue->device()] {
               check_bounds(device, plan.bounds);
               visit_size(base.dtype, [&]<class T>(std::type_identity<T>) {
                   gather_typed(device, reinterpret_cast<const T*>(base.address()), offsets, plan, reinterpret_cast<T*>(out.address()),
                                cost);
               });
           });
}

void cpu_scatter(device::Queue* queue, const Memory& base, std::span<const Memory> indices, const GatherPlan& plan, const Memory& value) {
    const double cost = cost_of(element_count(plan.outer) * plan.count * element_count(plan.inner));
    const Memory* writes[] = {&base};
    std::vector<const Memory*> reads = with_indices(value, indices, plan.bounds);
    reads.push_back(&base);  // what is not named stays
    submit(queue, "scatter", cost, std::span<const Memory* const>(reads), writes,
           [=, offsets = Offsets(indices, plan), device = queue->device()] {
               check_bounds(device, plan.bounds);
               visit_size(base.dtype, [&]<class T>(std::type_identity<T>) {
                   scatter_typed(device, reinterpret_cast<T*>(base.address()), offsets, plan, reinterpret_cast<const T*>(value.address()),
                                 value.size() == 1, cost);
               });
           });
}

void cpu_take_along_axis(device::Queue* queue, const Memory& x, const Memory& indices, const Memory& out, Lines lines, std::int64_t count,
                         const Bounds& bounds) {
    const double cost = cost_of(out.size());
    submit(queue, "take_along_axis", cost, {&x, &indices}, {&out}, [=, device = queue->device()] {
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

const Registered gather_here(routines::gather, {"threads", Place::Host, cpu_gather});
const Registered scatter_here(routines::scatter, {"threads", Place::Host, cpu_scatter});
const Registered take_along_axis_here(routines::take_along_axis, {"threads", Place::Host, cpu_take_along_axis});

}  // namespace

}  // namespace pardo::lib

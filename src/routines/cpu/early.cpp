// src/routines/cpu/early.cpp: looks through bools and narrow integers on the CPU until the answer is known.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <vector>

#include "routines/cpu/mask.h"
#include "routines/cpu/task.h"

namespace pardo::routines {

namespace {

constexpr std::int64_t part_bytes = 1 << 18, chunk = 4096;
constexpr double byte_ns = 0.015;

/// Whether one of the bytes is not 0.
PARDO_CLONES bool has_true(const std::uint8_t* x, std::int64_t count) {
    std::uint8_t all = 0;
    for (std::int64_t i = 0; i < count; ++i) all |= x[i];
    return all != 0;
}

/// Elements as unsigned integers of which the greatest are looked for: `flip` turns signed ones and the direction.
template <class K> struct Keys {
    static PARDO_CLONES K greatest(const K* x, std::int64_t count, K flip) {
        K most = 0;
        for (std::int64_t i = 0; i < count; ++i) most = std::max(most, static_cast<K>(x[i] ^ flip));
        return most;
    }
    static std::int64_t place(const K* x, std::int64_t count, K element) { return std::find(x, x + count, element) - x; }
};

std::int64_t first_true(const std::uint8_t* x, std::int64_t count) {
    for (std::int64_t at = 0; at < count; at += chunk) {
        const std::int64_t size = std::min(chunk, count - at);
        if (!has_true(x + at, size)) continue;
        std::int64_t i = at;
        while (x[i] == 0) ++i;
        return i;
    }
    return count;
}

std::int64_t first_false(const std::uint8_t* x, std::int64_t count) {
    const void* found = std::memchr(x, 0, static_cast<std::size_t>(count));
    return found ? static_cast<const std::uint8_t*>(found) - x : count;
}

void lower(std::atomic<std::int64_t>& value, std::int64_t to) {
    std::int64_t before = value.load(std::memory_order_relaxed);
    while (to < before && !value.compare_exchange_weak(before, to, std::memory_order_relaxed)) {
    }
}

/// Calls look(part) for parts in order, by all threads; those after one that says true are left out.
template <class F> void until(device::Device* device, std::int64_t parts, double cost, F&& look) {
    if (look(0) || parts == 1) return;  // before other threads are woken
    std::atomic<std::int64_t> last{parts};
    for_each_part(device, parts - 1, cost, [&](std::int64_t i) {
        const std::int64_t part = i + 1;
        if (part < last.load(std::memory_order_relaxed) && look(part)) lower(last, part);
    });
}

/// Where the first element is true, or false; the size if none is.
std::int64_t first_of(device::Device* device, const std::uint8_t* x, std::int64_t size, bool wanted, double cost) {
    const std::int64_t parts = (size + part_bytes - 1) / part_bytes;
    std::atomic<std::int64_t> first{size};
    until(device, parts, cost, [&](std::int64_t part) {
        const std::int64_t begin = part * part_bytes, count = std::min(part_bytes, size - begin);
        const std::int64_t at = wanted ? first_true(x + begin, count) : first_false(x + begin, count);
        if (at == count) return false;
        lower(first, begin + at);
        return true;
    });
    return first.load(std::memory_order_relaxed);
}

/// Where the first of the greatest keys is.
template <class K> std::int64_t first_greatest(device::Device* device, const K* x, std::int64_t size, K flip, double cost) {
    struct Found {
        int key = -1;
        std::int64_t place = 0;
    };
    constexpr auto part_size = static_cast<std::int64_t>(part_bytes / sizeof(K));
    const std::int64_t parts = (size + part_size - 1) / part_size;
    std::vector<Found> found(static_cast<std::size_t>(parts));
    until(device, parts, cost, [&](std::int64_t part) {
        const std::int64_t begin = part * part_size, end = std::min(size, begin + part_size);
        Found best;
        for (std::int64_t at = begin; at < end && best.key != std::numeric_limits<K>::max(); at += chunk) {
            const int key = Keys<K>::greatest(x + at, std::min(chunk, end - at), flip);
            if (key > best.key) best = {key, at};
        }
        best.place += Keys<K>::place(x + best.place, std::min(chunk, end - best.place), static_cast<K>(best.key ^ flip));
        found[static_cast<std::size_t>(part)] = best;
        return best.key == std::numeric_limits<K>::max();
    });
    return std::max_element(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.key < b.key; })->place;
}

std::int64_t count_all(device::Device* device, const std::uint8_t* x, std::int64_t size, double cost) {
    const std::int64_t parts = (size + part_bytes - 1) / part_bytes;
    std::atomic<std::int64_t> total{0};
    for_each_part(device, parts, cost, [&](std::int64_t part) {
        const std::int64_t begin = part * part_bytes;
        total.fetch_add(count_true(x + begin, std::min(part_bytes, size - begin)), std::memory_order_relaxed);
    });
    return total.load(std::memory_order_relaxed);
}

std::int64_t place_in_bools(device::Device* device, const std::uint8_t* x, std::int64_t size, bool wanted, double cost) {
    const std::int64_t first = first_of(device, x, size, wanted, cost);
    return first == size ? 0 : first;
}

template <class K> std::int64_t place_in_integers(device::Device* device, const Memory& x, Question question, double cost) {
    const bool has_sign = kind_of(x.dtype) == DKind::Signed;
    constexpr auto sign = static_cast<K>(1u << (8 * sizeof(K) - 1));
    const auto flip = static_cast<K>((has_sign ? sign : 0) ^ (question == Question::Least ? ~K{0} : 0));
    return first_greatest(device, reinterpret_cast<const K*>(x.address()), x.size(), flip, cost);
}

std::int64_t answer(device::Device* device, const Memory& x, Question question, double cost) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(x.address());
    const std::int64_t size = x.size();
    const bool is_bool = x.dtype == DType::Bool;
    switch (question) {
        case Question::Any: return first_of(device, bytes, size, true, cost) < size;
        case Question::All: return first_of(device, bytes, size, false, cost) == size;
        case Question::Count: return count_all(device, bytes, size, cost);
        case Question::Least:
        case Question::Most: break;
    }
    if (is_bool) return place_in_bools(device, bytes, size, question == Question::Most, cost);
    return itemsize(x.dtype) == 1 ? place_in_integers<std::uint8_t>(device, x, question, cost)
                                  : place_in_integers<std::uint16_t>(device, x, question, cost);
}

void cpu_look_through(device::Queue* queue, const Memory& x, const Memory& out, Question question) {
    const double cost = static_cast<double>(x.nbytes()) * byte_ns;
    // Most searches among bools end soon: sooner than another thread has woken up to run them.
    const double expected = x.dtype == DType::Bool && question != Question::Count ? cost / 16 : cost;
    submit(queue, "look_through", expected + 100, {&x}, {&out}, [=, device = processor_of(queue)] {
        const std::int64_t found = answer(device, x, question, cost);
        if (out.dtype == DType::Bool)
            *reinterpret_cast<std::uint8_t*>(out.address()) = found != 0;
        else
            *reinterpret_cast<std::int64_t*>(out.address()) = found;
    });
}

const Registered look_through_here(routines::look_through, {"threads", DeviceKinds::Processor, cpu_look_through});

}  // namespace

}  // namespace pardo::routines

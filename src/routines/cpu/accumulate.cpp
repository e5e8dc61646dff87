// src/routines/cpu/accumulate.cpp: what indices name, changed in place once for each time: sums, products, extremes and bits, on the CPU.
#include <atomic>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "routines/cpu/bounds.h"
#include "routines/cpu/keys.h"
#include "routines/routines.h"

namespace pardo::routines {

namespace {

using graph::Op;

// A function and what leaves its other operand as it is, the sign of a zero too.
struct Sum {
    template <class T> static T identity() {
        if constexpr (std::is_floating_point_v<T>)
            return T(-0.0);
        else if constexpr (std::is_integral_v<T>)
            return 0;
        else
            return T(-0.0, -0.0);
    }
    template <class T> static T step(T a, T b) { return static_cast<T>(a + b); }
};
struct Product {
    template <class T> static T identity() { return 1; }
    template <class T> static T step(T a, T b) {
        if constexpr (sizeof(T) == 2)
            return static_cast<T>(static_cast<std::uint32_t>(a) * b);  // an int would overflow
        else
            return static_cast<T>(a * b);
    }
};
/// The least (or greatest) of two; NaN if one is.
template <bool greatest> struct Extreme {
    template <class T> static T identity() {
        using Limits = std::numeric_limits<T>;
        if constexpr (std::is_floating_point_v<T>)
            return greatest ? -Limits::infinity() : Limits::infinity();
        else
            return greatest ? Limits::min() : Limits::max();
    }
    template <class T> static T step(T a, T b) {
        const bool keeps = greatest ? a >= b : a <= b;
        if constexpr (std::is_floating_point_v<T>)
            return keeps || a != a ? a : b;  // NOLINT(misc-redundant-expression)
        else
            return keeps ? a : b;
    }
};
/// The same; the other one where one is NaN.
template <bool greatest> struct NumberExtreme {
    template <class T> static T identity() { return std::numeric_limits<T>::quiet_NaN(); }
    template <class T> static T step(T a, T b) {
        const bool keeps = greatest ? a >= b : a <= b;
        return keeps || b != b ? a : b;  // NOLINT(misc-redundant-expression)
    }
};
struct And {
    template <class T> static T identity() { return static_cast<T>(~T{0}); }
    template <class T> static T step(T a, T b) { return static_cast<T>(a & b); }
};
struct Or {
    template <class T> static T identity() { return 0; }
    template <class T> static T step(T a, T b) { return static_cast<T>(a | b); }
};
struct Xor {
    template <class T> static T identity() { return 0; }
    template <class T> static T step(T a, T b) { return static_cast<T>(a ^ b); }
};

constexpr std::int64_t parts = 32;             // of the places, where each part has a copy of the target
constexpr std::int64_t least_places = 32768;   // fewer are gone through in order
constexpr std::int64_t largest_copy = 524288;  // bytes: stays in a core's cache
constexpr std::int64_t near = 6 << 20;  // bytes of a target that one thread goes through in any order as fast as two put places in order
constexpr std::int64_t half_of_l1 = 16384;  // bytes that the copies of a part may take: places and values stream through the other half

/// Copies of a short target in a part: a place that is named again and again has not to wait.
std::int64_t ways_of(std::int64_t bytes) { return 4 * bytes <= half_of_l1 ? 4 : 2 * bytes <= half_of_l1 ? 2 : 1; }

/// How the work is cut. Results do not depend on the number of threads: they are the same in order and by ranges.
struct Cut {
    std::int64_t size, count, bytes;  // of the target, of the places, of an element
    std::int64_t copies = 0;          // of the target, in all parts
    int shift = 0;                    // else: bits of a place within its range of the target; 0: in order

    Cut(std::int64_t target, std::int64_t places, std::int64_t element, int threads) : size(target), count(places), bytes(element) {
        if (count < least_places) return;
        if (size * bytes <= largest_copy && size * parts <= count) {
            const std::int64_t ways = ways_of(size * bytes);
            copies = parts * (size * parts * ways <= count ? ways : 1);
        } else if (size >= 1024 && (threads > 2 || size * bytes > near)) {
            const int bits = std::bit_width(static_cast<std::uint64_t>(size - 1));
            shift = std::max({std::min(15, bits - 6), bits - 9});
        }
    }
    std::int64_t ranges() const { return ((size - 1) >> shift) + 1; }
    std::int64_t chunks() const { return std::min<std::int64_t>(count / least_places, 256); }
    std::int64_t scratch(bool one) const {
        if (copies) return copies * size * bytes;
        return shift ? count * (4 + (one ? 0 : bytes)) + 64 : 0;
    }
};

/// The places and what goes there. By value where elements are stored, which could be anything behind a reference.
struct Places {
    const std::int64_t* places;
    const char* values;
    bool one;           // value for all of them
    std::int64_t size;  // of the target

    std::int64_t at(std::int64_t k) const { return places[k] + (places[k] < 0 ? size : 0); }
    std::int64_t value_at(std::int64_t k) const { return one ? 0 : k; }
};

/// The loops that depend on the elements' type and on the function: all else is compiled once.
struct Loops {
    void (*fill)(char* copies, std::int64_t count);                                // with the identity
    void (*apply)(char* target, Places p, std::int64_t begin, std::int64_t end);   // to the places, in order
    void (*in_two)(char* copies, Places p, std::int64_t begin, std::int64_t end);  // to two copies by turns
    void (*in_four)(char* copies, Places p, std::int64_t begin, std::int64_t end);
    void (*merge)(char* target, const char* copy, std::int64_t count);  // element by element
    void (*range)(char* target, const std::uint32_t* inside, const char* values, bool one, std::int64_t begin, std::int64_t end);
};
template <class T, class F> struct LoopsOf {
    static T* typed(char* memory) { return reinterpret_cast<T*>(memory); }
    static const T* typed(const char* memory) { return reinterpret_cast<const T*>(memory); }
    static void step(T& at, T value) { at = F::template step<T>(at, value); }

    static void fill(char* copies, std::int64_t count) { std::fill_n(typed(copies), count, F::template identity<T>()); }
    static void apply(char* target, Places p, std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) step(typed(target)[p.at(k)], typed(p.values)[p.value_at(k)]);
    }
    template <std::int64_t ways> static void spread(char* copies, Places p, std::int64_t begin, std::int64_t end) {
        std::int64_t k = begin;
        for (; k + ways <= end; k += ways) {
            for (std::int64_t way = 0; way < ways; ++way)
                step(typed(copies)[way * p.size + p.at(k + way)], typed(p.values)[p.value_at(k + way)]);
        }
        apply(copies, p, k, end);
    }
    static void merge(char* target, const char* copy, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) step(typed(target)[i], typed(copy)[i]);
    }
    static void range(char* target, const std::uint32_t* inside, const char* values, bool one, std::int64_t begin, std::int64_t end) {
        T* to = typed(target);
        if (one) {
            for (const T value = *typed(values); begin < end; ++begin) step(to[inside[begin]], value);
        } else {
            for (const T* from = typed(values); begin < end; ++begin) step(to[inside[begin]], from[begin]);
        }
    }
    static constexpr Loops loops = {fill, apply, spread<2>, spread<4>, merge, range};
};

class Accumulation {
public:
    Accumulation(device::Device* device, const Cut& cut, const Loops& loops, char* target, const Places& places, char* scratch, double cost)
        : device_(device), cut_(cut), loops_(loops), target_(target), p_(places), scratch_(scratch), cost_(cost) {}

    /// False, and nothing is written, where a place is out of bounds; unless `check`, none is.
    bool run(bool check) {
        if (cut_.copies) return in_copies(check);
        if (cut_.shift) {
            switch (cut_.bytes) {
                case 1: return in_ranges<std::uint8_t>(check);
                case 2: return in_ranges<std::uint16_t>(check);
                case 4: return in_ranges<std::uint32_t>(check);
                case 8: return in_ranges<std::uint64_t>(check);
                default: return in_ranges<Bytes16>(check);
            }
        }
        if (check && !all_inside(0, cut_.count)) return false;
        loops_.apply(target_, p_, 0, cut_.count);
        return true;
    }

private:
    static constexpr std::int64_t chunk = 256;  // places that are looked through, and then used while they are near

    bool all_inside(std::int64_t begin, std::int64_t end) const {
        const auto limit = static_cast<std::uint64_t>(cut_.size);
        std::uint64_t signs = 0;  // one is set where a place is below -size, or is not below size: sums and bits, of which lanes have many
        for (std::int64_t k = begin; k < end; ++k) {
            const auto place = static_cast<std::uint64_t>(p_.places[k]);
            signs |= (place + limit) | (limit - 1 - place);
        }
        return signs >> 63 == 0;
    }
    /// f(begin, end) for the chunks of a part of the places; false where one is out of bounds, whose chunk is not given to f.
    template <class G> bool each_chunk(std::int64_t begin, std::int64_t end, bool check, G&& f) const {
        for (; begin < end; begin += chunk) {
            const std::int64_t stop = std::min(end, begin + chunk);
            if (check && !all_inside(begin, stop)) return false;
            f(begin, stop);
        }
        return true;
    }

    /// Each part of the places in copies of its own, which are taken together in order.
    bool in_copies(bool check) {
        const std::int64_t size = cut_.size, bytes = size * cut_.bytes, ways = cut_.copies / parts;
        std::atomic<bool> inside{true};
        for_each_part(device_, parts, cost_, [&](std::int64_t part) {
            char* own = scratch_ + part * ways * bytes;
            loops_.fill(own, ways * size);
            const auto use = [&, loop = ways == 4   ? loops_.in_four
                                        : ways == 2 ? loops_.in_two
                                                    : loops_.apply](std::int64_t k, std::int64_t end) { loop(own, p_, k, end); };
            if (!each_chunk(cut_.count * part / parts, cut_.count * (part + 1) / parts, check, use)) inside.store(false);
        });
        if (!inside.load()) return false;
        cpu::parallel_for(device_, size, static_cast<double>(cut_.copies * size) * 0.3, [&](std::int64_t begin, std::int64_t end) {
            constexpr std::int64_t step = 512;
            for (std::int64_t first = begin; first < end; first += step) {
                const std::int64_t at = first * cut_.bytes, count = std::min(end, first + step) - first;
                for (std::int64_t c = 0; c < cut_.copies; ++c) loops_.merge(target_ + at, scratch_ + c * bytes + at, count);
            }
        });
        return true;
    }

    /// Places and values, of V's size, are put in order by ranges of the target, which are then gone through each by one thread.
    template <class V> bool in_ranges(bool check) {
        const std::int64_t ranges = cut_.ranges(), chunks = cut_.chunks(), count = cut_.count;
        const int shift = cut_.shift;
        auto* inside = reinterpret_cast<std::uint32_t*>(scratch_ + (p_.one ? 0 : count * cut_.bytes));
        std::vector<std::int64_t> starts(static_cast<std::size_t>(chunks * ranges + 1));
        std::atomic<bool> known_inside{true};
        for_each_part(device_, chunks, cost_, [&](std::int64_t c) {
            std::int64_t* own = starts.data() + c * ranges;
            const auto note = [&](std::int64_t k, std::int64_t end) {
                for (; k < end; ++k) ++own[p_.at(k) >> shift];
            };
            if (!each_chunk(count * c / chunks, count * (c + 1) / chunks, check, note)) known_inside.store(false);
        });
        if (!known_inside.load()) return false;
        std::vector<std::int64_t> bounds(static_cast<std::size_t>(ranges + 1));
        std::int64_t before = 0;
        for (std::int64_t r = 0; r < ranges; ++r) {
            bounds[static_cast<std::size_t>(r)] = before;
            for (std::int64_t c = 0; c < chunks; ++c) {
                std::int64_t& start = starts[static_cast<std::size_t>(c * ranges + r)];
                before += std::exchange(start, before);
            }
        }
        bounds[static_cast<std::size_t>(ranges)] = before;
        const std::int64_t mask = (std::int64_t{1} << shift) - 1;
        for_each_part(device_, chunks, cost_, [&](std::int64_t c) {
            std::int64_t* next = starts.data() + c * ranges;
            const Places p = p_;
            V* values = reinterpret_cast<V*>(scratch_);
            for (std::int64_t k = count * c / chunks, end = count * (c + 1) / chunks; k < end; ++k) {
                const std::int64_t place = p.at(k), at = next[place >> shift]++;
                inside[at] = static_cast<std::uint32_t>(place & mask);
                if (!p.one) values[at] = reinterpret_cast<const V*>(p.values)[k];
            }
        });
        for_each_part(device_, ranges, cost_, [&](std::int64_t r) {
            loops_.range(target_ + (r << shift) * cut_.bytes, inside, p_.one ? p_.values : scratch_, p_.one,
                         bounds[static_cast<std::size_t>(r)], bounds[static_cast<std::size_t>(r + 1)]);
        });
        return true;
    }

    device::Device* device_;
    Cut cut_;
    Loops loops_;
    char* target_;
    Places p_;
    char* scratch_;
    double cost_;
};

/// Calls f(type, function) with what the row does to elements of the dtype; false where there is no code for that.
template <class F> bool visit(Op op, DType dtype, F&& f) {
    const bool inexact = is_inexact(dtype), complex = is_complex(dtype), logical = dtype == DType::Bool;
    if (is_narrow_float(dtype)) return false;
    const auto real = [&](auto function) {
        if (dtype == DType::Float32)
            f(std::type_identity<float>(), function);
        else
            f(std::type_identity<double>(), function);
        return true;
    };
    const auto bits = [&](auto function) {
        switch (itemsize(dtype)) {
            case 1: f(std::type_identity<std::uint8_t>(), function); break;
            case 2: f(std::type_identity<std::uint16_t>(), function); break;
            case 4: f(std::type_identity<std::uint32_t>(), function); break;
            default: f(std::type_identity<std::uint64_t>(), function);
        }
        return true;
    };
    const auto ordered = [&](auto function) {
        switch (dtype) {
            case DType::Int8: f(std::type_identity<std::int8_t>(), function); return true;
            case DType::Int16: f(std::type_identity<std::int16_t>(), function); return true;
            case DType::Int32: f(std::type_identity<std::int32_t>(), function); return true;
            case DType::Int64: f(std::type_identity<std::int64_t>(), function); return true;
            case DType::Float32:
            case DType::Float64: return real(function);
            default: return bits(function);
        }
    };
    switch (op) {
        case Op::add:
            if (dtype == DType::Complex64) f(std::type_identity<std::complex<float>>(), Sum());
            if (dtype == DType::Complex128) f(std::type_identity<std::complex<double>>(), Sum());
            return complex || (logical ? bits(Or()) : inexact ? real(Sum()) : bits(Sum()));
        case Op::multiply: return !complex && (logical ? bits(And()) : inexact ? real(Product()) : bits(Product()));
        case Op::minimum: return !complex && (logical ? bits(And()) : ordered(Extreme<false>()));
        case Op::maximum: return !complex && (logical ? bits(Or()) : ordered(Extreme<true>()));
        case Op::fmin: return !complex && (logical ? bits(And()) : inexact ? real(NumberExtreme<false>()) : ordered(Extreme<false>()));
        case Op::fmax: return !complex && (logical ? bits(Or()) : inexact ? real(NumberExtreme<true>()) : ordered(Extreme<true>()));
        case Op::bitwise_and: return !inexact && bits(And());
        case Op::bitwise_or: return !inexact && bits(Or());
        case Op::bitwise_xor: return !inexact && bits(Xor());
        case Op::logical_and: return logical && bits(And());
        case Op::logical_or: return logical && bits(Or());
        case Op::logical_xor: return logical && bits(Xor());
        default: return false;
    }
}

void cpu_accumulate_at(device::Queue* queue, Op op, const Memory& target, const Memory& places, const Memory& values,
                       const Bounds& bounds) {
    const bool one = values.size() == 1;
    const Cut cut(target.size(), places.size(), itemsize(target.dtype), cpu::thread_count(processor_of(queue)));
    const double cost = static_cast<double>(places.size()) * 4 + 200;
    const std::int64_t bytes = cut.scratch(one);
    const Memory scratch = bytes ? make_scratch_bytes(queue, bytes) : Memory();
    const Memory *reads[] = {&target, &places, &values}, *writes[] = {&target, &scratch};
    submit(queue, "accumulate_at", cost, std::span<const Memory* const>(reads), std::span<const Memory* const>(writes),
           [=, device = processor_of(queue)] {
               Loops loops{};
               visit(op, target.dtype, [&]<class T, class F>(std::type_identity<T>, F) { loops = LoopsOf<T, F>::loops; });
               const Places named{reinterpret_cast<const std::int64_t*>(places.address()), values.address(), one, target.size()};
               const bool inside = Accumulation(device, cut, loops, target.address(), named, scratch ? scratch.address() : nullptr, cost)
                                       .run(!bounds.rows.empty());
               if (!inside) check_bounds(device, bounds);  // throws: says which
           });
}

bool applies(device::Queue*, Op op, const Memory& target, const Memory&, const Memory&, const Bounds&) {
    return visit(op, target.dtype, [](auto, auto) {});
}

const Registered accumulate_at_here(routines::accumulate_at, {"threads", DeviceKinds::Processor, cpu_accumulate_at, applies});

}  // namespace

}  // namespace pardo::routines

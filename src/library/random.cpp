// src/library/random.cpp: random numbers by kernels: an item draws a block of Philox, and uses all of it.
#include <pardo/random.h>

#include <array>
#include <mutex>
#include <numbers>
#include <random>
#include <string>

#include <pardo/ops.h>
#include <pardo/recorded_kernel.h>

namespace pardo::random {

/// The place in the stream. The third word of the counter is 0: seeds have 64 bits.
struct Generator::State {
    explicit State(std::uint64_t seed) : key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)} {}
    const std::uint32_t key[2];
    std::mutex lock;
    std::uint64_t next = 0;  // block

    std::uint64_t take(std::uint64_t blocks) {
        const std::lock_guard guard(lock);
        return std::exchange(next, next + blocks);
    }
};

namespace {

using Words = std::array<Value, 4>;
using Key = std::array<Value, 2>;

constexpr std::uint64_t word = 0xffffffff;

/// Four words of 32 bits, as uint64.
Words philox(const Value& block, const Value& attempt, const Value& key0, const Value& key1) {
    std::vector<Value> c{block & word, block >> 32, Value(0).as<std::uint64_t>(), attempt.as<std::uint64_t>()};
    std::vector<Value> k{key0.as<std::uint64_t>(), key1.as<std::uint64_t>()};
    for (int round = 0; round < 10; ++round) {
        // Under names: each is used twice, and an expression would be written out for each use.
        const Value a = Var<std::uint64_t>(c[0] * 0xd2511f53u), b = Var<std::uint64_t>(c[2] * 0xcd9e8d57u);
        c = std::vector<Value>{(b >> 32) ^ c[1] ^ k[0], b & word, (a >> 32) ^ c[3] ^ k[1], a & word};
        k = std::vector<Value>{(k[0] + 0x9e3779b9u) & word, (k[1] + 0xbb67ae85u) & word};
    }
    return {Var<std::uint64_t>(c[0]), Var<std::uint64_t>(c[1]), Var<std::uint64_t>(c[2]), Var<std::uint64_t>(c[3])};
}

/// Stores the values of the i-th block, as many as there is room for.
template <class T> void put(const Out<T>& out, const Value& i, const std::vector<Value>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    const Value first = i * count;
    const auto store = [&](std::int64_t k) { out[first + k] = values[static_cast<std::size_t>(k)].as<T>(); };
    If(
        first + count <= out.extent(),
        [&] {
            for (std::int64_t k = 0; k < count; ++k) store(k);
        },
        [&] {
            for (std::int64_t k = 0; k < count; ++k) If(first + k < out.extent(), [&] { store(k); });
        });
}

/// Two numbers of float64 or four of float32.
template <class T> std::vector<Value> uniform(const Words& w) {
    std::vector<Value> u;
    if constexpr (std::same_as<T, float>) {
        for (const Value& x : w) u.push_back((x >> 8).as<float>() * 0x1p-24f);
    } else {
        for (std::size_t k = 0; k < 4; k += 2) u.push_back((w[k] >> 5).as<double>() * 0x1p-27 + (w[k + 1] >> 6).as<double>() * 0x1p-53);
    }
    return u;
}

/// By Box and Muller.
template <class T> std::vector<Value> normal(const Words& w) {
    std::vector<Value> out;
    const std::vector<Value> u = uniform<T>(w);
    const T turn = static_cast<T>(2 * std::numbers::pi);
    for (std::size_t k = 0; k < u.size(); k += 2) {
        const Value radius = Var<T>(sqrt(log(1 - u[k]) * -2)), angle = Var<T>(turn * u[k + 1]);
        out.push_back(radius * cos(angle));
        out.push_back(radius * sin(angle));
    }
    return out;
}

template <class T> std::vector<Value> exponential(const Words& w) {
    std::vector<Value> out;
    for (const Value& u : uniform<T>(w)) out.push_back(-log1p(-u));
    return out;
}

using Seed32 = Param<std::uint32_t>;
using Word64 = Param<std::uint64_t>;

template <class T, auto draw> const auto& filling(const char* name) {
    static const auto& made = *new auto(kernel(
        [](Item item, const Word64& first, const Seed32& key0, const Seed32& key1, Out<T> out) {
            const Value i = item;
            put(out, i, draw(philox(first + i.as<std::uint64_t>(), 0, key0, key1)));
        },
        {.name = name}));
    return made;
}

template <auto of_float, auto of_double>
Array filled(const char* op_name, Extents shape, std::optional<DType> dtype, const Queue& queue, auto& state) {
    const DType wanted = dtype.value_or(queue.device().supports(DType::Float64) ? DType::Float64 : DType::Float32);
    if (wanted != DType::Float32 && wanted != DType::Float64)
        throw Error(ErrorCode::Type, std::string(op_name) + ": dtype " + std::string(dtype_name(wanted)) +
                                         " is not supported; it must be float32 or float64");
    const Array out = empty(shape, wanted, queue, MemoryKind::Device, op_name), flat = reshape(out, -1);
    if (out.size() == 0) return out;
    const std::int64_t of_block = 16 / itemsize(wanted), blocks = (out.size() + of_block - 1) / of_block;
    const std::uint64_t first = state.take(static_cast<std::uint64_t>(blocks));
    if (wanted == DType::Float32) {
        filling<float, of_float>(op_name)(blocks, first, state.key[0], state.key[1], flat);
    } else {
        filling<double, of_double>(op_name)(blocks, first, state.key[0], state.key[1], flat);
    }
    return out;
}

/// One word each, for up to 2**32 different integers; `refused` is 2**32 % count.
template <class T> const auto& short_integers() {
    static const auto& made = *new auto(kernel(
        [](Item item, const Word64& first, const Seed32& key0, const Seed32& key1, const Word64& low, const Word64& count,
           const Word64& refused, Out<T> out) {
            const Value i = item, block = first + i.as<std::uint64_t>();
            const Words w = philox(block, 0, key0, key1);
            std::vector<Var<std::uint64_t>> products;
            products.reserve(w.size());
            for (const Value& x : w) products.emplace_back(x * count);
            Var<std::int64_t> attempt = 0;
            const auto bad = [&](std::size_t k) { return (products[k] & word) < refused; };
            While([&] { return bad(0) | bad(1) | bad(2) | bad(3); },
                  [&] {
                      attempt += 1;
                      const Words again = philox(block, attempt, key0, key1);
                      for (std::size_t k = 0; k < 4; ++k) If(bad(k), [&] { products[k] = again[k] * count; });
                  });
            std::vector<Value> values;
            values.reserve(products.size());
            for (const auto& p : products) values.push_back(low + (p >> 32));
            put(out, i, values);
        },
        {.name = "integers"}));
    return made;
}

/// word * (last + 1) >> 64, and whether that is one of the values which all are equally likely.
void scale(const Value& x, const Value& last, Var<std::uint64_t>& value, Var<bool>& good) {
    value = x;
    good = true;
    If(last != ~std::uint64_t{0}, [&] {
        const Value count = Var<std::uint64_t>(last + 1), a = x >> 32, b = x & word, c = count >> 32, d = count & word;
        const Value lowest = Var<std::uint64_t>(b * d), left = Var<std::uint64_t>(a * d + (lowest >> 32));
        const Value right = Var<std::uint64_t>(b * c + (left & word)), rest = Var<std::uint64_t>((right << 32) | (lowest & word));
        If(rest < count, [&] { good = rest >= (~std::uint64_t{0} % count + 1) % count; });  // seldom: else a division for each
        value = a * c + (left >> 32) + (right >> 32);
    });
}

/// Two words each, for any number of different integers, of which `last` is the greatest less the least.
template <class T> const auto& long_integers() {
    static const auto& made = *new auto(kernel(
        [](Item item, const Word64& first, const Seed32& key0, const Seed32& key1, const Word64& low, const Word64& last, Out<T> out) {
            const Value i = item, block = first + i.as<std::uint64_t>();
            Var<std::uint64_t> a = 0, b = 0;
            Var<bool> good_a = false, good_b = false;
            const auto scale_both = [&](const Words& w) {
                If(!good_a, [&] { scale(w[0] | (w[1] << 32), last, a, good_a); });
                If(!good_b, [&] { scale(w[2] | (w[3] << 32), last, b, good_b); });
            };
            scale_both(philox(block, 0, key0, key1));
            Var<std::int64_t> attempt = 0;
            While([&] { return !(good_a & good_b); },
                  [&] {
                      attempt += 1;
                      scale_both(philox(block, attempt, key0, key1));
                  });
            put(out, i, {low + a, low + b});
        },
        {.name = "integers"}));
    return made;
}

/// Both ends in 64 bits: those of a dtype.
struct Ends {
    __int128 least, greatest;
};
Ends ends_of(DType dtype) {
    const int bits = 8 * itemsize(dtype);
    if (kind_of(dtype) == DKind::Unsigned) return {0, (__int128{1} << bits) - 1};
    return {-(__int128{1} << (bits - 1)), (__int128{1} << (bits - 1)) - 1};
}
__int128 whole(const Scalar& s) { return s.dtype == DType::UInt64 ? __int128{s.u} : __int128{s.i}; }

template <class F> void with_integer(DType dtype, F&& f) {
    switch (dtype) {
        case DType::Int8: return f(std::int8_t{});
        case DType::Int16: return f(std::int16_t{});
        case DType::Int32: return f(std::int32_t{});
        case DType::Int64: return f(std::int64_t{});
        case DType::UInt8: return f(std::uint8_t{});
        case DType::UInt16: return f(std::uint16_t{});
        case DType::UInt32: return f(std::uint32_t{});
        default: return f(std::uint64_t{});
    }
}

std::uint64_t bits_of_the_system() {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
}

}  // namespace

Generator::Generator() : Generator(bits_of_the_system()) {}
Generator::Generator(std::uint64_t seed) : state_(std::make_shared<State>(seed)) {}

Array Generator::random(Extents shape, std::optional<DType> dtype, const Queue& queue) const {
    return filled<uniform<float>, uniform<double>>("random", shape, dtype, queue, *state_);
}
Array Generator::standard_normal(Extents shape, std::optional<DType> dtype, const Queue& queue) const {
    return filled<normal<float>, normal<double>>("standard_normal", shape, dtype, queue, *state_);
}
Array Generator::standard_exponential(Extents shape, std::optional<DType> dtype, const Queue& queue) const {
    return filled<exponential<float>, exponential<double>>("standard_exponential", shape, dtype, queue, *state_);
}

Array Generator::between(const Scalar& low, const Scalar& high, Extents shape, DType dtype, const Queue& queue) const {
    if (!is_integer(dtype))
        throw Error(ErrorCode::Type,
                    "integers: dtype " + std::string(dtype_name(dtype)) + " is not supported; it must be an integer dtype");
    const auto [least, greatest] = ends_of(dtype);
    const __int128 from = whole(low), last = whole(high) - 1;
    if (from < least || last > greatest)
        throw Error(ErrorCode::Value, std::string("integers: ") + (from < least ? "low" : "high") + " is out of bounds for " +
                                          std::string(dtype_name(dtype)));
    if (last < from) throw Error(ErrorCode::Value, "integers: low is not less than high; no integer lies between them");
    const Array out = empty(shape, dtype, queue, MemoryKind::Device, "integers"), flat = reshape(out, -1);
    if (out.size() == 0) return out;
    const auto begin = static_cast<std::uint64_t>(from), distance = static_cast<std::uint64_t>(last - from);
    const bool is_short = distance < word + 1;
    const std::int64_t of_block = is_short ? 4 : 2, blocks = (out.size() + of_block - 1) / of_block;
    const std::uint64_t first = state_->take(static_cast<std::uint64_t>(blocks)), count = distance + 1;
    with_integer(dtype, [&]<class T>(T) {
        if (is_short) {
            short_integers<T>()(blocks, first, state_->key[0], state_->key[1], begin, count, (word + 1) % count, flat);
        } else {
            long_integers<T>()(blocks, first, state_->key[0], state_->key[1], begin, distance, flat);
        }
    });
    return out;
}

}  // namespace pardo::random

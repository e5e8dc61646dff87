// tests/unit/emit/support.h: runs a kernel as machine code and in the interpreter, and compares every byte of its arrays.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "backend/cpu/object_loader.h"
#include "base/narrow.h"
#include "emit/llvm/module.h"
#include "ir/builder.h"
#include "ir/interpret.h"
#include "ir/ir.h"

namespace pardo::test {

using Entry = void (*)(const std::uint64_t*, const std::int64_t*, const std::int64_t*, const std::int64_t*, const std::uint8_t*);
inline constexpr std::uint8_t never = 0;  // stops
inline constexpr DType f32 = DType::Float32, f64 = DType::Float64, i32 = DType::Int32, i64 = DType::Int64;

/// Machine code of one kernel for one width of vector registers.
struct Compiled {
    cpu::LoadedCode code;
    Entry entry() const { return reinterpret_cast<Entry>(code.entry); }
};

inline ir::Kernel lowered(const ir::Kernel& kernel) {
    return ir::expand_math(ir::lower_narrow_floats(ir::join_stores(ir::lower_complex(kernel))));
}

inline Compiled compile(const ir::Kernel& kernel, int vector_bytes) {
    const emit::LlvmTarget target = emit::host_target_limited(vector_bytes);
    return {cpu::load_object(emit::compile_object(lowered(kernel), "test", target), "test")};
}

/// One argument: an array (elements as bytes) or a scalar's slots.
struct Argument {
    DType type = DType::Float64;
    bool array = true;
    std::vector<std::uint8_t> bytes;   // arrays
    std::vector<std::uint64_t> slots;  // scalars: one, or two for complex
};

inline Argument array(DType t, std::int64_t count) {
    Argument a;
    a.type = t;
    a.bytes.resize(static_cast<std::size_t>(count * itemsize(t)));
    return a;
}

template <class T> Argument array_of(const std::vector<T>& values) {
    Argument a;
    a.type = dtype_of<T>;
    a.bytes.resize(values.size() * sizeof(T));
    std::memcpy(a.bytes.data(), values.data(), a.bytes.size());
    return a;
}

template <class T> Argument scalar_of(T value) {
    Argument a;
    a.type = dtype_of<T>;
    a.array = false;
    std::uint64_t slot = 0;
    std::memcpy(&slot, &value, sizeof(T));
    a.slots = {slot};
    return a;
}

template <class T> std::vector<T> values(const Argument& a) {
    std::vector<T> v(a.bytes.size() / sizeof(T));
    std::memcpy(v.data(), a.bytes.data(), a.bytes.size());
    return v;
}

/// Values that find mistakes: zeros of both signs, ones, limits, infinities, NaN, then random ones.
inline Argument interesting(DType t, std::int64_t count, unsigned seed, double scale = 100) {
    std::mt19937_64 random(seed);
    Argument a = array(t, count);
    const int size = itemsize(t);
    for (std::int64_t i = 0; i < count; ++i) {
        std::uint8_t* at = a.bytes.data() + i * size;
        const std::uint64_t r = random();
        if (t == DType::Bool) {
            *at = r & 1;
        } else if (is_integer(t)) {
            static const std::uint64_t limits[] = {
                0, 1, ~0ull, 2, 3, 0x8000000000000000ull >> (64 - 8 * size), (0x8000000000000000ull >> (64 - 8 * size)) - 1, 7};
            std::uint64_t v = r % 3 == 0 ? limits[(r >> 8) % 8] : r % 3 == 1 ? (r >> 16) % 200 : r >> ((r >> 4) % 60);
            std::memcpy(at, &v, static_cast<std::size_t>(size));
        } else {
            static const double limits[] = {0.0,  -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN,  0.5,
                                            -0.5, 2.0,  3.0, 1e-5, 70000.0,  -3e9,      1e19, -1.5};
            const double u = (static_cast<double>(r >> 11) * 0x1p-53 * 2 - 1) * scale;
            const double v = r % 4 == 0 ? limits[(r >> 8) % 16] : r % 4 == 1 ? std::floor(u) : u;
            auto put = [&](double x, std::uint8_t* to) {
                const DType real = real_of(t);
                if (real == DType::Float64) std::memcpy(to, &x, 8);
                const auto f = static_cast<float>(x);
                if (real == DType::Float32) std::memcpy(to, &f, 4);
                if (!is_narrow_float(real)) return;
                const std::uint16_t h = to_narrow(x, facts_of(real).exponent, facts_of(real).mantissa);
                std::memcpy(to, &h, 2);
            };
            put(v, at);
            if (is_complex(t)) put((static_cast<double>(random() >> 11) * 0x1p-53 * 2 - 1) * scale, at + size / 2);
        }
    }
    return a;
}

inline std::vector<std::uint64_t> slots(std::vector<Argument>& arguments) {
    std::vector<std::uint64_t> out;
    for (Argument& a : arguments) {
        if (a.array)
            out.push_back(reinterpret_cast<std::uint64_t>(a.bytes.data()));
        else
            out.insert(out.end(), a.slots.begin(), a.slots.end());
    }
    return out;
}

/// Runs the box [begin, end).
inline void run_native(const Compiled& code, std::vector<Argument>& arguments, const std::vector<std::int64_t>& extents,
                       std::vector<std::int64_t> begin = {}, std::vector<std::int64_t> end = {}) {
    if (begin.empty()) begin.assign(extents.size(), 0);
    if (end.empty()) end = extents;
    code.entry()(slots(arguments).data(), extents.data(), begin.data(), end.data(), &never);
}

/// The same by the interpreter, all items.
inline void interpret(const ir::Kernel& kernel, std::vector<Argument>& arguments, const std::vector<std::int64_t>& extents) {
    ir::interpret(kernel, slots(arguments), extents);
}

/// Distance in units in the last place; NaN equals NaN, zeros of unlike sign differ.
template <class T> double ulps(T a, T b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : INFINITY;
    if (a == b) return std::signbit(a) == std::signbit(b) ? 0 : INFINITY;
    if (std::isinf(a) || std::isinf(b)) return INFINITY;
    const T unit = std::nextafter(std::max(std::abs(a), std::abs(b)), T(INFINITY)) - std::max(std::abs(a), std::abs(b));
    return static_cast<double>(std::abs(a - b) / unit);
}

inline double element_distance(DType t, const std::uint8_t* a, const std::uint8_t* b) {
    auto as = [](auto zero, const std::uint8_t* p) {
        std::memcpy(&zero, p, sizeof zero);
        return zero;
    };
    switch (t) {
        case DType::Float64: return ulps(as(0.0, a), as(0.0, b));
        case DType::Float32: return ulps(as(0.0f, a), as(0.0f, b));
        case DType::Float16:
        case DType::BFloat16: {
            const DTypeFacts& facts = facts_of(t);
            const auto number = [&](const std::uint8_t* p) { return from_narrow(as(std::uint16_t{}, p), facts.exponent, facts.mantissa); };
            const float x = number(a), y = number(b), least = from_narrow(1, facts.exponent, facts.mantissa);
            return std::isnan(x) && std::isnan(y) ? 0
                   : x == y                       ? 0
                   : std::isinf(x) || std::isinf(y) || std::isnan(x) || std::isnan(y)
                       ? INFINITY
                       : std::abs(x - y) / std::max(std::ldexp(std::abs(x), -facts.mantissa), least);
        }
        case DType::Complex64: return std::max(element_distance(DType::Float32, a, b), element_distance(DType::Float32, a + 4, b + 4));
        case DType::Complex128: return std::max(element_distance(DType::Float64, a, b), element_distance(DType::Float64, a + 8, b + 8));
        default: return std::memcmp(a, b, static_cast<std::size_t>(itemsize(t))) == 0 ? 0 : INFINITY;
    }
}

inline std::string hex(const std::uint8_t* p, int bytes) {
    std::string s;
    for (int k = bytes - 1; k >= 0; --k) {
        char text[3];
        std::snprintf(text, sizeof text, "%02x", p[k]);
        s += text;
    }
    return s;
}

inline void expect_same(const std::vector<Argument>& got, const std::vector<Argument>& want, double tolerance, const std::string& what) {
    for (std::size_t k = 0; k < got.size(); ++k) {
        const int size = itemsize(got[k].type);
        int shown = 0;
        for (std::size_t at = 0; at < got[k].bytes.size() && shown < 4; at += static_cast<std::size_t>(size)) {
            const double d = element_distance(got[k].type, &got[k].bytes[at], &want[k].bytes[at]);
            if (d <= tolerance) continue;
            ++shown;
            ADD_FAILURE() << what << ": argument " << k << " element " << at / static_cast<std::size_t>(size) << ": got "
                          << hex(&got[k].bytes[at], size) << ", expected " << hex(&want[k].bytes[at], size) << " (" << d << " ulp)";
        }
    }
}

inline constexpr int widths[] = {16, 32, 64};

/// Compiles for each width, runs, and compares with the interpreter.
void check(const ir::Kernel& kernel, const std::vector<Argument>& arguments, const std::vector<std::int64_t>& extents, double tolerance = 0,
           const std::string& what = "");

}  // namespace pardo::test

// src/emit/c/expressions.cpp: expressions of texts, by dtype: constants, conversions, arithmetic that wraps or rounds.
#include "emit/c/expressions.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/scalar_words.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {

using ir::Opcode;

bool is_expression(const std::string& text) { return text.find_first_of(" ([") != std::string::npos; }

std::string wrapped(const std::string& text) {
    return text.find(' ') != std::string::npos || text.starts_with('-') || text.starts_with('(') ? "(" + text + ")" : text;
}

std::string element(const std::string& array, const std::string& index) { return array + "[" + index + "]"; }

std::string kept_array(int array) { return "kept" + std::to_string(array); }

std::string kept_element(int array) { return element(kept_array(array), "u"); }

std::string qualifier(const char* word) { return *word ? std::string(word) + " " : std::string(); }

std::string function_of(const CTarget& target, const std::string& name, DType dtype) {
    return dtype == DType::Float64 ? name : name + target.float_suffix;
}

std::string constant(const CTarget& target, const Scalar& value) {
    char text[48];
    char* end = text;
    const DType dtype = value.dtype;
    switch (kind_of(dtype)) {
        case DKind::Bool: return value.b ? "true" : "false";
        case DKind::Signed:
            if (value.i == INT64_MIN) return "(-9223372036854775807 - 1)";
            end = std::to_chars(text, text + sizeof text, value.i).ptr;
            return dtype == DType::Int64 && (value.i > INT32_MAX || value.i < INT32_MIN) ? std::string(text, end) + "L"
                   : dtype == DType::Int64                                               ? std::string(text, end)
                                           : "(" + c_type(target, dtype) + ")" + std::string(text, end);
        case DKind::Unsigned:
            end = std::to_chars(text, text + sizeof text, value.u).ptr;
            return "(" + c_type(target, dtype) + ")" + std::string(text, end) + (value.u > UINT32_MAX ? "UL" : "u");
        default: break;
    }
    if (is_narrow_float(dtype)) return "(" + c_type(target, dtype) + ")" + std::to_string(scalar_words(value).words[0]) + "u";  // its bits
    const bool single = dtype != DType::Float64;
    if (!std::isfinite(value.f)) {
        const std::uint64_t bits =
            single ? std::bit_cast<std::uint32_t>(static_cast<float>(value.f)) : std::bit_cast<std::uint64_t>(value.f);
        end = std::to_chars(text, text + sizeof text, bits, 16).ptr;
        return std::string(single ? target.f32_from_bits : target.f64_from_bits) + "(0x" + std::string(text, end) + (single ? "u)" : "UL)");
    }
    end = single ? std::to_chars(text, text + sizeof text, static_cast<float>(value.f)).ptr
                 : std::to_chars(text, text + sizeof text, value.f).ptr;
    std::string out(text, end);
    if (out.find_first_of(".en") == std::string::npos) out += ".0";
    return single ? out + "f" : out;
}

std::string cast(CWriter& w, const std::string& x, DType from, DType to) {
    if (from == to) return x;
    if (is_narrow_float(from)) return cast(w, w.helpers.of_bits(from, x), computed_in(from), to);
    if (is_narrow_float(to)) {
        if (is_float(from)) return w.helpers.to_bits(to, from, x);
        return cast(w, cast(w, x, from, computed_in(to)), computed_in(to), to);
    }
    const std::string t = c_type(w.target, to);
    if (to == DType::Bool) return wrapped(x) + " != 0";
    if (is_float(from)) {
        if (is_float(to)) return "(" + t + ")" + wrapped(x);
        if (to == DType::Int64) return w.helpers.use("to_i64", from) + "(" + x + ")";
        if (to == DType::UInt64) return w.helpers.use("to_u64", from) + "(" + x + ")";
        if (to == DType::Int32) return w.helpers.use("to_i32", from) + "(" + x + ")";
        return "(" + t + ")" + w.helpers.use(to == DType::UInt32 ? "to_i64" : "to_i32", from) + "(" + x + ")";
    }
    if (w.features.hidden_masks && is_integer(from) && is_integer(to) && itemsize(to) < std::min(itemsize(from), 4))
        return "(" + t + ")" + hidden(w.target, from, x);
    if (from == DType::Int64 && to == DType::Float64 && w.features.split_longs) return w.helpers.use("from_i64", to) + "(" + x + ")";
    return "(" + t + ")" + wrapped(x);
}

std::string bitcast(CWriter& w, const std::string& x, DType from, DType to) {
    const std::string bits = as_bits(w.target, from, x);
    if (to == DType::Bool) return "(" + bits + ") != 0";
    if (is_float(to) && !is_narrow_float(to))
        return std::string(to == DType::Float32 ? w.target.f32_from_bits : w.target.f64_from_bits) + "(" + bits + ")";
    return "(" + c_type(w.target, to) + ")" + wrapped(bits);
}

std::string as_bits(const CTarget& target, DType dtype, const std::string& x) {
    if (!is_float(dtype) || is_narrow_float(dtype)) return x;  // those are held as their bits
    return std::string(dtype == DType::Float32 ? target.bits_of_f32 : target.bits_of_f64) + "(" + x + ")";
}

std::string wrapping(const CTarget& target, const char* sign, DType dtype, const std::string& a, const std::string& b) {
    const std::string t = c_type(target, dtype);
    if (kind_of(dtype) == DKind::Unsigned && itemsize(dtype) >= 4) return wrapped(a) + sign + wrapped(b);
    const std::string u = itemsize(dtype) == 8 ? target.unsigned_types[3] : target.unsigned_types[2];
    return "(" + t + ")((" + u + ")" + wrapped(a) + sign + "(" + u + ")" + wrapped(b) + ")";
}

std::string min_max(Opcode op, DType dtype, const std::string& a, const std::string& b) {
    const bool smaller = op == Opcode::Min || op == Opcode::Fmin;
    std::string test = a + (smaller ? " < " : " > ") + b;
    if (is_float(dtype)) {
        const std::string& loses = op == Opcode::Fmin || op == Opcode::Fmax ? b : a;
        test += " || " + loses + " != " + loses;
    }
    return test + " ? " + a + " : " + b;
}

std::string combine(CWriter& w, ir::Combine c, DType dtype, const std::string& a, const std::string& b) {
    switch (c) {
        case ir::Combine::Add:
        case ir::Combine::Mul: {
            const char* sign = c == ir::Combine::Add ? " + " : " * ";
            if (dtype == DType::Bool) return a + (c == ir::Combine::Add ? " | " : " & ") + wrapped(b);
            return is_float(dtype) ? a + sign + wrapped(b) : wrapping(w.target, sign, dtype, a, b);
        }
        case ir::Combine::Min:
        case ir::Combine::Max:
            if (dtype == DType::Bool) return a + (c == ir::Combine::Max ? " | " : " & ") + wrapped(b);
            return min_max(c == ir::Combine::Min ? Opcode::Min : Opcode::Max, dtype, a, b);
        case ir::Combine::And: return a + " & " + wrapped(b);
        case ir::Combine::Xor: return a + " ^ " + wrapped(b);
        default: return a + " | " + wrapped(b);
    }
}

std::string hidden(const CTarget& target, DType dtype, const std::string& x) {
    const std::string t = c_type(target, dtype);
    return "(" + t + ")(" + wrapped(x) + " ^ (" + t + ")((long)get_global_id(0) >> 63))";
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)

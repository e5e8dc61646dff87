// src/array/print.cpp: prints the values of an array as NumPy's str does: with at most eight digits behind the point, in columns and lines.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include <pardo/array.h>
#include <pardo/ops.h>

namespace pardo {
namespace {

constexpr std::int64_t threshold = 1000, edge = 3;  // NumPy's: of more elements, so many at both ends of each axis
constexpr int precision = 8;                        // digits behind the point
constexpr std::size_t line_width = 75;

/// The number with the fewest digits that is rounded to this one of a narrow float; five are enough for 16 bits.
double shortest(double value, DType dtype) {
    for (int digits = 1; digits <= 5; ++digits) {
        char text[32];
        double shorter = 0;
        const std::to_chars_result end = std::to_chars(text, std::end(text), value, std::chars_format::scientific, digits - 1);
        std::from_chars(text, end.ptr, shorter);
        if (Scalar(shorter).cast(dtype).f == value) return shorter;
    }
    return value;
}

/// The fewest digits that tell a finite number from others of its dtype: "0.1", "1e-05".
std::string digits_of(double value, DType dtype, std::chars_format format) {
    char text[400];  // of 1e308 as well
    if (is_narrow_float(dtype)) value = shortest(value, dtype);
    const bool wide = dtype == DType::Float64 || is_narrow_float(dtype);
    const std::to_chars_result end =
        wide ? std::to_chars(text, std::end(text), value, format) : std::to_chars(text, std::end(text), static_cast<float>(value), format);
    return {text, end.ptr};
}

std::string rounded(double value, int places, std::chars_format format) {
    char text[400];
    return {text, std::to_chars(text, std::end(text), value, format, places).ptr};
}

/// A finite number in three parts, of which the first ends before the point and the last begins with its sign: 1 .5 and +20 of 1.5e+20.
struct Digits {
    std::string whole, fraction, exponent;
};

Digits in_parts(const std::string& text) {
    Digits d;
    const std::size_t e = std::min(text.find('e'), text.size()), point = std::min(text.find('.'), e);
    d.whole = text.substr(0, point);
    if (point < e) d.fraction = text.substr(point + 1, e - point - 1);
    if (e < text.size()) d.exponent = text.substr(e + 1);
    while (d.fraction.ends_with('0')) d.fraction.pop_back();
    return d;
}

Digits digits_in(double value, DType dtype, bool scientific) {
    const std::chars_format format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
    Digits d = in_parts(digits_of(value, dtype, format));
    if (d.fraction.size() > static_cast<std::size_t>(precision)) d = in_parts(rounded(value, precision, format));
    return d;
}

/// 10 to the number of decimal digits that a dtype holds: from there on it is written with an exponent.
double first_scientific(DType dtype) { return std::pow(10.0, std::floor(facts_of(dtype).mantissa * std::log10(2.0))); }

std::string not_finite(double value, bool sign) {
    if (std::isnan(value)) return sign ? "+nan" : "nan";
    return value < 0 ? "-inf" : sign ? "+inf" : "inf";
}

/// Texts of floats that stand below each other; `sign`: a plus is written too.
std::vector<std::string> column(const std::vector<double>& values, DType dtype, bool sign) {
    double most = 0, least = INFINITY;
    for (const double v : values) {
        if (std::isfinite(v) && v != 0) {
            most = std::max(most, std::abs(v));
            least = std::min(least, std::abs(v));
        }
    }
    const double limit = std::min(1e8, first_scientific(dtype));
    const bool scientific = most > 0 && (most >= limit || least < 0.0001 || Scalar(most / least).cast(dtype).f > 1000);

    std::vector<Digits> parts(values.size());
    std::size_t left = 0, right = 0, exponent = 0;
    bool finite = true, negative = sign;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) {
            finite = false;
            negative |= std::isinf(values[i]) && values[i] < 0;
            continue;
        }
        parts[i] = digits_in(values[i], dtype, scientific);
        if (sign && !std::signbit(values[i])) parts[i].whole.insert(0, "+");
        left = std::max(left, parts[i].whole.size());
        right = std::max(right, parts[i].fraction.size());
        exponent = std::max(exponent, parts[i].exponent.size());
    }
    // Columns behind the point: all of 1.50e+20 behind it, or the fraction.
    const std::size_t behind = scientific ? right + 1 + exponent : right;
    const auto widened = [&](std::size_t text) { left = std::max(left, text > behind + 1 ? text - behind - 1 : 0); };
    if (!finite) {
        widened(3);
        widened(3 + (negative ? 1 : 0));
    }

    std::vector<std::string> texts;
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::string text;
        if (!std::isfinite(values[i])) {
            text = not_finite(values[i], sign);
            text.insert(0, left + behind + 1 - text.size(), ' ');
        } else {
            Digits& d = parts[i];
            if (scientific && d.fraction.size() < right) {  // filled up with more of its digits: 9.998e-02 of float16's 0.1
                const std::string text_of_all = rounded(std::abs(values[i]), static_cast<int>(right), std::chars_format::scientific);
                const std::size_t e = text_of_all.find('e');
                d.whole.back() = text_of_all[0];
                d.fraction = text_of_all.substr(2, e - 2);
                d.exponent = text_of_all.substr(e + 1);
            }
            text = std::string(left - d.whole.size(), ' ') + d.whole + '.' + d.fraction;
            text.append(right - d.fraction.size(), ' ');
            if (scientific) text += 'e' + d.exponent.substr(0, 1) + std::string(exponent - d.exponent.size(), '0') + d.exponent.substr(1);
        }
        texts.push_back(text);
    }
    return texts;
}

std::vector<std::string> complex_column(const std::vector<std::complex<double>>& values, DType part) {
    std::vector<double> re, im;
    for (const std::complex<double> v : values) {
        re.push_back(v.real());
        im.push_back(v.imag());
    }
    std::vector<std::string> texts = column(re, part, false);
    const std::vector<std::string> others = column(im, part, true);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        std::string imaginary = others[i];
        imaginary.insert(imaginary.find_last_not_of(' ') + 1, "j");
        texts[i] += imaginary;
    }
    return texts;
}

template <class T> std::vector<std::string> integer_column(const std::vector<T>& values) {
    std::vector<std::string> texts;
    std::size_t width = 0;
    for (const T value : values) {
        texts.push_back(std::to_string(value));
        width = std::max(width, texts.back().size());
    }
    for (std::string& text : texts) text.insert(0, width - text.size(), ' ');
    return texts;
}

/// The elements as texts, row-major.
std::vector<std::string> texts_of(const Array& x) {
    switch (kind_of(x.dtype())) {
        case DKind::Bool: {
            std::vector<std::string> texts;
            for (const bool value : x.to_vector<bool>()) texts.emplace_back(value ? " True" : "False");
            return texts;
        }
        case DKind::Signed: return integer_column(x.to_vector<std::int64_t>());
        case DKind::Unsigned: return integer_column(x.to_vector<std::uint64_t>());
        case DKind::Float: return column(x.to_vector<double>(), x.dtype(), false);
        default: return complex_column(x.to_vector<std::complex<double>>(), real_of(x.dtype()));
    }
}

/// One float as NumPy's scalars are printed, with all of its digits; `whole`: what a number without a fraction ends with.
std::string alone(double value, DType dtype, const char* whole) {
    if (!std::isfinite(value)) return not_finite(value, false);
    const double size = std::abs(value);
    const bool scientific = size != 0 && (size >= (dtype == DType::Float64 ? 1e16 : first_scientific(dtype)) || size < 1e-4);
    const std::string text = digits_of(value, dtype, scientific ? std::chars_format::scientific : std::chars_format::fixed);
    return scientific || text.find('.') != std::string::npos ? text : text + whole;
}

std::string alone(const Scalar& s) {
    switch (kind_of(s.dtype)) {
        case DKind::Bool: return s.b ? "True" : "False";
        case DKind::Signed: return std::to_string(s.i);
        case DKind::Unsigned: return std::to_string(s.u);
        case DKind::Float: return alone(s.f, s.dtype, ".0");
        default: break;
    }
    const DType part = real_of(s.dtype);
    const std::string imaginary = alone(s.c.im, part, "");
    if (s.c.re == 0 && !std::signbit(s.c.re)) return imaginary + "j";
    return "(" + alone(s.c.re, part, "") + (imaginary.front() == '-' ? "" : "+") + imaginary + "j)";
}

/// Of a long axis both ends, else all of it.
Array ends_of(const Array& x, int axis) {
    const std::int64_t extent = x.shape()[static_cast<std::size_t>(axis)];
    if (extent <= 2 * edge) return x;
    std::vector<IndexPart> first(static_cast<std::size_t>(axis), Slice{}), last = first;
    first.emplace_back(Slice{0, edge});
    last.emplace_back(Slice{extent - edge});
    return concat({x[first], x[last]}, axis);
}

struct Printer {
    std::span<const std::int64_t> shape;  // of the array, of which `texts` may be the ends
    const std::vector<std::string>& texts;
    bool ends;
    std::size_t next = 0;

    /// `before`: columns to the left of what is given; `width`: those that a line has for it.
    std::string part(std::size_t axis, std::size_t before, std::size_t width) {
        if (axis == shape.size()) return texts[next++];
        const bool cut = ends && shape[axis] > 2 * edge;
        const std::int64_t shown = cut ? 2 * edge : shape[axis];
        const std::string gap(before, ' ');
        std::string all, line = gap;
        const auto add = [&](const std::string& word) {
            if (axis + 1 < shape.size()) {
                all += gap + word + std::string(shape.size() - 1 - axis, '\n');
                return;
            }
            if (line.size() > before && line.size() + word.size() + 1 > width) {
                all += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
                line = gap;
            }
            line += word + ' ';
        };
        for (std::int64_t i = 0; i < shown; ++i) {
            if (cut && i == edge) add("...");
            add(part(axis + 1, before + 1, width - 1));
        }
        if (axis + 1 < shape.size()) {
            all.resize(all.find_last_not_of('\n') + 1);
        } else {
            line.pop_back();
            all += line;
        }
        return '[' + all.substr(before) + ']';
    }
};

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Array& x) {
    if (x.ndim() == 0) return stream << alone(x.item());
    if (x.size() == 0) return stream << "[]";
    const bool ends = x.size() > threshold;
    Array shown = x;
    for (int axis = 0; ends && axis < x.ndim(); ++axis) shown = ends_of(shown, axis);
    const std::vector<std::string> texts = texts_of(shown);
    return stream << Printer{x.shape(), texts, ends}.part(0, 1, line_width);
}

}  // namespace pardo

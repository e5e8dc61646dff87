// src/array/print.cpp: prints the values of an array: rows in brackets, numbers with as many digits as tell them apart.
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

std::string float_text(double value, DType dtype) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    if (is_narrow_float(dtype)) value = shortest(value, dtype);
    char text[32];
    const std::to_chars_result end = dtype == DType::Float64 ? std::to_chars(text, std::end(text), value)
                                                             : std::to_chars(text, std::end(text), static_cast<float>(value));
    const std::string digits(text, end.ptr);
    return digits.find_first_of(".e") == std::string::npos ? digits + "." : digits;
}

std::string text_of(const Scalar& s) {
    switch (kind_of(s.dtype)) {
        case DKind::Bool: return s.b ? "true" : "false";
        case DKind::Signed: return std::to_string(s.i);
        case DKind::Unsigned: return std::to_string(s.u);
        case DKind::Float: return float_text(s.f, s.dtype);
        default: break;
    }
    const std::string imaginary = float_text(s.c.im, real_of(s.dtype));
    return float_text(s.c.re, real_of(s.dtype)) + (imaginary.front() == '-' ? "" : "+") + imaginary + "j";
}

/// The elements as texts, row-major.
std::vector<std::string> texts_of(const Array& x) {
    const auto all = [&]<class T>(T) {
        std::vector<std::string> texts;
        for (const T value : x.to_vector<T>()) texts.push_back(text_of(Scalar(value).cast(x.dtype())));
        return texts;
    };
    switch (kind_of(x.dtype())) {
        case DKind::Bool: return all(false);
        case DKind::Signed: return all(std::int64_t{});
        case DKind::Unsigned: return all(std::uint64_t{});
        case DKind::Float: return all(double{});
        default: return all(std::complex<double>{});
    }
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
    std::ostream& stream;
    std::span<const std::int64_t> shape;  // of the array, of which `texts` may be the ends
    const std::vector<std::string>& texts;
    std::size_t width;
    bool ends;
    std::size_t next = 0;

    void print(std::size_t axis) {
        if (axis == shape.size()) {
            const std::string& text = texts[next++];
            stream << std::string(width - text.size(), ' ') << text;
            return;
        }
        const bool cut = ends && shape[axis] > 2 * edge;
        const std::int64_t shown = cut ? 2 * edge : shape[axis];
        const bool row = axis + 1 == shape.size();
        stream << '[';
        for (std::int64_t i = 0; i < shown; ++i) {
            if (i > 0) separate(axis, row);
            if (cut && i == edge) {
                stream << "...";
                separate(axis, row);
            }
            print(axis + 1);
        }
        stream << ']';
    }

    void separate(std::size_t axis, bool row) const {
        if (row) {
            stream << ' ';
        } else {
            stream << std::string(shape.size() - 1 - axis, '\n') << std::string(axis + 1, ' ');
        }
    }
};

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Array& x) {
    const Extents shape = x.shape();
    const bool ends = x.size() > threshold;
    Array shown = x;
    for (int axis = 0; ends && axis < x.ndim(); ++axis) shown = ends_of(shown, axis);
    const std::vector<std::string> texts = texts_of(shown);
    std::size_t width = 0;
    for (const std::string& text : texts) width = std::max(width, text.size());
    Printer{stream, shape, texts, width, ends}.print(0);
    return stream;
}

}  // namespace pardo

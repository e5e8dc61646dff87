// include/pardo/fft.h: Fourier transforms, by the names of numpy.fft. Recorded.
#pragma once

#include <cstdint>
#include <optional>

#include <pardo/array.h>
#include <pardo/export.h>
#include <pardo/extents.h>
#include <pardo/queue.h>

namespace pardo {

/// What a Fourier transform computes.
enum class Transform : std::uint8_t {
    Complex,
    RealToComplex,  ///< the half along the last of the axes that tells the other half
    ComplexToReal,  ///< from such a half
    Cosine,
    Sine,
};
/// A transform, and how its result is scaled.
struct Fourier {
    Transform transform = Transform::Complex;  ///< what is computed
    bool forward = true;                       ///< the sign of the exponent is negative; of ComplexToReal it is that of what is undone
    double factor = 1;                         ///< of the result
    int type = 0;                              ///< 1 to 4, of cosine and sine transforms
    bool orthogonal = false;                   ///< and whether their first or last terms are scaled so that the transform is orthogonal
};

}  // namespace pardo

/// All compute in complex64 of floats of 16 bits, float32 and complex64, else in complex128 (complex64 on a device that has no float64).
namespace pardo::fft {

/// Which of the two directions is divided by the number of points; Ortho: each by its root.
enum class Norm : std::uint8_t { Backward, Ortho, Forward };

/// The discrete Fourier transform along an axis, of `n` points: x is cut off or filled up with zeros.
PARDO_API Array fft(const Array& x, std::optional<std::int64_t> n = {}, std::int64_t axis = -1, Norm norm = Norm::Backward);
/// The inverse transform.
PARDO_API Array ifft(const Array& x, std::optional<std::int64_t> n = {}, std::int64_t axis = -1, Norm norm = Norm::Backward);
/// Of real numbers: the n / 2 + 1 frequencies that are not negative.
PARDO_API Array rfft(const Array& x, std::optional<std::int64_t> n = {}, std::int64_t axis = -1, Norm norm = Norm::Backward);
/// The real numbers of such a half: `n` of them, 2 (extent - 1) where nothing is said.
PARDO_API Array irfft(const Array& x, std::optional<std::int64_t> n = {}, std::int64_t axis = -1, Norm norm = Norm::Backward);
/// Along several axes, all where none are named.
PARDO_API Array fftn(const Array& x, const Axes& axes = {}, Norm norm = Norm::Backward);
/// The inverse transform along several axes.
PARDO_API Array ifftn(const Array& x, const Axes& axes = {}, Norm norm = Norm::Backward);

/// Of real numbers along several axes: the frequencies of the last of them that are not negative.
PARDO_API Array rfftn(const Array& x, const Axes& axes = {}, Norm norm = Norm::Backward);
/// The real numbers of such a half: `last` of them along the last of the axes, 2 (extent - 1) where nothing is said.
PARDO_API Array irfftn(const Array& x, const Axes& axes = {}, std::optional<std::int64_t> last = {}, Norm norm = Norm::Backward);

/// The frequencies of fft's n points that are d apart: in float64, or float32 on a device that has no float64.
PARDO_API Array fftfreq(std::int64_t n, double d = 1, const Queue& queue = Queue());
/// The frequencies of rfft's n / 2 + 1 points.
PARDO_API Array rfftfreq(std::int64_t n, double d = 1, const Queue& queue = Queue());
/// Frequency 0 in the middle of these axes, of all where none are named.
PARDO_API Array fftshift(const Array& x, const Axes& axes = {});
/// The inverse of fftshift.
PARDO_API Array ifftshift(const Array& x, const Axes& axes = {});

/// Any transform along axes that differ, of these lengths: x is cut off or filled up with zeros. `op_name` is of static life.
PARDO_API Array transform(const Array& x, const Fourier& what, Extents lengths, Extents axes, const char* op_name = "fft");
/// Whether the queue's device computes transforms; else the CPU does, on copies.
PARDO_API bool on_device(const Queue& queue);

}  // namespace pardo::fft

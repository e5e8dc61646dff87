// include/pardo/ops.h: the operations on arrays, by NumPy's names. Recorded unless a comment says "runs at once".
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <pardo/array.h>
#include <pardo/dtype.h>
#include <pardo/export.h>
#include <pardo/extents.h>

namespace pardo {

/// @defgroup elementwise Elementwise functions
/// Arrays are broadcast against each other, numbers take the dtype of the arrays that they meet.
/// @{
// Made by cmake/make_ops.py of ops.def, elementwise.
/// Add arguments element-wise; booleans by logical or.
PARDO_API Array add(const Operand& x1, const Operand& x2);
/// Subtract arguments, element-wise.
PARDO_API Array subtract(const Operand& x1, const Operand& x2);
/// Multiply arguments element-wise; booleans by logical and.
PARDO_API Array multiply(const Operand& x1, const Operand& x2);
/// Divide arguments element-wise; integers give float64.
PARDO_API Array divide(const Operand& x1, const Operand& x2);
/// Return the largest integer not above the quotient, element-wise: Python's `//`.
PARDO_API Array floor_divide(const Operand& x1, const Operand& x2);
/// Return the element-wise remainder of division, with the sign of the divisor: Python's `%`.
PARDO_API Array remainder(const Operand& x1, const Operand& x2);
/// Return the element-wise remainder of division, with the sign of the dividend: C's `fmod`.
PARDO_API Array fmod(const Operand& x1, const Operand& x2);
/// First array elements raised to powers from second array, element-wise.
PARDO_API Array power(const Operand& x1, const Operand& x2);
/// First array elements raised to powers from second array, element-wise, in float64 or complex128.
PARDO_API Array float_power(const Operand& x1, const Operand& x2);
/// Numerical negative, element-wise.
PARDO_API Array negative(const Operand& x);
/// Numerical positive, element-wise: the elements as they are.
PARDO_API Array positive(const Operand& x);
/// Calculate the absolute value element-wise; of complex numbers the modulus.
PARDO_API Array absolute(const Operand& x);
/// Compute the absolute values element-wise, as floating-point numbers.
PARDO_API Array fabs(const Operand& x);
/// Return the element-wise square of the input.
PARDO_API Array square(const Operand& x);
/// Return the reciprocal of the argument, element-wise; of integers truncated.
PARDO_API Array reciprocal(const Operand& x);
/// Return an element-wise indication of the sign of a number: -1, 0 or 1; of complex numbers z / abs(z).
PARDO_API Array sign(const Operand& x);
/// Element-wise maximum of array elements; NaN propagates.
PARDO_API Array maximum(const Operand& x1, const Operand& x2);
/// Element-wise minimum of array elements; NaN propagates.
PARDO_API Array minimum(const Operand& x1, const Operand& x2);
/// Element-wise maximum of array elements; NaN is ignored.
PARDO_API Array fmax(const Operand& x1, const Operand& x2);
/// Element-wise minimum of array elements; NaN is ignored.
PARDO_API Array fmin(const Operand& x1, const Operand& x2);
/// Return the greatest common divisor of `|x1|` and `|x2|`, element-wise.
PARDO_API Array gcd(const Operand& x1, const Operand& x2);
/// Return the lowest common multiple of `|x1|` and `|x2|`, element-wise; 0 where one of them is 0.
PARDO_API Array lcm(const Operand& x1, const Operand& x2);
/// Clip (limit) the values in an array to the range from the second to the third operand.
PARDO_API Array clip(const Operand& x1, const Operand& x2, const Operand& x3);
/// Return the non-negative square-root of an array, element-wise; correctly rounded.
PARDO_API Array sqrt(const Operand& x);
/// Return the cube-root of an array, element-wise.
PARDO_API Array cbrt(const Operand& x);
/// Calculate the exponential of all elements in the input array.
PARDO_API Array exp(const Operand& x);
/// Calculate `2**x` for all elements in the input array.
PARDO_API Array exp2(const Operand& x);
/// Calculate `exp(x) - 1` for all elements in the array, precise for small x.
PARDO_API Array expm1(const Operand& x);
/// Natural logarithm, element-wise.
PARDO_API Array log(const Operand& x);
/// Base-2 logarithm, element-wise.
PARDO_API Array log2(const Operand& x);
/// Return the base 10 logarithm of the input array, element-wise.
PARDO_API Array log10(const Operand& x);
/// Return the natural logarithm of one plus the input array, element-wise; precise for small x.
PARDO_API Array log1p(const Operand& x);
/// Logarithm of the sum of exponentiations of the inputs, without undue overflow.
PARDO_API Array logaddexp(const Operand& x1, const Operand& x2);
/// Logarithm of the sum of exponentiations of the inputs in base-2, without undue overflow.
PARDO_API Array logaddexp2(const Operand& x1, const Operand& x2);
/// Square root of the sum of squares, element-wise, without undue overflow.
PARDO_API Array hypot(const Operand& x1, const Operand& x2);
/// Trigonometric sine, element-wise; angles in radians.
PARDO_API Array sin(const Operand& x);
/// Cosine element-wise; angles in radians.
PARDO_API Array cos(const Operand& x);
/// Compute tangent element-wise; angles in radians.
PARDO_API Array tan(const Operand& x);
/// Inverse sine, element-wise; angles in radians from -pi/2 to pi/2.
PARDO_API Array arcsin(const Operand& x);
/// Trigonometric inverse cosine, element-wise; angles in radians from 0 to pi.
PARDO_API Array arccos(const Operand& x);
/// Trigonometric inverse tangent, element-wise; angles in radians from -pi/2 to pi/2.
PARDO_API Array arctan(const Operand& x);
/// Element-wise arc tangent of `x1/x2` choosing the quadrant correctly; angles in radians from -pi to pi.
PARDO_API Array arctan2(const Operand& x1, const Operand& x2);
/// Hyperbolic sine, element-wise.
PARDO_API Array sinh(const Operand& x);
/// Hyperbolic cosine, element-wise.
PARDO_API Array cosh(const Operand& x);
/// Compute hyperbolic tangent element-wise.
PARDO_API Array tanh(const Operand& x);
/// Inverse hyperbolic sine element-wise.
PARDO_API Array arcsinh(const Operand& x);
/// Inverse hyperbolic cosine, element-wise.
PARDO_API Array arccosh(const Operand& x);
/// Inverse hyperbolic tangent element-wise.
PARDO_API Array arctanh(const Operand& x);
/// Convert angles from degrees to radians.
PARDO_API Array deg2rad(const Operand& x);
/// Convert angles from radians to degrees.
PARDO_API Array rad2deg(const Operand& x);
/// Error function, element-wise.
PARDO_API Array erf(const Operand& x);
/// Complementary error function, 1 - erf(x), element-wise; precise for large x.
PARDO_API Array erfc(const Operand& x);
/// Compute the Heaviside step function: 0 below zero, 1 above it, the second operand at zero.
PARDO_API Array heaviside(const Operand& x1, const Operand& x2);
/// Return the floor of the input, element-wise, in the same dtype.
PARDO_API Array floor(const Operand& x);
/// Return the ceiling of the input, element-wise, in the same dtype.
PARDO_API Array ceil(const Operand& x);
/// Return the truncated value of the input, element-wise, in the same dtype.
PARDO_API Array trunc(const Operand& x);
/// Round elements of the array to the nearest integer, halves to even, as floating-point numbers.
PARDO_API Array rint(const Operand& x);
/// Evenly round to the nearest integer, halves to even, in the same dtype.
PARDO_API Array round(const Operand& x);
/// Change the sign of x1 to that of x2, element-wise.
PARDO_API Array copysign(const Operand& x1, const Operand& x2);
/// Return the next floating-point value after x1 towards x2, element-wise.
PARDO_API Array nextafter(const Operand& x1, const Operand& x2);
/// Return element-wise True where signbit is set (less than zero, or -0.0).
PARDO_API Array signbit(const Operand& x);
/// Test element-wise for finiteness (not infinity and not Not a Number).
PARDO_API Array isfinite(const Operand& x);
/// Test element-wise for positive or negative infinity.
PARDO_API Array isinf(const Operand& x);
/// Test element-wise for NaN and return result as a boolean array.
PARDO_API Array isnan(const Operand& x);
/// Test element-wise for positive infinity, return result as bool array.
PARDO_API Array isposinf(const Operand& x);
/// Test element-wise for negative infinity, return result as bool array.
PARDO_API Array isneginf(const Operand& x);
/// Return the real part of the complex argument.
PARDO_API Array real(const Operand& x);
/// Return the imaginary part of the complex argument; zero for real dtypes.
PARDO_API Array imag(const Operand& x);
/// Return the complex conjugate, element-wise.
PARDO_API Array conjugate(const Operand& x);
/// Return (x1 == x2) element-wise.
PARDO_API Array equal(const Operand& x1, const Operand& x2);
/// Return (x1 != x2) element-wise.
PARDO_API Array not_equal(const Operand& x1, const Operand& x2);
/// Return the truth value of (x1 < x2) element-wise; complex numbers in lexicographic order.
PARDO_API Array less(const Operand& x1, const Operand& x2);
/// Return the truth value of (x1 <= x2) element-wise; complex numbers in lexicographic order.
PARDO_API Array less_equal(const Operand& x1, const Operand& x2);
/// Return the truth value of (x1 > x2) element-wise; complex numbers in lexicographic order.
PARDO_API Array greater(const Operand& x1, const Operand& x2);
/// Return the truth value of (x1 >= x2) element-wise; complex numbers in lexicographic order.
PARDO_API Array greater_equal(const Operand& x1, const Operand& x2);
/// Compute the truth value of x1 AND x2 element-wise.
PARDO_API Array logical_and(const Operand& x1, const Operand& x2);
/// Compute the truth value of x1 OR x2 element-wise.
PARDO_API Array logical_or(const Operand& x1, const Operand& x2);
/// Compute the truth value of x1 XOR x2, element-wise.
PARDO_API Array logical_xor(const Operand& x1, const Operand& x2);
/// Compute the truth value of NOT x element-wise.
PARDO_API Array logical_not(const Operand& x);
/// Compute the bit-wise AND of two arrays element-wise.
PARDO_API Array bitwise_and(const Operand& x1, const Operand& x2);
/// Compute the bit-wise OR of two arrays element-wise.
PARDO_API Array bitwise_or(const Operand& x1, const Operand& x2);
/// Compute the bit-wise XOR of two arrays element-wise.
PARDO_API Array bitwise_xor(const Operand& x1, const Operand& x2);
/// Compute bit-wise inversion, or bit-wise NOT, element-wise; of booleans logical not.
PARDO_API Array invert(const Operand& x);
/// Shift the bits of an integer to the left; zero when all are shifted out.
PARDO_API Array left_shift(const Operand& x1, const Operand& x2);
/// Shift the bits of an integer to the right; the sign is kept.
PARDO_API Array right_shift(const Operand& x1, const Operand& x2);
/// Return elements of the second operand where the first is true, of the third elsewhere.
PARDO_API Array where(const Operand& x1, const Operand& x2, const Operand& x3);
// End of ops.def, elementwise.
/// @}

/// @defgroup special Special functions
/// By SciPy's names.
/// @{
// Made by cmake/make_ops.py of ops.def, special.
/// Scaled complementary error function, exp(x**2) * erfc(x).
PARDO_API Array erfcx(const Operand& x);
/// Imaginary error function, -i erf(i z).
PARDO_API Array erfi(const Operand& x);
/// Dawson's integral, sqrt(pi) / 2 * exp(-x**2) * erfi(x).
PARDO_API Array dawsn(const Operand& x);
/// Faddeeva function, exp(-z**2) * erfc(-i z), of complex numbers.
PARDO_API Array wofz(const Operand& x);
/// Inverse of the error function, element-wise; NaN outside of [-1, 1].
PARDO_API Array erfinv(const Operand& x);
/// Inverse of the complementary error function, element-wise; NaN outside of [0, 2].
PARDO_API Array erfcinv(const Operand& x);
/// Cumulative distribution of the standard normal distribution.
PARDO_API Array ndtr(const Operand& x);
/// Logarithm of Gaussian cumulative distribution function.
PARDO_API Array log_ndtr(const Operand& x);
/// Inverse of ndtr, the cumulative distribution of the standard normal distribution; NaN outside of [0, 1].
PARDO_API Array ndtri(const Operand& x);
/// Gamma function, element-wise; NaN at negative integers, infinite at 0.
PARDO_API Array gamma(const Operand& x);
/// Logarithm of the absolute value of the gamma function.
PARDO_API Array gammaln(const Operand& x);
/// Reciprocal of the gamma function; 0 at its poles.
PARDO_API Array rgamma(const Operand& x);
/// Sign of the gamma function; NaN at negative integers.
PARDO_API Array gammasgn(const Operand& x);
/// The digamma function, the logarithmic derivative of the gamma function; NaN at negative integers.
PARDO_API Array digamma(const Operand& x);
/// Regularized lower incomplete gamma function of the parameter, the first operand, and of x; NaN of negative numbers.
PARDO_API Array gammainc(const Operand& x1, const Operand& x2);
/// Regularized upper incomplete gamma function of the parameter, the first operand, and of x; NaN of negative numbers.
PARDO_API Array gammaincc(const Operand& x1, const Operand& x2);
/// Beta function, gamma(x1) * gamma(x2) / gamma(x1 + x2).
PARDO_API Array beta(const Operand& x1, const Operand& x2);
/// Natural logarithm of absolute value of beta function.
PARDO_API Array betaln(const Operand& x1, const Operand& x2);
/// Regularized incomplete beta function of two parameters and of x; NaN outside of [0, 1].
PARDO_API Array betainc(const Operand& x1, const Operand& x2, const Operand& x3);
/// Complement of the regularized incomplete beta function of two parameters and of x; NaN outside of [0, 1].
PARDO_API Array betaincc(const Operand& x1, const Operand& x2, const Operand& x3);
/// Hurwitz zeta function, the sum of 1 / (x2 + n)**x1 over n from 0 on.
PARDO_API Array zeta(const Operand& x1, const Operand& x2);
/// Riemann zeta function.
PARDO_API Array riemann_zeta(const Operand& x);
/// Bessel function of the first kind of order 0.
PARDO_API Array j0(const Operand& x);
/// Bessel function of the first kind of order 1.
PARDO_API Array j1(const Operand& x);
/// Bessel function of the second kind of order 0; NaN of negative numbers.
PARDO_API Array y0(const Operand& x);
/// Bessel function of the second kind of order 1; NaN of negative numbers.
PARDO_API Array y1(const Operand& x);
/// Modified Bessel function of the first kind of order 0.
PARDO_API Array i0(const Operand& x);
/// Exponentially scaled modified Bessel function of order 0, exp(-abs(x)) * i0(x).
PARDO_API Array i0e(const Operand& x);
/// Modified Bessel function of the first kind of order 1.
PARDO_API Array i1(const Operand& x);
/// Exponentially scaled modified Bessel function of order 1, exp(-abs(x)) * i1(x).
PARDO_API Array i1e(const Operand& x);
/// Modified Bessel function of the second kind of order 0; NaN of negative numbers.
PARDO_API Array k0(const Operand& x);
/// Exponentially scaled modified Bessel function K of order 0, exp(x) * k0(x).
PARDO_API Array k0e(const Operand& x);
/// Modified Bessel function of the second kind of order 1; NaN of negative numbers.
PARDO_API Array k1(const Operand& x);
/// Exponentially scaled modified Bessel function K of order 1, exp(x) * k1(x).
PARDO_API Array k1e(const Operand& x);
/// Exponential integral E1, element-wise; NaN of negative numbers.
PARDO_API Array exp1(const Operand& x);
/// Complete elliptic integral of the first kind, of the parameter m; NaN above 1.
PARDO_API Array ellipk(const Operand& x);
/// Complete elliptic integral of the first kind around m = 1, of p = 1 - m.
PARDO_API Array ellipkm1(const Operand& x);
/// Complete elliptic integral of the second kind, of the parameter m; NaN above 1.
PARDO_API Array ellipe(const Operand& x);
/// Principal branch of the logarithm of the gamma function; NaN of negative real numbers, which complex ones are not.
PARDO_API Array loggamma(const Operand& x);
/// Inverse to the regularized lower incomplete gamma function, of the parameter and the probability; NaN outside of [0, 1].
PARDO_API Array gammaincinv(const Operand& x1, const Operand& x2);
/// Inverse of the regularized upper incomplete gamma function, of the parameter and the probability; NaN outside of [0, 1].
PARDO_API Array gammainccinv(const Operand& x1, const Operand& x2);
/// Inverse of the regularized incomplete beta function, of two parameters and the probability; NaN outside of [0, 1].
PARDO_API Array betaincinv(const Operand& x1, const Operand& x2, const Operand& x3);
/// Inverse of the complemented regularized incomplete beta function, of two parameters and the probability; NaN outside of [0, 1].
PARDO_API Array betainccinv(const Operand& x1, const Operand& x2, const Operand& x3);
/// Pochhammer symbol, gamma(x1 + x2) / gamma(x1).
PARDO_API Array poch(const Operand& x1, const Operand& x2);
/// Binomial coefficient considered as a function of two real variables; NaN where the first is a negative integer.
PARDO_API Array binom(const Operand& x1, const Operand& x2);
/// Bessel function of the first kind of integer order, the first operand; NaN of other orders and of those above 2**20.
PARDO_API Array jn(const Operand& x1, const Operand& x2);
/// Bessel function of the second kind of integer order, the first operand; NaN of other orders and of those above 2**20.
PARDO_API Array yn(const Operand& x1, const Operand& x2);
/// Exponential integral Ei, element-wise.
PARDO_API Array expi(const Operand& x);
/// Generalized exponential integral En, of integer order, the first operand; NaN of other orders and of negative numbers.
PARDO_API Array expn(const Operand& x1, const Operand& x2);
/// Incomplete elliptic integral of the first kind, of the amplitude and the parameter m; NaN for m above 1.
PARDO_API Array ellipkinc(const Operand& x1, const Operand& x2);
/// Incomplete elliptic integral of the second kind, of the amplitude and the parameter m; NaN for m above 1.
PARDO_API Array ellipeinc(const Operand& x1, const Operand& x2);
/// Spherical Legendre polynomial of the degree, the order and the polar angle.
PARDO_API Array sph_legendre(const Operand& x1, const Operand& x2, const Operand& x3);
/// Expit, or logistic, function: 1 / (1 + exp(-x)), element-wise.
PARDO_API Array expit(const Operand& x);
/// Logit function: log(x / (1 - x)), element-wise; NaN outside of [0, 1].
PARDO_API Array logit(const Operand& x);
/// Logarithm of the logistic sigmoid function, element-wise.
PARDO_API Array log_expit(const Operand& x);
/// Relative error exponential, (exp(x) - 1) / x; 1 at 0.
PARDO_API Array exprel(const Operand& x);
/// cos(x) - 1, element-wise, precise for small x.
PARDO_API Array cosm1(const Operand& x);
/// Compute `10**x` element-wise.
PARDO_API Array exp10(const Operand& x);
/// Compute `x1 * log(x2)`; 0 where the first operand is 0 and the second is not NaN.
PARDO_API Array xlogy(const Operand& x1, const Operand& x2);
/// Compute `x1 * log1p(x2)`; 0 where the first operand is 0 and the second is not NaN.
PARDO_API Array xlog1py(const Operand& x1, const Operand& x2);
/// Elementwise function for computing entropy: -x * log(x), 0 at 0, -inf below.
PARDO_API Array entr(const Operand& x);
/// Elementwise function for computing relative entropy: x1 * log(x1 / x2), inf where that is not defined.
PARDO_API Array rel_entr(const Operand& x1, const Operand& x2);
/// Elementwise function for computing Kullback-Leibler divergence: x1 * log(x1 / x2) - x1 + x2.
PARDO_API Array kl_div(const Operand& x1, const Operand& x2);
/// Huber loss function of the threshold, the first operand, and the residual.
PARDO_API Array huber(const Operand& x1, const Operand& x2);
/// Pseudo-Huber loss function of the threshold, the first operand, and the residual.
PARDO_API Array pseudo_huber(const Operand& x1, const Operand& x2);
// End of ops.def, special.
/// @}

/// @defgroup operators Operators
/// Of two arrays or of an array and a number on either side. From temporaries the operation takes the handle, so that intermediate values
/// of an expression are not held.
/// @{

/// An array.
template <class T>
concept AnArray = std::derived_from<std::remove_cvref_t<T>, Array>;
/// What operators take: an array or a number.
template <class T>
concept AnOperand = AnArray<T> || Number<std::remove_cvref_t<T>> || OneOf<std::remove_cvref_t<T>, Scalar, Operand>;
/// What operators take beside another operand: one of the two is an array.
template <class B, class A>
concept BesideAn = (AnArray<A> && AnOperand<B>) || (AnOperand<A> && AnArray<B>);

/// Element-wise: `/` of integers is float64, `%` has the sign of the divisor, comparisons give arrays of bools.
template <class A, BesideAn<A> B> Array operator+(A&& a, B&& b) { return add(std::forward<A>(a), std::forward<B>(b)); }
template <class A, BesideAn<A> B> Array operator-(A&& a, B&& b) { return subtract(std::forward<A>(a), std::forward<B>(b)); }
template <class A, BesideAn<A> B> Array operator*(A&& a, B&& b) { return multiply(std::forward<A>(a), std::forward<B>(b)); }
template <class A, BesideAn<A> B> Array operator/(A&& a, B&& b) { return divide(std::forward<A>(a), std::forward<B>(b)); }
template <class A, BesideAn<A> B> Array operator%(A&& a, B&& b) { return remainder(std::forward<A>(a), std::forward<B>(b)); }
template <class A, BesideAn<A> B> Array operator&(A&& a, B&& b) { return bitwise_and(std::forward<A>(a), std::forward<B>(b)); }
template <class A, BesideAn<A> B> Array operator|(A&& a, B&& b) { return bitwise_or(std::forward<A>(a), std::forward<B>(b)); }
template <class A, BesideAn<A> B> Array operator^(A&& a, B&& b) { return bitwise_xor(std::forward<A>(a), std::forward<B>(b)); }
template <class A, BesideAn<A> B> Array operator<<(A&& a, B&& b) { return left_shift(std::forward<A>(a), std::forward<B>(b)); }
template <class A, BesideAn<A> B> Array operator>>(A&& a, B&& b) { return right_shift(std::forward<A>(a), std::forward<B>(b)); }
template <class A, BesideAn<A> B> Array operator<(A&& a, B&& b) { return less(std::forward<A>(a), std::forward<B>(b)); }
template <class A, BesideAn<A> B> Array operator<=(A&& a, B&& b) { return less_equal(std::forward<A>(a), std::forward<B>(b)); }
template <class A, BesideAn<A> B> Array operator>(A&& a, B&& b) { return greater(std::forward<A>(a), std::forward<B>(b)); }
template <class A, BesideAn<A> B> Array operator>=(A&& a, B&& b) { return greater_equal(std::forward<A>(a), std::forward<B>(b)); }
template <class A, BesideAn<A> B> Array operator==(A&& a, B&& b) { return equal(std::forward<A>(a), std::forward<B>(b)); }
template <class A, BesideAn<A> B> Array operator!=(A&& a, B&& b) { return not_equal(std::forward<A>(a), std::forward<B>(b)); }
/// `-x`, `+x`, and `~x`, which inverts bits, or bools.
inline Array operator-(const Array& a) { return negative(a); }
inline Array operator-(Array&& a) { return negative(std::move(a)); }
inline Array operator+(const Array& a) { return positive(a); }
inline Array operator~(const Array& a) { return invert(a); }
inline Array operator~(Array&& a) { return invert(std::move(a)); }

// Into the array's memory, which its views and other handles share, in its dtype; a 0-d result of an operation becomes another number.
/// x + y into x.
PARDO_API Array& operator+=(Array& x, const Operand& y);
/// x - y into x.
PARDO_API Array& operator-=(Array& x, const Operand& y);
/// x * y into x.
PARDO_API Array& operator*=(Array& x, const Operand& y);
/// x / y into x; a Type error of integers, whose quotients are floats.
PARDO_API Array& operator/=(Array& x, const Operand& y);
/// The remainder of x / y, with the sign of y, into x.
PARDO_API Array& operator%=(Array& x, const Operand& y);
/// x & y into x.
PARDO_API Array& operator&=(Array& x, const Operand& y);
/// x | y into x.
PARDO_API Array& operator|=(Array& x, const Operand& y);
/// x ^ y into x.
PARDO_API Array& operator^=(Array& x, const Operand& y);
/// x << y into x.
PARDO_API Array& operator<<=(Array& x, const Operand& y);
/// x >> y into x.
PARDO_API Array& operator>>=(Array& x, const Operand& y);
/// @}

/// @defgroup creation Creation
/// Without a dtype: float64, or float32 on a device that has no float64. `op_name` is for messages.
/// @{

/// An array of one value; its dtype where none is given.
PARDO_API Array full(Extents shape, const Scalar& value, std::optional<DType> dtype = {}, const Queue& queue = Queue(),
                     const char* op_name = "full");
/// An array of zeros.
PARDO_API Array zeros(Extents shape, std::optional<DType> dtype = {}, const Queue& queue = Queue());
/// An array of ones.
PARDO_API Array ones(Extents shape, std::optional<DType> dtype = {}, const Queue& queue = Queue());
/// Memory as it is: its values are undefined.
PARDO_API Array empty(Extents shape, std::optional<DType> dtype = {}, const Queue& queue = Queue(), MemoryKind kind = MemoryKind::Device,
                      const char* op_name = "empty");
/// The values start, start + step, … before stop; the dtype is that of the three where none is given.
PARDO_API Array arange(const Scalar& start, const Scalar& stop, const Scalar& step, std::optional<DType> dtype = {},
                       const Queue& queue = Queue());
/// `num` values at even distances from start to stop, which is the last one, or comes after it without `endpoint`.
PARDO_API Array linspace(const Scalar& start, const Scalar& stop, std::int64_t num, bool endpoint = true, std::optional<DType> dtype = {},
                         const Queue& queue = Queue());
/// Ones on the k-th diagonal, zeros elsewhere; of k > 0 above the main one.
PARDO_API Array eye(std::int64_t rows, std::int64_t columns, std::int64_t k = 0, std::optional<DType> dtype = {},
                    const Queue& queue = Queue());
/// The lower triangle, zeros above the k-th diagonal; of stacks of matrices each.
PARDO_API Array tril(const Array& x, std::int64_t k = 0);
/// The upper triangle, zeros below the k-th diagonal; of stacks of matrices each.
PARDO_API Array triu(const Array& x, std::int64_t k = 0);
/// Values of the index along one axis of a shape, Int64.
PARDO_API Array iota(Extents shape, int axis, const Queue& queue = Queue(), const char* op_name = "iota");
/// @}

/// @defgroup reductions Reductions, positions and scans
/// Axes: none named (all), one, or several; without an axis positions and scans are of the flattened array.
/// @{
// Made by cmake/make_ops.py of reductions.def.
/// Which reduction: of reduce and cumulative.
enum class Reduction : std::uint8_t { Sum, Prod, Min, Max, Any, All, CountNonzero };
/// Sum of array elements over a given axis. The sums. The same input gives the same bits on the same device, whatever the number of
/// threads.
PARDO_API Array sum(const Array& x, const Axes& axes = {}, bool keepdims = false);
/// Return the product of array elements over a given axis. The products.
PARDO_API Array prod(const Array& x, const Axes& axes = {}, bool keepdims = false);
/// Return the minimum of an array or minimum along an axis; NaN propagates. The smallest elements, in the dtype of `x`.
PARDO_API Array min(const Array& x, const Axes& axes = {}, bool keepdims = false);
/// Return the maximum of an array or maximum along an axis; NaN propagates. The largest elements, in the dtype of `x`.
PARDO_API Array max(const Array& x, const Axes& axes = {}, bool keepdims = false);
/// Test whether any array element along a given axis evaluates to True. Of bools; False where there are no elements.
PARDO_API Array any(const Array& x, const Axes& axes = {}, bool keepdims = false);
/// Test whether all array elements along a given axis evaluate to True. Of bools; True where there are no elements.
PARDO_API Array all(const Array& x, const Axes& axes = {}, bool keepdims = false);
/// Count the number of non-zero values in an array. Of int64.
PARDO_API Array count_nonzero(const Array& x, const Axes& axes = {}, bool keepdims = false);
/// Return the indices of the minimum values along an axis, of several the first; NaN propagates. Of int64.
PARDO_API Array argmin(const Array& x, std::optional<std::int64_t> axis = {}, bool keepdims = false);
/// Return the indices of the maximum values along an axis, of several the first; NaN propagates. Of int64.
PARDO_API Array argmax(const Array& x, std::optional<std::int64_t> axis = {}, bool keepdims = false);
/// Return the cumulative sum of the elements along a given axis.
PARDO_API Array cumulative_sum(const Array& x, std::optional<std::int64_t> axis = {}, std::optional<DType> dtype = {},
                               bool include_initial = false);
/// Return the cumulative product of elements along a given axis.
PARDO_API Array cumulative_prod(const Array& x, std::optional<std::int64_t> axis = {}, std::optional<DType> dtype = {},
                                bool include_initial = false);
/// Return the cumulative sum of the elements along a given axis; without an axis, of the flattened array.
PARDO_API Array cumsum(const Array& x, std::optional<std::int64_t> axis = {}, std::optional<DType> dtype = {},
                       bool include_initial = false);
/// Return the cumulative product of elements along a given axis; without an axis, of the flattened array.
PARDO_API Array cumprod(const Array& x, std::optional<std::int64_t> axis = {}, std::optional<DType> dtype = {},
                        bool include_initial = false);
// End of reductions.def.

/// Any of these reductions, in a dtype, of those elements alone where `where` is true, and of an initial value.
PARDO_API Array reduce(Reduction op, const Array& x, const Axes& axes = {}, bool keepdims = false, std::optional<DType> dtype = {},
                       const Array* where = nullptr, std::optional<Scalar> initial = {});
/// Inclusive scan along an axis; without one, of the flattened array.
PARDO_API Array cumulative(Reduction op, const Array& x, std::optional<std::int64_t> axis = {}, std::optional<DType> dtype = {},
                           bool include_initial = false);
/// The means over axes, of those elements alone where `where` is true; of integers in float64.
PARDO_API Array mean(const Array& x, const Axes& axes = {}, bool keepdims = false, std::optional<DType> dtype = {},
                     const Array* where = nullptr);
/// The variances over axes: sums of squared distances from the mean, divided by their number less `correction`.
PARDO_API Array var(const Array& x, const Axes& axes = {}, double correction = 0, bool keepdims = false, std::optional<DType> dtype = {},
                    const Array* where = nullptr);
/// The square roots of `var`: NumPy's std.
PARDO_API Array stddev(const Array& x, const Axes& axes = {}, double correction = 0, bool keepdims = false, std::optional<DType> dtype = {},
                       const Array* where = nullptr);
/// @}

/// @defgroup views Views
/// The memory of another array in another shape, where strides can express it.
/// @{

/// The elements in row-major order in another shape; one extent may be -1. A copy where strides cannot express the result (copy=false: a
/// Value error instead; copy=true: always).
PARDO_API Array reshape(const Array& x, Extents shape, std::optional<bool> copy = {});
/// The axes in another order, each named once.
PARDO_API Array permute_dims(const Array& x, Extents axes);
/// Repeated along new axes and those of extent 1, without a copy; what repeats elements is read-only.
PARDO_API Array broadcast_to(const Array& x, Extents shape);
/// With new axes of extent 1, which stand at these places in the result.
PARDO_API Array expand_dims(const Array& x, Extents axes);
/// Without these axes of extent 1; without all such where none are named.
PARDO_API Array squeeze(const Array& x, const Axes& axes = {});
/// Backwards along these axes, along all where none are named.
PARDO_API Array flip(const Array& x, const Axes& axes = {});
/// The axes `from` stand at the places `to`; the others keep their order.
PARDO_API Array moveaxis(const Array& x, Extents from, Extents to);
/// The real (0) or imaginary (1) parts of complex elements where they are, so that writing to them writes to x; real x itself.
PARDO_API Array part_view(const Array& x, int which);
/// The diagonals over two axes, along a new last axis; `offset` above the main one.
PARDO_API Array diagonal(const Array& x, std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1);
/// All windows of x of some extents along `axes`: x's axes, shortened, then those of the window. Read-only. Forces x.
PARDO_API Array sliding_windows(const Array& x, Extents window, Extents axes);
/// The memory of x, from its first element on, in another shape and with other strides, counted in elements. Throws Value where that would
/// leave the memory. Forces.
PARDO_API Array as_strided(const Array& x, Extents shape, Extents strides);
/// The arrays, broadcast together, without copies.
PARDO_API std::vector<Array> broadcast_arrays(ListOf<Array> arrays);
/// @}

/// @defgroup rearranging Rearranging
/// New arrays from old.
/// @{

/// The bits of the elements as another dtype of their size, neither complex.
PARDO_API Array bitcast(const Array& x, DType dtype);
/// The arrays one after the other along an axis that they have; flattened without one.
PARDO_API Array concat(ListOf<Array> arrays, std::optional<std::int64_t> axis = 0);
/// The arrays one after the other along a new axis.
PARDO_API Array stack(ListOf<Array> arrays, std::int64_t axis = 0);
/// Elements moved along axes by `shift`, one number an axis or one for all; those that leave come in at the other end. Of the flattened
/// array without axes.
PARDO_API Array roll(const Array& x, Extents shift, const Axes& axes = {});
/// Each element `count` times, along an axis or flattened.
PARDO_API Array repeat(const Array& x, std::int64_t count, std::optional<std::int64_t> axis = {});
/// The same with a count for each element.
PARDO_API Array repeat(const Array& x, const Array& counts, std::optional<std::int64_t> axis = {});
/// The array `repetitions` times along each axis.
PARDO_API Array tile(const Array& x, Extents repetitions);
/// Differences of neighbours along an axis, n times; `prepend` and `append` are put in front and behind before.
PARDO_API Array diff(const Array& x, std::int64_t n = 1, std::int64_t axis = -1, const Array* prepend = nullptr,
                     const Array* append = nullptr);
/// @}

/// @defgroup routines Sorting, searching, products
/// Library routines: handed over at once, asynchronous on their queue; those that return a data-dependent shape wait.
/// @{

/// Sorted along an axis; NaN comes last.
PARDO_API Array sort(const Array& x, std::int64_t axis = -1, bool descending = false, bool stable = true);
/// The positions, int64, at which the sorted elements of an axis are.
PARDO_API Array argsort(const Array& x, std::int64_t axis = -1, bool descending = false, bool stable = true);
/// As sort, but such that only the positions `kth` of the axis are sure to hold what sorting would put there; smaller ones come before.
PARDO_API Array partition(const Array& x, Extents kth, std::int64_t axis = -1);
/// The positions, int64, of what partition gives.
PARDO_API Array argpartition(const Array& x, Extents kth, std::int64_t axis = -1);
/// What sorting would put at the positions `kth` (ascending, distinct, not negative) of an axis, whose extent becomes their number.
PARDO_API Array ranked(const Array& x, Extents kth, std::int64_t axis = -1);
/// The k largest (or smallest) along an axis, sorted: values and indices.
PARDO_API std::pair<Array, Array> top_k(const Array& x, std::int64_t k, std::int64_t axis = -1, bool largest = true);
/// Before which of the sorted elements each value goes, int64: in front of equal ones, behind them if `right`. `sorter`: argsort of
/// `sorted`.
PARDO_API Array searchsorted(const Array& sorted, const Array& values, bool right = false, const Array* sorter = nullptr);
/// The positions of the elements that are not 0: int64, an array a dimension. Waits.
PARDO_API std::vector<Array> nonzero(const Array& x);
/// The elements at these positions along an axis, or of the flattened array.
PARDO_API Array take(const Array& x, const Array& indices, std::optional<std::int64_t> axis = {});
/// One element for each index: at [i, j, k] that of x at [i, indices[i, j, k], k], for axis 1.
PARDO_API Array take_along_axis(const Array& x, const Array& indices, std::int64_t axis = -1);
/// Products of matrices, in stacks that are broadcast; an operand of one dimension is a vector.
PARDO_API Array matmul(const Array& a, const Array& b);
/// Sums of conj(a) * b along an axis.
PARDO_API Array vecdot(const Array& a, const Array& b, std::int64_t axis = -1);
/// Sums of products over axes of a and b, in pairs; what is left are the other axes of a, then those of b.
PARDO_API Array tensordot(const Array& a, const Array& b, Extents axes_a, Extents axes_b);
/// Sorted distinct values; first indices, inverse (x's shape) and counts, empty handles if `values_only`. `equal_nan`: all NaNs are one
/// value (NumPy's default).
struct Unique {
    Array values;   ///< ascending
    Array indices;  ///< where each of them comes first
    Array inverse;  ///< of each element the position of its value
    Array counts;   ///< how often each value is there
};
/// The sorted distinct values of the flattened array. Waits.
PARDO_API Unique unique(const Array& x, bool equal_nan = false, bool values_only = false);
/// @}

}  // namespace pardo

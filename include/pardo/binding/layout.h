// include/pardo/binding/layout.h: how the elements of an array lie in memory: the order of axes, what may be written, whose memory it is.
// Single elements without a kernel, where they lie in memory that the host computes on and nothing is under way.
// For pardo's own bindings: no stability.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <pardo/array.h>

namespace pardo {

/// True when the axes are known to lie in memory in row-major order, without computing anything.
PARDO_API bool surely_row_major(const Array& x) noexcept;
/// Column-major, as Array::is_contiguous is row-major; forces.
PARDO_API bool is_column_major(const Array& x);
/// The order in which the axes of a result of these operands lie in memory, outermost first, by NumPy's rule for order='K'. Forces those
/// of which that is not known.
PARDO_API std::vector<std::int64_t> axis_order(std::span<const Array> operands);
/// `fresh`, to which there is no other reference, with its axis k as axis axes[k]: a transposed view that counts as owner of the memory.
PARDO_API Array laid_out(const Array& fresh, Extents axes);

/// True when the memory was made for this array: it is no view, and no memory of other code.
PARDO_API bool owns_data(const Array& x);
/// The array whose memory x shows; an empty handle if x owns its data. Forces.
PARDO_API Array base_of(const Array& x);
/// Lets x be written, or not; views of x that are made from now on inherit that. Throws Value for what cannot be written.
PARDO_API void set_writeable(Array& x, bool writeable);
/// The same memory as elements of another dtype, by NumPy's rules. Throws Value where they do not fit.
PARDO_API Array view_as(const Array& x, DType dtype);
/// x shows the same memory in another shape, or with another dtype, from now on; throws Value when strides cannot express that.
PARDO_API void set_shape(Array& x, Extents shape);
PARDO_API void set_dtype(Array& x, DType dtype);
/// True when no other array or pending operation knows this one's memory.
PARDO_API bool unreferenced(const Array& x);

/// Whether x is in memory of the kind 'device', on a device that has other kinds too. What is pending gets the kind of its operands.
PARDO_API bool may_lack_kind(const Array& x);
/// The kind of memory of x as results of operations on it have it; nothing if x only follows others. Forces where there are several kinds.
PARDO_API std::optional<MemoryKind> kind_for_results(const Array& x);

/// Says of a fresh copy that it stands for values without a place of their own, which follow the arrays that they meet: it has no part in
/// the kind of memory of results.
PARDO_API Array note_following(Array copy);

/// x[i, j, …] with an integer for each dimension, as the index expression gives it; nothing where its element has to be waited for, where
/// it lies elsewhere or where an index is out of bounds: index as usual.
PARDO_API std::optional<Array> element_of(const Array& x, std::span<const std::int64_t> index);
/// x[i, j, …] = value in the same way; false where nothing has been done.
PARDO_API bool set_element(const Array& x, std::span<const std::int64_t> index, const Scalar& value);
/// The value of an array of one element, if it is there.
PARDO_API std::optional<Scalar> known_item(const Array& x);

}  // namespace pardo

// include/pardo/sparse.h: sparse matrices by rows, and their products with vectors and matrices.
#pragma once

#include <cstdint>

#include <pardo/array.h>
#include <pardo/export.h>

namespace pardo::sparse {

/// A matrix by its entries, row after row, as scipy.sparse.csr_array has it: row i has data[k] in column indices[k] for k from indptr[i] to
/// before indptr[i + 1]. Entries of one place add up.
struct Csr {
    Array data;                          ///< of any dtype, (entries)
    Array indices;                       ///< int32 or int64, (entries)
    Array indptr;                        ///< of the same dtype, (rows + 1)
    std::int64_t rows = 0, columns = 0;  ///< its shape
};

/// Checks shapes and dtypes: Value and Type errors. The numbers in indices and indptr are not looked at; wrong ones are undefined
/// behaviour.
PARDO_API Csr csr(const Array& data, const Array& indices, const Array& indptr, std::int64_t rows, std::int64_t columns);
/// The elements of a matrix that are not zero. Waits: their number is needed.
PARDO_API Csr from_dense(const Array& x);
/// The same matrix with its zeros.
PARDO_API Array to_dense(const Csr& a);
/// a x, of a vector of `columns` elements or a matrix with as many rows. In the promoted dtype; sums of bools are `any`, those of floats of
/// 16 bits are added up in float32. Entries of a row are added up in their order, so that the bits are the same in each run.
PARDO_API Array matmul(const Csr& a, const Array& x);

}  // namespace pardo::sparse

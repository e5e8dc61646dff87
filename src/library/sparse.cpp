// src/library/sparse.cpp: sparse products by a kernel: an item has a row of the matrix and a column of the other.
#include <pardo/sparse.h>

#include <string>
#include <vector>

#include <pardo/ops.h>
#include <pardo/recorded_kernel.h>

namespace pardo::sparse {
namespace {

/// What sums of a dtype are added up in.
template <class T> struct Sum { using type = T; };
template <> struct Sum<bool> { using type = std::int64_t; };
template <> struct Sum<Half> { using type = float; };
template <> struct Sum<BFloat16> { using type = float; };

template <class T, class I> const auto& product() {
    using S = typename Sum<T>::type;
    static const auto made = kernel(
        [](Item item, In<T> data, In<I> indices, In<I> indptr, In<T> x, Out<T> y) {
            const Value row = item[0], column = item[1];
            Var<S> sum = 0;
            For(indptr[row], indptr[row + 1], [&](Value k) { sum += data[k].template as<S>() * x[{indices[k], column}].template as<S>(); });
            if constexpr (std::same_as<T, bool>) {
                y[{row, column}] = sum != 0;
            } else {
                y[{row, column}] = Value(sum).template as<T>();
            }
        },
        {.name = "sparse.matmul"});
    return made;
}

template <class T, class I> const auto& spreading() {
    using S = typename Sum<T>::type;
    static const auto made = kernel(
        [](Item i, In<T> data, In<I> indices, In<I> indptr, InOut<T> out) {
            For(indptr[i], indptr[i + 1], [&](Value k) {
                const Place there = out[{i, indices[k]}];
                const Value sum = Value(there).template as<S>() + data[k].template as<S>();
                if constexpr (std::same_as<T, bool>) {
                    there = sum != 0;
                } else {
                    there = sum.template as<T>();
                }
            });
        },
        {.name = "sparse.to_dense"});
    return made;
}

/// Calls f with an element and an index of the matrix's types.
template <class F> void with_types(DType dtype, DType index, F&& f) {
    const auto with_index = [&]<class T>(T) { index == DType::Int32 ? f(T{}, std::int32_t{}) : f(T{}, std::int64_t{}); };
// clang-format off
#define PARDO_DTYPE(name, text, type, bytes, kind, exponent, mantissa, computed) if (dtype == DType::name) return with_index(type{});
#include <pardo/dtype.def>
    // clang-format on
}

void fail(ErrorCode code, const char* op_name, const std::string& text) { throw Error(code, std::string(op_name) + ": " + text); }

void check(const char* op_name, const Csr& a) {
    if (a.data.ndim() != 1 || a.indices.ndim() != 1 || a.indptr.ndim() != 1)
        fail(ErrorCode::Value, op_name, "data, indices and indptr have one dimension each");
    if (a.indices.dtype() != a.indptr.dtype() || (a.indices.dtype() != DType::Int32 && a.indices.dtype() != DType::Int64))
        fail(ErrorCode::Type, op_name,
             "indices and indptr are both int32 or both int64, not " + std::string(dtype_name(a.indices.dtype())) + " and " +
                 std::string(dtype_name(a.indptr.dtype())));
    if (a.rows < 0 || a.columns < 0) fail(ErrorCode::Value, op_name, "a matrix has no negative number of rows or columns");
    if (a.data.size() != a.indices.size())
        fail(ErrorCode::Value, op_name, std::to_string(a.data.size()) + " elements, but " + std::to_string(a.indices.size()) + " indices");
    if (a.indptr.size() != a.rows + 1)
        fail(ErrorCode::Value, op_name,
             "indptr has one element more than there are rows: " + std::to_string(a.rows + 1) + ", not " + std::to_string(a.indptr.size()));
}

}  // namespace

Csr csr(const Array& data, const Array& indices, const Array& indptr, std::int64_t rows, std::int64_t columns) {
    const Csr made{data, indices, indptr, rows, columns};
    check("csr", made);
    return made;
}

Csr from_dense(const Array& x) {
    if (x.ndim() != 2) fail(ErrorCode::Value, "from_dense", "a matrix has two dimensions, not " + std::to_string(x.ndim()));
    const std::int64_t rows = x.shape()[0], columns = x.shape()[1];
    const std::vector<Array> places = nonzero(x);
    const Array starts = searchsorted(places[0], arange(0, rows + 1, 1, DType::Int64, x.queue()));
    return {x[{places[0], places[1]}], places[1], starts, rows, columns};
}

Array to_dense(const Csr& a) {
    check("to_dense", a);
    const Array out = zeros({a.rows, a.columns}, a.data.dtype(), a.data.queue()).copy();
    if (out.size() == 0 || a.data.size() == 0) return out;
    with_types(a.data.dtype(), a.indices.dtype(),
               [&]<class T, class I>(T, I) { spreading<T, I>()(a.rows, a.data, a.indices, a.indptr, out); });
    return out;
}

Array matmul(const Csr& a, const Array& x) {
    check("sparse.matmul", a);
    if ((x.ndim() != 1 && x.ndim() != 2) || x.shape()[0] != a.columns)
        fail(ErrorCode::Value, "sparse.matmul",
             "a matrix of " + std::to_string(a.rows) + " rows and " + std::to_string(a.columns) +
                 " columns takes a vector or a matrix of " + std::to_string(a.columns) + " rows" +
                 (x.ndim() == 0 ? ", not a number" : ", not of " + std::to_string(x.shape()[0])));
    const DType dtype = promote(a.data.dtype(), x.dtype());
    const std::int64_t width = x.ndim() == 1 ? 1 : x.shape()[1];
    const Array out = x.ndim() == 1 ? empty(a.rows, dtype, a.data.queue()) : empty({a.rows, width}, dtype, a.data.queue());
    if (out.size() == 0) return out;
    const Array data = a.data.astype(dtype, false), other = reshape(x.astype(dtype, false), {a.columns, width});
    const Array result = reshape(out, {a.rows, width});
    with_types(dtype, a.indices.dtype(), [&]<class T, class I>(T, I) {
        product<T, I>()({a.rows, width}, data, a.indices, a.indptr, other, result);
    });
    return out;
}

}  // namespace pardo::sparse

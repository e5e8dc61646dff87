// src/library/sparse.cpp: sparse products by kernels: an item has a row of the matrix, or on processors a part of its rows.
#include <pardo/sparse.h>

#include <algorithm>
#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include <pardo/ops.h>
#include <pardo/recorded_kernel.h>

namespace pardo::sparse {
namespace {

constexpr std::int64_t vector_part = 8192, matrix_part = 1024;  // rows and entries, of a part of a processor's work

/// What sums of a dtype are added up in.
template <class T> struct Sum { using type = T; };
template <> struct Sum<bool> { using type = std::int64_t; };
template <> struct Sum<Half> { using type = float; };
template <> struct Sum<BFloat16> { using type = float; };

/// The column of an entry; without a sign, so that nothing looks whether it counts from the end.
template <class I> Value column_of(const In<I>& indices, const Value& k) { return indices[k].template as<std::make_unsigned_t<I>>(); }

template <class T> void store(const ElementRef& place, const Value& sum) {
    if constexpr (std::same_as<T, bool>) {
        place = sum != 0;
    } else {
        place = sum.template as<T>();
    }
}

/// The first row of a part: each has about as many rows and entries, taken together, as any other.
template <class I> Value first_row(const In<I>& indptr, const Value& rows, const Value& part, const Value& parts) {
    const Value base = indptr[0].template as<std::int64_t>();
    const Value wanted = floor_divide((indptr[rows].template as<std::int64_t>() - base + rows) * part, parts);
    Var<std::int64_t> low = 0, high = rows;
    While([&] { return low < high; },
          [&] {
              const Value middle = floor_divide(low + high, 2);
              If(
                  indptr[middle].template as<std::int64_t>() - base + middle < wanted, [&] { low = middle + 1; }, [&] { high = middle; });
          });
    return low;
}

template <class T, class I>
Value row_times_vector(const Value& row, const In<T>& data, const In<I>& indices, const In<I>& indptr, const In<T>& x) {
    using S = typename Sum<T>::type;
    Var<S> sum = 0;
    For(indptr[row], indptr[row + 1], [&](Value k) { sum += data[k].template as<S>() * x[column_of(indices, k)].template as<S>(); });
    return sum;
}

/// Where items are many: one for each row.
template <class T, class I> const auto& vector_product() {
    static const auto& made = *new auto(kernel([](Item row, In<T> data, In<I> indices, In<I> indptr, In<T> x,
                                                  Out<T> y) { store<T>(y[row], row_times_vector(row, data, indices, indptr, x)); },
                                               {.name = "sparse.matmul"}));
    return made;
}

/// On processors: an item has a part of the rows. Groups of one item are scalar code.
template <class T, class I> const auto& vector_product_by_parts() {
    static const auto& made = *new auto(kernel(
        [](NdItem part, In<T> data, In<I> indices, In<I> indptr, In<T> x, Out<T> y) {
            const Value rows = y.extent(), parts = part.get_global_range();
            For(first_row(indptr, rows, part, parts), first_row(indptr, rows, part + 1, parts),
                [&](Value row) { store<T>(y[row], row_times_vector(row, data, indices, indptr, x)); });
        },
        {.name = "sparse.matmul"}));
    return made;
}

/// The same for a matrix: columns become lanes, and a row of the result stays in the nearest cache.
template <class T, class I> const auto& product_by_parts() {
    static const auto& made = *new auto(kernel(
        [](Item part, In<T> data, In<I> indices, In<I> indptr, In<T> x, InOut<T> y) {
            const Value rows = y.extent(), parts = part.get_range(0);
            For(first_row(indptr, rows, part, parts), first_row(indptr, rows, part + 1, parts), [&](Value row) {
                For(0, y.extent(1), [&](Value j) { y[{row, j}] = T(0); });
                For(indptr[row], indptr[row + 1], [&](Value k) {
                    const Value factor = data[k], column = column_of(indices, k);
                    For(0, y.extent(1), [&](Value j) { y[{row, j}] += factor * x[{column, j}]; });
                });
            });
        },
        {.name = "sparse.matmul"}));
    return made;
}

template <class T, class I> const auto& product() {
    using S = typename Sum<T>::type;
    static const auto& made = *new auto(kernel(
        [](Item item, In<T> data, In<I> indices, In<I> indptr, In<T> x, Out<T> y) {
            const Value row = item[0], column = item[1];
            Var<S> sum = 0;
            For(indptr[row], indptr[row + 1], [&](Value k) {
                sum += data[k].template as<S>() * x[{column_of(indices, k), column}].template as<S>();
            });
            store<T>(y[{row, column}], sum);
        },
        {.name = "sparse.matmul"}));
    return made;
}

template <class T, class I> const auto& spreading() {
    using S = typename Sum<T>::type;
    static const auto& made = *new auto(kernel(
        [](Item i, In<T> data, In<I> indices, In<I> indptr, InOut<T> out) {
            For(indptr[i], indptr[i + 1], [&](Value k) {
                const ElementRef there = out[{i, column_of(indices, k)}];
                store<T>(there, Value(there).template as<S>() + data[k].template as<S>());
            });
        },
        {.name = "sparse.to_dense"}));
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
    const Array data = a.data.astype(dtype, false), other = x.astype(dtype, false);
    const Queue queue = a.data.queue();
    const bool few_items = queue.device().has_aspect(Aspect::Cpu);
    const std::int64_t work = a.rows + a.data.size(), part = x.ndim() == 1 ? vector_part : matrix_part;
    const std::int64_t parts = std::clamp<std::int64_t>(work / part, 1, std::max<std::int64_t>(a.rows, 1));
    const std::int64_t width = x.ndim() == 1 ? 1 : x.shape()[1];
    const Array out = x.ndim() == 1 ? empty(a.rows, dtype, queue) : empty({a.rows, width}, dtype, queue);
    if (out.size() == 0) return out;
    with_types(dtype, a.indices.dtype(), [&]<class T, class I>(T, I) {
        if (x.ndim() == 1 && few_items) {
            vector_product_by_parts<T, I>()(NdRange{{parts}, {1}}, data, a.indices, a.indptr, other, out);
        } else if (x.ndim() == 1) {
            vector_product<T, I>()(a.rows, data, a.indices, a.indptr, other, out);
        } else {
            if constexpr (std::same_as<typename Sum<T>::type, T>) {
                if (few_items) return void(product_by_parts<T, I>()(parts, data, a.indices, a.indptr, other, out));
            }
            product<T, I>()({a.rows, width}, data, a.indices, a.indptr, other, out);
        }
    });
    return out;
}

}  // namespace pardo::sparse

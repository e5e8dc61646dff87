// src/routines/cpu/matmul.cpp: stacks of matrix products on the CPU by OpenBLAS, on tiles that the device's threads share.
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/narrow.h"
#include "routines/cpu/openblas.h"
#include "routines/cpu/small_products.h"
#include "routines/cpu/task.h"
#include "routines/strided_iterator.h"

namespace pardo::routines {

namespace {

constexpr std::int64_t blas_limit = std::numeric_limits<int>::max();

/// A matrix as BLAS sees it: row-major, or the transposed of one that is.
struct BlasLayout {
    BlasTranspose transpose;
    std::int64_t leading;
};
bool find_layout(std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride, BlasLayout& out) {
    if ((columns == 1 || column_stride == 1) && (rows == 1 || row_stride >= columns)) {
        out = {BlasTranspose::No, rows == 1 ? columns : row_stride};
        return out.leading <= blas_limit;
    }
    if ((rows == 1 || row_stride == 1) && (columns == 1 || column_stride >= rows)) {
        out = {BlasTranspose::Yes, columns == 1 ? rows : column_stride};
        return out.leading <= blas_limit;
    }
    return false;
}

/// The last two dimensions of a stack.
struct Matrix {
    std::int64_t rows, columns, row_stride, column_stride;
    BlasLayout layout{};
    StridedIterator batch;

    explicit Matrix(const Memory& m)
        : rows(m.shape[m.shape.size() - 2]),
          columns(m.shape[m.shape.size() - 1]),
          row_stride(m.strides[m.shape.size() - 2]),
          column_stride(m.strides[m.shape.size() - 1]),
          batch(static_cast<std::span<const std::int64_t>>(m.shape).first(static_cast<std::size_t>(m.shape.size() - 2)),
                static_cast<std::span<const std::int64_t>>(m.strides).first(static_cast<std::size_t>(m.shape.size() - 2))) {
        find_layout(rows, columns, row_stride, column_stride, layout);
    }
    /// Offset of an element within the matrix.
    std::int64_t at(std::int64_t row, std::int64_t column) const { return row * row_stride + column * column_stride; }
};

/// How one product is cut up: by its shape alone.
struct Tiles {
    std::int64_t rows, columns;  // of a tile
    std::int64_t down, across;   // tiles
    std::int64_t deep = 1;       // pieces of the depth, whose products are added in order
};
bool is_short(std::int64_t m, std::int64_t n, std::int64_t k) {  // a vector of some 15 us
    return (m == 1 || n == 1) && m * n * k <= (std::int64_t{1} << 17);
}
/// The number of pieces of `size` that are not longer than `length`.
std::int64_t pieces(std::int64_t size, std::int64_t length) { return (size + length - 1) / length; }

Tiles cut(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t stack) {
    constexpr std::int64_t edge = 512, work = std::int64_t{1} << 23, some_work = work / 8;
    const std::int64_t enough = std::max<std::int64_t>(16 / stack, 1), some = std::min<std::int64_t>(enough, 4);
    if (is_short(m, n, k)) return {m, n, 1, 1};
    // As many for many threads, as long as each is some 0.2 ms of work; some for few threads. OpenBLAS copies the right matrix for each row
    // of tiles: flat ones take less time than square ones. Where the depth can be cut, tiles stay large.
    const std::int64_t least = k > 4 * std::max(m, n) ? 128 : 64;
    std::int64_t down = pieces(m, edge), across = pieces(n, edge);
    while (down * across < enough && m * n / (down * across) * k > (down * across < some ? some_work : work)) {
        const bool flat = 4 * across * m <= down * n;
        if (flat ? n / across < 2 * least : m / down < 2 * least) break;
        (flat ? across : down) *= 2;
    }
    const auto extent = [](std::int64_t size, std::int64_t count) {  // a multiple of the registers' tiles
        return count == 1 ? size : std::min(size, (pieces(size, count) + 7) / 8 * 8);
    };
    Tiles t{extent(m, down), extent(n, across), 0, 0};
    // Vectors are bound by memory: pieces of some 512 KiB, as many as threads are woken for.
    constexpr std::int64_t piece = 131072;
    if (n == 1)
        t.rows =
            std::clamp<std::int64_t>(piece / std::max<std::int64_t>(k, 1), std::min<std::int64_t>(m, 32), std::max<std::int64_t>(m, 1));
    if (m == 1)
        t.columns =
            std::clamp<std::int64_t>(piece / std::max<std::int64_t>(k, 1), std::min<std::int64_t>(n, 64), std::max<std::int64_t>(n, 1));
    t.down = pieces(m, t.rows);
    t.across = pieces(n, t.columns);
    constexpr std::int64_t least_depth = 512;
    const std::int64_t parts = t.down * t.across, least_work = m == 1 || n == 1 ? 4 * piece : 2 * some_work;
    if (parts < enough) t.deep = std::max<std::int64_t>(std::min({enough / parts, k / least_depth, m * n * k / (least_work * parts)}), 1);
    return t;
}

/// The step from element to element of a vector, as BLAS takes it.
int step(std::int64_t stride, std::int64_t count) { return count == 1 ? 1 : static_cast<int>(stride); }

/// One and zero, as BLAS takes them.
template <class T> struct Factors {
    static constexpr T one_value = T(1), zero_value = T(0);
    typename BlasFunctions<T>::S one, zero;
    Factors() {
        if constexpr (std::is_pointer_v<typename BlasFunctions<T>::S>) {
            one = &one_value;
            zero = &zero_value;
        } else {
            one = one_value;
            zero = zero_value;
        }
    }
};

/// y = A x, for a matrix of rows x depth as stored, or the transposed of what is stored. With beta = 0 OpenBLAS may still read y, so it is
/// cleared.
template <class T, class Gemv>
void multiply_vector(Gemv gemv, std::int64_t rows, std::int64_t depth, const BlasLayout& layout, const T* a, const T* x, int x_step, T* y,
                     int y_step) {
    const auto [one, zero] = Factors<T>();
    for (std::int64_t i = 0; i < rows; ++i) y[i * y_step] = T(0);
    const bool plain = layout.transpose == BlasTranspose::No;
    gemv(BlasOrder::RowMajor, layout.transpose, static_cast<int>(plain ? rows : depth), static_cast<int>(plain ? depth : rows), one, a,
         static_cast<int>(layout.leading), x, x_step, zero, y, y_step);
}

/// The same of the transposed matrix.
BlasLayout turned(const BlasLayout& layout) {
    return {layout.transpose == BlasTranspose::No ? BlasTranspose::Yes : BlasTranspose::No, layout.leading};
}

/// A tile of one row or one column.
template <class T, class Gemv>
void multiply_line(Gemv gemv, const T* a, const Matrix& left, const T* b, const Matrix& right, T* c, std::int64_t columns, std::int64_t m,
                   std::int64_t n, std::int64_t depth) {
    if (n == 1) {
        multiply_vector(gemv, m, depth, left.layout, a, b, step(right.row_stride, depth), c, static_cast<int>(columns));
    } else {
        multiply_vector(gemv, n, depth, turned(right.layout), b, a, step(left.column_stride, depth), c, 1);
    }
}

/// One product with a vector by the threads of NumPy's OpenBLAS, which are awake after a product of NumPy's: work of 15 to 100 us is over
/// before a thread of ours is awake. False where NumPy has no OpenBLAS, or it has another number of threads than the device.
template <class T> bool multiply_by_numpys(device::Device* device, const T* a, const Matrix& left, const T* b, const Matrix& right, T* c) {
    constexpr std::int64_t least = 460800, most = std::int64_t{1} << 21;  // elements; OpenBLAS takes one thread below
    const std::int64_t m = left.rows, n = right.columns, k = left.columns, workers = cpu::thread_count(device);
    if ((m != 1 && n != 1) || m * n * k < least || m * n * k > most || workers == 1 || cpu::has_own_cores(device)) return false;
    const NumpyOpenBlas* const numpys = openblas_of_numpy();
    if (!numpys || numpys->get_threads() != workers) return false;
    multiply_line(numpys->get<T>().gemv, a, left, b, right, c, n, m, n, k);
    return true;
}

template <class T>
void multiply_tile(const BlasFunctions<T>& blas, const T* a, const Matrix& left, const T* b, const Matrix& right, T* c,
                   std::int64_t columns, std::int64_t m, std::int64_t n, std::int64_t depth) {
    if (m == 1 || n == 1) return multiply_line(blas.gemv, a, left, b, right, c, columns, m, n, depth);
    const auto [one, zero] = Factors<T>();
    const auto k = static_cast<int>(depth);
    blas.gemm(BlasOrder::RowMajor, left.layout.transpose, right.layout.transpose, static_cast<int>(m), static_cast<int>(n), k, one, a,
              static_cast<int>(left.layout.leading), b, static_cast<int>(right.layout.leading), zero, c, static_cast<int>(columns));
}

/// The sums of what the parts of a sum have left, one after the other in memory.
template <class T> void add_parts(device::Device* device, const T* sums, std::int64_t parts, std::int64_t count, T* out) {
    cpu::parallel_for(device, count, static_cast<double>(parts * count) * 0.3, [&](std::int64_t begin, std::int64_t end) {
        std::copy(sums + begin, sums + end, out + begin);
        for (std::int64_t part = 1; part < parts; ++part) {
            const T* from = sums + part * count;
            for (std::int64_t j = begin; j < end; ++j) out[j] += from[j];
        }
    });
}

/// Memory for that; null where there is one part.
template <class T> std::unique_ptr<T[]> room_for(std::int64_t parts, std::int64_t count) {
    return std::unique_ptr<T[]>(parts > 1 ? new T[static_cast<std::size_t>(parts * count)] : nullptr);
}

/// The sum of a matrix's rows, each times an element of a vector: what a vector times a matrix is where the matrix lies row by row, and a
/// matrix times a vector where it lies column by column.
template <class T> struct SumOfRows {
    const T* matrix;
    std::int64_t rows, columns, leading;
    const T* factors;
    int factor_step;  // between factors

    /// Each part of the rows gives a sum, and these are added in order. Narrow columns would be far apart in memory.
    void run(device::Device* device, const BlasFunctions<T>& blas, T* out, double cost) const {
        constexpr std::int64_t widest = 4096, least = 64, piece = 131072;  // columns, rows, elements
        const std::int64_t across = pieces(columns, widest);
        const std::int64_t down = std::max<std::int64_t>(rows / std::max(least, piece / std::min(columns, widest)), 1);
        const auto sums = room_for<T>(down, columns);
        for_each_near_part(device, down * across, cost, [&](std::int64_t part) {
            const std::int64_t block = part / across, tile = part % across;
            const std::int64_t first = rows * block / down, left = columns * tile / across;
            const auto height = static_cast<int>(rows * (block + 1) / down - first);
            const auto width = static_cast<int>(columns * (tile + 1) / across - left);
            T* to = (sums ? sums.get() + block * columns : out) + left;
            const auto [one, zero] = Factors<T>();
            std::fill_n(to, width, T(0));
            blas.gemv(BlasOrder::RowMajor, BlasTranspose::Yes, height, width, one, matrix + first * leading + left,
                      static_cast<int>(leading), factors + first * factor_step, factor_step, zero, to, 1);
        });
        if (sums) add_parts(device, sums.get(), down, columns, out);
    }
};

/// One product as a sum of rows; nothing where it cannot be computed as one.
template <class T> std::optional<SumOfRows<T>> as_sum_of_rows(const T* a, const Matrix& left, const T* b, const Matrix& right) {
    const std::int64_t m = left.rows, n = right.columns, k = left.columns;
    if (is_short(m, n, k)) return {};
    if (m == 1 && right.layout.transpose == BlasTranspose::No)
        return SumOfRows<T>{b, k, n, right.layout.leading, a, step(left.column_stride, k)};
    if (n == 1 && left.layout.transpose == BlasTranspose::Yes)
        return SumOfRows<T>{a, k, m, left.layout.leading, b, step(right.row_stride, k)};
    return {};
}

/// From this size on so few threads take a piece each of a product, for which OpenBLAS copies the least; more threads share small tiles.
/// OpenBLAS's own threads wait for each other without sleeping: a product takes up to 1.8 times as long while Python or another program has
/// one of their processors. On 16 quiet cores tiles take 0.64 to 1.16 times as long as they do, 0.94 by the median of 23 products.
constexpr std::int64_t worth_pieces = std::int64_t{1} << 24, few = 16;
constexpr int few_threads = 4;

/// A piece of the longer edge for each thread.
Tiles share_out(std::int64_t m, std::int64_t n, std::int64_t threads) {
    const bool by_rows = m >= n;
    const std::int64_t edge = by_rows ? m : n, piece = std::min(edge, (pieces(edge, threads) + 7) / 8 * 8);
    return by_rows ? Tiles{piece, n, pieces(m, piece), 1} : Tiles{m, piece, 1, pieces(n, piece)};
}

/// A matrix times its own transposed: one triangle is computed, the other one copied from it.
bool is_symmetric(const Memory& a, const Memory& b, const Matrix& left, const Matrix& right) {
    constexpr std::int64_t least = 192;  // smaller ones take as long as any other
    return a.address() == b.address() && left.rows == right.columns && left.row_stride == right.column_stride &&
           left.column_stride == right.row_stride && left.rows >= least &&
           std::equal(a.strides.begin(), a.strides.end() - 2, b.strides.begin(), b.strides.end() - 2) &&
           std::equal(a.shape.begin(), a.shape.end() - 2, b.shape.begin(), b.shape.end() - 2);
}

/// c[j, i] = c[i, j] where j < i.
template <class T> void copy_triangle(device::Device* device, T* c, std::int64_t size) {
    constexpr std::int64_t near = 16;  // rows and columns that stay in the cache while they are transposed
    for_each_part(device, pieces(size, near), static_cast<double>(size * size), [=](std::int64_t part) {
        const std::int64_t first = part * near, last = std::min(first + near, size);
        for (std::int64_t column = 0; column < last; column += near) {
            for (std::int64_t i = first; i < last; ++i) {
                for (std::int64_t j = column; j < std::min(column + near, i); ++j) c[j * size + i] = c[i * size + j];
            }
        }
    });
}

/// Where each thread's rows of a triangle begin, so that all have as many elements; the size at the end.
std::vector<std::int64_t> rows_of_triangle(std::int64_t size, int threads) {
    std::vector<std::int64_t> first(static_cast<std::size_t>(threads) + 1, size);
    for (int thread = 0; thread < threads; ++thread)
        first[static_cast<std::size_t>(thread)] =
            static_cast<std::int64_t>(std::sqrt(static_cast<double>(thread) / threads) * static_cast<double>(size)) / 8 * 8;
    return first;
}

/// The triangle by a few threads: each multiplies its rows by what lies before the diagonal, and then by themselves.
template <class T>
void share_triangle(device::Device* device, const BlasFunctions<T>& blas, const T* a, const Matrix& left, const Matrix& right, T* c,
                    double cost) {
    const std::vector<std::int64_t> first = rows_of_triangle(left.rows, cpu::thread_count(device));
    for_each_part(device, static_cast<std::int64_t>(first.size()) - 1, cost, [&](std::int64_t part) {
        const std::int64_t row = first[part], rows = first[part + 1] - row, size = left.rows;
        const auto [one, zero] = Factors<T>();
        const T* from = a + left.at(row, 0);
        if (row > 0) multiply_tile(blas, from, left, a, right, c + row * size, size, rows, row, left.columns);
        blas.syrk(BlasOrder::RowMajor, BlasTriangle::Lower, left.layout.transpose, static_cast<int>(rows), static_cast<int>(left.columns),
                  one, from, static_cast<int>(left.layout.leading), zero, c + row * size + row, static_cast<int>(size));
    });
    copy_triangle(device, c, left.rows);
}

template <class T>
void multiply_symmetric(device::Device* device, const BlasFunctions<T>& blas, const T* a, const Matrix& left, T* c, std::int64_t stack,
                        double cost) {
    const std::int64_t size = left.rows;
    const auto run = [&](std::int64_t begin, std::int64_t end) {
        const auto [one, zero] = Factors<T>();
        for (std::int64_t product = begin; product < end; ++product) {
            T* to = c + product * size * size;
            blas.syrk(BlasOrder::RowMajor, BlasTriangle::Lower, left.layout.transpose, static_cast<int>(size),
                      static_cast<int>(left.columns), one, a + left.batch.offset(product), static_cast<int>(left.layout.leading), zero, to,
                      static_cast<int>(size));
            copy_triangle(device, to, size);
        }
    };
    stack < few ? run(0, stack) : cpu::parallel_for(device, stack, cost, run);
}

template <class T>
void multiply_stack(device::Device* device, const OpenBlas& library, const Memory& a, const Memory& b, const Memory& out, double cost) {
    const Matrix left(a), right(b);
    const std::int64_t m = left.rows, n = right.columns, stack = out.size() / (m * n);
    const T *from_a = reinterpret_cast<const T*>(a.address()), *from_b = reinterpret_cast<const T*>(b.address());
    T* to = reinterpret_cast<T*>(out.address());
    if constexpr (std::is_floating_point_v<T>) {
        const SmallProduct small{m, n, left.columns, left.row_stride, left.column_stride, right.row_stride};
        if (const MultiplySmall<T> multiply = right.column_stride == 1 ? small_product<T>(small) : nullptr) {
            return cpu::parallel_for(device, stack, cost, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t product = begin; product < end; ++product)
                    multiply(small, from_a + left.batch.offset(product), from_b + right.batch.offset(product), to + product * m * n);
            });
        }
    }
    if (stack == 1 && multiply_by_numpys(device, from_a, left, from_b, right, to)) return;
    const BlasFunctions<T>& blas = library.get<T>();
    std::optional<BlasThreads> threads(std::in_place, library, 1);
    const int workers = cpu::thread_count(device);
    const bool shared = stack < few && workers > 1 && workers <= few_threads;
    if (is_symmetric(a, b, left, right)) {
        if (shared) {
            for (std::int64_t product = 0; product < stack; ++product)
                share_triangle(device, blas, from_a + left.batch.offset(product), left, right, to + product * m * n,
                               cost / static_cast<double>(stack));
            return;
        }
        const bool by_library = stack < few && !cpu::has_own_cores(device);
        if (by_library) threads.emplace(library, workers);
        if (by_library || stack >= few) return multiply_symmetric(device, blas, from_a, left, to, stack, cost);
    }
    if (as_sum_of_rows(from_a, left, from_b, right)) {
        for (std::int64_t product = 0; product < stack; ++product) {
            as_sum_of_rows(from_a + left.batch.offset(product), left, from_b + right.batch.offset(product), right)
                ->run(device, blas, to + product * m * n, cost / static_cast<double>(stack));
        }
        return;
    }
    const std::int64_t k = left.columns;
    Tiles tiles = cut(m, n, k, stack);
    const bool large = tiles.deep == 1 && m > 1 && n > 1 && m * n * k >= worth_pieces;
    if (large && shared) tiles = share_out(m, n, workers);
    const auto run_whole = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t product = begin; product < end; ++product) {
            multiply_tile(blas, from_a + left.batch.offset(product), left, from_b + right.batch.offset(product), right,
                          to + product * m * n, n, m, n, k);
        }
    };
    if (large && workers == 1) return run_whole(0, stack);
    const std::int64_t per_product = tiles.down * tiles.across * tiles.deep;
    if (per_product == 1) return cpu::parallel_for(device, stack, cost, run_whole);
    const auto sums = room_for<T>(tiles.deep, out.size());
    const auto run = [&](std::int64_t part) {
        const std::int64_t product = part / per_product, piece = part % tiles.deep, tile = part % per_product / tiles.deep;
        const std::int64_t row = tile / tiles.across * tiles.rows, column = tile % tiles.across * tiles.columns;
        const std::int64_t first = k * piece / tiles.deep, depth = k * (piece + 1) / tiles.deep - first;
        multiply_tile(blas, from_a + left.batch.offset(product) + left.at(row, first), left,
                      from_b + right.batch.offset(product) + right.at(first, column), right,
                      (sums ? sums.get() + piece * out.size() : to) + product * m * n + row * n + column, n, std::min(tiles.rows, m - row),
                      std::min(tiles.columns, n - column), depth);
    };
    for_each_near_part(device, stack * per_product, cost, run);
    if (sums) add_parts(device, sums.get(), tiles.deep, out.size(), to);
}

/// OpenBLAS takes rows or columns that are contiguous, our own loops columns.
bool takes(device::Queue*, const Memory& x) {
    const int rank = x.shape.size();
    const std::int64_t rows = x.shape[rank - 2], columns = x.shape[rank - 1];
    if (!is_blas(x.dtype)) return columns == 1 || x.strides[rank - 1] == 1;
    BlasLayout layout{};
    return find_layout(rows, columns, x.strides[rank - 2], x.strides[rank - 1], layout);
}

void ready(device::Queue*, DType dtype) {
    if (is_blas(dtype)) (void)openblas("matmul");
}

bool applies(device::Queue*, const Memory&, const Memory&, const Memory& out) { return is_blas(out.dtype); }

void openblas_matmul(device::Queue* queue, const Memory& a, const Memory& b, const Memory& out) {
    const std::int64_t depth = a.shape[a.shape.size() - 1];
    const double products = static_cast<double>(out.size()) * static_cast<double>(depth);
    device::Device* device = processor_of(queue);
    const OpenBlas& library = openblas("matmul");
    for (const Memory* operand : {&a, &b}) {
        const int rank = operand->shape.size();
        if (std::max(operand->shape[rank - 1], operand->shape[rank - 2]) > blas_limit)
            throw Error(ErrorCode::Value,
                        "matmul: OpenBLAS takes dimensions up to 2147483647; operand has shape " + to_string(operand->shape));
    }
    const double cost = products * (is_complex(out.dtype) ? 0.12 : 0.03) + 300;
    const auto task = [=, &library] {
        visit_dtype(out.dtype, [&]<class T>(std::type_identity<T>) {
            if constexpr (!std::is_integral_v<T> && !NarrowFloat<T>) multiply_stack<T>(device, library, a, b, out, cost);
        });
    };
    // A multiplication and an addition for each pair; of complex numbers six and two.
    submit(queue, "matmul", cost, {&a, &b}, {&out}, task, out.size() * depth * (is_complex(out.dtype) ? 8 : 2));
}

/// Why OpenBLAS is not there; empty where it is.
std::string openblas_problem() {
    try {
        (void)openblas("matmul");
        return "";
    } catch (const Error& error) {
        return error.message().substr(sizeof("matmul: ") - 1);
    }
}
bool openblas_is_there() {
    static std::atomic<bool> found{false};  // once it is there it stays
    if (!found.load(std::memory_order_relaxed) && openblas_problem().empty()) found.store(true, std::memory_order_relaxed);
    return found.load(std::memory_order_relaxed);
}

const Registered by_openblas(routines::matmul, {"OpenBLAS", DeviceKinds::Processor, openblas_matmul, applies, 0.1, nullptr,
                                                openblas_is_there, openblas_problem});
const Registered strides(routines::matmul_takes, {"strides", DeviceKinds::Processor, takes});
const Registered library(routines::matmul_ready, {"OpenBLAS", DeviceKinds::Host, ready});

}  // namespace

}  // namespace pardo::routines

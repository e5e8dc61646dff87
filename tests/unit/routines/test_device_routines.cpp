// tests/unit/routines/test_device_routines.cpp: the routines of devices that compile text do what the CPU's do, for every dtype.
#include <numeric>

#include "device_support.h"

namespace pardo::test {

using graph::ReduceOp;

/// Runs `f(queue, dtype)` for every device that knows the dtype; skips where there is no device.
class DeviceRoutines : public ::testing::TestWithParam<DType> {
protected:
    template <class F> void for_all(F&& f) {
        const auto queues = text_queues();
        if (queues.empty()) GTEST_SKIP() << "no OpenCL or CUDA device";
        const DType dtype = GetParam();
        for (device::Queue* queue : queues) {
            if (!queue->device()->supports(dtype)) continue;
            SCOPED_TRACE(queue->device()->id());
            f(queue, dtype);
            if (HasFatalFailure()) return;
        }
    }
};

double tolerance_of(DType dtype) {
    switch (dtype) {
        case DType::BFloat16: return 2e-2;
        case DType::Float16: return 2e-3;
        case DType::Float32:
        case DType::Complex64: return 1e-5;
        case DType::Float64:
        case DType::Complex128: return 1e-13;
        default: return 0;
    }
}

const std::vector<Lines> some_lines = {{1, 1, 1},    {1, 7, 1},      {3, 5, 1},    {1, 257, 1},  {2, 1000, 1},
                                       {1, 4099, 1}, {1, 100003, 1}, {2, 9001, 1}, {300, 13, 1}, {1, 37, 5},
                                       {2, 3001, 3}, {3, 1, 4},      {1, 2, 1000}, {40, 65, 1},  {2, 2500, 7}};
Shape shape_of_lines(Lines lines) { return {lines.outer, lines.length, lines.inner}; }

/// Ones and minus ones, whose products stay finite.
void set_signs(Host& x) {
    visit(x.dtype, [&]<class T>(T) {
        for (std::int64_t i = 0; i < x.size(); ++i) {
            const float sign = generator()() % 2 ? 1.0f : -1.0f;
            T value;
            if constexpr (NarrowFloat<T>)
                value = narrowed_to<T>(sign);
            else
                value = static_cast<T>(sign);
            std::memcpy(x.bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
        }
    });
}

/// Routines that OpenCL's compilers take a minute for, each dtype: one of each kind. The conformance suite has all dtypes.
class LargeDeviceRoutines : public DeviceRoutines {};
constexpr DType each_kind[] = {DType::Int16, DType::Float32, DType::Complex128};

TEST_P(LargeDeviceRoutines, Cumulative) {
    for_all([&](device::Queue* queue, DType dtype) {
        for (const Lines lines : some_lines) {
            for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Min, ReduceOp::Max}) {
                const bool extreme = op == ReduceOp::Min || op == ReduceOp::Max;
                for (const bool initial : {false, true}) {
                    if (initial && extreme) continue;
                    SCOPED_TRACE(::testing::Message()
                                 << lines.outer << " " << lines.length << " " << lines.inner << " op " << static_cast<int>(op));
                    Host x = random_host(dtype, shape_of_lines(lines), extreme, 4);
                    if (op == ReduceOp::Prod && tolerance_of(dtype) > 0) set_signs(x);
                    const Shape out_shape = {lines.outer, lines.length + initial, lines.inner};
                    const Memory got = fresh(queue, dtype, out_shape), expected = fresh(cpu_queue(), dtype, out_shape);
                    routines::cumulative(queue, op, upload(queue, x, 1), got, lines, initial);
                    routines::cumulative(cpu_queue(), op, upload(cpu_queue(), x), expected, lines, initial);
                    expect_same(download(queue, got), download(cpu_queue(), expected), tolerance_of(dtype));
                    if (HasFatalFailure()) return;
                }
            }
        }
    });
}

TEST_P(LargeDeviceRoutines, SortAndTopK) {
    for_all([&](device::Queue* queue, DType dtype) {
        for (const Lines lines : some_lines) {
            for (const bool descending : {false, true}) {
                SCOPED_TRACE(::testing::Message() << lines.outer << " " << lines.length << " " << lines.inner << " " << descending);
                const Host x = random_host(dtype, shape_of_lines(lines), true, 300);
                const Memory in = upload(queue, x), cpu_in = upload(cpu_queue(), x);
                const auto compare = [&](auto&& run, Shape shape, bool values, bool indices) {
                    const auto results = [&](device::Queue* on, const Memory& from) {
                        std::vector<Host> hosts;
                        Memory v, i;
                        if (values) v = fresh(on, dtype, shape);
                        if (indices) i = fresh(on, DType::Int64, shape);
                        run(on, from, v, i);
                        if (values) hosts.push_back(download(on, v));
                        if (indices) hosts.push_back(download(on, i));
                        return hosts;
                    };
                    const auto got = results(queue, in), expected = results(cpu_queue(), cpu_in);
                    for (std::size_t k = 0; k < got.size(); ++k) expect_same(got[k], expected[k]);
                };
                const auto sort = [&](device::Queue* on, const Memory& from, const Memory& v, const Memory& i) {
                    routines::sort(on, from, v, i, lines, descending);
                };
                compare(sort, x.shape, true, false);
                compare(sort, x.shape, false, true);
                for (const std::int64_t k : {std::int64_t{1}, std::min<std::int64_t>(lines.length, 5), lines.length}) {
                    compare([&](device::Queue* on, const Memory& from, const Memory& v,
                                const Memory& i) { routines::top_k(on, from, v, i, lines, k, descending); },
                            {lines.outer, k, lines.inner}, true, true);
                }
                if (HasFatalFailure()) return;
            }
        }
    });
}

TEST_P(DeviceRoutines, Partition) {
    for_all([&](device::Queue* queue, DType dtype) {
        const Lines lines{2, 3000, 2};
        const Host x = random_host(dtype, shape_of_lines(lines));
        const Memory values = fresh(queue, dtype, x.shape), sorted = fresh(cpu_queue(), dtype, x.shape);
        const std::vector<std::int64_t> kth = {3, 1500};
        routines::partition(queue, upload(queue, x), values, {}, lines, kth);
        routines::sort(cpu_queue(), upload(cpu_queue(), x), sorted, {}, lines, false);
        const Host got = download(queue, values), expected = download(cpu_queue(), sorted);
        visit(dtype, [&]<class T>(T) {
            for (std::int64_t o = 0; o < 2; ++o) {
                for (const std::int64_t k : kth) {
                    for (std::int64_t j = 0; j < 2; ++j) {
                        const std::int64_t at = (o * 3000 + k) * 2 + j;
                        ASSERT_TRUE(same(got.at<T>(at), expected.at<T>(at)));
                    }
                }
            }
        });
    });
}

TEST_P(DeviceRoutines, Searchsorted) {
    for_all([&](device::Queue* queue, DType dtype) {
        for (const std::int64_t n : {0, 1, 2, 1000, 4097}) {
            const Host x = random_host(dtype, {n}), wanted = random_host(dtype, {777});
            const Memory sorted = fresh(cpu_queue(), dtype, {n});
            if (n > 0) routines::sort(cpu_queue(), upload(cpu_queue(), x), sorted, {}, {1, n, 1}, false);
            const Memory table = upload(queue, download(cpu_queue(), sorted));
            for (const bool right : {false, true}) {
                const Memory got = fresh(queue, DType::Int64, {777}), expected = fresh(cpu_queue(), DType::Int64, {777});
                routines::searchsorted(queue, table, upload(queue, wanted), got, right);
                routines::searchsorted(cpu_queue(), sorted, upload(cpu_queue(), wanted), expected, right);
                expect_same(download(queue, got), download(cpu_queue(), expected));
            }
        }
    });
}

TEST_P(DeviceRoutines, Masks) {
    for_all([&](device::Queue* queue, DType dtype) {
        for (const Shape& shape : {Shape{1}, Shape{100}, Shape{16384}, Shape{16385}, Shape{100003}, Shape{7, 33, 101}, Shape{1, 5, 1, 7}}) {
            for (const std::int64_t shift : {0, 1}) {
                Host mask = random_host(DType::Bool, shape);
                if (shift)  // a stranger's bools
                    for (auto& byte : mask.bytes) byte = static_cast<std::uint8_t>(byte * (generator()() % 255 + 1));
                const Host x = random_host(dtype, shape);
                const std::int64_t blocks = routines::mask_blocks(mask.size()) + 1;
                const auto run = [&](device::Queue* on, std::vector<Host>& out) {
                    const Memory m = upload(on, mask, shift), counted = fresh(on, DType::Int64, {blocks});
                    const std::int64_t count = routines::count_mask(on, m, counted);
                    out.push_back(download(on, counted));
                    if (count == 0) return;
                    std::vector<Memory> positions;
                    for (int d = 0; d < shape.size(); ++d) positions.push_back(fresh(on, DType::Int64, {count}));
                    routines::nonzero(on, m, counted, positions);
                    for (const Memory& memory : positions) out.push_back(download(on, memory));
                    const Memory packed = fresh(on, dtype, {count}), target = upload(on, x);
                    routines::compress(on, target, m, counted, packed);
                    out.push_back(download(on, packed));
                    Memory turned = target;  // strides of a transposed array
                    if (shape.size() == 3 && shape[0] == 7) {
                        turned.strides[0] = 1;
                        turned.strides[1] = 7 * 101;
                        turned.strides[2] = 7;
                    }
                    Host values = out.back();
                    std::ranges::reverse(values.bytes);
                    if (dtype == DType::Bool || dtype_name(dtype)[0] == 'i' || dtype_name(dtype)[0] == 'u')
                        routines::put_mask(on, turned, m, counted, upload(on, values));
                    else
                        routines::put_mask(on, turned, m, counted, packed);
                    out.push_back(download(on, target));
                    Host one(dtype, {1});
                    routines::put_mask(on, turned, m, counted, upload(on, one));
                    out.push_back(download(on, target));
                };
                std::vector<Host> got, expected;
                run(queue, got);
                run(cpu_queue(), expected);
                ASSERT_EQ(got.size(), expected.size());
                for (std::size_t k = 0; k < got.size(); ++k) {
                    SCOPED_TRACE(::testing::Message() << "result " << k << " size " << mask.size());
                    expect_same(got[k], expected[k]);
                }
                if (HasFatalFailure()) return;
            }
        }
    });
}

TEST_P(DeviceRoutines, Runs) {
    for_all([&](device::Queue* queue, DType dtype) {
        for (const std::int64_t n : {1, 50, 20000, 70001}) {
            for (const bool equal_nan : {false, true}) {
                const Host x = random_host(dtype, {n}, true, 500);
                const Memory input = upload(cpu_queue(), x), order = fresh(cpu_queue(), DType::Int64, {n}),
                             sorted = fresh(cpu_queue(), dtype, {n});
                routines::sort(cpu_queue(), input, {}, order, {1, n, 1}, false);
                routines::take_along_axis(cpu_queue(), input, order, sorted, {1, n, 1}, n, {});
                const Host sorted_host = download(cpu_queue(), sorted), order_host = download(cpu_queue(), order);
                const auto run = [&](device::Queue* on, std::vector<Host>& out) {
                    const Memory keys = upload(on, sorted_host), blocks = fresh(on, DType::Int64, {routines::mask_blocks(n) + 1});
                    const std::int64_t count = routines::count_runs(on, keys, equal_nan, blocks);
                    const Memory values = fresh(on, dtype, {count}), only = fresh(on, dtype, {count}),
                                 first = fresh(on, DType::Int64, {count}), inverse = fresh(on, DType::Int64, {n}),
                                 counts = fresh(on, DType::Int64, {count});
                    routines::fill_runs(on, keys, {}, equal_nan, blocks, only, {}, {}, {});
                    routines::fill_runs(on, keys, upload(on, order_host), equal_nan, blocks, values, first, inverse, counts);
                    for (const Memory& memory : {values, only, first, inverse, counts}) out.push_back(download(on, memory));
                };
                std::vector<Host> got, expected;
                run(queue, got);
                run(cpu_queue(), expected);
                for (std::size_t k = 0; k < got.size(); ++k) expect_same(got[k], expected[k]);
                if (HasFatalFailure()) return;
            }
        }
    });
}

/// A base of a shape whose axes [first, first + axes) are indexed by `count` positions; reversed strides if asked.
struct IndexCase {
    Shape shape;
    int first, axes;
    std::int64_t count;
    bool reversed = false;
};

TEST_P(DeviceRoutines, GatherAndScatter) {
    const std::vector<IndexCase> cases = {{{1}, 0, 1, 1},
                                          {{1000}, 0, 1, 5003},
                                          {{100000}, 0, 1, 300},
                                          {{50, 7}, 0, 1, 40},
                                          {{5, 31, 4}, 1, 1, 70},
                                          {{9, 11}, 0, 2, 500},
                                          {{9, 11, 3}, 0, 2, 77, true},
                                          {{3, 4, 5, 2, 3, 2}, 2, 1, 9, true},
                                          {{300000, 2}, 0, 1, 11},
                                          {{2, 2, 2, 2, 2, 2, 2, 2}, 3, 1, 5, true},
                                          {{900, 900}, 0, 2, 1000}};
    for_all([&](device::Queue* queue, DType dtype) {
        for (const IndexCase& c : cases) {
            const Host x = random_host(dtype, c.shape);
            std::vector<Host> positions;
            for (int k = 0; k < c.axes; ++k) positions.push_back(index_host(c.count, c.shape[c.first + k]));
            routines::GatherPlan plan;
            plan.count = c.count;
            Strides strides(static_cast<std::size_t>(c.shape.size()), 1);
            std::int64_t step = 1;
            for (int d = c.shape.size() - 1; d >= 0; --d) {
                const int at = c.reversed ? c.shape.size() - 1 - d : d;  // Fortran's order
                strides[at] = step;
                step *= c.shape[at];
            }
            for (int d = 0; d < c.shape.size(); ++d) {
                if (d >= c.first && d < c.first + c.axes) {
                    plan.steps.push_back(strides[d]);
                    plan.sizes.push_back(c.shape[d]);
                } else {
                    (d < c.first ? plan.outer : plan.inner).push_back(c.shape[d]);
                    (d < c.first ? plan.outer_strides : plan.inner_strides).push_back(strides[d]);
                }
            }
            Shape result = plan.outer;
            result.push_back(c.count);
            result.append(plan.inner.begin(), plan.inner.end());
            const Host value = random_host(dtype, result), one = random_host(dtype, {1});
            const auto run = [&](device::Queue* on, std::vector<Host>& out) {
                std::vector<Memory> indices;
                for (const Host& host : positions) indices.push_back(upload(on, host));
                const Memory base = upload(on, x, 1), taken = fresh(on, dtype, result);
                routines::gather(on, base, indices, plan, taken);
                out.push_back(download(on, taken));
                routines::scatter(on, base, indices, plan, upload(on, value));
                out.push_back(download(on, base));
                routines::scatter(on, base, indices, plan, upload(on, one));
                out.push_back(download(on, base));
            };
            std::vector<Host> got, expected;
            run(queue, got);
            run(cpu_queue(), expected);
            for (std::size_t k = 0; k < got.size(); ++k) {
                SCOPED_TRACE(::testing::Message() << "result " << k << " size " << x.size());
                expect_same(got[k], expected[k]);
            }
            if (HasFatalFailure()) return;
        }
    });
}

TEST_P(DeviceRoutines, TakeAlongAxis) {
    for_all([&](device::Queue* queue, DType dtype) {
        const Lines lines{3, 50, 4};
        const Host x = random_host(dtype, shape_of_lines(lines)), indices = index_host(3 * 21 * 4, 50);
        const Memory got = fresh(queue, dtype, {3 * 21 * 4}), expected = fresh(cpu_queue(), dtype, {3 * 21 * 4});
        routines::take_along_axis(queue, upload(queue, x), upload(queue, indices), got, lines, 21, {});
        routines::take_along_axis(cpu_queue(), upload(cpu_queue(), x), upload(cpu_queue(), indices), expected, lines, 21, {});
        expect_same(download(queue, got), download(cpu_queue(), expected));
    });
}

/// What a gather says of one bad index among n.
TEST_P(DeviceRoutines, BadIndices) {
    for_all([&](device::Queue* queue, DType dtype) {
        if (dtype != DType::Int64) return;
        for (const std::int64_t n : {1, 1000, 500001}) {
            const Host good = index_host(n, 77);
            const Memory base = upload(queue, index_host(77, 1000));
            for (const std::int64_t bad : {std::int64_t{77}, std::int64_t{-78}}) {
                for (const std::int64_t at : {n - 1, n / 3}) {
                    Host indices = good;
                    std::memcpy(indices.bytes.data() + at * 8, &bad, 8);
                    const Memory positions = upload(queue, indices), out = fresh(queue, DType::Int64, {n});
                    routines::GatherPlan plan;
                    plan.count = n;
                    plan.steps.push_back(1);
                    plan.sizes.push_back(77);
                    plan.bounds = {"take", {{upload(queue, good), 77, 0}, {positions, 77, 3}}};
                    try {
                        routines::gather(queue, base, std::span(&positions, 1), plan, out);
                        queue->wait();
                        ADD_FAILURE() << "no error";
                    } catch (const Error& e) {
                        EXPECT_EQ(e.code(), ErrorCode::Index);
                        const std::string text = "take: index " + std::to_string(bad) + " is out of bounds for axis 3 with size 77";
                        EXPECT_EQ(e.message().substr(0, text.size()), text);
                    }
                }
            }
        }
    });
}

struct Product {
    Shape batch;
    std::int64_t rows, depth, columns;
};

/// Copies of matrices with rows and columns exchanged.
Host turned(const Host& x) {
    Host out = x;
    const int rank = x.shape.size();
    std::swap(out.shape[rank - 1], out.shape[rank - 2]);
    const std::int64_t rows = x.shape[rank - 2], columns = x.shape[rank - 1], item = itemsize(x.dtype);
    for (std::int64_t at = 0; at < x.size(); ++at) {
        const std::int64_t matrix = at / (rows * columns), row = at / columns % rows, column = at % columns;
        std::memcpy(out.bytes.data() + ((matrix * columns + column) * rows + row) * item, x.bytes.data() + at * item,
                    static_cast<std::size_t>(item));
    }
    return out;
}

TEST_P(LargeDeviceRoutines, Matmul) {
    const std::vector<Product> products = {{{}, 1, 1, 1},    {{}, 17, 33, 65},    {{}, 200, 300, 130},  {{}, 1, 700, 90},
                                           {{3}, 20, 7, 31}, {{2, 3}, 5, 19, 4},  {{}, 129, 513, 1},    {{}, 300, 20, 700},
                                           {{300}, 5, 4, 3}, {{257}, 16, 16, 16}, {{2, 130}, 1, 13, 9}, {{400}, 4, 4, 4}};
    for_all([&](device::Queue* queue, DType dtype) {
        for (const Product& p : products) {
            for (int layout = 0; layout < 4; ++layout) {
                const auto with = [&](std::int64_t a, std::int64_t b) {
                    Shape shape = p.batch;
                    shape.push_back(a);
                    shape.push_back(b);
                    return shape;
                };
                // Both orders of both operands, and one matrix for the whole batch.
                const bool turn_a = layout & 1, turn_b = layout & 2;
                const Host a = random_host(dtype, turn_a ? with(p.depth, p.rows) : with(p.rows, p.depth), false, 6);
                const Host b = random_host(dtype, turn_b ? with(p.columns, p.depth) : with(p.depth, p.columns), false, 6);
                const auto run = [&](device::Queue* on) {
                    // In the order it has, where the routine takes that; else turned.
                    const auto operand = [&](const Host& host, bool turn) {
                        Memory memory = upload(on, host);
                        if (!turn) return memory;
                        const int rank = memory.shape.size();
                        std::swap(memory.shape[rank - 1], memory.shape[rank - 2]);
                        std::swap(memory.strides[rank - 1], memory.strides[rank - 2]);
                        return routines::matmul_takes(on, memory) ? memory : upload(on, turned(host));
                    };
                    Memory left = operand(a, turn_a);
                    const Memory right = operand(b, turn_b);
                    if (layout == 3 && !p.batch.empty()) left.strides[0] = 0;
                    const Memory out = fresh(on, dtype, with(p.rows, p.columns));
                    routines::matmul(on, left, right, out);
                    return download(on, out);
                };
                expect_same(run(queue), run(cpu_queue()), tolerance_of(dtype));
                if (HasFatalFailure()) return;
            }
        }
    });
}

const auto name_of = [](const auto& info) { return std::string(dtype_name(info.param)); };
INSTANTIATE_TEST_SUITE_P(AllDtypes, DeviceRoutines, ::testing::ValuesIn(all_dtypes), name_of);
INSTANTIATE_TEST_SUITE_P(EachKind, LargeDeviceRoutines, ::testing::ValuesIn(each_kind), name_of);

}  // namespace pardo::test

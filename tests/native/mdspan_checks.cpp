// tests/native/mdspan_checks.cpp: elements as std::mdspan, for tests/python/test_native_mdspan.py.
#include <pardo/native.hpp>

#ifndef __cpp_lib_mdspan
#error "this compiler's library has no std::mdspan"
#endif

namespace pn = pardo::native;

/// y[j, i] = 10 x[i, j], by views with any strides; twice the sum of z goes to z[0]. 0, or what last_error says.
extern "C" int transpose(const pardo_api* api, pardo_queue queue, pardo_array x, pardo_array y, pardo_array z) {
    pn::table = api;
    const auto transposed = [](const pn::work& w) {
        const auto in = w.elements<const double, 2>(0).mdspan();
        const auto out = w.elements<double, 2>(1).mdspan();
        const auto row = w.elements<double, 1>(2).mdspan();
        static_assert(in.rank() == 2 && row.rank() == 1);
        using At = std::array<std::int64_t, 2>;
        for (std::int64_t i = 0; i < in.extent(0); ++i)
            for (std::int64_t j = 0; j < in.extent(1); ++j) out[At{j, i}] = 10 * in[At{i, j}];
        double sum = 0;
        for (std::int64_t i = 0; i < row.extent(0); ++i) sum += row[std::array<std::int64_t, 1>{i}];
        row[std::array<std::int64_t, 1>{0}] = 2 * sum;
        if (in.stride(1) != w.info(0).strides[1]) throw pn::error(PARDO_E_VALUE, "transpose: another stride");
    };
    return pn::guarded([&] {
        const pn::array a = pn::borrow<pn::array>(x), b = pn::borrow<pn::array>(y), c = pn::borrow<pn::array>(z);
        pn::submit(pn::borrow<pn::queue>(queue), {pn::read(a), pn::discard(b), pn::update(c)}, transposed, {"transpose"}).wait();
    });
}

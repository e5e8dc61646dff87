// examples/cpp/black_scholes.cpp: prices of a million European options with pardo's C++ API, checked against a plain loop.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <tuple>
#include <utility>
#include <vector>

#include <pardo/array.h>
#include <pardo/device.h>
#include <pardo/ops.h>

#include "timing.h"

namespace {

constexpr double rate = 0.02, volatility = 0.3;

/// Call and put for one option (Black and Scholes 1973), the plain way.
std::pair<double, double> plain(double price, double strike, double years) {
    const double width = volatility * std::sqrt(years);
    const double d1 = (std::log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / width;
    const double d2 = d1 - width;
    const auto normal = [](double d) { return 0.5 + 0.5 * std::erf(d / std::numbers::sqrt2); };
    const double discounted = strike * std::exp(-rate * years);
    const double call = price * normal(d1) - discounted * normal(d2);
    return {call, call - price + discounted};
}

pardo::Array normal(const pardo::Array& d) { return 0.5 + 0.5 * pardo::erf(d * (1 / std::numbers::sqrt2)); }

/// The same on arrays: records the formula; nothing is computed here.
std::pair<pardo::Array, pardo::Array> fused(const pardo::Array& price, const pardo::Array& strike, const pardo::Array& years) {
    const pardo::Array width = volatility * pardo::sqrt(years);
    const pardo::Array d1 = (pardo::log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / width;
    const pardo::Array d2 = d1 - width;
    const pardo::Array discounted = strike * pardo::exp(-rate * years);
    const pardo::Array call = price * normal(d1) - discounted * normal(d2);
    return {call, call - price + discounted};
}

}  // namespace

int main() {
    constexpr std::int64_t n = 1'000'000;
    std::vector<double> price(n), strike(n), years(n), call(n), put(n);
    for (std::int64_t i = 0; i < n; ++i) {
        price[i] = 10 + 90 * std::fmod(i * 0.6180339887, 1.0);
        strike[i] = 10 + 90 * std::fmod(i * 0.7548776662, 1.0);
        years[i] = 0.1 + 3 * std::fmod(i * 0.5698402910, 1.0);
    }
    const double plain_ms = best_ms(3, [&] {
        for (std::int64_t i = 0; i < n; ++i) std::tie(call[i], put[i]) = plain(price[i], strike[i], years[i]);
    });

    const pardo::Array p = pardo::array(price), k = pardo::array(strike), t = pardo::array(years);
    pardo::Array calls, puts;
    const double fused_ms = best_ms(5, [&] {
        std::tie(calls, puts) = fused(p, k, t);
        pardo::force({calls, puts});
        calls.wait();
    });

    double difference = 0;
    const std::vector<double> c = calls.to_vector<double>(), q = puts.to_vector<double>();
    for (std::int64_t i = 0; i < n; ++i) difference = std::max({difference, std::abs(c[i] - call[i]), std::abs(q[i] - put[i])});
    std::printf("%s: %lld options, plain loop %.1f ms, pardo %.1f ms, largest difference %.2g\n", p.device().id().c_str(),
                static_cast<long long>(n), plain_ms, fused_ms, difference);
    return difference < 1e-10 ? 0 : 1;
}

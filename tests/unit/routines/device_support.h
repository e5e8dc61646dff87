// tests/unit/routines/device_support.h: the devices that compile text, and memory on them, to compare their routines with the CPU's.
#pragma once

#include <algorithm>
#include <functional>

#include "routines/device/task.h"
#include "routines/routines.h"
#include "support.h"

namespace pardo::test {

using routines::Lines;
using routines::Memory;

/// Queues of all devices whose routines are those of routines/device.
inline std::vector<device::Queue*> text_queues() {
    std::vector<device::Queue*> queues;
    for (const char* backend : {"opencl", "cuda"}) {
        for (device::Device* device : device::visible_devices(backend)) queues.push_back(device->queue());
    }
    return queues;
}
inline device::Queue* cpu_queue() { return device::select("cpu")->queue(); }

constexpr DType all_dtypes[] = {DType::Bool,     DType::Int8,    DType::Int16,   DType::Int32,     DType::Int64,
                                DType::UInt8,    DType::UInt16,  DType::UInt32,  DType::UInt64,    DType::Float16,
                                DType::BFloat16, DType::Float32, DType::Float64, DType::Complex64, DType::Complex128};

template <class F> decltype(auto) visit(DType dtype, F&& f) {
    switch (dtype) {
        case DType::Bool:
        case DType::UInt8: return f(std::uint8_t());
        case DType::Int8: return f(std::int8_t());
        case DType::Int16: return f(std::int16_t());
        case DType::Int32: return f(std::int32_t());
        case DType::Int64: return f(std::int64_t());
        case DType::UInt16: return f(std::uint16_t());
        case DType::UInt32: return f(std::uint32_t());
        case DType::UInt64: return f(std::uint64_t());
        case DType::Float16: return f(Half());
        case DType::BFloat16: return f(BFloat16());
        case DType::Float32: return f(float());
        case DType::Float64: return f(double());
        case DType::Complex64: return f(std::complex<float>());
        default: return f(std::complex<double>());
    }
}

/// An array's bytes on the host.
struct Host {
    DType dtype;
    Shape shape;
    std::vector<std::uint8_t> bytes;

    Host(DType d, Shape s) : dtype(d), shape(std::move(s)), bytes(static_cast<std::size_t>(element_count(shape) * itemsize(d))) {}
    std::int64_t size() const { return element_count(shape); }
    template <class T> T at(std::int64_t i) const {
        T value;
        std::memcpy(&value, bytes.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
        return value;
    }
};
inline Host random_host(DType dtype, Shape shape, bool special = true, int range = 1000) {
    Host host(dtype, std::move(shape));
    visit(dtype, [&]<class T>(T) {
        auto values = random_values<T>(host.size(), special, range);
        if constexpr (std::is_same_v<T, std::uint8_t>) {
            if (dtype == DType::Bool) {
                for (auto& v : values) v &= 1;
            }
        }
        if (!values.empty()) std::memcpy(host.bytes.data(), values.data(), host.bytes.size());
    });
    return host;
}
inline Host index_host(std::int64_t n, std::int64_t size, bool negative = true) {
    Host host(DType::Int64, Shape{n});
    for (std::int64_t i = 0; i < n; ++i) {
        std::int64_t value = static_cast<std::int64_t>(generator()() % static_cast<std::uint64_t>(size));
        if (negative && generator()() % 3 == 0) value -= size;
        std::memcpy(host.bytes.data() + i * 8, &value, 8);
    }
    return host;
}

/// Row-major memory with a host array's contents, `shift` elements into a buffer.
inline Memory upload(device::Queue* queue, const Host& host, std::int64_t shift = 0) {
    const auto item = static_cast<std::size_t>(itemsize(host.dtype));
    Memory memory{queue->device()->allocate(std::max<std::size_t>(host.bytes.size(), 1) + static_cast<std::size_t>(shift) * item,
                                            MemoryKind::Device, queue),
                  host.dtype, host.shape, Strides{}, shift};
    std::int64_t step = 1;
    memory.strides.assign(host.shape.size(), 1);
    for (int d = host.shape.size() - 1; d >= 0; --d) {
        memory.strides[d] = step;
        step *= host.shape[d];
    }
    if (!host.bytes.empty())
        queue->write(memory.buffer.get(), static_cast<std::size_t>(shift) * item, host.bytes.data(), host.bytes.size());
    return memory;
}
inline Memory fresh(device::Queue* queue, DType dtype, Shape shape) { return upload(queue, Host(dtype, std::move(shape))); }
inline Host download(device::Queue* queue, const Memory& memory) {
    Host host(memory.dtype, memory.shape);
    queue->wait();
    if (!host.bytes.empty())
        queue->read(host.bytes.data(), memory.buffer.get(), static_cast<std::size_t>(memory.offset * itemsize(memory.dtype)),
                    host.bytes.size());
    return host;
}

/// Equal as NumPy compares, NaNs being equal; floats may differ by `tolerance` of the largest magnitude.
inline void expect_same(const Host& got, const Host& expected, double tolerance = 0) {
    ASSERT_EQ(got.size(), expected.size());
    visit(got.dtype, [&]<class T>(T) {
        const auto magnitude = [](auto value) -> double {
            if constexpr (std::is_integral_v<decltype(value)>)
                return 0;
            else
                return static_cast<double>(std::abs(value));
        };
        double largest = 1e-30;
        for (std::int64_t i = 0; i < got.size() && tolerance > 0; ++i) {
            const double size = magnitude(plain(expected.at<T>(i)));
            if (std::isfinite(size)) largest = std::max(largest, size);
        }
        for (std::int64_t i = 0; i < got.size(); ++i) {
            const T a = got.at<T>(i), b = expected.at<T>(i);
            if (same(a, b)) continue;
            if (tolerance > 0 && magnitude(plain(a) - plain(b)) <= tolerance * largest) continue;
            FAIL() << dtype_name(got.dtype) << " element " << i << " of " << got.size();
        }
    });
}

}  // namespace pardo::test

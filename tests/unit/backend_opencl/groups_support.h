// tests/unit/backend_opencl/groups_support.h: runs kernels of the IR with host arrays as arguments, on every device that takes C.
#pragma once

#include <cstring>
#include <functional>
#include <numeric>

#include "emit/c/geometry.h"
#include "ir/builder.h"
#include "ir/rules.h"
#include "support.h"

namespace pardo::opencl {

using ir::Access;
using ir::AtomicOp;
using ir::Space;
using ir::Value;
using Values = ir::Builder::Values;

constexpr DType i32 = DType::Int32, i64 = DType::Int64, u32 = DType::UInt32, u64 = DType::UInt64, f32 = DType::Float32,
                f64 = DType::Float64;

inline std::vector<device::Device*> c_devices() {
    std::vector<device::Device*> all = devices();
    for (device::Device* d : device::visible_devices("cuda")) all.push_back(d);
    return all;
}

/// PoCL's compiler makes wrong code of barriers in conditions; such kernels are refused.
inline bool takes_conditional_barriers(device::Device* d) { return d->info().platform != "Portable Computing Language"; }

class Groups : public testing::Test {
protected:
    void SetUp() override {
        if (c_devices().empty()) GTEST_SKIP() << no_devices();
    }
    template <class F> void on_each(F f) {
        for (device::Device* d : c_devices()) {
            SCOPED_TRACE(d->id() + " " + d->info().platform);
            f(d);
        }
    }
};

/// The arguments of one launch: arrays are copied to the device and back.
class Arguments {
public:
    explicit Arguments(device::Device* d) : d_(d) {}
    template <class T> Arguments& array(std::vector<T>& values) {
        const std::size_t bytes = values.size() * sizeof(T);
        Ref<device::Buffer> b = d_->allocate(bytes, MemoryKind::Device, d_->queue());
        d_->queue()->write(b.get(), 0, values.data(), bytes);
        slots_.push_back(reinterpret_cast<std::uint64_t>(b->data()));
        uses_.push_back({b.get(), device::Access::ReadWrite});
        back_.emplace_back([this, b, &values, bytes] { d_->queue()->read(values.data(), b.get(), 0, bytes); });
        buffers_.push_back(b);
        return *this;
    }
    template <class T> Arguments& scalar(T value) {
        std::uint64_t slot = 0;
        std::memcpy(&slot, &value, sizeof value);
        slots_.push_back(slot);
        return *this;
    }
    void run(const ir::Kernel& kernel, const std::vector<std::int64_t>& extents) {
        run(kernel, extents, d_->shape_class(kernel, {.extents = extents}));
    }
    void run(const ir::Kernel& kernel, const std::vector<std::int64_t>& extents, device::ShapeClass shape) {
        const Ref<device::Program> program = d_->compile(kernel, shape);
        device::Launch l;
        l.program = program.get();
        l.extents = extents;
        l.args = slots_;
        l.uses = uses_;
        d_->queue()->launch(l).wait();
        for (const auto& f : back_) f();
    }

private:
    device::Device* d_;
    std::vector<std::uint64_t> slots_;
    std::vector<device::BufferUse> uses_;
    std::vector<Ref<device::Buffer>> buffers_;
    std::vector<std::function<void()>> back_;
};

/// A kernel in groups.
inline ir::Builder in_groups(const char* name, std::initializer_list<std::int64_t> size) {
    ir::Builder m(name, static_cast<int>(size.size()), true);
    m.set_groups(std::span<const std::int64_t>(size.begin(), size.size()));
    return m;
}

inline void when(ir::Builder& m, Value condition, const std::function<void()>& then) {
    m.if_else(
        condition,
        [&] {
            then();
            return Values();
        },
        [] { return Values(); });
}

inline void repeat(ir::Builder& m, Value lower, Value upper, const std::function<void(Value)>& body) {
    m.for_loop(lower, upper, m.i64(1), {}, [&](Value k, std::span<const Value>) {
        body(k);
        return Values();
    });
}

}  // namespace pardo::opencl

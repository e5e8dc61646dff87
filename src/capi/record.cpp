// src/capi/record.cpp: native code as a node: recorded with a shape rule, computed when its results are needed.
#include <memory>
#include <string>
#include <vector>

#include "array/call.h"
#include "array/record.h"
#include "capi/functions.h"
#include "capi/handle.h"
#include "capi/work.h"

namespace pardo::capi {
namespace {

/// In the graph lock native code must not run: so much work is handed to a thread.
constexpr double handed_over_ns = 2e6;

struct RecordedCall final : arrays::ArrayCall {
    RecordedCall(const Ref<device::Queue>& on, const Ref<NativeFunction>& code, NativeOptions with, std::vector<graph::ResultType> results)
        : ArrayCall("native call"), queue(on), function(code), options(std::move(with)), types(std::move(results)) {
        options.cost_ns = std::max(options.cost_ns, handed_over_ns);
    }

    void compute(std::span<const Array> inputs, std::span<Array> results) const override {
        std::vector<NativeUse> uses;
        for (const Array& x : inputs) uses.push_back({x.node(), device::Access::Read});
        for (std::size_t k = 0; k < types.size(); ++k) {
            results[k] = arrays::make_empty(queue.get(), types[k].dtype, types[k].shape, options.name.str().c_str());
            uses.push_back({results[k].node(), device::Access::Write});
        }
        const device::LocationScope line(location);
        (void)submit_native(queue, std::move(uses), function, options);
    }
    graph::ImplementationChoice implementation(std::span<const graph::CallInput>) const override { return {options.name.str(), {}, false}; }

    const Ref<device::Queue> queue;
    const Ref<NativeFunction> function;
    NativeOptions options;
    const std::vector<graph::ResultType> types;
};

std::vector<graph::ResultType> types_of(pardo_shape_fn shape, const std::vector<pardo_array_info>& inputs, std::size_t count,
                                        const NativeFunction& function, const std::string& name) {
    const auto results = std::make_unique<pardo_result[]>(count);
    forget_error();
    const pardo_status status = shape(inputs.data(), inputs.size(), results.get(), count, function.user());
    if (status != PARDO_OK) {
        if (has_error()) throw own_error();
        throw error_of(status, name + ": the shape function gave " + std::to_string(status));
    }
    std::vector<graph::ResultType> types;
    for (std::size_t k = 0; k < count; ++k) {
        const pardo_result& result = results[k];
        const DType dtype = dtype_of(name.c_str(), result.dtype);
        bool wrong = result.ndim < 0 || result.ndim > PARDO_MAX_NDIM;
        for (int d = 0; !wrong && d < result.ndim; ++d) wrong = result.shape[d] < 0;
        if (wrong) throw Error(ErrorCode::Value, name + ": the shape function gave result " + std::to_string(k) + " no shape");
        const Shape extents(std::span(result.shape, static_cast<std::size_t>(result.ndim)));
        (void)graph::byte_count(dtype, extents, name.c_str());
        types.push_back({dtype, extents});
    }
    return types;
}

}  // namespace

pardo_status record(pardo_queue queue, const pardo_array* inputs, size_t n_inputs, size_t n_results, pardo_shape_fn shape, pardo_work_fn fn,
                    void* user, const pardo_submit_options* options, pardo_array* results) {
    return guarded("record", [&] {
        const pardo_submit_options given = options_of("record", options);
        const Ref<NativeFunction> function(new NativeFunction(fn, user, given.destroy));
        require("record", reinterpret_cast<const void*>(fn), "fn");
        require("record", reinterpret_cast<const void*>(shape), "shape");
        if (n_inputs > 0) require("record", inputs, "inputs");
        require("record", results, "results");
        if (n_results == 0) throw Error(ErrorCode::Value, "record: a call has at least one result; submit is for work without");
        const Ref<device::Queue> own(as_queue("record", queue));
        NativeOptions with = options_from("record", given);
        const std::string name = with.name.str();
        std::vector<Array> read;
        std::vector<pardo_array_info> infos;
        for (size_t k = 0; k < n_inputs; ++k) {
            Array x(as_node("record", inputs[k]));
            if (x.node()->queue.get() != own.get())
                throw Error(ErrorCode::Placement, name + ": an array is of another queue, of " + x.device().id() +
                                                      "; bring it with x.to_device(device), or record on its queue");
            infos.push_back(info_of(x.node()));
            read.push_back(std::move(x));
        }
        const std::vector<graph::ResultType> types = types_of(shape, infos, n_results, *function, name);
        const Ref<RecordedCall> call(new RecordedCall(own, function, std::move(with), types));
        std::vector<Array> made(n_results);
        if (n_inputs == 0 || n_inputs > graph::Call::most_inputs || n_results > graph::Call::most_results) {
            for (const Array& x : read) x.force();
            call->location = device::current_location();
            call->compute(read, made);
        } else {
            arrays::record(call, read, types, made.data());
        }
        for (size_t k = 0; k < n_results; ++k) results[k] = give(made[k].node());
    });
}

}  // namespace pardo::capi

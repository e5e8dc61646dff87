// src/capi/record.cpp: native code as a node: recorded with a shape rule, computed when its results are needed.
#include <algorithm>
#include <memory>
#include <mutex>
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

/// A call with more arrays than a node has: nodes that share it, of which the first that runs computes it for all. So what is written to
/// one of its inputs, which computes the readers of that first, computes the call.
struct ManyArrays : RefCounted<ManyArrays> {
    ManyArrays(const Ref<RecordedCall>& of, std::vector<Array> from) : call(of), inputs(std::move(from)) {}

    /// With the graph lock, which is let go of where inputs are to be compiled: another thread may come first.
    void compute() {
        for (const Array& x : std::vector<Array>(inputs)) x.force();
        if (computed) return;
        std::vector<Array> made(call->types.size());
        call->compute(inputs, made);
        results = std::move(made);
        computed = true;
        inputs.clear();
    }

    const Ref<RecordedCall> call;
    std::vector<Array> inputs, results;
    bool computed = false;
};

/// Some of its inputs, as the graph sees them; the result, of one element without a value, says that the call has been computed.
struct SomeInputs final : arrays::ArrayCall {
    explicit SomeInputs(const Ref<ManyArrays>& of) : ArrayCall("native call"), whole(of) { location = of->call->location; }
    void compute(std::span<const Array> given, std::span<Array> results) const override {
        whole->compute();
        results[0] = arrays::make_empty(given[0].node()->queue.get(), DType::Bool, Shape{1});
    }
    graph::ImplementationChoice implementation(std::span<const graph::CallInput>) const override {
        return {whole->call->options.name.str() + " (inputs)", {}, false};
    }
    const Ref<ManyArrays> whole;
};

/// Some of its results.
struct SomeResults final : arrays::ArrayCall {
    SomeResults(const Ref<ManyArrays>& of, std::size_t from) : ArrayCall("native call"), whole(of), first(from) {
        location = of->call->location;
    }
    void compute(std::span<const Array>, std::span<Array> results) const override {
        whole->compute();
        const auto end = std::min(first + results.size(), whole->results.size());
        std::move(whole->results.begin() + static_cast<std::ptrdiff_t>(first), whole->results.begin() + static_cast<std::ptrdiff_t>(end),
                  results.begin());
    }
    graph::ImplementationChoice implementation(std::span<const graph::CallInput>) const override { return whole->call->implementation({}); }
    const Ref<ManyArrays> whole;
    const std::size_t first;
};

void record_node(const Ref<arrays::ArrayCall>& call, std::span<const Array> inputs, std::span<const graph::ResultType> types,
                 Array* results) {
    std::array<graph::Node*, graph::Call::most_inputs> nodes{};
    std::array<Ref<graph::Node>, graph::Call::most_results> made;
    std::ranges::transform(inputs, nodes.begin(), [](const Array& x) { return x.node(); });
    const std::lock_guard lock(graph::state_of(nodes[0]->queue.get()).lock);
    graph::make_call(call, {nodes.data(), inputs.size()}, types, made.data());
    for (std::size_t k = 0; k < types.size(); ++k) results[k] = arrays::finish(std::move(made[k]));
}

/// Levels of nodes, each of which stands for up to `most_inputs` of the level below, until a node can have what is left.
void record_many(const Ref<RecordedCall>& call, device::Queue* queue, const std::vector<Array>& inputs, std::vector<Array>& results) {
    constexpr std::size_t most_inputs = graph::Call::most_inputs, most_results = graph::Call::most_results;
    call->location = device::current_location();
    for (const Array& x : inputs) arrays::arrive(x);
    const Ref<ManyArrays> whole(new ManyArrays(call, inputs));
    std::vector<Array> level = inputs;
    if (level.empty()) level.push_back(arrays::make_empty(queue, DType::Bool, Shape{1}));
    while (level.size() > most_inputs) {
        std::vector<Array> above;
        for (std::size_t k = 0; k < level.size(); k += most_inputs) {
            const std::span some = std::span(level).subspan(k, std::min(most_inputs, level.size() - k));
            const graph::ResultType type{DType::Bool, Shape{1}};
            record_node(Ref<arrays::ArrayCall>(new SomeInputs(whole)), some, {&type, 1}, &above.emplace_back());
        }
        level = std::move(above);
    }
    for (std::size_t k = 0; k < results.size(); k += most_results) {
        const std::size_t count = std::min(most_results, results.size() - k);
        record_node(Ref<arrays::ArrayCall>(new SomeResults(whole, k)), level, std::span(call->types).subspan(k, count), &results[k]);
    }
}

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
            record_many(call, own.get(), read, made);
        } else {
            arrays::record(call, read, types, made.data());
        }
        for (size_t k = 0; k < n_results; ++k) results[k] = give(made[k].node());
    });
}

}  // namespace pardo::capi

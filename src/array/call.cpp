// src/array/call.cpp: records operations that are not one fused loop.
#include "array/call.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <mutex>
#include <vector>

#include "array/float_errors.h"
#include "array/record.h"
#include "device/device.h"
#include "device/event.h"

namespace pardo::arrays {

namespace {

// Fewer elements than that in memory are worked on sooner than a node pays for itself: a product of 4 by 4 matrices takes 0.85 us at once,
// 1.4 by a node.
constexpr std::int64_t worth_a_node = 1024;

bool is_small(std::span<const Array> inputs, std::span<const ResultType> types) {
    std::int64_t elements = 0;
    for (const Array& x : inputs) elements += x.pending() ? worth_a_node : std::min(x.size(), worth_a_node);
    for (const ResultType& type : types) elements += std::min(element_count(type.shape), worth_a_node);
    return elements < worth_a_node;
}

void ask(const Call& call, std::span<const Array> inputs, std::span<const ResultType> types) {
    device::Queue* const queue = inputs[0].node()->queue.get();
    // Nothing is computed, and nothing copied, where there are no elements.
    const auto nothing = [](const ResultType& type) { return element_count(type.shape) == 0; };
    if (!graph::TransferQuestion::wanted(queue) || std::ranges::any_of(types, nothing)) return;
    std::vector<CallInput> described;
    std::int64_t bytes = 0;
    for (const Array& x : inputs) {
        const Node* node = x.node();
        described.push_back({node, node->pending() ? contiguous_strides(node->shape) : node->strides});
        bytes += x.size() * itemsize(x.dtype());
    }
    graph::TransferQuestion::ask(call.name, bytes, queue, call.implementation(described));
}

}  // namespace

void ArrayCall::run(std::span<Node* const> inputs, std::span<Ref<Node>> results) const {
    const NoFloatErrors unwatched;
    std::array<Array, most_inputs> given;
    std::array<Array, most_results> made;
    for (std::size_t i = 0; i < inputs.size(); ++i) given[i] = Array(inputs[i]);
    compute(std::span(given).first(inputs.size()), made);
    for (std::size_t k = 0; k < results.size(); ++k) results[k] = made[k].node();
}

void record(const Ref<ArrayCall>& call, std::span<const Array> inputs, std::span<const ResultType> types, Array* results) {
    assert(inputs.size() <= Call::most_inputs && types.size() <= Call::most_results);
    for (const Array& x : inputs) arrive(x);
    ask(*call, inputs, types);
    if (is_small(inputs, types) && !state_of(inputs[0].node()->queue.get()).capture) return call->compute(inputs, {results, types.size()});
    std::array<Node*, Call::most_inputs> nodes{};
    std::array<Ref<Node>, Call::most_results> made;
    for (std::size_t i = 0; i < inputs.size(); ++i) nodes[i] = inputs[i].node();
    call->location = device::current_location();
    std::lock_guard guard(state_of(nodes[0]->queue.get()).lock);
    graph::make_call(call, {nodes.data(), inputs.size()}, types, made.data());
    for (std::size_t k = 0; k < types.size(); ++k) results[k] = finish(std::move(made[k]));
}

Array record(const Ref<ArrayCall>& call, std::span<const Array> inputs, const ResultType& type) {
    Array result;
    record(call, inputs, std::span(&type, 1), &result);
    return result;
}

std::pair<Array, Array> record(const Ref<ArrayCall>& call, std::span<const Array> inputs, const ResultType& first,
                               const ResultType& second) {
    const ResultType types[] = {first, second};
    Array results[2];
    record(call, inputs, types, results);
    return {std::move(results[0]), std::move(results[1])};
}

}  // namespace pardo::arrays

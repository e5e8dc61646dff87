// src/launch/variant.cpp: makes variants of kernels, and finds the one for a launch.
#include "launch/variant.h"

#include <algorithm>

#include "launch/lock.h"

namespace pardo::launch {
namespace {

/// In addition to the one that checks everything.
constexpr std::size_t most_variants = 4;

bool implies(const std::vector<bool>& holds, const std::vector<bool>& held) {
    for (std::size_t k = 0; k < held.size(); ++k)
        if (held[k] && !holds[k]) return false;
    return true;
}

}  // namespace

Variants::Variants(const lang::Lowered& lowered) : lowered_(lowered), program_(ir::range_program(lowered.kernel)) {}

Variant& Variants::made(std::vector<bool> held) {
    auto variant = std::make_unique<Variant>();
    variant->kernel = ir::resolve_checks(lowered_.kernel, program_, held);
    variant->held = std::move(held);
    variant->slots = lowered_.slots;
    variant->reports = lowered_.reads_status || ir::reports(variant->kernel);
    const auto status = std::ranges::find(variant->slots, lang::Slot::Kind::Status, &lang::Slot::kind);
    if (!variant->reports && status != variant->slots.end()) {
        variant->kernel = ir::without_param(variant->kernel, static_cast<std::size_t>(status - variant->slots.begin()));
        variant->slots.erase(status);
    }
    variant->cost = Cost(variant->kernel);
    all_.push_back(std::move(variant));
    return *all_.back();
}

Variant& Variants::choose(const Inputs& inputs) {
    const std::lock_guard lock(lock_of(this));
    if (last_ && std::ranges::equal(last_inputs_, inputs)) return *last_;
    std::vector<bool> holds = program_.evaluate(inputs);
    const auto count = [](const std::vector<bool>& bits) { return std::ranges::count(bits, true); };
    Variant* best = nullptr;
    for (const auto& variant : all_)
        if (implies(holds, variant->held) && (!best || count(variant->held) > count(best->held))) best = variant.get();
    if (!best || count(best->held) < count(holds)) {
        if (all_.size() < most_variants)
            best = &made(std::move(holds));
        else if (!best)
            best = &made(std::vector<bool>(holds.size(), false));
    }
    last_inputs_ = inputs;
    last_ = best;
    return *best;
}

Variant& Variants::shown() {
    const std::lock_guard lock(lock_of(this));
    if (last_) return *last_;
    return all_.empty() ? made(std::vector<bool>(program_.checks.size(), false)) : *all_.front();
}

}  // namespace pardo::launch

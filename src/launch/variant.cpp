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

/// What each parameter takes, and what becomes of the memory behind the arguments, the results, the status block and the log.
device::Signature signature_of(const lang::Lowered& lowered, const Variant& variant) {
    using Kind = lang::Slot::Kind;
    using Role = device::Signature::Role;
    using device::Access;
    const LaunchValues values(lowered.accesses.size());
    device::Signature out;
    for (std::size_t k = 0; k < lowered.accesses.size(); ++k) {
        // A launch knows whether all elements of what is only written are.
        const auto access = static_cast<Access>(lowered.accesses[k]);
        if (lowered.used[k]) out.use(static_cast<std::uint32_t>(k), access == Access::Write ? Access::WriteSome : access);
    }
    for (std::size_t k = 0; k < lowered.results.size(); ++k) out.use(values.results + static_cast<std::uint32_t>(k), Access::Write);
    if (variant.reports) out.use(values.status, Access::ReadWrite);
    if (!lowered.prints.empty()) out.use(values.log, Access::ReadWrite);
    for (std::size_t k = 0; k < variant.slots.size(); ++k) {
        const lang::Slot& slot = variant.slots[k];
        const auto argument = static_cast<std::uint32_t>(slot.argument);
        switch (slot.kind) {
            case Kind::Pointer:
                // An array that the program does not touch is not among its uses; drivers that know memory by handles would not find its
                // address.
                if (lowered.used[argument])
                    out.add(Role::Address, argument);
                else
                    out.add_fixed(0);
                break;
            case Kind::Extent: out.add(Role::Extent, argument, slot.dimension); break;
            case Kind::Stride: out.add(Role::Stride, argument, slot.dimension); break;
            case Kind::Number: out.add(Role::Number, argument, 0, variant.kernel.params[k].type); break;
            case Kind::Status: out.add(Role::Address, values.status); break;
            case Kind::Log:
            case Kind::LogReal: out.add(Role::Address, values.log); break;
            case Kind::Count: out.add(Role::Number, values.count); break;
            case Kind::Block: out.add(Role::Number, values.block); break;
            case Kind::Result: out.add(Role::Address, values.results + argument); break;
        }
    }
    return out;
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
    variant->signature = signature_of(lowered_, *variant);
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

// src/plan/plan_cache.cpp: finished plans by signature.
#include <cstring>
#include <utility>

#include "base/fork.h"
#include "plan/plan.h"

namespace pardo::plan {
namespace {

constexpr std::size_t table_size = 2 * PlanCache::most_plans;  // a power of two

}  // namespace

bool Plan::is(std::span<const std::uint8_t> other, std::uint64_t its_hash) const {
    return hash == its_hash && key.size() == other.size() && std::memcmp(key.data(), other.data(), key.size()) == 0;
}

PlanCache::PlanCache() : table_(table_size) {}

std::size_t PlanCache::slot(std::span<const std::uint8_t> key, std::uint64_t hash) const {
    std::size_t at = hash & (table_size - 1);
    while (table_[at] != 0 && !entries_[table_[at] - 1u]->is(key, hash)) at = (at + 1) & (table_size - 1);
    return at;
}

Ref<const Plan> PlanCache::find(std::span<const std::uint8_t> key, std::uint64_t hash) {
    const std::lock_guard lock(mutex_);
    const std::uint16_t place = table_[slot(key, hash)];
    if (place == 0) return nullptr;
    const Ref<const Plan>& plan = entries_[place - 1u];
    plan->note_use();
    return plan;
}

std::size_t PlanCache::evict() {
    for (; entries_[hand_]->used; hand_ = (hand_ + 1) % entries_.size()) entries_[hand_]->used = false;
    const std::size_t place = hand_;
    hand_ = (hand_ + 1) % entries_.size();
    // Those after the gap move up, unless that would take them before where their search begins.
    std::size_t gap = slot(entries_[place]->key, entries_[place]->hash);
    for (std::size_t at = (gap + 1) & (table_size - 1); table_[at] != 0; at = (at + 1) & (table_size - 1)) {
        const std::size_t home = entries_[table_[at] - 1u]->hash & (table_size - 1);
        if (((at - home) & (table_size - 1)) < ((at - gap) & (table_size - 1))) continue;
        table_[gap] = table_[at];
        gap = at;
    }
    table_[gap] = 0;
    return place;
}

Ref<const Plan> PlanCache::add(Ref<const Plan> plan) {
    Ref<const Plan> gone;  // after the lock
    const std::lock_guard lock(mutex_);
    if (const std::uint16_t known = table_[slot(plan->key, plan->hash)]) return entries_[known - 1u];
    std::size_t place = entries_.size();
    if (place == most_plans) {
        place = evict();
    } else {
        entries_.emplace_back();
    }
    table_[slot(plan->key, plan->hash)] = static_cast<std::uint16_t>(place + 1);
    gone = std::exchange(entries_[place], plan);
    return plan;
}

std::size_t PlanCache::size() {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

Ref<const Plan> PlanCache::adapt(const Subgraph& subgraph, std::uint64_t hash, const PlanClass& kind, device::Device* device) {
    std::vector<Ref<const AdaptablePlan>> known;
    {
        const std::lock_guard lock(mutex_);
        const auto found = classes_.find(hash128(kind.key.data(), kind.key.size()));
        if (found != classes_.end()) known = found->second;
    }
    for (const Ref<const AdaptablePlan>& plan : known) {
        if (Ref<const Plan> adapted = plan->adapted(subgraph, hash, kind.numbers, device)) return add(std::move(adapted));
    }
    return nullptr;
}

void PlanCache::add_adaptable(const PlanClass& kind, Ref<const AdaptablePlan> plan) {
    std::vector<Ref<const AdaptablePlan>> gone;  // after the lock
    const Hash128 key = hash128(kind.key.data(), kind.key.size());
    const std::lock_guard lock(mutex_);
    if (!classes_.contains(key)) {
        if (class_order_.size() == most_classes) {  // the oldest goes; it is made again
            const auto oldest = classes_.find(class_order_.front());
            gone = std::move(oldest->second);
            classes_.erase(oldest);
            class_order_.pop_front();
        }
        class_order_.push_back(key);
    }
    std::vector<Ref<const AdaptablePlan>>& plans = classes_[key];
    if (plans.size() == plans_of_class) {
        gone.push_back(std::move(plans.back()));
        plans.pop_back();
    }
    plans.insert(plans.begin(), std::move(plan));
}

PlanCache& PlanCache::of(device::Device* device) {
    return static_cast<PlanCache&>(device->plans([]() -> std::unique_ptr<device::Device::Attachment> {
        auto made = std::make_unique<PlanCache>();
        hold_at_fork(made->mutex_);  // devices live as long as the process
        return made;
    }));
}

RecentPlans& RecentPlans::of(device::Queue* queue) {
    graph::GraphState& state = graph::state_of(queue);
    if (!state.plans) state.plans = std::make_shared<RecentPlans>();
    return *static_cast<RecentPlans*>(state.plans.get());
}

}  // namespace pardo::plan

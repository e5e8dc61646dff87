// src/routines/cpu/fft/plans.cpp: plans of transforms, kept from one transform to the next: roots of unity, mostly.
#include <list>
#include <mutex>

#include "base/fork.h"
#include "routines/cpu/fft/job.h"

namespace pardo::routines {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;  // of all that are kept; and a plan of more than half of that is not kept

struct Plans {
    struct Entry {
        FftPlanKey key;
        FftPlan plan;
    };
    HeldMutex mutex;           // not held while a plan is made
    std::list<Entry> entries;  // the one that was used last comes first
    std::size_t bytes = 0;

    std::shared_ptr<void> find(const FftPlanKey& key) {
        for (auto at = entries.begin(); at != entries.end(); ++at) {
            if (at->key != key) continue;
            entries.splice(entries.begin(), entries, at);
            return at->plan.plan;
        }
        return nullptr;
    }
    /// Takes it in; what has to go is returned, to be destroyed without the lock.
    std::list<Entry> keep(const FftPlanKey& key, const FftPlan& plan) {
        std::list<Entry> gone;
        entries.push_front({key, plan});
        bytes += plan.bytes;
        while (bytes > most_bytes) {
            bytes -= entries.back().plan.bytes;
            gone.splice(gone.begin(), entries, std::prev(entries.end()));
        }
        return gone;
    }
};

Plans& plans() {
    static auto* const instance = new Plans;  // never destroyed: work may be in flight at exit
    return *instance;
}

}  // namespace

std::shared_ptr<void> find_plan(const FftPlanKey& key, const std::function<FftPlan()>& make) {
    Plans& kept = plans();
    {
        const std::lock_guard lock(kept.mutex);
        if (auto found = kept.find(key)) return found;
    }
    FftPlan plan = make();
    plan.bytes += 256;  // what the objects themselves take
    if (plan.bytes > most_bytes / 2) return plan.plan;
    std::list<Plans::Entry> gone;
    const std::lock_guard lock(kept.mutex);
    if (auto found = kept.find(key)) return found;  // another thread was faster
    gone = kept.keep(key, plan);
    return plan.plan;
}

}  // namespace pardo::routines

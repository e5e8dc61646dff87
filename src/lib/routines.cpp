// src/lib/routines.cpp: the routines by name, and which implementation a user may have asked for.
#include "lib/routines.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <pardo/error.h>

#include "base/counters.h"
#include "base/env.h"

namespace pardo::lib {

namespace routines {

constinit decltype(cumulative) cumulative("cumulative");
constinit decltype(sort) sort("sort");
constinit decltype(partition) partition("partition");
constinit decltype(top_k) top_k("top_k");
constinit decltype(searchsorted) searchsorted("searchsorted");
constinit decltype(count_mask) count_mask("count_mask");
constinit decltype(nonzero) nonzero("nonzero");
constinit decltype(compress) compress("compress");
constinit decltype(put_mask) put_mask("put_mask");
constinit decltype(gather) gather("gather");
constinit decltype(scatter) scatter("scatter");
constinit decltype(take_along_axis) take_along_axis("take_along_axis");
constinit decltype(count_runs) count_runs("count_runs");
constinit decltype(fill_runs) fill_runs("fill_runs");
constinit decltype(matmul) matmul("matmul");
constinit decltype(matmul_takes) matmul_takes("matmul_takes");
constinit decltype(matmul_ready) matmul_ready("matmul_ready");

}  // namespace routines

namespace {

const RoutineBase* const all[] = {
    &routines::cumulative,   &routines::sort,       &routines::partition, &routines::top_k,
    &routines::searchsorted, &routines::count_mask, &routines::nonzero,   &routines::compress,
    &routines::put_mask,     &routines::gather,     &routines::scatter,   &routines::take_along_axis,
    &routines::count_runs,   &routines::fill_runs,  &routines::matmul,    &routines::matmul_takes,
    &routines::matmul_ready,
};

/// What PARDO_ROUTINES asks for: implementations by routine.
using Wishes = std::vector<std::pair<const RoutineBase*, std::string>>;

std::string names_of_routines() {
    std::string names;
    for (const RoutineBase* routine : all) names.append(names.empty() ? "" : ", ").append(routine->name());
    return names;
}

Wishes read_wishes() {
    Wishes wishes;
    const std::string text = env("PARDO_ROUTINES").value_or("");
    const auto refuse = [&](const std::string& why) { throw Error(ErrorCode::Value, "PARDO_ROUTINES=" + text + ": " + why); };
    for (std::string_view left = text; !left.empty();) {
        const std::string_view item = left.substr(0, left.find(','));
        left.remove_prefix(std::min(item.size() + 1, left.size()));
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos) refuse("expected routine=implementation, with commas between them");
        const auto found = std::ranges::find(all, item.substr(0, equals), [](const RoutineBase* r) { return std::string_view(r->name()); });
        if (found == std::end(all)) {
            refuse("there is no routine '" + std::string(item.substr(0, equals)) + "'; there are " + names_of_routines());
        }
        const std::string wanted(item.substr(equals + 1));
        const std::string have = ", " + (*found)->implementations() + ", ";
        if (have.find(", " + wanted + ", ") == std::string::npos) {
            refuse(std::string((*found)->name()) + " has no implementation '" + wanted + "'; it has " + (*found)->implementations());
        }
        wishes.emplace_back(*found, wanted);
    }
    return wishes;
}

const Wishes& wishes() {
    static const Wishes read = read_wishes();
    return read;
}

}  // namespace

unsigned RoutineBase::places_of(const device::Device* device) {
    if (device->runs_host_code()) return static_cast<unsigned>(Place::Host);
    const bool text = !device->text_language().empty() && device->info().max_work_group_size >= device_group;
    return static_cast<unsigned>(Place::Away) | (text ? static_cast<unsigned>(Place::Text) : 0u);
}

bool RoutineBase::allowed(const char* implementation) const {
    for (const auto& [routine, wanted] : wishes()) {
        if (routine == this) return wanted == implementation;
    }
    return true;
}

void RoutineBase::refuse(const device::Device* device) const {
    std::string text = std::string(name_) + ": no implementation for these operands on device " + device->id();
    text += wishes().empty() ? "; move the operands with to_device(\"cpu\")" : " is allowed by PARDO_ROUTINES; it has " + implementations();
    throw Error(ErrorCode::Device, text);
}

void RoutineBase::log_choice(const char* implementation, const device::Device* device) const {
    log(LogLevel::Info, std::string(name_) + ": by " + implementation + " on " + device->id());
}

void RoutineBase::count_fallback() { counters.fallbacks.fetch_add(1, std::memory_order_relaxed); }

}  // namespace pardo::lib

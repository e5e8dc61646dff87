// src/routines/routines.cpp: the routines by name, and which implementation a user may have asked for.
#include "routines/routines.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <pardo/binding/library.h>
#include <pardo/error.h>
#include <pardo/ops.h>

#include "base/counters.h"
#include "base/env.h"

namespace pardo::routines {

namespace {

/// Those that have implementations, from the last to register its first one on.
constinit const RoutineBase* last = nullptr;

/// By name.
std::vector<const RoutineBase*> all() {
    std::vector<const RoutineBase*> list;
    for (const RoutineBase* routine = last; routine; routine = routine->previous()) list.push_back(routine);
    std::ranges::sort(list, {}, [](const RoutineBase* r) { return std::string_view(r->name()); });
    return list;
}

/// What PARDO_ROUTINES asks for: implementations by routine.
using Wishes = std::vector<std::pair<const RoutineBase*, std::string>>;

std::string names_of_routines() {
    std::string names;
    for (const RoutineBase* routine : all()) names.append(names.empty() ? "" : ", ").append(routine->name());
    return names;
}

Wishes read_wishes() {
    Wishes wishes;
    const std::vector<const RoutineBase*> known = all();
    const std::string text = env("PARDO_ROUTINES").value_or("");
    const auto refuse = [&](const std::string& why) { throw Error(ErrorCode::Value, "PARDO_ROUTINES=" + text + ": " + why); };
    for (std::string_view left = text; !left.empty();) {
        const std::string_view item = left.substr(0, left.find(','));
        left.remove_prefix(std::min(item.size() + 1, left.size()));
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos) refuse("expected routine=implementation, with commas between them");
        const auto found =
            std::ranges::find(known, item.substr(0, equals), [](const RoutineBase* r) { return std::string_view(r->name()); });
        if (found == known.end()) {
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
    static const auto& read = *new Wishes(read_wishes());
    return read;
}

}  // namespace

const RoutineBase* RoutineBase::named(std::string_view name) {
    for (const RoutineBase* routine = last; routine; routine = routine->previous())
        if (routine->name() == name) return routine;
    return nullptr;
}

void fail_bounds(const Bounds& bounds, const Bounds::Row& row, std::int64_t index) {
    fail(ErrorCode::Index, bounds.op_name,
         "index " + std::to_string(index) + " is out of bounds for axis " + std::to_string(row.axis) + " with size " +
             std::to_string(row.size));
}

void fail_matrix(const char* op_name, const char* reason, const Shape& batch, std::int64_t index, const Text& place) {
    std::string matrix;
    for (int d = batch.size() - 1; d >= 0; --d) {
        if (!matrix.empty()) matrix.insert(0, ", ");
        matrix.insert(0, std::to_string(index % batch[d]));
        index /= batch[d];
    }
    std::string text = reason;
    if (batch.size() == 1) text += " (matrix " + matrix + " of the stack)";
    if (batch.size() > 1) text += " (matrix (" + matrix + ") of the stack)";
    if (!place.empty()) text += " (at " + place.str() + ")";
    fail(ErrorCode::Matrix, op_name, text);
}

void RoutineBase::list() {
    previous_ = last;
    last = this;
}

unsigned RoutineBase::kinds_of(const device::Device* device) {
    if (device->can(device::Feature::HostCode)) return static_cast<unsigned>(DeviceKinds::Host);
    const bool text = !device->text_language().empty() && device->info().max_work_group_size >= device_group;
    const auto bit = [](DeviceKinds kind, bool is) { return is ? static_cast<unsigned>(kind) : 0u; };
    return bit(DeviceKinds::Away, true) | bit(DeviceKinds::Text, text) |
           bit(DeviceKinds::Shared, device->can(device::Feature::HostRoutines)) |
           bit(DeviceKinds::HostProcessor, device->can(device::Feature::HostProcessor));
}

bool RoutineBase::asked_for(const char* implementation) const {
    return std::ranges::any_of(wishes(), [&](const auto& wish) { return wish.first == this && wish.second == implementation; });
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

}  // namespace pardo::routines

namespace pardo {

std::vector<std::string> missing_libraries(const Device& device) {
    std::vector<std::string> problems;
    for (const routines::RoutineBase* routine : routines::all()) routine->list_problems(device.impl(), problems);
    return problems;
}

}  // namespace pardo

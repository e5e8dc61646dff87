// src/device/selection.h: selection strings `backend:type:index`, every part optional, alternatives by comma.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/registry.h"

namespace pardo::device {

/// One alternative of a selection string.
struct Pattern {
    std::string backend;  // empty: any that is not hidden
    std::optional<DeviceType> type;
    std::optional<int> index;  // among the devices that the other parts leave
    bool excluded = false;     // written with `!` in front
};

/// PARDO_DEVICES: what is visible.
struct Filter {
    std::vector<Pattern> patterns;
    bool admits(const Candidate& candidate, const std::vector<Candidate>& all) const;
};

/// Reads one alternative; nothing when it is no selection string. A word that is both back end and type counts as back end.
std::optional<Pattern> parse_pattern(std::string_view text, const std::vector<Candidate>& all);
/// Reads a list with `!`; throws Value as "<who>=…" for what is no selection string. Words of back ends that this machine lacks match
/// nothing.
Filter parse_filter(std::string_view who, std::string_view text, const std::vector<Candidate>& all);
/// The devices that a pattern names, in order.
std::vector<const Candidate*> matches(const Pattern& pattern, const std::vector<Candidate>& all);
/// The first device of the first alternative that names a visible one; throws Value, listing what exists and what is near, when there is
/// none, or when an alternative is no selection string.
Device* choose(std::string_view selector, const std::vector<Candidate>& all, const std::vector<Candidate>& visible,
               const std::string& reasons);

}  // namespace pardo::device

// src/device/selection/selection.h: selection strings `backend:type:index`, every part optional, alternatives by comma.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/selection/registry.h"

namespace pardo::device {

/// What one alternative of a selection string says.
struct Pattern {
    std::string backend;  // empty: any that is not hidden
    std::optional<DeviceType> type;
    std::optional<int> index;  // among the devices that the other parts leave
    bool excluded = false;     // written with `!` in front
};

/// One alternative: "opencl:cpu/2.0" is part 0 of an OpenCL CPU that is cut into parts of two units.
struct Alternative {
    std::string text;
    std::optional<Pattern> pattern;  // nothing: misspelt
    std::string part;                // what follows the first '/'
};

/// PARDO_DEVICES: what is visible.
struct Filter {
    std::vector<Pattern> patterns;
    /// False when no device of the back end can be visible, whatever it finds.
    bool may_admit(std::string_view backend, bool hidden) const;
    /// True when an index counts devices of several back ends.
    bool counts_over_back_ends() const;
    bool admits(const Candidate& candidate, const std::vector<Candidate>& all) const;
};

/// True for the back ends of this build ("cpu", "opencl", "cuda", "null"), whether or not they find devices: naming one is not a mistake.
bool is_backend_name(std::string_view word);
/// Reads one alternative; nothing when it is not a selection string. A word that is both back end and type counts as back end.
std::optional<Pattern> parse_pattern(std::string_view text, const std::vector<Candidate>& all);
/// Reads a list with `!`; throws Value as "<op_name>=…" for what is not a selection string. Words of back ends that this machine lacks
/// match nothing.
Filter parse_filter(std::string_view op_name, std::string_view text, const std::vector<Candidate>& all);
/// The alternatives of a selection string, in order.
std::vector<Alternative> parse_alternatives(std::string_view selector);
/// The first visible device that a pattern names. Indices count all devices of a back end if it is named (so that ids stay what they are
/// whatever PARDO_DEVICES hides), else the visible ones.
Device* find(const Pattern& pattern, const std::vector<Candidate>& all, const std::vector<Candidate>& visible);
/// The devices that a pattern names, in order.
std::vector<const Candidate*> matches(const Pattern& pattern, const std::vector<Candidate>& all);
/// The first device of the first alternative that names a visible one; throws Value, listing what exists and what is near, when there is
/// none, or when an alternative is not a selection string.
Device* choose(std::string_view selector, const std::vector<Candidate>& all, const std::vector<Candidate>& visible,
               const std::string& reasons);

}  // namespace pardo::device

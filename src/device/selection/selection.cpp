// src/device/selection/selection.cpp: reads selection strings and explains those that name nothing.
#include "device/selection/selection.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include <pardo/error.h>

namespace pardo::device {
namespace {

std::string normalized(std::string_view text) {
    const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
    if (first == std::string_view::npos) return {};
    std::string word(text.substr(first, last - first + 1));
    for (char& c : word) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return word;
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (;;) {
        const auto at = text.find(separator);
        parts.push_back(normalized(text.substr(0, at)));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

std::optional<int> parse_index(const std::string& word) {
    int value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || error != std::errc() || end != word.data() + word.size() || value < 0) return std::nullopt;
    return value;
}

std::optional<DeviceType> parse_type(const std::string& word) {
    for (const DeviceType type : device_types) {
        if (word == type_name(type)) return type;
    }
    return std::nullopt;
}

bool is_backend(const std::string& word, const std::vector<Candidate>& all) {
    return is_backend_name(word) || std::any_of(all.begin(), all.end(), [&](const Candidate& c) { return c.backend == word; });
}

/// Levenshtein distance, for "did you mean".
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

std::string near_matches(std::string_view selector, const std::vector<Candidate>& visible) {
    const std::string wanted = normalized(selector);
    std::vector<std::string> words;
    if (parse_type(wanted) || is_backend_name(wanted)) return {};  // spelt correctly, but there is no such device
    for (const DeviceType type : device_types) {
        if (std::any_of(visible.begin(), visible.end(), [type](const Candidate& c) { return !c.hidden && c.type == type; }))
            words.emplace_back(type_name(type));
    }
    for (const Candidate& c : visible) {
        if (c.hidden) continue;
        words.push_back(c.backend);
        words.push_back(c.id);
    }
    std::string text;
    std::vector<std::string> shown;
    for (const std::string& w : words) {
        if (w == wanted || distance(wanted, w) > 2 || std::find(shown.begin(), shown.end(), w) != shown.end()) continue;
        text += (shown.empty() ? ". Did you mean \"" : " or \"") + w + "\"";
        shown.push_back(w);
    }
    return text.empty() ? text : text + "?";
}

std::string inventory(const std::vector<Candidate>& visible) {
    std::string text;
    for (const Candidate& c : visible) {
        if (!c.hidden) text += (text.empty() ? "" : ", ") + c.id + " (" + c.name + ")";
    }
    return text.empty() ? "none" : text;
}

}  // namespace

bool is_backend_name(std::string_view word) {
    return std::ranges::any_of(backends(), [&](const std::unique_ptr<Backend>& backend) { return backend->name() == word; });
}

std::optional<Pattern> parse_pattern(std::string_view text, const std::vector<Candidate>& all) {
    const std::vector<std::string> parts = split(text, ':');
    if (parts.size() > 3) return std::nullopt;
    // 0: a back end may come next, 1: a type may, 2: an index may, 3: nothing may. An empty part ("::1") leaves its place open.
    int place = 0;
    Pattern p;
    for (const std::string& word : parts) {
        if (word.empty() && parts.size() > 1) {
            ++place;
        } else if (place == 0 && is_backend(word, all)) {
            p.backend = word;
            place = 1;
        } else if (const auto type = parse_type(word); place <= 1 && type) {
            p.type = type;
            place = 2;
        } else if (const auto index = parse_index(word); place <= 2 && index) {
            p.index = index;
            place = 3;
        } else {
            return std::nullopt;
        }
    }
    return p;
}

Filter parse_filter(std::string_view op_name, std::string_view text, const std::vector<Candidate>& all) {
    Filter filter;
    if (normalized(text).empty()) return filter;
    for (const std::string& term : split(text, ',')) {
        const bool excluded = !term.empty() && term[0] == '!';
        const std::string body = normalized(std::string_view(term).substr(excluded ? 1 : 0));
        std::optional<Pattern> p = parse_pattern(body, all);
        if (!p) {
            throw Error(ErrorCode::Value,
                        std::string(op_name) + "=" + std::string(text) + ": \"" + term +
                            "\" is not a selection string; expected backend:type:index, every part optional, `!` in front to exclude");
        }
        p->excluded = excluded;
        filter.patterns.push_back(*p);
    }
    return filter;
}

std::vector<const Candidate*> matches(const Pattern& pattern, const std::vector<Candidate>& all) {
    std::vector<const Candidate*> found;
    for (const Candidate& c : all) {
        if (pattern.backend.empty() ? c.hidden : c.backend != pattern.backend) continue;
        if (pattern.type && c.type != *pattern.type) continue;
        found.push_back(&c);
    }
    if (!pattern.index) return found;
    if (static_cast<std::size_t>(*pattern.index) >= found.size()) return {};
    return {found[static_cast<std::size_t>(*pattern.index)]};
}

bool Filter::admits(const Candidate& candidate, const std::vector<Candidate>& all) const {
    bool wanted = std::none_of(patterns.begin(), patterns.end(), [](const Pattern& p) { return !p.excluded; }) || candidate.hidden;
    for (const Pattern& p : patterns) {
        const std::vector<const Candidate*> named = matches(p, all);
        const bool hit = std::any_of(named.begin(), named.end(), [&](const Candidate* c) { return c->device == candidate.device; });
        if (!hit) continue;
        if (p.excluded) return false;
        wanted = true;
    }
    return wanted;
}

bool Filter::may_admit(std::string_view backend, bool hidden) const {
    bool any_wanted = false, named = false;
    for (const Pattern& p : patterns) {
        if (p.excluded) {
            if (p.backend == backend && !p.type && !p.index) return false;
            continue;
        }
        any_wanted = true;
        named |= p.backend == backend || (p.backend.empty() && !hidden);
    }
    return !any_wanted || named || hidden;
}

bool Filter::counts_over_back_ends() const {
    return std::any_of(patterns.begin(), patterns.end(), [](const Pattern& p) { return p.backend.empty() && p.index; });
}

std::vector<Alternative> parse_alternatives(std::string_view selector) {
    std::vector<Alternative> alternatives;
    for (std::string& text : split(selector, ',')) {
        const std::size_t slash = std::min(text.find('/'), text.size());
        Alternative a{text, parse_pattern(std::string_view(text).substr(0, slash), {}), {}};
        if (slash < text.size()) a.part = text.substr(slash + 1);
        if (slash < text.size() && a.part.empty()) a.pattern.reset();
        alternatives.push_back(std::move(a));
    }
    return alternatives;
}

Device* find(const Pattern& pattern, const std::vector<Candidate>& all, const std::vector<Candidate>& visible) {
    for (const Candidate* c : matches(pattern, pattern.backend.empty() ? visible : all)) {
        const bool seen = std::any_of(visible.begin(), visible.end(), [&](const Candidate& v) { return v.device == c->device; });
        if (seen) return c->device;
    }
    return nullptr;
}

Device* choose(std::string_view selector, const std::vector<Candidate>& all, const std::vector<Candidate>& visible,
               const std::string& reasons) {
    const auto no_match = [&](std::string_view text) {
        const std::string place = text == selector ? "" : " (in \"" + std::string(selector) + "\")";
        return Error(ErrorCode::NoDevice,
                     "Device: no device matches \"" + std::string(text) + "\"" + place + "; devices here: " + inventory(visible) + reasons +
                         near_matches(text, visible) +
                         (visible.size() < all.size() ? " (PARDO_DEVICES hides " + std::to_string(all.size() - visible.size()) + ")" : ""));
    };
    const std::vector<Alternative> alternatives = parse_alternatives(selector);
    // A misspelt alternative is an error even where another one would do: it would be passed over on every machine.
    for (const Alternative& a : alternatives) {
        if (!a.pattern) throw no_match(alternatives.size() == 1 ? selector : a.text);
    }
    for (const Alternative& a : alternatives) {
        Device* device = a.part.empty() ? find(*a.pattern, all, visible) : nullptr;
        if (device) return device;
    }
    throw no_match(selector);
}

}  // namespace pardo::device

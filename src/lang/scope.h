// src/lang/scope.h: the names that a function has at one line, and what they stand for.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/typed_expr.h"

namespace pardo::lang {

/// That a name's value is at least so much more than another's; holds while both have these versions.
struct Above {
    int own = 0;
    std::string other;
    int version = 0;
    std::int64_t by = 0;
};

/// A name of the function. `maybe`: undefined on some path here.
struct Variable {
    TypedExpr expr;
    syntax::Place place;  // of the assignment
    bool maybe = false;
    int version = 0;             // changes with each assignment
    std::vector<Above> above{};  // what tests have said
};

/// A sorted map from names to variables. Branches and iterations are walked several times, each from a copy of what was known before:
/// copies share the variables that have not changed since.
class Scope {
    using Entry = std::pair<const std::string, Variable>;
    using Entries = std::vector<std::shared_ptr<Entry>>;

public:
    class Iterator {
    public:
        explicit Iterator(Entries::const_iterator at) : at_(at) {}
        const Entry& operator*() const { return **at_; }
        const Entry* operator->() const { return at_->get(); }
        Iterator& operator++() {
            ++at_;
            return *this;
        }
        bool operator==(const Iterator&) const = default;

    private:
        Entries::const_iterator at_;
    };

    Iterator begin() const { return Iterator(entries_.begin()); }
    Iterator end() const { return Iterator(entries_.end()); }
    Iterator find(std::string_view name) const {
        const auto at = place_of(name);
        return Iterator(at != entries_.end() && (*at)->first == name ? at : entries_.end());
    }
    bool contains(std::string_view name) const { return find(name) != end(); }
    /// Of a name that is there.
    const Variable& at(std::string_view name) const { return find(name)->second; }

    /// The variable of a name that is there, to change it.
    Variable& change(std::string_view name) {
        std::shared_ptr<Entry>& entry = entries_[index_of(place_of(name))];
        if (entry.use_count() > 1) entry = std::make_shared<Entry>(*entry);
        return entry->second;
    }
    void set(std::string_view name, Variable variable) {
        const auto at = place_of(name);
        auto made = std::make_shared<Entry>(std::string(name), std::move(variable));
        if (at != entries_.end() && (*at)->first == name)
            entries_[index_of(at)] = std::move(made);
        else
            entries_.insert(at, std::move(made));
    }
    void erase(std::string_view name) {
        if (const auto at = place_of(name); at != entries_.end() && (*at)->first == name) entries_.erase(at);
    }
    void clear() { entries_.clear(); }

private:
    Entries::const_iterator place_of(std::string_view name) const {
        return std::ranges::lower_bound(entries_, name, {}, [](const auto& entry) { return std::string_view(entry->first); });
    }
    std::size_t index_of(Entries::const_iterator at) const { return static_cast<std::size_t>(at - entries_.begin()); }

    Entries entries_;
};

}  // namespace pardo::lang

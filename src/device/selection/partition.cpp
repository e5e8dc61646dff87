// src/device/selection/partition.cpp: sub-devices: the check of a cut, their ids, and the list of those that have been made.
#include "device/selection/partition.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include <pardo/error.h>

#include "base/fork.h"

namespace pardo {

std::string Partition::text() const {
    if (!domain.empty()) return domain;
    if (counts.empty()) return std::to_string(units);
    std::string text;
    for (const int n : counts) text += (text.empty() ? "" : "+") + std::to_string(n);
    if (counts.size() == 1) text += "+";  // not to be read as equal parts
    return text;
}

}  // namespace pardo

namespace pardo::device {
namespace {

constexpr std::string_view domains[] = {"numa", "L4_cache", "L3_cache", "L2_cache", "L1_cache", "next_partitionable"};

bool same_word(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

/// The domain of a name: "l3" is "L3_cache"; the name itself where it is none.
std::string canonical_domain(std::string_view name) {
    const std::string cache = std::string(name) + "_cache";
    for (const std::string_view d : domains) {
        if (same_word(d, name) || same_word(d, cache)) return std::string(d);
    }
    return std::string(name);
}

bool offers(const NameSet& set, std::string_view name) { return set && std::find(set->begin(), set->end(), name) != set->end(); }

std::string listed(const NameSet& set) {
    std::string text;
    for (const std::string& name : set.value_or(std::vector<std::string>())) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "nothing" : text;
}

[[noreturn]] void refuse(ErrorCode code, const Device& device, const std::string& why) {
    throw Error(code, "create_sub_devices: " + device.id() + " " + why);
}

void require(const Device& device, std::string_view property) {
    const NameSet& properties = device.info().partition_properties;
    if (offers(properties, property)) return;
    refuse(ErrorCode::Device, device, "cannot be cut by " + std::string(property) + "; it offers " + listed(properties));
}

void check_counts(const Device& device, const Partition& p) {
    const std::int64_t have = device.info().max_compute_units;
    const auto positive = [](int n) { return n > 0; };
    if (!std::all_of(p.counts.begin(), p.counts.end(), positive))
        refuse(ErrorCode::Value, device, "counts are " + p.text() + "; each must be at least 1");
    const std::int64_t sum = std::accumulate(p.counts.begin(), p.counts.end(), std::int64_t{0});
    if (sum > have) {
        refuse(ErrorCode::Value, device,
               "counts " + p.text() + " add up to " + std::to_string(sum) + "; it has " + std::to_string(have) + " compute units");
    }
}

/// Throws unless the cut is well-formed and the device offers it.
void check(const Device& device, const Partition& p) {
    if (!p.domain.empty()) {
        if (std::find(std::begin(domains), std::end(domains), p.domain) == std::end(domains)) {
            std::string known;
            for (const std::string_view d : domains) known += (known.empty() ? "" : ", ") + std::string(d);
            throw Error(ErrorCode::Value, "create_sub_devices: \"" + p.domain + "\" is not an affinity domain; there are " + known);
        }
        require(device, "partition_by_affinity_domain");
        if (!offers(device.info().partition_affinity_domains, p.domain)) {
            refuse(ErrorCode::Device, device,
                   "cannot be cut by " + p.domain + "; it offers " + listed(device.info().partition_affinity_domains));
        }
    } else if (!p.counts.empty()) {
        require(device, "partition_by_counts");
        check_counts(device, p);
    } else {
        if (p.units < 1)
            refuse(ErrorCode::Value, device, "cannot be cut into parts of " + std::to_string(p.units) + " compute units; at least 1");
        require(device, "partition_equally");
        if (p.units > device.info().max_compute_units) {
            refuse(ErrorCode::Value, device,
                   "has " + std::to_string(device.info().max_compute_units) + " compute units; parts of " + std::to_string(p.units) +
                       " cannot be made");
        }
    }
}

std::optional<int> parse_count(std::string_view word) {
    int value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || error != std::errc() || end != word.data() + word.size() || value < 0) return std::nullopt;
    return value;
}

}  // namespace

std::string sub_device_id(const Device& parent, const Partition& partition, std::size_t index) {
    return parent.id() + "/" + partition.text() + "." + std::to_string(index);
}

const std::vector<Device*>& Device::sub_devices(const Partition& wanted) {
    Partition partition = wanted;
    partition.domain = canonical_domain(wanted.domain);
    check(*this, partition);
    std::lock_guard lock(parts_mutex_);
    const std::string key = partition.text();
    const auto known = parts_.find(key);
    if (known != parts_.end()) return known->second;
    std::vector<Device*> parts = make_sub_devices(partition);
    if (parts_.empty()) hold_at_fork(parts_mutex_);  // devices with parts live as long as the process
    return parts_.emplace(key, std::move(parts)).first->second;
}

void Device::collect_in_use(std::vector<Device*>& out) {
    if (canonical_.load(std::memory_order_acquire)) out.push_back(this);
    std::lock_guard lock(parts_mutex_);
    for (const auto& [how, parts] : parts_) {
        for (Device* part : parts) part->collect_in_use(out);
    }
}

std::vector<Device*> Device::make_sub_devices(const Partition& partition) {
    refuse(ErrorCode::Device, *this, "cannot be cut by " + partition.text());
}

std::optional<Partition> parse_partition(std::string_view text) {
    Partition p;
    const std::string domain = canonical_domain(text);
    if (std::find(std::begin(domains), std::end(domains), domain) != std::end(domains)) {
        p.domain = domain;
        return p;
    }
    if (text.find('+') == std::string_view::npos) {
        const std::optional<int> units = parse_count(text);
        if (!units) return std::nullopt;
        p.units = *units;
        return p;
    }
    if (text.back() == '+') text.remove_suffix(1);
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find('+', start), text.size());
        const std::optional<int> n = parse_count(text.substr(start, end - start));
        if (!n) return std::nullopt;
        p.counts.push_back(*n);
        start = end + 1;
    }
    return p;
}

Device* part_of(Device* device, std::string_view path) {
    for (;;) {
        const std::size_t end = std::min(path.find('/'), path.size());
        const std::string_view level = path.substr(0, end);
        const std::size_t dot = level.rfind('.');
        if (dot == std::string_view::npos) return nullptr;
        const std::optional<Partition> partition = parse_partition(level.substr(0, dot));
        const std::optional<int> index = parse_count(level.substr(dot + 1));
        if (!partition || !index) return nullptr;
        const std::vector<Device*>& parts = device->sub_devices(*partition);
        if (static_cast<std::size_t>(*index) >= parts.size()) return nullptr;
        device = parts[static_cast<std::size_t>(*index)];
        if (end == path.size()) return device;
        path.remove_prefix(end + 1);
    }
}

}  // namespace pardo::device

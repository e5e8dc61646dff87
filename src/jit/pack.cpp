// src/jit/pack.cpp: reads the file of machine code that lies beside the module.
#include "jit/pack.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/env.h"
#include "jit/folder.h"

namespace pardo::jit {
namespace {

/// The file: this, the targets' names, the entries, the groups, and what zstd made of each group: codes that are alike, one after another.
struct PackHeader {
    char magic[8];
    std::uint32_t format, targets, entries, groups;
};
constexpr char pack_magic[8] = {'p', 'a', 'r', 'd', 'o', 'p', 'a', 'k'};
constexpr std::uint32_t pack_format = 1, most_targets = 64, most_entries = 1 << 20;
struct TargetName {
    char name[16];
};
/// In front of each code in its group.
struct Label {
    Hash128 text;
    std::uint32_t target, bytes;
};
constexpr std::uint32_t most_bytes = 1 << 26;  // of a group

File open_file(const std::string& path) { return File(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)); }

std::string installed_path() {
    if (auto chosen = env("PARDO_KERNEL_PACK")) return *chosen;
    Dl_info here{};
    if (::dladdr(reinterpret_cast<const void*>(&Pack::installed), &here) == 0 || !here.dli_fname) return "off";
    const std::string library = here.dli_fname;
    return library.substr(0, library.rfind('/') + 1) + "kernels.pack";
}

}  // namespace

Pack::Pack(const std::string& path) : path_(path) {
    if (path == "off" || open()) return;
    targets_.clear();
    entries_.clear();
    groups_.clear();
    bytes_ = 0;
}

const Pack& Pack::installed() {
    static const Pack* const pack = new Pack(installed_path());  // never destroyed: threads may compile until the process ends
    return *pack;
}

bool Pack::open() {
    File file = open_file(path_);
    struct stat info {};
    if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
    const auto damaged = [&] {
        warn_once("jit.pack", "kernels that came with pardo are not used: " + path_ + " is damaged");
        return false;
    };
    PackHeader header;
    if (!file.read(&header, sizeof header) || std::memcmp(header.magic, pack_magic, sizeof pack_magic) != 0 ||
        header.format != pack_format || header.targets > most_targets || header.entries > most_entries || header.groups > most_entries)
        return damaged();
    std::vector<TargetName> names(header.targets);
    entries_.resize(header.entries);
    groups_.resize(header.groups);
    if (!file.read(names.data(), names.size() * sizeof(TargetName)) || !file.read(entries_.data(), entries_.size() * sizeof(Entry)) ||
        !file.read(groups_.data(), groups_.size() * sizeof(Group)))
        return damaged();
    for (const TargetName& t : names) targets_.emplace_back(t.name, ::strnlen(t.name, sizeof t.name));
    bytes_ = info.st_size;
    return true;
}

const Pack::Entry* Pack::find(const Hash128& text, std::size_t target) const {
    const auto place = [](const Hash128& hash, std::size_t number) { return std::tuple(hash.lo, hash.hi, number); };
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), place(text, target),
                                     [&](const Entry& e, const auto& wanted) { return place(e.text, e.target) < wanted; });
    return at != entries_.end() && at->text == text && at->target == target ? &*at : nullptr;
}

bool Pack::unpack(const Entry& entry, Binary& code) const {
    if (entry.group >= groups_.size()) return false;
    const Group& group = groups_[entry.group];
    if (group.bytes > most_bytes || group.packed_bytes > most_bytes) return false;
    // Opened each time: a process may close what it has open, and another file may have come into this one's place.
    File file = open_file(path_);
    Binary packed(group.packed_bytes), whole(group.bytes);
    if (!file || ::lseek(file.get(), static_cast<off_t>(group.offset), SEEK_SET) < 0 || !file.read(packed.data(), packed.size()) ||
        ::ZSTD_decompress(whole.data(), whole.size(), packed.data(), packed.size()) != whole.size())
        return false;
    Label label;
    if (whole.size() < sizeof label + entry.bytes || entry.at > whole.size() - sizeof label - entry.bytes) return false;
    const std::uint8_t* const begin = whole.data() + entry.at;
    std::memcpy(&label, begin, sizeof label);
    if (label.text != entry.text || label.target != entry.target || label.bytes != entry.bytes) return false;
    code.assign(begin + sizeof label, begin + sizeof label + entry.bytes);
    return true;
}

bool Pack::read(const Hash128& text, std::size_t target, Binary& code) const {
    const Entry* entry = find(text, target);
    if (!entry) return false;
    if (unpack(*entry, code)) return true;
    warn_once("jit.pack", "a kernel that came with pardo is not used: " + path_ + " has changed or is damaged");
    return false;
}

}  // namespace pardo::jit

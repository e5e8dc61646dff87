// src/jit/pack.cpp: reads the file of machine code that lies beside the module.
#include "jit/pack.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/env.h"
#include "jit/folder.h"

namespace pardo::jit {
namespace {

/// The file: this, the targets' names, the entries, and each entry's code: its text's hash and target once more, then what zlib made.
struct PackHeader {
    char magic[8];
    std::uint32_t format, targets, entries, unused;
};
constexpr char pack_magic[8] = {'p', 'a', 'r', 'd', 'o', 'p', 'a', 'k'};
constexpr std::uint32_t pack_format = 1, most_targets = 64, most_entries = 1 << 20;
struct TargetName {
    char name[16];
};
/// In front of each code.
struct Label {
    Hash128 text;
    std::uint32_t target, bytes;
};
constexpr std::uint32_t most_bytes = 1 << 28;

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
        header.format != pack_format || header.targets > most_targets || header.entries > most_entries)
        return damaged();
    std::vector<TargetName> names(header.targets);
    entries_.resize(header.entries);
    if (!file.read(names.data(), names.size() * sizeof(TargetName)) || !file.read(entries_.data(), entries_.size() * sizeof(Entry)))
        return damaged();
    for (const TargetName& t : names) targets_.emplace_back(t.name, ::strnlen(t.name, sizeof t.name));
    bytes_ = info.st_size;
    return true;
}

const Pack::Entry* Pack::find(const Hash128& text, std::size_t target) const {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), std::tuple(text, target),
                                     [](const Entry& e, const auto& wanted) { return std::tuple(e.text, std::size_t{e.target}) < wanted; });
    return at != entries_.end() && at->text == text && at->target == target ? &*at : nullptr;
}

bool Pack::read(const Hash128& text, std::size_t target, Binary& code) const {
    const Entry* entry = find(text, target);
    if (!entry) return false;
    // Opened each time: a process may close what it has open, and another file may have come into this one's place.
    File file = open_file(path_);
    Label label;
    Binary packed(std::min(entry->packed_bytes, most_bytes));
    code.resize(std::min(entry->bytes, most_bytes));
    uLongf bytes = code.size();
    if (file && ::lseek(file.get(), static_cast<off_t>(entry->offset), SEEK_SET) >= 0 && file.read(&label, sizeof label) &&
        label.text == text && label.target == target && label.bytes == entry->bytes && file.read(packed.data(), packed.size()) &&
        ::uncompress(code.data(), &bytes, packed.data(), packed.size()) == Z_OK && bytes == code.size())
        return true;
    warn_once("jit.pack", "a kernel that came with pardo is not used: " + path_ + " has changed or is damaged");
    return false;
}

}  // namespace pardo::jit

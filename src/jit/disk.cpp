// src/jit/disk.cpp: reads, writes and trims the user's cache folder.
#include "jit/disk.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include <pardo/error.h>

#include "base/env.h"

namespace pardo::jit {
namespace {

constexpr std::int64_t default_cap = std::int64_t{1} << 30;
constexpr std::int64_t seconds_between_trims = 3600;
/// Larger than any program: a sparse file cannot fill the memory.
constexpr std::int64_t most_entry = std::int64_t{256} << 20;
constexpr const char* stamp_name = ".trimmed";
constexpr const char* suffix = ".bin";
constexpr const char* temporary_suffix = ".tmp";

/// In front of each binary.
struct Header {
    char magic[8];
    std::uint32_t format, header_bytes;
    Hash128 key;
    std::uint64_t length;
    Hash128 checksum;
};
constexpr char magic[8] = {'p', 'a', 'r', 'd', 'o', 'b', 'i', 'n'};
constexpr std::uint32_t format_version = 1;
static_assert(sizeof(Header) == 56);

Header header_of(const Hash128& key, const Binary& binary) {
    Header h{};
    std::memcpy(h.magic, magic, sizeof magic);
    h.format = format_version;
    h.header_bytes = sizeof(Header);
    h.key = key;
    h.length = binary.size();
    h.checksum = hash128(binary.data(), binary.size());
    return h;
}

/// "$XDG_CACHE_HOME/pardo", "~/.cache/pardo", or what PARDO_CACHE_DIR says; empty if there is no home.
std::string base_folder() {
    if (auto chosen = env("PARDO_CACHE_DIR")) {
        std::error_code failed;
        return std::filesystem::absolute(*chosen, failed).string();  // the process may go to another folder
    }
    if (auto cache = env("XDG_CACHE_HOME"); cache && cache->front() == '/') return *cache + "/pardo";
    if (auto home = env("HOME")) return *home + "/.cache/pardo";
    passwd entry{}, *found = nullptr;
    char buffer[4096];
    if (::getpwuid_r(::geteuid(), &entry, buffer, sizeof buffer, &found) != 0 || !found || !entry.pw_dir || !*entry.pw_dir) return {};
    return std::string(entry.pw_dir) + "/.cache/pardo";
}

/// Bytes, with an optional K, M or G after them.
std::int64_t parse_size(const std::string& text) {
    std::int64_t n = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, n);
    const std::string unit(rest, end);
    int shift = 0;
    if (unit == "K" || unit == "k")
        shift = 10;
    else if (unit == "M" || unit == "m")
        shift = 20;
    else if (unit == "G" || unit == "g")
        shift = 30;
    else if (!unit.empty())
        n = -1;
    if (error != std::errc() || n < 0 || n > (INT64_MAX >> shift))
        throw Error(ErrorCode::Value,
                    "PARDO_CACHE_SIZE: '" + text + "' is not a size; use a number of bytes, or one with K, M or G, as in 500M");
    return n << shift;
}

}  // namespace

Disk::Disk() { open(); }

void Disk::open() {
    try {
        if (!env_flag("PARDO_CACHE", true)) return refuse("PARDO_CACHE=off", false);
        const auto size = env("PARDO_CACHE_SIZE");
        cap_ = size ? parse_size(*size) : default_cap;
    } catch (const Error& e) {
        return refuse(e.message(), true);
    }
    const std::string base = base_folder();
    if (base.empty()) return refuse("there is no home folder; set PARDO_CACHE_DIR", true);
    path_ = base + "/" + PARDO_VERSION;
    std::string reason;
    if (!folder_.open(base, PARDO_VERSION, reason))
        return refuse(reason + "; set PARDO_CACHE_DIR to a folder of your own, or PARDO_CACHE=off to have none", true);
    enabled_ = true;
}

void Disk::refuse(const std::string& reason, bool warn) {
    reason_ = reason;
    enabled_ = false;
    if (warn) warn_once("jit.disk", "program cache: programs are not kept on disk: " + reason);
}

/// False once the descriptor is gone, with one warning.
bool Disk::usable() const {
    if (!enabled_) return false;
    if (folder_.intact()) return true;
    warn_once("jit.disk", "program cache: programs are no longer kept on disk: this process has closed " + path_);
    return false;
}

bool Disk::load(const Hash128& key, Binary& binary) {
    if (!usable()) return false;
    struct stat info {};
    File in = folder_.read(key.hex() + suffix, info);
    Header header;
    const std::int64_t most = std::min(cap_, most_entry);
    if (!in || info.st_size < static_cast<off_t>(sizeof header) || info.st_size > most || !in.read(&header, sizeof header)) return false;
    if (header.length != static_cast<std::uint64_t>(info.st_size) - sizeof header) return false;
    Header want = header_of(key, {});
    want.length = header.length;
    want.checksum = header.checksum;
    if (std::memcmp(&header, &want, sizeof header) != 0) return false;  // before the rest is read
    binary.resize(header.length);
    if (!in.read(binary.data(), binary.size()) || hash128(binary.data(), binary.size()) != header.checksum) return false;
    // The time of change is that of last use; an hour's resolution is enough to find the least recently used.
    if (info.st_mtim.tv_sec + seconds_between_trims < std::time(nullptr)) ::futimens(in.get(), nullptr);
    return true;
}

/// Readers find all of a file or nothing of it.
bool Disk::write(const Hash128& key, const Binary& binary) const {
    std::string temporary;
    File out = folder_.create(key.hex(), temporary_suffix, temporary);
    if (!out) return false;
    const Header header = header_of(key, binary);
    if (out.write(&header, sizeof header) && out.write(binary.data(), binary.size()) && out.close() &&
        folder_.rename(temporary, key.hex() + suffix))
        return true;
    const int error = errno;
    folder_.remove(temporary);
    errno = error;
    return false;
}

void Disk::store(const Hash128& key, const Binary& binary) {
    if (!writable_.load(std::memory_order_relaxed) || !usable()) return;
    const std::int64_t bytes = static_cast<std::int64_t>(sizeof(Header) + binary.size());
    if (bytes > std::min(cap_, most_entry)) return;
    if (!write(key, binary)) {
        const int error = errno;
        writable_.store(false, std::memory_order_relaxed);
        warn_once("jit.disk", "program cache: new programs are not kept on disk: cannot write in " + path_ + ": " + std::strerror(error));
        return;
    }
    trim_sometimes(bytes);
}

/// Looks at the size of the folder once an hour over all processes, and whenever this one has written an eighth of the cap.
void Disk::trim_sometimes(std::int64_t written) {
    const bool much = written_.fetch_add(written, std::memory_order_relaxed) + written > cap_ / 8;
    const bool fresh = folder_.changed(stamp_name) + seconds_between_trims > std::time(nullptr);
    if (fresh && !much) return;
    written_.store(0, std::memory_order_relaxed);
    folder_.touch(stamp_name);
    trim();
}

/// Removes the least recently used files until nine tenths of the cap are left, and what crashed processes left behind.
void Disk::trim() {
    const std::int64_t now = std::time(nullptr);
    for (const Entry& entry : folder_.list(temporary_suffix))
        if (entry.used + seconds_between_trims < now) folder_.remove(entry.name);
    std::vector<Entry> entries = folder_.list(suffix);
    std::int64_t total = 0;
    for (const Entry& entry : entries) total += entry.bytes;
    if (total <= cap_) return;
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.used != b.used ? a.used < b.used : a.name < b.name; });
    for (const Entry& entry : entries) {
        if (total <= cap_ / 10 * 9) return;
        if (folder_.remove(entry.name)) total -= entry.bytes;
    }
}

void Disk::clear() {
    if (!usable()) return;
    for (const char* ending : {suffix, temporary_suffix, stamp_name})
        for (const Entry& entry : folder_.list(ending)) folder_.remove(entry.name);
}

DiskState Disk::state() const {
    DiskState state{path_, enabled_, reason_, 0, 0, cap_};
    if (!usable()) return state;
    for (const Entry& entry : folder_.list(suffix)) {
        ++state.files;
        state.bytes += entry.bytes;
    }
    return state;
}

}  // namespace pardo::jit

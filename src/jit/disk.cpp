// src/jit/disk.cpp: reads, writes and trims the user's cache folder.
#include "jit/disk.h"

#include <dirent.h>
#include <fcntl.h>
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

/// A file descriptor that closes itself.
class File {
public:
    explicit File(int fd) : fd_(fd) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() { close(); }
    explicit operator bool() const { return fd_ >= 0; }
    int get() const { return fd_; }
    bool close() {
        const int fd = std::exchange(fd_, -1);
        return fd < 0 || ::close(fd) == 0;
    }
    bool read(void* to, std::size_t bytes) { return transfer(static_cast<char*>(to), bytes, ::read); }
    bool write(const void* from, std::size_t bytes) { return transfer(static_cast<const char*>(from), bytes, ::write); }

private:
    template <class Byte, class Call> bool transfer(Byte* at, std::size_t bytes, Call call) {
        while (bytes > 0) {
            const ssize_t n = call(fd_, at, bytes);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return false;
            at += n;
            bytes -= static_cast<std::size_t>(n);
        }
        return true;
    }
    int fd_;
};

bool ends_with(const std::string& text, const char* end) {
    const std::size_t n = std::strlen(end);
    return text.size() >= n && text.compare(text.size() - n, n, end) == 0;
}

/// Creates a folder and those above it; new ones are the user's alone.
bool make_folders(const std::string& path) {
    for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
        const std::string part = path.substr(0, at);
        if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && at == std::string::npos) return false;
        if (at == std::string::npos) return true;
    }
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

/// Bytes, with an optional K, M or G behind.
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
                    "PARDO_CACHE_SIZE: '" + text + "' is no size; use a number of bytes, or one with K, M or G, as in 500M");
    return n << shift;
}

/// One file of the folder.
struct Item {
    std::string path;
    std::int64_t bytes, used;  // used: seconds
};

/// Files with one of our endings.
std::vector<Item> list(const std::string& folder, const char* ending) {
    std::vector<Item> items;
    DIR* dir = ::opendir(folder.c_str());
    if (!dir) return items;
    while (const dirent* entry = ::readdir(dir)) {
        const std::string file = entry->d_name;
        struct stat info {};
        if (!ends_with(file, ending) || ::fstatat(::dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
            continue;
        std::string path = folder;
        path.append("/").append(file);
        items.push_back({std::move(path), info.st_size, info.st_mtim.tv_sec});
    }
    ::closedir(dir);
    return items;
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
    if (!make_folders(path_)) return refuse("cannot create " + path_ + ": " + std::strerror(errno), true);
    // Who may write the folder above could exchange ours.
    enabled_ = check_folder(base) && check_folder(path_);
}

void Disk::refuse(const std::string& reason, bool warn) {
    reason_ = reason;
    enabled_ = false;
    if (warn) warn_once("jit.disk", "program cache: programs are not kept on disk: " + reason);
}

bool Disk::check_folder(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
        refuse("cannot look at " + path + ": " + std::strerror(errno), true);
    } else if (!S_ISDIR(info.st_mode)) {
        refuse(path + " is no folder", true);
    } else if (info.st_uid != ::geteuid()) {
        refuse(path + " belongs to another user", true);
    } else if (info.st_mode & (S_IWGRP | S_IWOTH)) {
        refuse(path + " may be written by other users; run chmod 700 on it", true);
    } else {
        return true;
    }
    return false;
}

std::string Disk::file(const Hash128& key) const { return path_ + "/" + key.hex() + suffix; }

bool Disk::load(const Hash128& key, Binary& binary) {
    if (!enabled_) return false;
    File in(::open(file(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!in) return false;
    struct stat info {};
    Header header;
    if (::fstat(in.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) return false;
    if (info.st_size < static_cast<off_t>(sizeof header) || !in.read(&header, sizeof header)) return false;
    if (header.length != static_cast<std::uint64_t>(info.st_size) - sizeof header) return false;
    binary.resize(header.length);
    if (!in.read(binary.data(), binary.size())) return false;
    const Header want = header_of(key, binary);
    if (std::memcmp(&header, &want, sizeof header) != 0) return false;
    // The time of change is that of last use; an hour's resolution is enough to find the least recently used.
    if (info.st_mtim.tv_sec + seconds_between_trims < std::time(nullptr)) ::futimens(in.get(), nullptr);
    return true;
}

/// Readers find all of a file or nothing of it. Its first name is its own also among containers, whose process numbers repeat.
bool Disk::write(const Hash128& key, const Binary& binary) const {
    std::string temporary = path_ + "/" + key.hex() + ".XXXXXX" + temporary_suffix;
    File out(::mkostemps(temporary.data(), static_cast<int>(std::strlen(temporary_suffix)), O_CLOEXEC));
    if (!out) return false;
    const Header header = header_of(key, binary);
    if (out.write(&header, sizeof header) && out.write(binary.data(), binary.size()) && out.close() &&
        ::rename(temporary.c_str(), file(key).c_str()) == 0)
        return true;
    const int error = errno;
    ::unlink(temporary.c_str());
    errno = error;
    return false;
}

void Disk::store(const Hash128& key, const Binary& binary) {
    if (!enabled_ || !writable_.load(std::memory_order_relaxed)) return;
    const std::int64_t bytes = static_cast<std::int64_t>(sizeof(Header) + binary.size());
    if (bytes > cap_) return;
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
    const std::string stamp = path_ + "/" + stamp_name;
    struct stat info {};
    const bool fresh = ::stat(stamp.c_str(), &info) == 0 && info.st_mtim.tv_sec + seconds_between_trims > std::time(nullptr);
    if (fresh && !much) return;
    written_.store(0, std::memory_order_relaxed);
    File touched(::open(stamp.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (touched) ::futimens(touched.get(), nullptr);
    trim();
}

/// Removes the least recently used files until nine tenths of the cap are left, and what crashed processes left behind.
void Disk::trim() {
    const std::int64_t now = std::time(nullptr);
    for (const Item& item : list(path_, temporary_suffix))
        if (item.used + seconds_between_trims < now) ::unlink(item.path.c_str());
    std::vector<Item> items = list(path_, suffix);
    std::int64_t total = 0;
    for (const Item& item : items) total += item.bytes;
    if (total <= cap_) return;
    std::sort(items.begin(), items.end(),
              [](const Item& a, const Item& b) { return a.used != b.used ? a.used < b.used : a.path < b.path; });
    for (const Item& item : items) {
        if (total <= cap_ / 10 * 9) return;
        if (::unlink(item.path.c_str()) == 0) total -= item.bytes;
    }
}

void Disk::clear() {
    if (!enabled_) return;
    for (const char* ending : {suffix, temporary_suffix, stamp_name})
        for (const Item& item : list(path_, ending)) ::unlink(item.path.c_str());
}

DiskState Disk::state() const {
    DiskState state{path_, enabled_, reason_, 0, 0, cap_};
    if (!enabled_) return state;
    for (const Item& item : list(path_, suffix)) {
        ++state.files;
        state.bytes += item.bytes;
    }
    return state;
}

}  // namespace pardo::jit

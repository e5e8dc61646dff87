// src/jit/disk.cpp: the program cache on disk.
#include "jit/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>

#include "base/env.h"

namespace pardo::jit::disk {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t magic = 0x31'6f'64'72'61'70u;   // "pardo1"
constexpr std::uint32_t format_version = 1;
constexpr std::int64_t default_cap = std::int64_t{1} << 30;
constexpr auto sweep_interval = std::chrono::hours(1);

/// What stands before the binary in each file.
struct Header {
    std::uint64_t magic;
    std::uint32_t format;
    std::uint32_t unused;
    Hash128 key;
    std::uint64_t length;
    Hash128 checksum;
};

/// An open file that closes itself.
class File {
public:
    File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    explicit operator bool() const { return fd_ >= 0; }
    int fd() const { return fd_; }

    bool read(void* to, std::size_t bytes) const {
        auto* p = static_cast<char*>(to);
        while (bytes > 0) {
            const ssize_t got = ::read(fd_, p, bytes);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return false;
            p += got, bytes -= static_cast<std::size_t>(got);
        }
        return true;
    }
    bool write(const void* from, std::size_t bytes) const {
        const auto* p = static_cast<const char*>(from);
        while (bytes > 0) {
            const ssize_t put = ::write(fd_, p, bytes);
            if (put < 0 && errno == EINTR) continue;
            if (put <= 0) return false;
            p += put, bytes -= static_cast<std::size_t>(put);
        }
        return true;
    }

private:
    int fd_;
};

std::string base_folder() {
    if (auto dir = env("PARDO_CACHE_DIR")) return *dir;
    if (auto dir = env("XDG_CACHE_HOME")) return *dir + "/pardo";
    if (auto home = env("HOME")) return *home + "/.cache/pardo";
    return {};
}

/// Bytes with an optional K, M or G behind the number.
std::int64_t cap_from_environment() {
    const auto text = env("PARDO_CACHE_SIZE");
    if (!text) return default_cap;
    char* end = nullptr;
    errno = 0;
    const double number = std::strtod(text->c_str(), &end);
    const std::string unit(end);
    constexpr std::pair<const char*, double> units[] = {{"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}};
    for (const auto& [name, factor] : units) {
        if (unit == name && end != text->c_str() && errno == 0 && number >= 0) return static_cast<std::int64_t>(number * factor);
    }
    warn_once("PARDO_CACHE_SIZE", "PARDO_CACHE_SIZE=" + *text + " is not a size such as 500M or 2G; using 1G");
    return default_cap;
}

/// The folder, made and judged once a process (and again after clear_disk).
class Folder {
public:
    Folder() { open(); }

    const DiskState& state() const { return state_; }
    const std::string& path() const { return state_.path; }
    bool enabled() const { return state_.enabled && !broken_; }
    std::string file(const Hash128& key) const { return state_.path + "/" + key.hex() + ".bin"; }

    /// Stops writing for the rest of the process, saying why once.
    void give_up(const std::string& why) {
        broken_ = true;
        warn_once("cache folder", "the program cache " + state_.path + " cannot be written (" + why + "); kernels are compiled again in each process");
    }

private:
    void open() {
        state_.cap_bytes = cap_from_environment();
        if (!env_flag("PARDO_CACHE", true)) {
            state_.reason = "PARDO_CACHE=off";
            return;
        }
        const std::string base = base_folder();
        if (base.empty()) return refuse("neither HOME nor XDG_CACHE_HOME nor PARDO_CACHE_DIR is set");
        state_.path = base + "/" + PARDO_VERSION;
        std::error_code error;
        fs::create_directories(base, error);
        if (!error && ::mkdir(state_.path.c_str(), 0700) != 0 && errno != EEXIST) error.assign(errno, std::generic_category());
        if (error) return refuse(error.message());
        judge();
    }

    void judge() {
        struct stat info{};
        if (::lstat(state_.path.c_str(), &info) != 0) return refuse(std::strerror(errno));
        if (!S_ISDIR(info.st_mode)) return refuse("it is not a folder");
        if (info.st_uid != ::geteuid()) return refuse("another user owns it");
        if (info.st_mode & (S_IWGRP | S_IWOTH)) return refuse("other users may write to it");
        state_.enabled = true;
    }

    void refuse(const std::string& why) {
        state_.enabled = false;
        state_.reason = why;
        warn_once("cache folder", "the program cache " + state_.path + " is not used (" + why + "); kernels are compiled again in each process");
    }

    DiskState state_;
    std::atomic<bool> broken_{false};
};

Folder& folder() {
    static auto* made = new Folder;   // outlives threads that still compile at exit
    return *made;
}

/// Removes the least recently used files until the folder is under three quarters of its cap. One process an hour does it: whoever renews the stamp.
void sweep_if_due() {
    Folder& f = folder();
    const fs::path stamp = fs::path(f.path()) / "swept";
    std::error_code error;
    const auto now = fs::file_time_type::clock::now();
    const auto last = fs::last_write_time(stamp, error);
    if (!error && now - last < sweep_interval) return;
    const File touched(stamp.string(), O_WRONLY | O_CREAT);
    if (!touched) return;
    ::futimens(touched.fd(), nullptr);

    struct Entry {
        fs::path path;
        fs::file_time_type used;
        std::int64_t bytes;
    };
    std::vector<Entry> entries;
    std::int64_t total = 0;
    for (const auto& item : fs::directory_iterator(f.path(), error)) {
        std::error_code gone;
        const std::string extension = item.path().extension().string();
        const auto used = item.last_write_time(gone);
        if (gone || (extension != ".bin" && extension != ".tmp")) continue;
        if (extension == ".tmp") {
            if (now - used > sweep_interval) fs::remove(item.path(), gone);   // left by a process that died
            continue;
        }
        entries.push_back({item.path(), used, static_cast<std::int64_t>(item.file_size(gone))});
        total += entries.back().bytes;
    }
    if (total <= f.state().cap_bytes) return;
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    for (const Entry& entry : entries) {
        if (total <= f.state().cap_bytes / 4 * 3) break;
        if (fs::remove(entry.path, error)) total -= entry.bytes;
    }
}

}  // namespace

std::optional<Binary> load(const Hash128& key) {
    Folder& f = folder();
    if (!f.enabled()) return {};
    const File file(f.file(key), O_RDONLY);
    if (!file) return {};
    Header header{};
    struct stat info{};
    if (!file.read(&header, sizeof header) || ::fstat(file.fd(), &info) != 0) return {};
    const bool fits = header.magic == magic && header.format == format_version && header.key == key &&
                      static_cast<std::uint64_t>(info.st_size) == sizeof header + header.length;
    if (!fits) return {};
    Binary binary(header.length);
    if (!file.read(binary.data(), binary.size()) || hash128(binary.data(), binary.size()) != header.checksum) return {};
    ::futimens(file.fd(), nullptr);   // last use, for the sweep
    return binary;
}

void store(const Hash128& key, const Binary& binary) {
    Folder& f = folder();
    if (!f.enabled()) return;
    static std::atomic<unsigned> serial{0};
    const std::string temporary =
        f.path() + "/" + key.hex() + "." + std::to_string(::getpid()) + "." + std::to_string(serial.fetch_add(1)) + ".tmp";
    const Header header{magic, format_version, 0, key, binary.size(), hash128(binary.data(), binary.size())};
    bool written = false;
    {
        const File file(temporary, O_WRONLY | O_CREAT | O_EXCL);
        written = file && file.write(&header, sizeof header) && file.write(binary.data(), binary.size());
    }
    if (written && ::rename(temporary.c_str(), f.file(key).c_str()) == 0) return sweep_if_due();
    const int why = errno;
    ::unlink(temporary.c_str());
    f.give_up(std::strerror(why));
}

DiskState state() {
    DiskState result = folder().state();
    std::error_code error;
    if (!result.enabled) return result;
    for (const auto& item : fs::directory_iterator(result.path, error)) {
        std::error_code gone;
        if (item.path().extension() != ".bin") continue;
        ++result.files;
        result.bytes += static_cast<std::int64_t>(item.file_size(gone));
    }
    return result;
}

void clear() {
    const Folder& f = folder();
    if (!f.enabled()) return;
    std::error_code error;
    for (const auto& item : fs::directory_iterator(f.path(), error)) {
        std::error_code gone;
        fs::remove(item.path(), gone);
    }
}

}  // namespace pardo::jit::disk

// src/jit/folder.cpp: opens, checks and uses a folder by its descriptor.
#include "jit/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace pardo::jit {
namespace {

template <class Byte, class Call> bool transfer(int fd, Byte* at, std::size_t bytes, Call call) {
    while (bytes > 0) {
        const ssize_t n = call(fd, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        bytes -= static_cast<std::size_t>(n);
    }
    return true;
}

/// Creates a folder and those above it; new ones are the user's alone.
bool make_folders(const std::string& path) {
    for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
        const std::string part = path.substr(0, at);
        if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && at == std::string::npos) return false;
        if (at == std::string::npos) return true;
    }
}

/// A folder below `parent`, open, or none and why.
File open_checked(int parent, const std::string& name, const std::string& path, int flags, std::string& reason) {
    File folder(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | flags));
    struct stat info {};
    if (!folder || ::fstat(folder.get(), &info) != 0)
        reason = errno == ENOTDIR || errno == ELOOP ? path + " is not a folder" : "cannot open " + path + ": " + std::strerror(errno);
    else if (info.st_uid != ::geteuid())
        reason = path + " belongs to another user";
    else if (info.st_mode & (S_IWGRP | S_IWOTH))
        reason = path + " may be written by other users; run chmod 700 on it";
    else
        return folder;
    return File();
}

}  // namespace

bool File::read(void* to, std::size_t bytes) { return transfer(fd_, static_cast<char*>(to), bytes, ::read); }
bool File::write(const void* from, std::size_t bytes) { return transfer(fd_, static_cast<const char*>(from), bytes, ::write); }

Folder::~Folder() {
    if (!intact()) fd_.release();  // the number is another's
}

bool Folder::open(const std::string& base, const std::string& name, std::string& reason) {
    const std::string path = base + "/" + name;
    if (!make_folders(path)) {
        reason = "cannot create " + path + ": " + std::strerror(errno);
        return false;
    }
    // The user may have put the cache elsewhere by a link. A user who may write the folder above could exchange ours, so it is checked too.
    const File above = open_checked(AT_FDCWD, base, base, 0, reason);
    if (!above) return false;
    fd_ = open_checked(above.get(), name, path, O_NOFOLLOW, reason);
    struct stat info {};
    if (!fd_ || ::fstat(fd_.get(), &info) != 0) return false;
    device_ = info.st_dev;
    inode_ = info.st_ino;
    return true;
}

bool Folder::intact() const {
    struct stat info {};
    return fd_ && ::fstat(fd_.get(), &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
}

File Folder::read(const std::string& name, struct stat& info) const {
    File file(::openat(fd_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return File();
    if (info.st_uid != ::geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH))) return File();
    return file;
}

File Folder::create(const std::string& stem, const std::string& ending, std::string& name) const {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) return File();
    char digits[20];
    std::snprintf(digits, sizeof digits, ".%016llx", static_cast<unsigned long long>(number));
    name = stem + digits + ending;
    return File(::openat(fd_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
}

bool Folder::rename(const std::string& from, const std::string& to) const {
    return ::renameat(fd_.get(), from.c_str(), fd_.get(), to.c_str()) == 0;
}

bool Folder::remove(const std::string& name) const { return ::unlinkat(fd_.get(), name.c_str(), 0) == 0; }

std::int64_t Folder::changed(const std::string& name) const {
    struct stat info {};
    return ::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 ? info.st_mtim.tv_sec : 0;
}

void Folder::touch(const std::string& name) const {
    const File file(::openat(fd_.get(), name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600));
    if (file) ::futimens(file.get(), nullptr);
}

std::vector<Entry> Folder::list(const char* ending) const {
    std::vector<Entry> entries;
    const int fd = ::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // a position of its own
    if (fd < 0) return entries;
    DIR* dir = ::fdopendir(fd);
    if (!dir) {
        ::close(fd);
        return entries;
    }
    while (const dirent* entry = ::readdir(dir)) {
        struct stat info {};
        if (!std::string_view(entry->d_name).ends_with(ending)) continue;
        if (::fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) continue;
        entries.push_back({entry->d_name, info.st_size, info.st_mtim.tv_sec});
    }
    ::closedir(dir);
    return entries;
}

}  // namespace pardo::jit

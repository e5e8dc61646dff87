// src/jit/folder.h: a folder that is the user's alone, held open: what is checked is what is used, even if folders are renamed meanwhile.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pardo::jit {

/// A file descriptor that closes itself.
class File {
public:
    explicit File(int fd = -1) : fd_(fd) {}
    File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    File& operator=(File&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() { close(); }
    explicit operator bool() const { return fd_ >= 0; }
    int get() const { return fd_; }
    bool close() {
        const int fd = std::exchange(fd_, -1);
        return fd < 0 || ::close(fd) == 0;
    }
    /// Gives up the number without closing it.
    void release() { fd_ = -1; }
    /// All of the bytes, or false.
    bool read(void* to, std::size_t bytes);
    bool write(const void* from, std::size_t bytes);

private:
    int fd_;
};

/// One file of a folder.
struct Entry {
    std::string name;
    std::int64_t bytes, used;  // used: seconds
};

class Folder {
public:
    Folder() = default;
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder();

    /// Makes `base`/`name` where it is missing and opens it. False, with what is wrong in `reason`, if either cannot be used, belongs to
    /// another user, or may be written by others.
    bool open(const std::string& base, const std::string& name, std::string& reason);
    /// False if our descriptor has been closed, as daemons do with all that they inherit: its number may be another file's by now.
    bool intact() const;

    /// A file to read, if it is a regular one of the user that no other user may write; neither a link nor a pipe is followed or waited
    /// for.
    File read(const std::string& name, struct stat& info) const;
    /// A new file to write; its name, made of `stem` and `ending`, is its own also among containers, whose process numbers repeat.
    File create(const std::string& stem, const std::string& ending, std::string& name) const;
    bool rename(const std::string& from, const std::string& to) const;
    bool remove(const std::string& name) const;
    /// Seconds at which a file was changed; 0 if it is not there.
    std::int64_t changed(const std::string& name) const;
    /// Makes an empty file, or one changed now.
    void touch(const std::string& name) const;
    /// The regular files with an ending.
    std::vector<Entry> list(const char* ending) const;

private:
    File fd_;
    dev_t device_{};
    ino_t inode_{};
};

}  // namespace pardo::jit

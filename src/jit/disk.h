// src/jit/disk.h: compiled programs in the user's cache folder.
#pragma once

#include <atomic>
#include <string>

#include "jit/cache.h"
#include "jit/folder.h"

namespace pardo::jit {

/// One folder of binaries, a file a key. Nothing here throws: a folder or file that cannot be used costs one warning and is done without.
/// Safe from any thread and with any number of processes on one folder: files appear by renaming and are checked when read.
class Disk {
public:
    /// Finds and checks the folder by the environment: PARDO_CACHE, PARDO_CACHE_DIR, PARDO_CACHE_SIZE, XDG_CACHE_HOME, HOME.
    Disk();

    /// The binary of a key; false if there is none or it is damaged.
    bool load(const Hash128& key, Binary& binary);
    void store(const Hash128& key, const Binary& binary);
    void clear();
    DiskState state() const;

private:
    void open();
    void refuse(const std::string& reason, bool warn);
    bool usable() const;
    bool write(const Hash128& key, const Binary& binary) const;
    void trim_sometimes(std::int64_t written);
    void trim();

    Folder folder_;
    std::string path_, reason_;
    std::int64_t cap_ = 0;
    bool enabled_ = false;
    std::atomic<bool> writable_{true};
    std::atomic<std::int64_t> written_{0};  // since this process looked at the folder's size
};

}  // namespace pardo::jit

// src/jit/pack.h: machine code that was compiled when pardo was built: one read-only file beside the module, by text and target.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "jit/cache.h"

namespace pardo::jit {

/// All that a GPU's machine code is made of but the target: the compiler's options, a line each, an empty line, the text.
inline std::string packed_text(std::string_view options, std::string_view text) { return std::string(options) + '\n' + std::string(text); }

/// A file that cmake/kernels/pack.py has written. Nothing here throws: what cannot be read is not there, and costs one warning.
class Pack {
public:
    /// "off" and files that are not there: an empty one.
    explicit Pack(const std::string& path);
    /// That of PARDO_KERNEL_PACK, else kernels.pack in the folder of the module or library that holds this code. Read at first use.
    static const Pack& installed();

    const std::string& path() const { return path_; }
    /// "x86-64-v4", "sm_90"; "compute_90" for PTX.
    const std::vector<std::string>& targets() const { return targets_; }
    std::int64_t count() const { return static_cast<std::int64_t>(entries_.size()); }
    std::int64_t bytes() const { return bytes_; }

    /// The code of packed_text's hash for the target of a number; no file is read.
    bool holds(const Hash128& text, std::size_t target) const { return find(text, target) != nullptr; }
    /// False if it is not there, or the file has changed or is damaged.
    bool read(const Hash128& text, std::size_t target, Binary& code) const;

private:
    /// As in the file.
    struct Entry {
        Hash128 text;
        std::uint32_t target, bytes, group, at;
    };
    struct Group {
        std::uint64_t offset;
        std::uint32_t packed_bytes, bytes;
    };
    const Entry* find(const Hash128& text, std::size_t target) const;
    bool open();
    bool unpack(const Entry& entry, Binary& code) const;

    std::string path_;
    std::vector<std::string> targets_;
    std::vector<Entry> entries_;  // by text and target, ascending
    std::vector<Group> groups_;
    std::int64_t bytes_ = 0;
};

}  // namespace pardo::jit

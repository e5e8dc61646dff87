// src/jit/disk.h: the folder of compiled programs: checked on the way in, written by rename, swept by age.
#pragma once

#include <optional>

#include "base/hash.h"
#include "jit/cache.h"

namespace pardo::jit::disk {

/// The stored binary of a key; nothing when there is none, or when the file is damaged.
std::optional<Binary> load(const Hash128& key);
/// Stores a binary; a folder that cannot be used costs one warning, never a failure.
void store(const Hash128& key, const Binary& binary);
DiskState state();
void clear();

}  // namespace pardo::jit::disk

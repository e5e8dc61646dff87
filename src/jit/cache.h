// src/jit/cache.h: the program cache: one key, memory in front of disk, each key compiled once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "device/program.h"

namespace pardo::jit {

/// What a compiler makes and the disk keeps: an object file, a cubin, an OpenCL binary.
using Binary = std::vector<std::uint8_t>;

/// A text, which holds no zeros, in front of a binary that does not tell what it says.
Binary pack(std::string_view text, const Binary& binary);
/// Throws Internal for what pack() has not made.
std::pair<std::string, Binary> unpack(const Binary& both);

/// The two steps that a back end supplies.
struct CompileSteps {
    std::string_view name;                                    // kernel name, for messages
    std::string_view device = {};                             // its id, for messages; empty where that is not known
    std::function<Binary()> compile;                          // slow; no lock of the cache is held
    std::function<Ref<device::Program>(const Binary&)> load;  // fast
    /// The code that was compiled when pardo was built, empty if it cannot be read; false: pardo came without it. Null: it comes without
    /// such programs.
    std::function<bool(Binary&)> packed = nullptr;
    /// The name on disk, asked for when the program is not in memory; null: the key. It tells of what is emitted, and of the compiler.
    std::function<Hash128()> file = nullptr;
};

/// Key of (source or IR text, options, compiler and version, device architecture); the caller joins them in `text`. This build's id goes
/// in too: another build may lower or emit the same text in another way.
Hash128 key(std::string_view text);
/// Key of a kernel by its hash (ir/hash.h), before anything is emitted, and of what else decides what is made of it: device, shape,
/// options.
Hash128 key(const Hash128& kernel, std::string_view rest);

/// The program for a key: from memory, else from what came with pardo, else from disk, else compiled. Other threads that ask for the same
/// key meanwhile wait for this one. Concurrent processes compile a key once each at most. A damaged file is ignored and rewritten; a folder
/// that cannot be used costs one warning.
Ref<device::Program> get(const Hash128& key, const CompileSteps& recipe);

/// The program for a key, if it is in memory.
Ref<device::Program> find(const Hash128& key);

/// Compiles and loads a program that is not kept: its key cannot tell all that it is made of.
Ref<device::Program> make(const CompileSteps& recipe);

/// The disk alone, for what is not a program.
void keep(const Hash128& key, const Binary& data);
bool kept(const Hash128& key, Binary& data);

/// "~/.cache/pardo/<version>", and why it is not used, if so.
struct DiskState {
    std::string path;
    bool enabled = false;
    std::string reason;
    std::int64_t files = 0, bytes = 0, cap_bytes = 0;
};
DiskState disk_state();
/// Forgets the programs in memory and what is known of the folder (tests); programs in use stay alive.
void clear_memory();
/// Deletes the files of this version's folder.
void clear_disk();

}  // namespace pardo::jit

// tests/fuzz/native/cache.cpp: entries of the program cache with any content. What is read is what was stored, or nothing.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "jit/disk.h"

namespace {

using namespace pardo;

void require(bool holds) {
    if (!holds) std::abort();
}

/// The layout of src/jit/disk.cpp.
constexpr std::size_t header_bytes = 56, length_at = 32, checksum_at = 40;

struct Cache {
    Cache() {
        char made[] = "/dev/shm/pardo-fuzz-XXXXXX", other[] = "/tmp/pardo-fuzz-XXXXXX";
        base = ::mkdtemp(made) ? made : ::mkdtemp(other);
        ::setenv("PARDO_CACHE_DIR", base.c_str(), 1);
        disk.emplace();
        require(disk->state().enabled);
        file = base + "/" + PARDO_VERSION + "/" + key.hex() + ".bin";
    }
    ~Cache() {
        std::error_code ignored;
        std::filesystem::remove_all(base, ignored);
    }
    std::string base, file;
    Hash128 key = hash128("key");
    std::optional<jit::Disk> disk;
};

void put(const Cache& cache, const std::string& entry) {
    const int fd = ::open(cache.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    require(fd >= 0);
    require(::write(fd, entry.data(), entry.size()) == static_cast<ssize_t>(entry.size()));
    ::close(fd);
}

}  // namespace

/// The first byte says which parts of the header are made true, so that inputs come to each of its checks.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Cache cache;
    if (size == 0) return 0;
    const int mend = data[0];
    std::string entry(reinterpret_cast<const char*>(data + 1), size - 1);
    if (entry.size() >= header_bytes) {
        const auto payload = static_cast<std::uint64_t>(entry.size() - header_bytes);
        const Hash128 checksum = hash128(entry.data() + header_bytes, payload);
        const std::uint32_t format[] = {1, header_bytes};
        if (mend & 1) std::memcpy(entry.data(), "pardobin", 8);
        if (mend & 2) std::memcpy(entry.data() + 8, format, 8);
        if (mend & 4) std::memcpy(entry.data() + 16, &cache.key, 16);
        if (mend & 8) std::memcpy(entry.data() + length_at, &payload, 8);
        if (mend & 16) std::memcpy(entry.data() + checksum_at, &checksum, 16);
    }
    put(cache, entry);
    jit::Binary binary;
    const bool loaded = cache.disk->load(cache.key, binary);
    require(loaded || (mend & 31) != 31 || entry.size() < header_bytes);
    if (!loaded) return 0;
    const std::string_view stored = std::string_view(entry).substr(header_bytes);
    require(
        std::equal(stored.begin(), stored.end(), binary.begin(), binary.end(), [](char a, auto b) { return a == static_cast<char>(b); }));
    return 0;
}

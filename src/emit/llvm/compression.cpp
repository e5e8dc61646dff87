// src/emit/llvm/compression.cpp: LLVM's doors to zlib and zstd, shut. Its own would bring both libraries into the wheel for compressed
// debug sections, which no object of ours has, and for checksums of files that hold debug information.
#include <llvm/Support/CRC.h>
#include <llvm/Support/Compression.h>
#include <llvm/Support/Error.h>

namespace llvm {

/// The CRC-32 of IEEE 802.3, bit by bit.
uint32_t crc32(uint32_t crc, ArrayRef<uint8_t> data) {
    crc = ~crc;
    for (const uint8_t byte : data) {
        crc ^= byte;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0u);
    }
    return ~crc;
}
uint32_t crc32(ArrayRef<uint8_t> data) { return crc32(0, data); }
void JamCRC::update(ArrayRef<uint8_t> data) { CRC = ~crc32(~CRC, data); }

}  // namespace llvm

namespace llvm::compression {
namespace {

constexpr const char* none = "pardo is built without compression of debug sections";

Error refuse() { return createStringError(inconvertibleErrorCode(), none); }

}  // namespace

namespace zlib {
bool isAvailable() { return false; }
void compress(ArrayRef<uint8_t>, SmallVectorImpl<uint8_t>&, int) { llvm_unreachable(none); }
Error decompress(ArrayRef<uint8_t>, uint8_t*, size_t&) { return refuse(); }
Error decompress(ArrayRef<uint8_t>, SmallVectorImpl<uint8_t>&, size_t) { return refuse(); }
}  // namespace zlib

namespace zstd {
bool isAvailable() { return false; }
void compress(ArrayRef<uint8_t>, SmallVectorImpl<uint8_t>&, int, bool) { llvm_unreachable(none); }
Error decompress(ArrayRef<uint8_t>, uint8_t*, size_t&) { return refuse(); }
Error decompress(ArrayRef<uint8_t>, SmallVectorImpl<uint8_t>&, size_t) { return refuse(); }
}  // namespace zstd

const char* getReasonIfUnsupported(Format) { return none; }
void compress(Params, ArrayRef<uint8_t>, SmallVectorImpl<uint8_t>&) { llvm_unreachable(none); }
Error decompress(DebugCompressionType, ArrayRef<uint8_t>, uint8_t*, size_t) { return refuse(); }
Error decompress(Format, ArrayRef<uint8_t>, SmallVectorImpl<uint8_t>&, size_t) { return refuse(); }
Error decompress(DebugCompressionType, ArrayRef<uint8_t>, SmallVectorImpl<uint8_t>&, size_t) { return refuse(); }

}  // namespace llvm::compression

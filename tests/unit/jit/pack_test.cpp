// tests/unit/jit/pack_test.cpp: machine code that came with pardo is found by text and target; other texts, damage and other files are not.
#include <gtest/gtest.h>

#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/counters.h"
#include "jit/cache.h"
#include "jit/pack.h"

namespace pardo::jit {
namespace {

namespace fs = std::filesystem;

/// A file as cmake/kernels/pack.py writes it.
class PackTest : public testing::Test {
protected:
    struct Code {
        Hash128 text;
        std::uint32_t target;
        std::string code;
    };

    void SetUp() override {
        char name[] = "/tmp/pardo-pack-test-XXXXXX";
        ASSERT_NE(::mkdtemp(name), nullptr);
        folder_ = name;
        path_ = folder_ + "/kernels.pack";
    }
    void TearDown() override { fs::remove_all(folder_); }

    template <class T> static void put(std::string& to, const T& value) { to.append(reinterpret_cast<const char*>(&value), sizeof value); }

    void write(std::vector<Code> codes, std::uint32_t format = 1) {
        std::sort(codes.begin(), codes.end(),
                  [](const Code& a, const Code& b) { return std::tie(a.text, a.target) < std::tie(b.text, b.target); });
        std::string head = "pardopak", body;
        for (const std::uint32_t word : {format, 2u, static_cast<std::uint32_t>(codes.size()), 0u}) put(head, word);
        head += std::string("sm_80\0\0\0\0\0\0\0\0\0\0\0compute_90\0\0\0\0\0\0", 32);
        const std::uint64_t start = head.size() + 40 * codes.size();
        for (const Code& c : codes) {
            std::string small(::compressBound(c.code.size()), '\0');
            uLongf bytes = small.size();
            ASSERT_EQ(
                ::compress(reinterpret_cast<Bytef*>(small.data()), &bytes, reinterpret_cast<const Bytef*>(c.code.data()), c.code.size()),
                Z_OK);
            small.resize(bytes);
            put(head, c.text);
            for (const std::size_t word : {std::size_t{c.target}, small.size(), c.code.size(), std::size_t{0}})
                put(head, static_cast<std::uint32_t>(word));
            put(head, start + body.size());
            put(body, c.text);
            put(body, c.target);
            put(body, static_cast<std::uint32_t>(c.code.size()));
            body += small;
        }
        std::ofstream(path_, std::ios::binary) << head << body;
    }

    static std::string read(const Pack& pack, const Hash128& text, std::size_t target) {
        Binary code;
        return pack.read(text, target, code) ? std::string(code.begin(), code.end()) : "none";
    }

    std::string folder_, path_;
    const Hash128 a_ = hash128(packed_text("-O\n", "a")), b_ = hash128(packed_text("-O\n", "b"));
};

TEST_F(PackTest, CodeIsFoundByTextAndTarget) {
    write({{a_, 0, "code of a"}, {a_, 1, std::string(10000, 'x')}, {b_, 1, "code of b"}});
    const Pack pack(path_);
    EXPECT_EQ(pack.targets(), (std::vector<std::string>{"sm_80", "compute_90"}));
    EXPECT_EQ(pack.count(), 3);
    EXPECT_EQ(pack.bytes(), static_cast<std::int64_t>(fs::file_size(path_)));
    EXPECT_EQ(read(pack, a_, 0), "code of a");
    EXPECT_EQ(read(pack, a_, 1), std::string(10000, 'x'));
    EXPECT_EQ(read(pack, b_, 1), "code of b");
    EXPECT_FALSE(pack.holds(b_, 0));
    EXPECT_EQ(read(pack, b_, 0), "none");
    EXPECT_FALSE(pack.holds(hash128(packed_text("-O\n", "a ")), 0));  // another text
    EXPECT_FALSE(pack.holds(hash128(packed_text("-O2\n", "a")), 0));  // other options
}

TEST_F(PackTest, NoFileIsNoPack) {
    for (const std::string& path : {std::string("off"), path_, folder_}) {
        const Pack pack(path);
        EXPECT_EQ(pack.count(), 0);
        EXPECT_TRUE(pack.targets().empty());
        EXPECT_FALSE(pack.holds(a_, 0));
    }
}

TEST_F(PackTest, DamagedFilesAreNotUsed) {
    write({{a_, 0, "code of a"}}, 2);
    EXPECT_EQ(Pack(path_).count(), 0);  // another format
    write({{a_, 0, "code of a"}, {b_, 0, "code of b"}});
    const auto size = fs::file_size(path_);
    for (const std::uintmax_t left : {std::uintmax_t{0}, std::uintmax_t{20}, std::uintmax_t{50}, std::uintmax_t{100}}) {
        fs::resize_file(path_, left);
        EXPECT_EQ(Pack(path_).count(), 0) << left;
    }
    write({{a_, 0, "code of a"}, {b_, 0, "code of b"}});
    const Pack pack(path_);
    const auto unreadable = [&] { return (read(pack, a_, 0) == "none") + (read(pack, b_, 0) == "none"); };
    EXPECT_EQ(unreadable(), 0);
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size) - 8);
    file << "\x55\x55";
    file.close();
    EXPECT_EQ(unreadable(), 1);
    fs::resize_file(path_, size - 8);  // while it is used
    EXPECT_EQ(unreadable(), 1);
}

TEST_F(PackTest, AnotherFileInItsPlaceIsNotMistakenForIt) {
    write({{a_, 0, "code of a"}});
    const Pack pack(path_);
    write({{b_, 0, "code of b"}});
    EXPECT_EQ(read(pack, a_, 0), "none");
    fs::remove(path_);
    EXPECT_EQ(read(pack, a_, 0), "none");
}

TEST_F(PackTest, ProgramsOfItAreCountedAndNotKeptOnDisk) {
    ::setenv("PARDO_CACHE_DIR", folder_.c_str(), 1);
    clear_memory();
    const auto from_pack = counters.from_pack.load(), compiled = counters.compiled.load();
    Recipe recipe;
    recipe.name = "packed";
    recipe.packed = true;
    recipe.compile = [] { return Binary{1, 2, 3}; };
    recipe.load = [](const Binary& b) {
        EXPECT_EQ(b.size(), 3u);
        return Ref<device::Program>(new device::Program("packed"));
    };
    const Ref<device::Program> program = get(key("packed"), recipe);
    EXPECT_EQ(get(key("packed"), recipe).get(), program.get());
    EXPECT_EQ(counters.from_pack - from_pack, 1u);
    EXPECT_EQ(counters.compiled, compiled);
    EXPECT_EQ(disk_state().files, 0);
    ::unsetenv("PARDO_CACHE_DIR");
    clear_memory();
}

}  // namespace
}  // namespace pardo::jit

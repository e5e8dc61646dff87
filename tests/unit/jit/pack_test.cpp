// tests/unit/jit/pack_test.cpp: machine code that came with pardo is found by text and target; other texts, damage and other files are not.
#include <gtest/gtest.h>

#include <unistd.h>
#include <zstd.h>

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

    /// With a checksum.
    static std::string squeezed(const std::string& bytes) {
        std::string small(::ZSTD_compressBound(bytes.size()), '\0');
        ZSTD_CCtx* const context = ::ZSTD_createCCtx();
        ::ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
        small.resize(::ZSTD_compress2(context, small.data(), small.size(), bytes.data(), bytes.size()));
        ::ZSTD_freeCCtx(context);
        return small;
    }

    void write(std::vector<Code> codes, std::uint32_t format = 1) {
        std::sort(codes.begin(), codes.end(), [](const Code& a, const Code& b) {
            return std::tie(a.text.lo, a.text.hi, a.target) < std::tie(b.text.lo, b.text.hi, b.target);
        });
        // Each code is a group of its own, but those of one text.
        std::vector<std::string> groups;
        std::string head = "pardopak", entries, table, body;
        for (std::size_t i = 0; i < codes.size(); ++i) {
            const Code& c = codes[i];
            if (i == 0 || codes[i - 1].text != c.text) groups.emplace_back();
            put(entries, c.text);
            for (const std::size_t word : {std::size_t{c.target}, c.code.size(), groups.size() - 1, groups.back().size()})
                put(entries, static_cast<std::uint32_t>(word));
            put(groups.back(), c.text);
            put(groups.back(), c.target);
            put(groups.back(), static_cast<std::uint32_t>(c.code.size()));
            groups.back() += c.code;
        }
        for (const std::size_t word : {std::size_t{format}, std::size_t{2}, codes.size(), groups.size()})
            put(head, static_cast<std::uint32_t>(word));
        head += std::string("sm_80\0\0\0\0\0\0\0\0\0\0\0compute_90\0\0\0\0\0\0", 32);
        for (const std::string& group : groups) {
            put(table, std::uint64_t{head.size() + entries.size() + 16 * groups.size() + body.size()});
            const std::string small = squeezed(group);
            put(table, static_cast<std::uint32_t>(small.size()));
            put(table, static_cast<std::uint32_t>(group.size()));
            body += small;
        }
        head += entries + table;
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
    CompileSteps recipe;
    recipe.name = "packed";
    recipe.packed = [](Binary& b) {
        b = {1, 2, 3};
        return true;
    };
    recipe.compile = [] { return Binary{4}; };
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

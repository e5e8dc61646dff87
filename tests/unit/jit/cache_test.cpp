// tests/unit/jit/cache_test.cpp: each key is made once, by threads, by processes, across runs; damage and full or foreign folders only cost
// time.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <new>
#include <thread>

#include <pardo/error.h>
#include <pardo/log.h>

#include "base/counters.h"
#include "jit/build_id.h"
#include "jit/cache.h"

namespace pardo::jit {
namespace {

namespace fs = std::filesystem;

class Code : public device::Program {
public:
    explicit Code(Binary b) : Program("code"), bytes(std::move(b)) { ++alive; }
    ~Code() override { --alive; }
    Binary bytes;
    static inline std::atomic<int> alive{0};
};

/// Fails the allocation after this many on this thread; -1 for none.
thread_local int allocations_left = -1;

/// A folder of its own for each test, and a count of what was compiled.
class CacheTest : public testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/pardo-cache-test-XXXXXX";
        ASSERT_NE(::mkdtemp(name), nullptr);
        base_ = name;
        ::setenv("PARDO_CACHE_DIR", name, 1);
        ::unsetenv("PARDO_CACHE");
        ::unsetenv("PARDO_CACHE_SIZE");
        clear_memory();
    }
    void TearDown() override {
        fs::remove_all(base_);
        for (const char* name : {"PARDO_CACHE_DIR", "PARDO_CACHE", "PARDO_CACHE_SIZE"}) ::unsetenv(name);
        clear_memory();
    }

    static Binary bytes_of(const std::string& text, std::size_t count = 100) {
        Binary b(text.begin(), text.end());
        b.resize(std::max(count, b.size()), 7);
        return b;
    }

    Binary get(const std::string& text, std::size_t count = 100) {
        CompileSteps recipe;
        recipe.name = text;
        recipe.compile = [&] {
            ++compiled_;
            return bytes_of(text, count);
        };
        recipe.load = [](const Binary& b) { return Ref<device::Program>(new Code(b)); };
        return static_cast<Code*>(jit::get(key(text), recipe).get())->bytes;
    }

    std::string file(const std::string& text) const { return base_ + "/" + PARDO_VERSION + "/" + key(text).hex() + ".bin"; }

    std::string base_;
    std::atomic<int> compiled_{0};
};

TEST_F(CacheTest, MemoryThenDiskThenCompiler) {
    const auto from_disk = counters.from_disk.load(), compiled = counters.compiled.load();
    EXPECT_EQ(get("a"), bytes_of("a"));
    EXPECT_EQ(get("a"), bytes_of("a"));
    EXPECT_EQ(compiled_, 1);
    clear_memory();
    EXPECT_EQ(get("a"), bytes_of("a"));
    EXPECT_EQ(compiled_, 1);
    EXPECT_EQ(counters.from_disk - from_disk, 1u);
    EXPECT_EQ(counters.compiled - compiled, 1u);
    const DiskState state = disk_state();
    EXPECT_TRUE(state.enabled);
    EXPECT_EQ(state.files, 1);
    EXPECT_GT(state.bytes, 100);
    clear_disk();
    clear_memory();
    EXPECT_EQ(disk_state().files, 0);
    get("a");
    EXPECT_EQ(compiled_, 2);
}

TEST_F(CacheTest, TheKeyInMemoryIsNotTheNameOnDisk) {
    int named = 0;
    CompileSteps recipe;
    recipe.name = "named";
    recipe.file = [&] {
        ++named;
        return key("text");
    };
    recipe.compile = [&] {
        ++compiled_;
        return bytes_of("text");
    };
    recipe.load = [](const Binary& b) { return Ref<device::Program>(new Code(b)); };
    const Hash128 first = key(Hash128{1, 2}, "device 0"), second = key(Hash128{1, 2}, "device 1");
    EXPECT_NE(first, second);
    EXPECT_FALSE(find(first));
    const Ref<device::Program> program = jit::get(first, recipe);
    EXPECT_EQ(find(first).get(), program.get());
    EXPECT_EQ(jit::get(first, recipe).get(), program.get());
    EXPECT_EQ(named, 1);  // in memory, nothing is emitted to look it up
    EXPECT_NE(jit::get(second, recipe).get(), program.get());
    EXPECT_EQ(compiled_, 1);  // the second one is read from disk
    EXPECT_EQ(disk_state().files, 1);
}

TEST_F(CacheTest, ProgramsThatNobodyUsesGoWhenThereAreMany) {
    ::setenv("PARDO_CACHE", "off", 1);
    clear_memory();
    CompileSteps recipe;
    recipe.name = "used";
    recipe.compile = [] { return bytes_of("used"); };
    recipe.load = [](const Binary& b) { return Ref<device::Program>(new Code(b)); };
    const Ref<device::Program> used = jit::get(key("used"), recipe);
    for (int i = 0; i < 5000; ++i) get(std::to_string(i));
    EXPECT_LT(Code::alive, 2500);
    EXPECT_EQ(jit::get(key("used"), recipe).get(), used.get());
    const int before = compiled_;
    get("4999");
    EXPECT_EQ(compiled_, before);
}

TEST_F(CacheTest, FolderAndFilesAreTheUsersAlone) {
    ::setenv("PARDO_CACHE_DIR", (base_ + "/deep/er").c_str(), 1);
    clear_memory();
    get("a");
    struct stat info {};
    ASSERT_EQ(::stat((base_ + "/deep/er/" + PARDO_VERSION).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    for (const auto& entry : fs::directory_iterator(base_ + "/deep/er/" + PARDO_VERSION)) {
        ASSERT_EQ(::stat(entry.path().c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 0077, 0u) << entry.path();
        EXPECT_NE(entry.path().extension(), ".tmp");
    }
}

TEST_F(CacheTest, DamagedAndTruncatedFilesAreCompiledAgainAndRewritten) {
    get("a");
    const auto size = static_cast<std::streamoff>(fs::file_size(file("a")));
    const std::streamoff places[] = {0, 9, 20, 40, 60, size - 1};  // magic, format, key, checksum, code, last byte
    int expected = 1;
    for (std::streamoff place : places) {
        std::fstream stream(file("a"), std::ios::in | std::ios::out | std::ios::binary);
        stream.seekg(place);
        const int old = stream.get();
        stream.seekp(place);
        stream.put(static_cast<char>(old ^ 0x55));
        stream.close();
        clear_memory();
        EXPECT_EQ(get("a"), bytes_of("a"));
        EXPECT_EQ(compiled_, ++expected) << "byte " << place;
        clear_memory();
        get("a");
        EXPECT_EQ(compiled_, expected) << "not rewritten";
    }
    for (std::streamoff length : {std::streamoff{0}, std::streamoff{10}, size - 1}) {
        fs::resize_file(file("a"), static_cast<std::uintmax_t>(length));
        clear_memory();
        EXPECT_EQ(get("a"), bytes_of("a"));
        EXPECT_EQ(compiled_, ++expected) << "length " << length;
    }
}

TEST_F(CacheTest, AFileOfAnotherKeyIsNotTaken) {
    get("a");
    fs::copy_file(file("a"), file("b"));
    EXPECT_EQ(get("b"), bytes_of("b"));
    EXPECT_EQ(compiled_, 2);
}

TEST_F(CacheTest, BinaryThatDoesNotLoadIsCompiledAgain) {
    get("a");
    clear_memory();
    int loads = 0;
    CompileSteps recipe;
    recipe.name = "a";
    recipe.compile = [] { return bytes_of("fresh"); };
    recipe.load = [&](const Binary& b) -> Ref<device::Program> {
        if (++loads == 1) throw Error(ErrorCode::Compile, "load: wrong object");
        return new Code(b);
    };
    EXPECT_EQ(static_cast<Code*>(jit::get(key("a"), recipe).get())->bytes, bytes_of("fresh"));
}

TEST_F(CacheTest, EnvironmentSwitchesTheDiskOff) {
    ::setenv("PARDO_CACHE", "off", 1);
    clear_memory();
    get("a");
    EXPECT_FALSE(disk_state().enabled);
    EXPECT_EQ(disk_state().reason, "PARDO_CACHE=off");
    EXPECT_TRUE(fs::is_empty(base_));
    clear_memory();
    get("a");
    EXPECT_EQ(compiled_, 2);
}

TEST_F(CacheTest, AFolderIsWhereItWasWhenTheProcessGoesElsewhere) {
    const fs::path before = fs::current_path();
    fs::current_path(base_);
    ::setenv("PARDO_CACHE_DIR", "here", 1);
    clear_memory();
    get("a");
    fs::current_path("/");
    EXPECT_EQ(disk_state().path, base_ + "/here/" + PARDO_VERSION);
    get("b");
    EXPECT_EQ(disk_state().files, 2);
    fs::current_path(before);
}

TEST_F(CacheTest, FoldersThatOthersMayWriteAreRefused) {
    ::chmod(base_.c_str(), 0777);
    clear_memory();
    EXPECT_EQ(get("a"), bytes_of("a"));
    EXPECT_FALSE(disk_state().enabled);
    EXPECT_NE(disk_state().reason.find("may be written by other users"), std::string::npos);
    ::chmod(base_.c_str(), 0700);
    fs::create_directory(base_ + "/" + PARDO_VERSION);
    ::chmod((base_ + "/" + PARDO_VERSION).c_str(), 0770);
    clear_memory();
    get("b");
    EXPECT_FALSE(disk_state().enabled);
}

TEST_F(CacheTest, FoldersOfOthersAreRefused) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
    ASSERT_EQ(::chown(base_.c_str(), 12345, 12345), 0);
    clear_memory();
    EXPECT_EQ(get("a"), bytes_of("a"));
    EXPECT_NE(disk_state().reason.find("belongs to another user"), std::string::npos);
    ASSERT_EQ(::chown(base_.c_str(), 0, 0), 0);
}

TEST_F(CacheTest, FoldersThatCannotBeMadeOrWrittenOnlyCostTime) {
    std::ofstream(base_ + "/plain") << "x";
    for (const std::string& folder : {base_ + "/plain/below", base_ + "/plain", std::string("/proc/none")}) {
        ::setenv("PARDO_CACHE_DIR", folder.c_str(), 1);
        clear_memory();
        EXPECT_EQ(get("a"), bytes_of("a")) << folder;
        EXPECT_FALSE(disk_state().enabled) << folder;
        EXPECT_FALSE(disk_state().reason.empty());
    }
}

TEST_F(CacheTest, ReadOnlyFolderIsReadAndNotWritten) {
    get("a");
    const std::string folder = base_ + "/" + PARDO_VERSION;
    ::chmod(folder.c_str(), 0500);
    const bool root = ::geteuid() == 0;  // whom no mode holds back
    clear_memory();
    get("a");
    EXPECT_EQ(compiled_, 1);
    EXPECT_EQ(get("b"), bytes_of("b"));
    EXPECT_EQ(get("c"), bytes_of("c"));
    EXPECT_EQ(fs::exists(file("b")), root);
    ::chmod(folder.c_str(), 0700);
}

TEST_F(CacheTest, OneWarningForAFolderThatFails) {
    static std::atomic<int> warnings{0};
    ::setenv("PARDO_CACHE_DIR", "/proc/none", 1);
    // A process of its own: warnings are given once in a process.
    const pid_t child = ::fork();
    if (child == 0) {
        set_log_sink([](LogLevel level, std::string_view) { warnings += level == LogLevel::Warn; });
        for (int k = 0; k < 3; ++k) {
            clear_memory();
            get("k" + std::to_string(k));
        }
        ::_exit(warnings > 1 ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(CacheTest, EightThreadsCompileAKeyOnce) {
    for (int round = 0; round < 20; ++round) {
        compiled_ = 0;
        const std::string text = "round" + std::to_string(round);
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        for (int k = 0; k < 8; ++k) threads.emplace_back([&] { wrong += get(text) != bytes_of(text); });
        for (std::thread& t : threads) t.join();
        EXPECT_EQ(compiled_, 1);
        EXPECT_EQ(wrong, 0);
    }
}

TEST_F(CacheTest, FailuresReachAllWhoWaitAndAreTriedAgain) {
    std::atomic<int> tries{0}, failures{0};
    auto attempt = [&](bool fail) {
        CompileSteps recipe;
        recipe.name = "bad";
        recipe.compile = [&]() -> Binary {
            ++tries;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            if (fail) throw Error(ErrorCode::Compile, "compile: no");
            return bytes_of("good");
        };
        recipe.load = [](const Binary& b) { return Ref<device::Program>(new Code(b)); };
        try {
            jit::get(key("bad"), recipe);
        } catch (const Error&) {
            ++failures;
        }
    };
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k) threads.emplace_back([&] { attempt(true); });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(failures, 4);
    const int before = tries;
    attempt(false);
    EXPECT_EQ(failures, 4);
    EXPECT_EQ(tries, before + 1);
}

TEST_F(CacheTest, FourProcessesShareAFolder) {
    pid_t children[4];
    for (pid_t& child : children) {
        child = ::fork();
        if (child != 0) continue;
        int bad = 0;
        for (int k = 0; k < 50; ++k) bad += get("p" + std::to_string(k), 5000) != bytes_of("p" + std::to_string(k), 5000);
        ::_exit(bad != 0 || compiled_ > 50);
    }
    for (pid_t child : children) {
        int status = 1;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(disk_state().files, 50);
    for (int k = 0; k < 50; ++k) get("p" + std::to_string(k), 5000);
    EXPECT_EQ(compiled_, 0);
}

TEST_F(CacheTest, ProcessesOfOneNumberShareAFolder) {  // in containers
    const std::string folder = disk_state().path;
    std::vector<std::string> others;
    for (int k = 0; k < 3; ++k) {
        others.push_back(folder + "/" + key("a").hex() + "." + std::to_string(::getpid()) + "." + std::to_string(k) + ".tmp");
        std::ofstream(others.back()) << "half of it";
    }
    get("a");
    EXPECT_TRUE(fs::exists(file("a")));
    for (const std::string& other : others) EXPECT_TRUE(fs::exists(other)) << other;
}

TEST_F(CacheTest, ForkWhileAnotherThreadCompiles) {
    std::atomic<bool> started{false}, ended{false};
    std::thread slow([&] {
        CompileSteps recipe;
        recipe.name = "slow";
        recipe.compile = [&] {
            started = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            ended = true;
            return bytes_of("slow");
        };
        recipe.load = [](const Binary& b) { return Ref<device::Program>(new Code(b)); };
        jit::get(key("slow"), recipe);
    });
    while (!started) std::this_thread::yield();
    const pid_t child = ::fork();
    if (child == 0) ::_exit(ended && get("slow") == bytes_of("slow") ? 0 : 1);  // the compiler was waited for, so its locks are free
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    slow.join();
}

TEST_F(CacheTest, LeastRecentlyUsedFilesGoFirstWhenTheCapIsReached) {
    ::setenv("PARDO_CACHE_SIZE", "20K", 1);
    clear_memory();
    for (int k = 0; k < 8; ++k) {
        get("k" + std::to_string(k), 2000);
        const timespec times[2] = {{1000000 + k, 0}, {1000000 + k, 0}};
        ::utimensat(AT_FDCWD, file("k" + std::to_string(k)).c_str(), times, 0);
    }
    clear_memory();
    get("k0", 2000);  // used again: now the youngest
    EXPECT_EQ(compiled_, 8);
    for (int k = 8; k < 14; ++k) get("k" + std::to_string(k), 2000);
    EXPECT_LE(disk_state().bytes, 20 << 10);
    EXPECT_TRUE(fs::exists(file("k0")));
    EXPECT_FALSE(fs::exists(file("k1")));
    EXPECT_TRUE(fs::exists(file("k13")));
}

TEST_F(CacheTest, ABadSizeSwitchesTheDiskOffAndSaysWhy) {
    ::setenv("PARDO_CACHE_SIZE", "many", 1);
    clear_memory();
    EXPECT_EQ(get("a"), bytes_of("a"));
    EXPECT_NE(disk_state().reason.find("PARDO_CACHE_SIZE"), std::string::npos);
}

TEST_F(CacheTest, AThrowLeavesNoEmptySlotBehind) {
    ::setenv("PARDO_CACHE", "off", 1);
    clear_memory();
    get("first");
    for (int k = 0; k < 40; ++k) {
        const std::string text = "k" + std::to_string(k);
        allocations_left = k;
        try {
            get(text);
        } catch (const std::bad_alloc&) {
        }
        allocations_left = -1;
        EXPECT_EQ(get(text), bytes_of(text)) << "after " << k << " allocations";
    }
}

TEST_F(CacheTest, KeysTellBuildsApart) {
    EXPECT_EQ(build_id().size(), 40u);
    EXPECT_NE(key("a"), hash128(std::string_view("a")));
    EXPECT_EQ(key("a"), key("a"));
}

TEST_F(CacheTest, OnlyPlainFilesOfTheUserAreRead) {
    get("a");
    const std::string good = file("a");
    const auto replaced = [&](const char* what) {
        clear_memory();
        const int before = compiled_;
        EXPECT_EQ(get("a"), bytes_of("a")) << what;
        EXPECT_EQ(compiled_, before + 1) << what;
        fs::remove(good);
        clear_memory();
        get("a");
    };
    fs::rename(good, base_ + "/elsewhere");
    fs::create_symlink(base_ + "/elsewhere", good);
    replaced("a link");
    fs::remove(good);
    ASSERT_EQ(::mkfifo(good.c_str(), 0600), 0);
    replaced("a pipe");  // opening one for reading waits for a writer
    ::chmod(good.c_str(), 0620);
    replaced("a file that others may write");
    fs::resize_file(good, std::uintmax_t{8} << 30);
    replaced("a file with a hole of 8 GiB");
}

TEST_F(CacheTest, AHoleOfTheLengthThatAHeaderNamesIsNotReadEither) {
    get("a");
    const std::uint64_t length = std::uint64_t{1} << 33;
    std::fstream stream(file("a"), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(32);  // after magic, format, header's size and key
    stream.write(reinterpret_cast<const char*>(&length), sizeof length);
    stream.close();
    fs::resize_file(file("a"), 56 + length);
    clear_memory();
    EXPECT_EQ(get("a"), bytes_of("a"));
    EXPECT_EQ(compiled_, 2);
}

TEST_F(CacheTest, AFolderThatIsALinkToOneOfOthersIsRefused) {
    fs::create_directory(base_ + "/open");
    ::chmod((base_ + "/open").c_str(), 0777);
    fs::create_directory_symlink(base_ + "/open", base_ + "/" + PARDO_VERSION);
    clear_memory();
    EXPECT_EQ(get("a"), bytes_of("a"));
    EXPECT_FALSE(disk_state().enabled);
    fs::remove(base_ + "/" + PARDO_VERSION);
    // The user's own link to the cache as a whole is followed.
    fs::create_directory(base_ + "/real");
    ::chmod((base_ + "/real").c_str(), 0700);
    fs::create_directory_symlink(base_ + "/real", base_ + "/link");
    ::setenv("PARDO_CACHE_DIR", (base_ + "/link").c_str(), 1);
    clear_memory();
    get("b");
    EXPECT_EQ(disk_state().files, 1);
}

TEST_F(CacheTest, TheFolderThatWasCheckedIsTheOneThatIsUsed) {
    get("a");
    const std::string folder = base_ + "/" + PARDO_VERSION;
    fs::rename(folder, base_ + "/moved");
    fs::create_directory(folder);
    ::chmod(folder.c_str(), 0777);
    get("b");
    EXPECT_TRUE(fs::is_empty(folder));
    EXPECT_EQ(disk_state().files, 2);
}

TEST_F(CacheTest, ADescriptorThatIsAnothersIsLeftAlone) {
    get("a");
    const std::string other = base_ + "/other";
    fs::create_directory(other);
    const pid_t child = ::fork();
    if (child == 0) {
        // As daemons do: everything inherited is closed, and the numbers serve again.
        for (int fd = 3; fd < 1000; ++fd) ::close(fd);
        int last = -1;
        for (int k = 0; k < 100; ++k) last = ::open(other.c_str(), O_RDONLY | O_DIRECTORY);
        const bool right = get("b") == bytes_of("b") && fs::is_empty(other);
        clear_memory();  // closes the folder: not another's descriptor
        bool open = ::fcntl(last, F_GETFD) >= 0;
        for (int fd = 3; fd < 100; ++fd) open &= ::fcntl(fd, F_GETFD) >= 0;
        ::_exit(right && open ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace pardo::jit

void* operator new(std::size_t bytes) {
    int& left = pardo::jit::allocations_left;
    if (left == 0) throw std::bad_alloc();
    if (left > 0) --left;
    if (void* at = std::malloc(bytes ? bytes : 1)) return at;
    throw std::bad_alloc();
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }

// tests/unit/jit/build_log_test.cpp: the line that an error is about is found in the logs of the compilers that there are.
#include <gtest/gtest.h>

#include "jit/build_log.h"

namespace pardo::jit {
namespace {

constexpr const char* text = "one\n  two\nthree";

TEST(BuildLog, LinesOfAText) {
    EXPECT_EQ(line_of(text, 1), "one");
    EXPECT_EQ(line_of(text, 2), "  two");
    EXPECT_EQ(line_of(text, 3), "three");
    EXPECT_EQ(line_of(text, 4), "");
}

TEST(BuildLog, TheLineOfTheFirstErrorStandsFirst) {
    for (const std::string log :
         {"program.cu(2): error: no", "error: /tmp/a b/tempfile.cl:2:12: no", "<kernel>:2:7: error: no",
          "Compilation started\n1:2:7: error: no", "x.cl:3:1: warning: ah\nx.cl:2:1: error: no\nx.cl:1:1: error: no",
          "1 error generated.\nx.cl:2:10: fatal error: no"}) {
        EXPECT_EQ(format_build_log(log + "\n\n", text), "\nline 2:   two\n" + log);
    }
}

TEST(BuildLog, PlacesElsewhereAreNotShown) {
    for (const std::string log : {"header.h:2:3: error: no", "header.h(2): error: no", "x.cl:9:3: error: no", "error: no", "error 2: no",
                                  "x.cl:2:3: warning: no", "x.cl:99999999999999:3: error: no"}) {
        EXPECT_EQ(format_build_log(log, text), "\n" + log);
    }
    EXPECT_EQ(format_build_log("", text), "");
    EXPECT_EQ(format_build_log("x.cl:2:3: error: no", ""), "\nx.cl:2:3: error: no");
}

TEST(BuildLog, LongLogsAreCutBetweenCharacters) {
    const std::string log = std::string(1999, 'a') + "ä" + std::string(1000, 'b');
    EXPECT_EQ(format_build_log(log, text), "\n" + std::string(1999, 'a') + "\n… (1002 more bytes)");
}

}  // namespace
}  // namespace pardo::jit

// tests/unit/emit/support.cpp: the comparison of machine code with the interpreter.
#include "support.h"

namespace pardo::test {

void check(const ir::Kernel& kernel, const std::vector<Argument>& arguments, const std::vector<std::int64_t>& extents, double tolerance,
           const std::string& what) {
    std::vector<Argument> reference = arguments;
    interpret(kernel, reference, extents);
    for (int width : widths) {
        std::vector<Argument> native = arguments;
        run_native(compile(kernel, width), native, extents);
        expect_same(native, reference, tolerance, what + " bytes " + std::to_string(width));
    }
}

}  // namespace pardo::test

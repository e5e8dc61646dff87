// src/backend/cpu/compile.cpp: Kernel -> CpuProgram through the program cache.
#include <pardo/error.h>

#include "backend/cpu/object_loader.h"
#include "backend/cpu/program.h"
#include "emit/analysis/lane_report.h"
#include "emit/llvm/module.h"
#include "ir/ir.h"
#include "jit/cache.h"

namespace pardo::cpu {

namespace {

constexpr const char* entry_symbol = "pardo_entry";  // each Program has its own name space

ir::Kernel lowered(const ir::Kernel& kernel) {
    constexpr auto kept = [](ir::Math fn, DType t) { return emit::keeps_math(emit::host_target(), fn, t); };
    return ir::expand_math(ir::join_stores(ir::expand_shuffles(ir::lower_complex(kernel))), kept);
}

}  // namespace

Ref<device::Program> compile(const ir::Kernel& kernel) {
    std::string text = ir::print(kernel);
    text += emit::compiler_id();
    jit::Recipe recipe;
    recipe.name = kernel.name;
    recipe.compile = [&] { return emit::compile_object(lowered(kernel), entry_symbol); };
    recipe.load = [&](const jit::Binary& object) {
        LoadedCode code = load_object(object, entry_symbol);
        auto* entry = reinterpret_cast<CpuProgram::Entry>(code.entry);
        return Ref<device::Program>(new CpuProgram(kernel.name, entry, kernel.rank, emit::split_granularity(kernel), std::move(code.keep),
                                                   std::vector<std::int64_t>(kernel.group_size.begin(), kernel.group_size.end())));
    };
    return jit::get(jit::key(text), recipe);
}

std::string inspect(const ir::Kernel& kernel, std::string_view what) {
    if (what == "ir") return ir::print(kernel);
    if (what == "llvm" || what == "asm") return emit::compile_text(lowered(kernel), entry_symbol, what == "asm");
    if (what == "lanes") return emit::lane_report(ir::expand_shuffles(kernel));
    throw Error(ErrorCode::Value, "inspect: the CPU has no \"" + std::string(what) + "\", only \"ir\", \"llvm\" and \"asm\"");
}

}  // namespace pardo::cpu

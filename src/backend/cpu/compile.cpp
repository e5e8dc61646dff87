// src/backend/cpu/compile.cpp: Kernel -> CpuProgram: what came with pardo, or through the program cache.
#include <pardo/error.h>

#include "backend/cpu/object_loader.h"
#include "backend/cpu/packed.h"
#include "backend/cpu/program.h"
#include "emit/analysis/lane_report.h"
#include "emit/llvm/module.h"
#include "ir/hash.h"
#include "ir/ir.h"
#include "jit/cache.h"

namespace pardo::cpu {

namespace {

constexpr const char* entry_symbol = "pardo_entry";  // each Program has its own name space

ir::Kernel lowered(const ir::Kernel& kernel, const emit::LlvmTarget& target) {
    const ir::Kernel plain = ir::lower_narrow_floats(ir::join_stores(ir::expand_shuffles(ir::lower_complex(kernel))));
    return ir::expand_math(plain, {.vector_bytes = target.vector_bytes});
}

Hash128 key_of(const Hash128& kernel) {
    static const auto& compiler = *new std::string(emit::compiler_id(emit::host_target()));
    return jit::key(kernel, compiler);
}

}  // namespace

jit::Binary object_for(const ir::Kernel& kernel, const emit::LlvmTarget& target) {
    return emit::compile_object(lowered(kernel, target), entry_symbol, target);
}

Ref<device::Program> known_program(const ir::Kernel& kernel) { return jit::find(key_of(ir::hash(kernel))); }

Ref<device::Program> compile(const ir::Kernel& kernel) {
    const Hash128 hash = ir::hash(kernel);
    jit::CompileSteps recipe;
    recipe.name = kernel.name;
    recipe.device = "cpu:0";
    recipe.packed = [&](jit::Binary& object) { return find_packed(hash, object); };
    recipe.compile = [&] { return listing_folder().empty() ? object_for(kernel, emit::host_target()) : list_kernel(kernel, hash); };
    recipe.load = [&](const jit::Binary& object) {
        LoadedCode code = load_object(object, entry_symbol);
        auto* entry = reinterpret_cast<CpuProgram::Entry>(code.entry);
        return Ref<device::Program>(new CpuProgram(kernel.name, entry, kernel.rank, emit::split_granularity(kernel), std::move(code.keep),
                                                   std::vector<std::int64_t>(kernel.group_size.begin(), kernel.group_size.end())));
    };
    return jit::get(key_of(hash), recipe);
}

std::string inspect(const ir::Kernel& kernel, std::string_view what) {
    if (what == "ir") return ir::print(kernel);
    if (what == "llvm" || what == "asm") return emit::compile_text(lowered(kernel, emit::host_target()), entry_symbol, what == "asm");
    if (what == "lanes") return emit::lane_report(ir::expand_shuffles(kernel));
    throw Error(ErrorCode::Value, "inspect: the CPU has no \"" + std::string(what) + "\", only \"ir\", \"llvm\" and \"asm\"");
}

}  // namespace pardo::cpu

// src/emit/llvm/compile.cpp: llvm::Module -> optimised IR, assembly or object file for this machine.
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <pardo/error.h>
#include <sys/mman.h>

#include <memory>
#include <mutex>

#include "base/fork.h"
#include "emit/analysis/lanes.h"
#include "emit/llvm/module.h"

namespace pardo::emit {

namespace {

std::unique_ptr<llvm::TargetMachine> make_machine(const LlvmTarget& wanted) {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
    });
    const std::string triple = llvm::sys::getProcessTriple();
    std::string problem;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
    if (!target) throw Error(ErrorCode::Compile, "compile: LLVM has no target for this machine (" + triple + "): " + problem);
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
        triple, wanted.cpu, wanted.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, true));
    if (!machine) throw Error(ErrorCode::Compile, "compile: LLVM cannot make code for " + triple);
    return machine;
}

/// A TargetMachine serves one compilation at a time and costs 0.3 ms to make: the idle ones wait here.
class MachinePool {
public:
    std::unique_ptr<llvm::TargetMachine> take() {
        {
            std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                auto machine = std::move(idle_.back());
                idle_.pop_back();
                return machine;
            }
        }
        return make_machine(host_target());
    }
    void give(std::unique_ptr<llvm::TargetMachine> machine) {
        std::lock_guard lock(mutex_);
        idle_.push_back(std::move(machine));
    }

private:
    HeldMutex mutex_;
    std::vector<std::unique_ptr<llvm::TargetMachine>> idle_;
};

MachinePool& machines() {
    static auto* pool = new MachinePool;  // never destroyed: threads may compile while the process ends
    return *pool;
}

struct Lease {
    explicit Lease(const LlvmTarget& target)
        : pooled(&target == &host_target()), machine(pooled ? machines().take() : make_machine(target)) {}
    ~Lease() {
        if (pooled) machines().give(std::move(machine));
    }
    bool pooled;
    std::unique_ptr<llvm::TargetMachine> machine;
};

/// Nothing may become a call to a library function that Programs do not see.
llvm::TargetLibraryInfoImpl library_info(const llvm::Triple& triple) {
    llvm::TargetLibraryInfoImpl info(triple);
    info.disableAllFunctions();
    for (auto f : {llvm::LibFunc_memcpy, llvm::LibFunc_memset, llvm::LibFunc_memmove}) info.setAvailable(f);
    return info;
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
    // Emitted code is one function in SSA form, vectorised and unrolled already: these passes give what O2 gives in a third of its time.
    static constexpr const char* pipeline =
        "function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),loop(loop-unroll-full),instcombine<no-verify-"
        "fixpoint>,"
        "early-cse,simplifycfg,loop-unroll)";
    llvm::PassBuilder builder(&machine);
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager calls;
    llvm::ModuleAnalysisManager modules;
    const llvm::TargetLibraryInfoImpl library = library_info(machine.getTargetTriple());
    functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(calls);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, calls, modules);
    llvm::ModulePassManager passes;
    if (auto problem = builder.parsePassPipeline(passes, pipeline))
        throw Error(ErrorCode::Internal, "compile: " + llvm::toString(std::move(problem)));
    passes.run(module, modules);
}

/// LLVM ends the process, or leaves its structures half made, when memory is short in the middle of its work: so there has to be enough
/// before it begins. What is asked for is given back untouched.
void require_memory(const std::string& kernel) {
    constexpr std::size_t enough = std::size_t{128} << 20;  // for large kernels, and the heap that the system gives to a new thread
    void* const room = mmap(nullptr, enough, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        throw Error(ErrorCode::Memory, kernel + ": compiling it may take " + std::to_string(enough >> 20) +
                                           " MiB, which the process cannot get; free memory, or raise its limit (ulimit -v)");
    munmap(room, enough);
}

/// Runs `use` on the optimised module.
template <class Use> void compile_module(const ir::Kernel& kernel, const std::string& symbol, const LlvmTarget& target, Use use) {
    require_memory(kernel.name);
    Lease lease(target);
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module = emit_llvm(kernel, context, target, symbol);
    module->setDataLayout(lease.machine->createDataLayout());
    module->setTargetTriple(lease.machine->getTargetTriple().str());
    optimise(*module, *lease.machine);
    add_interrupts(*module);
    widen_halves(*module);
    widen_masks(*module, target);
    load_constants(*module, target);
    use(*module, *lease.machine);
}

void assemble(llvm::Module& module, llvm::TargetMachine& machine, llvm::raw_pwrite_stream& out, llvm::CodeGenFileType kind) {
    llvm::legacy::PassManager passes;
    passes.add(new llvm::TargetLibraryInfoWrapperPass(library_info(machine.getTargetTriple())));
    if (machine.addPassesToEmitFile(passes, out, nullptr, kind))
        throw Error(ErrorCode::Compile, "compile: LLVM cannot write this kind of file");
    passes.run(module);
}

}  // namespace

std::vector<std::uint8_t> compile_object(const ir::Kernel& kernel, const std::string& symbol, const LlvmTarget& target) {
    std::vector<std::uint8_t> object;
    compile_module(kernel, symbol, target, [&](llvm::Module& module, llvm::TargetMachine& machine) {
        llvm::SmallVector<char, 0> bytes;
        llvm::raw_svector_ostream out(bytes);
        assemble(module, machine, out, llvm::CodeGenFileType::ObjectFile);
        object.assign(bytes.begin(), bytes.end());
    });
    return object;
}

std::string compile_text(const ir::Kernel& kernel, const std::string& symbol, bool assembly, const LlvmTarget& target) {
    std::string text;
    compile_module(kernel, symbol, target, [&](llvm::Module& module, llvm::TargetMachine& machine) {
        if (assembly) {
            llvm::SmallVector<char, 0> bytes;
            llvm::raw_svector_ostream out(bytes);
            assemble(module, machine, out, llvm::CodeGenFileType::AssemblyFile);
            text.assign(bytes.begin(), bytes.end());
        } else {
            llvm::raw_string_ostream out(text);
            module.print(out, nullptr);
        }
    });
    return text;
}

int split_granularity(const ir::Kernel& kernel) {
    return kernel.rank > 0 && analyse_lanes(kernel).item_lanes ? 64 : 1;  // whole vectors and whole cache lines for every dtype
}

}  // namespace pardo::emit

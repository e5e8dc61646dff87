// src/backend/cpu/object_loader.cpp: one ExecutionSession a process, one JITDylib a Program; only emit::math_symbols() is visible.
#include "backend/cpu/object_loader.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <pardo/error.h>

#include <atomic>

#include "base/env.h"
#include "emit/llvm/math/table.h"
#include "emit/llvm/module.h"

namespace pardo::cpu {

namespace {

using namespace llvm::orc;

[[noreturn]] void fail(llvm::Error error) {
    throw Error(ErrorCode::Compile, "compile: cannot load machine code: " + llvm::toString(std::move(error)));
}
template <class T> T check(llvm::Expected<T> value) {
    if (!value) fail(value.takeError());
    return std::move(*value);
}

/// Defines a library function when linked code first names it.
class MathSymbols : public DefinitionGenerator {
public:
    llvm::Error tryToGenerate(LookupState&, LookupKind, JITDylib& dylib, JITDylibLookupFlags, const SymbolLookupSet& names) override {
        SymbolMap found;
        for (const auto& [name, flags] : names)
            if (void* address = emit::math_address((*name).str().c_str()))
                found[name] = {ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
        return found.empty() ? llvm::Error::success() : dylib.define(absoluteSymbols(std::move(found)));
    }
};

/// Never destroyed: threads may run its code while the process ends.
class Session {
public:
    static Session& get() {
        static auto* session = new Session;
        return *session;
    }

    LoadedCode load(std::span<const std::uint8_t> object, const std::string& symbol) {
        JITDylib& dylib = session_.createBareJITDylib("p" + std::to_string(next_.fetch_add(1)));
        dylib.addToLinkOrder(*math_);
        std::shared_ptr<void> keep(&dylib, [this](void* d) { remove(*static_cast<JITDylib*>(d)); });
        // The bytes may belong to the cache, whose buffer ends before the code does.
        auto buffer =
            llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(reinterpret_cast<const char*>(object.data()), object.size()), "pardo");
        if (auto error = layer_.add(dylib, std::move(buffer))) fail(std::move(error));
        auto found = check(session_.lookup({&dylib}, session_.intern(symbol)));
        return {found.getAddress().toPtr<void*>(), std::move(keep)};
    }

private:
    Session()
        : session_(check(SelfExecutorProcessControl::Create())), layer_(session_, check(llvm::jitlink::InProcessMemoryManager::Create())) {
        session_.setErrorReporter([](llvm::Error error) { log(LogLevel::Warn, "machine code: " + llvm::toString(std::move(error))); });
        math_ = &session_.createBareJITDylib("math");
        math_->addGenerator(std::make_unique<MathSymbols>());
    }

    void remove(JITDylib& dylib) {
        if (auto error = session_.removeJITDylib(dylib)) log(LogLevel::Warn, "machine code: " + llvm::toString(std::move(error)));
    }

    ExecutionSession session_;
    ObjectLinkingLayer layer_;
    JITDylib* math_ = nullptr;
    std::atomic<std::uint64_t> next_{0};
};

}  // namespace

LoadedCode load_object(std::span<const std::uint8_t> object, const std::string& symbol) { return Session::get().load(object, symbol); }

}  // namespace pardo::cpu

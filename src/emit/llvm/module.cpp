// src/emit/llvm/module.cpp: Kernel -> llvm::Module: the function, its parameters, the loops over the box.
#include "emit/llvm/module.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <pardo/error.h>

#include <algorithm>

#include "emit/llvm/emitter.h"

namespace pardo::emit {

Emitter::Emitter(const ir::Kernel& kernel, llvm::LLVMContext& context, const LlvmTarget& target, const std::string& symbol)
    : kernel_(kernel),
      target_(target),
      fission_(kernel.in_groups() ? split_at_barriers(kernel) : Fission()),
      info_(lanes_of(kernel, fission_)),
      context_(context),
      b_(context),
      symbol_(symbol) {
    module_ = std::make_unique<llvm::Module>(kernel.name, context);
    values_.resize(kernel.values.size());
    hoisted_.resize(kernel.instrs.size());
    grouped_.resize(kernel.instrs.size());
    store_groups_.resize(kernel.instrs.size(), ~0u);
    dims_.resize(static_cast<std::size_t>(kernel.rank));
    if (kernel.fast_math) {
        llvm::FastMathFlags flags;
        flags.setAllowReassoc();
        flags.setAllowContract();
        flags.setNoSignedZeros();
        b_.setFastMathFlags(flags);
    }
}

void Emitter::set_attributes(llvm::Function* function) {
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr("target-cpu", target_.cpu);
    function->addFnAttr("target-features", target_.features);
    const std::string bits = std::to_string(target_.vector_bytes * 8);
    function->addFnAttr("prefer-vector-width", bits);
    function->addFnAttr("min-legal-vector-width", bits);
    function->addFnAttr("no-builtins");
    // Registers that are spilled around library calls go to aligned slots: a vector across two cache lines costs twice.
    function->addFnAttr(llvm::Attribute::getWithStackAlignment(context_, llvm::Align(static_cast<std::uint64_t>(target_.vector_bytes))));
}

void Emitter::make_function() {
    llvm::Type* pointer = b_.getPtrTy();
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, pointer, pointer, pointer}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol_, *module_);
    set_attributes(function_);
    for (unsigned k = 0; k < 4; ++k) {
        function_->addParamAttr(k, llvm::Attribute::NoAlias);
        function_->addParamAttr(k, llvm::Attribute::ReadOnly);
        function_->addParamAttr(k, llvm::Attribute::NoUndef);
    }
    b_.SetInsertPoint(block("entry"));
}

/// Reads all slots once: pointers, scalars from the low end of their slot, extents and the box.
void Emitter::load_parameters() {
    auto slot = [&](unsigned argument, std::size_t k, llvm::Type* type) {
        return b_.CreateAlignedLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), function_->getArg(argument), k), llvm::Align(8));
    };
    for (std::size_t p = 0; p < kernel_.params.size(); ++p) {
        const ir::Param& param = kernel_.params[p];
        if (is_complex(param.type)) throw Error(ErrorCode::Internal, "emit_llvm: complex parameters must be lowered first");
        params_.push_back(param.pointer ? slot(0, p, b_.getPtrTy()) : from_memory(slot(0, p, memory_element(param.type)), param.type));
        if (param.value != ir::no_value) values_[param.value] = Lane{LaneShape::Uniform, params_.back(), nullptr};
    }
    for (int d = 0; d < kernel_.rank; ++d) {
        const auto at = static_cast<std::size_t>(d);
        extents_.push_back(slot(1, at, b_.getInt64Ty()));
        begin_.push_back(slot(2, at, b_.getInt64Ty()));
        end_.push_back(slot(3, at, b_.getInt64Ty()));
    }
    scratch_ = b_.CreateAlloca(b_.getInt64Ty());
    b_.CreateStore(i64(0), scratch_);
}

/// The loops over the box, outermost first; nothing runs if one is empty.
void Emitter::emit_box(int dimension) {
    if (dimension == kernel_.rank) return region(kernel_.body);
    const auto d = static_cast<std::size_t>(dimension);
    if (info_.item_lanes && dimension == kernel_.rank - 1) {
        llvm::BasicBlock *row = block("row"), *done = block("row.done");
        b_.CreateCondBr(b_.CreateICmpSLT(begin_[d], end_[d]), row, done);
        b_.SetInsertPoint(row);
        next_loop_of_items_ = true;
        emit_item_lanes();
        b_.CreateBr(done);
        b_.SetInsertPoint(done);
        return;
    }
    LlvmValues none;
    next_loop_of_items_ = true;
    serial_loop(begin_[d], end_[d], i64(1), none, [&](llvm::Value* index, int, LlvmValues&) {
        dims_[d] = index;
        emit_box(dimension + 1);
    });
}

/// Stores past the caches become visible to other threads in no order of their own.
void Emitter::fence_streams() {
#if defined(__x86_64__)
    if (std::ranges::any_of(kernel_.params, [](const ir::Param& param) { return param.streaming; }))
        b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
#endif
}

std::unique_ptr<llvm::Module> Emitter::run() {
    make_function();
    load_parameters();
    make_alias_scopes();
    make_arrays();
    kernel_.in_groups() ? emit_groups(0) : emit_box(0);
    fence_streams();
    release();
    b_.CreateRetVoid();
    check_stack();
#ifndef NDEBUG
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    if (llvm::verifyModule(*module_, &stream)) throw Error(ErrorCode::Internal, "emit_llvm: " + kernel_.name + ": " + problem);
#endif
    return std::move(module_);
}

std::unique_ptr<llvm::Module> emit_llvm(const ir::Kernel& kernel, llvm::LLVMContext& context, const LlvmTarget& target,
                                        const std::string& symbol) {
    return Emitter(kernel, context, target, symbol).run();
}

}  // namespace pardo::emit
